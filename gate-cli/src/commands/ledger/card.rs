//! The result of verifying a ledger, for a person and for a program.

#[cfg(test)]
mod tests;

use gate_core::history::Divergence;
use gate_core::ledger::{Chain, Head, Problem};
use gate_core::text::counted;
use serde::Serialize;

use super::store::StoreRecord;
use crate::render::page::{Mark, Page};
use crate::store::StoreError;

/// The JSON of `gate ledger verify`.
#[derive(Debug, Serialize)]
pub(super) struct VerifyRecord {
    #[serde(flatten)]
    pub(super) ledger: LedgerReport,
    /// The store; null for an export, and if no record was written.
    pub(super) store: Option<StoreRecord>,
    /// The way on, if the end of the ledger is lost.
    #[serde(skip)]
    pub(super) next: Option<String>,
}

/// A ledger that was followed to its end, or to a problem.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(super) struct LedgerReport {
    /// The ledger is sound, and so is its store.
    pub(super) ok: bool,
    /// The number of sound records, from the first on.
    pub(super) records: u64,
    /// The number of sound records that are missing, because an earlier version of gate moved them
    /// out to archives.
    archived: u64,
    /// The number of the first record after the last of the missing ones; null if none is missing.
    archived_before: Option<u64>,
    /// The hash of the last sound record.
    head: String,
    /// The head to compare with, as `SEQ:HASH`. Without one a cut tail cannot be seen.
    known: Option<String>,
    /// The number of decisions that could not be decided again: their policy is not here, or
    /// another version of gate made them. Null for an export, whose decisions are not
    /// decided again.
    undecided: Option<usize>,
    /// The first problem.
    pub(super) problem: Option<LedgerProblem>,
}

/// A problem of a ledger.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(super) struct LedgerProblem {
    /// The number of the record at which it breaks, if that is known.
    pub(super) seq: Option<u64>,
    /// The problem in words.
    pub(super) message: String,
}

impl From<Problem> for LedgerProblem {
    fn from(problem: Problem) -> Self {
        Self { seq: Some(problem.seq), message: problem.to_string() }
    }
}

impl From<Divergence> for LedgerProblem {
    fn from(divergence: Divergence) -> Self {
        Self { seq: Some(divergence.seq), message: divergence.to_string() }
    }
}

impl From<StoreError> for LedgerProblem {
    fn from(error: StoreError) -> Self {
        let seq = if let StoreError::Corrupt { seq, .. } = error { seq } else { None };
        Self { seq, message: error.to_string() }
    }
}

impl LedgerReport {
    /// The result for a chain that was followed to its end, or to a problem. `problem` is one that
    /// the chain itself does not show.
    pub(super) fn new(
        chain: &Chain,
        last_sound: Head,
        undecided: Option<usize>,
        problem: Option<LedgerProblem>,
    ) -> Self {
        let (problem, known) = match (problem, chain.end()) {
            (Some(problem), _) => (Some(problem), None),
            (None, Err(problem)) => (Some(problem.into()), None),
            (None, Ok(intact)) => (None, intact.known),
        };
        let (Head { seq, hash }, missing) = (last_sound, chain.missing());
        Self {
            ok: problem.is_none(),
            records: seq,
            archived: missing.count,
            archived_before: (missing.count > 0).then_some(missing.first_behind),
            head: hash.to_string(),
            known: known.map(|head| head.to_string()),
            undecided,
            problem,
        }
    }

    /// The result for a ledger that cannot be read because of a problem of the store.
    pub(super) fn unread(problem: &str) -> Self {
        let problem = LedgerProblem { seq: None, message: problem.to_owned() };
        Self::new(&Chain::new(), Head::EMPTY, None, Some(problem))
    }

    /// With a problem of the store, unless the ledger itself has one.
    pub(super) fn with_problem(self, store_problem: Option<LedgerProblem>) -> Self {
        let problem = self.problem.or(store_problem);
        Self { ok: problem.is_none(), problem, ..self }
    }

    /// The result of deciding again; `None` for an export.
    fn decided_again(&self) -> Option<String> {
        Some(match self.undecided? {
            0 => "every decision comes out the same from its record".to_owned(),
            count => format!(
                "{count} decisions are taken as they stand: their policy is not here, or another \
                 version of gate made them"
            ),
        })
    }

    /// The certainty that the ledger lacks no last records.
    fn tail(&self) -> &'static str {
        match self.known {
            Some(_) => "the last head that is known is in it",
            None => {
                "records that are missing at the end cannot be seen: give the head that you \
                 know with --head SEQ:HASH"
            }
        }
    }
}

/// The card of the result.
pub(super) fn verified_card(record: &VerifyRecord) -> String {
    let VerifyRecord { ledger, store, next } = record;
    let records = count(ledger.records);
    let mut page = Page::new();
    match &ledger.problem {
        None => page.head(Mark::Good, "HOLDS", &records),
        Some(problem) => page.head(Mark::Bad, "BROKEN", &problem.message),
    }
    page.blank();
    match &ledger.problem {
        Some(LedgerProblem { seq: Some(_), .. }) => {
            page.row("holds", &format!("{records} before that"));
        }
        Some(_) => page.row("holds", &records),
        None => {}
    }
    if ledger.records > 0 {
        page.row("head", &format!("{}:{}", ledger.records, ledger.head));
    }
    if let Some(before) = ledger.archived_before {
        let moved_records = count(ledger.archived);
        let text = format!("{moved_records} before record {before}, by an earlier version of gate");
        page.row("moved out", &text);
    }
    if ledger.ok {
        page.row("tail", ledger.tail());
        if let Some(text) = ledger.decided_again() {
            page.row("again", &text);
        }
    }
    if let Some(store) = store {
        store.fill(&mut page);
    }
    if let Some(next) = next {
        page.row("next", next);
    }
    page.into_text()
}

pub(super) fn count(records: u64) -> String {
    match records {
        0 => "no records".to_owned(),
        records => counted(records, "record"),
    }
}
