//! The outcome of a control in a run.

use crate::control::{Kind, Kinds, Names};
use crate::report::{Status, TestReport};

/// The outcome of a control.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum ControlOutcome {
    /// Each of its tests failed, and so did the command.
    Failed,
    /// The tests of these kinds did not fail, those of the others did.
    Partly { passed: Kinds, missing: Kinds },
    /// None failed, although they were run.
    Passed,
    /// It failed, and the command ended with code 0.
    Masked,
    /// The tests ran without it.
    Missing,
    /// No test ran.
    NoTest,
}

impl ControlOutcome {
    /// The outcome of the control with these names, from a report and an exit code.
    pub(super) fn from_report(
        report: Option<&TestReport>,
        exit_code: Option<i32>,
        id: &Names,
    ) -> Self {
        let Some(report) = report else {
            return Self::NoTest;
        };
        let kinds = |is: fn(Status) -> bool| -> Kinds {
            let tests = report.tests.iter().filter(|test| is(test.status));
            tests.filter_map(|test| id.kind(&test.id)).collect()
        };
        let (ran, failed) = (kinds(|_| true), kinds(|status| status == Status::Failed));
        if ran.is_empty() {
            let failed_elsewhere = !report.errors.is_empty() && exit_code != Some(0);
            return if report.executed() == 0 || failed_elsewhere {
                Self::NoTest
            } else {
                Self::Missing
            };
        }
        if failed.is_empty() {
            return Self::Passed;
        }
        if exit_code == Some(0) {
            return Self::Masked;
        }
        let passed = kinds(|status| status == Status::Passed);
        let missing = &(&id.kinds() - &failed) - &passed;
        if passed.is_empty() && missing.is_empty() {
            Self::Failed
        } else {
            Self::Partly { passed, missing }
        }
    }

    /// True if some of its tests were run and did not fail.
    pub(super) fn has_passed(&self) -> bool {
        match self {
            Self::Passed => true,
            Self::Partly { passed, .. } => !passed.is_empty(),
            _ => false,
        }
    }

    /// The kinds of tests that did not fail as they must.
    pub(super) fn lost(&self) -> Kinds {
        match self {
            Self::Failed => Kinds::new(),
            Self::Partly { passed, missing } => passed | missing,
            Self::Passed | Self::Masked | Self::Missing | Self::NoTest => Kinds::from(Kind::ALL),
        }
    }

    /// Its name in records.
    pub(super) fn name(&self) -> &'static str {
        match self {
            Self::Failed => "failed-as-it-must",
            Self::Masked => "masked",
            _ if self.has_passed() => "passed",
            _ => "missing",
        }
    }

    /// A sentence for a person.
    pub(super) fn summary(&self, exit_code: Option<i32>) -> String {
        let code = match exit_code {
            Some(code) => format!("ended with code {code}"),
            None => "was ended by a signal".to_owned(),
        };
        let what = match self {
            Self::Failed => return String::new(),
            _ if self.has_passed() => "it is reported as passed".to_owned(),
            Self::Masked => "it failed, and the command ended with code 0".to_owned(),
            Self::NoTest => format!("no test is reported, and the command {code}"),
            _ => format!("it is not among the tests that ran, and the command {code}"),
        };
        format!("a test of gate's that has to fail did not fail the run: {what}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::{Format, Test};

    fn names(tests: &[(Kind, usize)]) -> Names {
        Names::numbered(tests)
    }

    #[test]
    fn each_of_its_tests_has_to_fail() {
        use Status::{Failed, Passed, Skipped};
        let id = names(&[
            (Kind::Raise, 101),
            (Kind::Assertion, 102),
            (Kind::Inside, 103),
            (Kind::Inside, 104),
        ]);
        let kind = |kind: Kind| Kinds::from([kind]);
        let partly = |passed, missing| ControlOutcome::Partly { passed, missing };
        for (tests, code, expected) in [
            ([Failed, Failed, Failed, Failed], Some(1), ControlOutcome::Failed),
            ([Failed, Failed, Failed, Skipped], Some(1), ControlOutcome::Failed),
            ([Failed, Failed, Failed, Passed], Some(1), partly(kind(Kind::Inside), Kinds::new())),
            (
                [Failed, Passed, Failed, Failed],
                Some(1),
                partly(kind(Kind::Assertion), Kinds::new()),
            ),
            ([Failed, Failed, Skipped, Skipped], Some(1), partly(Kinds::new(), kind(Kind::Inside))),
            ([Failed, Passed, Failed, Failed], Some(0), ControlOutcome::Masked),
            ([Passed, Passed, Skipped, Skipped], Some(1), ControlOutcome::Passed),
        ] {
            let tests = ["t_101", "t_102", "a.x > t-103", "b.x > T104"].into_iter().zip(tests);
            let report = report(&tests.collect::<Vec<_>>(), &[]);
            let outcome = ControlOutcome::from_report(Some(&report), code, &id);
            assert_eq!(outcome, expected, "{:?} {code:?}", report.tests);
        }
        let lost = partly(kind(Kind::Inside), kind(Kind::Raise));
        assert_eq!(
            (lost.name(), lost.lost()),
            ("passed", Kinds::from([Kind::Raise, Kind::Inside]))
        );
        assert!(lost.has_passed());
        let missing = partly(Kinds::new(), kind(Kind::Raise));
        assert_eq!((missing.name(), missing.has_passed()), ("missing", false));
    }

    fn report(tests: &[(&str, Status)], errors: &[&str]) -> TestReport {
        let count = |status| tests.iter().filter(|test| test.1 == status).count() as u64;
        TestReport {
            format: Format::Pytest,
            tests: tests
                .iter()
                .map(|(id, status)| Test { id: (*id).into(), status: *status })
                .collect(),
            passed: count(Status::Passed),
            failed: count(Status::Failed),
            skipped: count(Status::Skipped),
            flaky: Vec::new(),
            errors: errors.iter().map(|error| (*error).to_owned()).collect(),
            problems: Vec::new(),
            failures: Vec::new(),
        }
    }

    #[test]
    fn a_control_has_to_fail_and_the_command_with_it() {
        use Status::{Failed, Passed, Skipped};
        let id = names(&[(Kind::Raise, 101)]);
        for (tests, errors, code, expected) in [
            (vec![("a", Passed), ("t_101", Failed)], vec![], Some(1), ControlOutcome::Failed),
            (vec![("a", Passed), ("t_101", Failed)], vec![], None, ControlOutcome::Failed),
            (vec![("a", Passed), ("t_101", Failed)], vec![], Some(0), ControlOutcome::Masked),
            (vec![("a", Passed), ("t_101", Passed)], vec![], Some(1), ControlOutcome::Passed),
            (vec![("a", Passed), ("t_101", Skipped)], vec![], Some(0), ControlOutcome::Passed),
            (vec![("a", Passed)], vec![], Some(0), ControlOutcome::Missing),
            (vec![("a", Failed)], vec![], Some(1), ControlOutcome::Missing),
            (vec![("a", Passed)], vec!["not built"], Some(1), ControlOutcome::NoTest),
            (vec![("a", Skipped)], vec![], Some(0), ControlOutcome::NoTest),
        ] {
            let report = report(&tests, &errors);
            assert_eq!(
                ControlOutcome::from_report(Some(&report), code, &id),
                expected,
                "{tests:?} {code:?}"
            );
        }
        assert_eq!(ControlOutcome::from_report(None, Some(0), &id), ControlOutcome::NoTest);
    }
}
