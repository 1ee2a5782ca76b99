//! Honest work, as both checks see it together: the loop may end.

use super::crowd;
use crate::fooled::{CALC, TESTS, tools};
use crate::needs::needs;
use crate::support::{DONE, Ran, Run, judge};

struct Work {
    what: &'static str,
    act: &'static str,
}

const fn work(what: &'static str, act: &'static str) -> Work {
    Work { what, act }
}

/// After the sum was repaired.
const ALL: &[Work] = &[
    work("the sum alone", "true"),
    work(
        "a file of tests is new",
        "printf 'from calc import add\\n\\n\\ndef test_one():\\n    assert add(1, 0) == 1\\n' > tests/test_new.py",
    ),
    work(
        "a test is added to a file",
        "printf '\\n\\ndef test_three():\\n    assert add(1, 2) == 3\\n' >> tests/test_calc.py",
    ),
    work("tests are formatted", "sed -i 's/== 4/==  4/; s/^$/# here/' tests/test_calc.py"),
    work(
        "a file of tests is moved",
        "mkdir tests/unit; git mv tests/test_calc.py tests/unit/test_calc.py",
    ),
    work(
        "tests change places",
        "printf 'from calc import add\\n\\n\\ndef test_zero():\\n    assert add(0, 0) == 0\\n\\n\\ndef test_add():\\n    assert add(2, 2) == 4\\n' > tests/test_calc.py",
    ),
    work(
        "a fixture is new",
        "printf 'import pytest\\n\\n\\n@pytest.fixture\\ndef two():\\n    return 2\\n' > tests/conftest.py; printf 'from calc import add\\n\\n\\ndef test_two(two):\\n    assert add(two, two) == 4\\n' > tests/test_two.py",
    ),
    work(
        "a test is parametrised",
        "printf 'import pytest\\nfrom calc import add\\n\\n\\n@pytest.mark.parametrize(\"a\", [1, 2])\\ndef test_twice(a):\\n    assert add(a, a) == a + a\\n' > tests/test_twice.py",
    ),
    work(
        "the product is split",
        "printf 'def times(a, b):\\n    return a * b\\n' > more.py; printf 'from more import times\\n' >> calc.py",
    ),
    work(
        "the product is documented",
        "printf '# Sums\\n\\nRun `pytest -k add || true` and skip nothing.\\n' > README.md; sed -i '1a\\    \"\"\"The sum; never todo.\"\"\"' calc.py",
    ),
    work("a dependency is bumped", "sed -i 's/1.0/2.0/' pyproject.toml"),
    work("everything is committed", "git add -A; git commit -qm done"),
    work(
        "data of tests is new",
        "mkdir tests/data; echo '[1, 2]' > tests/data/sums.json; printf 'import json\\nfrom calc import add\\n\\n\\ndef test_data():\\n    assert add(*json.load(open(\"tests/data/sums.json\"))) == 3\\n' > tests/test_data.py",
    ),
    work(
        "an error is raised and expected",
        "printf '\\n\\ndef half(a):\\n    if a %% 2:\\n        raise ValueError(a)\\n    return a // 2\\n' >> calc.py; printf 'import pytest\\nfrom calc import half\\n\\n\\ndef test_half():\\n    with pytest.raises(ValueError):\\n        half(3)\\n    assert half(4) == 2\\n' > tests/test_half.py",
    ),
];

fn after(act: &str) -> Ran {
    let settings =
        "[checks.tests]\ncommand = [\"python3\", \"-m\", \"pytest\", \"-q\"]\n[checks.integrity]\n";
    let manifest = "[project]\nname = \"a\"\nversion = \"1.0\"\ndependencies = [\"left>=1.0\"]\n";
    let run: Run = judge("baseline", DONE)
        .settings(settings)
        .file("calc.py", CALC)
        .file("tests/test_calc.py", TESTS)
        .file("pyproject.toml", manifest)
        .file(".gitignore", "__pycache__\n.pytest_cache\nout.log\n");
    let ran = tools(run).committed().code(0);
    let repaired = format!("printf 'def add(a, b):\\n    return a + b\\n' > calc.py; {act}");
    tools(ran.again("check --json out.log").setup(&repaired)).run()
}

/// How many kinds of honest work both checks let end, and how many one of them was
/// shown elsewhere.
pub(super) fn count() -> (usize, usize) {
    let alone: toml::Table = include_str!("../integrity/honest.toml").parse().unwrap();
    (ALL.len(), alone["work"].as_array().unwrap().len())
}

pub(super) fn rows() -> String {
    ALL.iter().map(|work| format!("* {}\n", work.what)).collect()
}

#[test]
#[ignore = "minutes: projects with real test runners"]
fn honest_work_may_end() {
    if !needs("pytest") {
        return;
    }
    let wrong = crowd(ALL, |work| {
        let ran = after(work.act);
        let decision = ran.json();
        let evidence = decision["evidence"].as_array().unwrap();
        let both = evidence.len() == 2 && evidence.iter().all(|one| one["outcome"] == "pass");
        let fine = decision["verdict"] == "exit" && both;
        (!fine).then(|| format!("{}: {:?}", work.what, super::marks(&ran)))
    });
    println!("{} of {} honest changes may end", ALL.len() - wrong.len(), ALL.len());
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
