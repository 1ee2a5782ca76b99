//! The circuit breaker over whole loops, in real repositories.

use serde_json::Value;

use crate::support::{DONE, Ran, STUCK, UNDONE, each, gate, judge};

/// A check that fails until the file `fixed` is there.
const RED: &str = "[checks.tests]\ncommand = [\"sh\", \"-c\", \"test -e fixed\"]\n";

/// A script that commits something new.
const COMMIT: &str = "date +%N >>work.txt; git add -A; git commit -qm work";

/// `check` once more, after a script; its decision.
fn next(ran: Ran, script: &str, output: &str) -> (Ran, Value) {
    let ran = ran.again("check --json out.log").file("out.log", output).setup(script).run();
    let decision = ran.json();
    (ran, decision)
}

/// The verdicts of so many iterations with the same script and output.
fn verdicts(mut ran: Ran, times: usize, script: &str, output: &str) -> (Ran, Vec<String>) {
    let mut verdicts = Vec::new();
    for _ in 0..times {
        let decision;
        (ran, decision) = next(ran, script, output);
        verdicts.push(decision["verdict"].as_str().unwrap().to_owned());
    }
    (ran, verdicts)
}

/// A repository with these settings, one commit, and nothing decided yet.
fn project(settings: &str) -> Ran {
    gate("prompt").settings(settings).file("work.txt", "").committed().code(0)
}

fn tripped_at(verdicts: &[String]) -> Option<usize> {
    verdicts.iter().position(|verdict| verdict == "tripped").map(|at| at + 1)
}

#[test]
fn an_honest_loop_that_commits_runs_on() {
    let (ran, verdicts) = verdicts(project(""), 30, COMMIT, UNDONE);
    assert_eq!(verdicts, vec!["continue"; 30]);
    ran.again("breaker status").code(0).says("READY");
}

#[test]
fn a_loop_that_claims_to_be_done_with_the_same_red_test_is_stopped() {
    let (ran, verdicts) = verdicts(project(RED), 5, COMMIT, DONE);
    assert_eq!(verdicts, ["continue", "continue", "continue", "continue", "tripped"]);
    let ran = ran.again("last --json").code(3);
    let decision = ran.json();
    assert_eq!((&decision["success"], &decision["stop"]), (&false.into(), &true.into()));
    assert_eq!(decision["breaker"]["state"], "open");
    assert_eq!(decision["breaker"]["trip"], "refused");
    let reasons = each(&decision, "reasons", "code");
    assert_eq!(reasons, ["breaker-tripped", "breaker-tripped", "required-check-failed"]);
    // Nothing that the agent does closes it, and its checks are not run any more.
    let (ran, after) = next(ran, "touch fixed", DONE);
    assert_eq!((&after["verdict"], &after["evidence"]), (&"tripped".into(), &Value::Array(vec![])));
    let ran = ran.again("breaker reset --reason looked-at-it").code(0).says("READY");
    let (_, done) = next(ran, "true", DONE);
    assert_eq!(done["verdict"], "exit");
}

#[test]
fn a_loop_that_changes_nothing_is_stopped_whatever_it_says() {
    let claims = format!("FILES_MODIFIED: 12\nTASKS_COMPLETED_THIS_LOOP: 3\n{UNDONE}");
    for output in [UNDONE, &claims, "", "Nothing to do.\n"] {
        let (_, verdicts) = verdicts(project(""), 3, "true", output);
        assert_eq!(tripped_at(&verdicts), Some(3), "{output}");
    }
}

#[test]
fn a_change_that_was_there_before_the_loop_is_no_progress() {
    let ran = project("").again("prompt").setup("echo old >>work.txt").code(0);
    let (_, verdicts) = verdicts(ran, 4, "true", UNDONE);
    assert_eq!(tripped_at(&verdicts), Some(4));
}

#[test]
fn untracked_files_and_empty_commits_are_progress() {
    let elsewhere = "test -d ../other || git worktree add -q ../other; \
                     git -C ../other commit -q --allow-empty -m step";
    let new = "date +%N >new-$(date +%N)";
    for script in [new, "git commit -q --allow-empty -m step", elsewhere] {
        let (_, verdicts) = verdicts(project(""), 5, script, UNDONE);
        assert_eq!(tripped_at(&verdicts), None, "{script}");
    }
}

#[test]
fn outside_of_a_repository_files_are_progress_too() {
    let idle = judge("check out.log", UNDONE).code(1);
    let (_, idle) = verdicts(idle, 5, "true", UNDONE);
    assert_eq!(tripped_at(&idle), Some(3));
    let busy = judge("check out.log", UNDONE).code(1);
    let (_, busy) = verdicts(busy, 8, "date +%N >>work.txt", UNDONE);
    assert_eq!(tripped_at(&busy), None);
}

