//! `gate run` for a night: an agent that cannot work for a while, a terminal that is
//! closed, and what it all cost.

use std::fs;
use std::process::{Child, Command, Stdio};

use serde_json::Value;

use crate::run::{alive, file_of, wait};
use crate::support::{Ran, Run, gate};

const RED: &str = "[checks.tests]\ncommand = [\"sh\", \"-c\", \"test -e fixed\"]\n";

/// Waits that a test can wait for.
const QUICK: &str = "[run]\nbackoff_first = \"1ms\"\nbackoff_max = \"4ms\"\n";

/// Shell functions that print what Claude Code prints. Each run is a session of its own.
pub(crate) const CLIENT: &str = r#"#!/bin/sh
cat >seen
echo x >>count
n=$(wc -l <count | tr -d ' ')
works() { # TEXT COST
  printf '{"type":"system","subtype":"init","session_id":"s%s","model":"m","tools":["Bash"]}\n' "$n"
  printf '{"type":"assistant","session_id":"s%s","message":{"id":"m","content":[{"type":"text","text":"%s"}]}}\n' "$n" "$1"
  printf '{"type":"result","subtype":"success","is_error":false,"result":"%s","session_id":"s%s","num_turns":1,"total_cost_usd":%s}\n' "$1" "$n" "$2"
}
fails() { # TEXT COST
  printf '{"type":"result","subtype":"success","is_error":true,"result":"%s","session_id":"s%s","num_turns":1,"total_cost_usd":%s}\n' "$1" "$n" "$2"
  exit 1
}
done_='All tasks are completed.\n\nEXIT_STATUS: COMPLETE\nEXIT_REASON: it is mended\n'
"#;

const WORDS: &str = "run --task t1 --prompt PROMPT.md --json -- ./agent.sh";

fn project(settings: &str, agent: &str) -> Run {
    gate(WORDS)
        .settings(&format!("{RED}{settings}"))
        .file("PROMPT.md", "Mend it.\n")
        .file(".gitignore", "count\nseen\npids\n")
        .script("agent.sh", &format!("{CLIENT}{agent}"))
        .committed()
}

/// The last record that says how a loop ended.
fn recorded_end(ran: Ran) -> (Ran, Value) {
    let ran = ran.again("log --json").code(0);
    let is_end = |record: &Value| record["type"] == "run_ended";
    let end = ran.json_lines().into_iter().rfind(is_end).expect("a record of the end");
    (ran, end)
}

#[test]
fn a_night_with_overloads_dropped_connections_and_a_crash_ends_done_with_the_right_totals() {
    let agent = "case $n in\n\
        1) echo one >>work; works 'I wrote the first half.' 0.37 ;;\n\
        [2-9]|1?|2[0-6]) fails 'API Error: 529 overloaded_error' 0.01 ;;\n\
        2[7-9]|3[0-2]) fails 'API Error: Connection error.' 0 ;;\n\
        33) echo 'FATAL ERROR: heap out of memory' >&2; exit 134 ;;\n\
        34) echo two >>work; works 'I wrote the second half.' 0.37 ;;\n\
        *) touch fixed; works \"$done_\" 0.37 ;;\n\
        esac\n";
    let words = "run --task t1 --prompt PROMPT.md --max-iterations 3 --json -- ./agent.sh";
    let ran = project(QUICK, agent).words(words).code(0);
    let end = ran.json();
    assert_eq!((&end["stopped_by"], &end["success"]), (&"completed".into(), &true.into()), "{end}");
    assert_eq!((&end["iterations"], &end["cost_usd"]), (&35.into(), &1.36.into()), "{end}");
    let waits = ran.stderr.matches("gate: waiting until ").count();
    assert_eq!(waits, 32, "{}", ran.stderr);
    let (ran, recorded) = recorded_end(ran);
    assert_eq!(recorded["body"]["cost_micro_usd"], 1_360_000, "{recorded}");
    ran.again("breaker status --task t1").code(0);
}

