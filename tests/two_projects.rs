//! Verified tests from a baseline to the end of the work, as a loop meets them: a project in Python
//! and one in Rust. Each is built once, and each step goes on from the one before.

use serde_json::{Value, json};

use crate::fooled::{surroundings, tools};
use crate::needs::needs;
use crate::support::{DONE, Ran, each, judge};

/// A project with two tests, of which one fails: to make it pass is the task.
struct Project {
    command: &'static str,
    files: &'static [(&'static str, &'static str)],
    test_file: &'static str,
    /// The test that fails, as its runner names it.
    failing_test: &'static str,
    /// A script that makes the failing test pass by what it expects.
    weaken: &'static str,
    /// A script that makes the command end with code 0, and the one that takes that back.
    fool: &'static str,
    take_back: &'static str,
    /// What the fooled command comes to: the outcome, a part of the summary, and the reason.
    fooled_outcome: &'static str,
    fooled_summary: &'static str,
    fooled_reason: &'static str,
    repair: &'static str,
    /// A script that changes the product, and its test with it.
    change: &'static str,
}

const PYTHON: Project = Project {
    command: "python3 -m pytest -q",
    files: &[
        ("calc.py", "def add(a, b):\n    return a - b\n"),
        (
            "tests/test_calc.py",
            "from calc import add\n\n\ndef test_add():\n    assert add(2, 2) == 4\n\n\n\
             def test_zero():\n    assert add(0, 0) == 0\n",
        ),
    ],
    test_file: "tests/test_calc.py",
    failing_test: "tests/test_calc.py::test_add",
    weaken: "sed -i 's/== 4/== 0/' tests/test_calc.py",
    fool: "cat > conftest.py <<'X'
def pytest_collection_modifyitems(items):
    items[:] = [item for item in items if item.name != 'test_add']
X",
    take_back: "rm conftest.py",
    fooled_outcome: "fail",
    fooled_summary: "1 of 2 failed: tests/test_calc.py::test_add; without what is new: conftest.py",
    fooled_reason: "tests-changed",
    repair: "sed -i 's/a - b/a + b/' calc.py",
    change: "sed -i 's/a + b/2 * (a + b)/' calc.py; sed -i 's/== 4/== 8/' tests/test_calc.py",
};

const RUST: Project = Project {
    command: "cargo test --offline",
    files: &[
        (
            "Cargo.toml",
            "[package]\nname = \"thing\"\nversion = \"0.1.0\"\nedition = \"2024\"\n[workspace]\n",
        ),
        ("src/lib.rs", "pub fn add(a: i32, b: i32) -> i32 {\n    a - b\n}\n"),
        (
            "tests/sums.rs",
            "#[test]\nfn zero() {\n    assert_eq!(thing::add(0, 0), 0);\n}\n\n\
             #[test]\nfn adds() {\n    assert_eq!(thing::add(2, 2), 4);\n}\n",
        ),
    ],
    test_file: "tests/sums.rs",
    failing_test: "sums::adds",
    weaken: "sed -i 's/2), 4/2), 0/' tests/sums.rs",
    fool: "mkdir .cargo; printf '[target.\"cfg(all())\"]\\nrunner = \"true\"\\n' > .cargo/config.toml",
    take_back: "rm -r .cargo",
    fooled_outcome: "inconclusive",
    fooled_summary: "exit code 0, but the report is incomplete",
    fooled_reason: "required-check-inconclusive",
    repair: "sed -i 's/a - b/a + b/' src/lib.rs",
    change: "sed -i 's/a + b/2 * (a + b)/' src/lib.rs; sed -i 's/2), 4/2), 8/' tests/sums.rs",
};

#[test]
fn a_project_in_python_ends_when_its_tests_say_so() {
    if needs("pytest") {
        story(&PYTHON);
    }
}

#[test]
fn a_project_in_rust_ends_when_its_tests_say_so() {
    story(&RUST);
}

/// What the next claim of a loop comes to, after its agent ran this script.
#[track_caller]
fn claims(ran: Ran, run: &str, script: &str, code: i32) -> Ran {
    let check = format!("check --json --run {run} out.log");
    tools(ran.again(&check).setup(script)).code(code)
}

