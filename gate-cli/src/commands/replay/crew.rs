//! The threads that read files: each with a gate of its own.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;

use gate_checks::CheckSite;
use gate_core::config::Resolved;
use gate_core::decide::policy::When;
use gate_core::read::Forced;

use super::board::Board;
use super::inputs::Input;
use super::labels::Labels;
use super::sniff::{self, Passed};
use crate::failure::Failure;
use crate::gate::{Gate, Replayed, Step};
use crate::replay::{Judged, ROW, ReplayRecord};
use crate::source::Source;

/// What was found in a file.
#[derive(Debug)]
pub(super) enum Told {
    /// One of its iterations.
    Row(Box<ReplayRecord>),
    /// That it is no transcript.
    Passed(Passed),
}

/// What all threads work on.
#[derive(Debug)]
pub(super) struct Work {
    pub(super) inputs: Vec<Input>,
    pub(super) labels: Labels,
    pub(super) settings: Resolved,
    pub(super) site: CheckSite,
    pub(super) format: Option<Forced>,
    /// How many files are read at once.
    pub(super) jobs: usize,
    pub(super) board: Board<Told>,
    /// How many bytes were read.
    pub(super) read: AtomicU64,
}

/// Begins to read, with a thread a job. They end when all is read, and with the
/// program.
///
/// # Errors
///
/// Settings that make no gate; a system that starts no thread.
pub(super) fn start(work: &Arc<Work>) -> Result<(), Failure> {
    work.gate()?;
    for _ in 0..work.jobs.min(work.inputs.len()) {
        let work = work.clone();
        let started = thread::Builder::new().spawn(move || work.run());
        started.map_err(|error| Failure::internal("threads", format!("no thread: {error}")))?;
    }
    Ok(())
}

impl Work {
    /// A gate that decides as `gate check` would.
    pub(super) fn gate(&self) -> Result<Gate, Failure> {
        let gate = Gate::open(self.settings.clone(), self.site.clone())?;
        Ok(gate.at(When::Check))
    }

    fn run(&self) {
        let Ok(gate) = self.gate() else { return };
        while let Some(file) = self.board.take() {
            // A defect is one file's: the others are read all the same.
            if catch_unwind(AssertUnwindSafe(|| self.file(&gate, file))).is_err() {
                let defect = Failure::internal("defect", "gate has a defect; please report it");
                self.fail(file, 0, defect);
            }
            self.board.end(file);
        }
    }

    fn file(&self, gate: &Gate, file: usize) {
        let input = &self.inputs[file];
        if let Some(failure) = &input.error {
            return self.fail(file, 0, failure.clone());
        }
        let passed = if input.wanted { None } else { sniff::look(&input.path) };
        if let Some(passed) = passed {
            self.read.fetch_add(input.size, Ordering::Relaxed);
            return self.board.put(file, Told::Passed(passed));
        }
        // Whether an iteration is the last is known when the next one comes.
        let mut before: Option<ReplayRecord> = None;
        let mut rows = 0;
        let source = Source::File(input.path.clone());
        let read = gate.replay(&source, self.format, &mut |step| match step {
            Step::Read(bytes) => {
                self.read.fetch_add(bytes, Ordering::Relaxed);
            }
            Step::Iteration(replayed) => {
                let row = row(gate, input, rows, *replayed);
                rows += 1;
                if let Some(before) = before.replace(row) {
                    self.tell(file, before, false);
                }
            }
        });
        if let Some(last) = before {
            self.tell(file, last, read.is_ok());
        }
        if let Err(failure) = read {
            self.fail(file, rows, failure);
        }
    }

    fn tell(&self, file: usize, row: ReplayRecord, last: bool) {
        let id = self.inputs[file].id;
        let label = id.and_then(|id| self.labels.get(id, row.iteration, last));
        let judged = label.zip(row.verdict);
        let judged = judged.map(|(it, verdict)| Judged::of(verdict, it.label, it.ambiguous));
        let row = ReplayRecord {
            label: label.map(|it| it.label),
            ambiguous: label.is_some_and(|it| it.ambiguous),
            judged,
            ..row
        };
        self.board.put(file, Told::Row(Box::new(row)));
    }

    fn fail(&self, file: usize, rows: u64, failure: Failure) {
        let input = &self.inputs[file];
        let row = ReplayRecord { error: Some(failure), ..empty(input, rows) };
        self.tell(file, row, true);
    }
}

fn row(gate: &Gate, input: &Input, before: u64, replayed: Replayed) -> ReplayRecord {
    let Replayed { first_line, bytes, duration_ms, verdict, decision, transcript } = replayed;
    ReplayRecord {
        first_line,
        verdict: Some(verdict),
        signal: Some(decision.signal),
        indicators: Some(decision.indicators),
        reasons: decision.reasons,
        warnings: decision.warnings,
        next: decision.next,
        assumed: gate.policy().checks.keys().cloned().collect(),
        transcript: Some(transcript),
        bytes,
        duration_ms,
        ..empty(input, before)
    }
}

/// A row of which only the place is known.
fn empty(input: &Input, before: u64) -> ReplayRecord {
    ReplayRecord {
        schema: ROW,
        file: input.shown.clone(),
        iteration: input.iteration + before,
        first_line: 1,
        verdict: None,
        signal: None,
        indicators: None,
        reasons: Vec::new(),
        warnings: Vec::new(),
        next: None,
        assumed: Vec::new(),
        transcript: None,
        label: None,
        ambiguous: false,
        judged: None,
        changed: None,
        error: None,
        bytes: 0,
        duration_ms: 0,
    }
}
