//! What is installed and leads into the tree is tested in the copy, and not in the tree.
//!
//! The tests of each project here demand that what they load stands in their own tree.

use crate::fooled::comes_to;
use crate::needs::needs;
use crate::support::{DONE, Run, judge};

/// A project with this command as its check.
fn project(command: &str) -> Run {
    let words: Vec<_> = command.split_whitespace().collect();
    let words = serde_json::to_string(&words).unwrap();
    judge("check --json out.log", DONE).settings(&format!("[checks.tests]\ncommand = {words}\n"))
}

/// The tests pass in the copy, which uses nothing of the tree.
#[track_caller]
fn is_isolated(run: Run) {
    comes_to(run, "pass", "passed");
}

/// Packages of a workspace: `b` has the tests, and `a` what they test.
fn workspace(command: &str) -> Run {
    project(command)
        .file(".gitignore", "node_modules\n")
        .file("package.json", r#"{"name": "all", "private": true, "workspaces": ["packages/*"]}"#)
        .file("packages/a/package.json", r#"{"name": "@x/a", "version": "1.0.0", "bin": "bin.js"}"#)
        .file("packages/a/index.js", "exports.add = (a, b) => a - b;\n")
        .script("packages/a/bin.js", "#!/usr/bin/env node\nconsole.log(__dirname);\n")
        .file(
            "packages/b/package.json",
            r#"{"name": "@x/b", "version": "1.0.0", "dependencies": {"@x/a": "1.0.0"}}"#,
        )
        .file("packages/b/zero.test.js", node_test("zero", "0, 0), 0"))
}

/// A test of node that also demands that the package and its program stand in its own tree.
fn node_test(name: &str, values: &str) -> String {
    format!(
        "const test = require('node:test');\nconst assert = require('node:assert');\n\
         const path = require('node:path');\nconst fs = require('node:fs');\n\
         const {{ execFileSync }} = require('node:child_process');\n\
         const {{ add }} = require('@x/a');\n\
         test('{name}', () => {{\n  assert.strictEqual(add({values});\n\
         \x20 const own = path.join(__dirname, '..', 'a');\n\
         \x20 assert.strictEqual(path.dirname(require.resolve('@x/a')), own);\n\
         \x20 const bins = [__dirname, path.join(__dirname, '..', '..')];\n\
         \x20 const bin = bins.map((at) => path.join(at, 'node_modules', '.bin', 'a')).find(fs.existsSync);\n\
         \x20 assert.strictEqual(execFileSync(bin).toString().trim(), own);\n}});\n"
    )
}

/// The work, with the test that needs it.
fn worked(run: Run) -> Run {
    run.file("packages/a/index.js", "exports.add = (a, b) => a + b;\n")
        .file("packages/b/adds.test.js", node_test("adds", "2, 2), 4"))
}

#[test]
fn a_workspace_of_npm() {
    if !needs("npm") || !needs("node") {
        return;
    }
    let run = workspace("node --test packages/b").committed();
    is_isolated(worked(run.setup("npm install --offline --no-audit --no-fund --silent")));
}

/// As pnpm and Yarn lay their folders out: links in the folder of each package, and scripts as
/// programs that find their package beside them.
#[test]
fn packages_that_are_linked_into_each_package() {
    if !needs("node") {
        return;
    }
    let link = "cd packages/b; mkdir -p node_modules/@x node_modules/.bin\n\
                ln -s ../../../a node_modules/@x/a\n\
                printf '#!/bin/sh\\nbasedir=$(dirname \"$0\")\\nexec node \"$basedir/../@x/a/bin.js\"\\n' > node_modules/.bin/a\n\
                chmod +x node_modules/.bin/a";
    let run = workspace("node --test packages/b").committed();
    is_isolated(worked(run.setup(link)));
}

/// A project of Python below `src` with an environment that can import it in this way.
fn editable(install: &str) -> Option<Run> {
    if !needs("pytest") {
        return None;
    }
    let test = |name: &str, values: &str| {
        format!(
            "import pathlib\nimport subprocess\nimport own\nimport sys\n\n\ndef test_{name}():\n    \
             assert own.add({values}\n    here = pathlib.Path(__file__).parents[1]\n    \
             assert pathlib.Path(own.__file__).parents[2] == here\n    \
             assert pathlib.Path(sys.prefix) == here / '.venv'\n"
        )
    };
    let environment = format!(
        "python3 -m venv --without-pip .venv\nlib=$(echo .venv/lib/python*/site-packages)\n\
         python3 -c 'import pytest, os; print(os.path.dirname(os.path.dirname(pytest.__file__)))' > \"$lib/tools.pth\"\n\
         printf '#!%s/.venv/bin/python\\nimport sys\\nfrom pytest import main\\nsys.exit(main())\\n' \"$PWD\" > .venv/bin/pytest\n\
         chmod +x .venv/bin/pytest\n{install}"
    );
    let run = project(".venv/bin/pytest -q")
        .file(".gitignore", ".venv\n__pycache__\n.pytest_cache\n*.egg-info\n")
        .file("pyproject.toml", "[project]\nname = \"own\"\nversion = \"1\"\n")
        .file("src/own/__init__.py", "def add(a, b):\n    return a - b\n")
        .file("tests/test_zero.py", test("zero", "0, 0) == 0"))
        .committed()
        .setup(&environment);
    let work = "def add(a, b):\n    return a + b\n";
    let work = run.file("src/own/__init__.py", work);
    Some(work.file("tests/test_adds.py", test("adds", "2, 2) == 4")))
}

#[test]
#[ignore = "minutes: projects with real test runners"]
fn an_editable_install_by_a_path() {
    // uv, hatchling and Poetry write a line; setuptools the same with a name of its own.
    if let Some(project) = editable("echo \"$PWD/src\" > \"$lib/_own.pth\"") {
        is_isolated(project);
    }
}

#[test]
#[ignore = "minutes: projects with real test runners"]
fn an_editable_install_by_a_finder() {
    let install = "cat > \"$lib/__editable___own_1_finder.py\" <<END\n\
        import sys\nfrom importlib.util import spec_from_file_location\n\n\
        MAPPING = {'own': '$PWD/src/own'}\n\n\n\
        class Finder:\n    @classmethod\n    def find_spec(cls, name, path=None, target=None):\n        \
        if name in MAPPING:\n            return spec_from_file_location(name, MAPPING[name] + '/__init__.py')\n\n\n\
        def install():\n    sys.meta_path.append(Finder)\nEND\n\
        echo 'import __editable___own_1_finder; __editable___own_1_finder.install()' > \"$lib/__editable__.own-1.pth\"";
    if let Some(project) = editable(install) {
        is_isolated(project);
    }
}

/// A finder that hides its place from gate: the pass is about the tree.
#[test]
#[ignore = "minutes: projects with real test runners"]
fn a_pass_of_the_work_tree_is_none() {
    let install = "echo \"$PWD/src\" > \"$lib/_own.pth\"\n\
        printf \"import sys; sys.path.insert(0, '/'.join(('%s', '%s', 'src')))\\n\" \"$(dirname \"$PWD\")\" \"$(basename \"$PWD\")\" \
        > \"$lib/hidden.pth\"";
    let Some(run) = editable(install) else { return };
    let test = "import own\n\n\ndef test_adds():\n    assert own.add(2, 2) == 4\n";
    let run = run
        .file("tests/test_adds.py", test)
        .file("tests/test_zero.py", "def test_zero():\n    assert 1\n");
    let settings = "[checks.tests]\ncommand = [\".venv/bin/pytest\", \"-q\"]\n";
    let run = run.settings(settings).setup("git add -A; git commit -qm more");
    if cfg!(target_os = "linux") {
        comes_to(run, "inconclusive", "not isolated: the tests loaded src/own/__init__.py");
    }
}
