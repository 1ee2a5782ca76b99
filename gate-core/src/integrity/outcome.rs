//! The outcome of all findings: what the operator allowed, the budget, the verdict.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::finding::{Finding, Severity};
use crate::decide::evidence::Outcome;
use crate::decide::policy::{Allowance, IntegrityPolicy};

/// A finding that the operator allowed.
#[non_exhaustive]
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Allowed {
    /// The finding.
    pub finding: Finding,
    /// Why it is allowed, as settings say.
    pub reason: String,
}

/// The outcome of all findings.
#[non_exhaustive]
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Weighed {
    /// Pass, fail or tamper.
    pub outcome: Outcome,
    /// One line for a person.
    pub summary: String,
    /// Findings that decide, and those that are only shown; the worst first.
    pub findings: Vec<Finding>,
    /// Findings that the operator allowed.
    pub allowed: Vec<Allowed>,
    /// The number of suppressions.
    pub suppressions: usize,
}

/// The most findings that the summary names.
const MAX_NAMED_FINDINGS: usize = 3;

/// Weighs findings; `matches` returns true if a glob of settings matches a file.
pub fn weigh(
    findings: Vec<Finding>,
    policy: &IntegrityPolicy,
    matches: impl Fn(&str, &str) -> bool,
) -> Weighed {
    let (mut left, mut allowed) = (Vec::new(), Vec::new());
    for finding in findings {
        match policy.allow.iter().find(|rule| permits(rule, &finding, &matches)) {
            Some(rule) => allowed.push(Allowed { finding, reason: rule.reason.clone() }),
            None => left.push(finding),
        }
    }
    let suppressions = left.iter().filter(|one| one.severity == Severity::Budget).count();
    let is_over = suppressions > policy.budget as usize;
    let deciding = left.iter().filter(|finding| match finding.severity {
        Severity::Tamper | Severity::Block => true,
        Severity::Budget => is_over,
        Severity::Warn => false,
    });
    let deciding: Vec<&Finding> = deciding.collect();
    let outcome = match deciding.iter().map(|finding| finding.severity).max() {
        Some(Severity::Tamper) => Outcome::Tamper,
        Some(_) => Outcome::Fail,
        None => Outcome::Pass,
    };
    let summary = summary(&deciding, left.len() - deciding.len(), allowed.len());
    Weighed { outcome, summary, findings: left, allowed, suppressions }
}

/// A rule of the operator's allows a finding if all that it names fits.
fn permits(rule: &Allowance, finding: &Finding, matches: &impl Fn(&str, &str) -> bool) -> bool {
    let path = rule.path.as_ref().is_none_or(|glob| matches(glob, &finding.file));
    let named = rule.rule.as_ref().is_none_or(|id| *id == finding.rule);
    let test = rule
        .test
        .as_ref()
        .is_none_or(|pattern| finding.test.as_ref().is_some_and(|test| names(pattern, test)));
    path && named && test
}

/// Matches a test's name with a pattern, or with the last part of the pattern: a test's
/// name within its file.
fn names(pattern: &str, test: &str) -> bool {
    let own = pattern.rsplit("::").next().unwrap_or(pattern);
    let own = own.split('[').next().unwrap_or(own);
    [pattern, own].iter().any(|pattern| fits(pattern, test))
}

/// Matches a text with a pattern, in which `*` stands for anything.
fn fits(pattern: &str, text: &str) -> bool {
    let mut parts = pattern.split('*');
    let first = parts.next().unwrap_or_default();
    let Some(mut rest) = text.strip_prefix(first) else { return false };
    let parts: Vec<_> = parts.collect();
    let Some((last, middle)) = parts.split_last() else { return rest.is_empty() };
    for part in middle {
        let Some(at) = rest.find(part) else { return false };
        rest = &rest[at + part.len()..];
    }
    rest.ends_with(last)
}

