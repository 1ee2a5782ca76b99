//! The change of a loop as a whole: is there one, or are there only new files that nothing uses?
//!
//! Of the runs of one agent that solved nothing, half changed no existing file; of those that
//! did, none.

use std::path::Path;

use gate_core::decide::iteration_facts::SinceBeginning;
use gate_core::integrity::guarded;

use super::error::BaselineError;
use super::{Baseline, Change, What};
use crate::cancellation::Cancellation;
use crate::site::CheckSite;
use crate::worktree::{Snapshot, WorkTree};

/// The largest file that is searched for names of new ones, in bytes.
const MAX_SEARCHED_BYTES: usize = 1 << 20;

/// Endings of sources that a compiler or a framework takes from their folder, by no name.
const BY_FOLDER: [&str; 12] =
    ["go", "java", "kt", "scala", "cs", "swift", "rb", "php", "ex", "c", "cc", "cpp"];

/// Beginnings of names of prose outside of `docs`.
const PROSE: [&str; 5] = ["readme", "changelog", "license", "licence", "copying"];

/// Endings of texts in which a word is no use of a file.
const TEXTS: [&str; 6] = ["md", "markdown", "rst", "adoc", "txt", "org"];

impl Baseline {
    /// The change since the beginning. None if the baseline is from history, which an agent's own
    /// commits may have become a part of.
    ///
    /// # Errors
    ///
    /// A tree that cannot be read, a commit that is gone.
    pub fn since_beginning(
        &self,
        site: &CheckSite,
    ) -> Result<Option<SinceBeginning>, BaselineError> {
        if self.is_from_history() {
            return Ok(None);
        }
        let tree = WorkTree::open(site)?;
        let snapshot = tree.snapshot()?;
        let changes = self.reader(&tree)?.changes(&snapshot, &Cancellation::default())?;
        let is_old = |change: &&Change| change.what != What::Added || change.moved_from.is_some();
        if changes.iter().any(|change| is_old(&change)) || !self.moved_submodules(&tree)?.is_empty()
        {
            return Ok(Some(SinceBeginning { changed: true, unused: Vec::new() }));
        }
        let new: Vec<_> = changes.iter().map(|change| change.path.as_path()).collect();
        let files = OldFiles { tree: &tree, snapshot: &snapshot, new: &new };
        let is_used = new.iter().any(|file| files.is_used(file));
        let names = new.iter().map(|file| file.to_string_lossy().into_owned());
        let unused = if is_used { Vec::new() } else { names.collect() };
        Ok(Some(SinceBeginning { changed: is_used, unused }))
    }
}

/// The files of the tree but for the new ones.
struct OldFiles<'f> {
    tree: &'f WorkTree,
    snapshot: &'f Snapshot,
    new: &'f [&'f Path],
}

impl OldFiles<'_> {
    /// A tool loads a new file by its place, or an old file names it.
    fn is_used(&self, file: &Path) -> bool {
        let is_guarded = file.to_str().is_some_and(|name| guarded(name).is_some());
        let is_document = is_document(file);
        let is_hidden =
            file.components().any(|part| part.as_os_str().as_encoded_bytes().starts_with(b"."));
        is_guarded
            || is_document
            || is_hidden
            || file.extension().is_none()
            || self.has_sibling(file)
            || self.is_named(file)
    }

    /// Files of some kinds are taken from their folder: older ones of the kind stand there.
    fn has_sibling(&self, file: &Path) -> bool {
        let by_folder = has_ending(file, &BY_FOLDER);
        let is_at_top = file.parent().is_none_or(|folder| folder.as_os_str().is_empty());
        let mut siblings = self.old().filter(|other| {
            other.parent() == file.parent() && other.extension() == file.extension()
        });
        match by_folder {
            true => siblings.next().is_some(),
            false => !is_at_top && siblings.any(|sibling| !self.is_named(sibling)),
        }
    }

    /// An old file may name a new one by its name, or in code by the name of its module.
    fn is_named(&self, file: &Path) -> bool {
        let (Some(name), Some(stem)) = (
            file.file_name().and_then(|name| name.to_str()),
            file.file_stem().and_then(|stem| stem.to_str()),
        ) else {
            return true;
        };
        self.old().filter(|other| *other != file).any(|other| {
            let Some(bytes) = self.tree.bytes(other) else { return false };
            if bytes.len() > MAX_SEARCHED_BYTES {
                return false;
            }
            let text = String::from_utf8_lossy(&bytes);
            text.contains(name) || (!has_ending(other, &TEXTS) && has_word(&text, stem))
        })
    }

    fn old(&self) -> impl Iterator<Item = &Path> {
        self.snapshot
            .files()
            .map(crate::worktree::File::path)
            .filter(|file| !self.new.contains(file))
    }
}

/// True for prose that people expect beside the product: below `docs`, a README and the like.
fn is_document(file: &Path) -> bool {
    let name = file.file_name().unwrap_or_default().to_string_lossy().to_lowercase();
    let mut folders = file.parent().into_iter().flat_map(Path::components);
    folders.any(|folder| folder.as_os_str() == "docs")
        || PROSE.iter().any(|prose| name.starts_with(prose))
}

fn has_ending(file: &Path, endings: &[&str]) -> bool {
    let ending = file.extension().and_then(|ending| ending.to_str()).unwrap_or_default();
    endings.contains(&ending.to_lowercase().as_str())
}

/// True if a text has this word, on a line that is no comment.
fn has_word(text: &str, word: &str) -> bool {
    let is_part = |letter: char| letter.is_alphanumeric() || letter == '_';
    let code = text.lines().filter(|line| !line.trim_start().starts_with(['#', '/', '*']));
    code.into_iter().any(|line| {
        line.match_indices(word).any(|(at, _)| {
            !line[..at].ends_with(is_part) && !line[at + word.len()..].starts_with(is_part)
        })
    })
}
