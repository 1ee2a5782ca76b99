//! Looks up recorded decisions.

use std::path::Path;

use gate_core::history::kind;
use gate_core::ledger::Sealed;
use gate_core::{Decision, Policy, decide};
use serde_json::Value;

use super::naming::tree_name;
use super::{Memory, wrong};
use crate::failure::Failure;
use crate::record::Record;
use crate::store::View;

/// Records that are read at once.
const PAGE_RECORDS: usize = 100;

/// Records on the first page of a search: most often the wanted one is among the last few.
const FIRST_PAGE_RECORDS: usize = 4;

/// The latest records that are searched for the length of a transcript.
const LENGTH_HINT_RECORDS: usize = 16;

/// Selects decisions by their run or task.
#[non_exhaustive]
#[derive(Clone, Copy, Debug, Default)]
pub struct RecordSelector<'a> {
    /// A run, a loop, or a session.
    pub run: Option<&'a str>,
    /// A task's id.
    pub task: Option<&'a str>,
}

/// The last event of a work tree.
#[derive(Clone, Debug)]
pub(crate) enum LastEvent {
    Decided(Box<Record>),
    /// gate could not decide, for this reason, and let the agent stop.
    Undecided(String),
}

/// A recorded decision, made again.
#[derive(Clone, Debug)]
pub struct ReplayedDecision {
    /// The recorded decision.
    pub record: Record,
    /// The decision's policy, if the store has it.
    pub policy: Option<Policy>,
    /// The new decision from the same record. `None` without the policy, and if the recorded one
    /// rests on a rule that is gone.
    pub again: Option<Decision>,
}

impl ReplayedDecision {
    /// Both decisions are equal; `None` if it was not decided again.
    pub fn is_same(&self) -> Option<bool> {
        self.again.as_ref().map(|again| *again == self.record.decision)
    }
}

impl Memory {
    /// The latest decision about this work tree.
    ///
    /// # Errors
    ///
    /// A store that cannot be read.
    pub fn latest(&mut self, selector: &RecordSelector<'_>) -> Result<Option<Record>, Failure> {
        let mut view = self.store.view(&self.project)?;
        let sealed = newest(&mut view, |sealed| selector.is_decision(sealed, &self.tree))?;
        sealed.map(|sealed| marked(&mut view, &sealed)).transpose()
    }

    /// The last event of this work tree: a decision, or a stop without one.
    pub(crate) fn last_event(
        &mut self,
        selector: &RecordSelector<'_>,
    ) -> Result<Option<LastEvent>, Failure> {
        let tree = self.tree.clone();
        self.last_event_of_tree(selector, &tree)
    }

    /// The last event of another work tree of the project, whose settings are in this folder.
    pub(crate) fn last_event_in(&mut self, folder: &Path) -> Result<Option<LastEvent>, Failure> {
        self.last_event_of_tree(&RecordSelector::default(), &tree_name(folder))
    }

    fn last_event_of_tree(
        &mut self,
        selector: &RecordSelector<'_>,
        tree: &str,
    ) -> Result<Option<LastEvent>, Failure> {
        let mut view = self.store.view(&self.project)?;
        let last_event = newest(&mut view, |sealed| {
            selector.is_decision(sealed, tree) || selector.is_undecided(sealed, tree)
        })?;
        let Some(sealed) = last_event else { return Ok(None) };
        Ok(Some(if is_decision(&sealed) {
            LastEvent::Decided(Box::new(marked(&mut view, &sealed)?))
        } else {
            LastEvent::Undecided(text(&sealed, "why").unwrap_or_default().to_owned())
        }))
    }

    /// A page of decisions of this work tree, the newest first, from the records before number
    /// `end_seq` or from the last ones. Also returns the next page's `end_seq`.
    pub(crate) fn decisions(
        &mut self,
        end_seq: Option<u64>,
    ) -> Result<(Vec<Record>, Option<u64>), Failure> {
        let mut view = self.store.view(&self.project)?;
        let page = view.entries_before(end_seq.unwrap_or(u64::MAX), PAGE_RECORDS)?;
        let first_seq = page.first().map_or(1, |sealed| sealed.record.seq);
        let any = RecordSelector::default();
        let decisions = page.iter().rev().filter(|sealed| any.is_decision(sealed, &self.tree));
        let records = decisions.map(Record::from_sealed).collect::<Result<_, _>>()?;
        Ok((records, Some(first_seq).filter(|seq| *seq > 1)))
    }

    /// A decision by its id, by at least four characters of its id, or by its record's number.
    ///
    /// # Errors
    ///
    /// A store that cannot be read.
    pub fn decision(&mut self, name: &str) -> Result<Option<Record>, Failure> {
        let mut view = self.view()?;
        let sealed = decision_named(&mut view, name)?;
        sealed.map(|sealed| marked(&mut view, &sealed)).transpose()
    }

