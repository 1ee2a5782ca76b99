//! `gate ledger verify`: finds the first record that does not hold.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Seek};
use std::ops::ControlFlow;
use std::path::Path;

use gate_core::Policy;
use gate_core::history::History;
use gate_core::ledger::{Chain, Fault, Head, LONGEST_LINE, MovedOut, Problem, Record, Sealed};
use gate_fleet::work::{ReplayedItems, WorkError};

use super::Verify;
use super::card::{LedgerProblem, LedgerReport, VerifyRecord, verified_card};
use super::store::StoreRecord;
use crate::commands::common::DONE;
use crate::commands::{entries::PAGE_RECORDS, log};
use crate::failure::Failure;
use crate::invocation::Invocation;
use crate::memory::{self, Memory};
use crate::record::VERSION;
use crate::render;
use crate::render::print;
use crate::store::{self, PATIENCE, StoreError};

/// Exit code of a ledger that does not hold.
const BROKEN: u8 = 1;

pub(super) fn run(invocation: &Invocation, args: &Verify) -> Result<u8, Failure> {
    let chain = args.head.into_iter().fold(Chain::new(), Chain::against);
    let record = match &args.file {
        Some(file) => {
            let ledger = verify_export(chain, invocation, file)?;
            VerifyRecord { ledger, store: None, next: None }
        }
        None => verify_store(chain, invocation)?,
    };
    print(&if args.json { render::json(&record)? } else { verified_card(&record) })?;
    Ok(if record.ledger.ok { DONE } else { BROKEN })
}

/// Verifies the project's own ledger, and the store that it is in.
fn verify_store(chain: Chain, invocation: &Invocation) -> Result<VerifyRecord, Failure> {
    let place = memory::place(&invocation.places)?;
    // Before the ledger is opened, which closes a file that others could read: the condition has
    // to name such a file.
    let condition = store::condition(&place, PATIENCE)?;
    let mut memory = log::open_ledger(invocation)?;
    let report = match (verify_ledger(chain, &mut memory), condition.problems.first()) {
        (Err(_), Some(problem)) => LedgerReport::unread(problem),
        (report, _) => report?,
    };
    let store = StoreRecord::new(invocation, &place, condition, memory.project(), &report)?;
    let store_problem = store.as_ref().and_then(StoreRecord::problem);
    let next = match memory.view() {
        Err(lost @ StoreError::Lost { .. }) => Failure::from(lost).hint,
        _ => None,
    };
    Ok(VerifyRecord { ledger: report.with_problem(store_problem), store, next })
}

/// A ledger that is followed from its beginning: its chain, and the state that its records lead to.
struct LedgerWalk {
    chain: Chain,
    /// The last record that holds in every way.
    last_sound: Head,
    history: History,
    work_items: ReplayedItems,
    /// The policies of decisions by their digests; `None` for a policy that the store lacks.
    policies: BTreeMap<String, Option<Policy>>,
}

impl LedgerWalk {
    fn new(chain: Chain) -> Self {
        Self {
            chain,
            last_sound: Head::EMPTY,
            history: History::default(),
            work_items: ReplayedItems::default(),
            policies: BTreeMap::new(),
        }
    }

    /// Takes the next record, which has to be tied to the record before it, and to be the outcome of
    /// all records before it.
    fn add(&mut self, memory: &mut Memory, sealed: &Sealed) -> Result<(), LedgerProblem> {
        let Sealed { record, .. } = sealed;
        let missing_before = self.chain.missing();
        self.chain.push(sealed)?;
        if self.chain.missing() != missing_before {
            self.history.skip();
        }
        self.load_policy(memory, record)?;
        // Another version of gate may decide otherwise, so its decisions are not made again.
        let is_decided_again = decision_text(record, "gate_version") == Some(VERSION);
        let policies = &self.policies;
        self.history.apply(record, &|digest| {
            if is_decided_again { policies.get(digest).cloned().flatten() } else { None }
        })?;
        self.work_items.apply(record).map_err(|error| contradiction(record.seq, &error))?;
        self.last_sound = self.chain.head();
        Ok(())
    }

    /// Loads the policy of a decision, if the store has it.
    fn load_policy(&mut self, memory: &mut Memory, record: &Record) -> Result<(), LedgerProblem> {
        if let Some(digest) = decision_text(record, "policy_digest")
            && !self.policies.contains_key(digest)
        {
            let policy = memory.policy(digest).map_err(|failure| LedgerProblem {
                seq: Some(record.seq),
                message: failure.message,
            })?;
            self.policies.insert(digest.to_owned(), policy);
        }
        Ok(())
    }

    fn report(&self, problem: Option<LedgerProblem>) -> LedgerReport {
        let undecided = Some(self.history.undecided().len());
        LedgerReport::new(&self.chain, self.last_sound, undecided, problem)
    }
}

/// A record that contradicts those before it.
fn contradiction(seq: u64, error: &WorkError) -> LedgerProblem {
    LedgerProblem { seq: Some(seq), message: format!("record {seq}: {error}") }
}

/// A text of a decision, by its key.
fn decision_text<'r>(record: &'r Record, key: &str) -> Option<&'r str> {
    record.body.get("decision")?.get(key)?.as_str()
}

/// Follows the chain through an export. The state that its records lead to is not verified: an
/// export holds no policies, and may be another project's.
fn verify_export(
    chain: Chain,
    invocation: &Invocation,
    file: &Path,
) -> Result<LedgerReport, Failure> {
    let outcome = if file == Path::new("-") {
        // The lines are read twice, and the standard input can be read once.
        tempfile::tempfile().and_then(|mut copy| {
            io::copy(&mut io::stdin().lock(), &mut copy)?;
            follow_lines(&mut copy, chain)
        })
    } else {
        File::open(invocation.places.folder.join(file))
            .and_then(|mut file| follow_lines(&mut file, chain))
    };
    let chain = outcome.map_err(|error| {
        let failure = Failure::file("input-unreadable", "read the ledger", file, &error);
        Failure { exit_code: 2, ..failure }
    })?;
    Ok(LedgerReport::new(&chain, chain.head(), None, None))
}

