//! Reads transcripts on a pool of threads and hands back their rows in the order of
//! the files.

use std::collections::VecDeque;
use std::num::NonZero;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::available_parallelism;
use std::time::Duration;

use gate_checks::CheckSite;
use gate_core::config::Resolved;
use gate_core::decide::policy::When;
use gate_transcript::Forced;
use rayon::{ThreadPool, ThreadPoolBuilder};

use super::inputs::Input;
use super::labels::{Labelled, Labels};
use super::marks::Marks;
use super::sniff::{self, Passed};
use super::sweep::{Sweep, Swept};
use crate::context::Here;
use crate::failure::Failure;
use crate::gate::{Gate, Replayed, Step};
use crate::memory::JudgedTranscript;
use crate::replay::{Judged, ROW, ReplayRecord};
use crate::source::Source;

/// Files that the pool may be given ahead of the one whose rows are printed.
const FILES_AHEAD: usize = 128;

/// Rows that a file may hold back until its turn. With [`FILES_AHEAD`] this bounds memory.
const ROWS_AHEAD: usize = 64;

/// One result of reading a file.
#[derive(Debug)]
pub(super) enum Finding {
    /// The verdict on one of its iterations.
    Row(Box<Row>),
    /// The file is no transcript.
    Passed(Passed),
}

/// An iteration, and its verdicts under other settings if a sweep was asked for.
#[derive(Debug)]
pub(super) struct Row {
    pub(super) record: ReplayRecord,
    pub(super) swept: Option<Swept>,
}

/// The input that all threads share.
#[derive(Debug)]
pub(super) struct Work {
    pub(super) inputs: Vec<Input>,
    pub(super) labels: Labels,
    pub(super) marks: Marks,
    pub(super) settings: Resolved,
    pub(super) site: CheckSite,
    pub(super) format: Option<Forced>,
    pub(super) sweep: Option<Sweep>,
    pub(super) jobs: usize,
    /// Bytes read so far.
    pub(super) read: AtomicU64,
    /// Gates that no thread uses at the moment: one belongs to one thread at a time.
    pub(super) gates: Mutex<Vec<Gate>>,
}

/// All findings, in the order of the files.
pub(super) struct Findings {
    work: Arc<Work>,
    pool: ThreadPool,
    /// Files given to the pool.
    started: usize,
    /// Files whose findings were all taken.
    pub(super) ended: usize,
    /// Findings of the files from `ended` to `started`.
    open: VecDeque<Receiver<Finding>>,
}

impl Findings {
    /// Starts one thread a job. They end when all is read, and with the program.
    ///
    /// # Errors
    ///
    /// Settings that make no gate; a system that starts no thread.
    pub(super) fn start(work: &Arc<Work>) -> Result<Self, Failure> {
        work.return_gate(work.gate()?);
        let threads = work.jobs.min(work.inputs.len()).max(1);
        let pool = ThreadPoolBuilder::new().num_threads(threads).build();
        let pool =
            pool.map_err(|error| Failure::internal("threads", format!("no thread: {error}")))?;
        let open = VecDeque::new();
        let mut findings = Self { work: work.clone(), pool, started: 0, ended: 0, open };
        for _ in 0..FILES_AHEAD.max(2 * threads) {
            findings.start_file();
        }
        Ok(findings)
    }

    /// Gives the next file to the pool.
    ///
    /// Files start in their order, so the one whose turn it is was always started:
    /// a file that waits for its turn with all its rows cannot keep that one waiting.
    fn start_file(&mut self) {
        let file = self.started;
        if file == self.work.inputs.len() {
            return;
        }
        self.started += 1;
        let (sender, receiver) = sync_channel(ROWS_AHEAD);
        self.open.push_back(receiver);
        let work = self.work.clone();
        self.pool.spawn_fifo(move || work.read_file(file, &Output(sender)));
    }

    /// The findings that come next; waits for the first of them up to `timeout`. It is
    /// none if nothing came in that time, or if all files have ended.
    pub(super) fn next(&mut self, timeout: Duration) -> Vec<Finding> {
        let mut next = Vec::new();
        while let Some(file) = self.open.front()
            && next.len() < ROWS_AHEAD
        {
            let timeout = if next.is_empty() { timeout } else { Duration::ZERO };
            match file.recv_timeout(timeout) {
                Ok(finding) => next.push(finding),
                Err(RecvTimeoutError::Timeout) => break,
                Err(RecvTimeoutError::Disconnected) => {
                    self.open.pop_front();
                    self.ended += 1;
                    self.start_file();
                }
            }
        }
        next
    }

    pub(super) fn is_done(&self) -> bool {
        self.open.is_empty()
    }
}

/// The way of one file's findings to the thread that prints.
struct Output(SyncSender<Finding>);

impl Output {
    fn send(&self, finding: Finding) {
        // Nobody receives any more once the replay was interrupted.
        let _ = self.0.send(finding);
    }
}

