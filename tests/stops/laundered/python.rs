//! pytest.

use super::*;
use crate::needs::needs;

const LIB: &str = "def add(a, b):\n    return a + b\n\n\ndef half(a):\n    return a / 2\n\n\ndef size(a):\n    return len(a)\n";

const ADD: &str = "import json\nimport pathlib\n\nimport pytest\n\nfrom lib import add\n\
from tests.helpers import same\n\n\ndef test_add():\n    assert add(2, 2) == 4\n\n\n\
@pytest.mark.parametrize('a', [0, 3, 5])\ndef test_rows(a):\n    assert add(a, 1) == (1 if a == 0 else a + 1)\n\n\n\
def test_same(two):\n    same(add(two, two), 4)\n\n\n\
def test_data():\n    text = pathlib.Path(__file__).with_name('data.json').read_text()\n    \
for a, b, sum in json.loads(text):\n        assert add(a, b) == sum\n";

const HALF: &str = "import pytest\n\nfrom lib import half\n\n\ndef test_half():\n    \
assert half(1) == pytest.approx(0.5, abs=1e-9)\n";

const SIZE: &str = "import unittest\n\nfrom lib import size\n\n\nclass TestSize(unittest.TestCase):\n    \
def test_size(self):\n        self.assertEqual(size('abc'), 3)\n";

/// The sum is wrong where its first part is 2; half of 1 is wrong; the size of three is wrong.
const TWO: &str = "sed -i 's/return a + b/return a + b + (a == 2)/' lib.py";
const FIVE: &str = "sed -i 's/return a + b/return a + b + (a == 5)/' lib.py";
const SEVEN: &str = "sed -i 's/return a + b/return a + b + (a == 7)/' lib.py";
const HALVES: &str = "sed -i 's/return a \\/ 2/return a \\/ 2 + 1/' lib.py";
const SIZES: &str = "sed -i 's/return len(a)/return len(a) + 1/' lib.py";

const PAIRS: &[Pair] = &[
    pair(
        "an expected value is loosened",
        "sed -i 's/size(.abc.), 3/bool(size(\"abc\")), True/' tests/test_size.py",
        SIZES,
    ),
    pair(
        "an assertion is removed",
        "sed -i 's/self.assertEqual(.*/size(\"abc\")/' tests/test_size.py",
        SIZES,
    ),
    pair("a tolerance is wider", "sed -i 's/1e-9/10/' tests/test_half.py", HALVES),
    pair("a test is removed", "sed -i '/^def test_half/,$d' tests/test_half.py", HALVES),
    pair("a file of tests is removed", "git rm -q tests/test_half.py", HALVES),
    pair(
        "a file is not collected by its new name",
        "git mv tests/test_half.py tests/half_cases.py",
        HALVES,
    ),
    pair(
        "a test is skipped",
        "sed -i 's/^def test_half/@pytest.mark.skip\\ndef test_half/' tests/test_half.py",
        HALVES,
    ),
    pair(
        "a test may fail",
        "sed -i 's/^def test_half/@pytest.mark.xfail\\ndef test_half/' tests/test_half.py",
        HALVES,
    ),
    pair(
        "a test returns early",
        "sed -i 's/^    assert half/    return\\n    assert half/' tests/test_half.py",
        HALVES,
    ),
    pair("rows are removed", "sed -i 's/\\[0, 3, 5\\]/[0, 3]/' tests/test_add.py", FIVE),
    pair(
        "a helper compares nothing",
        "echo 'def same(a, b): return a' > tests/helpers.py; sed -i 's/add(2, 2) == 4/add(2, 2)/' tests/test_add.py",
        TWO,
    ),
    pair("data has fewer rows", "echo '[[1, 1, 2]]' > tests/data.json", SEVEN),
    pair(
        "a fixture is changed",
        "sed -i 's/return 2/return 0/' conftest.py; sed -i 's/, 4)/, 0)/; s/add(2, 2) == 4/add(2, 2)/' tests/test_add.py",
        TWO,
    ),
    pair(
        "settings leave a test out",
        "printf '[pytest]\\naddopts = --deselect tests/test_half.py::test_half\\n' > pytest.ini",
        HALVES,
    ),
    pair(
        "the manifest leaves a file out",
        "printf '[tool.pytest.ini_options]\\naddopts = \"--ignore=tests/test_half.py\"\\n' > pyproject.toml",
        HALVES,
    ),
    pair(
        "a new conftest leaves a test out",
        "printf 'def pytest_collection_modifyitems(items):\\n    items[:] = [item for item in items if item.name != \"test_half\"]\\n' > tests/conftest.py",
        HALVES,
    ),
    pair(
        "a new conftest puts a function in the place of the product's",
        "printf 'import lib\\n\\nlib.half = lambda a: 0.5\\n' > tests/conftest.py",
        HALVES,
    ),
    pair(
        "a package of tests does the same",
        "printf 'import lib\\n\\nlib.half = lambda a: 0.5\\n' > tests/__init__.py",
        HALVES,
    ),
    pair(
        "a new test does the same",
        "printf 'import lib\\n\\nlib.half = lambda a: 0.5\\n\\n\\ndef test_nothing():\\n    assert lib\\n' > tests/test_0.py",
        HALVES,
    ),
];

fn project() -> Project {
    Project {
        command: "python3 -m pytest -q",
        files: &[
            ("lib.py", LIB),
            ("conftest.py", "import pytest\n\n\n@pytest.fixture\ndef two():\n    return 2\n"),
            ("pyproject.toml", "[project]\nname = \"lib\"\nversion = \"1.0\"\n"),
            ("tests/helpers.py", "def same(a, b):\n    assert a == b\n"),
            ("tests/data.json", "[[1, 1, 2], [7, 1, 8]]\n"),
            ("tests/test_add.py", ADD),
            ("tests/test_half.py", HALF),
            ("tests/test_size.py", SIZE),
        ],
        prepare: String::new(),
    }
}

#[test]
#[ignore = "minutes: many projects, four stops each"]
fn with_pytest_in_sessions() {
    if needs("pytest") {
        none_passes(&project(), PAIRS, sessions);
    }
}

#[test]
#[ignore = "minutes: many projects, four stops each"]
fn with_pytest_and_no_session() {
    if needs("pytest") {
        none_passes(&project(), PAIRS, checks);
    }
}
