//! Sealed tests of node, cargo and go, and of a runner without controls.

use crate::fooled::tools;
use crate::needs::needs;
use crate::sealed::{nothing_is_seen, sealed};
use crate::support::{DONE, judge};

/// A project of another runner, where a sealed test alone tells a wrong product from a right one.
struct Other {
    runner: &'static str,
    command: &'static str,
    files: &'static [(&'static str, &'static str)],
    wrong: &'static str,
    right: &'static str,
}

const OTHERS: [Other; 3] = [
    Other {
        runner: "node",
        command: "[\"node\", \"--test\"]",
        files: &[
            ("calc.mjs", "export const add = (a, b) => a + b\n"),
            (
                "test/calc.test.mjs",
                "import t from 'node:test'\nimport { add } from '../calc.mjs'\n\
                 t('adds', c => c.assert.equal(add(1, 2), 3))\n",
            ),
            (
                "../sealed/test/hidden.test.mjs",
                "import t from 'node:test'\nimport * as calc from '../calc.mjs'\n\
                 t('zanzibar', c => c.assert.equal(calc.limit(5), 3))\n",
            ),
        ],
        wrong: "echo 'export const limit = n => n' >>calc.mjs",
        right: "sed -i 's/n => n$/n => Math.min(n, 3)/' calc.mjs",
    },
    Other {
        runner: "bash",
        command: "[\"cargo\", \"test\", \"--offline\"]",
        files: &[
            ("Cargo.toml", "[package]\nname = \"calc\"\nversion = \"0.1.0\"\nedition = \"2021\"\n"),
            ("Cargo.lock", "version = 3\n\n[[package]]\nname = \"calc\"\nversion = \"0.1.0\"\n"),
            ("src/lib.rs", "pub fn add(a: i32, b: i32) -> i32 {\n    a + b\n}\n"),
            ("tests/it.rs", "#[test]\nfn adds() {\n    assert_eq!(calc::add(1, 2), 3);\n}\n"),
            (
                "../sealed/tests/hidden.rs",
                "#[test]\nfn zanzibar() {\n    assert_eq!(calc::limit(5), 3);\n}\n",
            ),
        ],
        wrong: "echo 'pub fn limit(n: i32) -> i32 { n }' >>src/lib.rs",
        right: "sed -i 's/{ n }/{ n.min(3) }/' src/lib.rs",
    },
    Other {
        runner: "go",
        command: "[\"go\", \"test\", \"./...\"]",
        files: &[
            ("go.mod", "module calc\n\ngo 1.19\n"),
            ("calc.go", "package calc\n\nfunc Add(a, b int) int { return a + b }\n"),
            (
                "calc_test.go",
                "package calc\n\nimport \"testing\"\n\n\
                 func TestAdd(t *testing.T) {\n\tif Add(1, 2) != 3 {\n\t\tt.Fatal(\"no\")\n\t}\n}\n",
            ),
            (
                "../sealed/hidden_test.go",
                "package calc\n\nimport \"testing\"\n\n\
                 func TestZanzibar(t *testing.T) {\n\tif Limit(5) != 3 {\n\t\t\
                 t.Fatal(\"zanzibar\")\n\t}\n}\n",
            ),
        ],
        wrong: "echo 'func Limit(n int) int { return n }' >>calc.go",
        right: "echo 'func Limit(n int) int { return min3(n) }' >>calc.go; \
                echo 'func min3(n int) int { if n > 3 { return 3 }; return n }' >>calc.go; \
                sed -i '/{ return n }$/d' calc.go",
    },
];

#[test]
#[ignore = "minutes: projects with real test runners"]
fn they_run_with_each_runner() {
    for Other { runner, command, files, wrong, right } in OTHERS {
        if !needs(runner) {
            continue;
        }
        let run = tools(judge("baseline", DONE)).file(".gitignore", "target\nout.log\n");
        let run = files.iter().fold(run, |run, (name, text)| run.file(name, text));
        let settings = format!("[checks.tests]\ncommand = {command}\nsealed = \"../sealed\"\n");
        let ran = run.settings(&settings).committed().code(0);
        let act = |act: &str| format!("{act}; git commit -qam work");
        let ran = tools(ran.again("check --json out.log")).setup(&act(wrong)).code(1);
        let decision = ran.json();
        let code = &decision["reasons"][0]["code"];
        assert_eq!(code, "sealed-tests-failed", "{runner}: {decision}");
        nothing_is_seen(&ran);
        let ran = tools(ran.again("check --json out.log")).setup(&act(right)).code(0);
        assert_eq!(sealed(&ran.json())["passed"], 1, "{runner}");
    }
}

#[test]
fn they_refuse_where_no_control_is_planted_and_nothing_older_is_known() {
    if !needs("python3") {
        return;
    }
    let case = |test: &str| {
        format!(
            "import unittest\n\nimport calc\n\n\nclass Case(unittest.TestCase):\n    \
             def test_limit(self):\n        self.assertEqual({test})\n"
        )
    };
    let settings = "[checks.tests]\ncommand = [\"python3\", \"-m\", \"unittest\"]\n\
                    sealed = \"../sealed\"\n";
    let ran = judge("check --json out.log", DONE)
        .settings(settings)
        .file("calc.py", "def limit(n):\n    return n\n")
        .file("test_calc.py", case("calc.limit(1), 1"))
        .file("../sealed/test_hidden.py", case("calc.limit(5), 3"))
        .setup("git init -q")
        .code(1);
    let summary = ran.json()["evidence"][0]["summary"].as_str().unwrap().to_owned();
    assert_eq!(summary, "0 of 1 sealed tests pass");
    let run =
        ran.again("check --json out.log").file("calc.py", "def limit(n):\n    return min(n, 3)\n");
    // A test of the agent's own is none of the sealed ones.
    run.file("test_more.py", case("calc.limit(2), 2")).code(0);
}

/// A command without a report passes as well if it runs none of them.
#[test]
fn files_that_a_command_without_a_report_does_not_run_are_no_pass() {
    let settings = "[checks.tests]\nsealed = \"../sealed\"\n\
                    command = [\"sh\", \"-c\", \"for t in t_*.sh; do sh $t || exit 1; done\"]\n";
    let ends = |place: &str, code: i32| {
        let ran = judge("check --json out.log", DONE)
            .settings(settings)
            .file("greet.sh", "echo hello\n")
            .file("t_old.sh", "sh greet.sh | grep -q hello\n")
            .file(&format!("../sealed/{place}"), "sh greet.sh | grep -q hello\n")
            .file(".gitignore", "out.log\n")
            .committed()
            .code(code);
        nothing_is_seen(&ran);
        ran.json()["evidence"][0]["summary"].as_str().unwrap().to_owned()
    };
    assert!(ends("t_zanzibar.sh", 0).ends_with("the sealed tests pass (readable by the agent)"));
    let summary = "the command passes as well if the sealed files are broken: it does not run them";
    assert_eq!(ends("specs/t_zanzibar.sh", 1), summary);
}
