//! Decisions over transcripts that one already has: no work tree, so no checks
//! and no state.

use std::path::Path;
use std::time::Instant;

use gate_core::decide::evidence::{Evidence, Outcome};
use gate_core::decide::indicator::PatternSet;
use gate_core::decide::reason::Warning;
use gate_core::mask::Masker;
use gate_core::scan::Transcript;
use gate_core::{Decision, Failure, Input, Policy, Scan, Scanner, Verdict, decide};
use gate_transcript::Forced;
use gate_transcript::iterations::{Part, Splitter};

use super::record::ReplayVerdict;
use crate::read::read_file;

/// The progress of a replay.
pub enum Step {
    /// So many bytes were read.
    Read(u64),
    /// An iteration has ended.
    Iteration(Box<Replayed>),
}

/// One iteration, decided.
pub struct Replayed {
    /// The file's line in which it begins, from 1.
    pub first_line: u64,
    /// Its length.
    pub bytes: u64,
    pub duration_ms: u64,
    pub verdict: ReplayVerdict,
    /// The decision as it would be if every configured check passed. Its
    /// evidence is assumed, and is none.
    pub decision: Decision,
    pub transcript: Transcript,
}

/// Settings made ready, as `gate check` has them.
#[derive(Debug)]
pub struct Replayer {
    /// The policy in force.
    pub policy: Policy,
    /// Its patterns.
    pub patterns: PatternSet,
    /// Warnings about the settings.
    pub warnings: Vec<Warning>,
    /// Masks secrets of the environment.
    pub masker: Masker,
}

impl Replayer {
    /// Reads a transcript iteration by iteration, and decides over each.
    ///
    /// # Errors
    ///
    /// A file that cannot be read. `emit` has got the steps before that.
    pub fn replay(
        &self,
        file: &Path,
        format: Option<Forced>,
        emit: &mut dyn FnMut(Step),
    ) -> Result<(), Failure> {
        let mut splitter = Splitter::default();
        let mut open: Option<OpenIteration<'_>> = None;
        let mut take = |part: Part<'_>, emit: &mut dyn FnMut(Step)| match part {
            Part::Begin(first_line) => {
                let scanner = Scanner::new(&self.patterns, format);
                let start = Instant::now();
                let new_iteration = OpenIteration { first_line, bytes: 0, start, scanner };
                if let Some(ended_iteration) = open.replace(new_iteration) {
                    emit(self.replayed(ended_iteration));
                }
            }
            Part::Bytes(bytes) => {
                if let Some(iteration) = &mut open {
                    iteration.bytes += bytes.len() as u64;
                    iteration.scanner.push(bytes);
                }
            }
        };
        read_file(file, &mut |bytes| {
            splitter.push(bytes, &mut |part| take(part, emit));
            emit(Step::Read(bytes.len() as u64));
        })?;
        splitter.finish(&mut |part| take(part, emit));
        if let Some(last_iteration) = open {
            emit(self.replayed(last_iteration));
        }
        Ok(())
    }

    fn replayed(&self, iteration: OpenIteration<'_>) -> Step {
        let OpenIteration { first_line, bytes, start, scanner } = iteration;
        // Without state no token can be checked.
        let scan = scanner.finish(&self.policy.signal).without_token();
        let (verdict, decision) = self.decide_replayed(&scan);
        let duration_ms = u64::try_from(start.elapsed().as_millis()).unwrap_or(u64::MAX);
        let mut transcript = scan.transcript;
        transcript.bytes = bytes;
        self.masker.transcript(&mut transcript);
        Step::Iteration(Box::new(Replayed {
            first_line,
            bytes,
            duration_ms,
            verdict,
            decision,
            transcript,
        }))
    }

    /// Decides twice: as if every configured check passed, and as if each that `exit` does not need
    /// failed. If only the first lets the loop end, the checks have the last word.
    fn decide_replayed(&self, scan: &Scan) -> (ReplayVerdict, Decision) {
        let passing = self.decide_assuming(scan, Outcome::Pass);
        let verdict = match passing.verdict {
            Verdict::Exit if self.policy.checks.is_empty() => ReplayVerdict::Exit,
            Verdict::Exit => match self.decide_assuming(scan, Outcome::Fail).verdict {
                Verdict::Exit => ReplayVerdict::Exit,
                _ => ReplayVerdict::ExitIfChecksPass,
            },
            Verdict::Blocked => ReplayVerdict::Blocked,
            Verdict::Tripped => ReplayVerdict::Tripped,
            Verdict::Continue => ReplayVerdict::Continue,
        };
        (verdict, passing)
    }

    fn decide_assuming(&self, scan: &Scan, outcome: Outcome) -> Decision {
        let checks = self.policy.checks.iter();
        let evidence =
            checks.map(|(name, check)| Evidence::new(name, check.mode, outcome)).collect();
        let mut input = Input::new(scan.signal.clone(), scan.hits.clone());
        input.warnings.clone_from(&self.warnings);
        input.warnings.extend(scan.warnings());
        input.observed = scan.observed();
        input.evidence = evidence;
        self.masker.input(&mut input);
        decide(&input, &self.policy)
    }
}

/// An iteration that is being read.
struct OpenIteration<'p> {
    first_line: u64,
    bytes: u64,
    start: Instant,
    scanner: Scanner<'p>,
}
