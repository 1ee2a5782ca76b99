//! Decisions over transcripts that one already has: no work tree, so no checks
//! and no state.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::OnceLock;
use std::time::Instant;

use gate_core::config::Resolved;
use gate_core::decide::evidence::{Evidence, Outcome};
use gate_core::decide::indicator::PatternSet;
use gate_core::decide::policy::When;
use gate_core::decide::reason::Warning;
use gate_core::mask::Masker;
use gate_core::record::VERSION;
use gate_core::scan::Transcript;
use gate_core::{Decision, Failure, Input, Policy, Scan, Scanner, Verdict, decide, digest};
use gate_transcript::Forced;
use gate_transcript::iterations::{Part, Splitter};

use super::record::{ROW, ReplayRecord, ReplayVerdict};
use super::warnings::{about_place, about_settings};
use crate::read::{BLOCK, read_file};

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

/// An iteration.
#[derive(Debug)]
pub struct Row {
    /// Its verdict.
    pub record: ReplayRecord,
    /// By policy (see [`exits_under`]): may the loop end here?
    pub exits: Vec<bool>,
}

/// Decides an iteration again under each policy; true where the loop may end.
pub fn exits_under(policies: &[Policy], decision: &Decision) -> Vec<bool> {
    if policies.is_empty() {
        return Vec::new();
    }
    let input = &decision.input;
    policies.iter().map(|policy| decide(input, policy).verdict == Verdict::Exit).collect()
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
    policy_digest: String,
}

/// A transcript in memory.
#[derive(Clone, Copy, Debug)]
pub struct TranscriptText<'t> {
    /// Its name in rows.
    pub name: &'t str,
    /// Its bytes, as a file would have them.
    pub bytes: &'t [u8],
    /// Its format, if that is not to be detected.
    pub format: Option<Forced>,
}

/// Passes bytes on, in blocks.
type Take<'t> = &'t mut dyn FnMut(&[u8]);

impl Replayer {
    /// A gate without checks and state, with these settings.
    ///
    /// # Errors
    ///
    /// A pattern that does not compile.
    pub fn open(settings: &Resolved, masker: Masker) -> Result<Self, Failure> {
        let place = When::Check;
        let patterns = PatternSet::from_policy(&settings.policy)?;
        let mut warnings = about_settings(settings, &masker);
        warnings.extend(about_place(&settings.policy, place));
        let policy = settings.policy.clone().at(place);
        let policy_digest = policy.digest();
        Ok(Self { policy, patterns, warnings, masker, policy_digest })
    }

    /// Decides over each iteration of a transcript in memory: the rows of `gate replay` on a file with
    /// these bytes. After a defect of gate the last row has an error.
    pub fn judge(
        &self,
        transcript: TranscriptText<'_>,
        policies: &[Policy],
        emit: &mut dyn FnMut(Row),
    ) {
        let TranscriptText { name, bytes, format } = transcript;
        let mut iteration = 1;
        let read = |take: Take<'_>| {
            bytes.chunks(BLOCK).for_each(take);
            Ok(())
        };
        let judged = caught(|| {
            self.replay_from(read, format, &mut |step| {
                if let Step::Iteration(replayed) = step {
                    emit(self.row(name, iteration, *replayed, policies));
                    iteration += 1;
                }
            })
        });
        if let Err(failure) = judged {
            emit(Row { record: self.unread(name, iteration, failure), exits: Vec::new() });
        }
    }

    /// The row of a transcript that could not be read.
    pub fn unread(&self, name: &str, iteration: u64, failure: Failure) -> ReplayRecord {
        let policy_digest = Some(self.policy_digest.clone());
        ReplayRecord { policy_digest, error: Some(failure), ..place(name, iteration) }
    }

    /// The row of an iteration, whose place in its file or run is `iteration`.
    pub(crate) fn row(
        &self,
        name: &str,
        iteration: u64,
        replayed: Replayed,
        policies: &[Policy],
    ) -> Row {
        let Replayed { first_line, bytes, duration_ms, verdict, decision, transcript } = replayed;
        let exits = exits_under(policies, &decision);
        let record = ReplayRecord {
            policy_digest: Some(self.policy_digest.clone()),
            first_line,
            verdict: Some(verdict),
            signal: Some(decision.input.signal),
            indicators: Some(decision.input.indicators),
            reasons: decision.reasons,
            warnings: decision.input.warnings,
            next: decision.next,
            assumed: self.policy.checks.keys().cloned().collect(),
            transcript: Some(transcript),
            bytes,
            duration_ms,
            ..place(name, iteration)
        };
        Row { record, exits }
    }

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
        self.replay_from(|take| read_file(file, take).map(drop), format, emit)
    }

    fn replay_from(
        &self,
        read: impl FnOnce(Take<'_>) -> Result<(), Failure>,
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
        read(&mut |bytes| {
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

/// Runs a part of gate; if that panics, a defect of gate ends this part alone.
///
/// # Errors
///
/// Those of the part; a defect.
pub(crate) fn caught(part: impl FnOnce() -> Result<(), Failure>) -> Result<(), Failure> {
    catch_unwind(AssertUnwindSafe(part))
        .unwrap_or_else(|_| Err(Failure::internal("defect", "gate has a defect; please report it")))
}

/// A row of which only the place is known.
pub(crate) fn place(name: &str, iteration: u64) -> ReplayRecord {
    ReplayRecord {
        schema: ROW,
        gate_version: VERSION,
        patterns_digest: packs_digest().to_owned(),
        file: name.to_owned(),
        iteration,
        first_line: 1,
        ..ReplayRecord::default()
    }
}

/// The digest of the rule packs in this program.
fn packs_digest() -> &'static str {
    static DIGEST: OnceLock<String> = OnceLock::new();
    DIGEST.get_or_init(|| digest(gate_patterns::ALL.concat().as_bytes()))
}
