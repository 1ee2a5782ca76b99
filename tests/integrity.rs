//! The check `integrity`, from outside: what gets around the checks is found, and
//! honest work is left alone.

use serde_json::Value;

use crate::support::{DONE, Ran, Run, each, judge};

const CHECK: &str = "check --json --only integrity out.log";

/// A project with something of everything.
fn project(more: &str) -> Run {
    let settings = format!(
        "[checks.integrity]\n[checks.acceptance_criteria]\nfiles = [\"plan.md\"]\nmode = \"warn\"\n{more}"
    );
    judge("baseline", DONE)
        .settings(&settings)
        .file("src/app.py", "import json\n\n\ndef f(a):\n    return a * 2\n")
        .file("src/lib.rs", "pub fn f(a: u8) -> u8 { a }\n#[cfg(test)]\nmod tests {\n    #[test]\n    fn a() {\n        assert_eq!(super::f(2), 2);\n    }\n}\n")
        .file("src/app.test.ts", "it('doubles', () => {\n  expect(f(2)).toBe(4)\n})\n")
        .file("tests/test_app.py", "from app import f\n\n\ndef test_f():\n    assert f(2) == 4\n\n\ndef test_g():\n    assert f(3) == 6\n")
        .file("tests/data/in.json", "{\"a\": 1}\n")
        .file("tests/check.sh", "set -e\npython -m pytest\n")
        .file("pyproject.toml", "[project]\nname = \"a\"\ndependencies = [\"pandas\"]\n\n[tool.pytest.ini_options]\ntestpaths = [\"tests\"]\n")
        .file("package.json", "{\"scripts\": {\"test\": \"jest\"}, \"dependencies\": {\"a\": \"1.0.0\"}}\n")
        .file("Cargo.toml", "[package]\nname = \"a\"\nversion = \"0.1.0\"\n")
        .file("Makefile", "test:\n\tpytest\n")
        .file(".github/workflows/ci.yml", "on: push\n")
        .file(".claude/settings.json", "{\"hooks\": {}}\n")
        .file("plan.md", "- [ ] double\n- [x] begin\n")
        .file("README.md", "# a\n")
        .committed()
}

/// What the check says after something was done to the project.
fn after(done: &str) -> Ran {
    after_with("", done)
}

fn after_with(more: &str, done: &str) -> Ran {
    project(more).code(0).again(CHECK).setup(done).run()
}

fn evidence(ran: &Ran) -> Value {
    let record = ran.json();
    let all = record["evidence"].as_array().unwrap();
    all.iter().find(|it| it["check"] == "integrity").unwrap().clone()
}

/// The rules that were hit, other than those that only warn.
fn rules(evidence: &Value) -> Vec<String> {
    let findings = evidence["detail"]["findings"].as_array().into_iter().flatten();
    let deciding = findings.filter(|it| it["severity"] != "warn");
    deciding.map(|it| it["rule"].as_str().unwrap().to_owned()).collect()
}