#[test]
fn the_exit_gates_own_rule_stops_after_n_iterations_that_did_not_pass() {
    let settings = "[breaker]\nno_exit = 4\nno_progress = 0\n";
    let (ran, verdicts) = verdicts(project(settings), 4, "true", UNDONE);
    assert_eq!(tripped_at(&verdicts), Some(4));
    let ran = ran.again("last").code(3).says("Exit gate not passing");
    ran.again("breaker status --json").code(3).says("\"trip\": \"no_exit\"");
    // A pass in time is an exit, also as the fourth.
    let (ran, _) = self::verdicts(project(settings), 3, "true", UNDONE);
    assert_eq!(next(ran, "true", DONE).1["verdict"], "exit");
}

#[test]
fn a_breaker_that_is_switched_off_stays_closed() {
    let off = "[breaker]\nno_exit = 0\nrefused = 0\nno_progress = 0\nsame_error = 0\n";
    let (_, verdicts) = verdicts(project(&format!("{off}{RED}")), 8, "true", DONE);
    assert_eq!(tripped_at(&verdicts), None);
    let research = "[breaker]\nno_progress = 1\n[task_types.research]\nprogress = \"none\"\n";
    let ran = project(research).again("check --task-type research out.log");
    let ran = ran.file("out.log", UNDONE).code(1);
    ran.again("check out.log").code(3);
}

#[test]
fn after_the_cool_down_one_probe_runs_the_checks_and_decides() {
    let settings = format!("[breaker]\nrefused = 2\ncooldown = \"1ms\"\n{RED}");
    let (ran, verdicts) = verdicts(project(&settings), 2, COMMIT, DONE);
    assert_eq!(tripped_at(&verdicts), Some(2));
    // The probe of work that is still red opens it again.
    let (ran, failed) = next(ran, COMMIT, DONE);
    assert_eq!(
        (&failed["verdict"], &failed["breaker"]["state"]),
        (&"tripped".into(), &"open".into())
    );
    assert_eq!(failed["evidence"][0]["outcome"], "fail");
    // One that passes closes it.
    let (ran, passed) = next(ran, "touch fixed", DONE);
    assert_eq!(
        (&passed["verdict"], &passed["breaker"]["state"]),
        (&"exit".into(), &"closed".into())
    );
    let log = ran.again("log").code(0);
    let log = log.says("closed to open").says("open to half_open").says("half_open to closed");
    log.again("ledger verify").code(0);
}

#[test]
fn a_probe_runs_the_required_checks_whatever_the_signal() {
    let settings = format!("[breaker]\nno_progress = 2\ncooldown = \"1ms\"\n{RED}");
    let (ran, verdicts) = verdicts(project(&settings), 2, "true", UNDONE);
    assert_eq!(tripped_at(&verdicts), Some(2));
    let (ran, probe) = next(ran, "true", UNDONE);
    assert_eq!(
        (&probe["verdict"], &probe["evidence"][0]["outcome"]),
        (&"tripped".into(), &"fail".into())
    );
    let (_, moved) = next(ran, COMMIT, UNDONE);
    assert_eq!(
        (&moved["verdict"], &moved["breaker"]["state"]),
        (&"continue".into(), &"closed".into())
    );
}

#[test]
fn an_isolated_breaker_is_the_operators() {
    let settings = "[breaker]\ncooldown = \"1ms\"\n";
    let ran = project(settings).again("breaker isolate --reason maintenance").code(0);
    let (ran, held) = next(ran.says("STOPPED  by an operator"), "true", DONE);
    assert_eq!(each(&held, "reasons", "code"), ["breaker-isolated"]);
    let ran = ran.again("breaker trip --reason again").code(0).says("STOPPED  by an operator");
    let ran = ran.again("breaker status").code(3).says("maintenance");
    let ran = ran.again("breaker reset --reason over").code(0);
    assert_eq!(next(ran, "true", DONE).1["verdict"], "exit");
    gate("breaker reset").code(2).tells("--reason");
}

#[test]
fn each_task_has_its_own_breaker() {
    let ran = judge("breaker trip --task 7 --reason stop", DONE).code(0);
    let ran = ran.again("check --task 7 out.log").code(3);
    // A reset without the task would close nothing.
    let ran = ran.says("`gate breaker status` shows the command that closes it");
    let ran = ran.again("breaker status").code(0).says("`gate breaker reset --task 7 --reason …`");
    let ran = ran.again("check --task 8 out.log").code(0);
    let ran = ran.again("check out.log").code(0);
    ran.again("breaker status --task 7").code(3);
}

