//! The folder of one run.

use std::fs;
use std::io::{self, ErrorKind, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use gate_core::Failure;

use super::file::{self, Lock};
use crate::run::{RunInfo, RunInfoError, layout};

/// Output up to this many bytes is searched for the prompt.
const LONGEST_ECHO: u64 = 64 << 20;

/// A run's folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunFolder {
    folder: PathBuf,
}

/// The origin of a run's `output.md`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Settled {
    /// The agent wrote it, be it empty.
    ByAgent,
    /// It is a copy of what the agent printed.
    Copied,
}

impl RunFolder {
    /// The run in this folder.
    pub fn at(folder: impl Into<PathBuf>) -> Self {
        Self { folder: folder.into() }
    }

    /// The folder.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// The run's id: the folder's name.
    pub fn id(&self) -> String {
        self.folder.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
    }

    /// A file in it, such as [`layout::PROMPT`].
    pub fn file(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }

    /// Its record; if there is none, one with the status `unknown`.
    ///
    /// # Errors
    ///
    /// A record that cannot be read.
    pub fn info(&self) -> Result<RunInfo, Failure> {
        let path = self.file(layout::RUN_INFO);
        let shown = path.display().to_string();
        let text = file::read(&path)?.unwrap_or_else(|| UNKNOWN.to_owned());
        RunInfo::parse_at(&text, &shown).map_err(|error| invalid(shown, &error))
    }

    /// Writes its record, in one step.
    ///
    /// # Errors
    ///
    /// A folder that cannot be written.
    pub fn write(&self, info: &RunInfo) -> Result<(), Failure> {
        file::replace(&self.file(layout::RUN_INFO), info.to_yaml())
    }

    /// Changes its record, under a lock against other calls of this function.
    ///
    /// # Errors
    ///
    /// A record that cannot be read or written, a lock that is not let go.
    pub fn update(&self, change: impl FnOnce(RunInfo) -> RunInfo) -> Result<RunInfo, Failure> {
        let locked = fs::File::open(&self.folder)
            .and_then(|folder| Lock::Alone.take(&folder).map(|()| folder));
        let _held = locked.map_err(|error| file::unwritable("lock", &self.folder, &error))?;
        let changed = change(self.info()?);
        self.write(&changed)?;
        Ok(changed)
    }

    /// Makes sure that there is an `output.md`, whatever the agent did: if it wrote none, the file
    /// is a copy of what it printed.
    ///
    /// # Errors
    ///
    /// `output.md` is a folder; a folder that cannot be written.
    pub fn settle_output(&self) -> Result<Settled, Failure> {
        let path = self.file(layout::OUTPUT);
        match fs::metadata(&path) {
            Ok(metadata) if metadata.is_file() => return Ok(Settled::ByAgent),
            Ok(_) => {
                let message = format!("{}: a file is expected", path.display());
                return Err(Failure::internal("output-invalid", message));
            }
            Err(error) if error.kind() != ErrorKind::NotFound => {
                return Err(file::unreadable(&path, &error));
            }
            Err(_) => {}
        }
        let copied = self.copy_output(&path).or_else(|error| match error.kind() {
            // Another name of the same file takes no room.
            ErrorKind::StorageFull => fs::hard_link(self.file(layout::STDOUT), &path),
            _ => Err(error),
        });
        copied.map_err(|error| file::unwritable("write", &path, &error))?;
        Ok(Settled::Copied)
    }

    /// Keeps room for what is written when the run ends: its agent may fill the disk.
    ///
    /// # Errors
    ///
    /// A disk that has no room for it.
    pub fn reserve(&self) -> Result<(), Failure> {
        reserve_in(&self.folder)
    }

    /// Removes a folder that no run begins in.
    pub fn discard(&self) {
        self.release();
        // If that fails, or something else stands in it, the folder stays.
        let _ = fs::remove_file(self.file(layout::PROMPT));
        let _ = fs::remove_dir(&self.folder);
    }

    /// Gives that room back.
    pub fn release(&self) {
        release_in(&self.folder);
    }

    /// Makes sure that what the agent printed stands in files: it may have put a pipe, a link or a
    /// folder in their place. Such a thing is set aside.
    ///
    /// # Errors
    ///
    /// A folder that cannot be written.
    pub fn settle_printed(&self) -> Result<(), Failure> {
        for name in [layout::STDOUT, layout::STDERR] {
            let path = self.file(name);
            let is_other = path.symlink_metadata().is_ok_and(|metadata| !metadata.is_file());
            let settled = match is_other {
                true => fs::rename(&path, self.file(&format!("{name}.{}", self.id()))),
                false => Ok(()),
            };
            settled
                .and_then(|()| file::open_to_append(&path).map(drop))
                .map_err(|error| file::unwritable("write", &path, &error))?;
        }
        Ok(())
    }

