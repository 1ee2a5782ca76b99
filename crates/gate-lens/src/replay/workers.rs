//! Reads transcripts on a pool of threads and hands back their rows in the order of
//! the files.

use std::collections::VecDeque;
use std::num::NonZero;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::available_parallelism;
use std::time::Duration;

use gate_core::config::Resolved;
use gate_core::decide::policy::Threshold;
use gate_core::{Failure, Policy};
use gate_transcript::Forced;
use rayon::{ThreadPool, ThreadPoolBuilder};

use super::given::{Labelled, Labels};
use super::inputs::{Input, Passed, look};
use super::marks::{JudgedTranscript, Marks};
use super::record::{Judged, ReplayRecord};
use super::replayer::{Replayer, Row, Step, caught, place};

/// Files that the pool may be given ahead of the one whose rows are printed.
const FILES_AHEAD: usize = 128;

/// Rows that a file may hold back until its turn. With [`FILES_AHEAD`] this bounds memory.
const ROWS_AHEAD: usize = 64;

/// The highest threshold that is tried.
pub const MAX_THRESHOLD: u32 = 8;

/// One result of reading a file.
#[derive(Debug)]
pub enum Finding {
    /// The verdict on one of its iterations.
    Row(Box<Row>),
    /// The file is no transcript.
    Passed(Passed),
}

/// The policy with each threshold from 0 to [`MAX_THRESHOLD`].
pub fn with_thresholds(policy: &Policy) -> Vec<Policy> {
    let with = |threshold| {
        let mut policy = policy.clone();
        policy.exit_gate.threshold = Threshold::Fixed(threshold);
        policy
    };
    (0..=MAX_THRESHOLD).map(with).collect()
}

/// The part of `gate check` that a replay borrows from the program.
pub trait Host: std::fmt::Debug + Send + Sync {
    /// Settings made ready as `gate check` does it.
    ///
    /// # Errors
    ///
    /// Settings under which nothing can be decided.
    fn replayer(&self, settings: &Resolved) -> Result<Replayer, Failure>;

    /// The digest that a decision on this file records; `None` if it cannot be read.
    fn input_digest(&self, gate: &Replayer, file: &Path, format: Option<Forced>) -> Option<String>;
}

/// The input that all threads share.
#[derive(Debug)]
pub struct Work {
    /// The files to read.
    pub inputs: Vec<Input>,
    /// The right answers.
    pub labels: Labels,
    /// The operator's marks on decisions.
    pub marks: Marks,
    /// The settings in force.
    pub settings: Resolved,
    /// The program.
    pub host: Arc<dyn Host>,
    /// The format of all files, if it is not to be detected.
    pub format: Option<Forced>,
    /// Other policies under which each iteration is decided again, by what one scan has shown.
    pub policies: Vec<Policy>,
    /// The number of threads.
    pub jobs: usize,
    /// Bytes read so far.
    pub read: AtomicU64,
    /// Gates that no thread uses at the moment: one belongs to one thread at a time.
    pub idle_gates: Mutex<Vec<Replayer>>,
}

/// All findings, in the order of the files.
pub struct Findings {
    work: Arc<Work>,
    pool: ThreadPool,
    /// Files given to the pool.
    started: usize,
    /// Files whose findings were all taken.
    pub ended: usize,
    /// Findings of the files from `ended` to `started`.
    open: VecDeque<Receiver<Finding>>,
}

impl Findings {
    /// Starts one thread a job. They end when all is read, and with the program.
    ///
    /// # Errors
    ///
    /// Settings that make no gate; a system that starts no thread.
    pub fn start(work: &Arc<Work>) -> Result<Self, Failure> {
        work.return_gate(work.host.replayer(&work.settings)?);
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
        self.pool.spawn_fifo(move || work.read_file(file, &sender));
    }

    /// The findings that come next; waits for the first of them up to `timeout`. It is
    /// none if nothing came in that time, or if all files have ended.
    pub fn next(&mut self, timeout: Duration) -> Vec<Finding> {
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

    /// All files were read, and their findings taken.
    pub fn is_done(&self) -> bool {
        self.open.is_empty()
    }
}

impl Work {
    /// Reads these files on all cores, without labels.
    pub fn new(host: Arc<dyn Host>, settings: &Resolved, inputs: Vec<Input>) -> Self {
        Self {
            inputs,
            labels: Labels::default(),
            marks: Marks::default(),
            settings: settings.clone(),
            host,
            format: None,
            policies: Vec::new(),
            jobs: available_parallelism().map_or(1, NonZero::get),
            read: AtomicU64::new(0),
            idle_gates: Mutex::default(),
        }
    }

