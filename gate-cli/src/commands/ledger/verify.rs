//! `gate ledger verify`: finds the first record that does not hold.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Seek};
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
            VerifyRecord { ledger: exported(chain, invocation, file)?, store: None, next: None }
        }
        None => own_ledger(chain, invocation)?,
    };
    print(&if args.json { render::json(&record)? } else { verified_card(&record) })?;
    Ok(if record.ledger.ok { DONE } else { BROKEN })
}

/// The project's own ledger, in a store that is sound as well.
fn own_ledger(chain: Chain, invocation: &Invocation) -> Result<VerifyRecord, Failure> {
    let place = memory::place(&invocation.places)?;
    // Looked at first: whoever opens a file that others could read closes it.
    let condition = store::condition(&place, PATIENCE)?;
    let mut memory = log::opened(invocation)?;
    let ledger = match (recorded(LedgerWalk::new(chain), &mut memory), condition.problems.first()) {
        (Err(_), Some(problem)) => LedgerReport::unread(problem),
        (ledger, _) => ledger?,
    };
    let store = StoreRecord::new(invocation, &place, condition, memory.project(), &ledger)?;
    let problem = store.as_ref().and_then(StoreRecord::problem);
    let next = match memory.view() {
        Err(lost @ StoreError::Lost { .. }) => Failure::from(lost).hint,
        _ => None,
    };
    Ok(VerifyRecord { ledger: ledger.with(problem), store, next })
}

/// A ledger up to the head that is marked and on, whatever else is in its store.
pub(super) fn ledger(memory: &mut Memory) -> Result<LedgerReport, Failure> {
    recorded(LedgerWalk::new(Chain::new()), memory)
}

/// A ledger that is followed from its beginning: its chain, and what its
/// records come to.
struct LedgerWalk {
    chain: Chain,
    /// The last record that holds in every way.
    last_sound: Head,
    history: History,
    /// The state of the work items.
    book: ReplayedItems,
    policies: BTreeMap<String, Option<Policy>>,
}

impl LedgerWalk {
    fn new(chain: Chain) -> Self {
        Self {
            chain,
            last_sound: Head::EMPTY,
            history: History::default(),
            book: ReplayedItems::default(),
            policies: BTreeMap::new(),
        }
    }

    /// The next record, which has to follow the one before it, and from all before it.
    fn add(&mut self, memory: &mut Memory, sealed: &Sealed) -> Result<(), LedgerProblem> {
        let missing = self.chain.missing();
        self.chain.push(sealed)?;
        if self.chain.missing() != missing {
            self.history.skip();
        }
        self.learn(memory, &sealed.record)?;
        self.follow(&sealed.record)
    }

    /// The next record, which has to follow from those before it.
    fn follow(&mut self, record: &Record) -> Result<(), LedgerProblem> {
        // Another version of gate may decide otherwise.
        let ours = decided(record, "gate_version") == Some(VERSION);
        let policies = &self.policies;
        self.history.apply(record, &|digest| {
            if ours { policies.get(digest).cloned().flatten() } else { None }
        })?;
        self.book.apply(record).map_err(|error| contradiction(record.seq, &error))?;
        self.last_sound = self.chain.head();
        Ok(())
    }

    /// Loads the policy of a decision, if the store has it.
    fn learn(&mut self, memory: &mut Memory, record: &Record) -> Result<(), LedgerProblem> {
        if let Some(digest) = decided(record, "policy_digest")
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

    fn verified(&self, wrong: Option<LedgerProblem>) -> LedgerReport {
        let undecided = Some(self.history.undecided().len());
        LedgerReport::new(&self.chain, self.last_sound, undecided, wrong)
    }
}

/// A record that contradicts those before it.
fn contradiction(seq: u64, error: &WorkError) -> LedgerProblem {
    LedgerProblem { seq: Some(seq), message: format!("record {seq}: {error}") }
}

/// A text of a decision's record, by its key.
fn decided<'r>(record: &'r Record, name: &str) -> Option<&'r str> {
    record.body.get("decision")?.get(name)?.as_str()
}

/// Follows the chain through an export. The state that its records lead to is not verified: an
/// export holds no policies, and may be another project's.
fn exported(chain: Chain, invocation: &Invocation, file: &Path) -> Result<LedgerReport, Failure> {
    let followed = if file == Path::new("-") {
        // What was moved out is known from later lines, so all of it is read twice.
        tempfile::tempfile().and_then(|mut copy| {
            io::copy(&mut io::stdin().lock(), &mut copy)?;
            follow(&mut copy, chain)
        })
    } else {
        File::open(invocation.places.folder.join(file))
            .and_then(|mut file| follow(&mut file, chain))
    };
    let (chain, problem) = followed.map_err(|error| {
        let failure = Failure::file("input-unreadable", "read the ledger", file, &error);
        Failure { exit_code: 2, ..failure }
    })?;
    Ok(LedgerReport::new(&chain, chain.head(), None, problem.map(LedgerProblem::from)))
}

