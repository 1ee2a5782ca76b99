//! Checks as settings describe them: when they run, what their outcome means.

use serde_json::Value;

use crate::fooled::tools;
use crate::needs::needs;
use crate::support::{DONE, Ran, Run, STUCK, UNDONE, each, judge};

/// The record of a check.
fn record<'a>(decision: &'a Value, check: &str) -> &'a Value {
    let all = decision["evidence"].as_array().unwrap();
    all.iter().find(|record| record["check"] == check).expect(check)
}

fn outcome<'a>(decision: &'a Value, check: &str) -> &'a str {
    record(decision, check)["outcome"].as_str().unwrap()
}

fn summary<'a>(decision: &'a Value, check: &str) -> &'a str {
    record(decision, check)["summary"].as_str().unwrap()
}

fn reasons(decision: &Value) -> Vec<&str> {
    each(decision, "reasons", "code")
}

fn warnings(decision: &Value) -> Vec<&str> {
    each(decision, "warnings", "code")
}

/// A finished agent's output, judged under these settings.
fn checked(settings: &str) -> Run {
    judge("check --json out.log", DONE).settings(settings)
}

/// How often a check wrote its trace.
fn traces(ran: &Ran) -> usize {
    ran.file("trace").lines().count()
}

/// A check that leaves a trace where the tree digest does not look.
fn traced(script: &str, more: &str) -> String {
    format!(
        "[tree]\nignore = [\"trace\"]\n[checks.one]\nshell = true\n\
         command = ['echo x >> trace; {script}']\n{more}"
    )
}

#[test]
fn a_check_that_passes_lets_the_loop_end() {
    let decision = checked("[checks.one]\ncommand = [\"true\"]\n").code(0).json();
    assert_eq!((outcome(&decision, "one"), summary(&decision, "one")), ("pass", "exit code 0"));
    assert_eq!(record(&decision, "one")["exit_code"], 0);
    assert_eq!(decision["indicators"]["checks"], 1);
}

#[test]
fn a_required_check_that_fails_forbids() {
    let decision = checked("[checks.one]\ncommand = [\"sh\", \"-c\", \"exit 3\"]\n").code(1).json();
    assert_eq!(reasons(&decision), ["required-check-failed"]);
    assert_eq!(summary(&decision, "one"), "exit code 3");
    assert!(decision["feedback"].as_str().unwrap().contains("one"));
}

#[test]
fn a_check_that_counts_or_warns_does_not_forbid() {
    for (mode, warning) in [("count", "check-did-not-count"), ("warn", "check-warning")] {
        let settings = format!("[checks.one]\ncommand = [\"false\"]\nmode = \"{mode}\"\n");
        let decision = checked(&settings).code(0).json();
        assert!(warnings(&decision).contains(&warning), "{mode}");
        assert_eq!(decision["indicators"]["checks"], 0);
    }
}

#[test]
fn no_check_is_started_where_the_signal_forbids() {
    for (output, code) in [(UNDONE, 1), (STUCK, 4), ("", 1), ("EXIT_SIGNAL: false\n", 1)] {
        let ran = judge("check out.log", output).settings(&traced("true", "")).code(code);
        assert_eq!(traces(&ran), 0, "{output}");
    }
    let ran = judge("check --all-checks out.log", UNDONE).settings(&traced("true", "")).code(1);
    assert_eq!(traces(&ran), 1);
    let ran = judge("check --no-checks out.log", DONE).settings(&traced("true", "")).code(0);
    assert_eq!(traces(&ran), 0);
}

#[test]
fn what_cannot_be_run_is_inconclusive() {
    for command in [
        r#"["no-such-program"]"#,
        r#"["./not-here.sh"]"#,
        r#"["."]"#,
        r#"["sh", "-c", "exit 127"]"#,
    ] {
        let decision = checked(&format!("[checks.one]\ncommand = {command}\n")).code(1).json();
        assert_eq!(reasons(&decision), ["required-check-inconclusive"], "{command}");
    }
    let decision =
        checked("[checks.one]\ncommand = [\"true\"]\ncwd = \"nowhere\"\n").code(1).json();
    assert!(summary(&decision, "one").contains("nowhere is not there"));
    let decision = checked("[checks.no-such-plugin]\n").code(1).json();
    assert!(summary(&decision, "no-such-plugin").contains("gate-check-no-such-plugin"));
}

#[test]
fn a_script_fails_with_any_of_its_parts() {
    for script in ["false | true", "false; true", "echo $undefined", "true"] {
        let settings = format!("[checks.one]\nshell = true\ncommand = ['{script}']\n");
        let decision = checked(&settings).run().json();
        let expected = if script == "true" { "pass" } else { "fail" };
        assert_eq!(outcome(&decision, "one"), expected, "{script}");
    }
}