#[test]
fn an_outage_that_outlasts_the_night_names_its_cause_and_trips_no_breaker() {
    let agent = "echo 'retrying: ECONNRESET' >&2\nfails 'API Error: Connection error.' 0.01\n";
    let settings = "[run]\nbackoff_first = \"1ms\"\nbackoff_limit = \"20ms\"\n";
    let words = "run --task t1 --prompt PROMPT.md --exit-codes check --json -- ./agent.sh";
    let ran = project(settings, agent).words(words).code(3);
    let end = ran.json();
    let message = end["message"].as_str().unwrap();
    assert_eq!((&end["stopped_by"], &end["verdict"]), (&"tripped".into(), &"tripped".into()));
    assert!(message.contains("20ms (`[run] backoff_limit`)"), "{message}");
    assert!(message.contains("API Error: Connection error."), "{message}");
    assert!(message.contains("retrying: ECONNRESET"), "{message}");
    assert!(end["iterations"].as_u64().unwrap() >= 2, "{end}");
    let ran = ran.again("breaker status --task t1").code(0);
    ran.again("last").code(3).says("backoff_limit");
}

#[test]
fn a_crash_at_the_start_names_what_the_program_wrote_on_its_standard_error() {
    let agent = "echo 'Error: Cannot find module yargs' >&2\nexit 1\n";
    let ran = project("[run]\nbackoff_limit = \"0s\"\n", agent).code(1);
    let message = ran.json()["message"].as_str().unwrap().to_owned();
    assert!(message.contains("the agent's program failed at its start"), "{message}");
    assert!(message.contains("Error: Cannot find module yargs"), "{message}");
}

#[test]
fn a_connection_error_in_json_that_gate_does_not_know_is_waited_out() {
    let agent = "test -e failed || { touch failed; echo '{\"error\":\"no answer\"}'; \
                 echo 'TypeError: fetch failed' >&2; exit 1; }\n\
                 touch fixed; works \"$done_\" 0.1\n";
    let end = project(QUICK, agent).code(0).json();
    assert_eq!((&end["stopped_by"], &end["iterations"]), (&"completed".into(), &2.into()), "{end}");
}

#[test]
fn a_run_that_was_waited_out_is_none_of_the_iterations() {
    let agent = "test -e failed || { touch failed; echo 'API Error: 529 overloaded'; exit 1; }\n\
                 date +%N >>work\nworks 'I go on.' 0.1\n";
    let words = "run --task t1 --prompt PROMPT.md --max-iterations 1 --json -- ./agent.sh";
    let end = project(QUICK, agent).words(words).code(1).json();
    assert_eq!((&end["stopped_by"], &end["iterations"]), (&"max-iterations".into(), &2.into()));
    let message = end["message"].as_str().unwrap();
    assert!(message.starts_with("stopped after 1 iteration, the limit: "), "{end}");
}

#[test]
fn an_agent_that_works_and_ends_with_an_error_is_stopped_as_ever() {
    let agent = "works 'I look at it.' 0.1\nexit 1\n";
    let end = project(QUICK, agent).code(1).json();
    assert_eq!((&end["stopped_by"], &end["iterations"]), (&"tripped".into(), &3.into()), "{end}");
}

#[test]
fn a_limit_without_a_known_end_tells_a_loop_when_to_go_on() {
    let limit = r#"{"type":"result","subtype":"success","is_error":true,"result":"API Error: 529 overloaded","session_id":"s","num_turns":1}"#;
    let ran = gate("check --no-checks --json out.log").file("out.log", limit).code(1);
    let record = ran.json();
    let parse = |key: &str| record[key].as_str().unwrap().parse::<jiff::Timestamp>().unwrap();
    let wait = parse("time").duration_until(parse("retry_at")).as_millis();
    assert!((3_500..6_500).contains(&wait), "{record}");
}

#[test]
fn a_limit_whose_end_stands_in_words_tells_a_loop_when_to_go_on() {
    let limit = r#"{"type":"result","subtype":"success","is_error":true,"result":"You've hit your limit · resets 2am (America/Sao_Paulo)","session_id":"s","num_turns":1}"#;
    let ran = gate("check --no-checks --json out.log").file("out.log", limit).code(1);
    let record = ran.json();
    // Brazil has had no summer time since 2019.
    assert!(record["retry_at"].as_str().unwrap().ends_with("T05:00:00Z"), "{record}");
}

#[test]
fn a_loop_of_one_iteration_tells_what_it_cost() {
    let ran = project(QUICK, "touch fixed\nworks \"$done_\" 0.37\n").code(0);
    assert_eq!(ran.json()["cost_usd"], 0.37, "{}", ran.out());
    let (ran, recorded) = recorded_end(ran);
    assert_eq!(recorded["body"]["cost_micro_usd"], 370_000);
    let ran = ran.again("log").code(0).says("loop ended").says("$0.37");
    let words = "run --task t2 --prompt PROMPT.md -- ./agent.sh";
    ran.again(words).code(0).says(", $0.37\n");
}

