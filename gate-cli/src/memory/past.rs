//! Decisions of the past.

use gate_core::history::kind;
use gate_core::protocol::ledger::Sealed;
use gate_core::{Decision, Policy, decide};
use serde_json::Value;

use super::{Memory, body};
use crate::failure::Failure;
use crate::record::Record;
use crate::store::Reading;

/// How many records are looked at in one go.
const PAGE: u64 = 100;

/// How many of the latest records may tell what was read of a session.
const LATEST: u64 = 16;

/// Which decision is wanted.
#[derive(Clone, Copy, Debug, Default)]
pub struct Wanted<'a> {
    /// Of this run, of the runs of this loop, or of this session.
    pub run: Option<&'a str>,
    /// Of this task.
    pub task: Option<&'a str>,
}

/// What happened last.
#[derive(Clone, Debug)]
pub(crate) enum Last {
    /// Gate decided.
    Decided(Box<Record>),
    /// A stop was let go because gate could not decide, for this reason.
    Undecided(String),
}

/// A decision with what it was decided under.
#[derive(Clone, Debug)]
pub struct Past {
    /// The decision.
    pub record: Record,
    /// Its policy, where it was kept.
    pub policy: Option<Policy>,
    /// The decision, decided again from its record; none without its policy.
    pub again: Option<Decision>,
}

impl Past {
    /// Whether it comes out the same when it is decided again; none without
    /// its policy.
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
    pub fn latest(&mut self, wanted: &Wanted<'_>) -> Result<Option<Record>, Failure> {
        let tree = self.tree.clone();
        self.read(|reading| {
            let sealed = newest(reading, |sealed| wanted.is(sealed, &tree))?;
            sealed.as_ref().map(body::decision_of).transpose()
        })
    }

    /// What happened last about this work tree: a decision, or a stop that gate
    /// could not decide about and let go.
    ///
    /// # Errors
    ///
    /// A store that cannot be read.
    pub(crate) fn last(&mut self, wanted: &Wanted<'_>) -> Result<Option<Last>, Failure> {
        let tree = self.tree.clone();
        self.read(|reading| {
            let is_wanted = |it: &Sealed| wanted.is(it, &tree) || wanted.is_undecided(it, &tree);
            let found = newest(reading, is_wanted)?;
            let told = |sealed: &Sealed| match is_decision(sealed) {
                true => body::decision_of(sealed).map(|it| Last::Decided(Box::new(it))),
                false => Ok(Last::Undecided(text(sealed, "why").unwrap_or_default().to_owned())),
            };
            found.as_ref().map(told).transpose()
        })
    }

    /// Decisions about this work tree, the newest first: those of the records before
    /// this one, or the last ones; and before which record more may stand.
    ///
    /// # Errors
    ///
    /// A store that cannot be read.
    pub(crate) fn decisions(
        &mut self,
        before: Option<u64>,
    ) -> Result<(Vec<Record>, Option<u64>), Failure> {
        let tree = self.tree.clone();
        self.read(|reading| {
            let end = match before {
                Some(before) => before - 1,
                None => reading.head()?.seq,
            };
            let from = end.saturating_sub(PAGE - 1).max(1);
            let count = usize::try_from(end + 1 - from).unwrap_or(usize::MAX);
            let page = reading.entries(from, count)?;
            let of_tree = page.iter().rev().filter(|it| Wanted::default().is(it, &tree));
            let records = of_tree.map(body::decision_of).collect::<Result<_, _>>()?;
            Ok((records, Some(from).filter(|from| *from > 1)))
        })
    }

    /// A decision by its id or the beginning of it, or by its record's number.
    ///
    /// # Errors
    ///
    /// A store that cannot be read.
    pub fn decision(&mut self, named: &str) -> Result<Option<Record>, Failure> {
        let number = named.strip_prefix('#').unwrap_or(named).parse().ok();
        self.read(|reading| {
            let numbered = number.map(|seq| reading.entry(seq)).transpose()?.flatten();
            let sealed = match numbered.filter(is_decision) {
                None if named.len() >= 4 => reading.decision_by_id(named)?,
                found => found,
            };
            sealed.as_ref().map(body::decision_of).transpose()
        })
    }

