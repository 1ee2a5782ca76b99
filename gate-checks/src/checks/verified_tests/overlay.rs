//! The changes of the tree since its baseline, and the files that are laid over it.

mod named;

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use gate_core::decide::policy::Allowance;
use gate_core::integrity::{
    Guarded, MergedManifest, ProductNames, guarded, has_inline_tests, is_assertion_helper,
    loaded_by_itself, merge_manifest, test_names, with_baseline_inline_tests, with_new_names,
};
use gate_platform::git_name;

use super::identities::is_named_after;
use crate::baseline::{Baseline, BaselineError, Change, ChangeKind, StoredFile};
use crate::check::{CheckContext, Occasion};
use crate::workspace::Layout;
use crate::worktree::{Globs, Kind, WorkTree, shown};

pub(super) use named::is_data;

/// The names of makefiles: make reads the first one that is there.
const MAKEFILES: [&str; 3] = ["GNUmakefile", "makefile", "Makefile"];

/// A file that stands otherwise in the deciding copy than in the tree.
#[derive(Clone, Debug)]
pub(super) struct Replacement {
    pub(super) path: PathBuf,
    pub(super) kind: ReplacementKind,
    /// The file that stands in the deciding copy; `None` if no file does.
    file: Option<StoredFile>,
    /// The names of the tests in the text of a source.
    tests: Vec<String>,
}

/// The reason for a replacement, and with it the text that stands in the deciding copy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ReplacementKind {
    /// A test, or a file that tests rest on, was edited or removed: as it was.
    Edited,
    /// A new test, or a new file that tests rest on: left out.
    New,
    /// Settings of a test runner: as they were.
    Settings,
    /// A source with tests in it: the tree's source with the baseline's tests.
    Inline,
    /// A manifest: the tree's, with the baseline's keys about tests.
    Manifest,
    /// A manifest that cannot be merged: as it was.
    Recipe,
}

impl Replacement {
    /// A file of tests without its tests: an empty one, or none.
    pub(super) fn emptied(path: PathBuf, is_kept: bool) -> Self {
        let file = is_kept.then(|| StoredFile { bytes: Vec::new(), kind: Kind::Plain });
        Self { path, kind: ReplacementKind::Edited, file, tests: Vec::new() }
    }

    /// Puts the file into a layout, or leaves it out there.
    pub(super) fn lay(&self, layout: &mut Layout) {
        match &self.file {
            Some(file) => layout.lay(&self.path, file),
            None => layout.leave_out(&self.path),
        }
    }

    /// The file's name, fit to be shown.
    pub(super) fn name(&self) -> String {
        shown(&git_name(&self.path))
    }

    /// A test of this file, by its name; `cwd` is the folder of the check, relative to the root.
    pub(super) fn has_test(&self, cwd: &Path, test: &str) -> bool {
        let own_name = test.rsplit("::").next().unwrap_or(test);
        match self.kind {
            ReplacementKind::Edited => is_named_after(test, &self.path, cwd),
            // A test in a crate's root has no part of the file's path in its name.
            ReplacementKind::Inline => {
                is_named_after(test, &self.path, cwd)
                    || self.tests.iter().any(|name| name == own_name)
            }
            _ => false,
        }
    }

    /// The same file with the product's new names in its old text, if its edit shows such names.
    pub(super) fn with_new_names(
        &self,
        tree: &WorkTree,
        overlay: &Overlay<'_>,
        names: &ProductNames,
    ) -> Option<Self> {
        let old_file = overlay.baseline.content(tree, &self.path).ok().flatten()?;
        let new_text = tree.bytes(&self.path).or_else(|| overlay.moved_text(tree, &self.path))?;
        let name = self.path.to_string_lossy();
        let renamed = with_new_names(&name, &old_file.bytes, &new_text, names)?;
        let bytes = match self.kind {
            ReplacementKind::Edited => renamed,
            ReplacementKind::Inline => {
                with_baseline_inline_tests(&name, &renamed, &new_text).unwrap_or(new_text)
            }
            _ => return None,
        };
        let tests = test_names(&name, &bytes);
        let file = Some(StoredFile { bytes, kind: old_file.kind });
        Some(Self { file, tests, ..self.clone() })
    }

