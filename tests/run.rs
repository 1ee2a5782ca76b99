//! `gate run`: whole loops around agents that are scripts.

use std::fs;
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::support::{Ran, Run, gate};

/// A check that fails until the file `fixed` is there.
pub(crate) const RED: &str = "[checks.tests]\ncommand = [\"sh\", \"-c\", \"test -e fixed\"]\n";

/// A loop that does not wait for an agent that cannot work.
pub(crate) const IMPATIENT: &str = "[run]\nbackoff_limit = \"0s\"\n";

/// The last words of an agent that says that it is done.
pub(crate) const SAYS: &str =
    "printf 'All tasks are completed.\\n\\nEXIT_STATUS: COMPLETE\\nEXIT_REASON: it is done\\n'\n";

/// A project with a red check, and an agent of these lines over the task `t1`.
pub(crate) fn project(agent: &str) -> Run {
    gate("run --task t1 --prompt PROMPT.md --json -- ./agent.sh")
        .settings(&format!("{RED}{IMPATIENT}"))
        .file("PROMPT.md", "Mend it.\n")
        .file(".gitignore", "count\nseen\npids\n")
        .script("agent.sh", &format!("#!/bin/sh\ncat >seen\necho x >>count\n{agent}"))
        .committed()
}

pub(crate) fn task(ran: &Ran) -> PathBuf {
    let runs = ran.home().join(".local/share/gate/runs");
    let projects: Vec<_> =
        fs::read_dir(&runs).unwrap().map(|entry| entry.unwrap().path()).collect();
    assert_eq!(projects.len(), 1, "{projects:?}");
    projects[0].join("t1")
}