    /// Writes the agent's output without these texts, if it repeats one of them word by word: a
    /// prompt is not the agent's own text. `None` if it does not, or if the output is longer than
    /// `LONGEST_ECHO`.
    ///
    /// # Errors
    ///
    /// Files that cannot be read or written.
    pub fn settle_echo(&self, prompts: &[&str]) -> Result<Option<PathBuf>, Failure> {
        let path = self.file(layout::STDOUT);
        let printed = short_output(&path).map_err(|error| file::unreadable(&path, &error))?;
        let mut prompts = prompts.iter().map(|prompt| prompt.trim().as_bytes());
        let Some(without_echo) = prompts.find_map(|prompt| without(&printed, prompt)) else {
            return Ok(None);
        };
        let path = self.file(layout::SAID);
        file::replace(&path, without_echo)?;
        Ok(Some(path))
    }

    /// Bytes that the agent has printed to stdout and stderr.
    pub fn printed(&self) -> u64 {
        let files = [layout::STDOUT, layout::STDERR].into_iter();
        let metadata = files.filter_map(|name| self.file(name).symlink_metadata().ok());
        metadata.filter(fs::Metadata::is_file).map(|metadata| metadata.len()).sum()
    }

    /// Stdout from this byte on, up to `most` bytes. `None` if it cannot be read.
    pub fn printed_from(&self, from: u64, most: u64) -> Option<Vec<u8>> {
        let mut file = file::open_to_read(&self.file(layout::STDOUT)).ok()??;
        file.seek(SeekFrom::Start(from)).ok()?;
        let mut bytes = Vec::new();
        file.take(most).read_to_end(&mut bytes).ok()?;
        Some(bytes)
    }

    /// Leaves a handoff for the next agent or person, and returns its path. A handoff that the
    /// agent has written stays.
    ///
    /// # Errors
    ///
    /// A folder that cannot be written.
    pub fn hand_over(&self, text: &str) -> Result<PathBuf, Failure> {
        let path = self.file(layout::HANDOFF);
        if path.symlink_metadata().is_err() {
            file::create(&path, text)?;
        }
        Ok(path)
    }

    /// The text of its handoff; `None` if nobody left one.
    ///
    /// # Errors
    ///
    /// A file that cannot be read.
    pub fn handoff(&self) -> Result<Option<String>, Failure> {
        file::read(&self.file(layout::HANDOFF))
    }

    /// Copies what was printed, of any length, byte for byte.
    fn copy_output(&self, path: &Path) -> io::Result<()> {
        file::put(path, |to| match file::open_to_read(&self.file(layout::STDOUT))? {
            Some(mut from) => io::copy(&mut from, to).map(drop),
            None => Ok(()),
        })
    }
}

/// Keeps room in a folder for what has to be written to a full disk.
pub(super) fn reserve_in(folder: &Path) -> Result<(), Failure> {
    let path = folder.join(RESERVE);
    let reserved = file::open_to_append(&path).and_then(|file| {
        match gate_platform::reserve(&file, ROOM)? {
            true => Ok(()),
            // There is no other way if a file system cannot do that.
            false => fs::write(&path, vec![0; ROOM as usize]),
        }
    });
    reserved.map_err(|error| file::unwritable("write", &path, &error))
}

/// Gives the room in a folder back.
pub(super) fn release_in(folder: &Path) {
    // If it is gone, there is nothing to give back.
    let _ = fs::remove_file(folder.join(RESERVE));
}

/// The file that keeps room, and how much, in bytes.
const RESERVE: &str = ".gate-reserve";
const ROOM: u64 = 256 << 10;

/// The record of a run that has none.
const UNKNOWN: &str = "start_time: 1970-01-01T00:00:00Z\nexit_code: -1\nstatus: unknown\n";

fn invalid(file: String, error: &RunInfoError) -> Failure {
    let (line, key) = match error {
        RunInfoError::Yaml(error) => (Some(error.line), None),
        RunInfoError::Value { line, key, .. } => (Some(*line), Some(key.as_str())),
        RunInfoError::Missing { key } => (None, Some(*key)),
    };
    let failure = Failure::usage("run-info-invalid", format!("{file}: {error}"));
    Failure { file: Some(file), line, key: key.map(str::to_owned), ..failure }
}

/// The output in a file, empty if it is longer than `LONGEST_ECHO` or not there.
fn short_output(path: &Path) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    if let Some(mut file) = file::open_to_read(path)?
        && file.metadata()?.len() <= LONGEST_ECHO
    {
        file.read_to_end(&mut bytes)?;
    }
    Ok(bytes)
}

/// A text without a part of it. `None` if the part is not in it.
fn without(text: &[u8], part: &[u8]) -> Option<Vec<u8>> {
    let positions: Vec<_> = match part {
        [] => Vec::new(),
        part => memchr::memmem::find_iter(text, part).collect(),
    };
    let mut kept = Vec::with_capacity(text.len());
    let mut from = 0;
    for position in &positions {
        kept.extend_from_slice(&text[from..*position]);
        from = position + part.len();
    }
    kept.extend_from_slice(&text[from..]);
    (!positions.is_empty()).then_some(kept)
}
