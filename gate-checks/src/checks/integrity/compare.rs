//! Compares the tree with the baseline, file by file.

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use gate_core::decide::checks::CRITERIA;
use gate_core::decide::policy::{CheckPolicy, Policy};
use gate_core::integrity::{
    Around, CRITERION, Changed, Examiner, Finding, Guarded, Language, OUTSIDE, Severity, TOOL,
    UNSEEN,
};
use gate_core::text::brief;
use jiff::Timestamp;

use super::around::{around, scripts_of_others};
use crate::baseline::{Baseline, Change, Reader, Tool, What};
use crate::check::CheckContext;
use crate::checks::acceptance;
use crate::site::CheckSite;
use crate::worktree::{File, Globs, Kind, Snapshot, WorkTree};

/// The largest file that is looked into, in bytes.
const MAX_FILE_BYTES: usize = 4 << 20;

/// The findings, and the number of files.
pub(super) struct Compared {
    pub(super) findings: Vec<Finding>,
    pub(super) files: usize,
}

/// Compares the tree with its baseline.
///
/// # Errors
///
/// What could not be found out, for a person.
pub(super) fn compare(
    policy: &Policy,
    baseline: &Baseline,
    tree: &WorkTree,
    cx: &CheckContext,
) -> Result<Compared, String> {
    let reader = baseline.reader(tree).map_err(|error| error.to_string())?;
    let changes =
        reader.changes(&cx.tree, &cx.cancel.clone()).map_err(|error| error.to_string())?;
    let protect = Globs::new(&policy.integrity.protect).map_err(|error| error.to_string())?;
    let around = around(policy, &cx.site, tree, &reader);
    let moved = changes.iter().filter_map(|change| change.moved_from.clone()).collect();
    let comparing = Comparing {
        tree,
        now: &cx.tree,
        reader,
        protect,
        scripts: scripts_of_others(policy, &cx.site, tree),
        moved,
        plan: policy.checks.get(CRITERIA),
        around: &around,
    };
    let mut examiner = Examiner::new(&around);
    for change in &changes {
        if cx.cancel.is_cancelled() {
            return Err("cancelled".to_owned());
        }
        comparing.one(change, &mut examiner)?;
    }
    let beside = baseline.beside(tree, &cx.tree);
    let submodules = baseline.moved_submodules(tree).map_err(|error| error.to_string())?;
    let harness = baseline.harness(tree, &cx.tree, &changes).into_iter().chain(submodules);
    for finding in tools(baseline, &cx.site).into_iter().chain(beside).chain(harness) {
        examiner.found(finding);
    }
    Ok(Compared { findings: examiner.finish(), files: changes.len() })
}

struct Comparing<'a> {
    tree: &'a WorkTree,
    now: &'a Snapshot,
    reader: Reader<'a>,
    protect: Globs,
    /// The scripts that commands name whose old versions run nowhere.
    scripts: BTreeSet<PathBuf>,
    /// The files that were only moved to another name.
    moved: BTreeSet<PathBuf>,
    /// The settings of the check of plans.
    plan: Option<&'a CheckPolicy>,
    around: &'a Around,
}

