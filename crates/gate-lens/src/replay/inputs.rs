//! Selects the files to replay: files as they are named, folders with all transcripts in
//! them, globs that the shell did not expand, lists. Of the files in a folder only those become
//! rows that look like transcripts.

use std::collections::HashSet;
use std::ffi::OsStr;
use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Component, Path, PathBuf};

use gate_platform::OsStrExt;
use gate_transcript::{Event, ProblemKind, Reader, Sink};
use globset::{GlobBuilder, GlobMatcher};
use ignore::WalkBuilder;

use super::given::Labels;
use super::run_folder::RunFolders;
use gate_core::Failure;

/// Extensions of transcripts. Files without an extension are looked at as well.
const EXTENSIONS: [&str; 8] = ["json", "jsonl", "ndjson", "log", "txt", "md", "out", "markdown"];

/// Characters that make a path a glob.
const GLOB: [char; 4] = ['*', '?', '[', '{'];

/// Bytes of a file that are read: as many as a reader needs to find the format.
const HEAD: u64 = 64 << 10;

/// Bytes that are read first, to find binary files and formats that the first record shows.
const GLANCE: u64 = 8 << 10;

/// Identity of a file: its device and inode.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FileId(u64, u64);

impl FileId {
    /// `None` for a file that is gone.
    pub fn new(path: &Path, metadata: &fs::Metadata) -> Option<Self> {
        gate_platform::identity_at(path, metadata).ok().map(|(device, number)| Self(device, number))
    }
}

/// One file.
#[derive(Debug)]
pub struct Input {
    /// Its place.
    pub path: PathBuf,
    /// Its path as it was named, or as it was found below what was named.
    pub shown: String,
    /// Its size in bytes.
    pub size: u64,
    /// Its identity; `None` for a pipe, which can be read once.
    pub id: Option<FileId>,
    /// Its place among the runs beside it.
    pub iteration: u64,
    /// The file is a row whatever it holds: it was named, or is labelled.
    pub wanted: bool,
    /// Why it cannot be read, if that is known already.
    pub error: Option<Failure>,
}

/// All files, each once, in the order in which they were named and found.
#[derive(Debug, Default)]
pub struct Inputs {
    /// The files to read, in the order in which they were named.
    pub all: Vec<Input>,
    /// Number of files in folders that are no transcripts by their names.
    pub other: u64,
}

