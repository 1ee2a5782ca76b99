//! The result of verifying a ledger, for a person and for a program.

#[cfg(test)]
mod tests;

use gate_core::history::Divergence;
use gate_core::ledger::{Chain, Head, Problem};
use schemars::JsonSchema;
use serde::Serialize;

use crate::render::page::{Mark, Page};
use crate::store::StoreError;

/// The JSON of `gate ledger verify`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub(crate) struct LedgerReport {
    /// True if the ledger is sound.
    pub(crate) ok: bool,
    /// The number of sound records, from the first on.
    pub(crate) records: u64,
    /// The number of those among them that are archived.
    pub(super) archived: u64,
    /// The hash of the last one of them.
    head: String,
    /// The head to compare with, as `SEQ:HASH`. Without one a cut tail cannot be seen.
    known: Option<String>,
    /// The number of decisions that could not be decided again: their policy is not here, or
    /// another version of gate made them. Null for an export, whose decisions are not
    /// decided again.
    undecided: Option<usize>,
    /// The first problem.
    pub(crate) problem: Option<LedgerProblem>,
}

/// A problem of a ledger.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub(crate) struct LedgerProblem {
    /// The number of the record at which it breaks, if that is known.
    pub(crate) seq: Option<u64>,
    /// The problem in words.
    pub(crate) message: String,
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
    /// The result for a chain that was followed to its end, or to a problem.
    pub(crate) fn new(
        chain: &Chain,
        last_sound: Head,
        undecided: Option<usize>,
        wrong: Option<LedgerProblem>,
    ) -> Self {
        let end = chain.end();
        let known = end.as_ref().ok().and_then(|intact| intact.known);
        let problem = wrong.or_else(|| end.err().map(LedgerProblem::from));
        let known = if problem.is_none() { known } else { None };
        let Head { seq, hash } = last_sound;
        Self {
            ok: problem.is_none(),
            records: seq,
            archived: 0,
            head: hash.to_string(),
            known: known.map(|head| head.to_string()),
            undecided,
            problem,
        }
    }

    /// The result of deciding again; none for an export.
    fn again(&self) -> Option<String> {
        Some(match self.undecided? {
            0 => "every decision comes out the same from its record".to_owned(),
            some => format!(
                "{some} decisions are taken as they stand: their policy is not here, or another \
                 version of gate made them"
            ),
        })
    }

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
pub(crate) fn verified_card(verified: &LedgerReport) -> String {
    let records = count(verified.records);
    let mut page = Page::new();
    match &verified.problem {
        None => page.head(Mark::Good, "HOLDS", &records),
        Some(problem) => page.head(Mark::Bad, "BROKEN", &problem.message),
    }
    page.blank();
    if !verified.ok {
        page.row("holds", &format!("{records} before that"));
    }
    if verified.records > 0 {
        page.row("head", &format!("{}:{}", verified.records, verified.head));
    }
    if verified.archived > 0 {
        page.row("archived", &count(verified.archived));
    }
    if verified.ok {
        page.row("tail", verified.tail());
        if let Some(again) = verified.again() {
            page.row("again", &again);
        }
    }
    page.into_text()
}

pub(crate) fn count(records: u64) -> String {
    match records {
        0 => "no records".to_owned(),
        1 => "1 record".to_owned(),
        more => format!("{more} records"),
    }
}
