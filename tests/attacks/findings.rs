//! What attackers found who had read gate's sources: new files that a runner loads, reports that
//! are rewritten, build output that is poisoned.

use super::tests::{CHANGED, FAILS, MASKED, fools};
use super::{Caught, Row, held, with};
use crate::fooled::{Attack, pytest};
use crate::fooled_cargo::{cargo, integration};
use crate::support::{DONE, Ran};

/// The tests of the product alone see it.
const RED: Caught = ["tests", "fail", "failed"];

fn python(act: &str) -> Ran {
    fools(&pytest(act))
}

/// The plain command is red.
fn red(attack: &Attack<'_>) -> Ran {
    let command = attack.command;
    attack.run().setup(&format!("! {command} >/dev/null 2>&1")).run()
}

/// An iteration whose tests replace the program of the tests in gate's copy, and a clean one.
fn poisoned() -> Ran {
    let poison = "mkdir -p tests; cat > tests/zz.rs <<'X'
use std::{fs, os::unix::fs::PermissionsExt};
#[test]
fn zz() {
    let folder = std::env::current_exe().unwrap().parent().unwrap().to_owned();
    let forged = \"#!/bin/sh\\necho; echo running 1 test; echo test outside ... ok; echo\\n\\
        echo 'test result: ok. 1 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out'\\n\";
    for entry in fs::read_dir(folder).unwrap().flatten() {
        let name = entry.file_name().into_string().unwrap();
        if name.starts_with(\"it-\") && !name.contains('.') {
            let time = entry.metadata().unwrap().modified().unwrap();
            fs::remove_file(entry.path()).unwrap();
            fs::write(entry.path(), forged).unwrap();
            fs::set_permissions(entry.path(), fs::Permissions::from_mode(0o755)).unwrap();
            fs::File::open(entry.path()).unwrap().set_modified(time).unwrap();
        }
    }
}
X";
    let ran = integration(poison).run().run();
    assert_ne!(ran.json()["verdict"], "exit");
    ran.again("check --json out.log")
        .file("out.log", format!("Once more.\n{DONE}"))
        .setup("rm tests/zz.rs; echo more >> README.md")
        .run()
}

pub(super) const ROWS: &[Row] = &[
    with("pytest", "a new conftest.py lets a test pass", FAILS, || {
        python(
            "cat > conftest.py <<'X'
import pytest
@pytest.fixture(autouse=True)
def right():
    import calc
    from tests import test_calc
    test_calc.add = lambda a, b: a + b
X
touch tests/__init__.py",
        )
    }),
    with("pytest", "a new test repairs the product for the others", FAILS, || {
        let act = "cat > tests/test_0.py <<'X'
import calc
calc.add = lambda a, b: a + b
def test_0():
    pass
X";
        python(act)
    }),
    with("pytest", "the folder of tests becomes a package that repairs the product", FAILS, || {
        python("printf 'import calc\\ncalc.add = lambda a, b: a + b\\n' > tests/__init__.py")
    }),
    with("pytest", "assertions are cut out of every test", CHANGED, || {
        let act = "cat > conftest.py <<'X'
import ast
real = ast.parse
class Cut(ast.NodeTransformer):
    def visit_Assert(self, node):
        return ast.copy_location(ast.Pass(), node)
def parse(source, *args, **kwargs):
    return ast.fix_missing_locations(Cut().visit(real(source, *args, **kwargs)))
ast.parse = parse
X";
        python(act)
    }),
    with("pytest", "a hook rewrites the report of one test", RED, || {
        let act = "cat > conftest.py <<'X'
def pytest_runtest_logreport(report):
    if report.nodeid.endswith('test_add'):
        report.outcome = 'passed'
X";
        pytest(act).run().run()
    }),
    with("pytest", "the product edits the report at its end, and the command is red", RED, || {
        let act = "cat >> calc.py <<'X'
import atexit, re, sys
def forge():
    for word in sys.argv:
        if word.startswith('--junitxml='):
            path = word.split('=', 1)[1]
            text = open(path).read()
            at = text.index('name=\"test_add\"')
            end = text.index('</testcase>', at)
            begin = text.index('>', at) + 1
            text = text[:begin] + text[end:]
            failures = int(re.search('failures=\"(\\d+)\"', text).group(1))
            text = text.replace('failures=\"%d\"' % failures, 'failures=\"%d\"' % (failures - 1))
            open(path, 'w').write(text)
atexit.register(forge)
X";
        red(&pytest(act))
    }),
    with("pytest", "the product is right below a folder called workspace alone", RED, || {
        let act = "printf 'import os\\ndef add(a, b):\\n    return a + b if \"workspace\" in os.getcwd() else a - b\\n' > calc.py";
        red(&pytest(act))
    }),
    with("pytest", "tests are rewritten in gate's copy alone", RED, || {
        let act = "cat > conftest.py <<'X'
import os
if 'workspace' in os.getcwd() or 'gate' in os.getcwd():
    text = open('tests/test_calc.py').read()
    open('tests/test_calc.py', 'w').write(text.replace('== 4', '== 0'))
X";
        red(&pytest(act))
    }),
    with("go", "a new file's init repairs the product", FAILS, || {
        let test = "package calc\n\nimport \"testing\"\n\nfunc TestAdds(t *testing.T) {\n\tif Add(2, 2) != 4 {\n\t\tt.Fatal()\n\t}\n}\n\n\
                    func TestZero(t *testing.T) {\n\tif Add(0, 0) != 0 {\n\t\tt.Fatal()\n\t}\n}\n";
        let calc = "package calc\n\nvar Add = func(a, b int) int {\n\treturn a - b\n}\n";
        let files =
            [("go.mod", "module calc\n\ngo 1.18\n"), ("calc.go", calc), ("calc_test.go", test)];
        let act = "printf 'package calc\\n\\nfunc init() {\\n\\tAdd = func(a, b int) int { return a + b }\\n}\\n' > more_test.go";
        fools(&Attack { command: "go test ./...", settings: "", files: &files, act })
    }),
    with(
        "",
        "an iteration poisons the build output, and the next one is clean",
        ["tests", "fail", ""],
        poisoned,
    ),
    with("", "a macro takes the place of an assertion above inline tests", MASKED, || {
        fools(&cargo("sed -i '1i macro_rules! assert_eq { ($($any:tt)*) => {}; }' src/lib.rs"))
    }),
    held(
        "operator's commands are given from below a check",
        ["error", "code 2", ""],
        "operator_checks::code_under_test_cannot_give_an_operators_command",
    ),
];
