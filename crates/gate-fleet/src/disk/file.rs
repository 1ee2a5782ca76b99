//! Files that are written whole or not at all, and that are no links; locks on files that other
//! programs lock as well (`flock`).

use std::fs::{self, DirBuilder, File, OpenOptions, TryLockError};
use std::io::{self, ErrorKind, Write};
use std::path::Path;
use std::thread::sleep;
use std::time::{Duration, Instant};

use gate_core::Failure;
use gate_platform::{
    DirBuilderExt, NO_FOLLOW, NON_BLOCKING, OpenOptionsExt, identity, identity_at, is_link_error,
    set_file_mode, sync_folder,
};
use tempfile::{Builder, NamedTempFile};

/// The mode of new files. gate makes their folders unreadable for others.
const MODE: u32 = 0o644;

/// The longest file that is read whole, in bytes.
const MAX_FILE_BYTES: u64 = 64 << 20;

/// A link is not followed, and something that would block does not.
const FLAGS: i32 = NO_FOLLOW | NON_BLOCKING;

/// Timeout for a lock. Each holder needs milliseconds.
const PATIENCE: Duration = Duration::from_secs(30);

/// The first and the longest wait between two tries.
const PAUSE: [Duration; 2] = [Duration::from_millis(1), Duration::from_millis(20)];

/// Bytes of a file's end that are read.
const END: u64 = 64 << 10;

/// Makes a folder, and those above it: this user's alone, for what agents print
/// may hold anything.
///
/// # Errors
///
/// A folder that cannot be made.
pub(super) fn folder(path: &Path) -> Result<(), Failure> {
    let made = DirBuilder::new().recursive(true).mode(0o700).create(path);
    made.map_err(|error| unwritable("make the folder", path, &error))
}

/// Makes a folder in one that is there. False if it was there before.
///
/// # Errors
///
/// A folder that cannot be made.
pub(super) fn new_folder(path: &Path) -> Result<bool, Failure> {
    match DirBuilder::new().mode(0o700).create(path) {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == ErrorKind::AlreadyExists => Ok(false),
        Err(error) => Err(unwritable("make the folder", path, &error)),
    }
}

/// Puts a file in its place, in one step; what was there before is gone.
///
/// # Errors
///
/// A folder that cannot be written.
pub(super) fn replace(path: &Path, text: impl AsRef<[u8]>) -> Result<(), Failure> {
    let write = |file: &mut File| file.write_all(text.as_ref());
    let mut written = put(path, write);
    // An agent may remove its folder just then: it is made again, as before it began.
    if let Err(error) = &written
        && error.kind() == ErrorKind::NotFound
        && let Some(folder) = path.parent()
    {
        written = fs::create_dir_all(folder).and_then(|()| put(path, write));
    }
    written.map_err(|error| unwritable("write", path, &error))
}

/// Writes a file that must not be there yet: it is there whole, or not at all.
///
/// # Errors
///
/// A file that is there, a folder that cannot be written.
pub(super) fn create(path: &Path, text: &str) -> Result<(), Failure> {
    let written = temporary(path, |file| file.write_all(text.as_bytes()))
        .and_then(|file| Ok(file.persist_noclobber(path)?))
        .and_then(|_| sync_folder(parent(path)));
    written.map_err(|error| unwritable("write", path, &error))
}

/// Puts a file with this content in its place, in one step.
pub(super) fn put(path: &Path, write: impl FnOnce(&mut File) -> io::Result<()>) -> io::Result<()> {
    temporary(path, write)?.persist(path)?;
    sync_folder(parent(path))
}

/// A file with this content, beside the one that it is to become.
fn temporary(
    path: &Path,
    write: impl FnOnce(&mut File) -> io::Result<()>,
) -> io::Result<NamedTempFile> {
    let mut file = Builder::new().prefix(".gate-").suffix(".tmp").tempfile_in(parent(path))?;
    write(file.as_file_mut())?;
    set_file_mode(file.as_file(), MODE)?;
    file.as_file().sync_all()?;
    Ok(file)
}

fn parent(path: &Path) -> &Path {
    path.parent().unwrap_or(Path::new("."))
}

/// Opens a file to append to it, and makes it if it is missing. A link, or something that is no
/// file, is refused: it could lead anywhere.
pub(super) fn open_to_append(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.read(true).append(true).create(true).mode(MODE);
    checked(options.custom_flags(FLAGS).open(path))
}

