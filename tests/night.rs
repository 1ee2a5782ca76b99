//! The endings of a night: status, report and log tell the same of each loop.

use std::fs;
use std::process::{Child, Stdio};

use rustix::process::{Pid, Signal, kill_process, kill_process_group};
use serde_json::Value;

use crate::run::wait;
use crate::support::{Ran, gate};

/// A loop's agent, its end and its cost.
struct Scene {
    task: &'static str,
    /// Lines of a shell, after the functions of `CLIENT`.
    agent: &'static str,
    /// gate gets it when the agent waits.
    signal: Option<Signal>,
    state: &'static str,
    /// A part of the reason.
    why: &'static str,
    /// Part of the next step.
    next: &'static str,
    micro_usd: u64,
}

impl Scene {
    const fn new(
        task: &'static str,
        agent: &'static str,
        signal: Option<Signal>,
        state: &'static str,
        why: &'static str,
        next: &'static str,
        micro_usd: u64,
    ) -> Self {
        Self { task, agent, signal, state, why, next, micro_usd }
    }
}

const CLIENT: &str = r#"#!/bin/sh
cat >/dev/null
echo x >>c-$1
n=$(wc -l <c-$1 | tr -d ' ')
says() { # TEXT COST
  printf '{"type":"result","subtype":"success","is_error":%s,"result":"%s","session_id":"%s%s","num_turns":1,"total_cost_usd":%s}\n' "${3:-false}" "$2" "$1" "$n" 0.25
}
goes_on() { date +%N >>work; says "$1" 'I go on.'; }
done_() { touch fixed-$1; says "$1" 'All tasks are completed.\n\nEXIT_STATUS: COMPLETE\nEXIT_REASON: it is mended'; }
fails() { says "$1" "$2" true; exit 1; }
waits() { echo $$ >c-pid-$1; exec sleep 300; }
"#;

const KILL: Option<Signal> = Some(Signal::KILL);

const NIGHT: [Scene; 10] = [
    Scene::new(
        "killed-1",
        "waits killed-1",
        KILL,
        "died",
        "iteration 1, last seen",
        "go on with: `gate run --task killed-1",
        0,
    ),
    Scene::new(
        "killed-3",
        "test $n = 3 && waits killed-3; goes_on killed-3",
        KILL,
        "died",
        "iteration 3, last seen",
        "go on with: `gate run --task killed-3",
        500_000,
    ),
    Scene::new(
        "all-killed",
        "test $n = 2 && waits all-killed; goes_on all-killed",
        KILL,
        "died",
        "iteration 2, last seen",
        "go on with: `gate run --task all-killed",
        250_000,
    ),
    Scene::new(
        "terminal",
        "test $n = 2 && waits terminal; goes_on terminal",
        Some(Signal::HUP),
        "stopped",
        "the terminal was closed",
        "go on with: `gate run --task terminal",
        250_000,
    ),
    Scene::new(
        "ctrl-c",
        "test $n = 2 && waits ctrl-c; goes_on ctrl-c",
        Some(Signal::INT),
        "stopped",
        "by Ctrl-C",
        "go on with: `gate run --task ctrl-c",
        250_000,
    ),
    Scene::new(
        "overload",
        "test $n -le 2 && fails overload 'API Error: 529 overloaded_error'; done_ overload",
        None,
        "done",
        "",
        "",
        750_000,
    ),
    Scene::new(
        "limit",
        "test $n = 1 && fails limit 'API Error: 529 overloaded'; done_ limit",
        None,
        "done",
        "",
        "",
        500_000,
    ),
    Scene::new("crash", "test $n = 1 && exit 134; done_ crash", None, "done", "", "", 250_000),
    Scene::new(
        "stuck",
        "says stuck 'I read.'",
        None,
        "stopped",
        "changed no file",
        "gate breaker reset --run",
        1_000_000,
    ),
    Scene::new(
        "blocked",
        "says blocked 'No.\\n\\nEXIT_STATUS: BLOCKED\\nEXIT_REASON: no key'",
        None,
        "blocked",
        "no key",
        "start the agent again",
        250_000,
    ),
];