pub(crate) fn file_of(ran: &Ran, run: &Value, name: &str) -> String {
    let path = task(ran).join("runs").join(run.as_str().unwrap()).join(name);
    fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

pub(crate) fn bus(ran: &Ran) -> String {
    fs::read_to_string(task(ran).join("TASK-MESSAGE-BUS.md")).unwrap()
}

/// The numbers of processes that an agent wrote down, as far as they are alive.
pub(crate) fn alive(ran: &Ran) -> Vec<String> {
    let pids = ran.file("pids");
    // One that only waits to be reaped is dead.
    let lives = |pid: &&str| {
        let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
        stat.rsplit_once(") ").is_some_and(|(_, rest)| !rest.starts_with('Z'))
    };
    pids.split_whitespace().filter(lives).map(str::to_owned).collect()
}

#[test]
fn a_loop_ends_when_the_work_is_done_and_not_before() {
    let ran = project(&format!("test \"$(wc -l <count)\" -ge 3 && touch fixed\n{SAYS}")).code(0);
    let end = ran.json();
    assert_eq!((&end["stopped_by"], &end["iterations"]), (&"completed".into(), &3.into()));
    assert_eq!((&end["success"], &end["verdict"]), (&true.into(), &"exit".into()));
    let runs = end["runs"].as_array().unwrap();
    let last = file_of(&ran, &runs[2], "run-info.yaml");
    assert!(last.contains(&format!("previous_run_id: {}", runs[1].as_str().unwrap())), "{last}");
    assert!(last.contains("status: completed\n") && last.contains("exit_code: 0\n"), "{last}");
    assert!(file_of(&ran, &runs[2], "output.md").contains("EXIT_STATUS: COMPLETE"));
    let prompt = file_of(&ran, &runs[1], "prompt.md");
    assert!(prompt.contains("tests failed") && prompt.contains("Mend it."), "{prompt}");
    assert!(prompt.contains("Completion Protocol") && prompt.contains("Write output.md to /"));
    assert_eq!(ran.file("seen"), file_of(&ran, &runs[2], "prompt.md"));
    let bus = bus(&ran);
    assert_eq!(bus.matches("type: RUN_START").count(), 3, "{bus}");
    assert!(bus.contains("task completed (no active children)"), "{bus}");
    ran.again("last").code(0);
}

#[test]
fn an_agent_that_never_gets_it_right_is_stopped_and_the_person_is_told_why() {
    let ran = project(SAYS).code(1);
    let end = ran.json();
    assert_eq!((&end["stopped_by"], &end["success"]), (&"tripped".into(), &false.into()));
    assert!(end["message"].as_str().unwrap().contains("the circuit breaker stopped it"), "{end}");
    let ran = ran.again("breaker status --task t1").code(3);
    fs::write(task(&ran).join("DONE"), "").unwrap();
    let again = "run --task t1 --exit-codes check --json -- ./agent.sh";
    let ran = ran.again(again).code(3);
    assert_eq!(
        (&ran.json()["stopped_by"], &ran.json()["iterations"]),
        (&"tripped".into(), &0.into())
    );
    assert!(task(&ran).join("DONE").exists(), "nobody looked whether it holds");
}

#[test]
fn a_loop_is_bounded() {
    let ran = project("echo 'I go on with the next part.'\ndate +%N >>work\n").code(1);
    assert_eq!(ran.json()["stopped_by"], "tripped");
    let words = "run --task t2 --prompt PROMPT.md --max-iterations 2 --json -- ./agent.sh";
    let end = ran.again(words).code(1).json();
    assert_eq!((&end["stopped_by"], &end["iterations"]), (&"max-iterations".into(), &2.into()));
}

#[test]
fn what_becomes_of_an_agent_is_told_truly() {
    for (agent, code, summary) in [
        ("printf partial\nexit 3\n", "3", "agent exited with code 3"),
        ("printf partial\nexit 1\n", "1", "agent reported failure"),
        ("printf partial\nkill -9 $$\n", "-1", "agent killed (OOM or signal)"),
        ("printf partial\nkill -15 $$\n", "143", "agent terminated (SIGTERM)"),
    ] {
        let ran = project(agent).run();
        let end = ran.json();
        assert_eq!(end["exit_code"], 1, "{end}");
        let info = file_of(&ran, &end["runs"][0], "run-info.yaml");
        assert!(info.contains(&format!("exit_code: {code}\n")), "{info}");
        assert!(info.contains("status: failed\n") && info.contains(summary), "{info}");
        assert_eq!(file_of(&ran, &end["runs"][0], "output.md"), "partial");
        assert!(bus(&ran).contains("type: RUN_CRASH"));
    }
}

#[test]
fn what_the_prompt_says_is_not_in_the_environment() {
    let ran = project(&format!("env >env\ntouch fixed\n{SAYS}"));
    let ran = ran.env("JRUN_RUN_FOLDER", "/elsewhere").env("CLAUDECODE", "1").code(0);
    let env = ran.file("env");
    assert!(!env.contains("JRUN_") && !env.contains("CLAUDECODE"), "{env}");
    assert!(env.contains("PATH=") && env.contains("HOME="), "{env}");
}

#[test]
fn no_mark_of_the_session_that_started_gate_reaches_the_agent() {
    let marks = [
        ("CLAUDE_CODE_CHILD_SESSION", "1"),
        ("CLAUDE_CODE_SESSION_ID", "s1"),
        ("CLAUDE_CODE_ENTRYPOINT", "cli"),
        ("CLAUDE_CODE_SSE_PORT", "1"),
        ("CLAUDE_PROJECT_DIR", "/elsewhere"),
        ("AI_AGENT", "claude-code"),
        ("CODEX_THREAD_ID", "t"),
        ("GEMINI_SESSION_ID", "g"),
        ("QWEN_CODE", "1"),
        ("COPILOT_AGENT_SESSION_ID", "c"),
        ("AGENT", "goose"),
    ];
    // People set these themselves.
    let kept = [
        ("CLAUDE_CODE_USE_BEDROCK", "1"),
        ("CLAUDE_CODE_OAUTH_TOKEN", "t"),
        ("CLAUDE_CONFIG_DIR", "/c"),
        ("ANTHROPIC_MODEL", "m"),
        ("CODEX_HOME", "/x"),
        ("GEMINI_CLI_NO_RELAUNCH", "true"),
        ("USER_AGENT", "u"),
    ];
    let mut ran = project(&format!("env >env\ntouch fixed\n{SAYS}"));
    for (name, value) in marks.iter().chain(&kept) {
        ran = ran.env(name, *value);
    }
    let env = ran.code(0).file("env");
    let has = |name: &str| env.lines().any(|line| line.starts_with(&format!("{name}=")));
    assert!(!marks.iter().any(|(name, _)| has(name)), "{env}");
    assert!(kept.iter().all(|(name, _)| has(name)), "{env}");
}

#[test]
fn a_run_of_another_loop_is_waited_for_and_named_where_it_goes_on() {
    let ran = project(&format!("touch fixed\n{SAYS}")).code(0);
    let mut sleeper = child_of(&ran);
    fs::write(task(&ran).join("DONE"), "").unwrap();
    let ran = ran.again("run --task t1 --children-timeout 300ms --json -- ./agent.sh").code(0);
    assert_eq!(ran.json()["iterations"], 1, "a file from before the loop is no claim");
    assert!(bus(&ran).contains("timeout waiting for children"), "{}", bus(&ran));
    sleeper.kill().unwrap();
    sleeper.wait().unwrap();
}

#[test]
fn an_agent_that_cannot_be_started_ends_the_loop() {
    let words = "run --task t1 --prompt PROMPT.md --json -- no-such-agent";
    let ran = project(SAYS).words(words).code(1);
    let end = ran.json();
    assert_eq!((&end["stopped_by"], &end["iterations"]), (&"not-started".into(), &1.into()));
    for name in ["agent-stdout.txt", "agent-stderr.txt", "output.md"] {
        assert_eq!(file_of(&ran, &end["runs"][0], name), "", "{name}");
    }
    let info = file_of(&ran, &end["runs"][0], "run-info.yaml");
    assert!(info.contains("exit_code: -1\n") && info.contains("status: failed\n"), "{info}");
}

#[test]
fn an_agent_that_gate_cannot_read_ends_the_loop_at_once() {
    let agent = r#"printf '%s\n' '{"event":"said","body":"EXIT_SIGNAL: true"}' '{"event":"over"}'"#;
    let ran = project(agent).code(1);
    let end = ran.json();
    assert_eq!((&end["stopped_by"], &end["iterations"]), (&"unknown-format".into(), &1.into()));
    assert_eq!(end["success"], false);
    let message = end["message"].as_str().unwrap();
    assert!(message.contains("no known format") && message.contains("--agent"), "{message}");
    let words = "run --task t1 --json --exit-codes check -- ./agent.sh";
    ran.again(words).code(2);
}

#[test]
fn done_is_a_claim() {
    let agent = "folder=$(sed -n 's/^JRUN_TASK_FOLDER=//p' seen)\ntouch \"$folder/DONE\"\n\
                 test \"$(wc -l <count)\" -ge 2 && touch fixed\necho 'The parser is in place.'\n";
    let ran = project(agent).code(0);
    let end = ran.json();
    assert_eq!((&end["stopped_by"], &end["iterations"]), (&"completed".into(), &2.into()));
    assert!(bus(&ran).contains("task completed (DONE marker present, no active children)"));
    // From before the loop it counts for nothing: the agent is started, and claims anew.
    let ran = ran.again("run --task t1 --json -- ./agent.sh").code(0);
    assert_eq!(ran.json()["iterations"], 1);
    fs::remove_file(task(&ran).join("DONE")).unwrap();
    fs::create_dir(task(&ran).join("DONE")).unwrap();
    ran.again("run --task t1 -- ./agent.sh").code(2).tells("DONE is a directory");
}

#[test]
fn a_hook_inside_of_a_run_leaves_the_question_to_it() {
    let agent = format!(
        "printf '{{\"session_id\":\"s\",\"hook_event_name\":\"Stop\",\"last_assistant_message\":\"EXIT_STATUS: COMPLETE\"}}' \\\n\
         | gate hook codex >hook.out\ntouch fixed\n{SAYS}"
    );
    let ran = project(&agent).with_gate_in_path().code(0);
    assert_eq!(ran.file("hook.out"), "");
    let ran = ran.again("log").code(0).says("gate run looks when the agent ends");
    // Whoever only says so is judged.
    let stop = r#"{"session_id":"s2","hook_event_name":"Stop","last_assistant_message":"EXIT_STATUS: COMPLETE"}"#;
    let ran = ran.again("hook codex").setup("rm fixed").env("GATE_RUN", "1").stdin(stop).code(0);
    ran.says("\"decision\":\"block\"");
}

#[test]
fn an_agent_that_removes_its_folder_loses_nothing_of_the_record() {
    let agent = "rm -rf \"$(sed -n 's/^JRUN_RUN_FOLDER=//p' seen)\"\nexit 7\n";
    let words = "run --task t1 --prompt PROMPT.md --max-iterations 1 --json -- ./agent.sh";
    let ran = project(agent).words(words).code(1);
    let end = ran.json();
    let info = file_of(&ran, &end["runs"][0], "run-info.yaml");
    assert!(info.contains("exit_code: 7\n") && info.contains("status: failed\n"), "{info}");
    assert_eq!(file_of(&ran, &end["runs"][0], "output.md"), "");
}

#[test]
fn a_runner_that_is_killed_leaves_no_agent_and_the_next_one_says_what_happened() {
    let ran = project("")
        .words("man")
        .script("agent.sh", "#!/bin/sh\necho $$ >>pids\necho begun\nsleep 300\n")
        .code(0);
    let mut runner = ran.beside("run --task t1 --prompt PROMPT.md -- ./agent.sh");
    let mut runner = runner.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    wait(|| ran.path("pids").exists());
    runner.kill().unwrap();
    runner.wait().unwrap();
    wait(|| alive(&ran).is_empty());
    let ran = ran.again("run --task t1 --max-iterations 1 --json -- true").code(1);
    let runs = fs::read_dir(task(&ran).join("runs")).unwrap();
    let infos: Vec<_> = runs
        .map(|run| fs::read_to_string(run.unwrap().path().join("run-info.yaml")).unwrap())
        .collect();
    let said = infos.iter().filter(|info| info.contains("process is not alive")).count();
    assert_eq!((said, infos.len()), (1, 2), "{infos:#?}");
    assert!(bus(&ran).contains("reconciled stale running status"));
}

#[test]
fn a_loop_is_stopped_from_beside_it() {
    let ran = project("")
        .words("man")
        .script("agent.sh", "#!/bin/sh\necho $$ >>pids\nsleep 300\n")
        .code(0);
    let mut runner = ran.beside("run --task t1 --prompt PROMPT.md --json -- ./agent.sh");
    let runner = runner.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    wait(|| ran.path("pids").exists());
    let second = ran.beside("run --task t1 -- ./agent.sh").stderr(Stdio::piped()).output().unwrap();
    assert_eq!(second.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&second.stderr).contains("another loop runs over the task t1"));
    assert!(ran.beside("stop").stdout(Stdio::null()).status().unwrap().success());
    let ended = runner.wait_with_output().unwrap();
    assert_eq!(ended.status.code(), Some(1));
    let end: Value = serde_json::from_slice(&ended.stdout).unwrap();
    assert_eq!(end["stopped_by"], "stop-requested");
    assert_eq!(alive(&ran), [""; 0]);
    // For a minute no other begins.
    let end = ran.again("run --task t1 --json -- true").code(1).json();
    assert_eq!((&end["stopped_by"], &end["iterations"]), (&"stop-requested".into(), &0.into()));
}

pub(crate) fn wait(until: impl Fn() -> bool) {
    let began = Instant::now();
    while !until() {
        assert!(began.elapsed() < Duration::from_secs(60), "it did not happen in time");
        thread::sleep(Duration::from_millis(20));
    }
}

/// A run that the task's agent has started, and that goes on.
pub(crate) fn child_of(ran: &Ran) -> Child {
    let sleeper = Command::new("sleep").arg("300").process_group(0).spawn().unwrap();
    let child = task(ran).join("runs/20261122-1000000000-1-1");
    fs::create_dir_all(&child).unwrap();
    let info = format!(
        "version: 1\nrun_id: 20261122-1000000000-1-1\nparent_run_id: some\nproject_id: p\n\
         task_id: t1\nagent: x\npid: {0}\npgid: {0}\nstart_time: 2026-11-22T10:00:00Z\n\
         end_time: 0001-01-01T00:00:00Z\nexit_code: -1\nstatus: running\nagent_version: \"\"\n",
        sleeper.id()
    );
    fs::write(child.join("run-info.yaml"), info).unwrap();
    sleeper
}
