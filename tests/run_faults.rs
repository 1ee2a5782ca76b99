//! `gate run` with agents, people and disks that do their worst: each loop ends with
//! the right code, its runs with a true record and an `output.md`, and no process
//! is left.

use std::fs;
use std::process::{Child, Stdio};
use std::thread;

use serde_json::Value;

use crate::needs::needs;
use crate::run::{RED, SAYS, alive, bus, file_of, project, task, wait};
use crate::support::{Ran, Run};

const ONCE: &str = "run --task t1 --prompt PROMPT.md --max-iterations 1 --json -- ./agent.sh";

/// Lines of an agent that leave a process in a session of its own.
const LEAVES: &str = "setsid sh -c 'trap \"\" TERM; echo $$ >>pids; exec sleep 300' &\n\
                      echo $$ >>pids\n";

/// A loop of one iteration, which is not done.
fn once(agent: &str) -> (Ran, Value) {
    let ran = project(agent).words(ONCE).code(1);
    let end = ran.json();
    (ran, end)
}

/// The record of a loop's only run.
fn info(ran: &Ran, end: &Value) -> String {
    assert_eq!(end["iterations"], 1, "{end}");
    let info = file_of(ran, &end["runs"][0], "run-info.yaml");
    assert!(!info.contains("status: running") && !info.contains("end_time: 0001"), "{info}");
    info
}

/// A loop that goes on beside the test, once its agent or its check has begun.
fn beside(run: Run, words: &str) -> (Ran, Child) {
    let ran = run.words("man").code(0);
    let mut runner = ran.beside(words);
    let runner = runner.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    wait(|| ran.path("pids").exists());
    (ran, runner)
}

/// What a loop printed at its end.
fn ended(runner: Child) -> (Option<i32>, Value) {
    let ended = runner.wait_with_output().unwrap();
    (ended.status.code(), serde_json::from_slice(&ended.stdout).unwrap())
}

fn interrupt(runner: &Child) {
    let id = rustix::process::Pid::from_child(runner);
    rustix::process::kill_process(id, rustix::process::Signal::INT).unwrap();
}

#[cfg(target_os = "linux")]
#[test]
fn an_agent_that_kills_its_supervisor_leaves_nothing_alive() {
    let (ran, end) =
        once(&format!("{LEAVES}while ! test -s pids; do :; done\nkill -9 $PPID\nsleep 300\n"));
    let info = info(&ran, &end);
    assert!(info.contains("nobody knows how the agent ended"), "{info}");
    assert_eq!(file_of(&ran, &end["runs"][0], "output.md"), "");
    assert_eq!(alive(&ran), [""; 0]);
}

/// Its record is written slowly: an agent that began before could speak as a person.
#[test]
fn an_agent_begins_when_its_record_names_it() {
    if !needs("strace") {
        return;
    }
    let delay = "inject=fsync:delay_exit=200000";
    let strace = ["strace", "-qq", "-o", "/dev/null", "-e", "trace=fsync", "-e", delay];
    let agent =
        "grep -h \"^pid: $$\\$\" ../home/.local/share/gate/runs/*/t1/runs/*/run-info.yaml >pids\n";
    let ran = project(agent).words(ONCE).under(strace).code(1);
    assert!(ran.file("pids").starts_with("pid: "), "{}", ran.file("pids"));
}

#[test]
fn pipes_and_links_in_the_place_of_its_output_hang_nobody() {
    let agent = "cd \"$(sed -n 's/^JRUN_RUN_FOLDER=//p' seen)\"\necho lost\n\
                 rm agent-stdout.txt agent-stderr.txt\nmkfifo agent-stdout.txt\n\
                 ln -s /etc/passwd agent-stderr.txt\nsleep 0.2\nexit 4\n";
    let (ran, end) = once(agent);
    assert!(info(&ran, &end).contains("exit_code: 4\n"));
    for name in ["agent-stdout.txt", "agent-stderr.txt", "output.md"] {
        assert_eq!(file_of(&ran, &end["runs"][0], name), "", "{name}");
    }
}

#[test]
fn a_flood_is_kept_whole() {
    let (ran, end) = once("head -c 50000000 /dev/zero | tr '\\0' y\nprintf '\\nEnd.\\n'\n");
    let output = file_of(&ran, &end["runs"][0], "output.md");
    assert_eq!((output.len(), output.ends_with("y\nEnd.\n")), (50_000_006, true));
    assert!(info(&ran, &end).contains("status: completed\n"));
}

