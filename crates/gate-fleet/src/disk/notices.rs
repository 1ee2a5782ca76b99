//! Files of what came from other machines: the same that this machine's own agents would have
//! written.

use std::io::{self, Read as _, Seek as _, Write as _};
use std::path::{Path, PathBuf};

use gate_core::Failure;

use super::bus::Bus;
use super::file::{self, Lock, unwritable};
use super::project::Project;
use crate::bus::{self, Message};
use crate::fact::{Scope, is_fact_file};
use crate::notice::{Notice, kind};
use crate::run::{self, layout};

/// The last record of the ledger whose notice stands in a project's files.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NoticeMark {
    /// Its number; 0 before the first.
    pub seq: u64,
    /// Its hash.
    pub hash: String,
}

/// A notice, and its record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RecordedNotice {
    /// The record's number and hash.
    pub mark: NoticeMark,
    /// The record's type.
    pub kind: String,
    /// The record's body; `None` if it is no notice.
    pub notice: Option<Notice>,
}

impl Project {
    /// The last record whose notice stands in the files.
    ///
    /// # Errors
    ///
    /// A file that cannot be read.
    pub fn notice_mark(&self) -> Result<NoticeMark, Failure> {
        let text = file::read(&self.folder().join(layout::NOTICE_MARK))?.unwrap_or_default();
        Ok(mark_of(&text))
    }

    /// Writes the notices behind a record to the files, in their order. Returns what was left out
    /// because it cannot be a file here; `None` if another process has written some meanwhile, and
    /// nothing was done.
    ///
    /// # Errors
    ///
    /// A file that cannot be written.
    pub fn keep_notices(
        &self,
        since: &NoticeMark,
        notices: &[RecordedNotice],
    ) -> Result<Option<Vec<String>>, Failure> {
        file::folder(&self.folder())?;
        let path = self.folder().join(layout::NOTICE_MARK);
        let failed = |error: io::Error| unwritable("write", &path, &error);
        let mut mark_file = file::open_to_append(&path).map_err(failed)?;
        Lock::Alone.take(&mark_file).map_err(failed)?;
        let mut text = String::new();
        mark_file.read_to_string(&mut text).map_err(failed)?;
        // An unknown mark is written anew: what stands in the files already is known by its name.
        if mark_of(&text) != *since && since.seq > 0 {
            return Ok(None);
        }
        let mut left_out = Vec::new();
        for recorded in notices {
            let RecordedNotice { mark, kind, notice } = recorded;
            let kept = notice.as_ref().map(|notice| self.keep(kind, notice)).transpose()?;
            if kept != Some(true) {
                left_out.push(format!("record {}: no {kind} that can be kept here", mark.seq));
            }
        }
        if let Some(RecordedNotice { mark, .. }) = notices.last() {
            let line = format!("{} {}\n", mark.seq, mark.hash);
            let written = mark_file.set_len(0).and_then(|()| mark_file.write_all(line.as_bytes()));
            written.map_err(failed)?;
        }
        Ok(Some(left_out))
    }

    /// Writes one notice, unless it is there. False if nothing here can be called so.
    fn keep(&self, kind: &str, notice: &Notice) -> Result<bool, Failure> {
        let Ok(folder) = self.folder_of(&notice.task) else { return Ok(false) };
        let path = match kind {
            kind::MESSAGE => {
                let Some(message) = notice.message() else { return Ok(false) };
                self.bus_of(&notice.task)?.add(&message)?;
                return Ok(true);
            }
            kind::FACT => {
                let scope = if notice.task.is_empty() { Scope::Project } else { Scope::Task };
                if !is_fact_file(scope, &notice.name) || leads_away(&notice.name) {
                    return Ok(false);
                }
                folder.join(&notice.name)
            }
            kind::HANDOFF => match self.handoff_file(notice) {
                Some(path) => path,
                None => return Ok(false),
            },
            _ => return Ok(false),
        };
        if path.symlink_metadata().is_err() {
            file::folder(path.parent().unwrap_or(&folder))?;
            file::create(&path, &notice.text)?;
        }
        Ok(true)
    }

    /// The file of a handoff: in the folder of its run if that is here, else in its task's. `None`
    /// if its task or run names no folder.
    pub fn handoff_file(&self, notice: &Notice) -> Option<PathBuf> {
        let task = self.task(&notice.task).ok()?;
        if notice.name.is_empty() {
            return Some(task.folder().join(layout::HANDOFF));
        }
        run::folder_name(&notice.name).ok()?;
        let run = task.run(&notice.name);
        Some(match run.folder().is_dir() {
            true => run.file(layout::HANDOFF),
            false => task.folder().join(format!("handoff-{}.md", notice.name)),
        })
    }

    /// The task of one of this project's buses, empty for the project's own; `None` of any other
    /// file.
    pub fn task_of_bus(&self, bus: &Bus) -> Option<String> {
        let folder = bus.path().parent()?.canonicalize().ok()?;
        let project_folder = self.folder().canonicalize().ok()?;
        let beside = folder.strip_prefix(&project_folder).ok()?;
        let name = bus.path().file_name()?;
        if beside == Path::new("") {
            return (name == layout::PROJECT_BUS).then(String::new);
        }
        let task = beside.to_str().filter(|task| run::folder_name(task).is_ok())?;
        (name == layout::TASK_BUS).then(|| task.to_owned())
    }

    fn bus_of(&self, task: &str) -> Result<Bus, Failure> {
        if task.is_empty() { self.bus() } else { self.task(task)?.bus() }
    }

    fn folder_of(&self, task: &str) -> Result<PathBuf, Failure> {
        if task.is_empty() { Ok(self.folder()) } else { Ok(self.task(task)?.folder()) }
    }
}

impl Bus {
    /// Appends a message that has its id, unless it is there.
    fn add(&self, message: &Message) -> Result<(), Failure> {
        let failed = |error: io::Error| unwritable("append to", self.path(), &error);
        let mut file = self.locked().map_err(failed)?;
        let mut bytes = Vec::new();
        file.rewind().and_then(|()| file.read_to_end(&mut bytes)).map_err(failed)?;
        let messages = bus::read(&bytes).messages;
        if messages.iter().any(|earlier| earlier.msg_id == message.msg_id) {
            return Ok(());
        }
        self.write(&mut file, &message.to_entry()).map_err(failed)
    }
}

fn mark_of(text: &str) -> NoticeMark {
    let mark = text
        .trim_end()
        .split_once(' ')
        .and_then(|(seq, hash)| Some(NoticeMark { seq: seq.parse().ok()?, hash: hash.to_owned() }));
    mark.unwrap_or_default()
}

/// The name of a file that stands elsewhere than in the folder it is joined to.
fn leads_away(name: &str) -> bool {
    Path::new(name).file_name().is_none_or(|file| file != name)
}
