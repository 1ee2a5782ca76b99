//! Decisions over transcripts that one already has: no work tree, so no checks
//! and no state.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

use gate_core::decide::evidence::{Evidence, Outcome};
use gate_core::decide::policy::CheckPolicy;
use gate_core::read::Forced;
use gate_core::replay::{Part, Splitter};
use gate_core::{Decision, Input, Scan, Scanner, Transcript, Verdict, decide};

use super::Gate;
use crate::failure::Failure;
use crate::replay::ReplayVerdict;
use crate::request::Request;
use crate::source::Source;

/// From which size on, in bytes, it is worth knowing first whether a file holds
/// one iteration: a large file that does is read much faster as a whole.
const LARGE: u64 = 4 << 20;

/// How much is read at once, in bytes.
const BLOCK: usize = 256 << 10;

/// What is told while a transcript is replayed.
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
    /// Reads a transcript iteration by iteration, and decides over each. A large
    /// file takes all processors; whoever holds the same `turn` waits for it.
    ///
    /// # Errors
    ///
    /// A source that cannot be read; what was read before was told.
    pub(crate) fn replay(
        &self,
        source: &Source,
        format: Option<Forced>,
        turn: &Mutex<()>,
        tell: &mut dyn FnMut(Step),
    ) -> Result<(), Failure> {
        if let Some(bytes) = source.path().and_then(large_and_whole) {
            let _turn = turn.lock().unwrap_or_else(PoisonError::into_inner);
            let began = Instant::now();
            let scan = self.scan(source, format)?;
            tell(Step::Read(bytes));
            let place = Place { first_line: 1, bytes, began };
            tell(self.replayed(place, scan));
            return Ok(());
        }
        let mut splitter = Splitter::default();
        let mut open: Option<(Place, Scanner<'_>)> = None;
        let mut take = |part: Part<'_>, tell: &mut dyn FnMut(Step)| match part {
            Part::Begin(line) => {
                let place = Place { first_line: line, bytes: 0, began: Instant::now() };
                let scanner = Scanner::new(&self.patterns, format);
                if let Some((place, scanner)) = open.replace((place, scanner)) {
                    tell(self.replayed(place, scanner.finish(&self.policy.signal)));
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
            splitter.push(bytes, &mut |part| take(part, tell));
            tell(Step::Read(bytes.len() as u64));
        })?;
        splitter.finish(&mut |part| take(part, tell));
        if let Some((place, scanner)) = open {
            tell(self.replayed(place, scanner.finish(&self.policy.signal)));
        }
        Ok(())
    }

    fn replayed(&self, place: Place, scan: Scan) -> Step {
        let Place { first_line, bytes, began } = place;
        let (verdict, decision) = self.decide_replayed(&scan);
        let duration_ms = u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX);
        let mut transcript = Transcript { bytes, ..scan.transcript };
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

    /// Decides twice: as if every configured check passed, and as if each that
    /// `exit` does not need failed. Where only the first lets the loop end, the
    /// checks have the last word.
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
        let evidence =
            |(name, check): (&String, &CheckPolicy)| Evidence::new(name, check.mode, outcome);
        let evidence = self.policy.checks.iter().map(evidence).collect();
        let mut input = Input { evidence, ..self.input(scan, &Request::default()) };
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

/// The length of a large file that is one iteration from its first byte on.
/// What cannot be read is told by whoever reads it whole.
fn large_and_whole(path: &Path) -> Option<u64> {
    let metadata = path.metadata().ok().filter(|it| it.is_file() && it.len() >= LARGE)?;
    let whole = File::open(path).and_then(is_whole).ok()?;
    whole.then_some(metadata.len())
}

fn is_whole(mut file: File) -> io::Result<bool> {
    let mut splitter = Splitter::default();
    let mut block = vec![0; BLOCK];
    loop {
        let length = file.read(&mut block)?;
        if length == 0 {
            return Ok(true);
        }
        let mut cut = false;
        splitter.push(&block[..length], &mut |part| cut |= matches!(part, Part::Begin(2..)));
        if cut || splitter.may_cut() == Some(false) {
            return Ok(!cut);
        }
    }
}