/// Follows the lines of a file. Returns the first problem.
fn follow(file: &mut File, chain: Chain) -> io::Result<(Chain, Option<Problem>)> {
    let mut moved_out = Vec::new();
    file.rewind()?;
    let _ = lines(file, |line| {
        let sealed = Sealed::from_line(line).ok();
        moved_out.extend(sealed.and_then(|sealed| MovedOut::named_by(&sealed.record)));
        Ok(())
    })?;
    let mut chain = chain.without(moved_out);
    file.rewind()?;
    let problem = lines(file, |line| chain.push_line(line).map(drop))?.err();
    Ok((chain, problem))
}

/// Hands on each line of a file without its end, up to the first problem.
fn lines(
    file: &File,
    mut take: impl FnMut(&[u8]) -> Result<(), Problem>,
) -> io::Result<Result<(), Problem>> {
    let (mut from, mut line) = (BufReader::new(file), Vec::new());
    // One byte more than a line may have: its end, or one too many.
    let longest = LONGEST_LINE as u64 + 1;
    while from.by_ref().take(longest).read_until(b'\n', &mut line)? > 0 {
        line.pop_if(|last| *last == b'\n');
        if let Err(problem) = take(&line) {
            return Ok(Err(problem));
        }
        line.clear();
    }
    Ok(Ok(()))
}

/// The ledger's records as they are, whatever is missing after them.
pub(super) fn without_mark(memory: &mut Memory) -> Result<LedgerReport, Failure> {
    followed(LedgerWalk::new(Chain::new()), memory)
}

/// Follows the project's own ledger, up to the head that is marked and on.
/// Damage that the store finds is a problem like any other.
fn recorded(mut following: LedgerWalk, memory: &mut Memory) -> Result<LedgerReport, Failure> {
    let marked = match memory.examine() {
        // A file that is no database any more does not hold.
        Err(error @ StoreError::Corrupt { .. }) => {
            let wrong = LedgerProblem { seq: None, message: error.to_string() };
            return Ok(following.verified(Some(wrong)));
        }
        examined => examined?.1,
    };
    following.chain = marked.into_iter().fold(following.chain, Chain::against);
    followed(following, memory)
}

fn followed(mut following: LedgerWalk, memory: &mut Memory) -> Result<LedgerReport, Failure> {
    following.chain = match memory.moved_out() {
        Err(error @ StoreError::Corrupt { .. }) => {
            return Ok(following.verified(Some(error.into())));
        }
        moved_out => following.chain.without(moved_out?),
    };
    loop {
        let (page, damage) = page(memory, following.chain.head().seq + 1)?;
        for sealed in &page {
            if let Err(wrong) = following.add(memory, sealed) {
                return Ok(following.verified(Some(wrong)));
            }
        }
        let damage = damage.map(|wrong| behind(&following.chain, wrong));
        if damage.is_some() || page.len() < PAGE_RECORDS {
            let wrong = match damage {
                None if following.chain.end().is_ok() => misplaced(&following, memory)?,
                damage => damage,
            };
            return Ok(following.verified(wrong));
        }
    }
}

/// A contradiction between the rows of work items and records that are sound.
fn misplaced(
    following: &LedgerWalk,
    memory: &mut Memory,
) -> Result<Option<LedgerProblem>, Failure> {
    match memory.misplaced(&following.book, following.chain.head().seq) {
        Err(failure) if failure.code == "state-corrupt" => {
            Ok(Some(LedgerProblem { seq: None, message: failure.message }))
        }
        found => Ok(found?.map(|(seq, message)| LedgerProblem { seq: Some(seq), message })),
    }
}

/// Damage behind the records of a chain; or the gap, if records before it are missing.
fn behind(chain: &Chain, damage: LedgerProblem) -> LedgerProblem {
    let seq = chain.head().seq + 1;
    match damage.seq {
        Some(found) if !chain.may_follow(found) => {
            Problem { seq, fault: Fault::Number { found } }.into()
        }
        _ => damage,
    }
}

/// The next records, and what is wrong with the row behind them.
fn page(memory: &mut Memory, from: u64) -> Result<(Vec<Sealed>, Option<LedgerProblem>), Failure> {
    let (mut view, _) = memory.examine()?;
    match view.entries(from, PAGE_RECORDS) {
        Err(error @ StoreError::Corrupt { .. }) => {
            let before = (0..PAGE_RECORDS).rev().find_map(|limit| view.entries(from, limit).ok());
            Ok((before.unwrap_or_default(), Some(error.into())))
        }
        page => Ok((page?, None)),
    }
}
