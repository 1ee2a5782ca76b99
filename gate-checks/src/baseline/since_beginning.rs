//! The change of a loop as a whole: is there one, or are there only new files that nothing uses?
//!
//! Of the runs of one agent that solved nothing, half changed no existing file; of those that
//! did, none.

use std::path::Path;

use gate_core::decide::iteration_facts::SinceBeginning;
use gate_core::integrity::guarded;

use super::error::BaselineError;
use super::{Baseline, Change, ChangeKind};
use crate::cancellation::Cancellation;
use crate::site::CheckSite;
use crate::worktree::{File, Snapshot, WorkTree};

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
    /// The change since the beginning. `None` if the baseline is from history, which an agent's own
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
        let is_old =
            |change: &&Change| change.kind != ChangeKind::Added || change.moved_from.is_some();
        if changes.iter().any(|change| is_old(&change)) || !self.moved_submodules(&tree)?.is_empty()
        {
            return Ok(Some(SinceBeginning { changed: true, unused: Vec::new() }));
        }
        let new_files: Vec<_> = changes.iter().map(|change| change.path.as_path()).collect();
        let old_files = OldFiles { tree: &tree, snapshot: &snapshot, new_files: &new_files };
        let is_used = new_files.iter().any(|file| old_files.is_used(file));
        let names = new_files.iter().map(|file| file.to_string_lossy().into_owned());
        let unused = if is_used { Vec::new() } else { names.collect() };
        Ok(Some(SinceBeginning { changed: is_used, unused }))
    }
}

/// The files of the tree but for the new ones.
struct OldFiles<'f> {
    tree: &'f WorkTree,
    snapshot: &'f Snapshot,
    new_files: &'f [&'f Path],
}

impl OldFiles<'_> {
    /// A tool loads a new file by its place, or an old file names it.
    fn is_used(&self, file: &Path) -> bool {
        let is_guarded = file.to_str().is_some_and(|name| guarded(name).is_some());
        let is_hidden = file
            .components()
            .any(|component| component.as_os_str().as_encoded_bytes().starts_with(b"."));
        is_guarded
            || is_document(file)
            || is_hidden
            || file.extension().is_none()
            || self.has_sibling(file)
            || self.is_named(file)
    }

    /// Files of some kinds are taken from their folder: older files of the kind stand there.
    fn has_sibling(&self, file: &Path) -> bool {
        let is_at_top = file.parent().is_none_or(|folder| folder.as_os_str().is_empty());
        let mut siblings = self.iter().filter(|old_file| {
            old_file.parent() == file.parent() && old_file.extension() == file.extension()
        });
        if has_ending(file, &BY_FOLDER) {
            return siblings.next().is_some();
        }
        // Old files that nothing names either show that something takes all of the folder.
        !is_at_top && siblings.any(|sibling| !self.is_named(sibling))
    }

    /// An old file may name a new one by its name, or in code by the name of its module.
    fn is_named(&self, file: &Path) -> bool {
        let (Some(name), Some(stem)) = (
            file.file_name().and_then(|name| name.to_str()),
            file.file_stem().and_then(|stem| stem.to_str()),
        ) else {
            // A name that is no text cannot be searched for.
            return true;
        };
        self.iter().filter(|old_file| *old_file != file).any(|old_file| {
            let Some(bytes) = self.tree.bytes(old_file) else { return false };
            if bytes.len() > MAX_SEARCHED_BYTES {
                return false;
            }
            let text = String::from_utf8_lossy(&bytes);
            text.contains(name) || (!has_ending(old_file, &TEXTS) && has_word(&text, stem))
        })
    }

    fn iter(&self) -> impl Iterator<Item = &Path> {
        self.snapshot.files().map(File::path).filter(|file| !self.new_files.contains(file))
    }
}

/// Prose that people expect beside the product: below `docs`, a README and the like.
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

/// A text with this word on a line that is no comment.
fn has_word(text: &str, word: &str) -> bool {
    let is_word_char = |char: char| char.is_alphanumeric() || char == '_';
    let mut code = text.lines().filter(|line| !line.trim_start().starts_with(['#', '/', '*']));
    code.any(|line| {
        line.match_indices(word).any(|(start, _)| {
            let end = start + word.len();
            !line[..start].ends_with(is_word_char) && !line[end..].starts_with(is_word_char)
        })
    })
}
