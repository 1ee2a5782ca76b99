//! What a finding says, and what stands beside tests.

use super::*;

/// The findings about one changed file, each in a line: its effect, its place, its
/// message and what stands there.
fn told(file: Changed<'_>, around: &Around) -> Vec<String> {
    let mut examiner = Examiner::new(around);
    examiner.file(&file);
    let line = |found: Finding| {
        let (rule, place, message) = (&found.rule, found.place(), &found.message);
        format!("{:?} {rule} {place}: {message} [{}]", found.severity, found.excerpt)
    };
    examiner.finish().into_iter().map(line).collect()
}

fn changed<'a>(path: &'a str, before: &'a str, now: &'a str) -> Changed<'a> {
    let texts = [before, now].map(|text| Some(text.as_bytes()).filter(|text| !text.is_empty()));
    Changed { path, guarded: guarded(path), before: texts[0], now: texts[1], ..Changed::default() }
}

#[track_caller]
fn check(file: Changed<'_>, expected: &[&str]) {
    assert_eq!(told(file, &Around::default()), expected, "{file:?}");
}

#[test]
fn a_protected_file_may_not_change_in_any_way_and_the_place_is_named() {
    let protected = |before, now| Changed { protected: true, ..changed("docs/a.md", before, now) };
    let what = "a protected file was changed: it";
    let rule = "Tamper protected-file docs/a.md";
    check(protected("a\nb\n", "a\nc\nb\n"), &[&format!("{rule}:2: {what} was changed [c]")]);
    check(protected("a\nb\n", "a\n"), &[&format!("{rule}:2: {what} was changed []")]);
    check(protected("", "a\n"), &[&format!("{rule}: {what} is new []")]);
    check(protected("a\n", ""), &[&format!("{rule}: {what} is gone []")]);
    check(protected("a\n", "a\n"), &[&format!("{rule}: {what} was changed []")]);
}

#[test]
fn a_script_of_a_check_may_be_new_and_not_another_one() {
    let script = |before, now| Changed { script: true, ..changed("ci/test.sh", before, now) };
    check(script("", "make\n"), &[]);
    check(
        script("make\n", "true\n"),
        &["Tamper script-changed ci/test.sh:1: a script that a check runs was changed: \
           it was changed [true]"],
    );
    let gone =
        "Tamper script-changed ci/test.sh: a script that a check runs was changed: it is gone []";
    check(script("make\n", ""), &[gone]);
}

