//! Changes in a whole checkout: which ones pass, which ones do not, and in whose words.

use super::{SETTINGS, Server, broken, honest, weakened};
use crate::needs::needs;

/// A change, and a part of what is said of it.
type Row = (&'static str, fn(&Server), &'static str);

const WRONG: [Row; 16] = [
    (
        "the product is broken",
        broken,
        "1 test fails on this branch: tests/test_cart.py::test_discount",
    ),
    ("a test is weakened", weakened, "1 test of main fails on this branch"),
    (
        "a test is deleted",
        |server| {
            server.edit(
                "tests/test_cart.py",
                "def test_label():\n    assert label(\"ada\") == \"Ada\"\n",
                "",
            );
        },
        "1 test of main does not run any more: tests/test_cart.py::test_label",
    ),
    (
        "a file of tests is deleted",
        |server| server.remove("tests/test_cart.py"),
        "no test was executed",
    ),
    (
        "a test is skipped",
        |server| {
            let mark = "import pytest\n\n\n@pytest.mark.skip\ndef test_label():";
            server.edit("tests/test_cart.py", "def test_label():", mark);
        },
        "does not run any more: tests/test_cart.py::test_label",
    ),
    (
        "a test is skipped over a broken product",
        |server| {
            broken(server);
            let mark = "import pytest\n\n\n@pytest.mark.skip\ndef test_discount():";
            server.edit("tests/test_cart.py", "def test_discount():", mark);
        },
        "test_discount",
    ),
    (
        "settings leave a test out",
        |server| {
            server.write("pytest.ini", "[pytest]\npythonpath = .\naddopts = -k \"not label\"\n");
        },
        "does not run any more: tests/test_cart.py::test_label",
    ),
    (
        "settings leave a test out over a broken product",
        |server| {
            broken(server);
            server.write("pytest.ini", "[pytest]\npythonpath = .\naddopts = --deselect tests/test_cart.py::test_discount\n");
        },
        "test_discount",
    ),
    (
        "a new conftest leaves tests out",
        |server| {
            broken(server);
            server.write("tests/conftest.py", "collect_ignore = [\"test_cart.py\"]\n");
            server.write("tests/test_new.py", "def test_new():\n    assert True\n");
        },
        "test_discount",
    ),
    (
        "a new conftest makes all tests pass",
        |server| {
            broken(server);
            server.write("conftest.py", "def pytest_runtest_makereport(item, call):\n    from _pytest.reports import TestReport\n    call.excinfo = None\n    return TestReport.from_item_and_call(item, call)\n");
        },
        "test_discount",
    ),
    (
        "a product that asks if it is tested",
        |server| {
            server.edit("cart.py", "return sum(prices)", "import sys\n    if \"pytest\" in sys.modules:\n        return 9000\n    return sum(prices)");
        },
        "fail",
    ),
    (
        "gate.toml runs nothing, over a broken product",
        |server| {
            broken(server);
            server.write("gate.toml", "[checks.tests]\ncommand = [\"true\"]\n");
        },
        "test_discount",
    ),
    (
        "gate.toml runs nothing",
        |server| {
            server.write("gate.toml", "[checks.tests]\ncommand = [\"true\"]\n");
        },
        "gate.toml asks for less: checks.tests.command is another one",
    ),
    ("gate.toml is gone", |server| server.remove("gate.toml"), "gate.toml is gone"),
    (
        "gate.toml is broken",
        |server| server.write("gate.toml", "[checks.tests\n"),
        "gate.toml:1 cannot be used",
    ),
    (
        "gate.toml only warns",
        |server| {
            server.write("gate.toml", &format!("{SETTINGS}mode = \"warn\"\n"));
        },
        "checks.tests.mode is another one",
    ),
];