#[test]
fn a_budget_and_the_card_tell_the_same_cost() {
    let words = "run --task t1 --prompt PROMPT.md --budget-cost 1 --json -- ./agent.sh";
    let agent = "date +%N >>work\nworks 'I go on.' 0.37\n";
    let ran = project(QUICK, agent).words(words).code(1);
    let end = ran.json();
    assert_eq!((&end["iterations"], &end["cost_usd"]), (&3.into(), &1.11.into()), "{end}");
    let (_, recorded) = recorded_end(ran);
    assert_eq!(recorded["body"]["cost_micro_usd"], 1_110_000);
}

/// A loop beside the test, once its agent works.
fn beside(words: &str) -> (Ran, Child) {
    let agent = "echo $$ >>pids\nworks 'I begin.' 0.25\nsleep 300\n";
    let ran = project(QUICK, agent).words("man").code(0);
    // The tests may run under nohup.
    let mut runner = behind("env --default-signal=HUP", &ran, words);
    let runner = runner.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    wait(|| ran.path("pids").exists());
    (ran, runner)
}

/// The program, started by words of a shell.
pub(crate) fn behind(shell: &str, ran: &Ran, words: &str) -> Command {
    let gate = ran.beside(words);
    let script = format!("exec {shell} '{}' {words}", gate.get_program().display());
    let mut command = Command::new("sh");
    command.args(["-c", &script]).current_dir(ran.path("")).stdin(Stdio::null()).env_clear();
    command.envs(gate.get_envs().filter_map(|(name, value)| Some((name, value?))));
    command
}

fn hang_up(runner: &Child) {
    let id = rustix::process::Pid::from_child(runner);
    rustix::process::kill_process(id, rustix::process::Signal::HUP).unwrap();
}

#[test]
fn a_closed_terminal_leaves_a_record_a_handoff_and_the_command_that_goes_on() {
    let (ran, runner) = beside("run --prompt PROMPT.md --max-iterations 7 --json -- ./agent.sh");
    hang_up(&runner);
    hang_up(&runner);
    let ended = runner.wait_with_output().unwrap();
    assert_eq!(ended.status.code(), Some(1));
    let end: Value = serde_json::from_slice(&ended.stdout).unwrap();
    assert_eq!(
        (&end["stopped_by"], &end["message"]),
        (&"cancelled".into(), &"cancelled: the terminal was closed (SIGHUP)".into())
    );
    assert_eq!(end["cost_usd"], 0.25, "{end}");
    assert!(fs::read_to_string(end["handoff"].as_str().unwrap()).unwrap().contains("Mend it."));
    assert_eq!(alive(&ran), [""; 0]);
    let task = end["task"].as_str().unwrap();
    let resume = end["resume"].as_str().unwrap();
    let expected = format!("gate run --task {task} --max-iterations 7 --json -- ./agent.sh");
    assert_eq!(resume, expected);
    let (ran, recorded) = recorded_end(ran);
    assert_eq!(recorded["body"]["stopped_by"], "cancelled");
    assert_eq!(recorded["body"]["cost_micro_usd"], 250_000);
    let ran = ran.again("log").code(0).says("cancelled");
    let agent = format!("{CLIENT}touch fixed\nworks \"$done_\" 0.25\n");
    let words = resume.strip_prefix("gate ").unwrap();
    let end = ran.again(words).script("agent.sh", &agent).code(0).json();
    assert_eq!((&end["task"], &end["stopped_by"]), (&task.into(), &"completed".into()));
}

#[test]
fn a_loop_under_nohup_outlives_its_terminal() {
    let agent = "echo $$ >>pids\nwhile ! test -e go; do sleep 0.05; done\ntouch fixed\nworks \"$done_\" 0.25\n";
    let ran = project(QUICK, agent).words("man").code(0);
    let mut nohup = behind("env --ignore-signal=HUP", &ran, WORDS);
    let runner = nohup.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    wait(|| ran.path("pids").exists());
    hang_up(&runner);
    fs::write(ran.path("go"), "").unwrap();
    let ended = runner.wait_with_output().unwrap();
    assert_eq!(ended.status.code(), Some(0), "{}", String::from_utf8_lossy(&ended.stdout));
}

