//! The files with the marks of ledgers' heads.

use std::fs::{File, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};

use gate_core::ledger::{Hash, Head};
use gate_platform::{FileExt, NO_FOLLOW, NON_BLOCKING, OpenOptionsExt};

use super::loss::Acceptance;
use gate_fleet::durable;

/// The length of a line of a mark: a number, a hash and a digest of the two, in bytes. All lines are
/// as long, so that one is written over another without cutting the file.
const LENGTH: u64 = 20 + 1 + 64 + 1 + CHECK as u64 + 1;

/// The digits of the digest. A gate that reads while another one writes may see the old number and
/// the new hash, and must not take them for a mark.
const CHECK: usize = 16;

/// The file with the mark of a project of a store: `$XDG_DATA_HOME/gate/heads/<digest>`,
/// with the digest of the store and the project.
#[derive(Clone, Debug)]
pub struct MarkFile {
    folder: PathBuf,
    name: String,
}

impl MarkFile {
    /// The file in this folder. Neither file nor folder has to exist.
    pub fn new(folder: &Path, place: &str, project: &str) -> Self {
        let name = blake3::hash(format!("{place}\0{project}").as_bytes()).to_hex();
        Self { folder: folder.to_owned(), name: name[..32].to_owned() }
    }

    /// The head that is marked. It may lag behind the ledger and is never ahead of it.
    pub fn head(&self) -> Option<Head> {
        self.read().map(|mark| mark.head)
    }

    /// The mark in the file; `None` also for a file that cannot be read.
    pub(super) fn read(&self) -> Option<KnownMark> {
        let file = open_regular(OpenOptions::new().read(true), &self.path()).ok()?;
        // Another gate may be writing: half of its mark is none, or lacks its second line.
        let mut attempts = (0..3).filter_map(|_| read_mark(&file));
        let first = attempts.next()?;
        if first.acceptance.is_ok() { Some(first) } else { attempts.next().or(Some(first)) }
    }

    /// Marks a head and the last acceptance of a loss, unless another gate has marked a later one.
    /// A mark in the place of one of the same form does not wait for the disk: after a crash of the
    /// machine it may be an older one. Any other one is there whole, or not at all.
    pub(super) fn keep(&self, mark: NewMark) -> io::Result<()> {
        let text = mark_text(mark.head, mark.acceptance);
        match open_regular(OpenOptions::new().read(true).write(true), &self.path()) {
            Ok(file) => {
                let is_outdated =
                    || read_mark(&file).is_some_and(|file_mark| mark.is_before(&file_mark));
                if !mark.replaces && is_outdated() {
                    return Ok(());
                }
                if !mark.replaces && file.metadata()?.len() == text.len() as u64 {
                    return file.write_all_at(text.as_bytes(), 0);
                }
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(error),
        }
        durable::write(&self.folder, &self.name, text.as_bytes())
    }

    fn path(&self) -> PathBuf {
        self.folder.join(&self.name)
    }
}

/// Opens a regular file, without following a link or waiting for a pipe.
fn open_regular(options: &mut OpenOptions, path: &Path) -> io::Result<File> {
    let file = options.custom_flags(NO_FOLLOW | NON_BLOCKING).open(path)?;
    if file.metadata()?.is_file() { Ok(file) } else { Err(io::ErrorKind::InvalidInput.into()) }
}

/// A mark as it is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct KnownMark {
    pub(super) head: Head,
    /// The last acceptance of a loss that this machine knows. An error if its line cannot be read:
    /// the file does not say then which acceptance it was.
    pub(super) acceptance: Result<Option<Acceptance>, ()>,
}

/// A mark to be written.
#[derive(Clone, Copy)]
pub(super) struct NewMark {
    pub(super) head: Head,
    pub(super) acceptance: Option<Acceptance>,
    /// It takes the place of a later mark, too.
    pub(super) replaces: bool,
}

impl NewMark {
    fn is_before(&self, file_mark: &KnownMark) -> bool {
        let time = |acceptance: Option<Acceptance>| acceptance.map(|acceptance| acceptance.time);
        let file_acceptance = file_mark.acceptance.ok().flatten();
        (time(self.acceptance), self.head.seq) < (time(file_acceptance), file_mark.head.seq)
    }
}

