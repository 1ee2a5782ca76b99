//! Compares the tree with the baseline, file by file.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use gate_core::decide::checks::CRITERIA;
use gate_core::decide::policy::{CheckPolicy, Policy};
use gate_core::integrity::{
    CRITERION, ChangedFile, Examiner, Finding, Guarded, Language, OUTSIDE, Severity, Surroundings,
    TOOL, UNSEEN,
};
use gate_core::text::brief;
use gate_platform::{MetadataExt, RealPath};
use jiff::Timestamp;

use super::context::{project_context, scripts_of_other_checks};
use crate::baseline::{Baseline, Change, ChangeKind, Reader, Tool};
use crate::check::CheckContext;
use crate::checks::acceptance;
use crate::site::CheckSite;
use crate::worktree::{File, Globs, Kind, Snapshot, WorkTree};

/// The largest file that is looked into, in bytes.
const MAX_FILE_BYTES: usize = 4 << 20;

/// The result of a comparison with the baseline.
pub(super) struct Comparison {
    pub(super) findings: Vec<Finding>,
    /// The number of files that are different.
    pub(super) changed_files: usize,
}

/// Compares the tree with its baseline.
///
/// # Errors
///
/// A file that cannot be read, as a sentence for a person.
pub(super) fn compare(
    policy: &Policy,
    baseline: &Baseline,
    tree: &WorkTree,
    cx: &CheckContext,
) -> Result<Comparison, String> {
    let reader = baseline.reader(tree).map_err(|error| error.to_string())?;
    let changes =
        reader.changes(&cx.tree, &cx.cancel.clone()).map_err(|error| error.to_string())?;
    let protected = Globs::new(&policy.integrity.protect).map_err(|error| error.to_string())?;
    let project = project_context(policy, &cx.site, tree, &reader);
    let moved = changes.iter().filter_map(|change| change.moved_from.clone()).collect();
    let comparer = Comparer {
        tree,
        snapshot: &cx.tree,
        reader,
        protected,
        scripts: scripts_of_other_checks(policy, &cx.site, tree),
        moved,
        criteria: policy.checks.get(CRITERIA),
        project: &project,
    };
    let mut examiner = Examiner::new(&project);
    for change in &changes {
        if cx.cancel.is_cancelled() {
            return Err("cancelled".to_owned());
        }
        comparer.compare_file(change, &mut examiner)?;
    }
    let submodules = baseline.moved_submodules(tree).map_err(|error| error.to_string())?;
    let findings_beside_tree = changed_tools(baseline, &cx.site)
        .into_iter()
        .chain(baseline.changed_watched_files(tree, &cx.tree))
        .chain(baseline.changed_runners(tree, &cx.tree, &changes))
        .chain(submodules);
    for finding in findings_beside_tree {
        examiner.add(finding);
    }
    Ok(Comparison { findings: examiner.finish(), changed_files: changes.len() })
}

struct Comparer<'a> {
    tree: &'a WorkTree,
    snapshot: &'a Snapshot,
    reader: Reader<'a>,
    /// The files that settings protect.
    protected: Globs,
    /// The scripts that commands name whose old versions run nowhere.
    scripts: BTreeSet<PathBuf>,
    /// The old names of files that were only moved.
    moved: BTreeSet<PathBuf>,
    /// The settings of the check of criteria, which name the plans.
    criteria: Option<&'a CheckPolicy>,
    project: &'a Surroundings,
}

