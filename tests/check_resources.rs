//! The memory and the processor time of checks: a limit, and a low priority.
#![cfg(target_os = "linux")]

use std::process::Command;

use serde_json::Value;

use crate::needs::needs;
use crate::support::{DONE, Run, judge};

/// A check that runs a Python program, with these settings of its own.
fn python(program: &str, settings: &str) -> Run {
    let settings = format!("[checks.one]\ncommand = [\"python3\", \"big.py\"]\n{settings}\n");
    judge("check --json out.log", DONE).settings(&settings).file("big.py", program)
}

#[track_caller]
fn comes_to(run: Run, outcome: &str) -> Value {
    let evidence = run.run().json()["evidence"][0].clone();
    assert_eq!(evidence["outcome"], outcome, "{evidence:#}");
    evidence
}

#[track_caller]
fn is_ended_for_memory(run: Run) {
    let evidence = comes_to(run, "inconclusive");
    let summary = evidence["summary"].as_str().unwrap();
    assert!(summary.starts_with("it used more than 100 MB of memory"), "{summary}");
    assert_eq!(evidence["detail"]["over_memory_limit"], 100_000_000);
    assert!(evidence["duration_ms"].as_u64().unwrap() < 60_000, "{evidence:#}");
}

const LIMIT: &str = "memory = \"100MB\"";

#[test]
fn a_program_that_uses_too_much_memory_is_ended() {
    if needs("python3") {
        is_ended_for_memory(python(
            "import time\ndata = b'x' * 300_000_000\ntime.sleep(300)\n",
            LIMIT,
        ));
    }
}

/// Each alone is below the limit; one has left its session and its parent.
#[test]
fn the_memory_of_all_processes_counts() {
    if needs("python3") {
        is_ended_for_memory(python(
            "import os, time\nfor leaves in [True, False]:\n    if not os.fork():\n\
             \x20       if leaves:\n            os.setsid()\n            if os.fork():\n\
             \x20               os._exit(0)\n        data = b'x' * 70_000_000\n\
             \x20       time.sleep(300)\ntime.sleep(300)\n",
            LIMIT,
        ));
    }
}

/// Four processes that share 60 MB use 60 MB, although each of them has 60 MB.
#[test]
fn a_program_below_the_limit_is_left_alone() {
    if needs("python3") {
        let shared = "import os, time\ndata = b'x' * 60_000_000\nfor _ in range(3):\n\
                      \x20   if not os.fork():\n        time.sleep(1)\n        os._exit(0)\n\
                      for _ in range(3):\n    os.wait()\n";
        comes_to(python(shared, LIMIT), "pass");
        comes_to(python("data = b'x' * 300_000_000\n", "memory = \"4GB\""), "pass");
        comes_to(python("data = b'x' * 300_000_000\n", ""), "pass");
    }
}

/// It would use as much there.
#[test]
fn tests_that_use_too_much_memory_are_not_run_again_in_the_tree() {
    if !needs("python3") {
        return;
    }
    let settings = "[checks.tests]\ncommand = [\"python3\", \"-m\", \"unittest\"]\n\
                    memory = \"100MB\"\n";
    let test = "import os, time, unittest\nclass Big(unittest.TestCase):\n\
                \x20   def test_big(self):\n        open(os.environ['RUNS'], 'a').write('x')\n\
                \x20       data = b'x' * 300_000_000\n        time.sleep(300)\n";
    let settings = format!("{settings}env = [\"RUNS\"]\n");
    let run = judge("check --json out.log", DONE).settings(&settings).file("test_big.py", test);
    let runs = tempfile::NamedTempFile::new().unwrap();
    is_ended_for_memory(run.env("RUNS", runs.path()).committed());
    assert_eq!(std::fs::read_to_string(runs.path()).unwrap(), "x");
}

#[test]
fn checks_yield_to_what_a_person_runs() {
    let niceness = |settings: &str| {
        let settings = format!(
            "[tree]\nignore = [\"nice\"]\n[checks.one]\nshell = true\n\
             command = [\"nice >nice\"]\n{settings}"
        );
        let ran = judge("check out.log", DONE).settings(&settings).code(0);
        ran.file("nice").trim().parse::<i32>().unwrap()
    };
    let own = String::from_utf8(Command::new("nice").output().unwrap().stdout).unwrap();
    let own: i32 = own.trim().parse().unwrap();
    assert_eq!(niceness(""), (own + 5).min(19));
    assert_eq!(niceness("priority = \"low\"\n"), (own + 5).min(19));
    assert_eq!(niceness("priority = \"normal\"\n"), own);
}
