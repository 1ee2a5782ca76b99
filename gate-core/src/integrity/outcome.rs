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

/// Weighs findings; `matches` tests a glob of settings, the first text, against a file's path.
pub fn weigh(
    findings: Vec<Finding>,
    policy: &IntegrityPolicy,
    matches: impl Fn(&str, &str) -> bool,
) -> Weighed {
    let (mut standing, mut allowed) = (Vec::new(), Vec::new());
    for finding in findings {
        match policy.allow.iter().find(|rule| permits(rule, &finding, &matches)) {
            Some(rule) => allowed.push(Allowed { finding, reason: rule.reason.clone() }),
            None => standing.push(finding),
        }
    }
    let deciding: Vec<&Finding> =
        standing.iter().filter(|finding| finding.severity != Severity::Warn).collect();
    let warnings = standing.len() - deciding.len();
    let outcome = match deciding.iter().map(|finding| finding.severity).max() {
        Some(Severity::Tamper) => Outcome::Tamper,
        Some(_) => Outcome::Fail,
        None => Outcome::Pass,
    };
    let summary = summary(&deciding, warnings, allowed.len());
    Weighed { outcome, summary, findings: standing, allowed }
}

/// A rule of the operator's allows a finding if it fits in all that the rule names.
fn permits(rule: &Allowance, finding: &Finding, matches: &impl Fn(&str, &str) -> bool) -> bool {
    let fits_path = rule.path.as_ref().is_none_or(|glob| matches(glob, &finding.file));
    let fits_rule = rule.rule.as_ref().is_none_or(|id| *id == finding.rule);
    // No finding is about a test: one that was allowed to change is the business of the run.
    fits_path && fits_rule && rule.test.is_none()
}

fn summary(deciding: &[&Finding], warnings: usize, allowed: usize) -> String {
    let warning_noun = if warnings == 1 { "warning" } else { "warnings" };
    let counts = [(warnings, warning_noun), (allowed, "allowed")];
    let counts = counts.iter().filter(|(count, _)| *count > 0);
    let counts: Vec<_> = counts.map(|(count, noun)| format!("{count} {noun}")).collect();
    let counts_text =
        if counts.is_empty() { String::new() } else { format!(" ({})", counts.join(", ")) };
    if deciding.is_empty() {
        return format!("nothing gets around the checks{counts_text}");
    }
    let named = deciding.iter().take(MAX_NAMED_FINDINGS);
    let lines: Vec<_> = named
        .map(|finding| format!("{}: {} [{}]", finding.place(), finding.message, finding.rule))
        .collect();
    let unnamed = deciding.len().saturating_sub(MAX_NAMED_FINDINGS);
    let unnamed_text = if unnamed > 0 { format!("; and {unnamed} more") } else { String::new() };
    format!("{}{unnamed_text}{counts_text}", lines.join("; "))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn finding(rule: &str, severity: Severity, file: &str) -> Finding {
        Finding::new(rule, severity, file, "x")
    }

    fn allowance(path: Option<&str>, test: Option<&str>, rule: Option<&str>) -> Allowance {
        let [path, test, rule] = [path, test, rule].map(|text| text.map(str::to_owned));
        Allowance { path, test, rule, reason: "because".into() }
    }

    #[track_caller]
    fn check(findings: &[Finding], policy: &IntegrityPolicy, expected: Outcome) {
        let weighed = weigh(findings.to_vec(), policy, |glob, file| glob == file);
        assert_eq!(weighed.outcome, expected, "{}", weighed.summary);
    }

    #[test]
    fn the_worst_decides_and_a_warning_never() {
        let policy = IntegrityPolicy::default();
        let [warning, block, tamper] = [Severity::Warn, Severity::Block, Severity::Tamper]
            .map(|severity| finding("a", severity, "f"));
        check(&[], &policy, Outcome::Pass);
        check(std::slice::from_ref(&warning), &policy, Outcome::Pass);
        check(&[warning, block.clone()], &policy, Outcome::Fail);
        check(&[block, tamper], &policy, Outcome::Tamper);
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
