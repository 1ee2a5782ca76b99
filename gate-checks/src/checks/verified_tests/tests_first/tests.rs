//! Compilers' messages about tests that do not build.

use std::path::{Path, PathBuf};

use gate_core::decide::test_failure::TestFailure;

use super::*;
use crate::report::Format;

/// The files that only lack names, by a report with these errors outside of tests.
fn lacking(errors: &[(&str, &str)]) -> Vec<String> {
    let failures = errors.iter().map(|(file, message)| TestFailure {
        file: Some((*file).to_owned()),
        message: (*message).to_owned(),
        ..TestFailure::default()
    });
    let report = TestReport {
        format: Format::Libtest,
        tests: Vec::new(),
        passed: 0,
        failed: 0,
        skipped: 0,
        flaky: Vec::new(),
        errors: vec!["it does not build".to_owned()],
        problems: Vec::new(),
        failures: failures.collect(),
    };
    let tests = [PathBuf::from("app/new_test.go"), PathBuf::from("app/tests/new.rs")];
    not_built(&report, &tests, Path::new("app"))
}

#[test]
fn a_compiled_test_that_lacks_names_alone_is_not_built() {
    for (file, message) in [
        ("new_test.go", "./new_test.go:5:33: undefined: Div"),
        ("new_test.go", "./new_test.go:5:9: s.Div undefined (type Sum has no field or method Div)"),
        ("new_test.go", "./new_test.go:5:9: not enough arguments in call to Add"),
        ("tests/new.rs", "error[E0425]: cannot find function `div` in crate `calc`"),
        ("tests/new.rs", "error[E0432]: unresolved import `calc::div`"),
        ("tests/new.rs", "error[E0599]: no method named `div` found for struct `Calc`"),
    ] {
        assert_eq!(lacking(&[(file, message)]), [format!("app/{file}")], "{message}");
    }
}

#[test]
fn any_other_error_is_none() {
    let name = ("tests/new.rs", "error[E0425]: cannot find function `div` in crate `calc`");
    for errors in [
        [name, ("tests/new.rs", "error: expected one of `!` or `::`, found `div`")],
        [name, ("tests/new.rs", "error[E0308]: mismatched types")],
        [name, ("tests/new.rs", "error[E0432]: use of unresolved module or unlinked crate `x`")],
        // The product does not build, or an old test.
        [name, ("src/lib.rs", "error[E0425]: cannot find function `div` in this scope")],
    ] {
        assert!(lacking(&errors).is_empty(), "{errors:?}");
    }
    assert!(lacking(&[]).is_empty());
}