#[test]
fn a_check_waits_for_what_it_needs() {
    let settings = "[checks]\njobs = 4\n[tree]\nignore = [\"built\"]\n\
        [checks.a]\ncommand = [\"test\", \"-f\", \"built\"]\nneeds = [\"b\"]\n\
        [checks.b]\nshell = true\ncommand = [\"sleep 0.2; touch built\"]\n";
    checked(settings).code(0);
    let broken = settings
        .replace("touch built", "exit 1")
        .replace("[checks.b]", "[checks.b]\nmode = \"warn\"");
    let decision = checked(&broken).code(1).json();
    assert_eq!(outcome(&decision, "a"), "skipped");
    assert_eq!(summary(&decision, "a"), "it needs b, which did not pass");
    assert_eq!(reasons(&decision), ["check-not-run"]);
}

#[test]
fn what_can_no_longer_matter_is_ended() {
    let settings = "[tree]\nignore = [\"late\"]\n[checks.fast]\ncommand = [\"false\"]\n\
        [checks.slow]\nshell = true\ncommand = [\"sleep 60; touch late\"]\n\
        [checks.waiting]\ncommand = [\"touch\", \"late\"]\n";
    let ran = checked(settings).code(1);
    let decision = ran.json();
    assert_eq!(ran.file("late"), "");
    assert!(!ran.path("late").exists());
    for check in ["slow", "waiting"] {
        assert_eq!(outcome(&decision, check), "skipped", "{check}");
        assert!(summary(&decision, check).contains("fast did not pass"), "{check}");
    }
    let all = settings.replace("sleep 60; ", "");
    let decision = judge("check --json --all-checks out.log", DONE).settings(&all).code(1).json();
    assert_eq!((outcome(&decision, "slow"), outcome(&decision, "waiting")), ("pass", "pass"));
}

#[test]
fn a_check_that_does_not_end_is_ended_and_inconclusive() {
    let settings = "[checks.one]\ncommand = [\"sleep\", \"60\"]\ntimeout = \"200ms\"\n";
    let decision = checked(settings).code(1).json();
    assert_eq!(summary(&decision, "one"), "it did not end within 200ms and was ended");
    assert_eq!(reasons(&decision), ["required-check-inconclusive"]);
}

#[test]
fn a_check_sees_the_usual_environment_and_what_it_asks_for() {
    let settings = "[tree]\nignore = [\"seen\"]\n[checks.one]\nshell = true\nenv = [\"TOKEN\"]\n\
                    command = [\"env > seen; pwd > where\"]\n[checks.two]\ncommand = [\"true\"]\n";
    let run = checked(settings).env("TOKEN", "1").env("SECRET", "1").env("PGPASSWORD", "1");
    let ran = run.env("GATE_THING", "1").env("CLAUDECODE", "1").env("LC_ALL", "C").code(0);
    let seen = ran.file("seen");
    let has = |name: &str| seen.lines().any(|line| line.starts_with(&format!("{name}=")));
    for (name, expected) in [
        ("PATH", true),
        ("HOME", true),
        ("LC_ALL", true),
        ("TOKEN", true),
        ("SECRET", false),
        ("PGPASSWORD", false),
        ("GATE_THING", false),
        ("CLAUDECODE", false),
    ] {
        assert_eq!(has(name), expected, "{name}");
    }
}

#[test]
fn a_check_runs_in_the_projects_folder_or_its_own() {
    let settings = "[tree]\nignore = [\"**/here\"]\n[checks.one]\nshell = true\ncwd = \"sub\"\n\
                    command = [\"pwd -P > here\"]\n";
    let run = judge("-C sub check ../out.log", DONE).settings(settings).folder("sub").committed();
    let ran = run.code(0);
    assert!(ran.file("sub/here").trim_end().ends_with("work/sub"));
}

#[test]
fn a_failure_is_run_again_as_often_as_asked() {
    let wavers = "[ $(wc -l < trace) -ge 2 ]";
    let decision = checked(&traced(wavers, "retry = 1\n")).code(0);
    assert_eq!(traces(&decision), 2);
    let decision = decision.json();
    assert_eq!(record(&decision, "one")["flaky"], serde_json::json!(["one"]));
    assert!(warnings(&decision).contains(&"flaky"));
    let ran = checked(&traced("false", "retry = 2\n")).code(1);
    assert_eq!(traces(&ran), 3);
}

#[test]
fn only_one_check_can_be_asked_for() {
    let settings = traced("true", "[checks.two]\ncommand = [\"false\"]\nmode = \"warn\"\n");
    let run = judge("check --json --only two out.log", DONE).settings(&settings);
    let decision = run.code(1).json();
    assert_eq!(reasons(&decision), ["check-not-run"]);
    assert_eq!(summary(&decision, "one"), "left out: only two was asked for");
    assert_eq!(outcome(&decision, "two"), "fail");
}

