//! Calls of a turn, and what stands behind its claim.

use gate_transcript::Ending;

use super::super::command::inspect;
use super::*;

fn edit(path: &str) -> Step {
    Step::new("e", 1, Action::Edit(vec![path.to_owned()]))
}

/// A command that ended with this code.
fn ran(line: &str, code: i32) -> Step {
    let action = Action::command(inspect(line)).expect("a command that matters");
    let mut step = Step::new("r", 2, action);
    step.code = Some(code);
    step
}

#[track_caller]
fn check(steps: Vec<Step>, expected: ClaimSupport) {
    assert_eq!(Support::new(steps, false).standing().support, expected);
}

#[test]
fn the_last_check_after_the_last_edit_counts() {
    check(vec![edit("a.rs")], ClaimSupport::None);
    check(vec![edit("a.rs"), ran("cargo test", 0)], ClaimSupport::PassedAfter);
    check(vec![edit("a.rs"), ran("cargo test", 0), edit("b.rs")], ClaimSupport::Stale);
    check(vec![edit("a.rs"), ran("cargo test", 1)], ClaimSupport::Failed);
    check(
        vec![edit("a.rs"), ran("cargo test a", 1), ran("cargo test", 0)],
        ClaimSupport::PassedAfter,
    );
    check(vec![edit("a.rs"), ran("pytest", 1), ran("make lint", 0)], ClaimSupport::Failed);
}

/// A run with a report.
fn reported(line: &str, text: &str) -> Step {
    let mut step = ran(line, i32::from(text.contains("failed")));
    step.output(text);
    step
}

#[test]
fn a_part_that_passed_does_not_take_the_failure_of_the_whole_back() {
    let whole = || reported("pytest -q", "27 failed, 109 passed in 3.1s");
    let standing = |steps| Support::new(steps, false).standing();
    let steps =
        vec![edit("a.py"), whole(), reported("pytest -q tests/test_form.py", "19 passed in 0.3s")];
    let standing = standing(steps);
    assert_eq!(standing.support, ClaimSupport::Failed);
    assert_eq!(standing.run.map(|run| run.command).as_deref(), Some("pytest -q"));
    let part = standing.later_part.map(|run| run.command);
    assert_eq!(part.as_deref(), Some("pytest -q tests/test_form.py"));
    // Another run of the whole, by its words or by its number of tests.
    let passed = ClaimSupport::PassedAfter;
    check(vec![edit("a.py"), whole(), ran("pytest", 0)], passed);
    let all = reported("pytest --tb=short unit integration", "136 passed in 3s");
    check(vec![edit("a.py"), whole(), all], passed);
    // Tests that another runner cannot have run, and a start that came to no test.
    check(vec![edit("a.py"), whole(), ran("npx vitest run", 0)], ClaimSupport::Failed);
    check(vec![edit("a.ts"), ran("npx jest", 1), ran("npx vitest run", 0)], passed);
}

#[test]
fn a_log_that_shows_the_tests_pass_takes_a_failure_back() {
    let failed = || reported("pytest -q", "4 failed, 3 passed in 3.1s");
    let log = |text: &str| reported("docker compose logs tests", text);
    check(vec![edit("a.py"), failed(), log("Passed: 7\nFailed: 0")], ClaimSupport::PassedAfter);
    check(vec![edit("a.py"), failed(), log("Passed: 3\nFailed: 0")], ClaimSupport::Failed);
    check(vec![edit("a.py"), failed(), log("listening on 80")], ClaimSupport::Failed);
    check(vec![edit("a.py"), ran("cat build.log", 0)], ClaimSupport::None);
}

#[test]
fn a_run_whose_end_is_hidden_outweighs_none_that_is_shown() {
    let hidden = || ran("cargo test | grep a", 0);
    check(vec![edit("a.rs"), hidden()], ClaimSupport::Unknown);
    check(vec![edit("a.rs"), ran("cargo test", 1), hidden()], ClaimSupport::Failed);
    check(vec![edit("a.rs"), ran("cargo test", 0), hidden()], ClaimSupport::PassedAfter);
}

#[test]
fn a_check_whose_program_is_absent_did_not_run() {
    let mut absent = ran("pytest", 127);
    absent.output("bash: pytest: command not found");
    check(vec![edit("a.py"), absent], ClaimSupport::None);
}