impl Comparer<'_> {
    fn compare_file(&self, change: &Change, examiner: &mut Examiner<'_>) -> Result<(), String> {
        let bytes = change.path.as_os_str().as_encoded_bytes();
        let name = String::from_utf8_lossy(bytes);
        let file = ChangedFile {
            path: &name,
            guarded: change.guarded,
            is_protected: self.is_protected(bytes),
            is_script: self.scripts.contains(&change.path),
            is_moved: change.moved_from.is_some() || self.moved.contains(&change.path),
            ..ChangedFile::default()
        };
        let is_link_outside = self.is_link_outside(change);
        if is_link_outside {
            examiner.add(OUTSIDE.finding(&name));
        }
        let criteria = self.criteria_for(bytes);
        if !self.can_have_findings(&file) && criteria.is_none() {
            return Ok(());
        }
        let old_file = match change.kind {
            ChangeKind::Added => None,
            ChangeKind::Edited | ChangeKind::Removed => {
                self.reader.content(&change.path).map_err(|error| error.to_string())?
            }
        };
        let old_kind = old_file.as_ref().map(|file| file.kind);
        let old_text = old_file.map(|file| file.bytes);
        let new_text = match change.kind {
            ChangeKind::Removed => None,
            ChangeKind::Added | ChangeKind::Edited => {
                Some(self.tree.bytes(&change.path).ok_or_else(|| unreadable(&change.path))?)
            }
        };
        // The files that git compares may differ only in ways that it undoes, such as line ends.
        let new_kind = self.snapshot.file(&change.path).map(File::kind);
        if old_text == new_text && old_kind == new_kind {
            return Ok(());
        }
        let is_source =
            Language::from_path(&name).is_some() && !file.is_protected && !file.is_script;
        let is_new_link = new_kind == Some(Kind::Link) && old_kind != new_kind && !is_link_outside;
        if is_source && is_new_link && !file.is_moved {
            let finding = UNSEEN.finding(&name);
            let message = format!("{}: it is a link in place of a source", finding.message);
            examiner.add(Finding { message, ..finding });
        }
        let is_large = |text: &Option<Vec<u8>>| {
            text.as_ref().is_some_and(|bytes| bytes.len() > MAX_FILE_BYTES)
        };
        if is_large(&old_text) || is_large(&new_text) {
            let is_new_size = is_source && !is_large(&old_text);
            // A large file is examined by its name alone, as if it were empty.
            let unread = ChangedFile {
                baseline: old_text.as_ref().map(|_| &[][..]),
                tree: new_text.as_ref().map(|_| &[][..]),
                ..file
            };
            examine_large_file(&unread, is_new_size, examiner);
            return Ok(());
        }
        if let (Some(criteria), Some(old_text)) = (criteria, &old_text) {
            report_lost_items(&name, old_text, new_text.as_deref(), criteria, examiner);
        }
        examiner.examine(&ChangedFile {
            baseline: old_text.as_deref(),
            tree: new_text.as_deref(),
            ..file
        });
        Ok(())
    }

    /// A finding can come from the file's text.
    fn can_have_findings(&self, file: &ChangedFile<'_>) -> bool {
        matches!(file.guarded, Some(Guarded::Ci | Guarded::Hook))
            || file.is_protected
            || file.is_script
            || Language::from_path(file.path).is_some()
            || self.project.targets.iter().any(|target| file.path.ends_with(&target.name))
    }

    /// A link that leads out of the tree, in the place of a source, of a file that was there, or of a
    /// folder with such files.
    fn is_link_outside(&self, change: &Change) -> bool {
        let is_link =
            self.snapshot.file(&change.path).is_some_and(|file| file.kind() == Kind::Link);
        if !is_link || change.kind == ChangeKind::Removed {
            return false;
        }
        let is_work = change.kind == ChangeKind::Edited
            || change.guarded.is_some()
            || change.path.to_str().is_some_and(|path| Language::from_path(path).is_some())
            || self.reader.has_folder(&change.path);
        is_work && is_link_out_of(self.tree.root(), &change.path)
    }

    fn is_protected(&self, path: &[u8]) -> bool {
        self.tree.path_in_project(path).is_some_and(|path| self.protected.matches(path))
    }

    /// The settings of the check of criteria, if they name this file as a plan.
    fn criteria_for(&self, path: &[u8]) -> Option<&CheckPolicy> {
        let (criteria, path) = (self.criteria?, self.tree.path_in_project(path)?);
        let mut globs = criteria
            .files
            .iter()
            .map(std::slice::from_ref)
            .filter_map(|glob| Globs::new(glob).ok());
        globs.any(|globs| globs.matches(path)).then_some(criteria)
    }
}

