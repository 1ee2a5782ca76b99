//! Which files `gate replay` reads: files, folders, globs, lists, run folders,
//! and what it does with those that are none.

use std::fs;

use serde_json::Value;

use crate::support::{DONE, Ran, STUCK, UNDONE, gate};

fn files(ran: &Ran) -> Vec<String> {
    let name = |row: &Value| row["file"].as_str().unwrap().to_owned();
    ran.json_lines().iter().map(name).collect()
}

#[test]
fn a_folder_gives_its_transcripts_in_order() {
    let run = gate("replay --json t").file("t/b.log", DONE).file("t/a/z.JSONL", UNDONE);
    let run =
        run.file("t/plain", DONE).file("t/.git/x.log", DONE).file("t/main.rs", "fn main() {}");
    let run = run.file("t/x.out", b"\x7fELF\0\0").file("t/package.json", "{\"name\": \"x\"}\n");
    let ran = run.file("t/empty.log", "").code(0).stderr("");
    assert_eq!(files(&ran), ["t/a/z.JSONL", "t/b.log", "t/empty.log", "t/plain"]);
    let ran = ran.again("replay t").code(0);
    let passed =
        "passed over: 1 by name, 1 binary, 1 JSON of no known format; name a file to see it";
    let ran = ran.says("4 iterations in 4 files, ").says(passed);
    let ran = ran.again("replay --json t/.git t/main.rs t/x.out t/package.json").code(0);
    assert_eq!(files(&ran), ["t/.git/x.log", "t/main.rs", "t/x.out", "t/package.json"]);
}

#[test]
fn a_labelled_file_is_a_row_whatever_it_is() {
    let labels =
        "{\"file\":\"x.json\",\"label\":\"unrelated\"}\n{\"file\":\"y.traj\",\"label\":\"exit\"}\n";
    let run = gate("replay --json --labels t/labels.jsonl t").file("t/labels.jsonl", labels);
    let ran = run.file("t/x.json", "{\"a\": 1}\n").file("t/y.traj", DONE).code(0);
    assert_eq!(files(&ran), ["t/x.json", "t/y.traj"]);
}

#[test]
fn a_file_is_one_row_however_often_it_is_named() {
    let run = gate("replay --json a.log ./a.log t t/a.log").file("a.log", DONE);
    let ran = run.file("t/b.log", DONE).setup("ln -s ../a.log t/a.log").code(0);
    assert_eq!(files(&ran), ["a.log", "t/b.log"]);
}

#[test]
fn a_loop_of_links_ends() {
    let run = gate("replay --json t").file("t/u/a.log", DONE);
    let ran = run.setup("ln -s .. t/u/up; ln -s nowhere t/dead.log; ln -s t again").code(0);
    assert_eq!(files(&ran), ["t/u/a.log"]);
    let ran = ran.again("replay --json again").code(0);
    assert_eq!(files(&ran), ["again/u/a.log"]);
}

#[test]
fn globs_that_the_shell_left_are_expanded() {
    let run = gate("replay --json").args(["t/*.log", "t/**/deep*.txt", "./t/u"]);
    let run = run.file("t/b.log", DONE).file("t/a.log", DONE).file("t/u/c.log", DONE);
    let ran = run.file("t/u/v/deep1.txt", DONE).file("t/[x].log", UNDONE).code(0);
    let expected = ["t/[x].log", "t/a.log", "t/b.log", "t/u/v/deep1.txt", "./t/u/c.log"];
    assert_eq!(files(&ran), expected);
    let ran = ran.again("replay --json").args(["t/[x].log", "t/{a,b}.log", "*/u"]).code(0);
    let expected = ["t/[x].log", "t/a.log", "t/b.log", "t/u/c.log", "t/u/v/deep1.txt"];
    assert_eq!(files(&ran), expected);
    let ran = ran.again("replay").args(["t/*.nothing", "t/a.log"]).code(2);
    ran.says("t/*.nothing  nothing matches").says("  1 exit, 1 unread\n");
}

