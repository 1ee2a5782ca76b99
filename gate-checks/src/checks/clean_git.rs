//! `clean_git`: nothing is left uncommitted.
//!
//! It names the files whose index differs from the commit (staged), those that
//! differ from the index (unstaged), and those that git does not know
//! (untracked). It looks at this very moment and not at the snapshot of the
//! round, so that an edit after a passing run is seen. The comparison is
//! gate's own; what of git takes part in it stands in `worktree`.
//!
//! Limits: a file that a committed `.gitignore` names is not seen; where the
//! repository's own settings define a filter, the files that need it count as
//! unstaged; a sparse checkout may leave files out, and the record says how
//! many. Globs of files that may be uncommitted are the check's `ignore`.
//!
//! Outside of a repository it fails; without git, or where git fails, it is
//! inconclusive.

#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};
use std::time::Instant;

use async_trait::async_trait;
use gate_core::decide::evidence::{Evidence, Outcome};
use gate_core::decide::policy::{CheckPolicy, Mode};
use serde_json::{Value, json};

use crate::check::{Check, CheckContext, CheckId, Cost};
use crate::site::Site;
use crate::worktree::{Globs, Status, Stop, WorkTree, WorktreeError, shown};

/// How many names the summary holds.
const NAMED: usize = 5;

/// How many names each list of the detail holds.
const LISTED: usize = 200;

/// Nothing is left uncommitted.
pub(crate) struct CleanGit {
    id: CheckId,
    mode: Mode,
    ignore: Vec<String>,
}

impl CleanGit {
    /// The check with its settings.
    pub(crate) fn new(id: CheckId, settings: &CheckPolicy) -> Self {
        Self { id, mode: settings.mode, ignore: settings.ignore.clone() }
    }

    fn evidence(&self, found: Result<Option<Status>, String>) -> Evidence {
        let (outcome, summary, detail) = match found {
            Ok(Some(status)) => judge(&status),
            Ok(None) => (Outcome::Fail, "not in a git repository".to_owned(), None),
            Err(problem) => (Outcome::Inconclusive, problem, None),
        };
        let record = Evidence::new(self.id.as_str(), self.mode, outcome);
        Evidence { summary, detail, ..record }
    }
}

#[async_trait]
impl Check for CleanGit {
    fn id(&self) -> &CheckId {
        &self.id
    }

    fn cost(&self) -> Cost {
        Cost::Look
    }

    fn minds_new_files(&self) -> bool {
        true
    }

    async fn run(&self, cx: &CheckContext) -> Evidence {
        let start = Instant::now();
        let (site, ignore) = (cx.site.clone(), self.ignore.clone());
        let stop = Stop::with(cx.cancel.clone());
        let looking = tokio::task::spawn_blocking(move || look(&site, &ignore, &stop));
        let found = match looking.await {
            Ok(found) => found.map_err(|error| error.to_string()),
            Err(error) => Err(format!("looking at the work tree ended early: {error}")),
        };
        let took = u64::try_from(start.elapsed().as_millis()).unwrap_or(u64::MAX);
        Evidence { duration_ms: took, ..self.evidence(found) }
    }
}

/// What is not committed, without what may be.
fn look(site: &Site, ignore: &[String], stop: &Stop) -> Result<Option<Status>, WorktreeError> {
    let ignore = Globs::new(ignore)?;
    let tree = WorkTree::open(site)?;
    let Some(mut status) = tree.status(stop)? else { return Ok(None) };
    let counts = |path: &Vec<u8>| !tree.in_project(path).is_some_and(|it| ignore.matches(it));
    for list in [&mut status.staged, &mut status.unstaged, &mut status.untracked] {
        list.retain(counts);
    }
    Ok(Some(status))
}

fn judge(status: &Status) -> (Outcome, String, Option<Value>) {
    let files = by_file(status);
    let outcome = if files.is_empty() { Outcome::Pass } else { Outcome::Fail };
    (outcome, summary(&files, status.sparse), Some(detail(status)))
}

/// Each file with the lists that it stands in.
fn by_file(status: &Status) -> BTreeMap<&[u8], Vec<&'static str>> {
    let mut files: BTreeMap<&[u8], Vec<&str>> = BTreeMap::new();
    for (name, list) in lists(status) {
        for path in list {
            files.entry(path).or_default().push(name);
        }
    }
    files
}

fn lists(status: &Status) -> [(&'static str, &BTreeSet<Vec<u8>>); 3] {
    [("staged", &status.staged), ("unstaged", &status.unstaged), ("untracked", &status.untracked)]
}

fn summary(files: &BTreeMap<&[u8], Vec<&'static str>>, sparse: usize) -> String {
    if files.is_empty() {
        return match sparse {
            0 => "everything is committed".to_owned(),
            _ => format!("everything is committed; a sparse checkout leaves out {sparse}"),
        };
    }
    let named = files.iter().take(NAMED);
    let named = named.map(|(path, lists)| format!("{} ({})", shown(path), lists.join(", ")));
    let named = named.collect::<Vec<_>>().join(", ");
    let more = match files.len().saturating_sub(NAMED) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    let what = if files.len() == 1 { "1 file is" } else { &format!("{} files are", files.len()) };
    format!("{what} not committed: {named}{more}")
}

fn detail(status: &Status) -> Value {
    let mut detail = json!({ "sparse": status.sparse });
    for (name, list) in lists(status) {
        let named: Vec<_> = list.iter().take(LISTED).map(|path| shown(path)).collect();
        detail[name] = json!(named);
        detail["totals"][name] = json!(list.len());
    }
    detail
}
