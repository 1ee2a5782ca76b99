//! `clean_git`: nothing is left uncommitted.
//!
//! It names the files whose index differs from the commit (staged), those that
//! differ from the index (unstaged), and those that git does not know
//! (untracked). It looks at this very moment and not at the snapshot of the
//! round, so that an edit after a passing run is seen. The comparison is
//! gate's own, in `worktree`.
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

/// The most names in the summary.
const MAX_NAMED: usize = 5;

/// The most names in each list of the detail.
const MAX_LISTED: usize = 200;

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

    fn judged(&self, status: Result<Option<Status>, String>) -> Evidence {
        match status {
            Ok(Some(status)) => {
                let (outcome, summary) = judge(&status);
                self.evidence(outcome, summary).with_detail(detail(&status))
            }
            Ok(None) => self.evidence(Outcome::Fail, "not in a git repository"),
            Err(problem) => self.evidence(Outcome::Inconclusive, problem),
        }
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
        let reading =
            tokio::task::spawn_blocking(move || uncommitted_files(&site, &ignore, &cancel));
        let status = match reading.await {
            Ok(status) => status.map_err(|error| error.to_string()),
            Err(error) => Err(format!("looking at the work tree ended early: {error}")),
        };
        self.judged(status)
    }
}

/// The uncommitted files, without those that settings allow.
fn uncommitted_files(
    site: &CheckSite,
    ignore: &[String],
    cancel: &Cancellation,
) -> Result<Option<Status>, WorktreeError> {
    let ignored = Globs::new(ignore)?;
    let tree = WorkTree::open(site)?;
    let Some(mut status) = tree.status(cancel)? else { return Ok(None) };
    for list in
        [&mut status.staged, &mut status.unstaged, &mut status.untracked, &mut status.sparse]
    {
        list.retain(|path| !tree.path_in_project(path).is_some_and(|name| ignored.matches(name)));
    }
    Ok(Some(status))
}

fn judge(status: &Status) -> (Outcome, String) {
    let lists_by_file = lists_by_file(status);
    match (lists_by_file.is_empty(), status.sparse.is_empty()) {
        (true, true) => (Outcome::Pass, "everything is committed".to_owned()),
        (true, false) => (Outcome::Inconclusive, sparse_summary(&status.sparse)),
        (false, _) => (Outcome::Fail, uncommitted_summary(&lists_by_file)),
    }
}

/// The names of the lists that each file stands in.
fn lists_by_file(status: &Status) -> BTreeMap<&[u8], Vec<&'static str>> {
    let mut lists_by_file: BTreeMap<&[u8], Vec<&str>> = BTreeMap::new();
    for (name, list) in lists(status) {
        for path in list {
            lists_by_file.entry(path).or_default().push(name);
        }
    }
    lists_by_file
}

fn lists(status: &Status) -> [(&'static str, &BTreeSet<Vec<u8>>); 3] {
    [("staged", &status.staged), ("unstaged", &status.unstaged), ("untracked", &status.untracked)]
}

fn uncommitted_summary(lists_by_file: &BTreeMap<&[u8], Vec<&'static str>>) -> String {
    let mut files: Vec<_> = lists_by_file.iter().collect();
    if files.len() > MAX_NAMED {
        // A folder full of new files does not hide the changed ones.
        files.sort_by_key(|(_, lists)| lists.as_slice() == ["untracked"]);
    }
    let names = files.iter().map(|(path, lists)| format!("{} ({})", shown(path), lists.join(", ")));
    let unnamed = files.iter().skip(MAX_NAMED).map(|(path, _)| **path);
    format!("{} not committed: {}{}", files_are(files.len()), some_of(names), folders_of(unnamed))
}

/// The topmost folders of the files that are not named, those with most files first.
fn folders_of<'f>(unnamed: impl Iterator<Item = &'f [u8]>) -> String {
    let mut counts: BTreeMap<&[u8], usize> = BTreeMap::new();
    for path in unnamed {
        if let Some(end) = path.iter().position(|byte| *byte == b'/') {
            *counts.entry(&path[..end]).or_default() += 1;
        }
    }
    let mut folders: Vec<_> = counts.into_iter().collect();
    folders.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    let names: Vec<_> = folders
        .iter()
        .take(MAX_NAMED)
        .map(|(folder, count)| format!("{count} in {}/", shown(folder)))
        .collect();
    if names.is_empty() { String::new() } else { format!(" ({})", names.join(", ")) }
}

fn sparse_summary(files: &BTreeSet<Vec<u8>>) -> String {
    let names = some_of(files.iter().map(|path| shown(path)));
    let missing = format!("{} not there, as a sparse checkout leaves out", files_are(files.len()));
    format!("{missing}: {names}; check them out, or name them in `ignore`")
}

fn files_are(count: usize) -> String {
    if count == 1 { "1 file is".to_owned() } else { format!("{count} files are") }
}

/// The first names, and the number of further ones.
fn some_of(mut names: impl ExactSizeIterator<Item = String>) -> String {
    let list = names.by_ref().take(MAX_NAMED).collect::<Vec<_>>().join(", ");
    match names.len() {
        0 => list,
        more => format!("{list} and {more} more"),
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
    paths.iter().take(MAX_LISTED).map(|path| shown(path)).collect()
}
