//! Loops around an agent, as people write them and as `gate init` writes them.
#![cfg(unix)]

use crate::needs::{needs, root};
use crate::support::{Ran, Run, gate};

/// The loop of one line that the design shows.
const ONE_LINE: &str =
    "set -euo pipefail; while ./agent >out.log; gate check --while out.log; do :; done";

/// The parts of a fake agent: it counts its calls, keeps what it was told, and
/// answers by the number of the call.
fn agent(answers: &str) -> String {
    format!(
        "#!/usr/bin/env bash\n\
         n=$(($(cat calls 2>/dev/null || echo 0) + 1))\n\
         echo $n >calls\n\
         cat >told.$n\n\
         {answers}\n"
    )
}

const WORKS: &str = "echo 'The first half is written; the second is next.'";
const COMPLETES: &str = "printf 'Both halves are written, and it is ready for review.\\n\\n\
                         EXIT_STATUS: COMPLETE\\nREMAINING_WORK: none\\n'";
const BLOCKS: &str = "printf 'EXIT_STATUS: BLOCKED\\nEXIT_REASON: no access\\n'";

/// Runs into a limit in its first call, which is over at this time, and completes in its
/// second.
fn limited(over: &str) -> String {
    let event =
        r#"{"type":"rate_limit_event","rate_limit_info":{"status":"rejected","resetsAt":%d}}"#;
    let result = r#"{"type":"result","subtype":"success","is_error":true,"result":"You have hit your limit"}"#;
    agent(&format!(
        "date +%s >began.$n\n\
         if ((n > 1)); then {COMPLETES}; exit; fi\n\
         echo $(({over})) >over\n\
         printf '{event}\\n{result}\\n' $(cat over)"
    ))
}

/// Completes in its third call.
fn third() -> String {
    agent(&format!("if ((n < 3)); then {WORKS}; else {COMPLETES}; fi"))
}

fn one_line(agent: &str) -> Run {
    Run::new("bash").args(["-c", ONE_LINE]).script("agent", agent)
}

/// The loops that `gate init` writes, by language: their file, what runs it, and what has
/// to be there for that.
const WRITTEN: [(&str, &str, &str, &str); 4] = [
    ("bash", "gate-loop.sh", "exec bash gate-loop.sh \"$@\"", "bash"),
    ("python", "gate-loop.py", "exec python3 gate-loop.py \"$@\"", "python3"),
    ("ts", "gate-loop.mjs", "exec node gate-loop.mjs \"$@\"", "node"),
    ("go", "gate-loop.go", "go build -o ../loop gate-loop.go && exec ../loop \"$@\"", "go"),
];

/// For each written loop that can run here: what came of it with these words.
fn started(words: &[&str], check: impl Fn(&str, Run)) {
    if !needs("bash") {
        return;
    }
    for (language, file, script, what) in WRITTEN {
        if needs(what) {
            let text = gate(&format!("init --loop {language}")).code(0).file(file);
            let run = Run::new("bash").args(["-c", script, "loop"]).args(words);
            check(language, run.file(file, &text).with_go_cache());
        }
    }
}

/// For each written loop that can run here: what came of it with this agent.
fn written(agent: &str, check: impl Fn(&str, Run)) {
    started(&["PROMPT.md", "./agent", "--fast"], |language, run| {
        let run = run.file("PROMPT.md", "Write both halves.\n").env("MAX_ITERATIONS", "9");
        check(language, run.script("agent", agent));
    });
}

fn calls(ran: &Ran) -> String {
    ran.file("calls").trim().to_owned()
}

#[test]
fn the_loop_of_one_line_ends_when_the_work_is_done() {
    if needs("bash") {
        assert_eq!(calls(&one_line(&third()).with_gate_in_path().code(0)), "3");
    }
}

#[test]
fn the_loop_of_one_line_ends_when_the_agent_is_stuck() {
    if needs("bash") {
        let ran = one_line(&agent(BLOCKS)).with_gate_in_path().run().stops();
        assert_eq!(calls(&ran), "1");
    }
}

/// Only the logs change, wherever they lie.
#[test]
fn a_loop_with_numbered_logs_in_a_terminal_trips() {
    if !needs("script") {
        return;
    }
    for log in ["out-$n.log", "logs/$n.log", "$(date +%s%N).txt", "loop/run$n/out.log"] {
        let lines = format!(
            "for n in 1 2 3 4 5 6 7 8; do log={log}; mkdir -p $(dirname $log)\n\
             echo call $n; {WORKS} >$log\n\
             gate check --while $log || break; done"
        );
        let run = Run::new("script").args(["-qec", &lines, "/dev/null"]);
        let ran = run.file("work.txt", "").committed().with_gate_in_path().run();
        assert_eq!(ran.out().matches("call ").count(), 3, "{log}: {}", ran.out());
    }
}

#[test]
fn the_loop_of_one_line_ends_at_once_without_gate() {
    if needs("bash") {
        let ran = one_line(&agent(WORKS)).without_gate_in_path().run().tells("gate");
        assert_eq!(calls(&ran), "1");
    }
}

#[test]
fn the_loop_of_one_line_ends_at_once_where_settings_are_wrong() {
    if needs("bash") {
        let run = one_line(&agent(WORKS)).with_gate_in_path().settings("[exit_gat]\n");
        assert_eq!(calls(&run.run().stops()), "1");
    }
}

#[test]
fn a_written_loop_goes_on_until_the_work_is_done() {
    written(&third(), |language, run| {
        let ran = run.with_gate_in_path().code(0);
        assert_eq!(calls(&ran), "3", "{language}");
    });
}

