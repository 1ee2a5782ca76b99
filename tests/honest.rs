//! Honest work, and what gate's own tests around it must not hold against it.

use serde_json::json;

use crate::fooled::{Attack, comes_to, names_a_control};
use crate::needs::needs;
use crate::support::{DONE, judge};

const CALC: &str = "def add(a, b):\n    return a - b\n";

const RIGHT: &str = "printf 'def add(a, b):\\n    return a + b\\n' > calc.py; ";

const TESTS: &str = "from calc import add\n\n\ndef test_add():\n    assert add(2, 2) == 4\n\n\n\
                     def test_zero():\n    assert add(0, 0) == 0\n";

/// What an agent did that has repaired the sum.
#[track_caller]
fn honest(settings: &str, act: &str, says: &str) -> serde_json::Value {
    let act = format!("{RIGHT}{act}");
    let files = [("calc.py", CALC), ("tests/test_calc.py", TESTS)];
    let command = "python3 -m pytest -q";
    let work = Attack { command, settings, files: &files, act: &act };
    let evidence = comes_to(work.run().setup(command), "pass", says);
    let tests = &evidence["detail"]["tests"];
    assert_eq!(tests["control"], "failed-as-it-must", "{evidence:#}");
    assert_eq!(tests["baseline"]["known"], true, "{evidence:#}");
    assert_eq!((&evidence["exit_code"], &tests["exit_code_with_control"]), (&json!(0), &json!(1)));
    let tells = evidence.to_string();
    let controls = tests["controls"].as_array().unwrap();
    assert_eq!(controls[..2], ["raise", "assertion"], "{evidence:#}");
    // A file that was moved is new.
    let is_moved = !tests["baseline"]["moved"].as_array().unwrap().is_empty();
    assert_eq!(controls.len(), if is_moved { 2 } else { 3 }, "{evidence:#}");
    assert!(!names_a_control(&tells) && !tells.contains("/workspace/"), "{tells}");
    evidence
}

#[test]
#[ignore = "minutes: projects with real test runners"]
fn work_on_sources_and_new_tests() {
    if !needs("pytest") {
        return;
    }
    honest("", "true", "2 passed");
    honest("", "printf 'def test_new():\\n    pass\\n' > tests/test_new.py", "3 passed");
    honest(
        "",
        "git add -A; git -c user.name=a -c user.email=a commit -qm done; touch later",
        "2 passed",
    );
    // Its own tests have to pass as well.
    let act = format!(
        "{RIGHT} printf '\\n\\ndef test_new():\\n    assert add(1, 1) == 3\\n' >> tests/test_calc.py"
    );
    let files = [("calc.py", CALC), ("tests/test_calc.py", TESTS)];
    let work = Attack { command: "python3 -m pytest -q", settings: "", files: &files, act: &act };
    comes_to(work.run(), "fail", "1 of 3 failed: tests/test_calc.py::test_new");
}

#[test]
#[ignore = "minutes: projects with real test runners"]
fn work_on_test_files() {
    if !needs("pytest") {
        return;
    }
    let moved = honest("", "mkdir tests/unit; mv tests/test_calc.py tests/unit/", "2 passed");
    let names = ["tests/test_calc.py::test_add", "tests/test_calc.py::test_zero"];
    assert_eq!(moved["detail"]["tests"]["baseline"]["moved"], json!(names));
    assert_eq!(moved["detail"]["tests"]["overlaid"], json!([]));
    let format = "sed -i 's/== 4/==  4/; s/^$/# here/' tests/test_calc.py";
    let edited = honest("", format, "2 passed");
    assert_eq!(edited["detail"]["tests"]["overlaid"], json!(["tests/test_calc.py"]));
    // A helper that is new, and new tests that need it: they run with the tree's own tests.
    let helper = "printf 'import pytest\\n@pytest.fixture\\ndef two():\\n    return 2\\n' > tests/conftest.py; \
                  printf '\\n\\ndef test_two(two):\\n    assert add(two, two) == 4\\n' >> tests/test_calc.py; \
                  printf 'def test_more(two):\\n    assert two\\n' > tests/test_more.py";
    honest("", helper, "4 passed");
}

#[test]
#[ignore = "minutes: projects with real test runners"]
fn what_the_operator_lets_change() {
    if !needs("pytest") {
        return;
    }
    let rename = "sed -i 's/test_zero/test_nothing/' tests/test_calc.py";
    let path = "[[integrity.allow]]\npath = \"tests/**\"\nreason = \"they are renamed\"\n";
    let allowed = honest(path, rename, "2 passed");
    let baseline = &allowed["detail"]["tests"]["baseline"];
    assert_eq!(baseline["allowed"], json!(["tests/test_calc.py::test_zero"]), "{allowed:#}");
    let leaves_out = "cat > conftest.py <<'X'
def pytest_collection_modifyitems(items):
    items[:] = [item for item in items if item.name != 'test_zero']
X";
    let test = "[[integrity.allow]]\ntest = \"test_z*\"\nreason = \"nobody needs it\"\n";
    honest(test, leaves_out, "1 passed");
}