#[test]
fn an_agent_with_a_plain_prompt_reads_the_task_and_the_feedback_alone() {
    let agent = "test \"$n\" -ge 2 && touch fixed\nworks \"$done_\" 0.1\n";
    let words = "run --task t1 --prompt PROMPT.md --plain-prompt --json -- ./agent.sh";
    let ran = project(QUICK, agent).words(words).code(0);
    let end = ran.json();
    let [first, second] = [0, 1].map(|at| file_of(&ran, &end["runs"][at], "prompt.md"));
    assert!(first.starts_with("Mend it.\n"), "{first}");
    assert!(second.starts_with("## What the last iteration left open\n"), "{second}");
    assert!(second.contains("tests failed") && second.contains("\n---\n\nMend it.\n"), "{second}");
    for prompt in [first, second] {
        assert!(!prompt.contains("JRUN_") && !prompt.contains("gate bus"), "{prompt}");
        assert!(prompt.contains("EXIT_STATUS"), "{prompt}");
    }
}

#[test]
fn a_program_that_is_not_there_is_named() {
    let words = "run --task t1 --prompt PROMPT.md --json -- no-such-agent --fast";
    let end = project(QUICK, "").words(words).code(1).json();
    let message = end["message"].as_str().unwrap();
    assert!(message.contains("`no-such-agent`") && message.contains("on PATH"), "{message}");
}

/// A `claude` in PATH that edits where its flags allow that, and notes them.
const CLAUDE: &str = "printf '%s\\n' \"$@\" >args\n\
    case \"$*\" in *acceptEdits*) touch fixed; works \"$done_\" 0.1 ;;\n\
    *) printf '{\"type\":\"result\",\"subtype\":\"success\",\"is_error\":false,\"result\":\"I may not write.\",\"session_id\":\"s%s\",\"num_turns\":1,\"permission_denials\":[{\"tool_name\":\"Write\",\"tool_use_id\":\"t\"}]}\\n' \"$n\" ;; esac\n";

fn with_claude(words: &str, settings: &str) -> Run {
    let run = project(settings, "").file(".gitignore", "count\nseen\nargs\nbin/\n").committed();
    let run = run.script("bin/claude", &format!("{CLIENT}{CLAUDE}")).words(words);
    let path = std::env::var("PATH").unwrap();
    let path = format!("{}:{path}", run.at("bin").display());
    run.env("PATH", path)
}

#[test]
fn the_readmes_loop_can_edit_files() {
    let readme = fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../README.md")).unwrap();
    let command = "gate run --prompt PROMPT.md --agent claude-code";
    assert!(readme.lines().any(|line| line == command), "the README's command is another one");
    let ran = with_claude(command.strip_prefix("gate ").unwrap(), QUICK).code(0);
    let args = ran.file("args");
    for word in ["acceptEdits", "Bash(git add:*)", "Bash(git commit:*)"] {
        assert!(args.lines().any(|line| line == word), "{word}\n{args}");
    }
    let started = "gate: starting claude -p --output-format stream-json --verbose \
                   --permission-mode acceptEdits --allowedTools 'Bash(git add:*)'";
    ran.tells(started);
}

#[test]
fn a_person_says_what_the_agent_may_do_and_adds_arguments() {
    let words = "run --prompt PROMPT.md --agent claude-code --allow edits --json";
    let settings = format!("{QUICK}[run.agents.claude-code]\nargs = [\"--model\", \"opus\"]\n");
    let ran = with_claude(words, &settings).code(0);
    let args = ran.file("args");
    assert!(args.ends_with("--permission-mode\nacceptEdits\n--model\nopus\n"), "{args}");
    let words = "run --prompt PROMPT.md --allow all -- ./agent.sh";
    ran.again(words).code(2).tells("--allow");
    // Nobody approved what a clone's settings would give to the agent.
    let words = "run --prompt PROMPT.md --agent claude-code --unverified";
    let clone = gate(words).unapproved("[run.agents.claude-code]\nargs = [\"--yolo\"]\n");
    clone.file("PROMPT.md", "x").code(2).tells("gate trust");
}

#[test]
fn a_denied_call_names_the_tool_and_what_would_allow_it() {
    let words = "run --prompt PROMPT.md --agent claude-code --allow none";
    let ran = with_claude(words, QUICK).code(1);
    assert!(ran.stdout.contains("were denied a tool and changed nothing: Write"), "{}", ran.stdout);
    ran.says("    denied      Write\n").says("`--allow`").says("[run.agents.NAME] args");
}