#[test]
fn a_spent_budget_ends_its_run_and_holds_nobody_else() {
    let (ran, verdicts) = verdicts(project("[budget]\niterations = 3\n"), 4, COMMIT, UNDONE);
    assert_eq!(verdicts, ["continue", "continue", "tripped", "tripped"]);
    let (ran, after) = next(ran, COMMIT, DONE);
    assert_eq!(each(&after, "reasons", "code"), ["budget-spent"]);
    assert_eq!(after["reasons"][0]["message"], "budget spent: 4 of 3 iterations");
    assert_eq!(after["breaker"]["state"], "closed");
    let ran = ran.again("breaker status").code(0).says("READY");
    let ran = ran.again("check --run other out.log").code(0);
    ran.again("check --new-run out.log").code(0);
}

#[test]
fn a_commit_in_the_first_iteration_is_progress() {
    let ran = project(RED).again("baseline").code(0);
    let (ran, first) = next(ran, COMMIT, UNDONE);
    assert_eq!(first["breaker"]["counters"]["no_progress"], 0);
    let (ran, verdicts) = verdicts(ran, 3, "true", UNDONE);
    assert_eq!(tripped_at(&verdicts), Some(3), "and what follows is counted");
    let agent = "#!/bin/sh\ncat >/dev/null\ngit -c user.name=a -c user.email=a@b commit -q --allow-empty -m step\n";
    let words = "run --prompt PROMPT.md --max-iterations 1 --json -- ../agent.sh";
    let run = ran.again(words).file("PROMPT.md", "Go.\n").script("../agent.sh", agent);
    let ran = run.setup("git add -A; git commit -qm prompt").code(1);
    assert_eq!(ran.json()["stopped_by"], "max-iterations");
    let ran = ran.again("last --json").code(1);
    assert_eq!(ran.json()["breaker"]["counters"]["no_progress"], 0);
}

#[test]
fn one_loop_that_trips_leaves_the_next_one_alone() {
    let run = project(RED).again("prompt").file("a.md", "Go.\n").file("b.md", "Come.\n");
    let mut ran = run.code(0).again("prompt").setup("git add -A; git commit -qm prompts").code(0);
    for file in ["a.md", "b.md"] {
        ran = ran.again(&format!("run --prompt {file} --json -- true")).code(1);
        let end = ran.json();
        assert_eq!((&end["stopped_by"], &end["iterations"]), (&"tripped".into(), &3.into()));
    }
    let told = ran.again("breaker status --json").code(3).json();
    assert_eq!(told["open"].as_array().unwrap().len(), 2, "{told}");
}

#[test]
fn what_is_held_is_told_without_saying_so_twice() {
    let ran = project(RED).again("breaker isolate --task 7 --reason maintenance").code(0);
    let words = "run --task 7 --prompt PROMPT.md --json -- true";
    let ran = ran.again(words).file("PROMPT.md", "Go.\n").code(1);
    assert_eq!(ran.json()["message"], "an operator stopped this loop: maintenance");
    ran.again("breaker status").code(0).says("READY").says("the task 7, by an operator");
}

#[test]
fn the_budget_of_a_run_stops_it_and_a_reset_begins_another() {
    let (ran, verdicts) = verdicts(project("[budget]\niterations = 3\n"), 3, COMMIT, UNDONE);
    assert_eq!(tripped_at(&verdicts), Some(3));
    let ran = ran.again("breaker reset --reason more").code(0);
    let (_, verdicts) = self::verdicts(ran, 3, COMMIT, UNDONE);
    assert_eq!(tripped_at(&verdicts), Some(3));
}

#[test]
fn a_new_run_of_the_same_loop_does_not_close_its_open_breaker() {
    let (ran, _) = verdicts(project(""), 3, "true", UNDONE);
    let ran = ran.again("check --new-run out.log").code(3);
    ran.again("check --run other out.log").code(1);
}

#[test]
fn a_blocked_agent_stops_the_loop_and_the_breaker_stays_closed() {
    let (ran, verdicts) = verdicts(project(""), 1, "true", STUCK);
    assert_eq!(verdicts, ["blocked"]);
    ran.again("breaker status").code(0);
}

#[test]
fn an_error_that_the_agent_tells_stops_no_loop_that_commits() {
    let output =
        "Part done.\nerror: could not connect to the docker daemon\nEXIT_STATUS: CONTINUE\n";
    let (_, committing) = verdicts(project(""), 8, COMMIT, output);
    assert_eq!(tripped_at(&committing), None);
    let (_, churning) = verdicts(project(""), 6, "date +%N >>work.txt", output);
    assert_eq!(tripped_at(&churning), Some(5));
}