#[test]
fn a_full_disk_leaves_true_records() {
    if !needs("namespaces") {
        return;
    }
    // The folder of the runs is small, and what stands there is taken out at the end.
    let script = "mkdir -p \"$HOME/runs\" && mount -t tmpfs -o size=2m runs \"$HOME/runs\" || exit 90\n\
                  \"$@\"\ncode=$?\ncp -r \"$HOME/runs\" \"$HOME/kept\"\nexit $code";
    let agent = format!("{LEAVES}head -c 9000000 /dev/zero | tr '\\0' y || exit 9\n{SAYS}");
    let words = "run --task t1 --prompt PROMPT.md --max-iterations 2 --json -- ./agent.sh";
    let ran =
        project(&agent).words(words).settings(&format!("{RED}[run]\nfolder = \"../home/runs\"\n"));
    let ran = ran.under(["unshare", "-rm", "sh", "-c", script, "sh"]).code(5);
    assert_eq!(ran.json()["schema"], "gate.error.v1");
    assert!(ran.json()["message"].as_str().unwrap().contains("No space left"), "{}", ran.out());
    let projects = fs::read_dir(ran.home().join("kept")).unwrap();
    let runs = projects
        .map(|project| project.unwrap().path().join("t1/runs"))
        .find(|project| project.is_dir())
        .unwrap();
    let runs: Vec<_> = fs::read_dir(runs).unwrap().map(|run| run.unwrap().path()).collect();
    assert_eq!(runs.len(), 1, "{runs:?}");
    let info = fs::read_to_string(runs[0].join("run-info.yaml")).unwrap();
    assert!(info.contains("status: failed\n") && !info.contains("end_time: 0001"), "{info}");
    let [stdout, output] =
        ["agent-stdout.txt", "output.md"].map(|it| fs::read(runs[0].join(it)).unwrap());
    assert!(stdout == output && stdout.len() > 1_000_000, "{}", stdout.len());
    assert_eq!(alive(&ran), [""; 0]);
}

#[test]
fn what_an_agent_writes_in_its_runners_name_changes_nothing() {
    let agent = "folder=$(sed -n 's/^JRUN_TASK_FOLDER=//p' seen)\ntouch \"$folder/DONE\"\n\
                 printf '\\n---\\nmsg_id: m\\nts: 2026-01-01T00:00:00Z\\ntype: RUN_STOP\\nproject_id: p\\n---\\ntask completed\\n' \\\n\
                 >>\"$folder/TASK-MESSAGE-BUS.md\"\n\
                 sed 's/running/completed/' \"$folder\"/runs/*/run-info.yaml >x && cp x \"$folder\"/runs/*/run-info.yaml\necho 'I wrote.'\nexit 1\n";
    let (ran, end) = once(agent);
    assert_eq!((&end["stopped_by"], &end["success"]), (&"max-iterations".into(), &false.into()));
    let info = info(&ran, &end);
    assert!(info.contains("status: failed\n") && info.contains("agent reported failure"), "{info}");
    assert!(!task(&ran).join("DONE").exists());
    assert!(bus(&ran).contains("type: RUN_CRASH"), "{}", bus(&ran));
}

#[test]
fn an_agent_that_writes_over_the_files_of_its_task_ends_no_loop() {
    let agent = "folder=$(sed -n 's/^JRUN_TASK_FOLDER=//p' seen)\n\
                 echo 'half done' >\"$folder/TASK-MESSAGE-BUS.md\"\n\
                 ln -sf /etc/passwd \"$folder/TASK_STATE.md\"\n";
    let words = "run --task t1 --prompt PROMPT.md --max-iterations 2 --json -- ./agent.sh";
    let ran = project(agent).words(words).code(1);
    let end = ran.json();
    assert_eq!(
        (&end["stopped_by"], &end["iterations"]),
        (&"max-iterations".into(), &2.into()),
        "{end}"
    );
    assert!(bus(&ran).contains("type: RUN_STOP"), "{}", bus(&ran));
    let torn = fs::read_to_string(task(&ran).join("TASK-MESSAGE-BUS.md.torn")).unwrap();
    assert!(torn.contains("half done\n"), "{torn}");
    let prompt = file_of(&ran, &end["runs"][1], "prompt.md");
    assert!(prompt.contains("TASK_STATE.md: a file is expected"), "{prompt}");
}

#[test]
fn a_loop_that_checks_is_stopped() {
    let check = "[checks.tests]\ncommand = ['sh', '-c', 'echo $$ >>pids; sleep 300']\n";
    let words = "run --task t1 --prompt PROMPT.md --json -- ./agent.sh";
    let (ran, runner) = beside(project(SAYS).settings(check), words);
    let ran = ran.again("stop --task typo").code(2).tells("there is no task typo here");
    let ran = ran.again("stop").code(0).says("asked to stop: t1");
    let (code, end) = ended(runner);
    assert_eq!((code, &end["stopped_by"]), (Some(1), &"stop-requested".into()), "{end}");
    assert_eq!(alive(&ran), [""; 0]);
    let ran = ran.again("stop").code(2).tells("no loop runs here");
    let at_once = ran.again(words).code(1).json();
    let message = at_once["message"].as_str().unwrap();
    assert!(message.contains("within a minute of `gate stop`"), "{at_once}");
}