    /// Makes a decision again, with the policy that the store has for it.
    ///
    /// # Errors
    ///
    /// A store that cannot be read.
    pub fn replay(&mut self, record: Record) -> Result<ReplayedDecision, Failure> {
        let policy = self.policy(&record.policy_digest)?;
        // This version would decide otherwise, and that would look like a changed record.
        let is_removed = record.decision.rests_on_removed_rule();
        let decidable = if is_removed { None } else { policy.as_ref() };
        let again = decidable.map(|policy| decide(&record.decision.input, policy));
        Ok(ReplayedDecision { record, policy, again })
    }

    /// The policy with this digest. `None` if the store does not have it, or if this version cannot
    /// read it. Fails on a policy that was changed in the store.
    pub(crate) fn policy(&mut self, digest: &str) -> Result<Option<Policy>, Failure> {
        let mut view = self.examine()?.view;
        let Some(text) = view.policy(digest)? else { return Ok(None) };
        if gate_core::digest(text.as_bytes()) != digest {
            let message = format!("the policy {digest} was changed in the store");
            return Err(Failure::internal("state-corrupt", message));
        }
        Ok(serde_json::from_str(&text).ok())
    }
}

impl Memory {
    /// The length in bytes of a session's transcript at its last decision, if that is one
    /// of the latest records. This is only a hint for reading.
    pub(crate) fn read_before(&mut self, session: &str) -> Option<u64> {
        let mut view = self.view().ok()?;
        let page = view.entries_before(u64::MAX, LENGTH_HINT_RECORDS).ok()?;
        page.iter().rev().find_map(|sealed| transcript_length(sealed, session))
    }
}

/// A decision with the operator's mark, if it has one.
fn marked(view: &mut View<'_>, sealed: &Sealed) -> Result<Record, Failure> {
    wrong::with_mark(view, Record::from_sealed(sealed)?)
}

/// A decision's record by its number or its id. See [`Memory::decision`].
pub(super) fn decision_named(view: &mut View<'_>, name: &str) -> Result<Option<Sealed>, Failure> {
    let number = name.strip_prefix('#').unwrap_or(name).parse().ok();
    let by_number = number.map(|seq| view.entry(seq)).transpose()?.flatten();
    Ok(match by_number.filter(is_decision) {
        // An id may begin with digits alone.
        None if name.len() >= 4 => view.decision_by_id(name)?,
        decision => decision,
    })
}

fn transcript_length(sealed: &Sealed, session: &str) -> Option<u64> {
    let transcript = sealed.record.body.get("decision")?.get("transcript")?;
    if transcript.get("session")?.as_str()? != session {
        return None;
    }
    transcript.get("bytes")?.as_u64()
}

impl RecordSelector<'_> {
    fn is_decision(&self, sealed: &Sealed, tree: &str) -> bool {
        let is_here = text(sealed, "tree") == Some(tree);
        is_decision(sealed)
            // Who names a run means that one, in whatever work tree it was.
            && (is_here || self.run.is_some())
            && self.run.is_none_or(|run| is_in_run(sealed, run))
            && self.task.is_none_or(|task| state_text(sealed, "task") == Some(task))
    }

    fn is_undecided(&self, sealed: &Sealed, tree: &str) -> bool {
        sealed.record.kind == kind::UNDECIDED
            && text(sealed, "tree") == Some(tree)
            && self.run.is_none_or(|run| sealed.record.run.as_deref() == Some(run))
            && self.task.is_none()
    }
}

/// Compares the names of a record's run, loop and session.
fn is_in_run(sealed: &Sealed, name: &str) -> bool {
    let decision = sealed.record.body.get("decision");
    let session = decision.and_then(|decision| decision.get("observed")?.get("session")?.as_str());
    sealed.record.run.as_deref() == Some(name)
        || state_text(sealed, "loop") == Some(name)
        || session == Some(name)
}

fn state_text<'s>(sealed: &'s Sealed, key: &str) -> Option<&'s str> {
    sealed.record.body.get("state")?.get(key)?.as_str()
}

fn text<'s>(sealed: &'s Sealed, key: &str) -> Option<&'s str> {
    sealed.record.body.get(key).and_then(Value::as_str)
}

fn is_decision(sealed: &Sealed) -> bool {
    kind::is_decision(&sealed.record.kind)
}

/// The newest selected record.
fn newest(
    view: &mut View<'_>,
    is_selected: impl Fn(&Sealed) -> bool,
) -> Result<Option<Sealed>, Failure> {
    let mut end_seq = u64::MAX;
    let mut page_length = FIRST_PAGE_RECORDS;
    loop {
        let page = view.entries_before(end_seq, page_length)?;
        let Some(oldest) = page.first() else { return Ok(None) };
        end_seq = oldest.record.seq;
        page_length = PAGE_RECORDS;
        if let Some(sealed) = page.into_iter().rev().find(|sealed| is_selected(sealed)) {
            return Ok(Some(sealed));
        }
    }
}
