//! The outcome of all findings, without those that the operator allowed.

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
    let deciding: Vec<&Finding> =
        left.iter().filter(|finding| finding.severity != Severity::Warn).collect();
    let outcome = match deciding.iter().map(|finding| finding.severity).max() {
        Some(Severity::Tamper) => Outcome::Tamper,
        Some(_) => Outcome::Fail,
        None => Outcome::Pass,
    };
    let summary = summary(&deciding, left.len() - deciding.len(), allowed.len());
    Weighed { outcome, summary, findings: left, allowed }
}

/// A rule of the operator's allows a finding if all that it names fits.
fn permits(rule: &Allowance, finding: &Finding, matches: &impl Fn(&str, &str) -> bool) -> bool {
    let path = rule.path.as_ref().is_none_or(|glob| matches(glob, &finding.file));
    let named = rule.rule.as_ref().is_none_or(|id| *id == finding.rule);
    path && named && rule.test.is_none()
}

fn summary(deciding: &[&Finding], shown: usize, allowed: usize) -> String {
    let beside = [(shown, if shown == 1 { "warning" } else { "warnings" }), (allowed, "allowed")];
    let beside = beside.iter().filter(|(count, _)| *count > 0);
    let beside: Vec<_> = beside.map(|(count, what)| format!("{count} {what}")).collect();
    let beside =
        if beside.is_empty() { String::new() } else { format!(" ({})", beside.join(", ")) };
    if deciding.is_empty() {
        return format!("nothing gets around the checks{beside}");
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
    fn what_is_allowed_is_shown_and_decides_nothing() {
        let hidden = finding("shadows-dependency", Severity::Block, "json.py");
        for (rule, expected) in [
            (allowance(Some("json.py"), None, None), Outcome::Pass),
            (allowance(Some("b.py"), None, None), Outcome::Fail),
            (allowance(None, Some("test_a"), None), Outcome::Fail),
            (allowance(None, None, Some("shadows-dependency")), Outcome::Pass),
            (allowance(Some("json.py"), None, Some("not-compared")), Outcome::Fail),
        ] {
            let policy = IntegrityPolicy { allow: vec![rule], ..IntegrityPolicy::default() };
            check(std::slice::from_ref(&hidden), &policy, expected);
        }
        let allow = vec![allowance(None, None, Some("shadows-dependency"))];
        let policy = IntegrityPolicy { allow, ..IntegrityPolicy::default() };
        let weighed = weigh(vec![hidden], &policy, |_, _| false);
        assert_eq!(weighed.summary, "nothing gets around the checks (1 allowed)");
        assert_eq!(weighed.allowed[0].reason, "because");
    }
}