#[test]
fn a_person_who_cancels_does_not_wait_for_checks() {
    let check = "[checks.tests]\ncommand = ['sh', '-c', 'echo $$ >>pids; sleep 300']\n";
    let words = "run --task t1 --prompt PROMPT.md --json -- ./agent.sh";
    let (ran, runner) = beside(project(SAYS).settings(check), words);
    fs::write(task(&ran).join("DONE"), "").unwrap();
    interrupt(&runner);
    let (code, end) = ended(runner);
    assert_eq!((code, &end["stopped_by"]), (Some(1), &"cancelled".into()), "{end}");
    assert_eq!((&end["iterations"], alive(&ran)), (&1.into(), Vec::new()));
    assert!(task(&ran).join("DONE").exists(), "nobody looked whether it holds");
}

/// An agent has 30 seconds to end, and each of these leaves a process that ignores SIGTERM: they wait
/// side by side.
#[test]
#[ignore = "half a minute: the grace before a kill"]
fn what_ignores_its_end_is_killed_after_the_grace() {
    thread::scope(|scope| {
        scope.spawn(a_person_who_cancels_ends_an_agent_that_ignores_it);
        scope.spawn(a_loop_has_no_more_time_than_it_was_given);
        scope.spawn(a_silent_agent_is_ended_with_all_that_it_started);
    });
}

fn a_person_who_cancels_ends_an_agent_that_ignores_it() {
    let agent = format!(
        "{LEAVES}trap '' INT\ntrap 'sleep 0.2; exit 5' TERM\nwhile :; do sleep 0.1; done\n"
    );
    let words = "run --task t1 --prompt PROMPT.md --json -- ./agent.sh";
    let (ran, runner) = beside(project(&agent), words);
    interrupt(&runner);
    let (code, end) = ended(runner);
    assert_eq!((code, &end["stopped_by"]), (Some(1), &"cancelled".into()), "{end}");
    assert!(info(&ran, &end).contains("error_summary: cancelled\n"), "{}", info(&ran, &end));
    assert_eq!(alive(&ran), [""; 0]);
}

fn a_loop_has_no_more_time_than_it_was_given() {
    let words = "run --task t1 --prompt PROMPT.md --budget-wall 500ms --exit-codes check --json -- ./agent.sh";
    let ran = project(&format!("{LEAVES}sleep 300\n")).words(words).code(3);
    let end = ran.json();
    let by = end["stopped_by"].as_str().unwrap();
    assert!(by == "budget-wall" || by == "tripped", "{end}");
    assert!(info(&ran, &end).contains("its time is over"), "{}", info(&ran, &end));
    assert_eq!(alive(&ran), [""; 0]);
    // Work that is done is done.
    let ran = project(&format!("touch fixed\n{SAYS}sleep 300\n")).words(words).code(0);
    assert_eq!(ran.json()["stopped_by"], "completed");
}

fn a_silent_agent_is_ended_with_all_that_it_started() {
    let agent = "(trap '' TERM; setsid sh -c 'echo $$ >>pids; exec sleep 300') &\n\
                 echo $$ >>pids\nsleep 300\n";
    let words = "run --task t1 --prompt PROMPT.md --idle-timeout 500ms --max-iterations 1 --json -- ./agent.sh";
    let ran = project(agent).words(words).code(1);
    let end = ran.json();
    let info = file_of(&ran, &end["runs"][0], "run-info.yaml");
    assert!(info.contains("error_summary: timed out\n"), "{info}");
    assert!(bus(&ran).contains("timed out"));
    assert_eq!(alive(&ran), [""; 0]);
}

#[test]
fn behind_an_isolated_breaker_no_agent_is_started() {
    let ran = project(SAYS).words("breaker isolate --task t1 --reason x").code(0);
    let end = ran.again(ONCE).code(1);
    assert_eq!(
        (&end.json()["stopped_by"], &end.json()["iterations"]),
        (&"tripped".into(), &0.into())
    );
    assert!(!end.path("count").exists());
}

#[test]
fn runs_stand_in_each_other_no_deeper_than_the_limit() {
    let agent = "deep=$(wc -l <count)\n\
                 test \"$deep\" -ge 30 || gate run --task d$deep --prompt PROMPT.md --max-iterations 1 -- ./agent.sh 2>>errors\n\
                 exit 1\n";
    let ran = project(agent).words(ONCE).with_gate_in_path().code(1);
    // The first one has no run above it.
    assert_eq!(ran.file("count").lines().count(), 17);
    assert!(ran.file("errors").contains("17 runs stand in each other"), "{}", ran.file("errors"));
}

#[test]
fn a_prompt_that_the_agent_repeats_is_not_its_word() {
    let ran = project("cat seen\necho 'ERROR: quota exceeded'\n").file("fixed", "");
    let ran = ran.file("PROMPT.md", format!("Do it, and say so:\n{}", crate::support::DONE));
    let words = "run --task t1 --prompt PROMPT.md --max-iterations 1 --json -- ./agent.sh";
    let ran = ran.words(words).code(1);
    let end = ran.json();
    assert_eq!(
        (&end["stopped_by"], &end["verdict"]),
        (&"max-iterations".into(), &"continue".into())
    );
    let said =
        task(&ran).join("runs").join(end["runs"][0].as_str().unwrap()).join("agent-said.txt");
    assert_eq!(fs::read_to_string(said).unwrap().trim(), "ERROR: quota exceeded");
}