/// What is done, what comes of it, and the rule that finds it.
const ATTACKS: &[(&str, &str, &str, &str)] = &[
    ("a test is deleted", "sed -i '/def test_g/,$d' tests/test_app.py", "fail", "test-removed"),
    ("a file of tests is deleted", "rm tests/test_app.py", "fail", "test-removed"),
    (
        "a test is skipped",
        "sed -i 's/^def test_g/@pytest.mark.skip\\n&/' tests/test_app.py",
        "fail",
        "skip-python",
    ),
    ("a test is focused", "sed -i 's/^it(/it.only(/' src/app.test.ts", "fail", "only-js"),
    (
        "a test is made to wait",
        "sed -i \"s/^it('doubles', /&{ todo: true }, /\" src/app.test.ts",
        "fail",
        "skip-js",
    ),
    ("an expectation is changed", "sed -i 's/== 4/== 5/' tests/test_app.py", "fail", "test-edited"),
    (
        "a failure is swallowed",
        "sed -i 's/    assert f(2) == 4/    try:\\n        assert f(2) == 4\\n    except AssertionError:\\n        pass/' tests/test_app.py",
        "fail",
        "test-edited",
    ),
    (
        "a test is to panic",
        "sed -i 's/    #\\[test\\]/&\\n    #[should_panic]/' src/lib.rs",
        "fail",
        "flip-rust",
    ),
    (
        "a plug-in rewrites outcomes",
        "printf 'def pytest_runtest_makereport(item, call):\\n    pass\\n' > tests/conftest.py",
        "fail",
        "deselect-python",
    ),
    (
        "tests are deselected",
        "printf 'addopts = \"-k not_g\"\\n' >> pyproject.toml",
        "fail",
        "manifest-key",
    ),
    (
        "settings of a runner appear",
        "printf '[pytest]\\naddopts = --co\\n' > pytest.ini",
        "tamper",
        "runner-settings",
    ),
    (
        "a runner's program is another",
        "mkdir .cargo; printf '[target.x]\\nrunner = \"true\"\\n' > .cargo/config.toml",
        "tamper",
        "runner-settings",
    ),
    (
        "tests of a crate are switched off",
        "printf '[lib]\\ntest = false\\n' >> Cargo.toml",
        "fail",
        "manifest-key",
    ),
    ("a file hides a target", "touch test", "fail", "shadows-target"),
    (
        "a recipe's failure is ignored",
        "sed -i 's/\\tpytest/\\t-pytest/' Makefile",
        "fail",
        "manifest-key",
    ),
    ("make ignores failures", "printf 'MAKEFLAGS = -i\\n' >> Makefile", "fail", "manifest-key"),
    (
        "a script of tests is narrowed",
        "sed -i 's/jest/jest one/' package.json",
        "fail",
        "manifest-key",
    ),
    (
        "a snapshot is accepted",
        "printf '{\"a\": 2}\\n' > tests/data/in.json",
        "fail",
        "support-edited",
    ),
    (
        "a threshold is lowered",
        "printf '[tool.coverage.report]\\nfail_under = 1\\n' >> pyproject.toml",
        "fail",
        "manifest-key",
    ),
    (
        "a type error is suppressed",
        "printf 'x: int = \"a\"  # type: ignore\\n' >> src/app.py",
        "fail",
        "suppress-python",
    ),
    (
        "the tests' run is noticed",
        "printf 'import sys\\nif \"pytest\" in sys.modules:\\n    f = {2: 4}.get\\n' >> src/app.py",
        "fail",
        "detect-python",
    ),
    (
        "equality is constant",
        "printf 'class E(int):\\n    def __eq__(self, other):\\n        return True\\n' >> src/app.py",
        "fail",
        "equal-python",
    ),
    ("a stub is left", "printf 'pub fn g() { to''do!() }\\n' > src/g.rs", "fail", "stub-rust"),
    (
        "the product mocks",
        "printf 'from unittest.mock import Mock\\n' >> src/app.py",
        "fail",
        "mock-python",
    ),
    (
        "a dependency is hollow",
        "mkdir pandas; touch pandas/__init__.py",
        "fail",
        "shadows-dependency",
    ),
    ("a tool is hidden", "printf 'print(\"2 passed\")\\n' > pytest.py", "tamper", "shadows-tool"),
    (
        "a dependency comes from the tree",
        "sed -i 's/1.0.0/file:.\\/fake/' package.json",
        "fail",
        "dependency-replaced",
    ),
    ("hooks of agents are gone", "rm .claude/settings.json", "tamper", "hook-settings"),
    (
        "continuous integration is left out",
        "printf 'on: push\\njobs: {a: {if: false}}\\n' > .github/workflows/ci.yml",
        "tamper",
        "ci-settings",
    ),
    ("a criterion is deleted", "sed -i '/double/d' plan.md", "fail", "criterion-removed"),
    (
        "the edit is committed",
        "rm tests/test_app.py; git add -A; git -c user.name=a -c user.email=a commit -qm x",
        "fail",
        "test-removed",
    ),
    (
        "the edit is hidden from git",
        "git update-index --skip-worktree tests/test_app.py; sed -i 's/== 4/== 5/' tests/test_app.py",
        "fail",
        "test-edited",
    ),
];

