//! Work on a project of pytest.

use super::*;
use crate::needs::needs;

const LIB: &str = "import os\n\n\ndef add(a, b):\n    return a + b\n\n\ndef half(a):\n    if a < 0:\n        \
raise ValueError(a)\n    return a / 2\n\n\ndef names(rows):\n    return [row['name'] for row in rows]\n";

const TESTS: &str = "import pytest\n\nfrom lib import add, half, names\n\n\ndef test_add():\n    assert add(2, 2) == 4\n\n\n\
def test_zero():\n    assert add(0, 0) == 0\n\n\ndef test_half():\n    assert half(4) == 2\n\n\n\
def test_negative():\n    with pytest.raises(Exception):\n        half(-1)\n\n\n\
def test_names():\n    rows = [{'name': 'a'}, {'name': 'b'}]\n    assert len(names(rows)) == 2\n";

const CHANGES: &[Change] = &[
    change("a bug is repaired", "sed -i 's/a \\/ 2/a * 0.5/' lib.py"),
    change("a function is new", "printf '\\n\\ndef more(a):\\n    return a + 1\\n' >> lib.py"),
    change(
        "a function with its test",
        "printf '\\n\\ndef more(a):\\n    return a + 1\\n' >> lib.py; printf 'from lib import more\\n\\n\\ndef test_more():\\n    assert more(1) == 2\\n' > tests/test_more.py",
    ),
    change(
        "a test more in a file",
        "printf '\\n\\ndef test_one():\\n    assert add(1, 0) == 1\\n' >> tests/test_lib.py",
    ),
    change("a renamed function", "sed -i 's/\\badd\\b/plus/g' lib.py tests/test_lib.py"),
    change(
        "a parameter with a default",
        "sed -i 's/def add(a, b)/def add(a, b, c=0)/; s/a + b/a + b + c/' lib.py",
    ),
    approved(
        "an added parameter",
        "tests/**",
        "sed -i 's/def add(a, b)/def add(a, b, c)/; s/a + b/a + b + c/' lib.py; sed -i 's/add(2, 2)/add(2, 2, 0)/; s/add(0, 0)/add(0, 0, 0)/' tests/test_lib.py",
    ),
    change("a keyword in a call of a test", "sed -i 's/half(4)/half(a=4)/' tests/test_lib.py"),
    approved(
        "a changed value",
        "tests/**",
        "sed -i 's/return a + b/return a + b + 1/' lib.py; sed -i 's/== 4/== 5/; s/== 0/== 1/' tests/test_lib.py",
    ),
    approved(
        "changed data of tests",
        "tests/**",
        "sed -i 's/2/3/' tests/data/half.json; sed -i 's/a \\/ 2/a * 0.75/' lib.py; sed -i 's/half(4) == 2/half(4) == 3/' tests/test_lib.py",
    ),
    change("a moved module", "mkdir lib; git mv lib.py lib/__init__.py"),
    change(
        "a split module",
        "printf 'def add(a, b):\\n    return a + b\\n' > sums.py; sed -i '/^def add/,/^    return a + b/d; 1i from sums import add' lib.py",
    ),
    change(
        "a moved file of tests",
        "mkdir tests/unit; git mv tests/test_lib.py tests/unit/test_lib.py",
    ),
    change("a renamed file of tests", "git mv tests/test_lib.py tests/test_all.py"),
    change(
        "tests change places",
        "printf '%s\\n' \"$(sed -n '1,4p' tests/test_lib.py)\" '' 'def test_zero():' '    assert add(0, 0) == 0' '' '' 'def test_add():' '    assert add(2, 2) == 4' '' \"$(sed -n '13,$p' tests/test_lib.py)\" > x; mv x tests/test_lib.py",
    ),
    change("a formatter has run", "sed -i \"s/'/\\\"/g; s/== 4/==  4/\" lib.py tests/test_lib.py"),
    change("comments in tests", "sed -i 's/^def test_/# A test.\\ndef test_/' tests/test_lib.py"),
    change(
        "docstrings in tests",
        "sed -i 's/^def test_half():/&\\n    \"\"\"Half of four.\"\"\"/' tests/test_lib.py",
    ),
    change(
        "types in tests",
        "sed -i 's/^def test_half():/def test_half() -> None:/' tests/test_lib.py",
    ),
    change(
        "tests folded into rows",
        "python3 - <<'X'\nimport re\nt = open('tests/test_lib.py').read()\na = t.index('def test_add'); b = t.index('def test_half')\nt = t[:a] + \"@pytest.mark.parametrize('a, b, sum', [(2, 2, 4), (0, 0, 0)])\\ndef test_add(a, b, sum):\\n    assert add(a, b) == sum\\n\\n\\n\" + t[b:]\nopen('tests/test_lib.py', 'w').write(t)\nX",
    ),
    change(
        "a test is split",
        "sed -i 's/^def test_half():/def test_half_of_two():\\n    assert half(2) == 1\\n\\n\\n&/' tests/test_lib.py",
    ),
    change("a renamed test", "sed -i 's/test_zero/test_nothing/' tests/test_lib.py"),
    change(
        "tests in a class",
        "python3 - <<'X'\nt = open('tests/test_lib.py').read()\na = t.index('def test_add')\nbody = t[a:].replace('():', '(self):')\nt = t[:a] + 'class TestLib:\\n' + ''.join('    ' + l if l.strip() else l for l in body.splitlines(True))\nopen('tests/test_lib.py', 'w').write(t)\nX",
    ),
    change(
        "a narrower exception",
        "sed -i 's/raises(Exception)/raises(ValueError)/' tests/test_lib.py",
    ),
    change(
        "a message of an exception",
        "sed -i 's/raises(Exception)/raises(ValueError, match=\"-1\")/' tests/test_lib.py",
    ),
    change(
        "a stronger matcher",
        "sed -i \"s/assert len(names(rows)) == 2/assert names(rows) == ['a', 'b']/\" tests/test_lib.py",
    ),
    change(
        "one assertion more",
        "sed -i 's/^    assert half(4) == 2/&\\n    assert half(2) == 1/' tests/test_lib.py",
    ),
    change(
        "a helper taken out",
        "sed -i 's/^def test_names():/def rows():\\n    return [{\"name\": \"a\"}, {\"name\": \"b\"}]\\n\\n\\n&/; s/    rows = .*/    found = names(rows())/; s/len(names(rows))/len(found)/' tests/test_lib.py",
    ),
    change(
        "a conftest that cleans up",
        "printf 'import pathlib\\nimport shutil\\n\\n\\ndef pytest_sessionfinish(session):\\n    shutil.rmtree(pathlib.Path(\"scratch\"), ignore_errors=True)\\n' > conftest.py",
    ),
    change(
        "a new fixture",
        "printf 'import pytest\\n\\n\\n@pytest.fixture\\ndef two():\\n    return 2\\n' > tests/conftest.py; printf 'from lib import add\\n\\n\\ndef test_two(two):\\n    assert add(two, two) == 4\\n' > tests/test_two.py",
    ),
    change(
        "new rows",
        "printf 'import pytest\\nfrom lib import add\\n\\n\\n@pytest.mark.parametrize(\"a\", [1, 2])\\ndef test_twice(a):\\n    assert add(a, a) == 2 * a\\n' > tests/test_twice.py",
    ),
    change(
        "a test of an exit",
        "printf 'import sys\\n\\nimport pytest\\n\\n\\ndef test_exit():\\n    with pytest.raises(SystemExit):\\n        sys.exit(0)\\n' > tests/test_exit.py",
    ),
    change(
        "an error of a platform",
        "printf '\\n\\ndef links():\\n    if os.name == \"nt\":\\n        raise NotImplementedError(\"not on Windows\")\\n    return True\\n' >> lib.py",
    ),
    change(
        "a function for one platform",
        "printf '\\n\\ndef links():\\n    if os.name != \"nt\":\\n        return True\\n    raise NotImplementedError\\n' >> lib.py",
    ),
    change(
        "an abstract method",
        "printf '\\n\\nclass Shape:\\n    def area(self):\\n        raise NotImplementedError\\n\\n\\nclass Dot(Shape):\\n    def area(self):\\n        return 0\\n' >> lib.py",
    ),
    change(
        "a type error is excused",
        "sed -i 's/^import os/import os\\nimport json  # type: ignore[import-untyped]/' lib.py",
    ),
    change("a lint is excused", "sed -i 's/^import os/import os  # noqa: F401/' lib.py"),
    change(
        "an error is caught",
        "printf '\\n\\ndef number(text):\\n    try:\\n        return int(text)\\n    except ValueError:\\n        return None\\n' >> lib.py",
    ),
    change(
        "a new dependency, with pip",
        "sed -i 's/dependencies = \\[/&\"left>=1.0\"/' pyproject.toml; echo 'left==1.0' >> requirements.txt",
    ),
    change(
        "a new dependency, with uv",
        "sed -i 's/dependencies = \\[/&\"left>=1.0\"/' pyproject.toml; printf 'dependencies = [{ name = \"left\" }]\\n\\n[package.metadata]\\nrequires-dist = [{ name = \"left\", specifier = \">=1.0\" }]\\n\\n[[package]]\\nname = \"left\"\\nversion = \"1.0\"\\nsource = { registry = \"https://pypi.org/simple\" }\\n' >> uv.lock",
    ),
    change(
        "a new dependency in a folder, with uv",
        "mkdir -p libs/left/src/left; echo 'zero = 0' > libs/left/src/left/__init__.py; printf '[project]\\nname = \"left\"\\nversion = \"1.0\"\\n' > libs/left/pyproject.toml; sed -i 's/dependencies = \\[/&\"left\"/' pyproject.toml; printf '\\n[tool.uv.sources]\\nleft = { path = \"libs/left\" }\\n' >> pyproject.toml; printf 'dependencies = [{ name = \"left\" }]\\n\\n[[package]]\\nname = \"left\"\\nversion = \"1.0\"\\nsource = { directory = \"libs/left\" }\\n' >> uv.lock",
    ),
    change("a newer version", "sed -i 's/version = \"1.0\"/version = \"1.1\"/' pyproject.toml"),
    change(
        "wider globs of tests",
        "sed -i 's/\\[\"tests\"\\]/[\"tests\", \"more\"]/' pyproject.toml; mkdir more; printf 'from lib import add\\n\\n\\ndef test_a():\\n    assert add(1, 1) == 2\\n' > more/test_a.py",
    ),
    change(
        "stricter settings of pytest",
        "sed -i 's/^testpaths/xfail_strict = true\\naddopts = \"--strict-markers\"\\ntestpaths/' pyproject.toml",
    ),
    change(
        "a comment in settings of pytest",
        "sed -i 's/^testpaths/# Where tests stand.\\ntestpaths/' pyproject.toml",
    ),
    change(
        "a comment in settings of CI",
        "sed -i '1i # Runs for each change.' .github/workflows/ci.yml",
    ),
    change("a newer action", "sed -i 's/checkout@v4/checkout@v5/' .github/workflows/ci.yml"),
    change(
        "a step more in CI",
        "printf '      - run: python -m compileall lib.py\\n' >> .github/workflows/ci.yml",
    ),
    change(
        "a new workflow that deploys",
        "printf 'on:\\n  release:\\n    types: [published]\\njobs:\\n  deploy:\\n    runs-on: ubuntu-latest\\n    steps:\\n      - run: make deploy\\n' > .github/workflows/deploy.yml",
    ),
    change("documentation", "printf '# Sums\\n\\nSkip nothing, todo nothing.\\n' > README.md"),
    change("a file is ignored", "echo 'dist' >> .gitignore"),
    change(
        "a new source in a Makefile",
        "sed -i 's/lib.py/lib.py more.py/' Makefile; echo 'x = 1' > more.py",
    ),
    change("a new target in a Makefile", "printf '\\nformat:\\n\\tblack .\\n' >> Makefile"),
    change("generated code has run again", "sed -i 's/1/2/' generated.py"),
    change("unused code is removed", "sed -i '/^import os/d' lib.py"),
    change(
        "a package beside",
        "mkdir other; printf 'def f():\\n    return 1\\n' > other/__init__.py; printf 'from other import f\\n\\n\\ndef test_f():\\n    assert f() == 1\\n' > tests/test_other.py",
    ),
    change(
        "new data of tests",
        "echo '[1, 2]' > tests/data/sums.json; printf 'import json\\nimport pathlib\\nfrom lib import add\\n\\n\\ndef test_data():\\n    text = (pathlib.Path(__file__).parent / \"data/sums.json\").read_text()\\n    assert add(*json.loads(text)) == 3\\n' > tests/test_data.py",
    ),
];

