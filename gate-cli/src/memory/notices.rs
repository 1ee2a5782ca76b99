//! Messages, facts and handoffs of a project whose machines share a database: a record each, and
//! the files that agents read are made of the records.

use std::path::PathBuf;

use gate_core::ledger::Sealed;
use gate_fleet::bus::Message;
use gate_fleet::disk::{KnownMessages, NoticeMark, Project, RecordedNotice, file_name, stamped};
use gate_fleet::fact::{Fact, Scope};
use gate_fleet::notice::{Notice, kind};
use gate_fleet::run::project_slug;

use super::Memory;
use super::body::draft;
use crate::failure::Failure;
use crate::operator::Operator;
use crate::render;
use crate::secrets;

/// Records that are read at once.
const PAGE_RECORDS: usize = 64;

/// The latest handoffs that are searched for one of a work item.
const MAX_HANDOFFS: usize = 1_000;

impl Memory {
    /// Other machines have this project's messages, facts and handoffs, too.
    pub(crate) fn shares(&self, project: &Project) -> bool {
        self.store.is_shared() && project.id() == project_slug(&self.project)
    }

    /// Writes to the project's files what other machines have added since this was last done, and
    /// names what cannot be kept here on stderr.
    ///
    /// # Errors
    ///
    /// A store that cannot be read, a file that cannot be written.
    pub(crate) fn pull_notices(&mut self, project: &Project) -> Result<(), Failure> {
        let mut known = KnownMessages::default();
        loop {
            let (since, notices) = self.retry(|memory| memory.notices_behind(project))?;
            if notices.is_empty() {
                return Ok(());
            }
            // Without a result another process has written them meanwhile.
            if let Some(left_out) = project.keep_notices(&since, &notices, &mut known)? {
                render::notes(&left_out);
            }
        }
    }

    /// The notices that are not in the project's files, and the record that they begin behind.
    fn notices_behind(
        &mut self,
        project: &Project,
    ) -> Result<(NoticeMark, Vec<RecordedNotice>), Failure> {
        let mark = project.notice_mark()?;
        let mut view = self.view()?;
        // In a ledger that was restored from a backup, or begun anew, this number may be another's.
        let marked = view.entry(mark.seq)?;
        let is_known = marked.is_some_and(|sealed| sealed.hash.to_string() == mark.hash);
        let since = if is_known { mark } else { NoticeMark::default() };
        let records = view.entries_of_types(kind::ALL, since.seq, PAGE_RECORDS)?;
        Ok((since, records.into_iter().map(recorded).collect()))
    }

    /// Posts a message to the project or a task of it on all machines.
    ///
    /// # Errors
    ///
    /// A message that is not allowed (code 2), a store that cannot be written. Nobody has the
    /// message then.
    pub(crate) fn post_message(
        &mut self,
        project: &Project,
        task: &str,
        mut message: Message,
    ) -> Result<Message, Failure> {
        let masker = secrets::masker();
        masker.cover(&mut message.body);
        message.meta.iter_mut().for_each(|(_, value)| masker.cover(value));
        message.links.iter_mut().for_each(|link| masker.cover(&mut link.url));
        let message = stamped(message)?;
        self.record_notice(project, kind::MESSAGE, &Notice::from_message(task, &message))?;
        Ok(message)
    }

    /// Adds a fact of the project or of a task on all machines, and returns its file here.
    ///
    /// # Errors
    ///
    /// A name that leads elsewhere (code 2), a store that cannot be written. Nobody has the fact
    /// then.
    pub(crate) fn add_fact(
        &mut self,
        project: &Project,
        task: Option<&str>,
        mut fact: Fact,
        name: &str,
    ) -> Result<PathBuf, Failure> {
        secrets::masker().cover(&mut fact.title);
        secrets::masker().cover(&mut fact.body);
        let name = file_name(&fact, name)?;
        let task = match fact.scope {
            Scope::Task => task.unwrap_or_default(),
            Scope::Project | Scope::Global => "",
        };
        let folder = if task.is_empty() { project.folder() } else { project.task(task)?.folder() };
        let path = folder.join(&name);
        let text = fact.to_markdown();
        let notice = Notice { task: task.to_owned(), name, text, work: None };
        self.record_notice(project, kind::FACT, &notice)?;
        Ok(path)
    }

    /// Leaves the handoff of a loop to all machines.
    ///
    /// # Errors
    ///
    /// A store that cannot be written.
    pub(crate) fn leave_handoff(
        &mut self,
        project: &Project,
        handoff: &Notice,
    ) -> Result<(), Failure> {
        self.record_notice(project, kind::HANDOFF, handoff)
    }

    /// The file here of the latest handoff that a loop over this work item has left on any machine.
    ///
    /// # Errors
    ///
    /// A store that cannot be read, a file that cannot be written.
    pub(crate) fn handoff_of_work(
        &mut self,
        project: &Project,
        work: &str,
    ) -> Result<Option<PathBuf>, Failure> {
        self.pull_notices(project)?;
        let handoffs = self
            .retry(|memory| Ok(memory.view()?.entries_of_type(kind::HANDOFF, MAX_HANDOFFS)?))?;
        let mut notices = handoffs.into_iter().filter_map(|sealed| recorded(sealed).notice);
        let handoff = notices.find(|notice| notice.work.as_deref() == Some(work));
        let file = handoff.and_then(|handoff| project.handoff_file(&handoff));
        Ok(file.filter(|file| file.is_file()))
    }

    fn record_notice(
        &mut self,
        project: &Project,
        kind: &str,
        notice: &Notice,
    ) -> Result<(), Failure> {
        self.append(&draft(kind, None, &Operator::from_process().actor(), notice)?)?;
        // The others have it: to say that it failed would let it be told twice.
        if let Err(failure) = self.pull_notices(project) {
            let (noun, message) = (kind::noun(kind), &failure.message);
            render::notes(&[format!(
                "the {noun} is in the database, and the other machines can read it. Files \
                 on this machine may lack it until the next `gate bus read`: {message}"
            )]);
        }
        Ok(())
    }
}

fn recorded(sealed: Sealed) -> RecordedNotice {
    let mark = NoticeMark { seq: sealed.record.seq, hash: sealed.hash.to_string() };
    let body = serde_json::to_value(&sealed.record.body).unwrap_or_default();
    let notice = serde_json::from_value(body).ok();
    RecordedNotice { mark, kind: sealed.record.kind, notice }
}