    fn take_gate(&self) -> Result<Replayer, Failure> {
        let idle_gate = self.idle_gates.lock().unwrap_or_else(PoisonError::into_inner).pop();
        idle_gate.map_or_else(|| self.host.replayer(&self.settings), Ok)
    }

    fn return_gate(&self, gate: Replayer) {
        self.idle_gates.lock().unwrap_or_else(PoisonError::into_inner).push(gate);
    }

    fn read_file(&self, file: usize, output: &SyncSender<Finding>) {
        let input = &self.inputs[file];
        // A defect is one file's: the others are read all the same.
        let read = caught(|| {
            let gate = self.take_gate()?;
            self.replay(&gate, input, output);
            self.return_gate(gate);
            Ok(())
        });
        if let Err(failure) = read {
            let record = place(&input.shown, input.iteration);
            self.fail(input, ReplayRecord { error: Some(failure), ..record }, output);
        }
    }

    fn replay(&self, gate: &Replayer, input: &Input, output: &SyncSender<Finding>) {
        if let Some(failure) = &input.error {
            let record = gate.unread(&input.shown, input.iteration, failure.clone());
            return self.fail(input, record, output);
        }
        let passed = if input.wanted { None } else { look(&input.path) };
        if let Some(passed) = passed {
            self.read.fetch_add(input.size, Ordering::Relaxed);
            return send(output, Finding::Passed(passed));
        }
        // The next iteration, or the end, shows that the one before was not the last.
        let mut latest: Option<Row> = None;
        let mut rows = 0;
        let read = gate.replay(&input.path, self.format, &mut |step| match step {
            Step::Read(bytes) => {
                self.read.fetch_add(bytes, Ordering::Relaxed);
            }
            Step::Iteration(replayed) => {
                let row = gate.row(&input.shown, input.iteration + rows, *replayed, &self.policies);
                rows += 1;
                if let Some(earlier) = latest.replace(row) {
                    let label = self.label(input, &earlier.record, false);
                    send(output, labelled(earlier, label));
                }
            }
        });
        if let Some(last) = latest {
            // A label from a file goes before an operator's mark.
            let label = self.label(input, &last.record, read.is_ok());
            let label = label.or_else(|| self.marked(gate, input, &last.record));
            send(output, labelled(last, label));
        }
        if let Err(failure) = read {
            let record = gate.unread(&input.shown, input.iteration + rows, failure);
            self.fail(input, record, output);
        }
    }

    /// The label by which an operator has marked the decision on this file.
    fn marked(&self, gate: &Replayer, input: &Input, last: &ReplayRecord) -> Option<Labelled> {
        if self.marks.is_empty() {
            return None;
        }
        self.marks.get(&JudgedTranscript {
            digest: self.host.input_digest(gate, &input.path, self.format),
            session: last.transcript.as_ref().and_then(|transcript| transcript.session.clone()),
            bytes: input.size,
        })
    }

    /// The label of a row, which may be the last one of its file.
    fn label(&self, input: &Input, row: &ReplayRecord, is_last: bool) -> Option<Labelled> {
        self.labels.get(input.id?, row.iteration, is_last)
    }

    fn fail(&self, input: &Input, record: ReplayRecord, output: &SyncSender<Finding>) {
        let label = self.label(input, &record, true);
        send(output, labelled(Row { record, exits: Vec::new() }, label));
    }
}

/// Sends a finding to the thread that prints. Nobody receives any more once the replay was
/// interrupted.
fn send(output: &SyncSender<Finding>, finding: Finding) {
    let _ = output.send(finding);
}

/// A row with its label, and its verdict beside that.
fn labelled(mut row: Row, label: Option<Labelled>) -> Finding {
    if let Some(Labelled { label, ambiguous }) = label {
        let record = &mut row.record;
        (record.label, record.ambiguous) = (Some(label), ambiguous);
        record.judged = record.verdict.map(|verdict| Judged::new(verdict, label, ambiguous));
    }
    Finding::Row(Box::new(row))
}