fn summary(deciding: &[&Finding], shown: usize, allowed: usize) -> String {
    let beside = [(shown, if shown == 1 { "warning" } else { "warnings" }), (allowed, "allowed")];
    let beside = beside.iter().filter(|(count, _)| *count > 0);
    let beside: Vec<_> = beside.map(|(count, what)| format!("{count} {what}")).collect();
    let beside =
        if beside.is_empty() { String::new() } else { format!(" ({})", beside.join(", ")) };
    if deciding.is_empty() {
        return format!("no tests or settings were weakened{beside}");
    }
    let named = deciding.iter().take(MAX_NAMED_FINDINGS);
    let named: Vec<_> =
        named.map(|one| format!("{}: {} [{}]", one.place(), one.message, one.rule)).collect();
    let more = deciding.len().saturating_sub(MAX_NAMED_FINDINGS);
    let more = if more > 0 { format!("; and {more} more") } else { String::new() };
    format!("{}{more}{beside}", named.join("; "))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn finding(rule: &str, severity: Severity, file: &str) -> Finding {
        Finding::new(rule, severity, file, "x")
    }

    fn allowance(path: Option<&str>, test: Option<&str>, rule: Option<&str>) -> Allowance {
        let own = |text: Option<&str>| text.map(str::to_owned);
        Allowance { path: own(path), test: own(test), rule: own(rule), reason: "because".into() }
    }

    #[track_caller]
    fn check(findings: &[Finding], policy: &IntegrityPolicy, expected: Outcome) {
        let weighed = weigh(findings.to_vec(), policy, |glob, file| glob == file);
        assert_eq!(weighed.outcome, expected, "{}", weighed.summary);
    }

    #[test]
    fn the_worst_decides_and_a_warning_never() {
        let policy = IntegrityPolicy::default();
        let of = |severity| finding("a", severity, "f");
        check(&[], &policy, Outcome::Pass);
        check(&[of(Severity::Warn)], &policy, Outcome::Pass);
        check(&[of(Severity::Warn), of(Severity::Block)], &policy, Outcome::Fail);
        check(&[of(Severity::Block), of(Severity::Tamper)], &policy, Outcome::Tamper);
    }

    #[test]
    fn suppressions_block_above_the_budget() {
        let two = [finding("a", Severity::Budget, "f"), finding("b", Severity::Budget, "g")];
        for (budget, expected) in [(0, Outcome::Fail), (1, Outcome::Fail), (2, Outcome::Pass)] {
            let policy = IntegrityPolicy { budget, ..IntegrityPolicy::default() };
            check(&two, &policy, expected);
        }
    }

    #[test]
    fn what_is_allowed_is_told_and_decides_nothing() {
        let edited =
            finding("test-edited", Severity::Block, "tests/a.py").for_test("test_import_x");
        for (rule, expected) in [
            (allowance(Some("tests/a.py"), None, None), Outcome::Pass),
            (allowance(Some("tests/b.py"), None, None), Outcome::Fail),
            (allowance(None, Some("test_import_*"), None), Outcome::Pass),
            (allowance(None, Some("tests/a.py::test_import_*"), None), Outcome::Pass),
            (allowance(None, Some("test_export_*"), None), Outcome::Fail),
            (allowance(None, None, Some("test-edited")), Outcome::Pass),
            (allowance(Some("tests/a.py"), None, Some("test-removed")), Outcome::Fail),
        ] {
            let policy = IntegrityPolicy { allow: vec![rule], ..IntegrityPolicy::default() };
            check(std::slice::from_ref(&edited), &policy, expected);
        }
        let allow = vec![allowance(None, None, Some("test-edited"))];
        let policy = IntegrityPolicy { allow, ..IntegrityPolicy::default() };
        let weighed = weigh(vec![edited], &policy, |_, _| false);
        assert_eq!(weighed.summary, "no tests or settings were weakened (1 allowed)");
        assert_eq!(weighed.allowed[0].reason, "because");
    }

    #[test]
    fn a_star_stands_for_anything() {
        for (pattern, text, expected) in [
            ("a*c", "abc", true),
            ("a*c", "abd", false),
            ("*", "", true),
            ("a", "ab", false),
            ("*b*", "abc", true),
            ("a*b*c", "a-b-c", true),
        ] {
            assert_eq!(fits(pattern, text), expected, "{pattern} {text}");
        }
    }
}
