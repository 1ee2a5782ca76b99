//! What agents and loops tell each other in `gate run`: `DONE`, the message buses, the
//! preamble.

use std::fs;

use crate::run::{SAYS, bus, file_of, project, task};
use crate::support::{GATE, Ran, Run};

/// An agent that creates `DONE` and signals nothing.
const TOUCHES: &str =
    "touch \"$(sed -n 's/^JRUN_TASK_FOLDER=//p' seen | head -1)/DONE\"\necho 'I looked around.'\n";

fn once(agent: &str, settings: &str) -> Run {
    let words =
        "run --task t1 --unverified --prompt PROMPT.md --max-iterations 1 --json -- ./agent.sh";
    project(agent).words(words).settings(settings)
}

fn prompt(ran: &Ran) -> String {
    file_of(ran, &ran.json()["runs"][0], "prompt.md")
}

#[test]
fn an_empty_file_does_not_meet_both_conditions() {
    for (settings, score) in [
        ("[exit_gate]\nindicator_threshold = 3\n", 0),
        (
            "[exit_gate]\nindicator_threshold = 2\n[checks.tests]\ncommand = [\"false\"]\nmode = \"count\"\n",
            0,
        ),
        (
            "[exit_gate]\nindicator_threshold = 1\n[checks.tests]\ncommand = [\"true\"]\nmode = \"count\"\n",
            1,
        ),
    ] {
        let ran = once(TOUCHES, settings).run();
        let done = score > 0;
        assert_eq!(ran.json()["success"], done, "{settings}");
        let ran = ran.again("last --json").run();
        let decision = ran.json();
        assert_eq!(decision["signal"]["status"], "complete", "{settings}");
        assert_eq!(decision["signal"]["source"], serde_json::Value::Null);
        assert_eq!(decision["indicators"]["score"], score, "{settings}");
        assert_eq!(decision["indicators"]["hits"], serde_json::json!([]), "{settings}");
        assert_eq!(task(&ran).join("DONE").exists(), done);
    }
}

#[test]
fn a_file_does_not_outvote_an_agent_that_goes_on() {
    let agent = format!("{TOUCHES}printf '\\nEXIT_STATUS: CONTINUE\\nEXIT_REASON: more\\n'\n");
    let ran = once(&agent, "[checks.tests]\ncommand = [\"true\"]\n").code(1);
    assert_eq!(ran.json()["success"], false);
}

#[test]
fn a_file_counts_with_the_token_that_the_agent_says() {
    let settings = "[signal]\ntoken = \"required\"\n[checks.tests]\ncommand = [\"true\"]\n";
    let ran = once(TOUCHES, settings).code(1).again("last --json").run();
    assert_eq!(ran.json()["signal"]["token"], "missing");
    let joins = "s/.*first half is \\([a-z0-9]*\\), and the second half is \\([a-z0-9]*\\).*/EXIT_TOKEN: \\1\\2/p";
    let ran = once(&format!("{TOUCHES}sed -n '{joins}' seen\n"), settings).code(0);
    assert_eq!(ran.again("last --json").code(0).json()["signal"]["token"], "held");
}

#[test]
fn a_file_from_the_day_before_ends_no_loop() {
    let ran = once(SAYS, "[checks.tests]\ncommand = [\"true\"]\n").code(0);
    fs::write(task(&ran).join("DONE"), "").unwrap();
    let run = ran.again("run --task t1 --max-iterations 1 --json -- ./agent.sh");
    let run = run.script("agent.sh", "#!/bin/sh\ncat >seen\necho 'I looked around.'\n");
    let ran = run.code(1);
    assert_eq!(ran.json()["iterations"], 1);
    assert!(!task(&ran).join("DONE").exists());
    assert!(bus(&ran).contains("DONE was left over"), "{}", bus(&ran));
}

#[test]
fn a_loop_without_checks_ends_done_and_unverified() {
    let words = "run --task t1 --unverified --prompt PROMPT.md --max-iterations 1 -- ./agent.sh";
    let ran = project(SAYS).words(words).settings("").run();
    assert!(ran.out().starts_with("DONE (unverified)  "), "{}", ran.out());
}

