//! The files of tests that a change edits or removes, and the settings of those who run them.

use gate_checks::baseline::{Baseline, Change, ChangeKind};
use gate_checks::worktree::WorkTree;
use gate_core::decide::policy::Allowance;
use gate_core::integrity::{
    Guarded, MergedManifest, has_inline_tests, is_assertion_helper, loaded_by_itself,
    merge_manifest, rules, with_baseline_inline_tests,
};
use std::path::Path;

use schemars::JsonSchema;
use serde::Serialize;
use similar::TextDiff;

use super::approval::ReviewApproval;
use super::base::unreadable_base;
use crate::failure::Failure;
use crate::gate::line_counts;
use crate::settings::FILE;
use crate::test_approval::literal_glob;

/// A file of the base that decides what its tests are worth, and that the change edits or removes;
/// or a new one that a test runner loads by itself.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub(crate) struct ChangedFile {
    /// The file, relative to the repository's root.
    pub(crate) file: String,
    /// The reason why it counts.
    pub(crate) role: Role,
    /// The kind of change.
    pub(crate) change: FileChange,
    /// The number of lines that were added.
    pub(crate) added: usize,
    /// The number of lines that were removed.
    pub(crate) removed: usize,
    /// The result of the base's version of it over the change.
    pub(crate) base_version: BaseVersion,
    /// The tests that fail or do not run, as far as the report names them.
    pub(crate) failing: Vec<String>,
}

impl ChangedFile {
    /// A new file of settings.
    pub(super) fn added(file: &str, text: &str) -> Self {
        Self {
            file: file.to_owned(),
            role: Role::Settings,
            change: FileChange::Added,
            added: text.lines().count(),
            removed: 0,
            base_version: BaseVersion::NotRun,
            failing: Vec::new(),
        }
    }
}

/// The result of the base's version of a file, over the product of the change.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum BaseVersion {
    /// It was laid over the product, and all tests passed.
    Passes,
    /// A test of it fails.
    Fails,
    /// A test of it does not run any more.
    Lost,
    /// It did not run: it is new, approved, or follows a new name of the product; or an earlier
    /// failure ended the check.
    NotRun,
}

/// The role of a file among tests.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Role {
    /// It holds tests.
    Test,
    /// Tests rest on it: a fixture, a snapshot, a helper.
    Support,
    /// It selects or configures tests.
    Settings,
    /// It says what CI, hooks of git or agents run.
    Automation,
}

/// The kind of a file's change.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum FileChange {
    /// It is new.
    Added,
    /// It says something else.
    Edited,
    /// It has another name, and the same bytes.
    Moved,
    /// It is gone.
    Removed,
}

/// The changed files of tests and their settings, by name.
///
/// # Errors
///
/// A tree or a base that cannot be read.
pub(super) fn changed_files(tree: &WorkTree, base: &Baseline) -> Result<Vec<ChangedFile>, Failure> {
    let changes = base.changes(tree, &tree.snapshot()?).map_err(|error| unreadable_base(&error))?;
    // A moved file is two changes, of its old and its new name. The new one has both.
    let old_names: Vec<_> = changes.iter().filter_map(|change| change.moved_from.clone()).collect();
    let mut files = Vec::new();
    for change in changes.iter().filter(|change| !old_names.contains(&change.path)) {
        files.extend(changed_file(tree, base, change)?);
    }
    Ok(files)
}

fn changed_file(
    tree: &WorkTree,
    base: &Baseline,
    change: &Change,
) -> Result<Option<ChangedFile>, Failure> {
    let name = change.path.to_string_lossy().into_owned();
    let is_new = change.kind == ChangeKind::Added && change.moved_from.is_none();
    let base_file = base.content(tree, &change.path).map_err(|error| unreadable_base(&error))?;
    let old_bytes = base_file.map(|file| file.bytes).unwrap_or_default();
    let new_bytes = std::fs::read(tree.root().join(&change.path)).unwrap_or_default();
    let role = match change.guarded {
        Some(Guarded::Test) if !is_new => Role::Test,
        Some(Guarded::Support) if !is_new => Role::Support,
        Some(Guarded::Runner) => Role::Settings,
        Some(Guarded::Ci | Guarded::Hook) => Role::Automation,
        Some(Guarded::Manifest) if !is_new => match merge_manifest(&name, &old_bytes, &new_bytes) {
            MergedManifest::Same => return Ok(None),
            _ => Role::Settings,
        },
        _ if is_new && loaded_by_itself(&name) => Role::Settings,
        None if change.kind == ChangeKind::Edited => {
            if with_baseline_inline_tests(&name, &old_bytes, &new_bytes).is_some() {
                Role::Test
            } else if is_assertion_helper(&name, &String::from_utf8_lossy(&old_bytes)) {
                Role::Support
            } else {
                return Ok(None);
            }
        }
        None if change.kind == ChangeKind::Removed && has_inline_tests(&name, &old_bytes) => {
            Role::Test
        }
        _ => return Ok(None),
    };
    let counts = line_counts(&old_bytes, &new_bytes);
    let kind = match change.kind {
        ChangeKind::Added if change.moved_from.is_some() => FileChange::Moved,
        ChangeKind::Added => FileChange::Added,
        ChangeKind::Edited => FileChange::Edited,
        ChangeKind::Removed => FileChange::Removed,
    };
    // The old name is gone, so its lines would all count as added.
    let is_moved = kind == FileChange::Moved;
    Ok(Some(ChangedFile {
        file: name,
        role,
        change: kind,
        added: if is_moved { 0 } else { counts.added },
        removed: if is_moved { 0 } else { counts.removed },
        base_version: BaseVersion::NotRun,
        failing: Vec::new(),
    }))
}

/// The line at which a line of the base's file stands now; if it is gone, the one in its place.
pub(super) fn current_line(tree: &WorkTree, base: &Baseline, file: &str, line: u64) -> Option<u64> {
    let old_bytes = base.content(tree, Path::new(file)).ok()??.bytes;
    let new_bytes = std::fs::read(tree.root().join(file)).ok()?;
    let index = usize::try_from(line).ok()?.checked_sub(1)?;
    let old_text = String::from_utf8_lossy(&old_bytes);
    let new_text = String::from_utf8_lossy(&new_bytes);
    let diff = TextDiff::from_lines(old_text.as_ref(), new_text.as_ref());
    let change = diff.ops().iter().find(|op| op.old_range().contains(&index))?;
    let (old_range, new_range) = (change.old_range(), change.new_range());
    let offset = index - old_range.start;
    // A change may have fewer lines than before, or none.
    let last_index = new_range.end.saturating_sub(1).max(new_range.start);
    u64::try_from((new_range.start + offset).min(last_index) + 1).ok()
}

/// The changes that a reviewer's approval lets pass: of these files, and findings of every rule.
/// `project` is the folder of the settings, relative to the repository's root.
pub(super) fn allowances(
    files: &[ChangedFile],
    project: &Path,
    approval: &ReviewApproval,
) -> Vec<Allowance> {
    let reason = approval.reason();
    let allow = |path: Option<String>, rule: Option<String>| Allowance {
        path,
        test: None,
        rule,
        reason: reason.clone(),
    };
    let paths = files.iter().filter_map(|file| Path::new(&file.file).strip_prefix(project).ok());
    let file_allowances = paths
        .filter(|path| !path.ends_with(FILE))
        .map(|path| allow(Some(literal_glob(&path.to_string_lossy())), None));
    file_allowances.chain(rules().map(|rule| allow(None, Some(rule.id.to_owned())))).collect()
}
