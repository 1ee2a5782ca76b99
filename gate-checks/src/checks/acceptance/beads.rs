//! Beads: one issue a line, as JSON.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use serde::Deserialize;

use super::plan::{Item, Plan, PlanError};

/// The most issues around an issue that are looked for: a file may name a circle of parents.
const MAX_PARENTS: usize = 64;

/// An issue.
#[derive(Deserialize)]
struct Issue {
    id: Option<String>,
    title: Option<String>,
    status: Option<String>,
    parent: Option<String>,
    dependencies: Option<Vec<Dependency>>,
}

/// A dependency of an issue; `parent-child` names the epic that it is a part of.
#[derive(Deserialize)]
struct Dependency {
    depends_on_id: Option<String>,
    #[serde(rename = "type")]
    kind: Option<String>,
}

/// Reads all issues. A closed issue is done, a deleted one does not count, and one of any other
/// status is open.
pub(super) fn read(text: &str, file: &str) -> Result<Plan, PlanError> {
    let mut issues = Vec::new();
    for (index, text) in text.lines().enumerate().filter(|(_, text)| !text.trim().is_empty()) {
        let line = index + 1;
        let broken = |cause| PlanError::Broken {
            file: file.to_owned(),
            line,
            expected: "an issue as a JSON object",
            cause,
        };
        let issue: Issue = serde_json::from_str(text).map_err(|error| broken(error.to_string()))?;
        let id = issue.id.clone().ok_or_else(|| broken("it has no `id`".to_owned()))?;
        issues.push(NumberedIssue { line, id, issue });
    }
    let parents = Parents::new(&issues);
    let items = issues
        .iter()
        .filter(|numbered| numbered.issue.status.as_deref() != Some("tombstone"))
        .map(|NumberedIssue { line, id, issue }| Item {
            line: *line,
            text: format!("{id} {}", issue.title.as_deref().unwrap_or_default()).trim().to_owned(),
            done: issue.status.as_deref() == Some("closed"),
            within: parents.ancestors(id),
            ..Item::default()
        });
    Ok(Plan { format: "beads", items: items.collect(), has_ids: true })
}

/// An issue that has an id, with its line, from 1.
struct NumberedIssue {
    line: usize,
    id: String,
    issue: Issue,
}

/// The parents of each issue.
struct Parents<'a>(BTreeMap<&'a str, BTreeSet<&'a str>>);

impl<'a> Parents<'a> {
    fn new(issues: &'a [NumberedIssue]) -> Self {
        let mut parents: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
        for NumberedIssue { id, issue, .. } in issues {
            let own_parents = parents.entry(id).or_default();
            let epics = issue
                .dependencies
                .iter()
                .flatten()
                .filter(|dependency| dependency.kind.as_deref() == Some("parent-child"))
                .filter_map(|dependency| dependency.depends_on_id.as_deref());
            own_parents.extend(epics);
            own_parents.extend(issue.parent.as_deref());
            // The second part of bd-12 is bd-12.2.
            own_parents.extend(id.rsplit_once('.').map(|(epic, _)| epic));
            own_parents.remove(id.as_str());
        }
        Self(parents)
    }

    /// The issues that an issue is a part of, near and far, each once.
    fn ancestors(&self, id: &str) -> Vec<Rc<str>> {
        let parents = |id: &str| self.0.get(id).into_iter().flatten().copied();
        let mut ancestors: Vec<&str> = Vec::new();
        let mut pending: Vec<&str> = parents(id).collect();
        while let Some(parent) = pending.pop() {
            if ancestors.len() < MAX_PARENTS && !ancestors.contains(&parent) {
                ancestors.push(parent);
                pending.extend(parents(parent));
            }
        }
        ancestors.into_iter().map(Rc::from).collect()
    }
}