#[test]
fn the_project_bus_reaches_the_agents_of_each_task() {
    let ran = once("echo 'I go on.'\n", "").run();
    let project = task(&ran).parent().unwrap().to_owned();
    let id = project.file_name().unwrap().to_str().unwrap().to_owned();
    let post = ["bus", "post", "--project", &id, "--type", "FACT", "--body", "db is SQLite"];
    let ran = ran.again("").args(post).code(0);
    let words =
        "run --task t2 --unverified --prompt PROMPT.md --max-iterations 2 --json -- ./agent.sh";
    let ran = ran.again(words).run();
    let runs = ran.json()["runs"].clone();
    let of = |at: usize| {
        let folder = project.join("t2/runs").join(runs[at].as_str().unwrap());
        fs::read_to_string(folder.join("prompt.md")).unwrap()
    };
    assert!(of(0).contains("## New on the project's message bus\n\n["), "{}", of(0));
    assert!(of(0).contains("db is SQLite") && of(0).contains("PROJECT-MESSAGE-BUS.md"));
    assert!(!of(1).contains("db is SQLite"), "it was told before: {}", of(1));
}

#[test]
fn an_agent_finds_gate_though_its_path_does_not() {
    let agent =
        "line=$(grep -m1 ' bus read --bus ' seen)\nsh -c \"$line\" >read 2>&1\necho $? >code\n";
    let ran = once(agent, "").without_gate_in_path().run();
    assert_eq!(ran.file("code"), "0\n", "{}", ran.file("read"));
    assert!(prompt(&ran).contains(&format!("  {GATE} bus post --bus /")), "{}", prompt(&ran));
}

#[test]
fn the_preamble_says_how_to_delegate_and_what_git_must_not_do() {
    let text = prompt(&once("echo 'I go on.'\n", "").run());
    assert!(text.contains(" run --task NAME --prompt FILE -- AGENT"), "{text}");
    assert!(text.contains("stage only files that you changed"), "{text}");
}

#[test]
fn gates_own_warning_is_not_a_persons_word() {
    let ran = once(SAYS, "[checks.tests]\ncommand = [\"true\"]\n").code(0);
    fs::write(task(&ran).join("DONE"), "").unwrap();
    let ran = ran.again("run --task t1 --max-iterations 1 --json -- ./agent.sh").code(0);
    let text = prompt(&ran);
    let line = text.lines().find(|line| line.contains("] WARNING (")).unwrap();
    assert!(line.ends_with("from gate)"), "{line}");
}

#[test]
fn the_bus_says_how_a_loop_ended() {
    let ended = "the loop ended, and the task is not done: ";
    let tripped = "[breaker]\nno_exit = 2\n";
    let words = "run --task t1 --unverified --prompt PROMPT.md --json -- ./agent.sh";
    let ran = project("echo x >>work\necho 'I go on.'\n").words(words).settings(tripped).code(1);
    assert_eq!(ran.json()["stopped_by"], "tripped");
    assert!(
        bus(&ran).contains(&format!("{ended}the circuit breaker stopped it: ")),
        "{}",
        bus(&ran)
    );

    let blocked = "printf 'EXIT_STATUS: BLOCKED\\nEXIT_REASON: no key\\n'\n";
    let ran = once(blocked, "").code(1);
    let bus_of_blocked = bus(&ran);
    assert!(
        bus_of_blocked.contains(ended) && bus_of_blocked.contains("no key"),
        "{bus_of_blocked}"
    );

    let words =
        "run --task t1 --unverified --prompt PROMPT.md --budget-wall 1ms --json -- ./agent.sh";
    let ran = project(SAYS).words(words).run();
    assert_eq!(ran.json()["stopped_by"], "budget-wall");
    assert!(bus(&ran).contains(&format!("{ended}its time is over")), "{}", bus(&ran));

    let ran =
        once(&format!("{}echo 'I go on.'\n", TOUCHES.replace("/DONE", "/STOP-REQUESTED")), "");
    let ran = ran.run();
    assert_eq!(ran.json()["stopped_by"], "stop-requested");
    assert!(bus(&ran).contains(&format!("{ended}a stop was requested")), "{}", bus(&ran));
}

#[test]
fn the_bus_says_that_a_loop_was_cancelled() {
    let agent = "kill -TERM \"$(cat gate.pid)\"\nsleep 30\n";
    let start = "echo $$ >gate.pid; exec \"$@\"";
    let ran = once(agent, "").under(["sh", "-c", start, "sh"]).run();
    assert_eq!(ran.json()["stopped_by"], "cancelled");
    assert!(bus(&ran).contains("the task is not done: cancelled"), "{}", bus(&ran));
}
