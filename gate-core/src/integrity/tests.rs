//! Changes of whole files: what is found in them, and what is not.

use super::*;

/// The rules that find something in a change of some files, with the severity of each. A file is its
/// path, its text in the baseline and its text in the tree.
fn examine(
    files: &[(&str, Option<&str>, Option<&str>)],
    surroundings: &Surroundings,
) -> Vec<(String, Severity)> {
    let mut examiner = Examiner::new(surroundings);
    for (path, baseline, tree) in files {
        examiner.examine(&ChangedFile {
            path,
            guarded: guarded(path),
            baseline: baseline.map(str::as_bytes),
            tree: tree.map(str::as_bytes),
            ..ChangedFile::default()
        });
    }
    examiner.finish().into_iter().map(|finding| (finding.rule, finding.severity)).collect()
}

/// The findings about one changed file, each in a line: its effect, its place, its message and the
/// line.
#[track_caller]
fn check(file: ChangedFile<'_>, expected: &[&str]) {
    let surroundings = Surroundings::default();
    let mut examiner = Examiner::new(&surroundings);
    examiner.examine(&file);
    let line = |finding: Finding| {
        let (rule, place, message) = (&finding.rule, finding.place(), &finding.message);
        format!("{:?} {rule} {place}: {message} [{}]", finding.severity, finding.excerpt)
    };
    let lines: Vec<_> = examiner.finish().into_iter().map(line).collect();
    assert_eq!(lines, expected, "{file:?}");
}

fn changed<'a>(path: &'a str, baseline: &'a str, tree: &'a str) -> ChangedFile<'a> {
    let texts = [baseline, tree].map(|text| Some(text.as_bytes()).filter(|text| !text.is_empty()));
    ChangedFile {
        path,
        guarded: guarded(path),
        baseline: texts[0],
        tree: texts[1],
        ..ChangedFile::default()
    }
}

#[test]
fn tests_and_the_settings_of_their_runners_are_for_the_run_of_the_old_tests() {
    for (path, baseline, tree) in [
        ("tests/test_a.py", "def test_a():\n    assert f()\n", "@skip\ndef test_a():\n    pass\n"),
        ("tests/__snapshots__/a.snap", "a\n", "b\n"),
        ("pytest.ini", "[pytest]\n", "[pytest]\naddopts = -k a\n"),
        ("pyproject.toml", "", "[tool.pytest.ini_options]\naddopts = \"-n auto\"\n"),
        ("package.json", "{}", "{\"scripts\": {\"test\": \"true\"}}"),
        (
            "src/lib.rs",
            "fn f() {}\n",
            "fn f() {}\n#[cfg(test)]\nmod tests {\n    // cfg!(test)\n}\n",
        ),
        ("tests/common.py", "", "import sys\nX = 'pytest' in sys.modules\n"),
    ] {
        check(changed(path, baseline, tree), &[]);
    }
}

#[test]
fn automation_is_a_note() {
    for (path, rule) in [
        (".github/workflows/ci.yml", "ci-settings"),
        (".pre-commit-config.yaml", "hook-settings"),
        (".claude/settings.json", "hook-settings"),
    ] {
        for (baseline, tree) in [(None, Some("b")), (Some("a"), None), (Some("a"), Some("b"))] {
            let findings = examine(&[(path, baseline, tree)], &Surroundings::default());
            assert_eq!(findings, [(rule.to_owned(), Severity::Warn)], "{path}");
        }
    }
}

#[test]
fn a_guarded_file_may_not_change_in_any_way_and_the_place_is_named() {
    let protected =
        |baseline, tree| ChangedFile { is_protected: true, ..changed("docs/a.md", baseline, tree) };
    let message = "a guarded file was changed: it";
    let rule = "Block protected-file docs/a.md";
    check(protected("a\nb\n", "a\nc\nb\n"), &[&format!("{rule}:2: {message} was changed [c]")]);
    check(protected("a\nb\n", "a\n"), &[&format!("{rule}:2: {message} was changed []")]);
    check(protected("", "a\n"), &[&format!("{rule}: {message} is new []")]);
    check(protected("a\n", ""), &[&format!("{rule}: {message} is gone []")]);
}

#[test]
fn what_a_client_keeps_of_permissions_is_no_change_of_its_hooks() {
    let settings = |permissions: &str| {
        format!(r#"{{"permissions":{{"allow":[{permissions}]}},"hooks":{{"Stop":[]}}}}"#)
    };
    let (baseline, permitted) = (settings(""), settings(r#""Bash(ls)""#));
    check(changed(".claude/settings.json", &baseline, &permitted), &[]);
}

#[test]
fn a_line_that_only_moves_is_none_that_was_added() {
    let line = "if \"pytest\" in sys.modules: pass\n";
    let files = [("src/a.py", Some(line), Some("")), ("src/b.py", None, Some(line))];
    assert_eq!(examine(&files, &Surroundings::default()), []);
    let twice = format!("{line}x = 1\n{line}");
    let files = [("src/a.py", Some(line), Some("")), ("src/b.py", None, Some(twice.as_str()))];
    let expected = [("detect-python".to_owned(), Severity::Block)];
    assert_eq!(examine(&files, &Surroundings::default()), expected);
    let vendored = [("vendor/x/a.py", None, Some(line))];
    let expected = [("detect-python".to_owned(), Severity::Warn)];
    assert_eq!(examine(&vendored, &Surroundings::default()), expected);
}

#[test]
fn findings_are_sorted_by_their_effect_and_place() {
    let surroundings = Surroundings::default();
    let mut examiner = Examiner::new(&surroundings);
    let finding =
        |severity, file: &str, line: usize| Finding::new("x", severity, file, "").at(line, "");
    for (severity, file, line) in [
        (Severity::Warn, "a", 1),
        (Severity::Block, "b", 7),
        (Severity::Block, "b", 2),
        (Severity::Tamper, "c", 1),
        (Severity::Block, "a", 9),
    ] {
        examiner.add(finding(severity, file, line));
    }
    let places: Vec<_> = examiner.finish().iter().map(Finding::place).collect();
    assert_eq!(places, ["c:2", "a:10", "b:3", "b:8", "a:2"]);
}

#[test]
fn new_files_that_hide_something() {
    let surroundings = Surroundings {
        folders: vec!["app".to_owned()],
        dependencies: vec!["pandas".to_owned()],
        targets: vec![MakeTarget { folder: String::new(), name: "test".to_owned() }],
    };
    for (path, expected) in [
        ("pytest.py", Some("shadows-tool")),
        ("app/unittest/__init__.py", Some("shadows-tool")),
        ("pandas/__init__.py", Some("shadows-dependency")),
        ("app/src/pandas.py", Some("shadows-dependency")),
        ("test", Some("shadows-target")),
        ("lib/pandas.py", None),
        ("app/models.py", None),
    ] {
        let findings = examine(&[(path, None, Some("x = 1\n"))], &surroundings);
        let rules: Vec<_> = findings.iter().map(|(rule, _)| rule.as_str()).collect();
        assert_eq!(rules, expected.into_iter().collect::<Vec<_>>(), "{path}");
    }
}
