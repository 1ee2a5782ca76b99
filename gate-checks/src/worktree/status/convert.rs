//! Files that git keeps in another form than the work tree holds.
//!
//! A file counts as clean where the bytes that git would keep for it are those
//! of the blob. What may take part in that:
//!
//! * Git LFS pointers, which name the very bytes, if the commit's `.gitattributes` request them:
//!   compared here, so that it does not matter where the filter was installed, nor whether it is.
//! * Line ends, encodings and `$Id$`, as the commit's `.gitattributes` and `core.autocrlf` request
//!   them. These hide nothing but themselves.
//! * Filters that the user's or the machine's settings define. Those are the
//!   user's own programs, which git runs all the time.
//!
//! A filter that only the repository's settings define takes no part: anybody
//! who works in it can write one that always answers with the blob. Files that
//! need it are edited as far as gate can tell. Nor do `.git/info/attributes`
//! and `.gitattributes` files that are not committed.
//!
//! Git runs in a folder of gate's own, which has the repository's objects and
//! nothing else of it.

use std::fs;
use std::io;
use std::path::Path;

use super::blob::{ObjectFormat, has_name, lfs_pointer};
use super::compare::DoubtfulFile;
use super::settings::Settings;
use crate::cancellation::Cancellation;
use crate::temporary::Temporary;
use crate::worktree::content::ContentReader;
use crate::worktree::error::WorktreeError;
use crate::worktree::git::{Git, GitPlace};
use crate::worktree::names::path;
use crate::worktree::parallel;
use crate::worktree::repository::Repository;
use crate::worktree::state_dir::StateDir;

/// Files that one git command is given.
const FILES_PER_COMMAND: usize = 256;

/// Finds out which of a repository's files are kept in another form.
pub(super) struct Convert<'c> {
    pub(super) git: &'c Git,
    pub(super) repository: &'c Repository,
    pub(super) settings: &'c Settings,
    /// The commit whose attributes hold.
    pub(super) head: Option<&'c str>,
}

