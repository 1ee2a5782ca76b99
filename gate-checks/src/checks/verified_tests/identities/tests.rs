//! The baseline's tests beside those of a run.

use super::*;
use crate::report::Format;

use Status::{Failed, Passed, Skipped};

fn tests_named(tests: &[(&str, Status)]) -> Vec<Test> {
    tests.iter().map(|(id, status)| Test { id: (*id).to_owned(), status: *status }).collect()
}

fn report(tests: &[(&str, Status)]) -> TestReport {
    let count = |counted| tests.iter().filter(|(_, status)| *status == counted).count() as u64;
    TestReport {
        format: Format::Pytest,
        tests: tests_named(tests),
        passed: count(Passed),
        failed: count(Failed),
        skipped: count(Skipped),
        flaky: Vec::new(),
        errors: Vec::new(),
        problems: Vec::new(),
        failures: Vec::new(),
    }
}

fn file_moved(from: &str, to: &str, cwd: &str) -> NameChanges {
    let moved = moved_prefixes(Path::new(from), Path::new(to), Path::new(cwd));
    NameChanges { moved, approved_prefixes: Vec::new() }
}

fn allowance(test: Option<&str>, path: Option<&str>, rule: Option<&str>) -> Allowance {
    let [test, path, rule] = [test, path, rule].map(|part| part.map(str::to_owned));
    Allowance { path, test, rule, reason: "agreed".to_owned() }
}

fn names(ids: &[&str]) -> Vec<String> {
    ids.iter().map(|&id| id.to_owned()).collect()
}

/// The number that ran, and the names of those that are gone and those that are skipped.
#[track_caller]
fn check(old: &[(&str, Status)], new: &[(&str, Status)], expected: (usize, &[&str], &[&str])) {
    let comparison = compare(&tests_named(old), &report(new), &NameChanges::default(), &[]);
    let (executed, missing, skipped) = expected;
    let (missing, skipped) = (names(missing), names(skipped));
    assert_eq!(comparison, Comparison { executed, missing, skipped, ..Comparison::default() });
}

#[test]
fn a_test_of_the_baseline_has_to_be_there_and_to_run() {
    let baseline_tests = [("t.py::a", Passed), ("t.py::b", Failed), ("t.py::c", Skipped)];
    check(&baseline_tests, &baseline_tests, (2, &[], &[]));
    check(&baseline_tests, &[("t.py::a", Failed), ("t.py::b", Passed)], (2, &[], &[]));
    check(&baseline_tests, &[("t.py::a", Passed), ("t.py::c", Passed)], (1, &["t.py::b"], &[]));
    check(&baseline_tests, &[("t.py::a", Skipped), ("t.py::b", Passed)], (1, &[], &["t.py::a"]));
    check(&baseline_tests, &[], (0, &["t.py::a", "t.py::b"], &[]));
}

#[test]
fn more_tests_do_not_make_up_for_one_that_is_gone() {
    let run = [("t.py::x", Passed), ("t.py::y", Passed), ("t.py::z", Passed)];
    check(&[("t.py::a", Passed)], &run, (0, &["t.py::a"], &[]));
}

#[test]
fn a_documentation_test_is_the_same_on_another_line() {
    let baseline_tests = [("lib::src/lib.rs - f (line 3)", Passed)];
    check(&baseline_tests, &[("lib::src/lib.rs - f (line 41)", Passed)], (1, &[], &[]));
    let other = [("lib::src/lib.rs - g (line 3)", Passed)];
    check(&baseline_tests, &other, (0, &["lib::src/lib.rs - f"], &[]));
    check(&[("t > a (line x", Passed)], &[("t > a", Passed)], (0, &["t > a (line x"], &[]));
}

#[test]
fn one_that_runs_is_enough_of_two_tests_with_one_name() {
    let run = [("lib::f (line 1)", Skipped), ("lib::f (line 9)", Passed)];
    check(&[("lib::f (line 1)", Passed), ("lib::f (line 9)", Passed)], &run, (1, &[], &[]));
}

/// The new name of a test after its file was moved.
#[track_caller]
fn check_moved(name_changes: &NameChanges, old_name: &str, new_name: &str, is_moved: bool) {
    let comparison = compare(
        &tests_named(&[(old_name, Passed)]),
        &report(&[(new_name, Passed)]),
        name_changes,
        &[],
    );
    let expected = match is_moved {
        true => Comparison { executed: 1, moved: names(&[old_name]), ..Comparison::default() },
        false => Comparison { missing: names(&[old_name]), ..Comparison::default() },
    };
    assert_eq!(comparison, expected, "{old_name} {new_name}");
}

