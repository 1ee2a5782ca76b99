//! Compiled tests that cannot be built before the product has the names that they use.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use gate_platform::OsStrExt;

use crate::report::TestReport;
use crate::worktree::shown;

/// Parts of compilers' messages about a name that does not exist, or that is called otherwise than
/// it is written: rustc, go, tsc, javac, kotlinc, csc, swiftc.
const MISSING_NAMES: [&str; 24] = [
    "error[E0061]",
    "error[E0407]",
    "error[E0412]",
    "error[E0422]",
    "error[E0423]",
    "error[E0425]",
    "error[E0432]",
    "error[E0433]",
    "error[E0560]",
    "error[E0599]",
    "error[E0609]",
    "undefined: ",
    " undefined (type ",
    "not enough arguments in call",
    "too many arguments in call",
    "unknown field ",
    "error TS2304",
    "error TS2305",
    "error TS2339",
    "error TS2554",
    "cannot find symbol",
    "Unresolved reference",
    "error CS0117",
    "cannot find '",
];

/// Parts of the same messages that say that a package is missing, which no work on the product adds.
const MISSING_PACKAGES: [&str; 3] = ["unlinked crate", "missing crate", "can't find crate"];

/// The test files that lack only names of the product, as far as the compiler says. Empty if it says
/// anything else: then the product or an old test may be broken too.
pub(super) fn not_built(report: &TestReport, test_files: &[PathBuf], cwd: &Path) -> Vec<String> {
    let errors = report.failures.iter().filter(|failure| failure.test.is_none());
    let files: Option<BTreeSet<_>> = errors
        .map(|error| {
            let file = cwd.join(error.file.as_deref()?);
            let has = |parts: &[&str]| parts.iter().any(|part| error.message.contains(part));
            let is_missing_name = has(&MISSING_NAMES) && !has(&MISSING_PACKAGES);
            (is_missing_name && test_files.contains(&file))
                .then(|| shown(file.as_os_str().as_bytes()))
        })
        .collect();
    files.map(Vec::from_iter).unwrap_or_default()
}

#[cfg(test)]
mod tests {
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
            (
                "new_test.go",
                "./new_test.go:5:9: s.Div undefined (type Sum has no field or method Div)",
            ),
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
            [
                name,
                ("tests/new.rs", "error[E0432]: use of unresolved module or unlinked crate `x`"),
            ],
            // The product does not build, or an old test.
            [name, ("src/lib.rs", "error[E0425]: cannot find function `div` in this scope")],
        ] {
            assert!(lacking(&errors).is_empty(), "{errors:?}");
        }
        assert!(lacking(&[]).is_empty());
    }
}
