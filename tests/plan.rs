//! `gate check --plan` and `gate status`: what would run here, and how long it took last.

use crate::support::{DONE, gate};

const SETTINGS: &str = "[checks.tests]
command = [\"sh\", \"-c\", \"echo run >>runs\"]
needs = [\"build\"]
[checks.build]
command = [\"true\"]
mode = \"warn\"
[checks.quick]
command = [\"true\"]
when = [\"hook\"]
";

#[test]
fn a_plan_shows_commands_and_runs_nothing() {
    let ran = gate("check --plan").settings(SETTINGS).code(0);
    let ran = ran.says("PLAN  `gate check` would run 2 checks here\n");
    let ran = ran.says("    tests       sh -c echo run >>runs\n");
    let ran = ran.says("must pass; after build; has not run yet\n").says("not here    quick");
    assert!(!ran.path("runs").exists());
}

#[test]
fn a_plan_of_one_check_shows_that_one() {
    let ran = gate("check --plan --only tests").settings(SETTINGS).code(0);
    let ran = ran.says("PLAN  `gate check` would run 1 check here\n").says("    tests       sh ");
    assert!(!ran.stdout.contains("build  ") && !ran.stdout.contains("quick"), "{}", ran.stdout);
    let ran = ran.again("check --plan --only quick").code(2);
    ran.tells("--only quick: no such check is configured");
}

#[test]
fn the_latest_run_of_each_check_is_told() {
    let ran = gate("check out.log").file("out.log", DONE).settings(SETTINGS).code(0);
    let ran = ran.again("check --plan --json").code(0);
    let plan = ran.json();
    assert_eq!(plan["schema"], "gate.plan.v1");
    assert_eq!(plan["checks"][1]["last"]["outcome"], "pass");
    assert_eq!(plan["elsewhere"][0], "quick");
    let ran = ran.again("check --plan").code(0).says("  ✓ tests ").says("last: passed in ");
    ran.again("status").code(0).says("    quick       true\n").says("has not run yet");
}

#[test]
fn a_secret_in_a_command_is_masked() {
    let key = format!("sk-ant-api03-{}", "A1b2C3d4E5".repeat(9));
    let settings = format!("[checks.tests]\ncommand = [\"curl\", \"{key}\"]\n");
    let mut ran = gate("check --plan").settings(&settings).code(0);
    for words in ["check --plan", "check --plan --json", "status --json"] {
        ran = ran.again(words).code(0).says("curl");
        assert!(!ran.stdout.contains(&key), "{words}: {}", ran.stdout);
    }
}

#[test]
fn a_plan_of_settings_that_nobody_approved_says_so() {
    let ran = gate("check --plan").unapproved(SETTINGS).code(0);
    ran.says("  ✗ settings ").says("gate trust");
}

#[test]
fn a_check_without_a_file_or_a_plan_is_a_mistake() {
    gate("check").code(2).tells("FILE");
    gate("check --plan --while out.log").code(2).tells("cannot be used with");
}