#[test]
fn a_list_comes_from_the_standard_input() {
    let run = gate("replay --json -").file("a b.log", DONE).file("c.log", UNDONE);
    let ran = run.stdin("a b.log\r\n\nc.log\nmissing.log\n").code(2);
    assert_eq!(files(&ran), ["a b.log", "c.log", "missing.log"]);
    let ran = ran.again("replay --json -0 -").stdin("c.log\0a b.log").code(0);
    assert_eq!(files(&ran), ["c.log", "a b.log"]);
    let ran = ran.again("replay -").stdin("").code(0);
    ran.says("0 iterations in 0 files");
}

#[test]
fn a_bad_file_is_a_row_and_stops_nothing() {
    let run = gate("replay --json a.log missing.log b.log/x c.log").file("a.log", DONE);
    let ran = run.file("b.log", DONE).file("c.log", UNDONE).code(2);
    assert_eq!(files(&ran), ["a.log", "missing.log", "b.log/x", "c.log"]);
    let rows = ran.json_lines();
    assert_eq!(rows[1]["verdict"], Value::Null);
    assert_eq!(rows[1]["error"]["code"], "input-unreadable");
    assert_eq!(rows[3]["verdict"], "continue");
    let ran = ran.again("replay a.log missing.log").code(2);
    ran.says("unread    -             -").says("  1 exit, 1 unread\n").says("1 iteration in ");
}

/// A run folder below `p/t/runs`.
fn run_info(name: &str) -> String {
    format!("p/t/runs/{name}/run-info.yaml")
}

#[test]
fn a_run_folder_is_an_iteration_and_its_neighbours_are_the_others() {
    let run = gate("replay --json p").file("p/PROJECT-MESSAGE-BUS.md", "---\n");
    let run = run.file("p/t/TASK.md", DONE).file("p/t/TASK-MESSAGE-BUS.md", "---\n");
    let run = run.file(&run_info("20260101-b"), "version: 1\n").file(&run_info("20260101-a"), "");
    let run = run.file("p/t/runs/20260101-a/prompt.md", DONE);
    let run = run.file("p/t/runs/20260101-a/agent-stderr.txt", DONE);
    let run = run.file("p/t/runs/20260101-a/output.md", DONE);
    let run = run.file("p/t/runs/20260101-a/agent-stdout.txt", STUCK);
    let ran = run.file("p/t/runs/20260101-b/output.md", UNDONE).code(0);
    let both = ["p/t/runs/20260101-a/agent-stdout.txt", "p/t/runs/20260101-b/output.md"];
    assert_eq!(files(&ran), both);
    let numbers: Vec<_> = ran.json_lines().iter().map(|row| row["iteration"].clone()).collect();
    assert_eq!(numbers, [1, 2]);
    let ran = ran.again("replay --json p/t/runs/20260101-b").code(0);
    assert_eq!(files(&ran), both[1..]);
    assert_eq!(ran.json_lines()[0]["iteration"], 2);
    let ran = ran.again("replay --json p/t/runs/20260101-a/prompt.md").code(0);
    assert_eq!(files(&ran), ["p/t/runs/20260101-a/prompt.md"]);
}

#[test]
fn a_folder_that_cannot_be_read_is_a_row() {
    let run = gate("replay --json t").file("t/a.log", DONE).folder("t/closed");
    let ran = run.setup("chmod 0 t/closed").run();
    // Whoever may read everything reads it.
    let closed = ran.path("t/closed");
    let is_closed = fs::read_dir(&closed).is_err();
    assert_eq!(ran.ended(), Some(if is_closed { 5 } else { 0 }), "{}", ran.stdout);
    let closed = is_closed.then_some("t/closed");
    assert_eq!(files(&ran), ["t/a.log"].into_iter().chain(closed).collect::<Vec<_>>());
}
