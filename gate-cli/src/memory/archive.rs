//! Moves old decisions out of the store to an archive.
//!
//! Nothing may rest on a decision that leaves. So these stay:
//!
//! * every record from the first one on that is younger than the limit: 30 days at least, because
//!   an approval of changed tests ends with an exit after it, and holds for 30 days;
//! * the latest decision of each loop and of each task, which has its state;
//! * all decisions of a run that had one since: its iterations may be asked for again. A run is
//!   over after 12 hours without one, and the next run has another name;
//! * a decision that an operator marked as wrong, and the one that is marked as the ledger's head;
//! * every record that is no decision.

use std::collections::{HashMap, HashSet};
use std::io;
use std::path::Path;
use std::time::Duration;

use gate_core::history::kind;
use gate_core::ledger::{Draft, Sealed};
use jiff::Timestamp;
use serde_json::json;

use super::{Memory, body, no_place, wrong};
use crate::archive::{Archive, ArchiveFolder, ArchiveWriter, Archives, FOLDER, WrittenArchive};
use crate::failure::Failure;
use crate::operator::Operator;
use crate::record::Ledger;
use crate::store::{Keys, Outline, Reading, StoreError};

/// The shortest time for which records stay in the store.
pub(crate) const MIN_AGE: Duration = Duration::from_secs(30 * 24 * 60 * 60);

/// Records that are read at once.
const PAGE_RECORDS: usize = 256;

/// Decisions that left the store, or that would.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct ArchivedDecisions {
    /// Their number.
    pub(crate) count: u64,
    /// Their size in bytes, as they are exported.
    pub(crate) bytes: u64,
    /// The archive, and the record about it. None if nothing was archived.
    pub(crate) archive: Option<(Archive, Ledger)>,
}

impl Memory {
    /// The archives that the records of the ledger name.
    ///
    /// # Errors
    ///
    /// A store that cannot be read.
    pub(crate) fn archives(&mut self) -> Result<Archives, StoreError> {
        let (mut view, _) = self.store.examine(&self.project)?;
        let named = archives_in(&mut *view)?;
        drop(view);
        Ok(Archives::new(named, self.state.as_deref()))
    }

    /// The decisions that could be archived.
    ///
    /// # Errors
    ///
    /// A store that cannot be read.
    pub(crate) fn archivable(&mut self, before: Timestamp) -> Result<ArchivedDecisions, Failure> {
        let mut found = ArchivedDecisions::default();
        self.each_archivable(before, |sealed| {
            found.add(&sealed);
            Ok(())
        })?;
        Ok(found)
    }

    /// Archives decisions in this folder, or in the usual one. They leave the store once the
    /// archive is on the disk, all in one transaction.
    ///
    /// # Errors
    ///
    /// A store or a folder that cannot be written, a role that may not delete rows, a record that
    /// was changed.
    pub(crate) fn archive(
        &mut self,
        before: Timestamp,
        folder: Option<&Path>,
        operator: &Operator,
    ) -> Result<ArchivedDecisions, Failure> {
        let state = self.state.clone().ok_or_else(no_place)?;
        let folder = folder.map_or_else(|| state.join(FOLDER), Path::to_owned);
        let unwritable = |error: io::Error| {
            Failure::file("archive-unwritable", "write an archive to", &folder, &error)
        };
        self.may_remove()?;
        let open = ArchiveFolder::open(&folder).map_err(unwritable)?;
        let mut writer = ArchiveWriter::begin(&open).map_err(unwritable)?;
        let mut found = ArchivedDecisions::default();
        let plan = self.each_archivable(before, |sealed| {
            found.add(&sealed);
            writer.add(sealed).map_err(unwritable)
        })?;
        let written = writer.finish(&state, &self.project).map_err(unwritable)?;
        let Some(written) = written else { return Ok(found) };
        match self.remove_archived(&plan, &written, operator) {
            Ok(place) => Ok(ArchivedDecisions { archive: Some((written.archive, place)), ..found }),
            // It is not known if the record about it was kept.
            Err(failure) if failure.code == "state-uncertain" => Err(failure),
            Err(failure) => {
                written.discard();
                Err(failure)
            }
        }
    }

    /// Removes what is in an archive, and records that.
    fn remove_archived(
        &mut self,
        plan: &Plan,
        written: &WrittenArchive,
        operator: &Operator,
    ) -> Result<Ledger, Failure> {
        let body = body::body(&json!({ "archive": written.archive, "by": operator }))?;
        let mut transaction = self.begin()?;
        let last = transaction.entry(written.archive.last)?;
        let is_outdated = last.is_none_or(|last| last.record.hash() != written.archive.head)
            || archives_in(&mut *transaction)?.len() != plan.archives
            || wrong::marked_numbers(&mut *transaction)?.len() != plan.wrong;
        if is_outdated {
            let message = "somebody else changed the ledger meanwhile: archived, marked, restored";
            return Err(Failure::internal("state-busy", message).hint("try again"));
        }
        for (from, to) in &plan.ranges {
            transaction.remove_decisions(*from, *to)?;
        }
        let sealed = transaction.append(Draft {
            time: Timestamp::now().to_string(),
            kind: kind::ARCHIVED.to_owned(),
            run: None,
            actor: operator.actor(),
            body,
        })?;
        transaction.commit()?;
        Ok(body::place(&sealed))
    }