#[test]
fn what_gets_around_the_checks_is_found() {
    let mut wrong = Vec::new();
    for (what, done, outcome, rule) in ATTACKS {
        let evidence = evidence(&after(done));
        let found = rules(&evidence);
        if evidence["outcome"] != *outcome || !found.iter().any(|it| it == rule) {
            wrong
                .push(format!("{what}: {} {found:?} {}", evidence["outcome"], evidence["summary"]));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// What honest work does.
const HONEST: &[(&str, &str)] = &[
    ("nothing", "true"),
    ("the product is changed", "printf '\\n\\ndef g(a):\\n    return f(a) + 1\\n' >> src/app.py"),
    ("a module is new", "printf 'def h():\\n    return 1\\n' > src/h.py"),
    (
        "tests are added to a file",
        "sed -i 's/import f/import f, g/' tests/test_app.py; printf '\\n\\ndef test_h():\\n    assert g(1) == 3\\n' >> tests/test_app.py",
    ),
    (
        "a file of tests is new",
        "printf 'from app import f\\n\\n\\ndef test_n():\\n    assert f(0) == 0\\n' > tests/test_new.py",
    ),
    (
        "tests are formatted",
        "sed -i 's/    assert f(2) == 4/    assert (\\n        f(\\n            2,\\n        )\\n        == 4  # two\\n    )/; s/assert (/assert (/' tests/test_other.py 2>/dev/null || sed -i 's/f(2)/f( 2 )/' tests/test_app.py",
    ),
    (
        "a file of tests is moved",
        "mkdir tests/unit; git mv tests/test_app.py tests/unit/test_app.py",
    ),
    (
        "tests change places",
        "printf 'from app import f\\n\\n\\ndef test_g():\\n    assert f(3) == 6\\n\\n\\ndef test_f():\\n    assert f(2) == 4\\n' > tests/test_app.py",
    ),
    ("a file of the product is moved", "mkdir pkg; git mv src/app.py pkg/app.py"),
    (
        "a dependency is bumped",
        "sed -i 's/1.0.0/2.0.0/' package.json; sed -i 's/pandas/pandas>=2/' pyproject.toml",
    ),
    ("a dependency is new", "printf '[dependencies]\\nserde = \"1\"\\n' >> Cargo.toml"),
    ("a version is bumped", "sed -i 's/0.1.0/0.2.0/' Cargo.toml"),
    (
        "documents say anything",
        "printf 'Run `make test || true`; it.skip(); # noqa\\n' >> README.md",
    ),
    ("a comment speaks of a stub", "printf '// Not to''do!() any more.\\n' >> src/lib.rs"),
    ("a text holds a mark", "printf 'HELP = \"@pytest.mark.skip and || true\"\\n' >> src/app.py"),
    (
        "a box is ticked and an item added",
        "sed -i 's/\\[ \\] double/[x] double/' plan.md; printf -- '- [ ] more\\n' >> plan.md",
    ),
    ("a target is new", "printf 'docs:\\n\\tmkdocs build\\n' >> Makefile"),
    ("a script is new", "sed -i 's/\"test\"/\"dev\": \"vite\", \"test\"/' package.json"),
    ("data of tests is new", "printf '{}\\n' > tests/data/out.json"),
    (
        "inline tests are added",
        "sed -i 's/^    #\\[test\\]/    #[test]\\n    fn b() {\\n        assert_eq!(super::f(3), 3);\\n    }\\n&/' src/lib.rs",
    ),
    ("the product's part of a file with tests", "sed -i 's/{ a }/{ a.max(0) }/' src/lib.rs"),
    ("line ends", "sed -i 's/$/\\r/' tests/test_app.py"),
    (
        "a client keeps a permission",
        "printf '{\"permissions\": {\"allow\": [\"Bash(ls)\"]}}' > .claude/settings.local.json",
    ),
    (
        "a test is called after a mark",
        "printf 'from app import f\\n\\n\\ndef test_skip_list():\\n    assert f(1) == 2\\n' > tests/test_skip.py",
    ),
];

#[test]
fn honest_work_is_left_alone() {
    let mut wrong = Vec::new();
    for (what, done) in HONEST {
        let evidence = evidence(&after(done));
        if evidence["outcome"] != "pass" {
            wrong.push(format!("{what}: {}", evidence["summary"]));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn a_finding_names_its_place_and_what_to_do() {
    let ran = after("sed -i 's/== 4/== 5/' tests/test_app.py");
    let evidence = evidence(&ran);
    let finding = &evidence["detail"]["findings"][0];
    assert_eq!(finding["file"], "tests/test_app.py");
    assert_eq!((&finding["line"], &finding["test"]), (&4.into(), &"test_f".into()));
    assert!(finding["hint"].as_str().unwrap().contains("put it as it was"));
    let summary = evidence["summary"].as_str().unwrap();
    assert_eq!(summary, "tests/test_app.py:4: a test was changed: test_f [test-edited]");
    assert_eq!(ran.json()["verdict"], "continue");
}

#[test]
fn what_the_operator_allows_is_recorded() {
    let edit =
        "sed -i 's/== 4/== 5/' tests/test_app.py; sed -i '/def test_g/,$d' tests/test_app.py";
    let allow = "[[integrity.allow]]\npath = \"tests/**\"\nreason = \"a new contract\"\n";
    let evidence = evidence(&after_with(allow, edit));
    assert_eq!(evidence["outcome"], "pass", "{}", evidence["summary"]);
    let allowed = &evidence["detail"]["allowed"];
    assert_eq!(each(&evidence["detail"], "allowed", "reason"), ["a new contract"; 2]);
    assert_eq!(allowed[0]["finding"]["rule"], "test-edited");
    let only = "[[integrity.allow]]\ntest = \"test_f\"\nreason = \"a new contract\"\n";
    let evidence = self::evidence(&after_with(only, edit));
    assert_eq!(rules(&evidence), ["test-removed"]);
}

#[test]
fn protected_files_and_scripts_are_the_operator_s() {
    let protect = "[integrity]\nprotect = [\"src/gold/**\"]\nbudget = 1\n";
    let done =
        "mkdir src/gold; echo 1 > src/gold/a.txt; printf 'import x  # noqa\\n' >> src/app.py";
    let evidence = evidence(&after_with(protect, done));
    assert_eq!(evidence["outcome"], "tamper");
    assert!(rules(&evidence).contains(&"protected-file".to_owned()));
    assert_eq!(evidence["detail"]["budget"], serde_json::json!({"limit": 1, "spent": 1}));
    let script = "[checks.tests]\ncommand = [\"sh\", \"tests/check.sh\"]\n";
    let evidence = self::evidence(&after_with(script, "echo 'exit 0' > tests/check.sh"));
    assert_eq!(rules(&evidence), ["script-changed"]);
}

#[test]
fn an_edit_is_left_to_the_tests_that_run_the_baseline_s() {
    let tests = "[checks.tests]\ncommand = [\"pytest\"]\n";
    let edit = "sed -i 's/== 4/== 5/' tests/test_app.py";
    let found = evidence(&after_with(tests, edit));
    assert_eq!(found["outcome"], "pass", "{}", found["summary"]);
    assert_eq!(found["detail"]["findings"][0]["severity"], "warn");
    let alone = format!("{tests}control = false\n");
    assert_eq!(evidence(&after_with(&alone, edit))["outcome"], "fail");
}

#[test]
fn without_a_baseline_nothing_passes() {
    let ran = judge(CHECK, DONE).settings("[checks.integrity]\n").run();
    assert_eq!(evidence(&ran)["outcome"], "inconclusive");
    assert_eq!(ran.json()["verdict"], "continue");
    let gone = after("rm -rf .git");
    assert_ne!(evidence(&gone)["outcome"], "pass");
}
