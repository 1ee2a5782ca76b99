//! The histories of a fleet's workers, compared with the ledger in the end.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// A call of a worker, from before it began until its answer was there. Times are microseconds by
/// one monotonic clock.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Call {
    pub(super) worker: usize,
    pub(super) begin: u64,
    pub(super) end: u64,
    pub(super) asked: Asked,
    pub(super) answer: Answer,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) enum Asked {
    Claim,
    Submit { item: String, lease: String },
    Release { item: String, lease: String },
    Check { run: String, iteration: u64 },
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) enum Answer {
    /// An item for so many microseconds.
    Lease { item: String, lease: String, lasts: u64 },
    /// It is recorded, under this number; a decision has an id, too.
    Recorded { seq: u64, decision: Option<String> },
    /// It was done, and is no record.
    Done,
    /// It was not done: nothing to claim, somebody else's lease.
    Refused,
    /// Nobody knows. What the command printed.
    Unknown(String),
}

/// A record of the ledger, as far as it matters here.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Record {
    pub(super) seq: u64,
    pub(super) body: Body,
}

#[derive(Clone, Debug, PartialEq)]
pub(super) enum Body {
    Decision {
        id: String,
        run: String,
        iteration: u64,
    },
    /// An item went to another phase by a lease.
    Step {
        item: String,
        lease: String,
    },
    Other,
}

impl Record {
    /// Reads a line of `gate ledger export`.
    pub(super) fn read(line: &Value) -> Self {
        let text = |value: &Value| value.as_str().map(str::to_owned);
        let body = &line["body"];
        let decision = text(&body["decision"]["decision_id"]);
        let step = (text(&body["work"]["id"]), text(&body["event"]["session_id"]));
        let read = match (decision, step) {
            (Some(id), _) => Body::Decision {
                id,
                run: text(&line["run"]).unwrap_or_default(),
                iteration: body["state"]["iteration"].as_u64().unwrap(),
            },
            (None, (Some(item), Some(lease))) => Body::Step { item, lease },
            _ => Body::Other,
        };
        Self { seq: line["seq"].as_u64().unwrap(), body: read }
    }
}

/// The calls of which nobody knows how they ended.
pub(super) fn unknown(calls: &[Call]) -> Vec<&Call> {
    calls.iter().filter(|call| matches!(call.answer, Answer::Unknown(_))).collect()
}

/// The contradictions. None if all is well.
pub(super) fn faults(calls: &[Call], ledger: &[Record]) -> Vec<String> {
    let mut faults = Vec::from_iter(numbers(ledger));
    faults.extend(repeated(ledger));
    faults.extend(held_twice(calls));
    faults.extend(calls.iter().filter_map(|call| answer_fault(call, ledger)));
    faults
}

/// Records are numbered from 1 without a gap.
fn numbers(ledger: &[Record]) -> Option<String> {
    let wrong = (1..).zip(ledger).find(|(number, record)| record.seq != *number);
    wrong.map(|(number, record)| format!("record {} stands where {number} belongs", record.seq))
}

/// The records that stand twice: an iteration, a decision, the end of a lease.
fn repeated(ledger: &[Record]) -> Vec<String> {
    let mut seen = BTreeSet::new();
    let keys = ledger.iter().flat_map(|record| match &record.body {
        Body::Decision { id, run, iteration } => {
            vec![format!("decision {id}"), format!("iteration {iteration} of {run}")]
        }
        Body::Step { item, lease } => vec![format!("step of {item} by lease {lease}")],
        Body::Other => Vec::new(),
    });
    keys.filter(|key| !seen.insert(key.clone())).map(|key| format!("{key}: twice")).collect()
}

/// A time in which a worker had an item for certain.
struct Hold<'a> {
    lease: &'a str,
    worker: usize,
    from: u64,
    to: u64,
}

impl fmt::Display for Hold<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Hold { lease, worker, from, to } = self;
        write!(f, "by worker {worker} from {from} to {to} µs (lease {lease})")
    }
}

/// No item is with two workers at a time, and no lease is given to two. Whoever claims again gets its
/// own lease, for longer.
fn held_twice(calls: &[Call]) -> Vec<String> {
    let mut faults = Vec::new();
    let mut leases = BTreeMap::new();
    let mut holds: BTreeMap<&str, Vec<Hold<'_>>> = BTreeMap::new();
    for call in calls {
        let Answer::Lease { item, lease, lasts } = &call.answer else { continue };
        if *leases.entry(lease).or_insert(call.worker) != call.worker {
            faults.push(format!("lease {lease} of {item}: given twice"));
        }
        // The database gave it after the call had begun, so it does not end before this.
        let expiry = call.begin + lasts;
        let ends = calls.iter().filter(|other| ends_lease(&other.asked, lease));
        let to = ends.map(|other| other.begin).min().unwrap_or(expiry).min(expiry);
        let hold = Hold { lease, worker: call.worker, from: call.end, to };
        if hold.from < hold.to {
            holds.entry(item).or_default().push(hold);
        }
    }
    for (item, mut holds) in holds {
        holds.sort_by_key(|hold| hold.from);
        let pairs = holds.windows(2);
        let pairs =
            pairs.filter(|pair| pair[1].lease != pair[0].lease && pair[1].from < pair[0].to);
        faults.extend(
            pairs.map(|pair| format!("{item} was held twice: {} and {}", pair[0], pair[1])),
        );
    }
    faults
}

fn ends_lease(asked: &Asked, of: &str) -> bool {
    match asked {
        Asked::Submit { lease, .. } | Asked::Release { lease, .. } => lease == of,
        Asked::Claim | Asked::Check { .. } => false,
    }
}

/// An answer that the ledger does not bear out.
fn answer_fault(call: &Call, ledger: &[Record]) -> Option<String> {
    let found = |is_right: &dyn Fn(&Record) -> bool| {
        ledger.iter().filter(|record| is_right(record)).count()
    };
    let problem = match (&call.asked, &call.answer) {
        (Asked::Submit { item, lease }, Answer::Recorded { seq, .. }) => {
            let step = Body::Step { item: item.clone(), lease: lease.clone() };
            let right = found(&|record| record.seq == *seq && record.body == step);
            if right == 1 { None } else { Some("an acknowledged submit is missing") }
        }
        (Asked::Submit { lease, .. }, Answer::Refused) => {
            let is_step = |record: &Record| matches!(&record.body, Body::Step { lease: by, .. } if by == lease);
            if found(&is_step) == 0 { None } else { Some("a refused submit is recorded") }
        }
        (Asked::Check { run, iteration }, Answer::Recorded { seq, decision: Some(id) }) => {
            let (id, run, iteration) = (id.clone(), run.clone(), *iteration);
            let decision = Body::Decision { id, run, iteration };
            let right = found(&|record| record.seq == *seq && record.body == decision);
            if right == 1 { None } else { Some("an acknowledged decision is missing") }
        }
        (Asked::Claim, Answer::Lease { .. } | Answer::Refused)
        | (Asked::Release { .. }, Answer::Done | Answer::Refused)
        | (_, Answer::Unknown(_)) => None,
        _ => Some("an answer to another question"),
    };
    problem.map(|problem| format!("{problem}: {call:?}"))
}
