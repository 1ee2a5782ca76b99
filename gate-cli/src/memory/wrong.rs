//! Marks on decisions that an operator calls wrong. A mark is a record of its own: the
//! decision's record stays as it is.

use gate_core::Verdict;
use gate_core::history::kind;
use gate_core::ledger::Sealed;
use gate_lens::replay::{JudgedTranscript, Label, MarkedDecision, MarkedTranscript};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{Memory, body, queries};
use crate::failure::Failure;
use crate::operator::Operator;
use crate::record::{Ledger, Mistake, Record, WrongMark, damaged};
use crate::secrets;
use crate::store::View;

/// `gate.wrong.v1`: a decision that was marked.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub(crate) struct WrongRecord {
    /// Always `gate.wrong.v1`.
    pub schema: &'static str,
    /// The decision's id.
    pub decision_id: String,
    /// The number of the decision's record.
    pub decision: u64,
    /// The decision's verdict.
    pub verdict: Verdict,
    /// The label of the judged transcript in `gate replay`.
    pub label: Label,
    /// The mark.
    #[serde(flatten)]
    pub mark: WrongMark,
}

/// The body of a mark's record.
#[derive(Serialize, Deserialize)]
struct MarkBody {
    marked: MarkSubject,
    mistake: Mistake,
    reason: String,
    transcript: JudgedTranscript,
    /// The operator.
    by: Value,
}

/// The decision that a mark is about.
#[derive(Serialize, Deserialize)]
struct MarkSubject {
    seq: u64,
    hash: String,
    id: String,
    verdict: Verdict,
}

impl Memory {
    /// Marks a decision as wrong. It is named as for [`Memory::decision`].
    ///
    /// # Errors
    ///
    /// No such decision, one that let a stop go without judging the work, one with a mark.
    pub(crate) fn mark_wrong(
        &mut self,
        name: &str,
        reason: &str,
        operator: &Operator,
    ) -> Result<WrongRecord, Failure> {
        let reason = secrets::masked(reason);
        self.retry(|memory| memory.try_to_mark(name, &reason, operator))
    }

    fn try_to_mark(
        &mut self,
        name: &str,
        reason: &str,
        operator: &Operator,
    ) -> Result<WrongRecord, Failure> {
        let mut transaction = self.begin()?;
        let Some(sealed) = queries::decision_named(&mut transaction, name)? else {
            return Err(unknown_decision(name));
        };
        let record = Record::from_sealed(&sealed)?;
        let seq = sealed.record.seq;
        // A stop that was let go says nothing about the work, so it cannot be wrong about that.
        if record.decision.released.is_some() {
            let message = format!("decision {seq} neither ended the work nor refused to");
            return Err(Failure::usage("decision-released", message)
                .hint("`gate log` shows the decisions of loops, and the stops that were refused"));
        }
        let mistake = Mistake::in_verdict(record.decision.verdict);
        if let Some(WrongMark { reason, ledger, .. }) = mark_on(&mut transaction, seq)? {
            let place = ledger.seq;
            let message = format!("decision {seq} is marked already: {reason}, record {place}");
            return Err(Failure::usage("already-marked", message));
        }
        let body = MarkBody {
            marked: MarkSubject {
                seq,
                hash: sealed.hash.to_string(),
                id: record.decision_id.clone(),
                verdict: record.decision.verdict,
            },
            mistake,
            reason: reason.to_owned(),
            transcript: JudgedTranscript {
                digest: record.input_digest.clone(),
                session: record.transcript.session.clone(),
                bytes: record.transcript.bytes,
            },
            by: serde_json::to_value(operator).unwrap_or_default(),
        };
        let draft = body::draft(kind::WRONG, record.run.as_deref(), &operator.actor(), &body)?;
        let marked = transaction.append(draft)?;
        transaction.commit()?;
        Ok(WrongRecord {
            schema: "gate.wrong.v1",
            decision_id: record.decision_id,
            decision: seq,
            verdict: record.decision.verdict,
            label: mistake.into(),
            mark: mark_of(&marked, body),
        })
    }

    /// The transcripts that an operator's marks are about, the latest mark first.
    pub(crate) fn marked_transcripts(&mut self) -> Result<Vec<MarkedTranscript>, Failure> {
        let marks = marks(&mut self.view()?)?.into_iter();
        let transcripts = marks.map(|(_, body)| MarkedTranscript {
            mistake: body.mistake,
            transcript: body.transcript,
        });
        Ok(transcripts.collect())
    }

    /// The decisions that an operator has marked, the latest mark first.
    pub(crate) fn marked_decisions(&mut self) -> Result<Vec<MarkedDecision>, Failure> {
        let view = &mut self.view()?;
        let mut decisions = Vec::new();
        for (_, body) in marks(view)? {
            let seq = body.marked.seq;
            // Older gates moved old decisions out of the ledger, but not their marks.
            if let Some(sealed) = view.entry(seq)? {
                let decision = Record::from_sealed(&sealed)?.decision;
                decisions.push(MarkedDecision { seq, mistake: body.mistake, decision });
            }
        }
        Ok(decisions)
    }
}

fn unknown_decision(name: &str) -> Failure {
    Failure::usage("unknown-decision", format!("no decision is called `{name}`"))
        .hint("`gate log` lists the decisions with their numbers")
}

/// The decision with its mark, if it has one.
pub(super) fn with_mark(view: &mut View<'_>, record: Record) -> Result<Record, Failure> {
    let seq = record.ledger.as_ref().map(|ledger| ledger.seq);
    let wrong = seq.map(|seq| mark_on(view, seq)).transpose()?.flatten();
    Ok(Record { wrong, ..record })
}

/// The mark on the decision with this number.
fn mark_on(view: &mut View<'_>, seq: u64) -> Result<Option<WrongMark>, Failure> {
    let mut marks = marks(view)?.into_iter();
    Ok(marks.find(|(_, body)| body.marked.seq == seq).map(|(sealed, body)| mark_of(&sealed, body)))
}

/// All marks, the latest first. Each is a person's act, so there are few.
fn marks(view: &mut View<'_>) -> Result<Vec<(Sealed, MarkBody)>, Failure> {
    let mut marks = Vec::new();
    for sealed in view.entries_of_type(kind::WRONG, usize::MAX)? {
        let body = serde_json::from_value(Value::from(sealed.record.body.clone()))
            .map_err(|error| damaged(&sealed, &error))?;
        marks.push((sealed, body));
    }
    Ok(marks)
}

/// The mark of a record.
fn mark_of(sealed: &Sealed, body: MarkBody) -> WrongMark {
    let MarkBody { mistake, reason, .. } = body;
    WrongMark { mistake, reason, time: sealed.record.time.clone(), ledger: Ledger::place(sealed) }
}