impl Work {
    /// Reads these files on all cores, without labels.
    pub(super) fn new(here: &Here, settings: &Resolved, inputs: Vec<Input>) -> Self {
        let places = &here.places;
        Self {
            inputs,
            labels: Labels::default(),
            marks: Marks::default(),
            settings: settings.clone(),
            site: CheckSite {
                environment: places.environment.clone(),
                ..CheckSite::new(&places.folder)
            },
            format: None,
            sweep: None,
            jobs: available_parallelism().map_or(1, NonZero::get),
            read: AtomicU64::new(0),
            gates: Mutex::default(),
        }
    }

    /// A gate that decides as `gate check` would.
    fn gate(&self) -> Result<Gate, Failure> {
        let gate = Gate::open(self.settings.clone(), self.site.clone())?;
        Ok(gate.at(When::Check))
    }

    fn take_gate(&self) -> Result<Gate, Failure> {
        let idle = self.gates.lock().unwrap_or_else(PoisonError::into_inner).pop();
        idle.map_or_else(|| self.gate(), Ok)
    }

    fn return_gate(&self, gate: Gate) {
        self.gates.lock().unwrap_or_else(PoisonError::into_inner).push(gate);
    }

    fn read_file(&self, file: usize, output: &Output) {
        let input = &self.inputs[file];
        // A defect is one file's: the others are read all the same.
        let read = catch_unwind(AssertUnwindSafe(|| {
            let gate = self.take_gate()?;
            self.replay(&gate, input, output);
            self.return_gate(gate);
            Ok(())
        }));
        let read = read.unwrap_or_else(|_| {
            Err(Failure::internal("defect", "gate has a defect; please report it"))
        });
        if let Err(failure) = read {
            self.fail(input, 0, failure, output);
        }
    }

    fn replay(&self, gate: &Gate, input: &Input, output: &Output) {
        if let Some(failure) = &input.error {
            return self.fail(input, 0, failure.clone(), output);
        }
        let passed = if input.wanted { None } else { sniff::look(&input.path) };
        if let Some(passed) = passed {
            self.read.fetch_add(input.size, Ordering::Relaxed);
            return output.send(Finding::Passed(passed));
        }
        // The next iteration, or the end, shows that the one before was not the last.
        let mut before: Option<Row> = None;
        let mut rows = 0;
        let source = Source::File(input.path.clone());
        let read = gate.replay(&source, self.format, &mut |step| match step {
            Step::Read(bytes) => {
                self.read.fetch_add(bytes, Ordering::Relaxed);
            }
            Step::Iteration(replayed) => {
                let swept = self.sweep.as_ref().map(|sweep| sweep.decide(&replayed.decision));
                let row = Row { record: row(gate, input, rows, *replayed), swept };
                rows += 1;
                if let Some(before) = before.replace(row) {
                    self.send(input, before, false, output);
                }
            }
        });
        if let Some(last) = before {
            let marked = self.marked(gate, input, &last.record);
            self.send_labelled(input, last, (read.is_ok(), marked), output);
        }
        if let Err(failure) = read {
            self.fail(input, rows, failure, output);
        }
    }

    /// The label by which an operator has marked the decision on this file.
    fn marked(&self, gate: &Gate, input: &Input, last: &ReplayRecord) -> Option<Labelled> {
        if self.marks.is_empty() {
            return None;
        }
        let source = Source::File(input.path.clone());
        self.marks.get(&JudgedTranscript {
            digest: gate.input_digest(&source, self.format).ok(),
            session: last.transcript.as_ref().and_then(|transcript| transcript.session.clone()),
            bytes: input.size,
        })
    }

    fn send(&self, input: &Input, row: Row, last: bool, output: &Output) {
        self.send_labelled(input, row, (last, None), output);
    }

    /// Sends a row with its label; `last` is true for the file's last iteration. A label from
    /// a file goes before an operator's mark.
    fn send_labelled(
        &self,
        input: &Input,
        Row { record: row, swept }: Row,
        (last, marked): (bool, Option<Labelled>),
        output: &Output,
    ) {
        let label = input.id.and_then(|id| self.labels.get(id, row.iteration, last)).or(marked);
        let judged = label
            .zip(row.verdict)
            .map(|(label, verdict)| Judged::new(verdict, label.label, label.ambiguous));
        let record = ReplayRecord {
            label: label.map(|label| label.label),
            ambiguous: label.is_some_and(|label| label.ambiguous),
            judged,
            ..row
        };
        output.send(Finding::Row(Box::new(Row { record, swept })));
    }

    fn fail(&self, input: &Input, rows: u64, failure: Failure, output: &Output) {
        let record = ReplayRecord { error: Some(failure), ..empty(input, rows) };
        self.send(input, Row { record, swept: None }, true, output);
    }
}

fn row(gate: &Gate, input: &Input, before: u64, replayed: Replayed) -> ReplayRecord {
    let Replayed { first_line, bytes, duration_ms, verdict, decision, transcript } = replayed;
    ReplayRecord {
        first_line,
        verdict: Some(verdict),
        signal: Some(decision.input.signal),
        indicators: Some(decision.input.indicators),
        reasons: decision.reasons,
        warnings: decision.input.warnings,
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