#[test]
fn what_a_client_keeps_of_permissions_is_no_change_of_its_hooks() {
    let settings = |permissions: &str, hooks: &str| {
        format!(r#"{{"permissions":{{"allow":[{permissions}]}},"hooks":{{{hooks}}}}}"#)
    };
    let path = ".claude/settings.json";
    let stop = r#""Stop":[{"hooks":[{"type":"command","command":"gate hook"}]}]"#;
    let (before, permitted) = (settings("", stop), settings(r#""Bash(ls)""#, stop));
    check(changed(path, &before, &permitted), &[]);
    let rules = |file| -> Vec<String> {
        let found = told(file, &Around::default());
        found.iter().map(|line| line.split(' ').nth(1).unwrap().to_owned()).collect()
    };
    let without_hooks = settings("", "");
    assert_eq!(rules(changed(path, &before, &without_hooks)), ["hook-settings"]);
    assert_eq!(rules(changed(path, "", &permitted)), ["hook-settings"]);
}

const HELPED: &str =
    "import a\nfrom b import c\n\nLIMIT = 3\n\n\ndef test_a():\n    assert c(LIMIT) == 4\n";

#[test]
fn imports_beside_tests_only_warn_and_other_code_blocks() {
    let path = "tests/test_a.py";
    let edited = |from: &str, to: &str| HELPED.replace(from, to);
    let found =
        |severity: &str, line: &str| vec![format!("{severity} support-edited {path}:{line}")];
    let what = "what tests rest on was changed";
    let of = |now: &str| told(changed(path, HELPED, now), &Around::default());
    assert_eq!(of(&edited("import a\n", "")), found("Warn", &format!("1: {what} [import a]")));
    assert_eq!(
        of(&edited("LIMIT = 3", "LIMIT = 4")),
        found("Block", &format!("4: {what} [LIMIT = 3]"))
    );
    let both = edited("import a\n", "").replace("LIMIT = 3", "LIMIT = 4");
    assert_eq!(of(&both), found("Block", &format!("4: {what} [LIMIT = 3]")));
    let overlaid = Around { overlaid: vec![Language::Python], ..Around::default() };
    let now = edited("LIMIT = 3", "LIMIT = 4");
    assert_eq!(
        told(changed(path, HELPED, &now), &overlaid),
        found("Warn", &format!("4: {what} [LIMIT = 3]"))
    );
    assert_eq!(of(&edited("LIMIT = 3", "LIMIT = 3\nMORE = 4")), [""; 0]);
}

#[test]
fn a_new_test_that_asserts_nothing_is_worth_a_look() {
    let new = |body: &str| {
        let now = format!("{HELPED}\n\ndef test_b():\n    {body}\n");
        told(changed("tests/test_a.py", HELPED, &now), &Around::default())
    };
    let silent = new("c(1)");
    assert_eq!(silent.len(), 1, "{silent:?}");
    assert!(silent[0].starts_with("Warn ") && silent[0].contains("tests/test_a.py:"), "{silent:?}");
    assert!(silent[0].contains(": test_b"), "{silent:?}");
    for body in ["assert c(1)", "verify(c(1))", "with raises(E): c(1)", "c(1).should.equal(2)"] {
        assert_eq!(new(body), [""; 0], "{body}");
    }
}

#[test]
fn each_copy_of_a_test_has_to_stay() {
    let copy = "def test_a():\n    assert f() == 1\n";
    let twice = format!("{copy}\n\n{copy}");
    let rules = |files: &[(&str, Option<&str>, Option<&str>)]| {
        let found = examine(files, &Around::default());
        found.into_iter().map(|(rule, _)| rule).collect::<Vec<_>>()
    };
    let path = "tests/test_a.py";
    assert_eq!(rules(&[(path, Some(&twice), Some(&twice))]), [""; 0]);
    assert_eq!(rules(&[(path, Some(&twice), Some(copy))]), ["test-edited"]);
    let other = "tests/test_b.py";
    assert_eq!(rules(&[(path, Some(&twice), Some(copy)), (other, None, Some(copy))]), [""; 0]);
}

#[test]
fn a_file_whose_bytes_only_moved_is_no_change_of_what_it_holds() {
    let moved = |path, before, now| Changed { moved: true, ..changed(path, before, now) };
    let skips = "import pytest\n\n\n@pytest.mark.skip\ndef test_a():\n    assert True\n";
    let around = Around::default();
    let mut examiner = Examiner::new(&around);
    examiner.file(&moved("tests/test_a.py", skips, ""));
    examiner.file(&moved("tests/unit/test_a.py", "", skips));
    assert_eq!(examiner.finish(), []);
    check(moved("tests/data/a.json", "{}\n", ""), &[]);
    let gone = told(changed("tests/__snapshots__/a.snap", "a\n", ""), &Around::default());
    assert_eq!(gone.len(), 1, "{gone:?}");
}

#[test]
fn findings_of_the_caller_are_sorted_in_by_their_effect_and_place() {
    let around = Around::default();
    let mut examiner = Examiner::new(&around);
    let of = |severity, file: &str, line: usize| Finding::new("x", severity, file, "").at(line, "");
    for (severity, file, line) in [
        (Severity::Warn, "a", 1),
        (Severity::Block, "b", 7),
        (Severity::Block, "b", 2),
        (Severity::Tamper, "c", 1),
        (Severity::Block, "a", 9),
    ] {
        examiner.found(of(severity, file, line));
    }
    let places: Vec<_> = examiner.finish().iter().map(Finding::place).collect();
    assert_eq!(places, ["c:2", "a:10", "b:3", "b:8", "a:2"]);
}

#[test]
fn an_edited_test_is_named_before_a_new_file_full_of_warnings() {
    let around = Around { overlaid: vec![Language::Python], ..Around::default() };
    let mut examiner = Examiner::new(&around);
    examiner.file(&changed("a.py", "", "def new():\n    pass  # pragma: no cover\n"));
    examiner.file(&changed("b.py", "x = 1\n", "x = 1  # noqa\n"));
    let test = |body: &str| format!("def test_c():\n    assert {body}\n");
    examiner.file(&changed("tests/test_c.py", &test("c() == 3"), &test("c() == 4")));
    let mut found = examiner.finish();
    found.retain(|finding| finding.severity == Severity::Warn);
    let places: Vec<_> = found.iter().map(|finding| finding.file.as_str()).collect();
    assert_eq!(places, ["tests/test_c.py", "a.py"]);
}

#[test]
fn what_is_no_text_is_compared_as_far_as_it_can_be_read() {
    let path = "tests/__snapshots__/a.snap";
    let file = |now: &'static [u8]| Changed {
        path,
        guarded: guarded(path),
        before: Some(b"a\xff\nb\n"),
        now: Some(now),
        ..Changed::default()
    };
    check(file(b"a\xff\nb\nc\n"), &[]);
    let found = told(file(b"a\xff\n\xfe\n"), &Around::default());
    assert_eq!(
        found,
        [format!("Block support-edited {path}:2: what tests rest on was changed [b]")]
    );
}
