//! Old tests that the task contradicts: what a person sealed, or wrote as a criterion, takes their places.

use serde_json::{Value, json};

use crate::fooled::tools;
use crate::needs::needs;
use crate::support::{DONE, Ran, Run, judge};

const SETTINGS: &str = "[checks.tests]\ncommand = [\"python3\", \"-m\", \"pytest\", \"-q\"]\n";

/// The task asks for one more, which the old `test_one` denies.
const OLD: &str = "import calc\n\n\ndef test_one():\n    assert calc.f(1) == 1\n\n\n\
                   def test_zero():\n    assert calc.f(0) == 0\n";

const SEALED: &str = "import calc\n\n\ndef test_one():\n    assert calc.f(1) == 2\n";

const RIGHT: &str = "def f(n):\n    return n and n + 1\n";

fn project(settings: &str) -> Run {
    tools(judge("baseline", DONE))
        .file("calc.py", "def f(n):\n    return n\n")
        .file("conftest.py", "")
        .file("tests/test_calc.py", OLD)
        .file(".gitignore", "__pycache__\n.pytest_cache\nout.log\n")
        .settings(settings)
        .committed()
}

fn criterion(supersedes: &str) -> String {
    let verify = "[\"python3\", \"-c\", \"import calc; assert calc.f(1) == 2\"]";
    format!(
        "{SETTINGS}[[criteria]]\nid = \"more\"\ntext = \"One more\"\nverify = {verify}\n\
         supersedes = [{supersedes:?}]\n"
    )
}

/// The next loop's check after this change of calc.py, and of the tests by a script.
fn check(ran: Ran, python: &str, script: &str) -> Ran {
    let run = ran.again("check --json --new-run out.log").file("calc.py", python);
    tools(run).setup(&format!("{script}\ngit add -A; git commit -qm work")).run()
}

fn tests_detail(decision: &Value) -> Value {
    let found = decision["evidence"].as_array().unwrap().iter().find(|one| one["check"] == "tests");
    found.unwrap()["detail"]["tests"].clone()
}

#[track_caller]
fn ends(ran: &Ran) {
    assert_eq!(ran.json()["verdict"], "exit", "{}", ran.out());
    assert!(!ran.out().contains("tests-changed"), "{}", ran.out());
}

#[test]
fn a_sealed_file_stands_in_the_place_of_an_old_one() {
    if !needs("pytest") {
        return;
    }
    // The command names its files, so that the sealed ones cannot run alone.
    let named = SETTINGS.replace("\"-q\"", "\"-q\", \"tests/test_calc.py\"");
    let settings = format!("{named}sealed = \"../sealed\"\n");
    let ran = project(&settings).file("../sealed/tests/test_calc.py", SEALED).code(0);
    let ran = check(ran, "def f(n):\n    return n + 2 if n else 0\n", "");
    let decision = ran.json();
    assert_eq!(decision["reasons"][0]["code"], "sealed-tests-failed", "{decision}");
    let ran = check(ran, RIGHT, "");
    ends(&ran);
    let detail = tests_detail(&ran.json());
    let note = json!([{ "test": "tests/test_calc.py::test_one", "by": "a sealed file" }]);
    assert_eq!((&detail["superseded"], &detail["sealed"]["total"]), (&note, &json!(1)));
    let ran = ran.again("last").code(0);
    ran.says("sealed 1 of 1 (readable by the agent), old tests 1 of 2 (1 superseded)");
}

#[test]
#[ignore = "minutes: projects with real test runners"]
fn a_test_that_a_person_let_go_is_no_sealed_failure() {
    if !needs("pytest") {
        return;
    }
    let red = "\n\ndef test_red():\n    assert calc.f(5) == 7\n";
    let settings = format!("{SETTINGS}sealed = \"../sealed\"\n");
    let run = project(&settings).file("tests/test_calc.py", format!("{OLD}{red}"));
    let run = run.file("../sealed/tests/test_calc.py", format!("{SEALED}{red}"));
    let ran = run.code(0).tells("red before the agent begins: tests/test_calc.py::test_red");
    let ran = ran.again("approve tests/test_calc.py::test_red").code(0);
    let ran = check(ran, RIGHT, "");
    ends(&ran);
    assert_eq!(tests_detail(&ran.json())["sealed"]["total"], 1);
    // Approved was the old test, and not what a person seals under its name.
    let other = red.replace("== 7", "== 8");
    let ran = ran.again("seal add tests ../sealed");
    let ran = tools(ran).file("../sealed/tests/test_calc.py", format!("{SEALED}{other}")).code(0);
    let ran = check(ran, &format!("{RIGHT}# 2\n"), "");
    assert_eq!(ran.json()["reasons"][0]["code"], "sealed-tests-failed", "{}", ran.out());
}

#[test]
fn a_criterion_supersedes_the_tests_that_it_names() {
    if !needs("pytest") {
        return;
    }
    let ran = project(&criterion("test_one")).code(0);
    let ran = check(ran, "def f(n):\n    return n + 1\n", "");
    let decision = ran.json();
    assert_eq!(decision["verdict"], "continue");
    let failed = &tests_detail(&decision)["failed_tests"];
    assert_eq!(failed, &json!(["tests/test_calc.py::test_zero"]), "the other one counts");
    let ran = check(ran, RIGHT, "");
    ends(&ran);
    let note = json!([{ "test": "tests/test_calc.py::test_one", "by": "the criterion more" }]);
    assert_eq!(tests_detail(&ran.json())["superseded"], note);
}

