//! `gate approve` and `gate run --may-change`: changed tests are a person's to approve.

use crate::fooled::tools;
use crate::needs::needs;
use crate::run::SAYS;
use crate::support::{DONE, Ran, Run, each, gate};

#[test]
fn what_is_not_understood_is_refused_and_what_is_not_known_is_told() {
    let ran = gate("check out.log").settings("").file("out.log", DONE).run();
    let ran = ran.again("approve --reason x").code(2).again("approve --run x").code(2);
    let ran = ran.again("approve ../**/*.py --reason x").code(2);
    let ran = ran.again("approve a::b --reason x").code(0).tells("does not name a::b");
    assert!(!ran.stdout.contains("Check again"), "no decision waits: {}", ran.stdout);
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
    let ran = ran.again("approve test_calc.py --reason asked-for").code(0).says("Check again");
    let ran = tools(ran.again("check --json out.log")).code(0);
    assert_eq!(ran.json()["approved"][0]["file"], "test_calc.py");
    // Other bytes ask again.
    let weaker = "git commit -qam new; sed -i s/4/5/ calc.py test_calc.py";
    tools(ran.again("check --json out.log")).setup(weaker).code(1);
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

#[track_caller]
fn is_waiting(ran: &Ran, verdict: &str) {
    let decision = ran.json();
    assert_eq!(decision["verdict"], verdict, "{decision:#}");
    assert_eq!(each(&decision, "reasons", "code"), ["tests-changed"]);
    let next = decision["next"].as_str().unwrap();
    assert!(next.starts_with("`gate approve test_calc.py::test_price --reason …`"), "{next}");
}

#[test]
fn the_agent_is_told_once_then_a_person_is_asked_and_no_further_turn_is_needed() {
    if !needs("pytest") {
        return;
    }
    let ran = shop("check --json out.log").committed().setup(RAISE).code(1);
    is_waiting(&ran, "continue");
    let ran = tools(ran.again("check --json out.log")).code(4);
    is_waiting(&ran, "blocked");
    assert_eq!(ran.json()["breaker"]["counters"]["refused"], 1, "only the first counts");
    let ran = ran.again("approve").code(0).says("test_calc.py::test_price");
    let words = "approve test_calc.py::test_price --reason asked-for --json";
    let ran = ran.again(words).code(0).stderr("");
    let ran = tools(ran.again("check --json out.log")).code(0);
    assert_eq!(ran.json()["approved"][0]["test"], "test_calc.py::test_price");
    let ran = ran.again("explain").code(0).says("test_calc.py::test_price: asked-for");
    ran.again("ledger verify").code(0);
}

#[test]
fn the_same_iteration_is_decided_anew_after_an_approval() {
    if !needs("pytest") {
        return;
    }
    let same = "check --json --run night --iteration 3 out.log";
    let ran = shop(same).committed().setup(RAISE).code(1);
    let ran = tools(ran.again(same)).code(1);
    assert_eq!(ran.json()["repeated"], true);
    let ran = ran.again("approve test_calc.py --reason asked-for").code(0);
    let ran = tools(ran.again(same)).code(0);
    assert_eq!(ran.json()["repeated"], false);
    ran.again("explain").code(0).again("ledger verify").code(0);
}

/// A loop over a change that its tests do not allow, up to the point where a person is asked.
fn blocked(act: &str) -> Ran {
    let ran = tools(shop("baseline").committed()).code(0);
    let check = "check --json --run night out.log";
    let ran = tools(ran.again(check).setup(act)).code(1);
    tools(ran.again(check)).code(4)
}

/// One approval suffices at once, after a commit, and if the file has another name by then.
#[test]
#[ignore = "minutes: projects with real test runners"]
fn one_approval_of_a_run_suffices() {
    if !needs("pytest") {
        return;
    }
    for then in ["true", "git add -A; git commit -qm yes", "git mv test_calc.py test_prices.py"] {
        let ran = blocked(RAISE).again("approve --run night").code(0).says("test_calc.py");
        let words = "check --json --run night --new-run out.log";
        let ran = tools(ran.again(words).setup(then)).code(0);
        assert_eq!(ran.json()["verdict"], "exit", "{then}");
    }
}

#[test]
#[ignore = "minutes: projects with real test runners"]
fn other_bytes_than_those_that_were_shown_ask_again() {
    if !needs("pytest") {
        return;
    }
    let more = "sed -i s/4/5/ calc.py test_calc.py";
    // Both before the approval and after it.
    for (before, after) in [(more, "true"), ("true", more)] {
        let ran = blocked(RAISE).again("prompt").setup(before).code(0);
        let ran = ran.again("approve all --reason asked-for").code(0);
        tools(ran.again("check --json --run night --new-run out.log").setup(after)).code(1);
    }
}

#[test]
fn a_finding_is_approved_by_its_file_and_by_its_rule() {
    let settings = "[checks.integrity]\n[guarded]\n\"*.ini\" = \"block\"\n";
    let ini = "[pytest]\n";
    for name in ["pytest.ini", "all"] {
        let run = gate("baseline").settings(settings).file("pytest.ini", ini).file("out.log", DONE);
        let ran = run.committed().code(0);
        let act = "printf '[pytest]\naddopts = --ignore=tests/test_a.py\n' > pytest.ini";
        let ran = ran.again("check --json out.log").setup(act).code(4);
        let ran = ran.again("approve").code(0).says("pytest.ini");
        let ran = ran.again(&format!("approve {name}")).code(0).stderr("");
        ran.again("check --json out.log").code(0);
    }
}

#[test]
#[ignore = "minutes: projects with real test runners"]
fn another_tasks_loop_is_not_touched() {
    if !needs("pytest") {
        return;
    }
    let ran = blocked(RAISE).again("prompt").setup("git commit -qam yes").code(0);
    let ran = tools(ran.again("baseline")).code(0);
    let act = "echo '# a comment' >> calc.py";
    tools(ran.again("check --json --run other out.log").setup(act)).code(0);
}

#[test]
#[ignore = "minutes: projects with real test runners"]
fn a_task_that_a_script_starts_again_goes_on_from_its_first_baseline() {
    if !needs("pytest") {
        return;
    }
    let agent = format!(
        "#!/bin/sh\ncat >seen\n[ -e ../did ] || {{ touch ../did; {RAISE}; git commit -qam up; }}\n{SAYS}"
    );
    for task in ["--task t1 ", ""] {
        let words = format!("run {task}--prompt P.md --max-iterations 3 -- ./agent.sh");
        let run = shop(&words).file("P.md", "Raise it.\n").script("agent.sh", &agent);
        let ran = run.committed().code(1).says("BLOCKED");
        let ran = tools(ran.again(&words)).code(1).says("BLOCKED");
        // Another prompt begins another task.
        let other = "run --prompt Q.md --max-iterations 1 -- ./agent.sh";
        let comment = "echo '# more' >> calc.py";
        let ran = ran.again(other).file("Q.md", "Comment it.\n").setup(comment);
        let ran = tools(ran).code(0);
        // A commit of the person takes the tests as they are.
        let ran = ran.again(&words).setup("git add -A; git commit -qm mine; rm ../did");
        let halve = agent.replace("s/3/4/", "s/#.*//");
        tools(ran.script("agent.sh", &halve)).code(0);
    }
}

/// The approved bytes under the name of another old test are a weakened test, and out of sight they
/// are a removed one.
#[test]
#[ignore = "minutes: projects with real test runners"]
fn an_approval_of_one_test_is_none_of_another() {
    if !needs("pytest") {
        return;
    }
    let tax = "from tax import tax\n\ndef test_tax():\n    assert tax() == 1\n";
    for (name, then) in [
        ("test_calc.py", "cp test_calc.py test_tax.py; echo 'def tax(): return 2' > tax.py"),
        ("test_calc.py", "mkdir notes; mv test_calc.py notes/old.txt; sed -i s/4/9/ calc.py"),
        (
            "test_calc.py::*",
            "cp test_calc.py keep.txt; echo 'def test_price(): pass' > test_calc.py",
        ),
    ] {
        let run = shop("baseline").file("tax.py", "def tax():\n    return 1\n");
        let ran = tools(run.file("test_tax.py", tax).committed()).code(0);
        let check = "check --json --run night out.log";
        let ran = tools(ran.again(check).setup(RAISE)).code(1);
        let ran = ran.again(&format!("approve {name}")).code(0);
        let ran = tools(ran.again(check).setup(then)).run();
        assert_ne!(ran.json()["verdict"], "exit", "{then}");
    }
}

#[test]
fn a_test_file_that_was_changed_and_renamed_at_once_needs_one_approval() {
    if !needs("pytest") {
        return;
    }
    let ran = blocked(&format!("{RAISE}; git mv test_calc.py test_prices.py"));
    let ran = ran.again("approve --run night").code(0);
    tools(ran.again("check --json --run night --new-run out.log")).code(0);
}

#[test]
#[ignore = "minutes: projects with real test runners"]
fn approved_settings_may_leave_tests_out() {
    if !needs("pytest") {
        return;
    }
    let more = "def test_more():\n    assert True\n";
    let run = shop("baseline").settings(&format!("{PYTEST}[checks.integrity]\n"));
    let run = run.file("pytest.ini", "[pytest]\n").file("test_more.py", more);
    let ran = tools(run.committed()).code(0);
    let act = "printf '[pytest]\\naddopts = --ignore=test_more.py\\n' > pytest.ini";
    let check = "check --json --run night out.log";
    let ran = tools(ran.again(check).setup(act)).run();
    let ran = ran.again("approve pytest.ini").code(0);
    tools(ran.again(check)).code(0);
}

/// Neither another task's commit nor the agent's own edit of its prompt ends what a task remembers.
#[test]
#[ignore = "minutes: projects with real test runners"]
fn a_task_remembers_beside_other_loops_and_with_another_prompt() {
    if !needs("pytest") {
        return;
    }
    let edit = "echo '- [x] done' >> P.md";
    let agent = format!(
        "#!/bin/sh\ncat >seen\n[ -e ../did ] || {{ touch ../did; {RAISE}; {edit}; }}\n{SAYS}"
    );
    let other = format!(
        "#!/bin/sh\ncat >seen\necho '# more' >> calc.py; git add -A; git commit -qm other\n{SAYS}"
    );
    let words = "run --prompt P.md --max-iterations 3 -- ./agent.sh";
    let run = shop(words).file("P.md", "Raise it.\n").script("agent.sh", &agent);
    let run = run.script("other.sh", &other).file("Q.md", "Comment it.\n");
    let ran = run.committed().code(1).says("BLOCKED");
    let beside = "run --prompt Q.md --max-iterations 2 -- ./other.sh";
    let ran = tools(ran.again(beside)).code(0);
    tools(ran.again(words)).code(1).says("BLOCKED");
}
