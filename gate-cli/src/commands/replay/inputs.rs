//! Selects the files to replay: files as they are named, folders with all transcripts in
//! them, globs that the shell did not expand, lists.

use std::collections::HashSet;
use std::ffi::OsStr;
use std::fs;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Component, Path, PathBuf};

use globset::{GlobBuilder, GlobMatcher};
use ignore::WalkBuilder;

use super::labels::Labels;
use super::listed::listed;
use super::run_folder::RunFolders;
use crate::failure::Failure;

/// Extensions of transcripts. Files without an extension are looked at as well.
const EXTENSIONS: [&str; 8] = ["json", "jsonl", "ndjson", "log", "txt", "md", "out", "markdown"];

/// Characters that make a path a glob.
const GLOB: [char; 4] = ['*', '?', '[', '{'];

/// Identity of a file: its device and inode.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct FileId(u64, u64);

impl From<&fs::Metadata> for FileId {
    fn from(metadata: &fs::Metadata) -> Self {
        Self(metadata.dev(), metadata.ino())
    }
}

/// One file.
#[derive(Debug)]
pub(crate) struct Input {
    pub(crate) path: PathBuf,
    /// Its path as it was named, or as it was found below what was named.
    pub(crate) shown: String,
    pub(crate) size: u64,
    pub(super) id: Option<FileId>,
    /// Its place among the runs beside it.
    pub(super) iteration: u64,
    /// True if it is a row whatever it holds: it was named, or is labelled.
    pub(super) wanted: bool,
    /// Why it cannot be read, if that is known already.
    pub(crate) error: Option<Failure>,
}

/// All files, each once, in the order in which they were named and found.
#[derive(Debug, Default)]
pub(super) struct Inputs {
    pub(super) all: Vec<Input>,
    /// Number of files in folders that are no transcripts by their names.
    pub(super) other: u64,
}

/// Finds the files that a command line names.
///
/// # Errors
///
/// A list that cannot be read. A path that leads nowhere is an input with an
/// error.
pub(super) fn find(
    folder: &Path,
    paths: &[PathBuf],
    null: bool,
    labels: &Labels,
) -> Result<Inputs, Failure> {
    let mut search = Search {
        folder,
        labels,
        found: Inputs::default(),
        seen: HashSet::new(),
        runs: RunFolders::default(),
    };
    for path in paths {
        if path == Path::new("-") {
            listed(folder, null)?.iter().for_each(|path| search.path(path));
        } else {
            search.path(path);
        }
    }
    Ok(search.found)
}

struct Search<'a> {
    folder: &'a Path,
    labels: &'a Labels,
    found: Inputs,
    seen: HashSet<FileId>,
    runs: RunFolders,
}

