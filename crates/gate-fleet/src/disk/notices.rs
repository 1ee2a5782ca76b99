//! Files of what came from other machines: the same that this machine's own agents would have
//! written.

use std::collections::{BTreeMap, HashSet};
use std::fs::File;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

use gate_core::Failure;
use gate_platform::{RealPath, identity};

use super::bus::Bus;
use super::file::{self, unwritable};
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

/// The messages on a project's buses, as far as they were read to write notices: with them a bus
/// is read once for many pages of notices.
#[derive(Debug, Default)]
pub struct KnownMessages {
    /// By task; the project's bus has the empty one.
    buses: BTreeMap<String, KnownBus>,
}

#[derive(Debug, Default)]
struct KnownBus {
    ids: HashSet<String>,
    /// The file with just these messages; `None` before the first reading.
    file: Option<FileState>,
}

/// A state of a file that only grows: device, inode and bytes.
type FileState = (u64, u64, u64);

impl Project {
    /// The last record whose notice stands in the files: none if the file with it is damaged.
    ///
    /// # Errors
    ///
    /// A file that cannot be read.
    pub fn notice_mark(&self) -> Result<NoticeMark, Failure> {
        let text = file::read(&self.folder().join(layout::NOTICE_MARK))?.unwrap_or_default();
        Ok(mark_of(&text))
    }

    /// Writes the notices behind a record to the files, each bus in their order. Returns a line on
    /// each that was left out because it cannot be a file here; `None` if another process has
    /// written some meanwhile, and nothing was done. `known` serves for the next notices, too.
    ///
    /// # Errors
    ///
    /// A file that cannot be written.
    pub fn keep_notices(
        &self,
        since: &NoticeMark,
        notices: &[RecordedNotice],
        known: &mut KnownMessages,
    ) -> Result<Option<Vec<String>>, Failure> {
        file::folder(&self.folder())?;
        let path = self.folder().join(layout::NOTICE_MARK);
        let _lock = file::locked(&path).map_err(|error| unwritable("lock", &path, &error))?;
        // An unknown mark is written anew: what stands in the files already is known by its name.
        if self.notice_mark()? != *since && since.seq > 0 {
            return Ok(None);
        }
        let (mut left_out, mut messages) = (Vec::new(), BTreeMap::new());
        for recorded in notices {
            let RecordedNotice { mark, kind, notice } = recorded;
            let keep = |notice| self.keep(kind, notice, &mut messages);
            if notice.as_ref().map(keep).transpose()? != Some(true) {
                let (noun, seq) = (kind::noun(kind), mark.seq);
                left_out.push(format!(
                    "the {noun} in record {seq} of the ledger is left out: its name or its text \
                     is not valid"
                ));
            }
        }
        for (task, messages) in messages {
            let bus = self.bus_of(&task)?;
            bus.add(messages, known.buses.entry(task).or_default())?;
        }
        if let Some(RecordedNotice { mark, .. }) = notices.last() {
            file::replace(&path, format!("{} {}\n", mark.seq, mark.hash))?;
        }
        Ok(Some(left_out))
    }

    /// Writes one notice, unless it is there; a message is only put to those of its bus.
    /// Returns if its names can be files here.
    fn keep(
        &self,
        kind: &str,
        notice: &Notice,
        messages: &mut BTreeMap<String, Vec<Message>>,
    ) -> Result<bool, Failure> {
        let Ok(folder) = self.folder_of(&notice.task) else { return Ok(false) };
        let path = match kind {
            kind::MESSAGE => {
                let Some(message) = notice.message() else { return Ok(false) };
                messages.entry(notice.task.clone()).or_default().push(message);
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
        let folder = bus.path().parent()?.real_path().ok()?;
        let project_folder = self.folder().real_path().ok()?;
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
    /// Appends those of the messages, which have their ids, that are not there.
    fn add(&self, messages: Vec<Message>, known: &mut KnownBus) -> Result<(), Failure> {
        self.write_unknown(messages, known).map_err(|error| self.unwritable(&error))
    }

    fn write_unknown(&self, messages: Vec<Message>, known: &mut KnownBus) -> io::Result<()> {
        let mut file = file::locked(self.path())?;
        // A failure leaves no state, so that the file is read anew.
        if known.file.take() != Some(state(&file)?) {
            let mut bytes = Vec::new();
            file.read_to_end(&mut bytes)?;
            let messages = bus::read(&bytes).messages.into_iter();
            known.ids = messages.map(|message| message.msg_id).collect();
        }
        let is_new = |message: &Message| known.ids.insert(message.msg_id.clone());
        let messages = messages.into_iter().filter(is_new);
        let entries: Vec<_> = messages.map(|message| message.to_entry()).collect();
        if !entries.is_empty() {
            self.write(&mut file, &entries.join("\n"))?;
        }
        known.file = Some(state(&file)?);
        Ok(())
    }
}

fn state(file: &File) -> io::Result<FileState> {
    let (device, number) = identity(file)?;
    Ok((device, number, file.metadata()?.len()))
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