#[test]
fn tests_move_with_their_file() {
    let python = file_moved("tests/test_a.py", "tests/unit/test_a.py", "");
    check_moved(&python, "tests/test_a.py::T::a", "tests/unit/test_a.py::T::a", true);
    check_moved(&python, "tests.test_a.T.a", "tests.unit.test_a.T.a", true);
    check_moved(&python, "tests/test_a.py::T::a", "tests/unit/test_a.py::T::b", false);
    check_moved(&python, "tests/test_a.pyx::a", "tests/unit/test_a.pyx::a", false);
    let rust = file_moved("core/src/math.rs", "core/src/sums/mod.rs", "core");
    check_moved(&rust, "core::math::tests::adds", "core::sums::tests::adds", true);
    check_moved(&rust, "core::maths::tests::adds", "core::sums::tests::adds", false);
    check_moved(&rust, "core::math_2::adds", "core::sums_2::adds", false);
    let program = file_moved("core/tests/old.rs", "core/tests/new.rs", "core");
    check_moved(&program, "old::adds", "new::adds", true);
    let script = file_moved("web/src/a.test.js", "web/src/b.test.js", "web");
    check_moved(&script, "src/a.test.js > group > adds", "src/b.test.js > group > adds", true);
}

#[test]
fn a_test_that_stayed_although_a_file_moved_is_no_moved_one() {
    let name_changes = file_moved("tests/test_a.py", "tests/test_b.py", "");
    let id = "tests/test_a.py::a";
    let comparison =
        compare(&tests_named(&[(id, Passed)]), &report(&[(id, Passed)]), &name_changes, &[]);
    assert_eq!(comparison, Comparison { executed: 1, ..Comparison::default() });
}

#[test]
fn a_file_is_spelled_as_each_runner_names_its_tests() {
    let check = |path: &str, cwd: &str, expected: [&str; 6]| {
        assert_eq!(name_prefixes(Path::new(path), Path::new(cwd)), expected, "{path}");
    };
    let inner = "app/src/math/mod.rs";
    check(
        inner,
        "app",
        [inner, "src/math/mod.rs", "app.src.math.mod", "src.math.mod", "mod", "math"],
    );
    let test = "tests/it.rs";
    check(test, "", [test, test, "tests.it", "tests.it", "it", "tests::it"]);
    check(test, "app", [test, test, "tests.it", "tests.it", "it", "tests::it"]);
}

#[test]
fn tests_in_files_that_may_change_may_go() {
    let approved_prefixes = name_prefixes(Path::new("tests/test_a.py"), Path::new(""));
    let name_changes = NameChanges { moved: Vec::new(), approved_prefixes };
    let baseline_tests =
        tests_named(&[("tests/test_a.py::a", Passed), ("tests/test_ab.py::a", Passed)]);
    let comparison = compare(&baseline_tests, &report(&[]), &name_changes, &[]);
    let (allowed, missing) = (names(&["tests/test_a.py::a"]), names(&["tests/test_ab.py::a"]));
    assert_eq!(comparison, Comparison { allowed, missing, ..Comparison::default() });
}

#[test]
fn tests_that_the_operator_lets_go_are_neither_gone_nor_skipped() {
    let baseline_tests =
        tests_named(&[("t.py::old_a", Passed), ("t.py::old_b", Passed), ("t.py::c", Passed)]);
    let report = report(&[("t.py::old_b", Skipped), ("t.py::c", Skipped)]);
    let comparison = compare(
        &baseline_tests,
        &report,
        &NameChanges::default(),
        &[allowance(Some("old_*"), None, None)],
    );
    let (allowed, skipped) = (names(&["t.py::old_a", "t.py::old_b"]), names(&["t.py::c"]));
    assert_eq!(comparison, Comparison { allowed, skipped, ..Comparison::default() });
    assert_eq!(comparison.difference().unwrap(), "1 test of the baseline is skipped now: t.py::c");
}

#[test]
fn an_allowance_names_a_test_by_its_whole_name_or_its_end() {
    let check = |glob: &str, id: &str, expected: bool| {
        let allow = [allowance(Some(glob), None, None)];
        assert_eq!(is_allowed(id, &allow), expected, "{glob} {id}");
    };
    check("tests/test_a.py::T::adds", "tests/test_a.py::T::adds", true);
    check("T::adds", "tests/test_a.py::T::adds", true);
    check("adds", "tests/test_a.py::T::adds", true);
    check("adds", "tests/test_a.py::T::it_adds", false);
    check("add", "tests/test_a.py::T::adds", false);
    check("group > adds", "a.test.js > group > adds", true);
    check("TestAdds", "example.com/sum.TestAdds", true);
    check("T::*", "tests/test_a.py::T::adds", true);
}

