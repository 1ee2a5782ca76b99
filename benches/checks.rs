//! What checks cost beside the commands that they run: whole processes, side
//! by side in one run. `cargo bench --bench checks` prints the table.
#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a bench that cannot go on fails")]

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

const GATE: &str = env!("CARGO_BIN_EXE_gate");

const DONE: &str = "The importer is finished: all tasks are completed.\n\nEXIT_STATUS: COMPLETE\n";

/// A command that a row times.
struct Timed<'a> {
    name: &'a str,
    program: &'a str,
    args: &'a [&'a str],
}

fn main() {
    // What cargo passes to a bench is of no use here.
    let folder = tempfile::tempdir().unwrap();
    let project = &folder.path().join("work");
    fs::create_dir(project).unwrap();
    fs::write(project.join("out.log"), DONE).unwrap();
    println!("{:<44}{:>10}{:>10}{:>9}", "", "median", "bare", "more");
    both(
        project,
        "[checks.a]\ncommand = [\"sleep\", \"1\"]\n[checks.b]\ncommand = [\"sleep\", \"1\"]\n",
        3,
        [
            Timed {
                name: "two checks of 1 s, beside one sleep 1",
                program: GATE,
                args: &["check", "-q", "--no-cache", "out.log"],
            },
            Timed { name: "", program: "sleep", args: &["1"] },
        ],
    );
    let test = "[checks.tests]\ncommand = [\"sh\", \"-c\", \"sleep 0.2\"]\nhermetic = true\n";
    both(
        project,
        test,
        15,
        [
            Timed {
                name: "one test command, beside the bare one",
                program: GATE,
                args: &["check", "-q", "--no-cache", "out.log"],
            },
            Timed { name: "", program: "sh", args: &["-c", "sleep 0.2"] },
        ],
    );
    both(
        project,
        test,
        30,
        [
            Timed {
                name: "second call, hermetic, beside an empty process",
                program: GATE,
                args: &["check", "-q", "out.log"],
            },
            Timed { name: "", program: "true", args: &[] },
        ],
    );
    both(
        project,
        test,
        30,
        [
            Timed {
                name: "no checks at all, beside an empty process",
                program: GATE,
                args: &["check", "-q", "--no-checks", "--no-state", "out.log"],
            },
            Timed { name: "", program: "true", args: &[] },
        ],
    );
}

/// Runs both in turns, and prints the medians.
fn both(project: &Path, settings: &str, times: usize, [gate, bare]: [Timed<'_>; 2]) {
    fs::write(project.join("gate.toml"), settings).unwrap();
    run(project, &Timed { name: "", program: GATE, args: &["trust"] });
    run(project, &gate);
    run(project, &bare);
    let pairs = (0..times).map(|_| (run(project, &gate), run(project, &bare)));
    let (ours, theirs): (Vec<_>, Vec<_>) = pairs.unzip();
    let (ours, theirs) = (median(ours), median(theirs));
    let millis = |time: Duration| format!("{:.1} ms", time.as_secs_f64() * 1e3);
    let more = millis(ours.saturating_sub(theirs));
    println!("{:<44}{:>10}{:>10}{:>9}", gate.name, millis(ours), millis(theirs), more);
}

fn run(project: &Path, timed: &Timed<'_>) -> Duration {
    let mut command = Command::new(timed.program);
    command
        .args(timed.args)
        .current_dir(project)
        .env("GATE_STATE_DIR", project.with_file_name("state"))
        .env("XDG_DATA_HOME", project.with_file_name("data"));
    command.stdout(Stdio::null()).stderr(Stdio::inherit());
    let began = Instant::now();
    let status = command.status().unwrap();
    assert!(status.success(), "{} {:?}", timed.program, timed.args);
    began.elapsed()
}

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort();
    times[times.len() / 2]
}