    /// The decision decided again, under the policy that was kept with it.
    ///
    /// # Errors
    ///
    /// A store that cannot be read.
    pub fn replay(&mut self, record: Record) -> Result<Past, Failure> {
        let policy = self.policy(&record.policy_digest)?;
        let again = policy.as_ref().map(|policy| decide(&record.decision.input(), policy));
        Ok(Past { record, policy, again })
    }

    /// The policy that was kept under this digest; none where none was kept, or
    /// one that this gate cannot read.
    ///
    /// # Errors
    ///
    /// A store that cannot be read, and a policy that was changed.
    pub(crate) fn policy(&mut self, digest: &str) -> Result<Option<Policy>, Failure> {
        let Some(text) = self.examine(|reading, _| Ok(reading.policy(digest)?))? else {
            return Ok(None);
        };
        if gate_core::digest(text.as_bytes()) != digest {
            let message = format!("the policy {digest} was changed in the store");
            return Err(Failure::internal("state-corrupt", message));
        }
        Ok(serde_json::from_str(&text).ok())
    }
}

impl Memory {
    /// The byte that the latest reading of a session's transcript has come to,
    /// where one of the latest records says so. It is no more than a hint: what a
    /// decision needs is read whatever it says.
    pub(crate) fn read_before(&mut self, session: &str) -> Option<u64> {
        let of_session = |sealed: &Sealed| {
            let transcript = sealed.record.body.get("decision")?.get("transcript")?;
            let same = transcript.get("session")?.as_str()? == session;
            same.then(|| transcript.get("bytes")?.as_u64()).flatten()
        };
        let read = self.read(|reading| {
            let end = reading.head()?.seq;
            let page = reading.entries(end.saturating_sub(LATEST - 1).max(1), LATEST as usize)?;
            Ok(page.iter().rev().find_map(of_session))
        });
        read.ok().flatten()
    }
}

impl Wanted<'_> {
    fn is(&self, sealed: &Sealed, tree: &str) -> bool {
        let body = &sealed.record.body;
        let state =
            |key: &str| body.get("state").and_then(|it| it.get(key)).and_then(Value::as_str);
        let here = text(sealed, "tree") == Some(tree);
        let run = |name| {
            let session = || body.get("decision")?.get("observed")?.get("session")?.as_str();
            sealed.record.run.as_deref() == Some(name)
                || state("loop") == Some(name)
                || session() == Some(name)
        };
        is_decision(sealed)
            && (here || self.run.is_some())
            && self.run.is_none_or(run)
            && self.task.is_none_or(|task| state("task") == Some(task))
    }

    fn is_undecided(&self, sealed: &Sealed, tree: &str) -> bool {
        let of_run = self.run.is_none_or(|run| sealed.record.run.as_deref() == Some(run));
        sealed.record.kind == kind::UNDECIDED
            && text(sealed, "tree") == Some(tree)
            && of_run
            && self.task.is_none()
    }
}

/// A text of a record's body.
fn text<'s>(sealed: &'s Sealed, key: &str) -> Option<&'s str> {
    sealed.record.body.get(key).and_then(Value::as_str)
}

fn is_decision(sealed: &Sealed) -> bool {
    kind::is_decision(&sealed.record.kind)
}

/// The newest record of this kind.
fn newest(
    reading: &mut dyn Reading,
    is_wanted: impl Fn(&Sealed) -> bool,
) -> Result<Option<Sealed>, Failure> {
    let mut end = reading.head()?.seq;
    while end > 0 {
        let from = end.saturating_sub(PAGE - 1).max(1);
        let page = reading.entries(from, usize::try_from(end - from + 1).unwrap_or(usize::MAX))?;
        if let Some(found) = page.into_iter().rev().find(|sealed| is_wanted(sealed)) {
            return Ok(Some(found));
        }
        end = from - 1;
    }
    Ok(None)
}
