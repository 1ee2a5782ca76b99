//! The outcome of a control in a run.

use crate::control::{ControlNames, FailureKind, FailureKinds};
use crate::report::{Status, TestReport};

/// The outcome of a control.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum ControlOutcome {
    /// Each of the control's tests failed, and so did the command.
    Failed,
    /// The tests of these kinds did not fail, those of the other kinds did.
    Partly { passed: FailureKinds, missing: FailureKinds },
    /// No test of the control failed, although they were run.
    Passed,
    /// A test of the control failed, and the command ended with code 0.
    Masked,
    /// The project's tests ran without the control's.
    Missing,
    /// No test ran.
    NoTest,
}

impl ControlOutcome {
    /// The outcome of the control with these names, from a report and an exit code.
    pub(super) fn from_report(
        report: Option<&TestReport>,
        exit_code: Option<i32>,
        names: &ControlNames,
    ) -> Self {
        let Some(report) = report else {
            return Self::NoTest;
        };
        let kinds_with = |is_counted: fn(Status) -> bool| -> FailureKinds {
            let tests = report.tests.iter().filter(|test| is_counted(test.status));
            tests.filter_map(|test| names.kind_of(&test.id)).collect()
        };
        let reported = kinds_with(|_| true);
        let failed = kinds_with(|status| status == Status::Failed);
        if reported.is_empty() {
            // With an error outside of tests the run may have stopped before the control's turn.
            let has_failed_elsewhere = !report.errors.is_empty() && exit_code != Some(0);
            return if report.executed() == 0 || has_failed_elsewhere {
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
        let passed = kinds_with(|status| status == Status::Passed);
        let missing = &(&names.kinds() - &failed) - &passed;
        if passed.is_empty() && missing.is_empty() {
            Self::Failed
        } else {
            Self::Partly { passed, missing }
        }
    }

    /// Tests of the control were run and did not fail.
    pub(super) fn has_passed(&self) -> bool {
        match self {
            Self::Passed => true,
            Self::Partly { passed, .. } => !passed.is_empty(),
            _ => false,
        }
    }

    /// The kinds of tests that did not fail as they must.
    pub(super) fn not_failed(&self) -> FailureKinds {
        match self {
            Self::Failed => FailureKinds::new(),
            Self::Partly { passed, missing } => passed | missing,
            Self::Passed | Self::Masked | Self::Missing | Self::NoTest => {
                FailureKinds::from(FailureKind::ALL)
            }
        }
    }

    /// The outcome's name in records.
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
        let observation = match self {
            Self::Failed => return String::new(),
            _ if self.has_passed() => "it is reported as passed".to_owned(),
            Self::Masked => "it failed, and the command ended with code 0".to_owned(),
            Self::NoTest => format!("no test is reported, and the command {code}"),
            _ => format!("it is not among the tests that ran, and the command {code}"),
        };
        format!("a test of gate's that has to fail did not fail the run: {observation}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::{Format, Test};

    fn names(tests: &[(FailureKind, usize)]) -> ControlNames {
        ControlNames::numbered(tests)
    }

    #[test]
    fn each_of_its_tests_has_to_fail() {
        use Status::{Failed, Passed, Skipped};
        let id = names(&[
            (FailureKind::Raise, 101),
            (FailureKind::Assertion, 102),
            (FailureKind::Inside, 103),
            (FailureKind::Inside, 104),
        ]);
        let kind = |kind: FailureKind| FailureKinds::from([kind]);
        let partly = |passed, missing| ControlOutcome::Partly { passed, missing };
        for (tests, code, expected) in [
            ([Failed, Failed, Failed, Failed], Some(1), ControlOutcome::Failed),
            ([Failed, Failed, Failed, Skipped], Some(1), ControlOutcome::Failed),
            (
                [Failed, Failed, Failed, Passed],
                Some(1),
                partly(kind(FailureKind::Inside), FailureKinds::new()),
            ),
            (
                [Failed, Passed, Failed, Failed],
                Some(1),
                partly(kind(FailureKind::Assertion), FailureKinds::new()),
            ),
            (
                [Failed, Failed, Skipped, Skipped],
                Some(1),
                partly(FailureKinds::new(), kind(FailureKind::Inside)),
            ),
            ([Failed, Passed, Failed, Failed], Some(0), ControlOutcome::Masked),
            ([Passed, Passed, Skipped, Skipped], Some(1), ControlOutcome::Passed),
        ] {
            let tests = ["t_101", "t_102", "a.x > t-103", "b.x > T104"].into_iter().zip(tests);
            let report = report(&tests.collect::<Vec<_>>(), &[]);
            let outcome = ControlOutcome::from_report(Some(&report), code, &id);
            assert_eq!(outcome, expected, "{:?} {code:?}", report.tests);
        }
        let both_ways = partly(kind(FailureKind::Inside), kind(FailureKind::Raise));
        assert_eq!(
            (both_ways.name(), both_ways.not_failed()),
            ("passed", FailureKinds::from([FailureKind::Raise, FailureKind::Inside]))
        );
        assert!(both_ways.has_passed());
        let missing = partly(FailureKinds::new(), kind(FailureKind::Raise));
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
        let id = names(&[(FailureKind::Raise, 101)]);
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
