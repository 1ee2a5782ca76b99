//! The changes of the tree since its baseline, and the files that are laid over it.

mod named;

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use gate_core::decide::policy::Allowance;
use gate_core::integrity::{
    Guarded, MergedManifest, ProductNames, guarded, has_inline_tests, is_assertion_helper,
    loaded_by_itself, merge_manifest, test_names, with_baseline_inline_tests, with_new_names,
};

use super::identities;
use crate::baseline::{Baseline, BaselineError, Change, StoredFile, What};
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
    /// None: it is left out.
    file: Option<StoredFile>,
    /// The names of the tests in the old text of a source.
    tests: Vec<String>,
}

/// The reason for a replacement.
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
    /// Puts it into a layout.
    pub(super) fn lay(&self, layout: &mut Layout) {
        match &self.file {
            Some(file) => layout.lay(&self.path, file),
            None => layout.leave_out(&self.path),
        }
    }

    /// Its name, fit to be shown.
    pub(super) fn name(&self) -> String {
        shown(self.path.as_os_str().as_bytes())
    }

    /// True if a test is one of the file's; `cwd` is the folder of the check, relative to the root.
    pub(super) fn owns(&self, cwd: &Path, test: &str) -> bool {
        let own_name = test.rsplit("::").next().unwrap_or(test);
        match self.kind {
            ReplacementKind::Edited => identities::owns(&self.path, cwd, test),
            // The names of tests in a crate's root do not say so.
            ReplacementKind::Inline => {
                identities::owns(&self.path, cwd, test)
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
        let stored = overlay.baseline.content(tree, &self.path).ok().flatten()?;
        let now = tree.bytes(&self.path).or_else(|| overlay.moved_text(tree, &self.path))?;
        let name = self.path.to_string_lossy();
        let renamed = with_new_names(&name, &stored.bytes, &now, names)?;
        let bytes = match self.kind {
            ReplacementKind::Edited => renamed,
            ReplacementKind::Inline => {
                with_baseline_inline_tests(&name, &renamed, &now).unwrap_or(now)
            }
            _ => return None,
        };
        let tests = test_names(&name, &bytes);
        let file = Some(StoredFile { bytes, kind: stored.kind });
        Some(Self { file, tests, ..self.clone() })
    }

    /// The same file with the same text.
    pub(super) fn is_same(&self, other: &Self) -> bool {
        let text = |file: &Self| file.file.as_ref().map(|file| file.bytes.clone());
        self.path == other.path && text(self) == text(other)
    }

    /// True for a source of the product that had no test in it.
    pub(super) fn had_no_tests(&self) -> bool {
        self.kind == ReplacementKind::Inline && self.tests.is_empty()
    }

    /// A file of tests that no runner loads by itself: other files do not rest on it.
    pub(super) fn is_plain_test(&self) -> bool {
        let name = self.path.to_string_lossy();
        let is_test = guarded(&name) == Some(Guarded::Test) && !loaded_by_itself(&name);
        is_test && matches!(self.kind, ReplacementKind::Edited | ReplacementKind::New)
    }

    /// True if it is left out for being new.
    pub(super) fn is_new(&self) -> bool {
        self.kind == ReplacementKind::New
    }

    /// True if it stands as in the baseline.
    pub(super) fn is_old(&self) -> bool {
        !matches!(self.kind, ReplacementKind::Inline | ReplacementKind::Manifest)
    }
}

/// A tree, and what it was.
pub(super) struct Overlay<'a> {
    pub(super) baseline: &'a Baseline,
    pub(super) changes: Vec<Change>,
    allowed: Vec<bool>,
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
        let mut allowed = Vec::with_capacity(changes.len());
        for change in &changes {
            let inside = tree.in_project(change.path.as_os_str().as_bytes());
            allowed.push(inside.is_some_and(|inside| globs.matches(inside)));
        }
        Ok(Some(Self { baseline, changes, allowed }))
    }

    /// True if the baseline is the commit that is judged.
    pub(super) fn is_the_tree(&self) -> bool {
        self.baseline.is_from_history() && self.changes.is_empty()
    }

    /// The changes that the operator has approved by path.
    pub(super) fn approved(&self) -> impl Iterator<Item = &Change> {
        self.changes
            .iter()
            .zip(&self.allowed)
            .filter(|(_, allowed)| **allowed)
            .map(|(change, _)| change)
    }

    /// True if a test is one of a file whose change was approved; `cwd` is the folder of the check,
    /// relative to the root.
    pub(super) fn has_approved(&self, cwd: &Path, test: &str) -> bool {
        self.approved().any(|change| identities::owns(&change.path, cwd, test))
    }

    /// True if the operator has approved a change of the settings that select tests. A manifest
    /// counts in a pull request, where a person has approved its content; in a loop the operator
    /// has let go of its path.
    pub(super) fn has_approved_settings(&self, occasion: Occasion) -> bool {
        self.approved().any(|change| match change.guarded {
            Some(Guarded::Runner) => true,
            Some(Guarded::Manifest) => occasion.is_pull_request(),
            _ => false,
        })
    }

    /// The files that were moved with their bytes: from where, to where.
    pub(super) fn moved(&self) -> impl Iterator<Item = (&Path, &Path)> {
        self.changes.iter().filter_map(|change| {
            let from = change.moved_from.as_deref()?;
            // By its new name no runner may find it.
            let was_test = guarded(&from.to_string_lossy()) == Some(Guarded::Test);
            let is_lost = was_test && change.guarded != Some(Guarded::Test);
            (!is_lost).then_some((from, change.path.as_path()))
        })
    }

    /// The names that the work gave up in the product, and those that it took.
    pub(super) fn product_names(&self, tree: &WorkTree) -> ProductNames {
        let mut names = ProductNames::default();
        for change in self.changes.iter().filter(|change| change.guarded.is_none()) {
            let before = self.baseline.content(tree, &change.path).ok().flatten();
            let before = before.as_ref().map(|file| file.bytes.as_slice());
            let now = tree.bytes(&change.path);
            names.add_file(&change.path.to_string_lossy(), before, now.as_deref());
        }
        names
    }

    /// The text of the new test file that most of a removed one went into.
    fn moved_text(&self, tree: &WorkTree, removed: &Path) -> Option<Vec<u8>> {
        let before = self.baseline.content(tree, removed).ok().flatten()?;
        let words = |text: &[u8]| -> BTreeSet<Vec<u8>> {
            let words = text.split(|byte| !byte.is_ascii_alphanumeric() && *byte != b'_');
            words.filter(|word| !word.is_empty()).map(<[u8]>::to_vec).collect()
        };
        let old = words(&before.bytes);
        let new = self.changes.iter().filter(|change| {
            change.what == What::Added && change.path.extension() == removed.extension()
        });
        let texts = new.filter_map(|change| tree.bytes(&change.path));
        let shared = texts.map(|text| (words(&text).intersection(&old).count(), text));
        let (count, text) = shared.max_by_key(|(count, _)| *count)?;
        (count * 2 >= old.len()).then_some(text)
    }

    /// The removed and moved files of the product that tests are named after; `cwd` is the folder of
    /// the check, relative to the root.
    pub(super) fn lost_owner(&self, cwd: &Path, test: &str) -> Option<&Path> {
        let gone = self.changes.iter().filter(|change| change.what == What::Removed);
        let mut gone = gone.map(|change| change.path.as_path());
        gone.find(|path| identities::owns(path, cwd, test))
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
        let moved: Vec<_> = self.moved().map(|(from, _)| from.to_owned()).collect();
        let named = self.named_by_tests(tree)?;
        let mut replacements = Vec::new();
        for (change, allowed) in self.changes.iter().zip(&self.allowed) {
            if *allowed || moved.contains(&change.path) {
                continue;
            }
            let is_named = named.contains(&change.path) || scripts.contains(&change.path);
            let is_product = matches!(change.guarded, None | Some(Guarded::Manifest | Guarded::Ci));
            let replacement = match is_named && is_product {
                true => self.as_it_was(tree, change)?,
                false => self.replacement(tree, change)?,
            };
            replacements.extend(replacement);
        }
        Ok(replacements)
    }

    /// A changed file as it was; a new one is left out.
    fn as_it_was(
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

    /// The file in the place of a changed one; none if the tree's stays.
    fn replacement(
        &self,
        tree: &WorkTree,
        change: &Change,
    ) -> Result<Option<Replacement>, BaselineError> {
        let path = change.path.clone();
        let name = path.to_string_lossy();
        let is_new = change.what == What::Added;
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
            Some(Guarded::Manifest) | None if change.what == What::Edited => {
                return self.merged(tree, change);
            }
            _ => return Ok(None),
        };
        let file = self.baseline.content(tree, &path)?;
        Ok(Some(Replacement { path, kind, file, tests: Vec::new() }))
    }

    /// A new manifest without its keys about tests, or without it where it hides another one.
    fn new_manifest(&self, tree: &WorkTree, path: PathBuf) -> Option<Replacement> {
        let name = path.file_name()?.to_str()?;
        let kind = ReplacementKind::Manifest;
        if let Some(at) = MAKEFILES.iter().position(|makefile| *makefile == name) {
            let hidden = MAKEFILES[at + 1..].iter().map(|makefile| path.with_file_name(makefile));
            let hides = hidden.into_iter().any(|makefile| tree.bytes(&makefile).is_some());
            return hides.then_some(Replacement { path, kind, file: None, tests: Vec::new() });
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
    fn merged(
        &self,
        tree: &WorkTree,
        change: &Change,
    ) -> Result<Option<Replacement>, BaselineError> {
        let path = change.path.clone();
        let name = path.to_string_lossy();
        let (Some(before), Some(now)) = (self.baseline.content(tree, &path)?, tree.bytes(&path))
        else {
            return Ok(None);
        };
        let (kind, bytes) = if change.guarded == Some(Guarded::Manifest) {
            match merge_manifest(&name, &before.bytes, &now) {
                MergedManifest::Same => return Ok(None),
                MergedManifest::Text(bytes) => (ReplacementKind::Manifest, bytes),
                MergedManifest::Unmergeable => (ReplacementKind::Recipe, before.bytes),
            }
        } else {
            match with_baseline_inline_tests(&name, &before.bytes, &now) {
                Some(bytes) => (ReplacementKind::Inline, bytes),
                None if only_asserts(&name, &before.bytes) => {
                    (ReplacementKind::Edited, before.bytes)
                }
                None => return Ok(None),
            }
        };
        let tests = test_names(&name, &bytes);
        let file = Some(StoredFile { bytes, kind: before.kind });
        Ok(Some(Replacement { path, kind, file, tests }))
    }

    /// Looks for tests in sources that are gone: nothing of theirs can be put back.
    ///
    /// # Errors
    ///
    /// A file of the baseline that cannot be read any more.
    pub(super) fn lost_inline_tests(&self, tree: &WorkTree) -> Result<bool, BaselineError> {
        for change in &self.changes {
            let is_lost = change.what == What::Removed && change.guarded.is_none();
            if is_lost && let Some(file) = self.baseline.content(tree, &change.path)? {
                let name = change.path.to_string_lossy();
                if has_inline_tests(&name, &file.bytes) {
                    return Ok(true);
                }
            }
        }
        Ok(false)
    }

    /// True if code that runs while the work is built was changed: what was built before may not
    /// be what it would build.
    pub(super) fn changes_builds(&self, tree: &WorkTree) -> bool {
        self.changes.iter().any(|change| {
            let is_script = change.path.file_name().is_some_and(|name| name == "build.rs");
            is_script || is_of_macros(tree.root(), &change.path)
        })
    }

    /// Makes it the baseline's own tree.
    pub(super) fn lay_all(
        &self,
        tree: &WorkTree,
        layout: &mut Layout,
    ) -> Result<(), BaselineError> {
        let mut paths: Vec<&PathBuf> = self.changes.iter().map(|change| &change.path).collect();
        paths.dedup();
        paths.into_iter().try_for_each(|path| self.put_back(tree, layout, path))
    }

    /// Puts these files back.
    pub(super) fn lay_files(
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

fn only_asserts(name: &str, bytes: &[u8]) -> bool {
    std::str::from_utf8(bytes).is_ok_and(|text| is_assertion_helper(name, text))
}

/// True for a file of a crate of procedural macros.
fn is_of_macros(root: &Path, file: &Path) -> bool {
    if file.extension().is_none_or(|kind| kind != "rs") {
        return false;
    }
    let manifests = file.ancestors().skip(1).map(|folder| root.join(folder).join("Cargo.toml"));
    let text = manifests.into_iter().find_map(|manifest| fs::read_to_string(manifest).ok());
    let manifest = text.and_then(|text| text.parse::<toml::Table>().ok()).unwrap_or_default();
    let library = manifest.get("lib").and_then(toml::Value::as_table);
    library.is_some_and(|library| {
        ["proc-macro", "proc_macro"].iter().any(|key| library.get(*key) == Some(&true.into()))
    })
}

/// The globs of files that may change.
fn path_globs(allow: &[Allowance]) -> Result<Globs, BaselineError> {
    let whole =
        allow.iter().filter(|allowance| allowance.test.is_none() && allowance.rule.is_none());
    let globs: Vec<_> = whole.filter_map(|allowance| allowance.path.clone()).collect();
    Ok(Globs::new(&globs)?)
}

#[cfg(test)]
mod tests;