impl Search<'_> {
    /// Adds a path from the command line.
    fn path(&mut self, path: &Path) {
        match fs::metadata(self.folder.join(path)) {
            Ok(metadata) if metadata.is_dir() => self.walk(path, false, &|_| true),
            Ok(metadata) => self.add(path, Some(&metadata), true),
            Err(error) if is_missing(&error) => match glob(path) {
                Some(glob) => self.glob(path, &glob),
                None => self.fail(path, unreadable(path, &error)),
            },
            Err(error) => self.fail(path, unreadable(path, &error)),
        }
    }

    /// All paths that a glob matches.
    fn glob(&mut self, pattern: &Path, glob: &GlobMatcher) {
        let parts = pattern.components();
        let mut base: PathBuf = parts.take_while(|part| !is_glob(part.as_os_str())).collect();
        if base.as_os_str().is_empty() {
            base.push(".");
        }
        let hidden = pattern
            .components()
            .any(|part| part != Component::CurDir && part.as_os_str().as_bytes().starts_with(b"."));
        let before = (self.found.all.len(), self.seen.len());
        self.walk(&base, hidden, &|path| glob.is_match(path.strip_prefix(".").unwrap_or(path)));
        if before == (self.found.all.len(), self.seen.len()) {
            let failure = Failure::usage("input-unreadable", "nothing matches");
            let file = Some(pattern.display().to_string());
            self.fail(pattern, Failure { file, ..failure });
        }
    }

    /// The transcripts in a folder: what matches, and what is below it.
    fn walk(&mut self, root: &Path, hidden: bool, matches: &dyn Fn(&Path) -> bool) {
        let start = self.folder.join(root);
        let mut walk = WalkBuilder::new(&start);
        walk.standard_filters(false).hidden(!hidden).follow_links(true);
        walk.sort_by_file_name(OsStr::cmp);
        for entry in walk.build() {
            let entry = match entry {
                Ok(entry) => entry,
                // A link that leads nowhere; one that leads back.
                Err(error) if error.io_error().is_none_or(is_missing) => continue,
                Err(error) => {
                    let place = place(&error).unwrap_or(&start);
                    let shown = place.strip_prefix(self.folder).unwrap_or(place);
                    if let Some(error) = error.io_error() {
                        self.fail(shown, unreadable(shown, error));
                    }
                    continue;
                }
            };
            let below = entry.path().strip_prefix(&start).unwrap_or(entry.path());
            let path = if root == Path::new(".") { below.to_owned() } else { root.join(below) };
            let matched = path.ancestors().any(matches);
            if matched && !entry.file_type().is_some_and(|kind| kind.is_dir()) {
                let metadata = fs::metadata(entry.path()).ok();
                self.member(&path, metadata.as_ref());
            }
        }
    }

    /// A file in a folder, if it is a transcript.
    fn member(&mut self, path: &Path, metadata: Option<&fs::Metadata>) {
        let labelled = metadata.is_some_and(|metadata| self.labels.has(metadata.into()));
        let whole = self.folder.join(path);
        let is_file = metadata.is_some_and(fs::Metadata::is_file);
        if labelled || (is_file && self.runs.is_transcript(&whole) && has_extension(path)) {
            self.add(path, metadata, labelled);
        } else {
            self.found.other += 1;
        }
    }

    fn add(&mut self, path: &Path, metadata: Option<&fs::Metadata>, wanted: bool) {
        // A pipe has no second reading, and no two of them are the same.
        let id = metadata.filter(|metadata| metadata.is_file()).map(FileId::from);
        if id.is_some_and(|id| !self.seen.insert(id)) {
            return;
        }
        let whole = self.folder.join(path);
        self.found.all.push(Input {
            iteration: self.runs.iteration(&whole),
            path: whole,
            shown: path.display().to_string(),
            size: metadata.map_or(0, fs::Metadata::len),
            id,
            wanted,
            error: None,
        });
    }

    fn fail(&mut self, path: &Path, failure: Failure) {
        self.add(path, None, true);
        if let Some(input) = self.found.all.last_mut() {
            input.error = Some(failure);
        }
    }
}

/// The path of a failed walk.
fn place(error: &ignore::Error) -> Option<&Path> {
    match error {
        ignore::Error::WithPath { path, .. } => Some(path),
        ignore::Error::WithDepth { err, .. } => place(err),
        _ => None,
    }
}

fn is_missing(error: &io::Error) -> bool {
    error.kind() == io::ErrorKind::NotFound
}

fn unreadable(path: &Path, error: &io::Error) -> Failure {
    Failure::file("input-unreadable", "read", path, error)
}

/// The path as a glob, if it is one.
fn glob(path: &Path) -> Option<GlobMatcher> {
    if !is_glob(path.as_os_str()) {
        return None;
    }
    let text = path.to_str()?;
    let text = text.strip_prefix("./").unwrap_or(text);
    let glob = GlobBuilder::new(text).literal_separator(true).build();
    glob.ok().map(|glob| glob.compile_matcher())
}

pub(super) fn is_glob(text: &OsStr) -> bool {
    text.to_string_lossy().contains(GLOB)
}

fn has_extension(path: &Path) -> bool {
    path.extension().is_none_or(|extension| {
        EXTENSIONS.iter().any(|known| extension.eq_ignore_ascii_case(known))
    })
}