#[test]
#[ignore = "minutes: projects with real test runners"]
fn the_agent_may_edit_them_and_remove_them() {
    if !needs("pytest") {
        return;
    }
    for script in
        ["sed -i 's/f(1) == 1/f(1) == 2/' tests/test_calc.py", "sed -i 4,7d tests/test_calc.py"]
    {
        let ran = project(&criterion("tests/test_calc.py::test_one")).code(0);
        ends(&check(ran, RIGHT, script));
    }
    // What else was weakened there still waits for a person.
    let ran = project(&criterion("test_one")).code(0);
    let weaker = "sed -i 's/f(0) == 0/f(0) == 1/' tests/test_calc.py";
    let ran = check(ran, "def f(n):\n    return n + 1\n", weaker);
    let decision = ran.json();
    assert_eq!(decision["reasons"][0]["code"], "tests-changed", "{decision}");
    let changed = &tests_detail(&decision)["changed"];
    let expected = json!([{
        "file": "tests/test_calc.py", "tests": ["tests/test_calc.py::test_zero"]
    }]);
    assert_eq!(changed, &expected, "the superseded one is not named");
}

#[test]
#[ignore = "minutes: projects with real test runners"]
fn old_text_that_does_not_build_any_more_is_left_out() {
    if !needs("go") {
        return;
    }
    let test = |name: &str, call: &str| {
        format!(
            "package calc\n\nimport \"testing\"\n\nfunc {name}(t *testing.T) {{\n\tif {call} {{\n\
             \t\tt.Fatal()\n\t}}\n}}\n"
        )
    };
    let settings =
        "[checks.tests]\ncommand = [\"go\", \"test\", \"./...\"]\nsealed = \"../sealed\"\n";
    let run = tools(judge("baseline", DONE)).file(".gitignore", "out.log\n");
    let run = run
        .file("go.mod", "module calc\n\ngo 1.19\n")
        .file("calc.go", "package calc\n\nfunc F(a int) int { return a }\n")
        .file("calc_test.go", test("TestF", "F(1) != 1"))
        .file("more_test.go", test("TestMore", "1 > 2"))
        .file("../sealed/calc_test.go", test("TestF", "F(1, 2) != 3"));
    let mut ran = run.settings(settings).committed().code(0);
    for (sign, verdict) in [("-", "continue"), ("+", "exit")] {
        let work = format!("package calc\n\nfunc F(a, b int) int {{ return a {sign} b }}\n");
        let run = ran.again("check --json --new-run out.log").file("calc.go", work);
        ran = tools(run).setup("git commit -qam work").run();
        assert_eq!(ran.json()["verdict"], verdict, "{}", ran.out());
    }
}

#[test]
fn what_supersedes_is_approved_and_names_a_test() {
    if !needs("pytest") {
        return;
    }
    let ran = project(&criterion("test_none")).code(0);
    let ran = ran.tells("criterion more supersedes test_none, which is no test of the baseline");
    // An agent's own setting counts for nothing.
    let ran = check(ran, RIGHT, "sed -i s/test_none/test_one/ gate.toml");
    assert_eq!(ran.json()["verdict"], "continue", "{}", ran.out());
    let empty = criterion("").replace("[\"\"]", "[]");
    let ran = judge("check out.log", DONE).unapproved(&empty).code(2);
    ran.tells("`criteria[0].supersedes`: the list is empty, at least one is needed");
}

#[test]
fn a_name_that_the_agent_writes_where_a_sealed_file_goes_supersedes_nothing() {
    if !needs("go") {
        return;
    }
    let test = |name: &str, fault: &str| {
        let body = format!("\tif {fault} {{\n\t\tt.Fatal()\n\t}}\n");
        format!("package sum\n\nimport \"testing\"\n\nfunc {name}(t *testing.T) {{\n{body}}}\n")
    };
    let product = |rounded: &str| {
        let add = "func Add(a, b int) int { return a + b }";
        format!("package sum\n\n{add}\n\nfunc Round(n int) int {{ return {rounded} }}\n")
    };
    let command = "command = [\"go\", \"test\", \"./...\"]\nsealed = \"../sealed\"\n";
    let ran = tools(judge("baseline", DONE))
        .file("go.mod", "module sum\n\ngo 1.19\n")
        .file("sum.go", product("n"))
        .file("a_test.go", test("TestAdd", "Add(1, 1) != 2"))
        .file("b_test.go", test("TestRound", "Round(3) != 3"))
        .file("../sealed/a_test.go", test("TestAdd", "Add(2, 1) != 3"))
        .file(".gitignore", "out.log\n")
        .settings(&format!("[checks.tests]\n{command}"))
        .committed()
        .code(0);
    let emptied =
        format!("{}\nfunc TestRound(t *testing.T) {{}}\n", test("TestAdd", "Add(1, 1) != 2"));
    let run = ran
        .again("check --json --new-run out.log")
        .file("sum.go", product("n + 1"))
        .file("b_test.go", "package sum\n")
        .file("a_test.go", emptied);
    let ran = tools(run).setup("git add -A; git commit -qm work").run();
    assert_eq!(ran.json()["verdict"], "continue", "{}", ran.out());
}
