//! `gate run --tests-first`: one loop writes tests that fail, and another one makes them pass.

use serde_json::{Value, json};

use crate::fooled::tools;
use crate::needs::needs;
use crate::support::{Ran, Run, gate};

const SETTINGS: &str = "[checks.tests]\ncommand = [\"python3\", \"-m\", \"pytest\", \"-q\"]\n";
const RUN: &str = "run --task t1 --tests-first --prompt PROMPT.md --json --max-iterations 2";

/// An agent that does one thing in the phase of the tests, and another one afterwards.
const AGENT: &str = "#!/bin/sh\ncat >prompt\n\
    if grep -q 'this phase: tests only' prompt; then . ./tests.sh; else . ./code.sh; fi\n\
    if grep -q 'Exit Protocol' prompt; then cat says.json; else cat says; fi\n";

const SAYS: &str = "It is written.\n\nEXIT_STATUS: COMPLETE\nEXIT_REASON: it is written\n";

pub(crate) const NEW_TEST: &str = "printf 'import calc\\n\\n\\ndef test_div():\\n    \
                        assert calc.div(7, 2) == 3\\n' >tests/test_div.py\n";
/// A source with a test in it.
const SOURCE: &str = "pub fn add(a: i64, b: i64) -> i64 { a + b }\n#[cfg(test)]\nmod tests {\n    \
                      #[test]\n    fn adds() { assert_eq!(crate::add(1, 2), 3); }\n}\n";

pub(crate) const CODE: &str = "printf '\\n\\ndef div(a, b):\\n    return a // b\\n' >>calc.py\n";

/// A project with pytest, and an agent that does this in its two phases.
pub(crate) fn project(words: &str, tests: &str, code: &str) -> Run {
    with_agent(gate(words), tests, code)
        .settings(SETTINGS)
        .file("calc.py", "def add(a, b):\n    return a + b\n")
        .file("conftest.py", "")
        .file(
            "tests/test_add.py",
            "import calc\n\n\ndef test_add():\n    assert calc.add(1, 2) == 3\n",
        )
        .committed()
}

fn with_agent(run: Run, tests: &str, code: &str) -> Run {
    tools(run)
        .file(".gitignore", "__pycache__\n.pytest_cache\ntarget\nprompt*\n")
        .file("PROMPT.md", "Add div(a, b): the whole quotient.\n")
        .file("says", SAYS)
        .file("tests.sh", tests)
        .file("code.sh", code)
        .script("agent.sh", AGENT)
}

fn looped(tests: &str, code: &str) -> Run {
    project(&format!("{RUN} -- ./agent.sh"), tests, code)
}

/// The summary of the only check of the last decision.
fn summary(ran: &Ran) -> String {
    let last = ran.beside("last --json").output().unwrap();
    let last: Value = serde_json::from_slice(&last.stdout).unwrap();
    last["evidence"][0]["summary"].as_str().unwrap_or_default().to_owned()
}

pub(crate) fn shown(ran: &Ran, words: &str) -> String {
    let output = ran.beside(words).output().unwrap();
    String::from_utf8(output.stdout).unwrap()
}

#[test]
#[ignore = "minutes: projects with real test runners"]
fn tests_are_written_locked_and_made_to_pass() {
    if !needs("pytest") {
        return;
    }
    let ran = looped(NEW_TEST, CODE).code(0);
    let end = ran.json();
    let tests = json!(["tests/test_div.py::test_div"]);
    let files = json!(["tests/test_div.py"]);
    let written = json!({ "by": "agent.sh", "locked": true, "tests": tests, "files": files });
    assert_eq!((&end["success"], &end["tests_first"]), (&true.into(), &written));
    let card = shown(&ran, "last");
    assert!(card.starts_with("DONE  tests written first 1, old tests 1 of 1"));
    let log = shown(&ran, "log");
    assert!(log.contains("tests/test_div.py, by agent.sh; code by agent.sh\n"), "{log}");
    assert!(log.contains("the tests are written: "), "{log}");
    assert!(ran.file("prompt").contains("They are locked"), "{}", ran.file("prompt"));
    // The task is over: the next loop of its name begins anew.
    let again = tools(ran.again(&format!("{RUN} -- ./agent.sh"))).code(1);
    assert_eq!(again.json()["tests_first"]["locked"], false);
}

#[track_caller]
fn refused(tests: &str, says: &str) {
    let ran = looped(tests, CODE).code(1);
    let end = ran.json();
    assert_eq!(end["tests_first"]["locked"], false, "{end}");
    assert!(summary(&ran).contains(says), "{tests}: {}", summary(&ran));
    assert!(end["resume"].as_str().unwrap().contains("--tests-first"), "{end}");
    assert!(!ran.file("calc.py").contains("a // b"));
}