#[test]
fn a_run_that_was_stopped_is_judged_by_its_output() {
    let mut stopped = ran("npx vitest", 124);
    stopped.output("      Tests  4 passed (4)");
    check(vec![edit("a.js"), stopped], ClaimSupport::PassedAfter);
    check(vec![edit("a.js"), ran("npx vitest", 124)], ClaimSupport::Unknown);
}

#[test]
fn prose_scratch_files_and_the_set_up_of_a_machine_leave_a_check_as_it_is() {
    for path in ["NOTES.md", "tasks/prd.json", "/tmp/a.py", "~/.zshrc", ".gitignore", "Cargo.lock"]
    {
        let steps = vec![edit("a.rs"), ran("cargo test", 0), edit(path)];
        check(steps, ClaimSupport::PassedAfter);
    }
    let both = vec![edit("~/.zshrc"), edit("/tmp/a.py")];
    assert_eq!(Support::new(both, false).files, ["~/.zshrc"]);
}

#[test]
fn a_project_may_be_in_a_folder_for_scratch_files() {
    let files = |works_elsewhere| Support::new(vec![edit("/tmp/a/b.py")], works_elsewhere).files;
    assert_eq!((files(false).len(), files(true).len()), (1, 0));
}

#[test]
fn what_may_have_checked_the_work_is_no_accusation() {
    let agent = || Step::new("a", 1, Action::Other);
    check(vec![edit("a.rs"), agent()], ClaimSupport::Unknown);
    check(vec![agent(), edit("a.rs")], ClaimSupport::None);
    check(vec![edit("a.rs"), ran("./tools/all.sh", 0)], ClaimSupport::Unknown);
    check(vec![edit("a.rs"), ran("npm run build", 0)], ClaimSupport::Unknown);
    check(vec![ran("make test", 0), edit("a.rs")], ClaimSupport::None);
    check(vec![edit("a.rs"), ran("cargo test", 0), ran("make test", 1)], ClaimSupport::PassedAfter);
}

#[test]
fn a_part_that_passed_is_no_praise_if_another_command_reports_failures() {
    let others = |failed| {
        let mut step = ran("npm test | tail -3", 0);
        step.output(if failed { "ok 1 a\nnot ok 2 b" } else { "1..2\nok 1 a\nok 2 b" });
        step
    };
    let part = || ran("npx vitest run", 0);
    for steps in [vec![others(true), part()], vec![part(), others(true)], vec![others(true)]] {
        let steps = std::iter::once(edit("a.ts")).chain(steps).collect();
        check(steps, ClaimSupport::Unknown);
    }
    check(vec![edit("a.ts"), others(true), part(), others(false)], ClaimSupport::PassedAfter);
    check(vec![others(true), edit("a.ts"), part()], ClaimSupport::PassedAfter);
}

#[test]
fn a_sub_agent_may_check_what_is_edited_beside_it() {
    let agent = |in_background| Step::new("a", 1, Action::SubAgent { in_background });
    check(vec![agent(false), edit("a.rs")], ClaimSupport::None);
    check(vec![agent(true), edit("a.rs")], ClaimSupport::Unknown);
    check(vec![edit("a.rs"), agent(false), edit("b.rs")], ClaimSupport::Unknown);
    let mut launched = agent(false);
    launched.output("Async agent launched");
    check(vec![launched, edit("a.rs")], ClaimSupport::Unknown);
}

#[test]
fn a_call_that_failed_or_was_denied_changed_nothing() {
    let mut failed = edit("a.rs");
    failed.failed("not found");
    let mut denied = ran("sed -i s/a/b/ a.rs", 0);
    denied.is_denied = true;
    assert!(Support::new(vec![failed, denied, ran("echo a > b.rs", 1)], false).files.is_empty());
    // The file before a check that failed was written.
    let both = ran("cat > a.rs <<E\nx\nE\ncargo test", 1);
    assert_eq!(Support::new(vec![both], false).files, ["a.rs"]);
}

#[test]
fn a_client_may_mark_the_end_without_a_code() {
    let marked = |ending| {
        let action = Action::command(inspect("cargo test")).expect("a check");
        let mut step = Step::new("r", 2, action);
        step.ending = ending;
        step
    };
    check(vec![edit("a.rs"), marked(Ending::Succeeded)], ClaimSupport::PassedAfter);
    check(vec![edit("a.rs"), marked(Ending::Failed)], ClaimSupport::Failed);
    check(vec![edit("a.rs"), marked(Ending::Unmarked)], ClaimSupport::Unknown);
}
