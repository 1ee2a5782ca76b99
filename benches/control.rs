//! What it costs to try tests, beside the bare command: whole processes, both warm,
//! side by side in one run. `cargo bench --bench control` prints the table;
//! `-- pytest` or `-- cargo` one part of it.
#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a bench that cannot go on fails")]

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

const GATE: &str = env!("CARGO_BIN_EXE_gate");

const DONE: &str = "The importer is finished: all tasks are completed.\n\nEXIT_STATUS: COMPLETE\n";

/// How often each is run, in turns.
const TIMES: usize = 3;

/// How many test files there are, and tests in each of them: each of a fifth of a
/// second.
const FILES: usize = 10;
const TESTS: usize = 5;

type Files = Vec<(String, String)>;

fn main() {
    let wanted: Vec<_> = std::env::args().skip(1).filter(|word| !word.starts_with('-')).collect();
    let is_wanted = |name: &str| wanted.is_empty() || wanted.iter().any(|wanted| wanted == name);
    println!("{:<52}{:>9}{:>9}{:>7}", "", "gate", "bare", "ratio");
    if is_wanted("pytest") {
        let test = |n| format!("def test_{n}():\n    time.sleep(0.2)\n\n\n");
        let tests = format!("import time\n\n\n{}", (0..TESTS).map(test).collect::<String>());
        let file = |n| (format!("tests/test_{n}.py"), tests.clone());
        both("pytest", &["python3", "-m", "pytest", "-q"], &(0..FILES).map(file).collect());
    }
    if is_wanted("cargo") {
        let sleep = "std::thread::sleep(std::time::Duration::from_millis(200));";
        let test = |n| format!("#[test]\nfn t{n}() {{\n    {sleep}\n}}\n");
        let tests: String = (0..TESTS).map(test).collect();
        let manifest =
            "[package]\nname = \"thing\"\nversion = \"0.1.0\"\nedition = \"2024\"\n[workspace]\n";
        let mut files = vec![
            ("Cargo.toml".to_owned(), manifest.to_owned()),
            ("src/lib.rs".to_owned(), "//! A thing.\n".to_owned()),
        ];
        files.extend((0..FILES).map(|n| (format!("tests/it_{n}.rs"), tests.clone())));
        both("cargo", &["cargo", "test", "--offline", "--", "--test-threads=1"], &files);
    }
}

/// One part: with a control, and with an overlay too.
fn both(name: &str, command: &[&str], files: &Files) {
    let folder = tempfile::tempdir().unwrap();
    let project = &folder.path().join("work");
    for (file, text) in files {
        let file = project.join(file);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(file, text).unwrap();
    }
    fs::write(project.join(".gitignore"), "target\nCargo.lock\n__pycache__\n.pytest_cache\n")
        .unwrap();
    let settings =
        format!("[checks.tests]\ncommand = {}\n", serde_json::to_string(command).unwrap());
    fs::write(project.join("gate.toml"), settings).unwrap();
    for args in [vec!["init", "-q"], vec!["add", "-A"], COMMIT.to_vec()] {
        run(project, "git", &args);
    }
    run(project, GATE, &["trust"]);
    fs::write(project.join("out.log"), DONE).unwrap();
    compare(project, &format!("{name}: a control"), command);
    // A file of tests that somebody has touched is put back, and then runs as it stands.
    let (file, text) = files.last().unwrap();
    let more = text.replacen("0.2)", "0.2)  # a fifth", 1).replacen("(200)", "(200 * 1)", 1);
    fs::write(project.join(file), more).unwrap();
    compare(project, &format!("{name}: a control, and {file} laid over"), command);
}

const COMMIT: [&str; 7] = ["-c", "user.name=a", "-c", "user.email=a", "commit", "-qm", "a"];

/// Runs both in turns, and prints the medians.
fn compare(project: &Path, name: &str, command: &[&str]) {
    let gate = ["check", "-q", "--no-cache", "out.log"];
    let (program, args) = command.split_first().unwrap();
    run(project, GATE, &gate);
    run(project, program, args);
    let pairs = (0..TIMES).map(|_| (run(project, GATE, &gate), run(project, program, args)));
    let (ours, theirs): (Vec<_>, Vec<_>) = pairs.unzip();
    let (ours, theirs) = (median(ours).as_secs_f64(), median(theirs).as_secs_f64());
    println!("{name:<52}{ours:>7.2} s{theirs:>7.2} s{:>7.3}", ours / theirs);
}

fn run(project: &Path, program: &str, args: &[&str]) -> Duration {
    let mut command = Command::new(program);
    command.args(args).current_dir(project);
    command.env("GATE_STATE_DIR", project.with_file_name("state"));
    command.env("XDG_DATA_HOME", project.with_file_name("data"));
    command.stdout(Stdio::null()).stderr(Stdio::null());
    let began = Instant::now();
    let status = command.status().unwrap();
    assert!(status.success(), "{program} {args:?}");
    began.elapsed()
}

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort();
    times[times.len() / 2]
}