const SETTINGS: &str = "[checks.tests]\ncommand = [\"sh\", \"-c\", \"ls | grep -q ^fixed\"]\n\
    [run]\nbackoff_first = \"1ms\"\nbackoff_max = \"2ms\"\n[breaker]\nno_progress = 3\n";

/// Ends gate, and for SIGKILL its attendant and the agent, too, as a power cut does.
fn end(ran: &Ran, task: &str, mut gate: Child, signal: Signal) {
    let file = ran.path(&format!("c-pid-{task}"));
    wait(|| fs::read_to_string(&file).is_ok_and(|text| text.ends_with('\n')));
    let agent = fs::read_to_string(&file).unwrap().trim().parse().unwrap();
    if signal == Signal::KILL {
        let stat = fs::read_to_string(format!("/proc/{agent}/stat")).unwrap();
        let behind_name = stat.rsplit_once(") ").unwrap().1;
        let attendant = behind_name.split(' ').nth(1).unwrap().parse().unwrap();
        kill_process(Pid::from_raw(attendant).unwrap(), signal).unwrap();
        let _gone = kill_process_group(Pid::from_raw(agent).unwrap(), signal);
    }
    kill_process(Pid::from_child(&gate), signal).unwrap();
    gate.wait().unwrap();
}

fn night() -> Ran {
    let mut run = gate("man").settings(SETTINGS).file("PROMPT.md", "Mend it.\n");
    run = run.file(".gitignore", "c-*\n");
    for Scene { task, agent, .. } in &NIGHT {
        run = run.script(&format!("{task}.sh"), &format!("{CLIENT}{agent}\n"));
    }
    let ran = run.committed().code(0);
    for Scene { task, signal, .. } in &NIGHT {
        let words = format!("run --task {task} --prompt PROMPT.md -- ./{task}.sh {task}");
        let mut gate = ran.beside(&words);
        let gate = gate.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        match signal {
            Some(signal) => end(&ran, task, gate, *signal),
            None => drop(gate.wait_with_output().unwrap()),
        }
    }
    ran
}

fn of_task<'v>(record: &'v Value, task: &str) -> &'v Value {
    let mut loops = record["loops"].as_array().unwrap().iter();
    loops.find(|one| one["task"] == task).unwrap_or_else(|| panic!("no loop {task}: {record}"))
}

#[test]
fn status_report_and_log_tell_the_same_end_of_each_loop() {
    let ran = night().again("status --json").code(0);
    let status = ran.json();
    let ran = ran.again("report --json").code(0);
    let report = ran.json();
    for record in [&status, &report] {
        assert_eq!(record["loops"].as_array().unwrap().len(), NIGHT.len(), "{record}");
        for scene in &NIGHT {
            let one = of_task(record, scene.task);
            let text = |key: &str| one[key].as_str().unwrap_or_default().to_owned();
            assert_eq!(text("state"), scene.state, "{one}");
            assert!(text("why").contains(scene.why), "{one}");
            assert!(text("next").contains(scene.next), "{one}");
            assert_eq!(one["usage"]["cost_micro_usd"], scene.micro_usd, "{one}");
            assert_eq!(text("tree"), ran.path("").canonicalize().unwrap().to_str().unwrap());
        }
    }
    let ran = ran.again("log --json --since 1h").code(0);
    let records = ran.json_lines();
    let count = |kind: &str| records.iter().filter(|record| record["type"] == kind).count();
    let died = NIGHT.iter().filter(|scene| scene.state == "died").count();
    assert_eq!((count("run_started"), count("run_ended")), (NIGHT.len(), NIGHT.len() - died));
    let ran = ran.again("log --since 1h").code(0);
    assert_eq!(ran.stdout.matches("\nDIED ").count(), died, "{}", ran.stdout);
    let ran = ran.again("report").code(0);
    assert!(
        ran.stdout.starts_with("10 loops: 3 died, 3 done, 3 stopped, 1 blocked. "),
        "{}",
        ran.stdout
    );
    let known = "at least $0.50; iteration 3 was not reported";
    let ran = ran.says(known).says("the agent crashed once").again("status").code(0);
    let worst = ran.says(known).stdout;
    let place = |word: &str| worst.find(&format!("\n{word}  "));
    assert!(place("DIED") < place("BLOCKED") && place("BLOCKED") < place("DONE"), "{worst}");
}
