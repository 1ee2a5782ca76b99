//! Old texts of tests that agents have edited or removed.
//!
//! An accepted stop makes the product and new tests the next baseline's. It does not make edited
//! tests so: a test that was weakened while the product was right would not see the bug that comes
//! next. So the old text stays in each later baseline, until a person approves the edit, or the
//! edit asserts the same, or for [`LIFETIME`].

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use gate_core::integrity::{MergedManifest, merge_manifest, with_baseline_inline_tests};
use serde::{Deserialize, Serialize};

use super::error::BaselineError;
use super::stored_file::{KeptKind, Mark, Name, StoredFile};
use super::{Body, folder};
use crate::site::CheckSite;
use crate::store;
use crate::worktree::WorkTree;

/// After this time an edit that nobody objected to is the project's.
const LIFETIME: Duration = Duration::from_secs(30 * 24 * 60 * 60);

/// The folder of old texts, and the list in it.
const FOLDER: &str = "old-texts";
const LIST: &str = "list.json";

/// The part of a file that has an old text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum OldPart {
    /// All of it.
    Whole,
    /// The tests in a source.
    InlineTests,
    /// The keys about tests in a manifest.
    TestKeys,
    /// It is new, and can change how other tests end. Baselines have it, and it is kept here so that
    /// tests that passed without it have to do so again.
    NewFile,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
struct OldText {
    part: OldPart,
    /// None: the file was not there.
    mark: Option<Mark>,
    /// Seconds since 1970.
    since: u64,
    /// The tests that passed without a new file.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    passed: Vec<String>,
}

/// The old texts of a work tree.
#[derive(Debug)]
pub(crate) struct OldTexts {
    folder: PathBuf,
    texts: BTreeMap<Name, OldText>,
    is_changed: bool,
}

impl OldTexts {
    /// Those of a work tree; none without state.
    ///
    /// # Errors
    ///
    /// A list that cannot be read, or is damaged: without it a weakened test would count.
    pub(crate) fn open(site: &CheckSite, tree: &WorkTree) -> Result<Option<Self>, BaselineError> {
        let Some(folder) = folder(site, tree).map(|folder| folder.join(FOLDER)) else {
            return Ok(None);
        };
        let path = folder.join(LIST);
        let texts = match fs::read(&path) {
            Ok(text) => serde_json::from_slice(&text).map_err(|error| {
                let problem = format!("the list of old tests is damaged: {error}");
                BaselineError::Damaged { path, problem }
            })?,
            Err(error) if error.kind() == io::ErrorKind::NotFound => Vec::new(),
            Err(source) => return Err(BaselineError::Io { path, source }),
        };
        let now = seconds();
        let young = texts.into_iter().filter(|(_, text): &(Name, OldText)| {
            now.saturating_sub(text.since) < LIFETIME.as_secs()
        });
        Ok(Some(Self { texts: young.collect(), folder, is_changed: false }))
    }

    /// Forgets those of a work tree: a person says that its tests are right.
    ///
    /// # Errors
    ///
    /// A folder that cannot be removed.
    pub(super) fn forget(site: &CheckSite, tree: &WorkTree) -> Result<(), BaselineError> {
        let Some(folder) = folder(site, tree).map(|folder| folder.join(FOLDER)) else {
            return Ok(());
        };
        crate::remove::remove_all(&folder)
            .map_err(|source| BaselineError::Io { path: folder, source })
    }

    /// Keeps the old text of a file; none if it was not there. An older one stays.
    pub(crate) fn keep(
        &mut self,
        path: &Path,
        part: OldPart,
        file: Option<&StoredFile>,
    ) -> Result<(), BaselineError> {
        if self.texts.contains_key(&Name::new(path)) {
            return Ok(());
        }
        let mark = file.map(|file| Mark::with(&file.bytes, file.kind));
        if let (Some(mark), Some(file)) = (&mark, file) {
            let path = self.folder.join(&mark.hash);
            store::write_durable_file(&path, &file.bytes)
                .map_err(|source| BaselineError::Io { path, source })?;
        }
        self.insert(path, OldText { part, mark, since: seconds(), passed: Vec::new() });
        Ok(())
    }

    /// Keeps that these tests passed without a new file.
    pub(crate) fn keep_new_file(&mut self, path: &Path, passed: Vec<String>) {
        if !self.texts.contains_key(&Name::new(path)) {
            let part = OldPart::NewFile;
            self.insert(path, OldText { part, mark: None, since: seconds(), passed });
        }
    }

    fn insert(&mut self, path: &Path, text: OldText) {
        self.texts.insert(Name::new(path), text);
        self.is_changed = true;
    }