    /// The same file with the same text.
    pub(super) fn has_same_text(&self, other: &Self) -> bool {
        let [text, other_text] =
            [self, other].map(|file| file.file.as_ref().map(|file| &file.bytes));
        self.path == other.path && text == other_text
    }

    /// A source of the product that had no test in it.
    pub(super) fn is_without_tests(&self) -> bool {
        self.kind == ReplacementKind::Inline && self.tests.is_empty()
    }

    /// A file of tests that no runner loads by itself: other files do not rest on it.
    pub(super) fn is_plain_test(&self) -> bool {
        let name = self.path.to_string_lossy();
        let is_test = guarded(&name) == Some(Guarded::Test) && !loaded_by_itself(&name);
        is_test && matches!(self.kind, ReplacementKind::Edited | ReplacementKind::New)
    }

    /// A file that is left out for being new.
    pub(super) fn is_new(&self) -> bool {
        self.kind == ReplacementKind::New
    }

    /// A file that stands as in the baseline.
    pub(super) fn is_old(&self) -> bool {
        !matches!(self.kind, ReplacementKind::Inline | ReplacementKind::Manifest)
    }
}

/// The changes of a tree since its baseline.
pub(super) struct Overlay<'a> {
    pub(super) baseline: &'a Baseline,
    pub(super) changes: Vec<Change>,
    /// One for each change: the operator lets its path change.
    approvals: Vec<bool>,
}

impl<'a> Overlay<'a> {
    /// The differences from the baseline, if there is one.
    ///
    /// # Errors
    ///
    /// A baseline that cannot be compared.
    pub(super) fn new(
        cx: &'a CheckContext,
        tree: &WorkTree,
    ) -> Result<Option<Self>, BaselineError> {
        let Some(baseline) = &cx.options.baseline else { return Ok(None) };
        let cancel = cx.cancel.clone();
        let changes = baseline.reader(tree)?.changes(&cx.tree, &cancel)?;
        let globs = path_globs(&cx.allow)?;
        let mut approvals = Vec::with_capacity(changes.len());
        for change in &changes {
            let name = git_name(&change.path);
            let project_path = tree.path_in_project(&name);
            approvals.push(project_path.is_some_and(|path| globs.matches(path)));
        }
        Ok(Some(Self { baseline, changes, approvals }))
    }

    /// The baseline is the commit that is judged: there is nothing older to compare with.
    pub(super) fn is_judged_commit(&self) -> bool {
        self.baseline.is_from_history() && self.changes.is_empty()
    }

    /// The changes that the operator has approved by path.
    pub(super) fn approved_changes(&self) -> impl Iterator<Item = &Change> {
        self.changes
            .iter()
            .zip(&self.approvals)
            .filter(|(_, is_approved)| **is_approved)
            .map(|(change, _)| change)
    }

    /// A test of a file whose change was approved; `cwd` is the folder of the check, relative to the
    /// root.
    pub(super) fn has_approved_test(&self, cwd: &Path, test: &str) -> bool {
        self.approved_changes().any(|change| is_named_after(test, &change.path, cwd))
    }

    /// The operator has approved a change of the settings that select tests. A manifest counts in a
    /// pull request, where a person has approved its content; in a loop the operator has let go of
    /// its path.
    pub(super) fn has_approved_settings(&self, occasion: Occasion) -> bool {
        self.approved_changes().any(|change| match change.guarded {
            Some(Guarded::Runner) => true,
            Some(Guarded::Manifest) => occasion.is_pull_request(),
            _ => false,
        })
    }