#[test]
#[ignore = "minutes: many projects"]
fn with_pytest() {
    if needs("pytest") {
        let files = &[
            ("lib.py", LIB),
            ("generated.py", "VERSION = 1\n"),
            ("tests/test_lib.py", TESTS),
            ("tests/data/half.json", "[4, 2]\n"),
            (
                "pyproject.toml",
                "[project]\nname = \"a\"\nversion = \"1.0\"\ndependencies = []\n\n[tool.pytest.ini_options]\ntestpaths = [\"tests\"]\npythonpath = [\".\"]\n",
            ),
            ("requirements.txt", "# made\n"),
            (
                "uv.lock",
                "version = 1\nrequires-python = \">=3.9\"\n\n[[package]]\nname = \"a\"\nversion = \"1.0\"\nsource = { virtual = \".\" }\n",
            ),
            ("Makefile", "SOURCES = lib.py\n\ntest:\n\tpython3 -m pytest -q\n"),
            (
                ".github/workflows/ci.yml",
                "on: push\njobs:\n  test:\n    runs-on: ubuntu-latest\n    steps:\n      - uses: actions/checkout@v4\n      - run: python -m pytest\n",
            ),
        ];
        all_end(
            &Project { command: "python3 -m pytest -q", files, prepare: String::new() },
            CHANGES,
        );
    }
}
