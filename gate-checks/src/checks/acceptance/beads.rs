//! Beads: one issue a line, as JSON.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use serde::Deserialize;

use super::plan::{Item, Plan, PlanError};

/// The most issues around an issue that are looked for.
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
    for (at, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
        let (id, issue) = issue(line).map_err(|why| PlanError::Broken {
            file: file.to_owned(),
            line: at + 1,
            expected: "an issue as a JSON object",
            why,
        })?;
        issues.push((at + 1, id, issue));
    }
    let parents = Parents::new(&issues);
    let alive = issues.iter().filter(|(_, _, issue)| issue.status.as_deref() != Some("tombstone"));
    let items = alive.map(|(line, id, issue)| Item {
        line: *line,
        text: format!("{id} {}", issue.title.as_deref().unwrap_or_default()).trim().to_owned(),
        done: issue.status.as_deref() == Some("closed"),
        within: parents.all(id),
        ..Item::default()
    });
    Ok(Plan { format: "beads", items: items.collect(), by_ids: true })
}

/// An issue with its id, or what is wrong with it.
fn issue(line: &str) -> Result<(String, Issue), String> {
    let issue: Issue = serde_json::from_str(line).map_err(|error| error.to_string())?;
    let id = issue.id.clone().ok_or_else(|| "it has no `id`".to_owned())?;
    Ok((id, issue))
}

/// The parents of each issue.
struct Parents<'a>(BTreeMap<&'a str, BTreeSet<&'a str>>);

impl<'a> Parents<'a> {
    fn new(issues: &'a [(usize, String, Issue)]) -> Self {
        let mut parents: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
        for (_, id, issue) in issues {
            let of = parents.entry(id).or_default();
            let depends = issue.dependencies.iter().flatten();
            let child =
                depends.filter(|dependency| dependency.kind.as_deref() == Some("parent-child"));
            of.extend(child.filter_map(|dependency| dependency.depends_on_id.as_deref()));
            of.extend(issue.parent.as_deref());
            // The second part of bd-12 is bd-12.2.
            of.extend(id.rsplit_once('.').map(|(epic, _)| epic));
            of.remove(id.as_str());
        }
        Self(parents)
    }

    /// All that an issue is a part of, near and far, each once.
    fn all(&self, id: &str) -> Vec<Rc<str>> {
        let mut all: Vec<&str> = Vec::new();
        let mut next = self.0.get(id).into_iter().flatten().copied().collect::<Vec<_>>();
        while let Some(parent) = next.pop() {
            if all.len() < MAX_PARENTS && !all.contains(&parent) {
                all.push(parent);
                next.extend(self.0.get(parent).into_iter().flatten().copied());
            }
        }
        all.into_iter().map(Rc::from).collect()
    }
}