impl Comparing<'_> {
    fn one(&self, change: &Change, examiner: &mut Examiner<'_>) -> Result<(), String> {
        let bytes = change.path.as_os_str().as_encoded_bytes();
        let name = String::from_utf8_lossy(bytes);
        let file = Changed {
            path: &name,
            guarded: change.guarded,
            protected: self.is_protected(bytes),
            script: self.scripts.contains(&change.path),
            moved: change.moved_from.is_some() || self.moved.contains(&change.path),
            ..Changed::default()
        };
        let leads_outside = self.is_link_outside(change);
        if leads_outside {
            examiner.found(OUTSIDE.finding(&name));
        }
        if !(self.is_read(&file) || self.plan(bytes).is_some()) {
            return Ok(());
        }
        let stored = match change.what {
            What::Added => None,
            What::Edited | What::Removed => {
                self.reader.content(&change.path).map_err(|error| error.to_string())?
            }
        };
        let kind = stored.as_ref().map(|stored| stored.kind);
        let before = stored.map(|stored| stored.bytes);
        let now = match change.what {
            What::Removed => None,
            What::Added | What::Edited => {
                Some(self.tree.bytes(&change.path).ok_or_else(|| unreadable(&change.path))?)
            }
        };
        if before == now && kind == self.now.file(&change.path).map(File::kind) {
            return Ok(());
        }
        let kind_now = self.now.file(&change.path).map(File::kind);
        let is_source = Language::from_path(&name).is_some() && !file.protected && !file.script;
        let is_new_link = kind_now == Some(Kind::Link) && kind != kind_now && !leads_outside;
        if is_source && is_new_link && !file.moved {
            let finding = UNSEEN.finding(&name);
            let message = format!("{}: it is a link in place of a source", finding.message);
            examiner.found(Finding { message, ..finding });
        }
        let was_large = before.as_ref().is_some_and(|bytes| bytes.len() > MAX_FILE_BYTES);
        let is_large = now.as_ref().is_some_and(|bytes| bytes.len() > MAX_FILE_BYTES);
        if was_large || is_large {
            let is_new = is_source && is_large && !was_large;
            self.large(&file, (before.is_some(), now.is_some(), is_new), examiner);
            return Ok(());
        }
        if let (Some(plan), Some(before)) = (self.plan(bytes), &before) {
            gone_items(&name, before, now.as_deref(), plan, examiner);
        }
        examiner.file(&Changed { before: before.as_deref(), now: now.as_deref(), ..file });
        Ok(())
    }

    /// True if a finding can come from the file's text.
    fn is_read(&self, file: &Changed<'_>) -> bool {
        matches!(file.guarded, Some(Guarded::Ci | Guarded::Hook))
            || file.protected
            || file.script
            || Language::from_path(file.path).is_some()
            || self.around.targets.iter().any(|(_, target)| file.path.ends_with(target.as_str()))
    }

    /// True for a link that leads out of the tree, in the place of a source, of a file that was
    /// there, or of a folder with such files.
    fn is_link_outside(&self, change: &Change) -> bool {
        let is_link = self.now.file(&change.path).is_some_and(|file| file.kind() == Kind::Link);
        if !is_link || change.what == What::Removed {
            return false;
        }
        let is_work = change.what == What::Edited
            || change.guarded.is_some()
            || change.path.to_str().is_some_and(|path| Language::from_path(path).is_some())
            || self.reader.has_folder(&change.path);
        is_work && leaves(self.tree.root(), &change.path)
    }

    fn is_protected(&self, path: &[u8]) -> bool {
        self.tree.in_project(path).is_some_and(|path| self.protect.matches(path))
    }

    /// The settings of the check of plans, if they name this file.
    fn plan(&self, path: &[u8]) -> Option<&CheckPolicy> {
        let (plan, path) = (self.plan?, self.tree.in_project(path)?);
        let globs =
            plan.files.iter().map(std::slice::from_ref).filter_map(|glob| Globs::new(glob).ok());
        globs.into_iter().any(|globs| globs.matches(path)).then_some(plan)
    }

    /// A file that is too large to be read. If it is guarded by its name alone, the finding is the
    /// usual one; if it would have to be read, the finding is its size.
    fn large(
        &self,
        file: &Changed<'_>,
        (was, is, is_new_source): (bool, bool, bool),
        examiner: &mut Examiner<'_>,
    ) {
        let by_content = matches!(file.guarded, Some(Guarded::Manifest | Guarded::Ci));
        let is_unseen = by_content && was || is_new_source;
        if is_unseen && !file.moved && !file.protected && !file.script {
            let finding = UNSEEN.finding(file.path);
            let message = format!("{}: it is larger than {MAX_FILE_BYTES} bytes", finding.message);
            examiner.found(Finding { message, ..finding });
        } else {
            let (before, now) = (was.then_some(&[][..]), is.then_some(&[][..]));
            examiner.file(&Changed { before, now, ..*file });
        }
    }
}