impl Convert<'_> {
    /// The files that are edited in any form.
    pub(super) fn edited(
        &self,
        doubtful: &[DoubtfulFile],
        state_dir: Option<&StateDir>,
        cancel: &Cancellation,
    ) -> Result<Vec<Vec<u8>>, WorktreeError> {
        let pointers =
            parallel::map(doubtful.len(), cancel, ContentReader::new, |reader, index| {
                self.has_pointer(reader, &doubtful[index])
            })?;
        if doubtful.is_empty() {
            return Ok(Vec::new());
        }
        let git_folder =
            self.make_git_folder(state_dir, doubtful).map_err(|error| self.folder_error(&error))?;
        let (mut pointed, mut undecided) = (Vec::new(), Vec::new());
        for (file, has_pointer) in doubtful.iter().zip(pointers) {
            if has_pointer { pointed.push(file) } else { undecided.push(file) }
        }
        for batch in pointed.chunks(FILES_PER_COMMAND) {
            undecided.extend(self.without_lfs(git_folder.path(), batch, cancel)?);
        }
        let mut edited = Vec::new();
        for batch in undecided.chunks(FILES_PER_COMMAND) {
            self.compare_batch(git_folder.path(), batch, &mut edited, cancel)?;
        }
        Ok(edited)
    }

    /// The blob is the pointer that Git LFS would keep for the file.
    fn has_pointer(&self, reader: &mut ContentReader, file: &DoubtfulFile) -> bool {
        let pointer = lfs_pointer(reader, &self.repository.folder.join(path(&file.path)));
        pointer.is_ok_and(|text| has_name(text.as_bytes(), &file.object))
    }

    /// The files for which the commit does not request Git LFS.
    fn without_lfs<'d>(
        &self,
        git_folder: &Path,
        files: &[&'d DoubtfulFile],
        cancel: &Cancellation,
    ) -> Result<Vec<&'d DoubtfulFile>, WorktreeError> {
        if self.head.is_none() {
            return Ok(files.to_vec());
        }
        let objects = self.repository.objects_folder();
        let variables = self.variables(&objects);
        let place = self.place(git_folder, &variables);
        let paths: Vec<_> = files.iter().map(|file| path(&file.path)).collect();
        let args = ["check-attr", "-z", "filter"];
        let output = self.git.output(place, &args, &paths, cancel)?;
        // A record is `<path>\0filter\0<value>\0`.
        let values: Vec<_> = output.stdout.split(|byte| *byte == 0).skip(2).step_by(3).collect();
        if output.code != Some(0) || values.len() != files.len() {
            return Err(output.to_error(place, &args));
        }
        let without_lfs = files.iter().zip(values).filter(|(_, value)| *value != b"lfs");
        Ok(without_lfs.map(|(file, _)| *file).collect())
    }

    /// The environment variables that name the repository.
    fn variables<'v>(&'v self, objects: &'v Path) -> Vec<(&'static str, &'v Path)> {
        let head = self.head.map(|head| ("GIT_ATTR_SOURCE", Path::new(head)));
        [("GIT_OBJECT_DIRECTORY", objects)].into_iter().chain(head).collect()
    }

    fn place<'p>(
        &'p self,
        git_folder: &'p Path,
        variables: &'p [(&'p str, &'p Path)],
    ) -> GitPlace<'p> {
        GitPlace { git_dir: git_folder, work_tree: &self.repository.folder, variables }
    }

    /// Compares the names that git would give these files with those of their blobs. A filter that
    /// fails spoils the whole output, so the batch is halved until the file that needs it is found.
    fn compare_batch(
        &self,
        git_folder: &Path,
        files: &[&DoubtfulFile],
        edited: &mut Vec<Vec<u8>>,
        cancel: &Cancellation,
    ) -> Result<(), WorktreeError> {
        let objects = self.repository.objects_folder();
        let variables = self.variables(&objects);
        let place = self.place(git_folder, &variables);
        let paths: Vec<_> = files.iter().map(|file| path(&file.path)).collect();
        let output = self.git.output(place, &["hash-object"], &paths, cancel)?;
        let names: Vec<_> = output.stdout.split(|byte| *byte == b'\n').collect();
        if output.code == Some(0) && names.len() == files.len() + 1 {
            let pairs = files.iter().zip(names).filter(|(file, name)| file.object != *name);
            edited.extend(pairs.map(|(file, _)| file.path.clone()));
            return Ok(());
        }
        if let [file] = files {
            edited.push(file.path.clone());
            return Ok(());
        }
        let (first_half, second_half) = files.split_at(files.len() / 2);
        self.compare_batch(git_folder, first_half, edited, cancel)?;
        self.compare_batch(git_folder, second_half, edited, cancel)
    }

    /// Makes a git folder of gate's own.
    fn make_git_folder(
        &self,
        state_dir: Option<&StateDir>,
        files: &[DoubtfulFile],
    ) -> io::Result<Temporary> {
        let scratch = state_dir.and_then(|state_dir| state_dir.scratch().ok());
        let git_folder = scratch.map_or_else(|| Temporary::new("git"), Ok)?;
        for folder in ["objects", "refs"] {
            fs::create_dir(git_folder.path().join(folder))?;
        }
        let format =
            files.first().map_or(ObjectFormat::Sha1, |file| ObjectFormat::detect(&file.object));
        fs::write(git_folder.path().join("config"), self.config(format))?;
        fs::write(git_folder.path().join("HEAD"), "ref: refs/heads/none\n")?;
        Ok(git_folder)
    }

    fn config(&self, format: ObjectFormat) -> String {
        let mut text = match format {
            ObjectFormat::Sha1 => "[core]\nrepositoryformatversion = 0\n".to_owned(),
            ObjectFormat::Sha256 => {
                let extension = "[extensions]\nobjectformat = sha256\n";
                format!("{extension}[core]\nrepositoryformatversion = 1\n")
            }
        };
        text.push_str("bare = false\n");
        for (name, value) in [("autocrlf", self.settings.autocrlf), ("eol", self.settings.eol)] {
            if let Some(value) = value {
                text.push_str(&format!("{name} = {value}\n"));
            }
        }
        text
    }

    fn folder_error(&self, error: &io::Error) -> WorktreeError {
        let problem = format!("a temporary folder cannot be made: {error}");
        let folder = self.repository.folder.clone();
        WorktreeError::Git { command: "hash-object".to_owned(), folder, problem }
    }
}