    /// The files that were moved with their bytes: from where, to where.
    pub(super) fn moved_files(&self) -> impl Iterator<Item = (&Path, &Path)> {
        self.changes.iter().filter_map(|change| {
            let old_path = change.moved_from.as_deref()?;
            // By its new name no runner may find it.
            let was_test = guarded(&old_path.to_string_lossy()) == Some(Guarded::Test);
            let is_hidden = was_test && change.guarded != Some(Guarded::Test);
            (!is_hidden).then_some((old_path, change.path.as_path()))
        })
    }

    /// The names that the work gave up in the product, and those that it took.
    pub(super) fn product_names(&self, tree: &WorkTree) -> ProductNames {
        let mut names = ProductNames::default();
        for change in self.changes.iter().filter(|change| change.guarded.is_none()) {
            let old_file = self.baseline.content(tree, &change.path).ok().flatten();
            let old_text = old_file.as_ref().map(|file| file.bytes.as_slice());
            let new_text = tree.bytes(&change.path);
            names.add_file(&change.path.to_string_lossy(), old_text, new_text.as_deref());
        }
        names
    }

    /// The text of the new file that has most words of a removed one, and at least half of them: the
    /// removed one probably went there.
    fn moved_text(&self, tree: &WorkTree, removed: &Path) -> Option<Vec<u8>> {
        let removed_file = self.baseline.content(tree, removed).ok().flatten()?;
        let words = |text: &[u8]| -> BTreeSet<Vec<u8>> {
            let words = text.split(|byte| !byte.is_ascii_alphanumeric() && *byte != b'_');
            words.filter(|word| !word.is_empty()).map(<[u8]>::to_vec).collect()
        };
        let removed_words = words(&removed_file.bytes);
        let (shared_count, text) = self
            .changes
            .iter()
            .filter(|change| {
                change.kind == ChangeKind::Added && change.path.extension() == removed.extension()
            })
            .filter_map(|change| tree.bytes(&change.path))
            .map(|text| (words(&text).intersection(&removed_words).count(), text))
            .max_by_key(|(shared_count, _)| *shared_count)?;
        (shared_count * 2 >= removed_words.len()).then_some(text)
    }

    /// The removed or moved file that a test is named after; `cwd` is the folder of the check,
    /// relative to the root.
    pub(super) fn removed_file_of(&self, cwd: &Path, test: &str) -> Option<&Path> {
        self.changes
            .iter()
            .filter(|change| change.kind == ChangeKind::Removed)
            .map(|change| change.path.as_path())
            .find(|path| is_named_after(test, path, cwd))
    }

    /// The files that stand otherwise in the deciding copy than in the tree. `scripts` are those that
    /// the check's command names.
    ///
    /// # Errors
    ///
    /// A file of the baseline that cannot be read any more.
    pub(super) fn replacements(
        &self,
        tree: &WorkTree,
        scripts: &BTreeSet<PathBuf>,
    ) -> Result<Vec<Replacement>, BaselineError> {
        let moved: Vec<_> = self.moved_files().map(|(old_path, _)| old_path.to_owned()).collect();
        let loaded_by_tests = self.files_named_by_tests(tree)?;
        let mut replacements = Vec::new();
        for (change, is_approved) in self.changes.iter().zip(&self.approvals) {
            if *is_approved || moved.contains(&change.path) {
                continue;
            }
            let is_loaded =
                loaded_by_tests.contains(&change.path) || scripts.contains(&change.path);
            let is_product = matches!(change.guarded, None | Some(Guarded::Manifest | Guarded::Ci));
            let replacement = match is_loaded && is_product {
                true => self.baseline_file(tree, change)?,
                false => self.replacement(tree, change)?,
            };
            replacements.extend(replacement);
        }
        Ok(replacements)
    }