/// Follows the chain through the lines of a file, up to its end or to the first problem, which the
/// chain keeps.
fn follow_lines(file: &mut File, chain: Chain) -> io::Result<Chain> {
    // A later line tells which records were moved out, so all lines are read before the chain is
    // followed.
    let mut moved_out = Vec::new();
    file.rewind()?;
    for_each_line(file, |line| {
        let sealed = Sealed::from_line(line).ok();
        moved_out.extend(sealed.and_then(|sealed| MovedOut::named_by(&sealed.record)));
        ControlFlow::Continue(())
    })?;
    let mut chain = chain.without(moved_out);
    file.rewind()?;
    for_each_line(file, |line| match chain.push_line(line) {
        Ok(_) => ControlFlow::Continue(()),
        Err(_) => ControlFlow::Break(()),
    })?;
    Ok(chain)
}

/// Hands on each line of a file without its line break.
fn for_each_line(file: &File, mut take: impl FnMut(&[u8]) -> ControlFlow<()>) -> io::Result<()> {
    let (mut reader, mut line) = (BufReader::new(file), Vec::new());
    // One byte more than a line may have: its line break, or the byte that makes it too long.
    let most_bytes = LONGEST_LINE as u64 + 1;
    while reader.by_ref().take(most_bytes).read_until(b'\n', &mut line)? > 0 {
        line.pop_if(|last| *last == b'\n');
        if take(&line).is_break() {
            break;
        }
        line.clear();
    }
    Ok(())
}

/// Verifies the ledger's records as they are, whatever is missing after them.
pub(super) fn verify_without_mark(memory: &mut Memory) -> Result<LedgerReport, Failure> {
    follow_records(Chain::new(), memory)
}

/// Verifies a ledger, whatever else is in its store. The head that is marked has to be in it. Damage
/// that the store finds is a problem like any other.
pub(super) fn verify_ledger(chain: Chain, memory: &mut Memory) -> Result<LedgerReport, Failure> {
    let known_head = match memory.examine() {
        // A file that is no database any more does not hold.
        Err(error @ StoreError::Corrupt { .. }) => {
            let problem = LedgerProblem { seq: None, message: error.to_string() };
            return Ok(LedgerWalk::new(chain).report(Some(problem)));
        }
        examination => examination?.known_head,
    };
    follow_records(known_head.into_iter().fold(chain, Chain::against), memory)
}

fn follow_records(chain: Chain, memory: &mut Memory) -> Result<LedgerReport, Failure> {
    let mut walk = LedgerWalk::new(chain);
    walk.chain = match memory.moved_out() {
        Err(error @ StoreError::Corrupt { .. }) => return Ok(walk.report(Some(error.into()))),
        moved_out => walk.chain.without(moved_out?),
    };
    loop {
        let RecordPage { records, damage } = record_page(memory, walk.chain.head().seq + 1)?;
        for sealed in &records {
            if let Err(problem) = walk.add(memory, sealed) {
                return Ok(walk.report(Some(problem)));
            }
        }
        if let Some(damage) = damage {
            return Ok(walk.report(Some(damage_or_gap(&walk.chain, damage))));
        }
        if records.len() < PAGE_RECORDS {
            let is_whole = walk.chain.end().is_ok();
            let problem = if is_whole { work_item_problem(&walk, memory)? } else { None };
            return Ok(walk.report(problem));
        }
    }
}

/// The first contradiction between the rows of work items and records that are sound.
fn work_item_problem(
    walk: &LedgerWalk,
    memory: &mut Memory,
) -> Result<Option<LedgerProblem>, Failure> {
    match memory.contradicted_row(&walk.work_items, walk.chain.head().seq) {
        Err(failure) if failure.code == "state-corrupt" => {
            Ok(Some(LedgerProblem { seq: None, message: failure.message }))
        }
        contradiction => {
            Ok(contradiction?.map(|(seq, message)| LedgerProblem { seq: Some(seq), message }))
        }
    }
}

/// The damage of the row after the records of a chain; or the gap, if records before that row are
/// missing.
fn damage_or_gap(chain: &Chain, damage: LedgerProblem) -> LedgerProblem {
    let seq = chain.head().seq + 1;
    match damage.seq {
        Some(found) if !chain.may_follow(found) => {
            Problem { seq, fault: Fault::Number { found } }.into()
        }
        _ => damage,
    }
}

/// Records of a ledger, in order.
struct RecordPage {
    records: Vec<Sealed>,
    /// The damage of the row after them.
    damage: Option<LedgerProblem>,
}

/// At most [`PAGE_RECORDS`] records, from a number on.
fn record_page(memory: &mut Memory, first_seq: u64) -> Result<RecordPage, Failure> {
    let mut view = memory.examine()?.view;
    match view.entries(first_seq, PAGE_RECORDS) {
        Err(error @ StoreError::Corrupt { .. }) => {
            // One bad row fails the whole page. The longest page that can be read ends before it.
            let mut limits = (0..PAGE_RECORDS).rev();
            let records = limits.find_map(|limit| view.entries(first_seq, limit).ok());
            Ok(RecordPage { records: records.unwrap_or_default(), damage: Some(error.into()) })
        }
        records => Ok(RecordPage { records: records?, damage: None }),
    }
}