const RIGHT: [Row; 14] = [
    ("a product and its test", honest, "4 tests passed"),
    (
        "a new file of tests",
        |server| {
            server.write(
                "tests/test_more.py",
                "from cart import total\n\n\ndef test_one():\n    assert total([1]) == 1\n",
            );
        },
        "4 tests passed",
    ),
    (
        "no test is changed",
        |server| server.edit("cart.py", "sum(prices)", "sum(list(prices))"),
        "3 tests passed, compared with main",
    ),
    (
        "a test file moves",
        |server| {
            server.git("desk", &["mv", "tests/test_cart.py", "tests/test_shop.py"]);
        },
        "3 tests passed",
    ),
    (
        "a test is split, its old text passes",
        |server| {
            server.edit(
                "tests/test_cart.py",
                "    assert total([1, 2]) == 3\n",
                "    assert total([1, 2]) == 3\n    assert total([]) == 0\n",
            );
        },
        "the old versions pass, too",
    ),
    (
        "a function and its tests get another name",
        |server| {
            server.edit("cart.py", "def label(", "def caption(");
            server.edit("tests/test_cart.py", "label, total", "caption, total");
            server.edit("tests/test_cart.py", "label(\"ada\")", "caption(\"ada\")");
        },
        "3 tests passed",
    ),
    (
        "runner settings that leave nothing out",
        |server| {
            server.write("pytest.ini", "[pytest]\npythonpath = .\naddopts = -ra --durations=3\n");
        },
        "changed: pytest.ini",
    ),
    (
        "a conftest with a fixture",
        |server| {
            server.write(
                "tests/conftest.py",
                "import pytest\n\n\n@pytest.fixture\ndef prices():\n    return [1]\n",
            );
            server.edit(
                "tests/test_cart.py",
                "def test_total():",
                "def test_one(prices):\n    assert total(prices) == 1\n\n\ndef test_total():",
            );
        },
        "4 tests passed",
    ),
    (
        "a skip for another system",
        |server| {
            let mark = "import sys\n\nimport pytest\n\n\n@pytest.mark.skipif(sys.platform == \"win32\", reason=\"x\")\ndef test_label():";
            server.edit("tests/test_cart.py", "def test_label():", mark);
        },
        "3 tests passed",
    ),
    (
        "CI runs another version",
        |server| {
            server.write(".github/workflows/gate.yml", "on: [pull_request, push]\n");
        },
        ".github/workflows/gate.yml was changed: this workflow runs gate",
    ),
    (
        "hooks of git",
        |server| {
            server.write(".pre-commit-config.yaml", "repos: []\n");
        },
        "PASS",
    ),
    (
        "gate.toml asks for more",
        |server| {
            server
                .write("gate.toml", &format!("{SETTINGS}\n[checks.lint]\ncommand = [\"true\"]\n"));
        },
        "gate.toml was changed; that of main judged",
    ),
    (
        "a test gets another name",
        |server| server.edit("tests/test_cart.py", "def test_label", "def test_title_case"),
        "3 tests passed",
    ),
    ("documents alone", |server| server.write("README.md", "# Shop\n"), "3 tests passed"),
];

fn judged(name: &str, change: fn(&Server), code: i32, part: &str) {
    let server = Server::new();
    server.branch("work", change);
    let ended = server.merge_job("work", 0).runs("");
    let both = format!("{}{}", ended.stdout, ended.stderr);
    assert_eq!(ended.code, code, "{name}: {both}");
    assert!(both.contains(part), "{name}: {part:?} is not in\n{both}");
}

fn all_judged(rows: &[Row], code: i32) {
    if needs("pytest") {
        rows.iter().for_each(|(name, change, part)| judged(name, *change, code, part));
    }
}

#[test]
fn a_wrong_change_fails() {
    all_judged(&WRONG[..2], 1);
}

#[test]
fn a_right_change_passes() {
    all_judged(&RIGHT[..1], 0);
}

#[test]
#[ignore = "minutes: many pull requests"]
fn each_wrong_change_fails() {
    all_judged(&WRONG[2..], 1);
}

#[test]
#[ignore = "minutes: many pull requests"]
fn each_right_change_passes() {
    all_judged(&RIGHT[1..], 0);
}

#[test]
#[ignore = "minutes: many pull requests"]
fn a_submodule_and_pointers_of_lfs_are_no_obstacle() {
    if !needs("pytest") {
        return;
    }
    let server = Server::new();
    let library = Server::with(&[("lib.txt", "one\n")]);
    let address = format!("file://{}", library.path("server.git").display());
    server.advance_main(|server| {
        server.git("desk", &["submodule", "--quiet", "add", &address, "lib"]);
        server.write(".gitattributes", "*.bin filter=lfs diff=lfs merge=lfs -text\n");
        let pointer = "version https://git-lfs.github.com/spec/v1\noid sha256:4d7a\nsize 12345\n";
        server.write("data.bin", pointer);
    });
    library.advance_main(|library| library.write("lib.txt", "two\n"));
    server.branch("bump", |server| {
        server.git("desk/lib", &["fetch", "-q"]);
        server.git("desk/lib", &["checkout", "-q", "origin/main"]);
        let pointer = "version https://git-lfs.github.com/spec/v1\noid sha256:9c1b\nsize 4\n";
        server.write("data.bin", pointer);
    });
    server.merge_job("bump", 0).runs("").code(0).says("3 tests passed");
    let job = server.merge_job("bump", 0);
    job.git("-c protocol.file.allow=always submodule --quiet update --init");
    job.runs("").code(0).says("3 tests passed");
    server.branch("bump-and-break", |server| {
        server.git("desk/lib", &["checkout", "-q", "origin/main"]);
        weakened(server);
    });
    server.merge_job("bump-and-break", 0).runs("").code(1).says("test_discount");
}

#[test]
fn a_clone_without_the_files_of_the_base_is_no_verdict() {
    if !needs("pytest") {
        return;
    }
    let server = Server::new();
    server.branch("wrong", weakened);
    server.git("server.git", &["config", "uploadpack.allowFilter", "true"]);
    server.merge_ref("wrong");
    let job = server.job(&[
        "config remote.origin.promisor true",
        "config remote.origin.partialclonefilter blob:none",
        "fetch -q --filter=blob:none origin +refs/heads/*:refs/remotes/origin/* \
         +refs/pull/7/merge:refs/remotes/pull/7/merge",
        "checkout -q --force refs/remotes/pull/7/merge",
    ]);
    let job = job.on_github("pull_request", &server.request("wrong"));
    let ended = job.runs("").code(2).says("nothing can be compared");
    let line = ended.stderr.split('`').find(|part| part.starts_with("git fetch")).unwrap();
    job.git(line.strip_prefix("git ").unwrap());
    job.runs("").code(1).says("test_discount");
}
