//! What a start of gate costs beside that of an empty program: whole
//! processes, in turns, in one run. `cargo bench --bench startup` prints the
//! table. `benches/README.md` says what these figures are worth.
#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a bench that cannot go on fails")]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

const GATE: &str = env!("CARGO_BIN_EXE_gate");

/// How often each process is run, after some runs that do not count.
const TIMES: usize = 400;
const WARM: usize = 20;

/// How large a transcript is, in bytes.
const BYTES: usize = 10 << 10;

/// A project's settings.
const SETTINGS: &str = "\
[exit_gate]
indicator_threshold = 2

[checks.tests]
command = [\"cargo\", \"test\"]
timeout = \"10m\"

[breaker]
cooldown = \"30m\"
";

const DONE: &str = "All four stories are complete and the tests pass.";
const STATUS: [&str; 3] =
    ["EXIT_STATUS: COMPLETE", "EXIT_REASON: it is done", "REMAINING_WORK: none"];

/// A command that a row times.
struct Timed {
    name: String,
    program: PathBuf,
    args: Vec<&'static str>,
}

fn main() {
    // What cargo passes to a bench is of no use here.
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    fs::write(folder.join("text.log"), text()).unwrap();
    fs::write(folder.join("claude.jsonl"), stream()).unwrap();
    fs::write(folder.join("ordinary.toml"), SETTINGS).unwrap();
    let rows = rows(folder);
    let mut times = vec![Vec::new(); rows.len()];
    for round in 0..WARM + TIMES {
        for (row, times) in rows.iter().zip(&mut times) {
            let time = run(folder, row);
            times.extend((round >= WARM).then_some(time));
        }
    }
    let medians: Vec<_> = times.into_iter().map(median).collect();
    println!("{:<60}{:>10}{:>9}", "", "median", "times");
    for (row, time) in rows.iter().zip(&medians) {
        let ratio = time.as_secs_f64() / medians[0].as_secs_f64();
        println!("{:<60}{:>7.2} ms{:>9.2}", row.name, time.as_secs_f64() * 1e3, ratio);
    }
}

/// The empty program first: all others are measured by it.
fn rows(folder: &Path) -> Vec<Timed> {
    let gate = |name: &str, args: &[&'static str]| Timed {
        name: name.to_owned(),
        program: GATE.into(),
        args: args.to_vec(),
    };
    let mut rows = vec![
        Timed { name: "an empty program".to_owned(), program: empty(folder), args: Vec::new() },
        gate("gate --version", &["--version"]),
    ];
    for file in ["text.log", "claude.jsonl"] {
        rows.push(gate(&format!("gate scan {file}"), &["scan", file]));
        let name = format!("gate check --no-checks --no-state {file}");
        let check = ["check", "-q", "--no-checks", "--no-state", file];
        rows.push(gate(&name, &check));
        let configured = [&check[..], &["--config", "ordinary.toml"]].concat();
        rows.push(gate(&format!("{name}, with settings"), &configured));
    }
    rows
}

/// A Rust program that does nothing.
fn empty(folder: &Path) -> PathBuf {
    let (source, program) = (folder.join("empty.rs"), folder.join("empty"));
    fs::write(&source, "fn main() {}\n").unwrap();
    let rustc = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let mut compile = Command::new(rustc);
    compile.args(["-O", "-C", "strip=symbols", "-o"]).arg(&program).arg(&source);
    assert!(compile.status().unwrap().success());
    program
}

/// A log of an agent: prose and what its tools printed.
fn text() -> String {
    let mut text = String::new();
    for round in 1.. {
        text += &format!("I look at module {round} and run its tests next.\n\n");
        text += &format!("running {round} tests\ntest parser::reads_{round} ... ok\n");
        text += "test result: ok. 12 passed; 0 failed\n\n";
        if text.len() > BYTES {
            break;
        }
    }
    text + &format!("{DONE}\n\n{}\n", STATUS.join("\n"))
}

/// The same as Claude's stream-json.
fn stream() -> String {
    let said = |text: &str| {
        let content = format!(r#"[{{"type":"text","text":"{text}"}}]"#);
        format!(
            r#"{{"type":"assistant","message":{{"id":"m","role":"assistant","content":{content}}},"session_id":"s"}}"#
        ) + "\n"
    };
    let mut stream = String::new();
    for round in 1.. {
        stream += &said(&format!("I look at module {round} and run its tests next."));
        let output = "test parser::reads ... ok\\n".repeat(8);
        stream += &format!(
            r#"{{"type":"user","message":{{"role":"user","content":[{{"tool_use_id":"t","type":"tool_result","content":"{output}"}}]}},"session_id":"s"}}"#
        );
        stream.push('\n');
        if stream.len() > BYTES {
            break;
        }
    }
    stream + &said(&format!("{DONE}\\n\\n{}", STATUS.join("\\n")))
}

fn run(folder: &Path, timed: &Timed) -> Duration {
    let mut command = Command::new(&timed.program);
    command.args(&timed.args).current_dir(folder).env("HOME", folder);
    command.stdout(Stdio::null()).stderr(Stdio::null());
    let began = Instant::now();
    command.status().unwrap();
    began.elapsed()
}

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort();
    times[times.len() / 2]
}