// The first line is the head. The second one is the acceptance, if there is one; its digest is of
// both lines, so that parts of two marks are no mark. Older gates write the first line alone.
fn read_mark(file: &File) -> Option<KnownMark> {
    let mut bytes = [0; 2 * LENGTH as usize];
    let count = file.read_at(&mut bytes, 0).ok()?;
    let text = str::from_utf8(bytes.get(..count)?).ok()?;
    let (first, second) = text.split_at_checked(LENGTH as usize)?;
    let (seq, hash) = number_and_hash(first)?;
    let head = Head { seq, hash };
    if mark_text(head, None) != first {
        return None;
    }
    let acceptance = match number_and_hash(second) {
        _ if second.is_empty() => Ok(None),
        Some((time, record)) => Some(Acceptance { time, record })
            .filter(|acceptance| mark_text(head, Some(*acceptance)) == text)
            .map(Some)
            .ok_or(()),
        None => Err(()),
    };
    Some(KnownMark { head, acceptance })
}

fn number_and_hash(line: &str) -> Option<(u64, Hash)> {
    let (number, hash) = line.split_once(' ')?;
    Some((number.parse().ok()?, hash.get(..64)?.parse().ok()?))
}

fn mark_text(head: Head, acceptance: Option<Acceptance>) -> String {
    let head_line = with_line("", head.seq, head.hash);
    match acceptance {
        Some(Acceptance { time, record }) => with_line(&head_line, time, record),
        None => head_line,
    }
}

/// The lines and one more, whose digest is of them all.
fn with_line(lines: &str, number: u64, hash: Hash) -> String {
    let text = format!("{lines}{number:020} {hash}");
    let check = blake3::hash(text.as_bytes()).to_hex();
    format!("{text} {}\n", &check[..CHECK])
}

#[cfg(test)]
mod tests {
    use std::{fs, thread};

    use super::*;

    #[test]
    fn a_mark_is_one_head_or_none_whoever_writes_meanwhile() {
        let folder = tempfile::tempdir().unwrap();
        let heads = MarkFile::new(folder.path(), "place", "p");
        thread::scope(|scope| {
            scope.spawn(|| (1..3000).for_each(|seq| keep(&heads, head(seq), seq % 2, false)));
            for _ in 0..3000 {
                let read = heads.head();
                assert_eq!(read, read.map(|read| head(read.seq)));
            }
        });
        assert_eq!(heads.head(), Some(head(2999)));
        keep(&heads, head(7), 1, false);
        assert_eq!(heads.head(), Some(head(2999)), "it never goes back");
        keep(&heads, head(7), 2, false);
        assert_eq!(heads.head(), Some(head(7)), "but with a later acceptance");
        keep(&heads, head(3), 2, true);
        assert_eq!(heads.head(), Some(head(3)), "and if it replaces the other one");
    }

    #[test]
    fn a_mark_without_its_second_line_knows_no_acceptance_and_a_spoilt_one_may_know_any() {
        let folder = tempfile::tempdir().unwrap();
        let heads = MarkFile::new(folder.path(), "place", "p");
        keep(&heads, head(9), 5, true);
        let file = heads.path();
        let read = || heads.read().unwrap();
        assert_eq!(read().acceptance, Ok(Some(acceptance(5))));
        let text = fs::read_to_string(&file).unwrap();
        // An older gate writes the first line alone.
        fs::write(
            &file,
            text.replacen(text.lines().next().unwrap(), mark_text(head(10), None).trim(), 1),
        )
        .unwrap();
        assert_eq!((read().head, read().acceptance), (head(10), Err(())));
        fs::write(&file, mark_text(head(10), None)).unwrap();
        assert_eq!((read().head, read().acceptance), (head(10), Ok(None)));
    }

    fn head(seq: u64) -> Head {
        Head { seq, hash: Hash::digest(&seq.to_le_bytes()) }
    }

    fn acceptance(time: u64) -> Acceptance {
        Acceptance { time, record: Hash::digest(b"accepted") }
    }

    /// No acceptance at the time 0.
    fn keep(heads: &MarkFile, head: Head, time: u64, replaces: bool) {
        let acceptance = (time > 0).then(|| acceptance(time));
        heads.keep(NewMark { head, acceptance, replaces }).unwrap();
    }
}
