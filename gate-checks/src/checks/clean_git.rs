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
//! unstaged. A submodule with something in it that the commit's `.gitmodules`
//! does not name counts as unstaged too: no clone can get it. Globs of files
//! that may be uncommitted, or left out, are the check's `ignore`.
//!
//! Outside of a repository it fails; without git, where git fails, and where a
//! sparse checkout leaves files out, it is inconclusive: a file that was
//! removed looks the same as one that was never checked out.

#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};

use async_trait::async_trait;
use gate_core::decide::evidence::{Evidence, Outcome};
use gate_core::decide::policy::CheckPolicy;
use serde_json::{Value, json};

use crate::cancellation::Cancellation;
use crate::check::{Check, CheckContext, CheckId};
use crate::site::CheckSite;
use crate::worktree::{Globs, Status, WorkTree, WorktreeError, shown};

/// Names that the summary shows.
const NAMED: usize = 5;

/// Names that each list of the detail shows.
const LISTED: usize = 200;

/// Nothing is left uncommitted.
pub(crate) struct CleanGit {
    id: CheckId,
    ignore: Vec<String>,
}

impl CleanGit {
    /// The check with its settings.
    pub(crate) fn new(id: CheckId, settings: &CheckPolicy) -> Self {
        Self { id, ignore: settings.ignore.clone() }
    }

    fn judged(&self, found: Result<Option<Status>, String>) -> Evidence {
        let (outcome, summary, detail) = match found {
            Ok(Some(status)) => judge(&status),
            Ok(None) => (Outcome::Fail, "not in a git repository".to_owned(), None),
            Err(problem) => (Outcome::Inconclusive, problem, None),
        };
        self.evidence(outcome, summary).with_detail(detail)
    }
}

#[async_trait]
impl Check for CleanGit {
    fn id(&self) -> &CheckId {
        &self.id
    }

    async fn run(&self, cx: &CheckContext) -> Evidence {
        let (site, ignore) = (cx.site.clone(), self.ignore.clone());
        let cancel = cx.cancel.clone();
        let looking = tokio::task::spawn_blocking(move || look(&site, &ignore, &cancel));
        let found = match looking.await {
            Ok(found) => found.map_err(|error| error.to_string()),
            Err(error) => Err(format!("looking at the work tree ended early: {error}")),
        };
        self.judged(found)
    }
}

/// The uncommitted files, without those that settings allow.
fn look(
    site: &CheckSite,
    ignore: &[String],
    cancel: &Cancellation,
) -> Result<Option<Status>, WorktreeError> {
    let ignore = Globs::new(ignore)?;
    let tree = WorkTree::open(site)?;
    let Some(mut status) = tree.status(cancel)? else { return Ok(None) };
    for list in
        [&mut status.staged, &mut status.unstaged, &mut status.untracked, &mut status.sparse]
    {
        list.retain(|path| !tree.in_project(path).is_some_and(|name| ignore.matches(name)));
    }
    Ok(Some(status))
}

fn judge(status: &Status) -> (Outcome, String, Option<Value>) {
    let files = by_file(status);
    let (outcome, summary) = match (files.is_empty(), status.sparse.is_empty()) {
        (true, true) => (Outcome::Pass, "everything is committed".to_owned()),
        (true, false) => (Outcome::Inconclusive, left_out(&status.sparse)),
        (false, _) => (Outcome::Fail, uncommitted(&files)),
    };
    (outcome, summary, Some(detail(status)))
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

fn uncommitted(files: &BTreeMap<&[u8], Vec<&'static str>>) -> String {
    let mut named: Vec<_> = files.iter().collect();
    if named.len() > NAMED {
        // A folder full of new files does not hide what was changed.
        named.sort_by_key(|(_, lists)| lists.as_slice() == ["untracked"]);
    }
    let texts = named.iter().map(|(path, lists)| format!("{} ({})", shown(path), lists.join(", ")));
    let hidden = named.iter().skip(NAMED).map(|(path, _)| **path);
    format!("{} not committed: {}{}", are(files.len()), some_of(texts), places(hidden))
}

/// The topmost folders of the files that are not named.
fn places<'f>(hidden: impl Iterator<Item = &'f [u8]>) -> String {
    let mut folders: BTreeMap<&[u8], usize> = BTreeMap::new();
    for path in hidden {
        let end = path.iter().position(|byte| *byte == b'/').unwrap_or_default();
        *folders.entry(&path[..end]).or_default() += 1;
    }
    let mut folders: Vec<_> =
        folders.into_iter().filter(|(folder, _)| !folder.is_empty()).collect();
    folders.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    let named: Vec<_> = folders
        .iter()
        .take(NAMED)
        .map(|(folder, n)| format!("{n} in {}/", shown(folder)))
        .collect();
    if named.is_empty() { String::new() } else { format!(" ({})", named.join(", ")) }
}

fn left_out(files: &BTreeSet<Vec<u8>>) -> String {
    let named = files.iter().map(|path| shown(path));
    let what = format!("{} not there, as a sparse checkout leaves out", are(files.len()));
    format!("{what}: {}; check them out, or name them in `ignore`", some_of(named))
}

fn are(files: usize) -> String {
    if files == 1 { "1 file is".to_owned() } else { format!("{files} files are") }
}

/// The first names, and how many more there are.
fn some_of(mut names: impl ExactSizeIterator<Item = String>) -> String {
    let named = names.by_ref().take(NAMED).collect::<Vec<_>>().join(", ");
    match names.len() {
        0 => named,
        more => format!("{named} and {more} more"),
    }
}

fn detail(status: &Status) -> Value {
    let sparse = &status.sparse;
    let mut detail = json!({ "sparse": sparse.len(), "left_out": first_names(sparse) });
    for (name, list) in lists(status) {
        detail[name] = json!(first_names(list));
        detail["totals"][name] = json!(list.len());
    }
    detail
}

fn first_names(paths: &BTreeSet<Vec<u8>>) -> Vec<String> {
    paths.iter().take(LISTED).map(|path| shown(path)).collect()
}