#[test]
fn a_written_loop_tells_the_agent_its_task_the_protocol_and_what_is_missing() {
    written(&third(), |language, run| {
        let ran = run.with_gate_in_path().code(0);
        for told in ["told.1", "told.2", "told.3"].map(|name| ran.file(name)) {
            assert!(told.contains("Write both halves."), "{language}: {told}");
            assert!(told.contains("EXIT_STATUS: {COMPLETE"), "{language}: {told}");
        }
        let feedback = "does not count as done yet";
        assert!(!ran.file("told.1").contains(feedback), "{language}");
        assert!(ran.file("told.2").contains(feedback), "{language}: {}", ran.file("told.2"));
    });
}

#[test]
fn a_written_loop_tells_the_agent_of_its_exit_code() {
    let fails = format!("if ((n < 2)); then {WORKS}; exit 7; else {COMPLETES}; fi");
    written(&agent(&fails), |language, run| {
        let ran = run.with_gate_in_path().code(0);
        assert!(ran.file("told.2").contains("code 7"), "{language}: {}", ran.file("told.2"));
    });
}

#[test]
fn a_written_loop_stops_with_gates_code_where_the_agent_is_stuck() {
    written(&agent(BLOCKS), |language, run| {
        let ran = run.with_gate_in_path().code(4).tells("no access");
        assert_eq!(calls(&ran), "1", "{language}");
    });
}

#[test]
fn a_written_loop_does_not_call_the_agent_without_gate() {
    written(&agent(WORKS), |language, run| {
        let ran = run.without_gate_in_path().code(127).tells("gate");
        assert_eq!(calls(&ran), "", "{language}");
    });
}

#[test]
fn a_written_loop_stops_where_gate_vanishes() {
    written(&agent(&format!("rm -f ../bin/gate; {COMPLETES}")), |language, run| {
        let ran = run.with_gate_in_path().code(127).tells("gate");
        assert_eq!(calls(&ran), "1", "{language}");
    });
}

#[test]
fn a_written_loop_stops_where_settings_are_wrong() {
    written(&agent(WORKS), |language, run| {
        let ran = run.with_gate_in_path().settings("[exit_gat]\n").code(2);
        assert_eq!(calls(&ran), "", "{language}");
    });
}

#[test]
fn a_written_loop_is_bounded() {
    written(&agent(WORKS), |language, run| {
        let ran = run.with_gate_in_path().env("MAX_ITERATIONS", "2").code(3).tells("not done");
        assert_eq!(calls(&ran), "2", "{language}");
    });
}

/// A limit ends on a whole second, so each language waits for at least one.
#[test]
fn a_written_loop_waits_until_a_limit_is_over() {
    written(&limited("$(date +%s) + 2"), |language, run| {
        let ran = run.with_gate_in_path().code(0);
        assert_eq!(calls(&ran), "2", "{language}");
        let [over, began] =
            ["over", "began.2"].map(|it| ran.file(it).trim().parse::<u64>().unwrap());
        assert!(began >= over, "{language}: the agent was called at {began}, before {over}");
    });
}

#[test]
fn a_written_loop_waits_no_longer_than_it_may() {
    written(&limited("$(date +%s) + 86400"), |language, run| {
        let ran = run.with_gate_in_path().env("MAX_WAIT", "1").code(0).tells("waiting until");
        assert_eq!(calls(&ran), "2", "{language}");
    });
}

#[test]
fn the_loop_around_a_client_waits_no_longer_than_it_may() {
    if needs("bash") {
        let run = Run::new("bash").args(["-c", "exec \"$FILE\" 'Write both halves.'"]);
        let run = run.env("FILE", root().join("examples/claude-loop.sh"));
        let run = run.script("agent", &limited("$(date +%s) + 86400")).env("CLAUDE", "./agent");
        let ran = run.with_gate_in_path().env("MAX_WAIT", "1").code(0).tells("waiting until");
        assert_eq!(calls(&ran), "2");
    }
}

#[test]
fn a_written_loop_that_waits_can_be_ended() {
    let ends = "(until grep -q 'waiting until' ../stderr; do sleep 0.1; done; kill $PPID) \
                </dev/null >/dev/null 2>&1 &";
    written(&format!("{}\n{ends}\n", limited("$(date +%s) + 86400")), |language, run| {
        let ran = run.with_gate_in_path().run();
        assert_ne!(ran.ended(), Some(0), "{language}");
        assert_eq!(calls(&ran), "1", "{language}");
    });
}

#[test]
fn a_written_loop_says_how_it_is_used() {
    started(&[], |_, run| drop(run.code(2).tells("usage").stdout("")));
}

#[test]
fn init_never_writes_over_a_file() {
    for (words, file) in [
        ("init", "gate.toml"),
        ("init --loop bash", "gate-loop.sh"),
        ("init --loop python", "gate-loop.py"),
        ("init --loop ts", "gate-loop.mjs"),
        ("init --loop go", "gate-loop.go"),
    ] {
        let ran = gate(words).file(file, "mine\n").code(2).stdout("").tells("exists already");
        assert_eq!(ran.file(file), "mine\n");
        let ran = gate(words).code(0).says(file).stderr("");
        assert_ne!(ran.file(file), "");
    }
}

#[test]
fn the_settings_that_init_writes_hold() {
    let text = gate("init").code(0).file("gate.toml");
    let ours = gate("config show").settings(&text).code(0).stdout;
    assert_eq!(ours, gate("config show").code(0).stdout);
}