    /// A changed file as it was; a new one is left out.
    fn baseline_file(
        &self,
        tree: &WorkTree,
        change: &Change,
    ) -> Result<Option<Replacement>, BaselineError> {
        let path = change.path.clone();
        let file = self.baseline.content(tree, &path)?;
        let kind = match file {
            Some(_) => ReplacementKind::Edited,
            None => ReplacementKind::New,
        };
        Ok(Some(Replacement { path, kind, file, tests: Vec::new() }))
    }

    /// The file in the place of a changed one; `None` if the tree's stays.
    fn replacement(
        &self,
        tree: &WorkTree,
        change: &Change,
    ) -> Result<Option<Replacement>, BaselineError> {
        let path = change.path.clone();
        let name = path.to_string_lossy();
        let is_new = change.kind == ChangeKind::Added;
        let is_test = matches!(change.guarded, Some(Guarded::Test | Guarded::Support));
        let is_loaded = change.guarded != Some(Guarded::Runner) && loaded_by_itself(&name);
        if is_new && change.moved_from.is_none() && (is_test || is_loaded) {
            let kind = ReplacementKind::New;
            return Ok(Some(Replacement { path, kind, file: None, tests: Vec::new() }));
        }
        let kind = match change.guarded {
            Some(Guarded::Runner) => ReplacementKind::Settings,
            Some(Guarded::Manifest) if is_new => return Ok(self.new_manifest(tree, path)),
            _ if is_new => return Ok(None),
            Some(Guarded::Test | Guarded::Support) => ReplacementKind::Edited,
            Some(Guarded::Manifest) | None if change.kind == ChangeKind::Edited => {
                return self.merged_file(tree, change);
            }
            _ => return Ok(None),
        };
        let file = self.baseline.content(tree, &path)?;
        Ok(Some(Replacement { path, kind, file, tests: Vec::new() }))
    }

    /// A new manifest without its keys about tests. It is left out where it hides an older one.
    fn new_manifest(&self, tree: &WorkTree, path: PathBuf) -> Option<Replacement> {
        let name = path.file_name()?.to_str()?;
        let kind = ReplacementKind::Manifest;
        if let Some(index) = MAKEFILES.iter().position(|makefile| *makefile == name) {
            let hides_older = MAKEFILES[index + 1..]
                .iter()
                .any(|makefile| tree.bytes(&path.with_file_name(makefile)).is_some());
            return hides_older.then_some(Replacement {
                path,
                kind,
                file: None,
                tests: Vec::new(),
            });
        }
        if name.starts_with("vite.config.") {
            return Some(Replacement { path, kind, file: None, tests: Vec::new() });
        }
        let is_of_python = matches!(name, "setup.cfg" | "tox.ini" | "pyproject.toml");
        let text = if is_of_python { tree.bytes(&path)? } else { return None };
        let MergedManifest::Text(bytes) = merge_manifest(name, b"", &text) else { return None };
        let file = Some(StoredFile { bytes, kind: Kind::Plain });
        Some(Replacement { path, kind, file, tests: Vec::new() })
    }

    /// A manifest with the baseline's keys about tests, a source with the baseline's tests, or a module
    /// that only asserts as it was.
    fn merged_file(
        &self,
        tree: &WorkTree,
        change: &Change,
    ) -> Result<Option<Replacement>, BaselineError> {
        let path = change.path.clone();
        let name = path.to_string_lossy();
        let Some(old_file) = self.baseline.content(tree, &path)? else { return Ok(None) };
        let Some(new_text) = tree.bytes(&path) else { return Ok(None) };
        let (kind, bytes) = if change.guarded == Some(Guarded::Manifest) {
            match merge_manifest(&name, &old_file.bytes, &new_text) {
                MergedManifest::Same => return Ok(None),
                MergedManifest::Text(bytes) => (ReplacementKind::Manifest, bytes),
                MergedManifest::Unmergeable => (ReplacementKind::Recipe, old_file.bytes),
            }
        } else {
            match with_baseline_inline_tests(&name, &old_file.bytes, &new_text) {
                Some(bytes) => (ReplacementKind::Inline, bytes),
                None if is_assertion_module(&name, &old_file.bytes) => {
                    (ReplacementKind::Edited, old_file.bytes)
                }
                None => return Ok(None),
            }
        };
        let tests = test_names(&name, &bytes);
        let file = Some(StoredFile { bytes, kind: old_file.kind });
        Ok(Some(Replacement { path, kind, file, tests }))
    }