fn evidence(ran: &Ran) -> Value {
    ran.json()["evidence"][0].clone()
}

#[track_caller]
fn says(evidence: &Value, outcome: &str, part: &str) {
    let summary = evidence["summary"].as_str().unwrap();
    assert!(evidence["outcome"] == outcome && summary.contains(part), "{part:?}: {evidence:#}");
}

/// A person is asked about the failing test, and is told how to approve it.
#[track_caller]
fn waits_for_a_person(ran: &Ran, project: &Project) {
    let decision = ran.json();
    assert_eq!(decision["verdict"], "continue", "{decision:#}");
    assert_eq!(each(&decision, "reasons", "code"), ["tests-changed"], "{decision:#}");
    let step = format!("`gate approve {} --reason …`", project.failing_test);
    let next = decision["next"].as_str().unwrap();
    assert!(next.starts_with(&step), "{next}");
}

#[track_caller]
fn story(project: &Project) {
    let words: Vec<_> = project.command.split_whitespace().collect();
    let settings = format!("[checks.tests]\ncommand = {}\n", json!(words));
    let run = judge("baseline", DONE).settings(&settings);
    let run = project.files.iter().fold(run, |run, (name, text)| run.file(name, text));
    let ignored = "target\n__pycache__\n.pytest_cache\nout.log\n";
    let ran = tools(run.file(".gitignore", ignored).committed()).code(0).says("baseline blake3:");
    let red = format!("1 of 2 failed: {}", project.failing_test);

    // Nothing was done.
    let ran = claims(ran, "idle", "true", 1);
    let decision = ran.json();
    assert_eq!(decision["reasons"][0]["code"], "required-check-failed", "{decision:#}");
    says(&evidence(&ran), "fail", &red);
    assert_eq!(evidence(&ran)["detail"]["tests"]["control"], "none", "no pass has to be proved");
    let test = project.failing_test.rsplit("::").next().unwrap();
    assert!(decision["feedback"].as_str().unwrap().contains(test), "{decision:#}");

    // The test is made to say what the product does: its old version decides.
    let ran = claims(ran, "weakened", project.weaken, 1);
    waits_for_a_person(&ran, project);
    says(&evidence(&ran), "fail", &red);
    says(&evidence(&ran), "fail", "as in the baseline");
    assert_eq!(evidence(&ran)["detail"]["tests"]["overlaid"], json!([project.test_file]));

    // The command is green, for the failing test is not run.
    let fool = format!(
        "git checkout -q {}; {}\nexport {}; {}",
        project.test_file,
        project.fool,
        surroundings(),
        project.command
    );
    let ran = claims(ran, "fooled", &fool, 1);
    says(&evidence(&ran), project.fooled_outcome, project.fooled_summary);
    assert_eq!(ran.json()["reasons"][0]["code"], project.fooled_reason, "{}", ran.stdout);

    // The work is done: the tests pass, and those that gate plants fail as they must.
    let repair = format!("{}; {}; git commit -qam right", project.take_back, project.repair);
    let ran = claims(ran, "repaired", &repair, 0);
    let passed = evidence(&ran);
    let decision = ran.json();
    assert_eq!((&decision["verdict"], &decision["verified"]), (&json!("exit"), &json!(true)));
    says(&passed, "pass", "2 passed");
    let tests = &passed["detail"]["tests"];
    assert_eq!(tests["control"], "failed-as-it-must", "{passed:#}");
    assert_eq!(tests["baseline"]["known"], true, "{passed:#}");
    assert_eq!(passed["exit_code"], 0);
    assert_ne!(tests["exit_code_with_control"], 0, "{passed:#}");

    // Another behaviour, and its test: once a person approves.
    let ran = claims(ran, "changed", project.change, 1);
    waits_for_a_person(&ran, project);
    let ran = ran.again(&format!("approve {} --reason asked-for", project.test_file)).code(0);
    let ran = claims(ran, "changed", "true", 0);
    let decision = ran.json();
    assert_eq!(decision["verdict"], "exit");
    assert_eq!(decision["approved"][0]["file"], project.test_file, "{decision:#}");
    says(&evidence(&ran), "pass", "2 passed");
    ran.again("ledger verify").code(0);
}