#[test]
fn an_allowance_of_a_path_is_about_that_files_tests_alone() {
    let adds = [allowance(Some("adds"), Some("tests/**"), None)];
    assert!(is_allowed("tests/unit/test_a.py::adds", &adds));
    assert!(!is_allowed("src/test_a.py::adds", &adds));
    let script = [allowance(Some("adds"), Some("*.test.js"), None)];
    assert!(is_allowed("a.test.js > group > adds", &script));
    assert!(!is_allowed("src/a.test.js > group > adds", &script));
    assert!(!is_allowed("adds", &[allowance(Some("adds"), Some("["), None)]));
}

#[test]
fn an_allowance_of_a_rule_or_a_whole_file_lets_no_test_go() {
    let allow = [
        allowance(Some("adds"), None, Some("test-gone")),
        allowance(None, Some("**"), None),
        allowance(Some("other"), None, None),
    ];
    assert!(!is_allowed("t.py::adds", &allow));
    assert!(is_allowed("t.py::other", &allow));
}

#[test]
fn a_star_stands_for_anything() {
    let check = |pattern: &str, text: &str, expected: bool| {
        assert_eq!(matches_pattern(pattern, text), expected, "{pattern} {text}");
    };
    check("a", "a", true);
    check("a", "ab", false);
    check("", "", true);
    check("*", "", true);
    check("**", "a", true);
    check("a*", "a", true);
    check("*a", "ba", true);
    check("*a", "ab", false);
    check("a*a", "a", false);
    check("a*b*c", "a-b-c", true);
    check("a*c*b", "a-b-c", false);
    check("a*b*b", "a-b", false);
}

#[track_caller]
fn check_sentence(missing: &[&str], skipped: &[&str], expected: Option<&str>) {
    let comparison =
        Comparison { missing: names(missing), skipped: names(skipped), ..Comparison::default() };
    assert_eq!(comparison.difference().as_deref(), expected);
}

#[test]
fn the_difference_is_told_in_a_sentence() {
    check_sentence(&[], &[], None);
    check_sentence(&["a"], &[], Some("1 test of the baseline is gone: a"));
    check_sentence(&["a", "b"], &[], Some("2 tests of the baseline are gone: a, b"));
    check_sentence(&[], &["a"], Some("1 test of the baseline is skipped now: a"));
    check_sentence(
        &["a"],
        &["b", "c"],
        Some("1 test of the baseline is gone: a; 2 are skipped now: b, c"),
    );
    check_sentence(
        &["a", "b", "c", "d", "e"],
        &["f"],
        Some("5 tests of the baseline are gone: a, b, c and 2 more; 1 is skipped now: f"),
    );
}

#[test]
fn a_record_lists_fifty_names_of_each_kind() {
    let many: Vec<_> = (0..60).map(|number| format!("t{number:02}")).collect();
    let comparison = Comparison { executed: 70, missing: many.clone(), ..Comparison::default() };
    let detail = comparison.detail();
    assert_eq!(detail["missing"], json!(many[..50]));
    assert_eq!((&detail["passed"], &detail["skipped"]), (&json!(70), &json!([])));
}

#[test]
fn a_report_that_counts_more_than_it_names_is_no_list_of_tests() {
    let mut named = report(&[("a", Passed), ("b", Skipped)]);
    assert!(is_fully_named(&named));
    named.skipped += 1;
    assert!(!is_fully_named(&named));
    assert!(!is_fully_named(&report(&[])));
}

#[test]
fn a_new_test_is_one_that_the_baseline_did_not_have_in_any_state() {
    let baseline_tests = tests_named(&[("a", Passed), ("b", Skipped), ("f (line 1)", Passed)]);
    let report = report(&[
        ("a", Passed),
        ("b", Passed),
        ("c", Passed),
        ("d", Failed),
        ("f (line 8)", Passed),
    ]);
    assert_eq!(new_and_passed(&baseline_tests, &report), ["c"]);
}

#[test]
fn the_projects_folder_is_named_from_the_real_root() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().canonicalize().unwrap();
    std::fs::create_dir_all(root.join("tree/app")).unwrap();
    gate_platform::symlink(root.join("tree/app"), root.join("link")).unwrap();
    let check = |cwd: &str, expected: &str| {
        assert_eq!(
            relative_folder(&root.join(cwd), &root.join("tree")),
            Path::new(expected),
            "{cwd}"
        );
    };
    check("tree", "");
    check("tree/app", "app");
    check("link", "app");
    check("tree/not/there", "not/there");
    check("elsewhere", "");
}