    /// A source with tests in it is gone: they cannot be put back.
    ///
    /// # Errors
    ///
    /// A file of the baseline that cannot be read any more.
    pub(super) fn has_lost_inline_tests(&self, tree: &WorkTree) -> Result<bool, BaselineError> {
        for change in &self.changes {
            let is_removed_source = change.kind == ChangeKind::Removed && change.guarded.is_none();
            if is_removed_source && let Some(file) = self.baseline.content(tree, &change.path)? {
                let name = change.path.to_string_lossy();
                if has_inline_tests(&name, &file.bytes) {
                    return Ok(true);
                }
            }
        }
        Ok(false)
    }

    /// Code that runs while the work is built was changed: it may build something else than stands in
    /// the caches.
    pub(super) fn has_changed_build_code(&self, tree: &WorkTree) -> bool {
        self.changes.iter().any(|change| {
            let is_script = change.path.file_name().is_some_and(|name| name == "build.rs");
            is_script || is_of_macro_crate(tree.root(), &change.path)
        })
    }

    /// Makes the layout the baseline's own tree.
    pub(super) fn lay_baseline(
        &self,
        tree: &WorkTree,
        layout: &mut Layout,
    ) -> Result<(), BaselineError> {
        let mut paths: Vec<&PathBuf> = self.changes.iter().map(|change| &change.path).collect();
        paths.dedup();
        paths.into_iter().try_for_each(|path| self.put_back(tree, layout, path))
    }

    /// Puts these files back as the baseline had them.
    pub(super) fn put_back_files(
        &self,
        tree: &WorkTree,
        layout: &mut Layout,
        files: &[PathBuf],
    ) -> Result<(), BaselineError> {
        files.iter().try_for_each(|path| self.put_back(tree, layout, path))
    }

    fn put_back(
        &self,
        tree: &WorkTree,
        layout: &mut Layout,
        path: &Path,
    ) -> Result<(), BaselineError> {
        match self.baseline.content(tree, path)? {
            Some(file) => layout.lay(path, &file),
            None => layout.leave_out(path),
        }
        Ok(())
    }
}

fn is_assertion_module(name: &str, bytes: &[u8]) -> bool {
    std::str::from_utf8(bytes).is_ok_and(|text| is_assertion_helper(name, text))
}

/// A file of a crate of procedural macros.
fn is_of_macro_crate(root: &Path, file: &Path) -> bool {
    if file.extension().is_none_or(|extension| extension != "rs") {
        return false;
    }
    // The nearest manifest above the file is its crate's.
    let mut manifests = file.ancestors().skip(1).map(|folder| root.join(folder).join("Cargo.toml"));
    let text = manifests.find_map(|manifest| fs::read_to_string(manifest).ok());
    let manifest = text.and_then(|text| text.parse::<toml::Table>().ok()).unwrap_or_default();
    let library = manifest.get("lib").and_then(toml::Value::as_table);
    library.is_some_and(|library| {
        ["proc-macro", "proc_macro"].iter().any(|key| library.get(*key) == Some(&true.into()))
    })
}

/// The globs of files that may change. An allowance of a test or a rule lets no whole file change.
fn path_globs(allow: &[Allowance]) -> Result<Globs, BaselineError> {
    let of_whole_files =
        allow.iter().filter(|allowance| allowance.test.is_none() && allowance.rule.is_none());
    let globs: Vec<_> = of_whole_files.filter_map(|allowance| allowance.path.clone()).collect();
    Ok(Globs::new(&globs)?)
}

#[cfg(test)]
mod tests;