/// Examines a file that is too large to be read. If it is guarded by its name alone, the finding is
/// the usual one; if it would have to be read, the finding is its size. `is_new_size` says that it is
/// a source that was not as large in the baseline.
fn examine_large_file(file: &ChangedFile<'_>, is_new_size: bool, examiner: &mut Examiner<'_>) {
    let is_guarded_by_text = matches!(file.guarded, Some(Guarded::Manifest | Guarded::Ci));
    let is_unseen = is_guarded_by_text && file.baseline.is_some() || is_new_size;
    if is_unseen && !file.is_moved && !file.is_protected && !file.is_script {
        let finding = UNSEEN.finding(file.path);
        let message = format!("{}: it is larger than {MAX_FILE_BYTES} bytes", finding.message);
        examiner.add(Finding { message, ..finding });
    } else {
        examiner.examine(file);
    }
}

/// A link of the tree that leads out of it.
fn is_link_out_of(root: &Path, link: &Path) -> bool {
    let Ok(target) = fs::read_link(root.join(link)) else { return false };
    let folder = root.join(link.parent().unwrap_or(Path::new("")));
    let mut path = PathBuf::new();
    for component in folder.join(target).components() {
        match component {
            std::path::Component::ParentDir => drop(path.pop()),
            component => path.push(component),
        }
    }
    // The path may lead through other links.
    !path.real_path().unwrap_or(path).starts_with(root)
}

fn unreadable(path: &Path) -> String {
    format!("{} cannot be read", path.display())
}

/// Findings about tools that changed.
fn changed_tools(baseline: &Baseline, site: &CheckSite) -> Vec<Finding> {
    let baseline_time: Option<Timestamp> = baseline.time().parse().ok();
    let findings = baseline.tools().iter().filter_map(|old_tool| {
        let finding = TOOL.finding(&old_tool.name);
        let difference = match &Tool::find(&old_tool.name, site) {
            Some(tool) if tool == old_tool => return None,
            Some(tool) if tool.path != old_tool.path => {
                // Then another environment is active: nobody made it while the agent worked.
                let is_older = baseline_time.is_some_and(|time| is_older(&tool.path, time));
                let severity = if is_older { Severity::Warn } else { finding.severity };
                let (old_path, path) = (old_tool.path.display(), tool.path.display());
                let message = format!("it was {old_path} at the baseline, and is {path} now");
                let hint = "if that is right: `gate baseline`".to_owned();
                return Some(Finding { message, hint, severity, ..finding });
            }
            Some(_) => "its bytes are others",
            None => "it is gone",
        };
        let path = old_tool.path.display();
        let message = format!("{}: {path}, {difference}", finding.message);
        Some(Finding { message, ..finding })
    });
    findings.collect()
}

/// A file that was put in its place before this time. The system sets the time of that, nobody else.
fn is_older(path: &Path, time: Timestamp) -> bool {
    fs::symlink_metadata(path).is_ok_and(|metadata| metadata.ctime() < time.as_second())
}

/// Reports the items that a plan had and does not have any more, or has only below a heading that
/// makes them optional. Boxes may be ticked, items may be added and moved.
pub(super) fn report_lost_items(
    file: &str,
    old_text: &[u8],
    new_text: Option<&[u8]>,
    rules: &CheckPolicy,
    examiner: &mut Examiner<'_>,
) {
    let mut old_items = items(file, old_text, rules);
    let mut new_items = new_text.map(|text| items(file, text, rules)).unwrap_or_default();
    // Items that block are matched first, so that no optional one of the same text takes their place.
    old_items.sort_by_key(|item| item.optional);
    new_items.sort_by_key(|item| item.optional);
    for old_item in old_items {
        let match_index = new_items
            .iter()
            .position(|item| item.text == old_item.text && (old_item.optional || !item.optional));
        if let Some(index) = match_index {
            new_items.remove(index);
            continue;
        }
        let is_optional_now = new_items.iter().any(|item| item.text == old_item.text);
        let finding = CRITERION.finding(file);
        let change = if is_optional_now {
            "an item of the plan was made optional"
        } else {
            CRITERION.message
        };
        let message = format!("{change}: {}", brief(&old_item.text, 80));
        let line = old_item.line.saturating_sub(1);
        examiner.add(Finding { message, ..finding }.at(line, &old_item.text));
    }
}

/// The items of a plan. A plan that cannot be read has no items; the check of criteria reports it.
fn items(file: &str, bytes: &[u8], rules: &CheckPolicy) -> Vec<acceptance::Item> {
    let text = String::from_utf8_lossy(bytes);
    acceptance::plan_items(Path::new(file), &text, rules).unwrap_or_default()
}