    /// Fails if this role may not remove rows, before an archive is written in vain.
    fn may_remove(&mut self) -> Result<(), Failure> {
        // No record has the number 0. PostgreSQL looks at the right all the same.
        let tried = self.begin()?.remove_decisions(0, 0);
        tried.map_err(|error| match error {
            StoreError::Refused { .. } => Failure::from(error).hint(
                "archiving needs the right DELETE on the table `ledger`, which a fleet's role \
                 should not have: run it as the owner of the tables",
            ),
            error => error.into(),
        })
    }

    /// Hands on each decision that may leave the store, in the order of their numbers.
    fn each_archivable(
        &mut self,
        before: Timestamp,
        mut take: impl FnMut(Sealed) -> Result<(), Failure>,
    ) -> Result<Plan, Failure> {
        let (_, marked) = self.store.examine(&self.project)?;
        let mut view = self.store.read(&self.project)?;
        let wrong = wrong::marked_numbers(&mut *view)?;
        let archives = archives_in(&mut *view)?.len();
        let mut plan = Plan { ranges: Vec::new(), archives, wrong: wrong.len() };
        let mut needed = Needed::read(&mut *view, before)?;
        needed.numbers.extend(wrong);
        needed.numbers.extend(marked.map(|marked| marked.seq));
        let (mut next, mut is_new_range) = (1, true);
        loop {
            let page = view.entries(next, PAGE_RECORDS)?;
            let Some(last) = page.last() else { return Ok(plan) };
            next = last.record.seq.saturating_add(1);
            for sealed in page {
                let seq = sealed.record.seq;
                if seq >= needed.from {
                    return Ok(plan);
                }
                if Keys::new(&sealed.record).decision_id.is_none() {
                    continue;
                }
                if needed.numbers.contains(&seq) || needed.is_in_use(&sealed) {
                    is_new_range = true;
                    continue;
                }
                if sealed.record.hash() != sealed.hash {
                    let message = format!("record {seq} was changed: it does not fit its hash");
                    return Err(Failure::internal("state-corrupt", message)
                        .hint("`gate ledger verify` shows what else does not hold"));
                }
                plan.add(seq, is_new_range);
                is_new_range = false;
                take(sealed)?;
            }
        }
    }
}

impl ArchivedDecisions {
    fn add(&mut self, sealed: &Sealed) {
        self.count += 1;
        self.bytes += sealed.to_line().len() as u64 + 1;
    }
}

/// The decisions to remove, and what they were found with.
struct Plan {
    /// The first and the last number of decisions without one between them that stays.
    ranges: Vec<(u64, u64)>,
    archives: usize,
    wrong: usize,
}

impl Plan {
    fn add(&mut self, seq: u64, is_new_range: bool) {
        match self.ranges.last_mut() {
            Some((_, last)) if !is_new_range => *last = seq,
            _ => self.ranges.push((seq, seq)),
        }
    }
}

/// The decisions that something may rest on.
struct Needed {
    /// The number of the first record that is young, or whose time cannot be read.
    from: u64,
    numbers: HashSet<u64>,
    /// Runs with a decision that is young.
    runs: HashSet<String>,
}

impl Needed {
    fn read(view: &mut dyn Reading, before: Timestamp) -> Result<Self, StoreError> {
        let (mut from, mut runs) = (u64::MAX, HashSet::new());
        let (mut loops, mut tasks) = (HashMap::new(), HashMap::new());
        let mut next = 1;
        loop {
            let page = view.outlines(next, PAGE_RECORDS)?;
            let Some(last) = page.last() else { break };
            next = last.seq.saturating_add(1);
            for outline in page {
                let Outline { seq, time, run, task, in_loop, is_decision } = outline;
                let is_old = time.parse::<Timestamp>().is_ok_and(|time| time < before);
                if !is_old {
                    from = from.min(seq);
                }
                if !is_decision {
                    continue;
                }
                if seq >= from {
                    runs.extend(run);
                }
                loops.insert(in_loop, seq);
                tasks.insert(task, seq);
            }
        }
        let numbers = loops.into_values().chain(tasks.into_values()).collect();
        Ok(Self { from, numbers, runs })
    }

    /// True if the decision is of a run that had one since, or of a type that is not known.
    fn is_in_use(&self, sealed: &Sealed) -> bool {
        let run = sealed.record.run.as_ref();
        !kind::is_decision(&sealed.record.kind) || run.is_some_and(|run| self.runs.contains(run))
    }
}

fn archives_in(view: &mut dyn Reading) -> Result<Vec<Archive>, StoreError> {
    let records = view.entries_of_type(kind::ARCHIVED, usize::MAX)?;
    Ok(records.iter().rev().filter_map(Archive::named_by).collect())
}
