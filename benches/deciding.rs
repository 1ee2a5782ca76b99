//! Verified tests beside the bare command: whole processes, both warm, side by side in one run.
//! `cargo bench --bench deciding` prints the table; `-- pytest`, `-- cargo`, `-- rungs` or
//! `-- tests-first` one part of it.
#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a bench that cannot go on fails")]

use std::fs;
use std::io::Write;
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

/// Number of test files where each kind of evidence is measured.
const RUNG_FILES: usize = 4;

type Files = Vec<(String, String)>;

/// An agent's work: a source, its text when it is right, and when it breaks a test.
struct Work {
    source: &'static str,
    right: &'static str,
    wrong: &'static str,
}

fn main() {
    let wanted: Vec<_> = std::env::args().skip(1).filter(|word| !word.starts_with('-')).collect();
    let is_wanted = |name: &str| wanted.is_empty() || wanted.iter().any(|wanted| wanted == name);
    println!("{:<46}{:>9}{:>9}{:>7}{:>6}", "", "gate", "bare", "ratio", "bar");
    let command = ["python3", "-m", "pytest", "-q"];
    if is_wanted("pytest") {
        let work = Work { source: "thing.py", right: "LIMIT = 2\n", wrong: "LIMIT = 3\n" };
        let limit = "from thing import LIMIT\n\n\ndef test_limit():\n    assert LIMIT < 3\n";
        let mut files = python(FILES);
        files.push(("tests/test_limit.py".to_owned(), limit.to_owned()));
        rows("pytest", &command, &files, &work);
    }
    if is_wanted("rungs") {
        rungs(&command, &python(RUNG_FILES));
    }
    if is_wanted("tests-first") {
        tests_first(&command, &python(RUNG_FILES));
    }
    if is_wanted("cargo") {
        let sleep = "std::thread::sleep(std::time::Duration::from_millis(200));";
        let test = |n| format!("#[test]\nfn t{n}() {{\n    {sleep}\n}}\n");
        let tests: String = (0..TESTS).map(test).collect();
        let limit = "#[test]\nfn limit() {\n    assert!(thing::LIMIT < 3);\n}\n";
        let manifest =
            "[package]\nname = \"thing\"\nversion = \"0.1.0\"\nedition = \"2024\"\n[workspace]\n";
        let mut files = vec![
            ("Cargo.toml".to_owned(), manifest.to_owned()),
            ("src/lib.rs".to_owned(), "pub const LIMIT: u8 = 1;\n".to_owned()),
            ("tests/limit.rs".to_owned(), limit.to_owned()),
        ];
        files.extend((0..FILES).map(|n| (format!("tests/it_{n}.rs"), tests.clone())));
        let work = Work {
            source: "src/lib.rs",
            right: "pub const LIMIT: u8 = 2;\n",
            wrong: "pub const LIMIT: u8 = 3;\n",
        };
        rows("cargo", &["cargo", "test", "--offline", "--", "--test-threads=1"], &files, &work);
    }
}

/// A project with this many files of tests for pytest.
fn python(count: usize) -> Files {
    let test = |n| format!("def test_{n}():\n    time.sleep(0.2)\n\n\n");
    let tests = format!("import time\n\n\n{}", (0..TESTS).map(test).collect::<String>());
    let mut files: Files =
        (0..count).map(|n| (format!("tests/test_{n}.py"), tests.clone())).collect();
    files.push(("thing.py".to_owned(), "LIMIT = 1\n\n\n\n\n\nMORE = 1\n".to_owned()));
    files.push(("conftest.py".to_owned(), String::new()));
    files
}

/// An exit, a refused claim, and a stop of a person's session.
fn rows(name: &str, command: &[&str], files: &Files, work: &Work) {
    let folder = tempfile::tempdir().unwrap();
    let project = &folder.path().join("work");
    begin(project, command, files, "");
    hook(project, "SessionStart");
    write(project, work.source, work.right);
    let (program, args) = command.split_first().unwrap();
    let check = ["check", "-q", "--no-cache", "--new-run", "out.log"];
    // Each iteration has work of its own, which both have to build.
    let edit = || {
        let text = format!("{}\n", fs::read_to_string(project.join(work.source)).unwrap());
        write(project, work.source, &text);
    };
    compare(&format!("{name}: an exit"), 1.3, || {
        edit();
        (run(project, (0, GATE), &check, ""), run(project, (0, program), args, ""))
    });
    compare(&format!("{name}: a green interactive stop"), 1.2, || {
        edit();
        (hook(project, "Stop"), run(project, (0, program), args, ""))
    });
    write(project, work.source, work.wrong);
    let red = if program == &"cargo" { 101 } else { 1 };
    compare(&format!("{name}: a refused claim"), 1.3, || {
        (run(project, (1, GATE), &check, ""), run(project, (red, program), args, ""))
    });
}

