//! `gate replay` that ends early: interrupted, or with nobody reading on; and
//! with any number of threads.

use std::fmt::Write as _;
use std::io::{BufRead, BufReader, Read, pipe};
use std::process::{Command, Stdio};

use crate::support::{DONE, Run, UNDONE, gate};

/// Many transcripts, some of them long.
fn many(words: &str) -> Run {
    let long = format!("{}{UNDONE}", "some words that say nothing\n".repeat(40_000));
    (0..60).fold(gate(words), |run, number| {
        let text = if number % 20 == 7 { long.as_str() } else { DONE };
        run.file(&format!("t/{number:02}.log"), text)
    })
}

#[test]
fn rows_are_in_order_whoever_reads_them() {
    let verdicts = |run: Run| -> Vec<(String, String)> {
        let rows = run.code(0).json_lines();
        let text = |value: &serde_json::Value| value.as_str().unwrap().to_owned();
        rows.iter().map(|row| (text(&row["file"]), text(&row["verdict"]))).collect()
    };
    let one = verdicts(many("replay --json --jobs 1 t"));
    assert_eq!(one.len(), 60);
    assert!(one.is_sorted());
    assert_eq!(verdicts(many("replay --json --jobs 5 t")), one);
    many("replay --jobs 0 t").code(2).tells("--jobs");
}

#[test]
fn a_long_log_of_many_iterations_is_told_as_it_is_read() {
    let mut log = String::new();
    for number in 1..=1500 {
        let _ = writeln!(log, "=== Iteration {number} ===\n{UNDONE}");
    }
    let run = many("replay --json --jobs 3 z.log y.log x.log").file("x.log", &log);
    let rows = run.file("y.log", &log).file("z.log", DONE).code(0).json_lines();
    assert_eq!(rows.len(), 3001);
    assert_eq!((&rows[1500]["file"], &rows[1500]["iteration"]), (&"y.log".into(), &1500.into()));
    assert_eq!((&rows[1501]["file"], &rows[1501]["iteration"]), (&"x.log".into(), &1.into()));
}

#[test]
fn an_interrupted_replay_keeps_its_rows_whole() {
    for (words, signal, code) in [("replay", "INT", 130), ("replay --json", "TERM", 143)] {
        let ran = gate("--version").file("a.log", DONE).setup("mkfifo b.log").code(0);
        let mut replay = ran.beside(&format!("{words} a.log b.log"));
        let mut replay = replay.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let mut lines = BufReader::new(replay.stdout.take().unwrap()).lines();
        // Nobody writes into the pipe, so that there is something to interrupt.
        let row = lines.find(|line| line.as_ref().unwrap().contains("a.log"));
        assert!(row.is_some());
        let kill =
            Command::new("kill").args([format!("-{signal}"), replay.id().to_string()]).status();
        assert!(kill.unwrap().success());
        let rest: Vec<_> = lines.map(Result::unwrap).collect();
        let mut stderr = String::new();
        replay.stderr.take().unwrap().read_to_string(&mut stderr).unwrap();
        assert_eq!(replay.wait().unwrap().code(), Some(code));
        let told = if words == "replay" { rest.join("\n") } else { stderr };
        assert!(told.contains("interrupted, 1 of 2 files"), "{told}");
    }
}

#[test]
fn nobody_reading_on_is_no_error() {
    let ran = many("--version").code(0);
    for words in ["replay t", "replay --json t", "replay --group folder t"] {
        let (reader, writer) = pipe().unwrap();
        drop(reader);
        let output = ran.beside(words).stdout(writer).output().unwrap();
        assert_eq!(String::from_utf8_lossy(&output.stderr), "", "{words}");
        assert_eq!(output.status.code(), Some(0), "{words}");
    }
}
