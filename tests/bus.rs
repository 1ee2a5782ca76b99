//! Message buses, as agents and people use them.

use std::io::{BufRead, BufReader};
use std::process::{Child, Stdio};

use crate::support::{Ran, each, gate};

/// A project of this name, so that its folder is known.
const SHOP: &str = "[project]\nid = \"shop\"\n[run]\nfolder = \"runs\"\n";

/// The task's bus, from the working folder.
const BUS: &str = "runs/shop/t1/TASK-MESSAGE-BUS.md";

/// Something was posted to a task.
fn posted(body: &str) -> Ran {
    let post = gate("bus post --task t1 --type PROGRESS --body").settings(SHOP);
    post.args([body]).code(0).stderr("")
}

/// The id that was printed.
fn id(ran: &Ran) -> String {
    let id = ran.out().strip_prefix("msg_id: ").expect("an id").trim_end().to_owned();
    assert!(id.starts_with("MSG-") && id.len() == 43, "{id}");
    id
}

/// A process that does not outlive its test.
struct Ended(Child);

impl Drop for Ended {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[test]
fn what_is_posted_is_read() {
    let ran = posted("half\n---\nway");
    let id = id(&ran);
    let bus = ran.file(BUS);
    assert!(bus.starts_with(&format!("---\nmsg_id: {id}\nts: 20")), "{bus}");
    let mode = std::os::unix::fs::PermissionsExt::mode(
        &ran.path("runs").metadata().unwrap().permissions(),
    );
    assert_eq!(mode & 0o777, 0o700, "others stay out");
    assert!(bus.ends_with("\ntask_id: t1\nrun_id: \"\"\n---\nhalf\n\\---\nway\n"), "{bus}");
    let ran = ran.again("bus read --task t1").code(0).stderr("");
    let ran = ran.stdout(&format!("[..]Z  PROGRESS  {id}\n    half\n    ---\n    way\n"));
    let ran = ran.again("bus read --task t1 --json").code(0);
    let message = ran.json();
    assert_eq!(
        (&message["body"], &message["type"]),
        (&"half\n---\nway".into(), &"PROGRESS".into())
    );
    assert_eq!((&message["project_id"], &message["task_id"]), (&"shop".into(), &"t1".into()));
}

#[test]
fn without_a_task_it_is_the_projects() {
    let ran = gate("bus post --body x").settings(SHOP).code(0);
    assert!(ran.file("runs/shop/PROJECT-MESSAGE-BUS.md").contains("\ntask_id: \"\"\n"));
    let ran = ran.again("bus discover").code(0);
    assert!(ran.out().ends_with("runs/shop/PROJECT-MESSAGE-BUS.md\n"), "{}", ran.out());
    let ran = ran.again("bus discover --task new --json").code(0);
    assert_eq!((&ran.json()["exists"], &ran.json()["task_id"]), (&false.into(), &"new".into()));
    let ran = ran.again("bus post --project other --body y").code(0);
    let ran = ran.again("bus read --project other --json").code(0);
    assert_eq!(ran.json()["project_id"], "other");
}

#[test]
fn the_nearest_bus_is_found() {
    let ran = posted("near").again("-C runs/shop/t1 bus read --json").code(0);
    assert_eq!(ran.json()["body"], "near");
    let ran = ran.again("-C runs/shop/t1 bus post --body here").code(0);
    let ran = ran.again("bus read --json --last 1 --bus").args([BUS]).code(0);
    assert_eq!((&ran.json()["project_id"], &ran.json()["task_id"]), (&"shop".into(), &"t1".into()));
}

#[test]
fn a_line_is_no_id_of_a_message() {
    let ran = gate("bus post --body x --parent").settings(SHOP).args(["msg_id: MSG-1"]).code(2);
    ran.tells("an id is one word, such as MSG-");
}

#[test]
fn answers_and_corrections_are_threads() {
    let ran = posted("question?");
    let first = id(&ran);
    let ran =
        ran.again("bus post --task t1 --type ANSWER --body yes --parent").args([&first]).code(0);
    let second = id(&ran);
    let words = "bus post --task t1 --type ISSUE --link /x/y.md --meta colour=red --body apart";
    let ran = ran.again(words).code(0);
    let third = id(&ran);
    let ran = ran.again("bus read --task t1 --json --thread").args([&first]).code(0);
    let thread = ran.json_lines();
    assert_eq!(thread.len(), 2);
    assert_eq!(each(&thread[1], "parents", "msg_id"), [first.as_str()]);
    let ran = ran.again("bus read --task t1 --json --since-id").args([&second]).code(0);
    let last = ran.json();
    assert_eq!(
        (&last["issue_id"], &last["msg_id"]),
        (&third.as_str().into(), &third.as_str().into())
    );
    assert_eq!(
        (&last["links"][0]["url"], &last["meta"]["colour"]),
        (&"/x/y.md".into(), &"red".into())
    );
    let ran = ran.again("bus read --task t1 --json --type answer").code(0);
    assert_eq!(ran.json()["msg_id"], second.as_str());
}

#[test]
fn the_runner_alone_says_when_runs_start_and_stop() {
    for kind in ["START", "stop", "CRASH", "RUN_START", "run-stop", "Run Crash"] {
        let ran = gate("bus post --task t1 --body x --type").settings(SHOP).args([kind]).code(2);
        let ran = ran.tells("only the runner says when a run starts, stops or crashes");
        assert_eq!(ran.file(BUS), "");
    }
}

#[test]
fn what_cannot_be_posted_is_told() {
    let post =
        |words: &str| gate("bus post --body x").settings(SHOP).args(words.split(' ')).code(2);
    post("--project Shop").tells("project id \"Shop\": lower-case letters");
    post("--project ..").tells("project id \"..\"");
    post("--task ../x").tells("task id \"../x\" names no folder");
    post("--meta colour").tells("KEY=VALUE is expected");
    gate("bus post --task t1 --body x --project")
        .settings(SHOP)
        .args([""])
        .code(2)
        .tells("project id");
    gate("bus post --task t1 --body x --type")
        .settings(SHOP)
        .args([" "])
        .code(2)
        .tells("message type is empty");
    gate("bus post --task t1").settings(SHOP).code(2).tells("there is no text to post");
    let ran = gate("bus post --task t1 --json").settings(SHOP).code(2);
    assert_eq!(ran.json()["code"], "usage");
    let long = gate("bus post --task t1").settings(SHOP).stdin(vec![b'x'; (1 << 20) + 1]);
    long.code(2).tells("1048576 are the most");
}

#[test]
fn a_text_may_come_from_stdin() {
    let ran = gate("bus post --task t1").settings(SHOP).stdin("two\nlines\n").code(0);
    assert_eq!(ran.again("bus read --task t1 --json").code(0).json()["body"], "two\nlines");
    let ran = posted("- a list").again("bus read --task t1 --json").code(0);
    assert_eq!(ran.json()["body"], "- a list");
}

#[test]
fn a_bus_is_no_link() {
    let ran = posted("x");
    let link = ran.path("link.md");
    std::os::unix::fs::symlink(ran.path(BUS), link).unwrap();
    let ran = ran.again("bus post --body y --bus link.md").code(2);
    let ran = ran.tells("a file is expected, and no link to one");
    let ran = ran.again("bus read --bus link.md").code(2).tells("no link to one");
    let ran = ran.again("bus post --body y --bus runs").code(2);
    ran.again("bus read nowhere.md").code(2).tells("cannot read the bus");
}

#[test]
fn a_bus_that_nobody_has_written_to_is_empty() {
    let ran = gate("bus read --bus later.md").settings(SHOP).code(0).stdout("");
    let ran = ran.tells("there is no such bus yet");
    let ran = ran.again("bus poll --bus later.md").code(1).stdout("");
    ran.again("bus read --bus later.md --json").code(0).stdout("");
}

#[test]
fn only_whole_entries_are_read_and_what_was_torn_is_put_aside() {
    let ran = posted("one");
    let one = ran.file(BUS);
    let ran = ran.again("bus post --task t1 --body two").code(0);
    let torn = ran.file(BUS);
    let torn = torn.trim_end();
    let ran = ran.again("bus read --task t1 --json").file(BUS, torn).code(0);
    assert_eq!(ran.json()["body"], "one");
    let ran = ran.tells("passed over: its end is missing");
    let ran = ran.again("bus post --task t1 --body three").code(0);
    assert!(ran.file(BUS).starts_with(&format!("{one}\n---\nmsg_id: ")));
    assert_eq!(ran.file(&format!("{BUS}.torn")), torn[one.len()..]);
    let ran = ran.again("bus read --task t1 --json").code(0).stderr("");
    let bodies: Vec<_> =
        ran.json_lines().iter().map(|json_line| json_line["body"].clone()).collect();
    assert_eq!(bodies, ["one", "three"]);
}

#[test]
fn the_end_of_a_long_bus_is_enough() {
    let long = "long line\n".repeat(40_000);
    let mut ran = gate("bus post --task t1").settings(SHOP).stdin(long).code(0);
    for body in ["two", "three"] {
        ran = ran.again("bus post --task t1 --body").args([body]).code(0);
    }
    let torn = ran.file(BUS);
    let ran = ran.again("bus post --task t1 --body four").file(BUS, torn.trim_end()).code(0);
    let ran = ran.again("bus read --task t1 --all --json").code(0).stderr("");
    let lengths: Vec<_> = ran
        .json_lines()
        .iter()
        .map(|json_line| json_line["body"].as_str().unwrap().len())
        .collect();
    assert_eq!(lengths, [399_999, 3, 4]);
}

#[test]
fn the_latest_twenty_are_shown_unless_more_are_wanted() {
    let entry = |n: u32| format!("---\nmsg_id: m{n}\ntype: INFO\nproject_id: p\n---\n{n}\n");
    let bus: Vec<_> = (1..=25).map(entry).collect();
    let ran = gate("bus read bus.md --json").file("bus.md", bus.join("\n")).code(0);
    assert_eq!((ran.json_lines().len(), &ran.json_lines()[0]["body"]), (20, &"6".into()));
    let ran = ran.again("bus read bus.md --json -n 2").code(0);
    assert_eq!(ran.json_lines()[0]["body"], "24");
    let ran = ran.again("bus read bus.md --json --all").code(0);
    assert_eq!(ran.json_lines().len(), 25);
    let ran = ran.again("bus read bus.md --json --since-id m4").code(0);
    assert_eq!(ran.json_lines().len(), 21);
    let ran = ran.again("bus read - --json -n 1").stdin(bus.join("\n")).code(0);
    assert_eq!(ran.json()["body"], "25");
    ran.again("bus read bus.md --since-id m99").code(2).tells("since id \"m99\" not found");
}

#[test]
fn new_messages_follow() {
    let ran = posted("first");
    let mut read = ran.beside("bus read --task t1 --follow --json");
    let mut read = Ended(read.stdout(Stdio::piped()).spawn().unwrap());
    let mut lines = BufReader::new(read.0.stdout.take().unwrap()).lines();
    let mut next = || lines.next().unwrap().unwrap();
    assert!(next().contains("\"first\""));
    let _ran = ran.again("bus post --task t1 --body second").code(0);
    assert!(next().contains("\"second\""));
    drop(lines);
    assert_eq!(read.0.wait().unwrap().code(), Some(0));
}

#[test]
fn something_new_is_waited_for() {
    let ran = posted("first");
    let first = id(&ran);
    let ran = ran.again("bus poll --task t1 --since-id").args([&first]).code(1).stdout("");
    let words = format!("bus poll --task t1 --wait 1m --json --since-id {first}");
    let poll = ran.beside(&words).stdout(Stdio::piped()).spawn().unwrap();
    let ran = ran.again("bus post --task t1 --body second").code(0);
    let output = poll.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(0));
    assert!(String::from_utf8_lossy(&output.stdout).contains("\"second\""));
    let ran = ran.again("bus poll --task t1 --wait 10ms --type QUESTION").code(1).stdout("");
    ran.again("bus poll --task t1 --since-id m0").code(2).tells("since id \"m0\" not found");
}