#[test]
#[ignore = "minutes: projects with real test runners"]
fn outside_of_git_there_is_a_control_alone() {
    if !needs("pytest") {
        return;
    }
    let settings = "[checks.tests]\ncommand = [\"python3\", \"-m\", \"pytest\", \"-q\"]\n";
    let run = judge("check --json out.log", DONE).settings(settings);
    let run = run.file("test_a.py", "def test_a():\n    pass\n");
    let evidence = comes_to(run, "pass", "1 passed");
    let tests = &evidence["detail"]["tests"];
    assert_eq!(
        (&tests["control"], &tests["baseline"]),
        (&json!("failed-as-it-must"), &json!(null))
    );
}

#[test]
#[ignore = "minutes: projects with real test runners"]
fn a_runner_that_ends_early_goes_on() {
    if !needs("pytest") {
        return;
    }
    let files = [
        ("calc.py", "def add(a, b):\n    return a + b\n"),
        ("tests/test_calc.py", TESTS),
        ("pytest.ini", "[pytest]\naddopts = -x\n"),
    ];
    let command = "python3 -m pytest -q -x";
    let work = Attack { command, settings: "", files: &files, act: "true" };
    let evidence = comes_to(work.run(), "pass", "2 passed");
    assert_eq!(evidence["detail"]["tests"]["control"], "failed-as-it-must");
}

#[test]
#[ignore = "minutes: projects with real test runners"]
fn what_git_ignores_is_not_evidence() {
    if !needs("pytest") {
        return;
    }
    let files = [
        ("calc.py", CALC),
        ("tests/test_made.py", "import made\n\n\ndef test_made():\n    assert made.x\n"),
        (".gitignore", "made.py\n"),
    ];
    let command = "python3 -m pytest -q";
    let act = "echo made.py >> .git/info/exclude; echo made.py >> .gitignore; echo 'x = 1' > made.py; \
               git add .gitignore; git -c user.name=a -c user.email=a commit -qm ignored";
    let work = Attack { command, settings: "", files: &files, act };
    work.is_seen("inconclusive", "it passes in the work tree alone");
    let work = Attack { settings: "control = false\n", ..work };
    let evidence = comes_to(work.run(), "pass", "1 passed");
    assert_eq!(evidence["detail"]["tests"]["control"], json!(null));
}

#[test]
#[ignore = "minutes: projects with real test runners"]
fn a_second_run_writes_only_what_changed() {
    let settings = "[checks.tests]\ncommand = [\"cargo\", \"test\", \"--offline\"]\n";
    let manifest =
        "[package]\nname = \"thing\"\nversion = \"0.1.0\"\nedition = \"2024\"\n[workspace]\n";
    let files = [("Cargo.toml", manifest), ("src/lib.rs", "#[test]\nfn holds() {}\n")];
    let work = Attack { command: "cargo test --offline", settings: "", files: &files, act: "true" };
    let ran = work.run().settings(settings).code(0);
    let homes = |run: crate::support::Run| {
        let home = std::env::var("HOME").unwrap();
        ["CARGO_HOME", "RUSTUP_HOME"].into_iter().zip([".cargo", ".rustup"]).fold(
            run,
            |run, (name, usual)| {
                run.env(name, std::env::var(name).unwrap_or(format!("{home}/{usual}")))
            },
        )
    };
    let again = homes(ran.again("check --json --no-cache out.log")).code(0);
    let log = again.json()["evidence"][0]["log"].as_str().unwrap().to_owned();
    let log = std::fs::read_to_string(log).unwrap();
    let compiled = log.lines().filter(|line| line.trim().starts_with("Compiling")).count();
    // The control's own program alone.
    assert!(compiled <= 1 && !log.contains("/workspace/"), "{log}");
    let state = again.path("../home/.local/state/gate");
    let names = "-regextype posix-extended -regex '.*/[^/]*[a-z]_[0-9a-f]{16}[^/]*'";
    let find = format!("find '{}' {names}", state.display());
    let left = std::process::Command::new("sh").args(["-c", &find]).output().unwrap();
    assert_eq!(String::from_utf8_lossy(&left.stdout), "", "nothing of a control stays");
}