/// True if a link of the tree leads out of it.
fn leaves(root: &Path, link: &Path) -> bool {
    let Ok(target) = fs::read_link(root.join(link)) else { return false };
    let folder = root.join(link.parent().unwrap_or(Path::new("")));
    let mut place = PathBuf::new();
    for part in folder.join(target).components() {
        match part {
            std::path::Component::ParentDir => drop(place.pop()),
            part => place.push(part),
        }
    }
    // The path may lead through other links.
    !place.canonicalize().unwrap_or(place).starts_with(root)
}

fn unreadable(path: &Path) -> String {
    format!("{} cannot be read", path.display())
}

/// Findings about tools that changed.
fn tools(baseline: &Baseline, site: &CheckSite) -> Vec<Finding> {
    let taken: Option<Timestamp> = baseline.time().parse().ok();
    let tools = baseline.tools().iter().filter_map(|was| {
        let now = Tool::find(&was.name, site);
        let finding = TOOL.finding(&was.name);
        let how = match &now {
            Some(now) if now == was => return None,
            Some(now) if now.path != was.path => {
                // Then another environment is active: nobody made it while the agent worked.
                let is_older = taken.is_some_and(|taken| is_older(&now.path, taken));
                let severity = if is_older { Severity::Warn } else { finding.severity };
                let (then, now) = (was.path.display(), now.path.display());
                let message = format!("it was {then} at the baseline, and is {now} now");
                let hint = "if that is right: `gate baseline`".to_owned();
                return Some(Finding { message, hint, severity, ..finding });
            }
            Some(_) => "its bytes are others",
            None => "it is gone",
        };
        let message = format!("{}: {}, {how}", finding.message, was.path.display());
        Some(Finding { message, ..finding })
    });
    tools.collect()
}

/// True if a file was put there before this time. The system sets the time of that, nobody else.
fn is_older(path: &Path, time: Timestamp) -> bool {
    fs::symlink_metadata(path).is_ok_and(|metadata| metadata.ctime() < time.as_second())
}

/// Reports the items that a plan had and does not have any more, or has only below a heading that
/// makes them optional. Boxes may be ticked, items may be added and moved.
pub(super) fn gone_items(
    file: &str,
    before: &[u8],
    now: Option<&[u8]>,
    rules: &CheckPolicy,
    examiner: &mut Examiner<'_>,
) {
    let mut left = now.map(|now| items(file, now, rules)).unwrap_or_default();
    // An item that counts takes the place of one that counts first.
    let mut was = items(file, before, rules);
    was.sort_by_key(|item| item.optional);
    left.sort_by_key(|item| item.optional);
    for item in was {
        let same = left
            .iter()
            .position(|other| other.text == item.text && (item.optional || !other.optional));
        if let Some(at) = same {
            left.remove(at);
            continue;
        }
        let is_optional_now = left.iter().any(|other| other.text == item.text);
        let finding = CRITERION.finding(file);
        let what = if is_optional_now {
            "an item of the plan was made optional"
        } else {
            CRITERION.message
        };
        let message = format!("{what}: {}", brief(&item.text, 80));
        let line = item.line.saturating_sub(1);
        examiner.found(Finding { message, ..finding }.at(line, &item.text));
    }
}

/// The items of a plan. One that cannot be read has none; the check of the plan reports it.
fn items(file: &str, bytes: &[u8], rules: &CheckPolicy) -> Vec<acceptance::Item> {
    let text = String::from_utf8_lossy(bytes);
    acceptance::items(Path::new(file), &text, rules).unwrap_or_default()
}