#[test]
fn a_check_of_another_place_is_none_here() {
    let decision = checked(&traced("true", "when = [\"run\", \"hook\"]\n")).code(0);
    assert_eq!(traces(&decision), 0);
    let decision = decision.json();
    assert_eq!(decision["evidence"], serde_json::json!([]));
    assert!(warnings(&decision).contains(&"check-elsewhere"));
}

#[test]
fn a_built_in_check_finds_its_command() {
    let settings = "[checks.build]\n[checks.lint]\nmode = \"warn\"\n";
    let run = checked(settings).file("Makefile", "build:\n\t@echo built\n");
    let decision = run.code(0).json();
    assert!(summary(&decision, "build").contains("command found in"), "{decision}");
    assert_eq!(outcome(&decision, "lint"), "inconclusive");
}

#[test]
fn a_person_sees_what_failed_and_where_its_log_is() {
    let settings = "[checks.one]\nshell = true\ncommand = [\"echo the reason; exit 4\"]\n";
    let ran = judge("check out.log", DONE).settings(settings).code(1);
    let ran = ran.says("✗ one         exit code 4\n").says("full log: gate last --log one\n");
    let ran = ran.again("last --log one").code(1).stdout("the reason\n");
    let ran = ran.again("last --log two").code(2).tells("its checks: one");
    let ran = ran.again("check --no-state out.log").code(1);
    let log = ran.stdout.split_whitespace().find(|word| word.ends_with("one.log")).unwrap();
    assert_eq!(std::fs::read_to_string(log).unwrap(), "the reason\n");
}

#[test]
fn a_log_of_tests_has_no_failure_of_gates_own() {
    if !needs("pytest") {
        return;
    }
    let settings = "[checks.tests]\ncommand = [\"python3\", \"-m\", \"pytest\", \"-q\"]\n";
    let run = tools(judge("check out.log", DONE)).settings(settings);
    let ran = run.file("test_a.py", "def test_a():\n    pass\n").committed().code(0);
    let ran = ran.again("last --log tests").code(0).says("1 passed");
    assert!(!ran.stdout.contains("gate planted "), "{}", ran.stdout);
}

#[test]
fn a_setting_that_no_check_can_work_with_is_an_error() {
    for (settings, key) in [
        ("[checks.tests]\ncommand = [\"true\"]\npaths = [\"[z\"]\n", "checks.tests.paths"),
        ("[checks.clean_git]\nignore = [\"{a\"]\n", "checks.clean_git.ignore"),
        ("[tree]\nignore = [\"../x\"]\n", "tree.ignore"),
        ("[checks.one]\ncommand = [\"true\"]\nenv = [\"A=b\"]\n", "checks.one.env[0]"),
        ("[checks.clean_git]\ncommand = [\"true\"]\n", "checks.clean_git.command"),
    ] {
        let failure = checked(settings).code(2).json();
        assert_eq!(failure["key"], key, "{failure}");
    }
}

#[test]
fn as_many_checks_run_at_once_as_there_are_jobs() {
    // The first check waits for the second, at most so many times 50 milliseconds.
    let settings = |jobs, times| {
        format!(
            "[tree]\nignore = [\"there\"]\n[checks]\njobs = {jobs}\n[checks.a]\nshell = true\n\
             command = ['for i in $(seq {times}); do [ -e there ] && exit 0; sleep 0.05; done; exit 1']\n\
             [checks.b]\ncommand = [\"touch\", \"there\"]\n"
        )
    };
    checked(&settings(2, 200)).code(0);
    let ran = checked(&settings(1, 10)).code(1);
    assert!(!ran.path("there").exists());
}

#[test]
fn cheap_checks_run_first() {
    let names = ["tests", "build", "lint"];
    let checks = names
        .map(|name| format!("[checks.{name}]\nshell = true\ncommand = ['echo {name} >> order']\n"));
    let settings = format!("[tree]\nignore = [\"order\"]\n[checks]\njobs = 1\n{}", checks.concat());
    assert_eq!(checked(&settings).code(0).file("order"), "lint\nbuild\ntests\n");
}

#[test]
fn a_command_that_was_meant_as_a_script_is_told_so() {
    for command in [r#"["cargo test && true"]"#, r#"["no-such", "x", "&&", "true"]"#] {
        let decision = checked(&format!("[checks.one]\ncommand = {command}\n")).code(1).json();
        assert!(summary(&decision, "one").contains("shell = true"), "{command}");
    }
}

#[test]
fn progress_is_for_terminals() {
    let settings = "[checks.one]\ncommand = [\"sleep\", \"0.3\"]\n";
    judge("check out.log", DONE).settings(settings).code(0).stderr("");
}

#[test]
fn a_reviewer_alone_is_no_check_of_behaviour() {
    let review = "[checks.review]\nmode = \"require\"\ncommand = [\"echo\", \"VERDICT: PASS\"]\n";
    judge("check out.log", DONE)
        .settings(review)
        .code(0)
        .says("DONE  no check of behaviour: only review passed; ");
}