#[test]
#[ignore = "minutes: projects with real test runners"]
fn what_is_no_failing_test_is_refused() {
    if !needs("pytest") {
        return;
    }
    let code = "printf '\\ndef div(a, b):\\n    return 3\\n' >>calc.py\n";
    refused(
        &format!("{NEW_TEST}{code}"),
        "only tests may change in this phase: undo the changes of calc.py",
    );
    refused("printf 'a = 1\\n' >new.py\n", "undo the changes of new.py");
    refused("printf 'done\\n' >notes.md\n", "no test file is new or edited");
    let passes = NEW_TEST.replace("calc.div(7, 2)", "calc.add(1, 2)");
    refused(&passes, "the new test passes already: tests/test_div.py::test_div");
    let at_its_top = NEW_TEST.replace("import calc", "from calc import div");
    refused(&at_its_top, "could not be collected; a test has to load and to fail by itself");
    let support =
        format!("{NEW_TEST}printf 'import calc\\ncalc.add = max\\n' >tests/conftest.py\n");
    refused(&support, "tests that passed before fail now: tests/test_add.py::test_add");
    // Old tests are not made weaker either, although they pass.
    for act in [
        "sed -i 's/== 3/> 0/' tests/test_add.py",
        "rm tests/test_add.py",
        "echo 'x = 1' >conftest.py",
    ] {
        let file = act.split(' ').next_back().unwrap().trim_start_matches('>');
        refused(
            &format!("{NEW_TEST}{act}\n"),
            &format!("old tests stay as they are: undo the changes of {file}"),
        );
    }
    // A test beside the old ones is none of these.
    let beside =
        "printf '\\n\\ndef test_div():\\n    assert calc.div(7, 2) == 3\\n' >>tests/test_add.py\n";
    let end = looped(beside, CODE).code(0).json();
    assert_eq!(end["tests_first"]["tests"], json!(["tests/test_add.py::test_div"]));
}

#[test]
#[ignore = "minutes: projects with real test runners"]
fn locked_tests_decide_as_they_were_also_in_a_loop_that_goes_on() {
    if !needs("pytest") {
        return;
    }
    let edit = "sed -i 's/== 3/== 4/' tests/test_div.py\n";
    let wrong = format!("{}{edit}", CODE.replace("a // b", "4"));
    let ran = looped(NEW_TEST, &wrong).code(1);
    let end = ran.json();
    assert_eq!(
        (&end["stopped_by"], &end["tests_first"]["locked"]),
        (&"blocked".into(), &true.into())
    );
    // Nothing was decided since the edit, and no loop saw it: the lock is older.
    let words = "run --task t1 --json --max-iterations 1 -- ./agent.sh";
    let ran = tools(ran.again(words)).file("code.sh", "").setup(edit).code(1);
    assert!(summary(&ran).contains("tests/test_div.py"), "{}", summary(&ran));
    // With the words of the first loop the tests are not written again.
    let mend =
        "sed -i 's/return 4/return a \\/\\/ b/' calc.py; sed -i 's/== 4/== 3/' tests/test_div.py\n";
    let reset = tools(ran.again("breaker reset --reason mended --task t1")).run();
    let again = reset.again(&format!("{RUN} -- ./agent.sh"));
    let ran = tools(again).file("tests.sh", "exit 9\n").file("code.sh", mend).code(0);
    ran.tells("the tests of t1 are locked already");
}

#[test]
#[ignore = "minutes: projects with real test runners"]
fn a_failing_run_names_locked_tests_that_were_edited() {
    if !needs("pytest") {
        return;
    }
    let edit = format!("{CODE}sed -i 's/== 3/== 4/' tests/test_div.py\n");
    let ran = looped(NEW_TEST, &edit).code(1);
    let says = "locked, and edited since: put back tests/test_div.py";
    assert!(summary(&ran).contains(says), "{}", summary(&ran));
}