/// Finds the files that a command line names.
///
/// # Errors
///
/// A list that cannot be read. A path that leads nowhere is an input with an
/// error.
pub fn find(
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
        let whole = self.folder.join(path);
        let id = metadata.and_then(|metadata| FileId::new(&whole, metadata));
        let labelled = id.is_some_and(|id| self.labels.has(id));
        let is_file = metadata.is_some_and(fs::Metadata::is_file);
        if labelled || (is_file && self.runs.is_transcript(&whole) && has_extension(path)) {
            self.add(path, metadata, labelled);
        } else {
            self.found.other += 1;
        }
    }

    fn add(&mut self, path: &Path, metadata: Option<&fs::Metadata>, wanted: bool) {
        // A pipe has no second reading, and no two of them are the same.
        let whole = self.folder.join(path);
        let file = metadata.filter(|metadata| metadata.is_file());
        let id = file.and_then(|metadata| FileId::new(&whole, metadata));
        if id.is_some_and(|id| !self.seen.insert(id)) {
            return;
        }
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

fn is_glob(text: &OsStr) -> bool {
    text.to_string_lossy().contains(GLOB)
}

fn has_extension(path: &Path) -> bool {
    path.extension().is_none_or(|extension| {
        EXTENSIONS.iter().any(|known| extension.eq_ignore_ascii_case(known))
    })
}

/// The paths that the standard input lists, separated by line breaks or NUL.
///
/// # Errors
///
/// A standard input that cannot be read, or that holds no list.
fn listed(folder: &Path, null: bool) -> Result<Vec<PathBuf>, Failure> {
    let mut list = Vec::new();
    io::stdin().lock().read_to_end(&mut list).map_err(|error| {
        Failure::file("input-unreadable", "read", Path::new("the standard input"), &error)
    })?;
    if !null && list.contains(&b'\0') {
        let message = "the list on the standard input is separated by NUL";
        return Err(Failure::usage("list-invalid", message).hint("add -0 (--null)"));
    }
    let end = if null { b'\0' } else { b'\n' };
    let paths = list.split(|&byte| byte == end);
    let paths = paths.map(|path| if null { path } else { path.trim_ascii_end() });
    let paths: Vec<_> = paths.filter(|path| !path.is_empty()).collect();
    if is_text(folder, &paths) {
        let message = "the standard input is no list of files: none of its lines names one";
        let hint = "name the transcript itself, or give it to `gate scan -`";
        return Err(Failure::usage("list-invalid", message).hint(hint));
    }
    Ok(paths.into_iter().map(|path| OsStr::from_bytes(path).into()).collect())
}

/// These are lines of a transcript: words or JSON, and no line of them
/// leads to a file.
fn is_text(folder: &Path, lines: &[&[u8]]) -> bool {
    lines.iter().any(|line| is_prose(line)) && !lines.iter().any(|line| is_file_name(folder, line))
}

/// True for JSON and for words.
fn is_prose(line: &[u8]) -> bool {
    line.starts_with(b"{") || line.contains(&b' ')
}

fn is_file_name(folder: &Path, line: &[u8]) -> bool {
    let path = OsStr::from_bytes(line);
    folder.join(path).exists() || (!is_prose(line) && is_glob(path))
}

/// Why a file in a folder is no row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Passed {
    /// The file is no text.
    Binary,
    /// The file is JSON of no known format.
    UnknownJson,
}

/// Why this file is no transcript. One that cannot be read may be one.
pub(crate) fn look(path: &Path) -> Option<Passed> {
    let mut head = Vec::new();
    let mut file = File::open(path).ok()?.take(GLANCE);
    file.read_to_end(&mut head).ok()?;
    if head.contains(&0) {
        return Some(Passed::Binary);
    }
    let text = head.trim_ascii_start();
    let may_be_json = text.starts_with(b"{") || text.starts_with(b"[");
    if !may_be_json || !is_unknown(&head) {
        return None;
    }
    file.set_limit(HEAD - head.len() as u64);
    file.read_to_end(&mut head).ok()?;
    is_unknown(&head).then_some(Passed::UnknownJson)
}

fn is_unknown(head: &[u8]) -> bool {
    let mut unknown = Unknown(false);
    let mut reader = Reader::new(None);
    reader.push(head, &mut unknown);
    reader.finish(&mut unknown);
    unknown.0
}

struct Unknown(bool);

impl Sink for Unknown {
    fn event(&mut self, event: Event<'_>) {
        if let Event::Problem(problem) = event {
            self.0 |= problem.kind == ProblemKind::UnknownJson;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::is_text;

    #[test]
    fn a_transcript_is_distinguished_from_a_list_by_the_files_that_it_names() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("a b.log"), "").unwrap();
        let is_prose = |lines: &[&str]| {
            let lines: Vec<_> = lines.iter().map(|line| line.as_bytes()).collect();
            is_text(folder.path(), &lines)
        };
        assert!(is_prose(&["I fixed the parser.", "Done."]));
        assert!(is_prose(&[r#"{"type":"result"}"#]));
        assert!(is_prose(&["no such.log", "Done."]));
        assert!(!is_prose(&["no such.log", "a b.log"]));
        assert!(!is_prose(&["the rest of it", "t/*.log"]));
        assert!(!is_prose(&["gone.log"]));
        assert!(is_prose(&["all of *.log", "is gone"]), "a glob with words around it is prose");
        assert!(!is_prose(&[]));
    }
}