/// The cost of each kind of evidence of what was asked: an exit with it beside the bare command.
fn rungs(command: &[&str], files: &Files) {
    let (program, args) = command.split_first().unwrap();
    let new_test = "import time\n\nfrom thing import LIMIT\n\n\ndef test_limit():\n    \
                    time.sleep(0.2)\n    assert LIMIT == 2\n";
    let sealed = format!("{new_test}\n\ndef test_more():\n    time.sleep(0.2)\n");
    let criterion = "[[criteria]]\nid = \"a\"\ntext = \"a limit\"\n\
                     verify = [\"python3\", \"-c\", \"import thing\"]\n";
    for (name, bar, settings) in [
        ("a new test", 2.4, ""),
        ("a new test and a criterion with a command", 2.4, criterion),
        ("a new test and sealed tests", 2.7, "sealed = \"../sealed\"\n"),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let project = &folder.path().join("work");
        begin(project, command, files, settings);
        write(folder.path(), "sealed/tests/test_sealed.py", &sealed);
        write(project, "thing.py", "LIMIT = 2\n\n\n\n\n\nMORE = 2\n");
        write(project, "tests/test_limit.py", new_test);
        compare(&format!("pytest: an exit, {name}"), bar, || {
            let check = ["check", "-q", "--no-cache", "--new-run", "out.log"];
            (run(project, (0, GATE), &check, ""), run(project, (0, program), args, ""))
        });
    }
}

/// Both loops of `gate run --tests-first`, with what is done once for each baseline, beside the
/// bare command.
fn tests_first(command: &[&str], files: &Files) {
    let (program, args) = command.split_first().unwrap();
    let agent = "if grep -q 'tests only'; then\n\
                 printf 'from thing import LIMIT\\n\\n\\ndef test_limit():\\n    assert LIMIT == 2\\n' \
                 >tests/test_limit.py\nelse sed -i 's/LIMIT = 1/LIMIT = 2/' thing.py; fi; cat out.log\n";
    compare("pytest: gate run --tests-first, both loops", 5.5, || {
        let folder = tempfile::tempdir().unwrap();
        let project = &folder.path().join("work");
        write(project, "agent.sh", agent);
        write(project, "task.md", "The limit is 2.\n");
        begin(project, command, files, "");
        let words = ["run", "--tests-first", "--task", "t", "--prompt", "task.md", "--", "sh"];
        let words = [words.as_slice(), &["agent.sh"]].concat();
        (run(project, (0, GATE), &words, ""), run(project, (0, program), args, ""))
    });
}

/// Commits a project with these settings of its check `tests`, and takes its baseline.
fn begin(project: &Path, command: &[&str], files: &Files, settings: &str) {
    for (file, text) in files {
        write(project, file, text);
    }
    write(project, ".gitignore", "target\nCargo.lock\n__pycache__\n.pytest_cache\nout.log\n");
    let command = serde_json::to_string(command).unwrap();
    write(project, "gate.toml", &format!("[checks.tests]\ncommand = {command}\n{settings}"));
    for args in [vec!["init", "-q"], vec!["add", "-A"], COMMIT.to_vec()] {
        run(project, (0, "git"), &args, "");
    }
    run(project, (0, GATE), &["trust"], "");
    run(project, (0, GATE), &["baseline"], "");
    write(project, "out.log", DONE);
}

const COMMIT: [&str; 7] = ["-c", "user.name=a", "-c", "user.email=a", "commit", "-qm", "a"];

fn write(project: &Path, file: &str, text: &str) {
    let file = project.join(file);
    fs::create_dir_all(file.parent().unwrap()).unwrap();
    fs::write(file, text).unwrap();
}

/// An event of a person's session in Claude Code.
fn hook(project: &Path, event: &str) -> Duration {
    let event = serde_json::json!({
        "session_id": "s1", "cwd": project, "hook_event_name": event, "source": "startup",
        "transcript_path": "/nowhere.jsonl", "prompt_id": "p1", "permission_mode": "default",
        "stop_hook_active": false, "last_assistant_message": "It is in place.",
        "background_tasks": [],
    });
    run(project, (0, GATE), &["hook", "claude-code"], &event.to_string())
}

/// Runs both in turns, and prints the medians. The first turn warms both up.
fn compare(name: &str, bar: f64, both: impl Fn() -> (Duration, Duration)) {
    both();
    let (ours, theirs): (Vec<_>, Vec<_>) = (0..TIMES).map(|_| both()).unzip();
    let (ours, theirs) = (median(ours).as_secs_f64(), median(theirs).as_secs_f64());
    println!("{name:<46}{ours:>7.2} s{theirs:>7.2} s{:>7.2}{bar:>6}", ours / theirs);
}

fn run(project: &Path, (code, program): (i32, &str), args: &[&str], input: &str) -> Duration {
    let mut command = Command::new(program);
    command.args(args).current_dir(project);
    command.env("GATE_STATE_DIR", project.with_file_name("state"));
    command.env("XDG_DATA_HOME", project.with_file_name("data"));
    for mark in ["CLAUDECODE", "CLAUDE_CODE_ENTRYPOINT"] {
        command.env_remove(mark);
    }
    command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
    let began = Instant::now();
    let mut child = command.spawn().unwrap();
    // A program that reads nothing may have ended.
    let _ = child.stdin.take().unwrap().write_all(input.as_bytes());
    let status = child.wait().unwrap();
    assert_eq!(status.code(), Some(code), "{program} {args:?}");
    began.elapsed()
}

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort();
    times[times.len() / 2]
}
