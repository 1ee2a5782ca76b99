//! The findings that a decision's evidence holds.

use gate_core::decide::evidence::Evidence;
use gate_core::integrity::{Allowed, Finding};

/// The findings of the check integrity, and those that the operator allowed.
pub(crate) fn findings(evidence: &[Evidence]) -> (Vec<Finding>, Vec<Allowed>) {
    let details = evidence.iter().filter(|evidence| evidence.check == "integrity");
    let details: Vec<_> = details.filter_map(|evidence| evidence.detail.as_ref()).collect();
    (entries(&details, "findings"), entries(&details, "allowed"))
}

/// The entries of a list. An entry of another shape is left out: a plug-in may have
/// written it.
fn entries<T: serde::de::DeserializeOwned>(details: &[&serde_json::Value], key: &str) -> Vec<T> {
    let entries = details.iter().filter_map(|detail| detail.get(key)?.as_array()).flatten();
    entries.filter_map(|entry| T::deserialize(entry).ok()).collect()
}

/// A finding on one line.
pub(crate) fn finding_line(finding: &Finding) -> String {
    let place = finding.place();
    let prefix = if place.is_empty() { String::new() } else { format!("{place}: ") };
    let excerpt = &finding.excerpt;
    let text = if excerpt.is_empty() { &finding.message } else { excerpt };
    format!("{prefix}{text} ({}: {})", finding.rule, finding.hint)
}