    /// The files that were new when tests passed without them, with those tests.
    pub(crate) fn new_files(&self) -> impl Iterator<Item = (PathBuf, &[String])> {
        let new = self.texts.iter().filter(|(_, text)| text.part == OldPart::NewFile);
        new.map(|(name, text)| (name.path(), text.passed.as_slice()))
    }

    /// Drops the old text of a file whose edit asserts the same.
    pub(crate) fn drop_edit(&mut self, path: &Path) {
        let text = self.texts.get(&Name::new(path));
        if text.is_some_and(|text| text.part != OldPart::NewFile) {
            self.drop_text(path);
        }
    }

    /// Drops what is kept of a file.
    pub(crate) fn drop_text(&mut self, path: &Path) {
        self.is_changed |= self.texts.remove(&Name::new(path)).is_some();
    }

    /// Drops the old texts of files that stand as in them again.
    ///
    /// # Errors
    ///
    /// An old text that cannot be read any more.
    pub(crate) fn drop_restored(&mut self, tree: &WorkTree) -> Result<(), BaselineError> {
        let mut restored = Vec::new();
        for (name, text) in &self.texts {
            let now = tree.bytes(&name.path());
            let wanted = self.wanted(name, text, now.as_deref())?;
            if text.part != OldPart::NewFile && wanted.map(|(bytes, _)| bytes) == now {
                restored.push(name.path());
            }
        }
        restored.iter().for_each(|path| self.drop_text(path));
        Ok(())
    }

    /// The text that a baseline has in the place of the tree's.
    fn wanted(
        &self,
        name: &Name,
        text: &OldText,
        now: Option<&[u8]>,
    ) -> Result<Option<(Vec<u8>, KeptKind)>, BaselineError> {
        let path = name.path();
        let old = match &text.mark {
            Some(mark) => Some((self.bytes(mark, &path)?, mark.kind)),
            None => None,
        };
        Ok(wanted(&path, text.part, old, now))
    }

    /// Writes the list, if anything has changed.
    ///
    /// # Errors
    ///
    /// A folder that cannot be written.
    pub(crate) fn write(&self) -> Result<(), BaselineError> {
        if !self.is_changed {
            return Ok(());
        }
        let texts: Vec<_> = self.texts.iter().collect();
        let text = serde_json::to_vec(&texts).unwrap_or_default();
        let path = self.folder.join(LIST);
        store::write_durable_file(&path, &text).map_err(|source| BaselineError::Io { path, source })
    }

    /// Puts the old texts into a baseline that is taken of the tree.
    pub(super) fn lay(
        &self,
        tree: &WorkTree,
        body: &mut Body,
        bytes: &mut BTreeMap<String, Vec<u8>>,
    ) -> Result<(), BaselineError> {
        let old = self.texts.iter().filter(|(_, text)| text.part != OldPart::NewFile);
        for (name, text) in old {
            let path = name.path();
            let now = tree.bytes(&path);
            let wanted = self.wanted(name, text, now.as_deref())?;
            if wanted.as_ref().map(|(bytes, _)| bytes) == now.as_ref() {
                continue;
            }
            let mark = wanted.map(|(wanted, kind)| {
                let mark = Mark::with(&wanted, kind.into());
                bytes.insert(mark.hash.clone(), wanted);
                mark
            });
            match &mark {
                Some(mark) if body.guarded.contains_key(name) => {
                    body.guarded.insert(name.clone(), mark.clone());
                }
                Some(_) => {}
                None => drop(body.guarded.remove(name)),
            }
            body.dirty.insert(name.clone(), mark);
            body.old_texts.insert(name.clone());
        }
        Ok(())
    }

    fn bytes(&self, mark: &Mark, path: &Path) -> Result<Vec<u8>, BaselineError> {
        let bytes = fs::read(self.folder.join(&mark.hash)).ok();
        bytes.filter(|bytes| mark.is_of(bytes)).ok_or_else(|| super::lost(path))
    }
}

/// The text that a baseline has in the place of the tree's.
fn wanted(
    path: &Path,
    part: OldPart,
    old: Option<(Vec<u8>, KeptKind)>,
    now: Option<&[u8]>,
) -> Option<(Vec<u8>, KeptKind)> {
    let (Some((text, kind)), Some(now)) = (&old, now) else { return old };
    let name = path.to_string_lossy();
    let merged = match part {
        OldPart::Whole | OldPart::NewFile => return old,
        OldPart::InlineTests => with_baseline_inline_tests(&name, text, now),
        OldPart::TestKeys => match merge_manifest(&name, text, now) {
            MergedManifest::Same => None,
            MergedManifest::Text(text) => Some(text),
            MergedManifest::Unmergeable => Some(text.clone()),
        },
    };
    Some((merged.unwrap_or_else(|| now.to_vec()), *kind))
}

fn seconds() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |time| time.as_secs())
}
