//! The outcome of a control in a run.

use crate::control::is_about;
use crate::report::{Status, TestReport};

/// The outcome of a control.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ControlOutcome {
    /// It failed, and so did the command.
    Failed,
    /// It did not fail, although it was run.
    Passed,
    /// It failed, and the command ended with code 0.
    Masked,
    /// The tests ran without it.
    Missing,
    /// No test ran.
    NoTest,
}

impl ControlOutcome {
    /// The outcome of the control with this name, from a report and an exit code.
    pub(super) fn from_report(
        report: Option<&TestReport>,
        exit_code: Option<i32>,
        id: &str,
    ) -> Self {
        let Some(report) = report else {
            return Self::NoTest;
        };
        let mut named = report.tests.iter().filter(|test| test.id.contains(id)).peekable();
        if named.peek().is_some() {
            return match (named.any(|test| test.status == Status::Failed), exit_code) {
                (true, Some(0)) => Self::Masked,
                (true, _) => Self::Failed,
                (false, _) => Self::Passed,
            };
        }
        let failed_elsewhere = !report.errors.is_empty() && exit_code != Some(0);
        if report.executed() == 0 || failed_elsewhere {
            return Self::NoTest;
        }
        Self::Missing
    }

    /// Its name in records.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Failed => "failed-as-it-must",
            Self::Passed => "passed",
            Self::Masked => "masked",
            Self::Missing | Self::NoTest => "missing",
        }
    }

    /// A sentence for a person.
    pub(super) fn told(self, exit_code: Option<i32>) -> String {
        let code = match exit_code {
            Some(code) => format!("ended with code {code}"),
            None => "was ended by a signal".to_owned(),
        };
        let what = match self {
            Self::Failed => return String::new(),
            Self::Passed => "it is told as one that held".to_owned(),
            Self::Masked => "it failed, and the command ended with code 0".to_owned(),
            Self::Missing => format!("it is not among the tests that ran, and the command {code}"),
            Self::NoTest => format!("no test is told of, and the command {code}"),
        };
        format!("a test of gate's that has to fail did not fail the run: {what}")
    }
}

/// Takes a control out of a report.
pub(super) fn without(report: TestReport, id: &str) -> TestReport {
    let of = |status| {
        report.tests.iter().filter(move |test| test.status == status && test.id.contains(id))
    };
    let failed = report.failed.saturating_sub(of(Status::Failed).count() as u64);
    let tests = report.tests.iter().filter(|test| !test.id.contains(id)).cloned().collect();
    let flaky = report.flaky.iter().filter(|name| !name.contains(id)).cloned().collect();
    let failures = report.failures.iter().filter(|failure| {
        let test = failure.test.as_deref().unwrap_or_default();
        !is_about(test, id) && !is_about(&failure.message, id)
    });
    let failures = failures.cloned().collect();
    TestReport { tests, failed, flaky, failures, ..report }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::{Format, Test};

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
        for (tests, errors, code, expected) in [
            (vec![("a", Passed), ("t_id", Failed)], vec![], Some(1), ControlOutcome::Failed),
            (vec![("a", Passed), ("t_id", Failed)], vec![], None, ControlOutcome::Failed),
            (vec![("a", Passed), ("t_id", Failed)], vec![], Some(0), ControlOutcome::Masked),
            (vec![("a", Passed), ("t_id", Passed)], vec![], Some(1), ControlOutcome::Passed),
            (vec![("a", Passed), ("t_id", Skipped)], vec![], Some(0), ControlOutcome::Passed),
            (vec![("a", Passed)], vec![], Some(0), ControlOutcome::Missing),
            (vec![("a", Failed)], vec![], Some(1), ControlOutcome::Missing),
            (vec![("a", Passed)], vec!["not built"], Some(1), ControlOutcome::NoTest),
            (vec![("a", Skipped)], vec![], Some(0), ControlOutcome::NoTest),
        ] {
            let report = report(&tests, &errors);
            assert_eq!(
                ControlOutcome::from_report(Some(&report), code, "id"),
                expected,
                "{tests:?} {code:?}"
            );
        }
        assert_eq!(ControlOutcome::from_report(None, Some(0), "id"), ControlOutcome::NoTest);
    }

    #[test]
    fn without_it_a_report_is_the_one_of_the_others() {
        let with = report(&[("a", Status::Passed), ("t_id", Status::Failed)], &[]);
        assert_eq!(without(with, "id"), report(&[("a", Status::Passed)], &[]));
    }
}
