//! `gate approve` and `gate run --may-change`: changed tests are a person's to approve.

use serde_json::Value;

use crate::fooled::tools;
use crate::needs::needs;
use crate::run::SAYS;
use crate::support::{DONE, Ran, Run, each, gate};

/// A plug-in that waits for an approval of a changed test, until the file `ok` is there.
const SUITE: &str = r#"#!/bin/sh
if [ -e "$HOME/ok" ]; then
    echo '{"schema":"gate.check.result.v1","outcome":"pass","summary":"2 passed"}'
else
    echo '{"schema":"gate.check.result.v1","outcome":"fail","summary":"1 of 2 failed","detail":{"tests":{"deciding":"warm","why_warm":"no lock file","changed":[{"file":"tests/test_a.py","tests":["tests/test_a.py::test_sum"]}]}}}'
fi
"#;

const NEXT: &str = "`gate approve tests/test_a.py::test_sum --reason …`, then check again";

/// A project whose suite waits for an approval.
fn waiting(words: &str) -> Run {
    let run = gate(words).settings("[checks.suite]\n").file("out.log", DONE);
    let run = run.script("suite.sh", SUITE).committed();
    let run = run.setup("mkdir -p ../bin && cp suite.sh ../bin/gate-check-suite");
    with_suite(run)
}

fn with_suite(run: Run) -> Run {
    let path = format!("{}:{}", run.at("../bin").display(), std::env::var("PATH").unwrap());
    run.env("PATH", path)
}

/// `gate` once more, with the plug-in.
fn again(ran: Ran, words: &str) -> Run {
    with_suite(ran.again(words))
}

#[track_caller]
fn is_waiting(ran: &Ran, verdict: &str) {
    let decision = ran.json();
    assert_eq!(decision["verdict"], verdict, "{decision:#}");
    assert_eq!(each(&decision, "reasons", "code"), ["tests-changed"]);
    assert!(decision["next"].as_str().unwrap().starts_with(NEXT), "{}", decision["next"]);
}

#[test]
fn the_agent_is_told_once_then_a_person_is_asked_and_no_further_turn_is_needed() {
    let ran = waiting("check --json out.log").code(1);
    is_waiting(&ran, "continue");
    let feedback = ran.json()["feedback"].as_str().unwrap().to_owned();
    assert!(feedback.contains("or a person has to approve them"), "{feedback}");
    assert_eq!(ran.json()["deciding"], "warm");
    let mut ran = ran;
    for _ in 0..6 {
        ran = again(ran, "check --json out.log").code(4);
        is_waiting(&ran, "blocked");
        assert_eq!(ran.json()["breaker"]["counters"]["refused"], 1, "only the first counts");
    }
    let ran = ran.again("last").code(4).says("BLOCKED").says("warm copy: no lock file");
    let ran = ran.again("approve").code(0).says("tests/test_a.py::test_sum").says("--reason …");
    let words = "approve tests/test_a.py::test_sum --reason asked-for --json";
    let ran = ran.again(words).code(0).stderr("");
    let approved = ran.json();
    assert_eq!(approved["schema"], "gate.approve.v1");
    assert_eq!(approved["approved"][0]["test"], "tests/test_a.py::test_sum");
    assert_eq!(approved["unknown"], Value::Array(Vec::new()));
    let ran = ran.again("log").code(0).says("tests/test_a.py::test_sum: asked-for");
    let ran = again(ran, "check --json out.log").setup("touch ../home/ok").code(0);
    assert_eq!(ran.json()["approved"][0]["reason"], "asked-for");
    assert_eq!(ran.json()["deciding"], "none");
    let ran = ran.again("explain").code(0).says("tests/test_a.py::test_sum: asked-for");
    ran.again("ledger verify").code(0);
}

#[test]
fn the_same_iteration_is_decided_anew_after_an_approval() {
    let same = "check --json --run night --iteration 3 out.log";
    let ran = waiting(same).code(1);
    let ran = again(ran, same).code(1);
    assert_eq!(ran.json()["repeated"], true);
    let ran = ran.again("approve tests/test_a.py --reason asked-for").code(0);
    let ran = again(ran, same).setup("touch ../home/ok").code(0);
    assert_eq!((&ran.json()["repeated"], &ran.json()["iteration"]), (&false.into(), &3.into()));
    ran.again("explain").code(0).again("ledger verify").code(0);
}

#[test]
fn what_is_not_understood_is_refused_and_what_is_not_known_is_told() {
    let ran = waiting("check out.log").code(1);
    let ran = ran.again("approve a::b").code(2).again("approve --reason x").code(2);
    let ran = ran.again("approve ../**/*.py --reason x").code(2);
    let ran = ran.again("approve a::b --reason x").code(0).tells("does not name a::b");
    ran.again("approve a::b --reason x").env("CLAUDECODE", "1").code(2).tells("under an agent");
}

const CALC: &str = "def price():\n    return 3\n";
const TEST: &str = "from calc import price\n\ndef test_price():\n    assert price() == 3\n";
const RAISE: &str = "sed -i s/3/4/ calc.py test_calc.py";
const PYTEST: &str = "[checks.tests]\ncommand = [\"pytest\", \"-q\"]\n";

/// A project in Python, which its tests pass.
fn shop(words: &str) -> Run {
    let run = tools(gate(words).settings(PYTEST)).file("calc.py", CALC).file("test_calc.py", TEST);
    run.file(".gitignore", "__pycache__\n.pytest_cache\nseen\n").file("out.log", DONE)
}

#[test]
fn an_approved_file_counts_as_it_stands() {
    if !needs("pytest") {
        return;
    }
    let ran = shop("check --json out.log").committed().setup(RAISE).code(1);
    let ran = ran.again("approve test_calc.py --reason asked-for").code(0);
    let ran = tools(ran.again("check --json out.log")).code(0);
    assert_eq!(ran.json()["approved"][0]["path"], "test_calc.py");
    // The commit is the baseline of what comes after, and the approval has done its work.
    let weaker = "git commit -qam new; sed -i s/4/5/ calc.py test_calc.py";
    let ran = tools(ran.again("check --json out.log")).setup(weaker).code(1);
    assert_eq!(ran.json()["approved"], Value::Null);
}

#[test]
fn what_a_loop_may_change_is_said_beforehand() {
    if !needs("pytest") {
        return;
    }
    let agent = format!("#!/bin/sh\ncat >seen\n{RAISE}\n{SAYS}");
    for (flag, code) in [("--may-change test_*.py", 0), ("--max-iterations 1", 1)] {
        let words = format!("run --task t1 --prompt P.md {flag} --json -- ./agent.sh");
        let run = shop(&words).file("P.md", "Raise it.\n").script("agent.sh", &agent);
        let ran = run.committed().code(code).again("ledger export").code(0);
        assert_eq!(ran.stdout.contains("\"may_change\""), code == 0);
    }
    let words = "run --task t1 --prompt P.md --may-change ../x -- ./agent.sh";
    shop(words).file("P.md", "").script("agent.sh", &agent).code(2).tells("inside of the project");
}