#[test]
#[ignore = "minutes: projects with real test runners"]
fn a_compiled_test_may_lack_the_names_that_the_task_adds() {
    let test = |name: &str| {
        format!(
            "printf '#[test]\\nfn divides() {{ assert_eq!({name}(7, 2), 3); }}\\n' >tests/div.rs\n"
        )
    };
    let cargo = |tests: &str| {
        let code = "printf 'pub fn div(a: i64, b: i64) -> i64 { a / b }\\n' >>src/lib.rs\n";
        let manifest = "[package]\nname = \"calc\"\nversion = \"0.1.0\"\nedition = \"2021\"\n";
        with_agent(gate(&format!("{RUN} -- ./agent.sh")), tests, code)
            .settings("[checks.tests]\ncommand = [\"cargo\", \"test\", \"--offline\"]\n")
            .file("Cargo.toml", manifest)
            .file("src/lib.rs", "pub fn add(a: i64, b: i64) -> i64 { a + b }\n")
            .file("tests/add.rs", "#[test]\nfn adds() { assert_eq!(calc::add(1, 2), 3); }\n")
            .committed()
    };
    let ran = cargo(&test("calc::div")).code(0);
    assert_eq!(ran.json()["tests_first"]["files"], json!(["tests/div.rs"]));
    let card = shown(&ran, "last");
    assert!(card.contains("tests written first 1, old tests 1 of 1"), "{card}");
    let ran = cargo(&test("nowhere::div")).code(1);
    assert!(summary(&ran).contains("a test has to load"), "{}", summary(&ran));
    // A module of tests in a source of the product is a test, and what stands beside it is not.
    let inside = "printf '#[cfg(test)]\\nmod tests {\\n    #[test]\\n    fn divides() { \
                  assert_eq!(crate::add(7, 2), 3); }\\n}\\n' >>src/lib.rs\n";
    let ran = cargo(inside).code(1);
    assert_eq!(ran.json()["tests_first"]["tests"], json!(["calc::tests::divides"]));
    // To old tests in a source whole tests may be added.
    let more = "sed -i 's/^    #.test.$/    #[test]\\n    fn more() { assert_eq!(crate::add(1, 1), 3); }\\n    #[test]/' src/lib.rs\n";
    let with_tests = |more: &str| cargo(more).file("src/lib.rs", SOURCE).committed();
    let ran = with_tests(more).code(1);
    assert_eq!(ran.json()["tests_first"]["tests"], json!(["calc::tests::more"]));
    let weaker = format!("{more}sed -i 's/add(1, 2), 3/add(1, 2), 1 + 2/' src/lib.rs\n");
    let ran = with_tests(&weaker).code(1);
    assert!(summary(&ran).contains("undo the changes of src/lib.rs"), "{}", summary(&ran));
    let ran = cargo(&format!("{inside}printf 'pub fn new() {{}}\\n' >>src/lib.rs\n")).code(1);
    assert!(summary(&ran).contains("undo the changes of src/lib.rs"), "{}", summary(&ran));
}

#[test]
#[ignore = "minutes: projects with real test runners"]
fn an_item_in_draft_gets_its_tests() {
    if !needs("pytest") {
        return;
    }
    let says = |phase: &str| {
        format!(
            "{{\"protocol\":\"apm2_agent_exit\",\"version\":\"1.0.0\",\
             \"phase_completed\":\"{phase}\",\"exit_reason\":\"completed\",\"notes\":\"x\"}}\n"
        )
    };
    let tools = |run: Run| tools(run).env("AGENT_EXIT_PROTOCOL_ENABLED", "true");
    let added = project("work add W-1 --title Div --file PROMPT.md --phase DRAFT", NEW_TEST, CODE);
    let added = added.file("says.json", says("DRAFT")).committed().code(0);
    let words = "run --work --tests-first --json -- ./agent.sh";
    let ran = tools(added.again(words)).code(0);
    let end = ran.json();
    assert_eq!(
        (&end["work"]["next_phase"], &end["tests_first"]["locked"]),
        (&"IMPLEMENTATION".into(), &true.into())
    );
    assert!(ran.file("prompt").contains("Its phase is DRAFT: write its tests."));
    let ran = tools(ran.again(words)).file("says.json", says("IMPLEMENTATION")).code(0);
    assert_eq!(ran.json()["work"]["next_phase"], "CI_PENDING");
    let card = shown(&ran, "last");
    assert!(card.contains("tests written first 1, old tests 1 of 1"), "{card}");
    assert!(shown(&ran, "log").contains("task W-1"), "{}", shown(&ran, "log"));
}

#[test]
fn without_a_terminal_or_tests_to_read_no_agent_starts() {
    let agent = |words: &str| gate(words).script("agent.sh", "#!/bin/sh\ntouch started\n");
    let words = "run --task t1 --tests-first --prompt PROMPT.md -- ./agent.sh";
    let unreadable = "[checks.tests]\ncommand = [\"sh\", \"-c\", \"exit 1\"]\ncontrol = false\n";
    let run = agent(words).settings(unreadable).file("PROMPT.md", "x\n").committed();
    let ran = run.code(2).tells("no check runs tests that gate knows how to read");
    assert!(!ran.path("started").exists());
    let words = words.replace("--tests-first", "--tests-first --confirm");
    let run = agent(&words).settings(SETTINGS).file("PROMPT.md", "x\n").committed();
    let ran = run.stdin("y\n").code(2).tells("nobody is at the terminal");
    assert!(!ran.path("started").exists());
    for (flag, needed) in [("--tests-by codex", "--tests-first"), ("--confirm", "--tests-first")] {
        let words = format!("run --task t1 {flag} -- ./agent.sh");
        agent(&words).settings(SETTINGS).code(2).tells(needed);
    }
    let words = "run --task t1 --tests-first --tests-by specstory --prompt PROMPT.md -- ./agent.sh";
    let run = agent(words).settings(SETTINGS).file("PROMPT.md", "x\n").committed();
    run.code(2).tells("does not know how to start specstory");
}
