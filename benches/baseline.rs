//! What a baseline costs in a repository of 50,000 files: whole processes, in turns,
//! in one run. `cargo bench --bench baseline` prints the table.
#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a bench that cannot go on fails")]

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

const GATE: &str = env!("CARGO_BIN_EXE_gate");

/// How often each is run, in turns.
const TIMES: usize = 9;

/// How many folders there are, and files in each.
const FOLDERS: usize = 500;
const FILES: usize = 100;

fn main() {
    let folder = tempfile::tempdir().unwrap();
    let project = &folder.path().join("work");
    repository(project);
    let state = folder.path().join("state");
    let read = "git ls-files -z | xargs -0 cat";
    let (mut reads, mut firsts, mut statuses, mut laters) = (vec![], vec![], vec![], vec![]);
    for _ in 0..TIMES {
        reads.push(time(project, &state, "sh", &["-c", read]));
        let _ = fs::remove_dir_all(&state);
        firsts.push(time(project, &state, GATE, &["baseline"]));
        statuses.push(time(project, &state, "git", &["status", "--porcelain"]));
        laters.push(time(project, &state, GATE, &["baseline"]));
    }
    println!("{:<52}{:>9}{:>9}{:>7}", "", "gate", "beside", "ratio");
    row("first baseline, beside one read of all files", firsts, reads);
    row("a later one, beside git status", laters, statuses);
}

/// A tenth of the files are tests.
fn repository(project: &Path) {
    for folder in 0..FOLDERS {
        let (top, name) = if folder % 10 == 0 { ("tests", "test_") } else { ("src", "part_") };
        let place = project.join(top).join(format!("m{folder}"));
        fs::create_dir_all(&place).unwrap();
        for file in 0..FILES {
            let text = format!("# {folder} {file}\n").repeat(40 + (folder * 7 + file * 13) % 120);
            fs::write(place.join(format!("{name}{file}.py")), text).unwrap();
        }
    }
    fs::write(project.join("gate.toml"), "[checks.tests]\ncommand = [\"pytest\"]\n").unwrap();
    let author = ["-c", "user.name=a", "-c", "user.email=a@example.org"];
    for words in [&["init", "-q"][..], &["add", "-A"], &["commit", "-qm", "a"]] {
        let mut git = Command::new("git");
        assert!(git.args(author).args(words).current_dir(project).status().unwrap().success());
    }
}

fn time(project: &Path, state: &Path, program: &str, args: &[&str]) -> Duration {
    let mut command = Command::new(program);
    command.args(args).current_dir(project).stdout(Stdio::null()).stderr(Stdio::inherit());
    command.env("GATE_STATE_DIR", state.join("state")).env("XDG_DATA_HOME", state.join("data"));
    let began = Instant::now();
    assert!(command.status().unwrap().success(), "{program} {args:?}");
    began.elapsed()
}

fn row(name: &str, gate: Vec<Duration>, beside: Vec<Duration>) {
    let (gate, beside) = (median(gate), median(beside));
    let ratio = gate.as_secs_f64() / beside.as_secs_f64();
    let millis = |it: Duration| it.as_secs_f64() * 1e3;
    println!("{name:<52}{:>6.0} ms{:>6.0} ms{ratio:>7.2}", millis(gate), millis(beside));
}

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort();
    times[times.len() / 2]
}