/// Opens a file as [`open_to_append`] does, for this caller alone. If another file took its place
/// during the wait for its lock, it is that one.
pub(super) fn locked(path: &Path) -> io::Result<File> {
    loop {
        let file = open_to_append(path)?;
        Lock::Alone.take(&file)?;
        let locked = identity(&file)?;
        let named = fs::symlink_metadata(path).and_then(|named| identity_at(path, &named));
        if named.is_ok_and(|named| named == locked) {
            return Ok(file);
        }
    }
}

/// Opens a file to read it; `None` if it is missing.
pub(super) fn open_to_read(path: &Path) -> io::Result<Option<File>> {
    match checked(OpenOptions::new().read(true).custom_flags(FLAGS).open(path)) {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        opened => opened.map(Some),
    }
}

/// The text of a file; `None` if it is missing. What is no UTF-8 is replaced.
///
/// # Errors
///
/// A file that cannot be read, or that is longer than 64 MiB.
pub(super) fn read(path: &Path) -> Result<Option<String>, Failure> {
    text(path).map_err(|error| unreadable(path, &error))
}

fn text(path: &Path) -> io::Result<Option<String>> {
    let Some(mut file) = open_to_read(path)? else { return Ok(None) };
    if file.metadata()?.len() > MAX_FILE_BYTES {
        return Err(io::Error::other("it is longer than 64 MiB"));
    }
    let mut bytes = Vec::new();
    io::Read::read_to_end(&mut file, &mut bytes)?;
    Ok(Some(String::from_utf8_lossy(&bytes).into_owned()))
}

/// The last 64 KiB of a file, whole lines; empty if it is missing.
///
/// # Errors
///
/// A file that cannot be read.
pub(super) fn end(path: &Path) -> Result<String, Failure> {
    last_lines(path).map_err(|error| unreadable(path, &error))
}

fn last_lines(path: &Path) -> io::Result<String> {
    let Some(mut file) = open_to_read(path)? else { return Ok(String::new()) };
    let from = file.metadata()?.len().saturating_sub(END);
    io::Seek::seek(&mut file, io::SeekFrom::Start(from))?;
    let mut bytes = Vec::new();
    io::Read::read_to_end(&mut io::Read::take(file, END), &mut bytes)?;
    let text = String::from_utf8_lossy(&bytes).into_owned();
    // The first line may be torn, unless the whole file was read.
    match text.split_once('\n') {
        Some((_, whole_lines)) if from > 0 => Ok(whole_lines.to_owned()),
        _ => Ok(text),
    }
}

/// The names in a folder, in order; empty if there is no folder.
///
/// # Errors
///
/// A folder that cannot be read.
pub(super) fn names(folder: &Path) -> Result<Vec<String>, Failure> {
    let entries = match fs::read_dir(folder) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
        entries => entries.map_err(|error| unreadable(folder, &error))?,
    };
    let names = entries.flatten().filter_map(|entry| entry.file_name().into_string().ok());
    let mut names: Vec<_> = names.collect();
    names.sort();
    Ok(names)
}

pub(super) fn unwritable(doing: &str, path: &Path, error: &io::Error) -> Failure {
    Failure::file("runs-unwritable", doing, path, error)
}

pub(super) fn unreadable(path: &Path, error: &io::Error) -> Failure {
    Failure::file("runs-unreadable", "read", path, error)
}

fn checked(opened: io::Result<File>) -> io::Result<File> {
    let is_refused = match &opened {
        Ok(file) => !file.metadata()?.is_file(),
        Err(error) => is_link_error(error),
    };
    if is_refused {
        let message = "a file is expected, and no link to one";
        return Err(io::Error::new(ErrorKind::InvalidData, message));
    }
    opened
}

/// The kind of a file's lock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Lock {
    /// Nobody else has it.
    Alone,
    /// Others read it as well.
    Shared,
}

impl Lock {
    /// Locks a file until it is closed.
    ///
    /// # Errors
    ///
    /// A lock that somebody else does not let go.
    pub(super) fn take(self, file: &File) -> io::Result<()> {
        let deadline = Instant::now() + PATIENCE;
        let mut pause = PAUSE[0];
        loop {
            let tried = match self {
                Self::Alone => file.try_lock(),
                Self::Shared => file.try_lock_shared(),
            };
            match tried {
                Ok(()) => return Ok(()),
                Err(TryLockError::Error(error)) => return Err(error),
                Err(TryLockError::WouldBlock) if Instant::now() >= deadline => {
                    let message = "somebody else holds its lock for longer than 30 s";
                    return Err(io::Error::new(ErrorKind::TimedOut, message));
                }
                Err(TryLockError::WouldBlock) => sleep(pause),
            }
            pause = (pause * 2).min(PAUSE[1]);
        }
    }
}
