//! Decisions over transcripts that one already has: no work tree, so no checks
//! and no state.

use std::time::Instant;

use gate_core::decide::evidence::{Evidence, Outcome};
use gate_core::decide::signal::UncheckedSignal;
use gate_core::scan::Transcript;
use gate_core::{Decision, Scan, Scanner, Verdict, decide};
use gate_transcript::Forced;
use gate_transcript::iterations::{Part, Splitter};

use super::Gate;
use crate::failure::Failure;
use crate::replay::ReplayVerdict;
use crate::request::Request;
use crate::source::Source;

/// The progress of a replay.
pub(crate) enum Step {
    /// So many bytes were read.
    Read(u64),
    /// An iteration has ended.
    Iteration(Box<Replayed>),
}

/// One iteration, decided.
pub(crate) struct Replayed {
    /// The file's line in which it begins, from 1.
    pub(crate) first_line: u64,
    /// Its length.
    pub(crate) bytes: u64,
    pub(crate) duration_ms: u64,
    pub(crate) verdict: ReplayVerdict,
    /// The decision as it would be if every configured check passed. Its
    /// evidence is assumed, and is none.
    pub(crate) decision: Decision,
    pub(crate) transcript: Transcript,
}

impl Gate {
    /// Reads a transcript iteration by iteration, and decides over each.
    ///
    /// # Errors
    ///
    /// A source that cannot be read. `emit` has got the steps before that.
    pub(crate) fn replay(
        &self,
        source: &Source,
        format: Option<Forced>,
        emit: &mut dyn FnMut(Step),
    ) -> Result<(), Failure> {
        let mut splitter = Splitter::default();
        let mut open: Option<(Place, Scanner<'_>)> = None;
        let mut take = |part: Part<'_>, emit: &mut dyn FnMut(Step)| match part {
            Part::Begin(line) => {
                let place = Place { first_line: line, bytes: 0, began: Instant::now() };
                let scanner = Scanner::new(&self.patterns, format);
                if let Some((place, scanner)) = open.replace((place, scanner)) {
                    emit(self.replayed(place, scanner.finish(&self.policy.signal)));
                }
            }
            Part::Bytes(bytes) => {
                if let Some((place, scanner)) = &mut open {
                    place.bytes += bytes.len() as u64;
                    scanner.push(bytes);
                }
            }
        };
        source.feed(&mut |bytes| {
            splitter.push(bytes, &mut |part| take(part, emit));
            emit(Step::Read(bytes.len() as u64));
        })?;
        splitter.finish(&mut |part| take(part, emit));
        if let Some((place, scanner)) = open {
            emit(self.replayed(place, scanner.finish(&self.policy.signal)));
        }
        Ok(())
    }

    fn replayed(&self, place: Place, scan: Scan<UncheckedSignal>) -> Step {
        let scan = scan.without_token();
        let Place { first_line, bytes, began } = place;
        let (verdict, decision) = self.decide_replayed(&scan);
        let duration_ms = u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX);
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
        let mut input = self.input(scan, &Request::default());
        input.evidence = evidence;
        self.masker.input(&mut input);
        decide(&input, &self.policy)
    }
}

/// An iteration that is being read.
#[derive(Clone, Copy)]
struct Place {
    first_line: u64,
    bytes: u64,
    began: Instant,
}
