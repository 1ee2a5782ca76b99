//! Reading what is judged: as much of a transcript as the decision needs.

use std::path::{Path, PathBuf};
use std::time::Instant;

use gate_checks::CheckSite;
use gate_core::decide::indicator::PatternSet;
use gate_core::decide::pattern::Scope;
use gate_core::decide::signal::Status;
use gate_core::decide::signal::UncheckedSignal;
use gate_core::scan::Reach;
use gate_core::{Scan, Scanner};
use gate_transcript::Forced;

use super::Gate;
use crate::failure::Failure;
use crate::request::{Request, Turn};
use crate::source::{Beginning, HashingScanner, Source};

/// The most of a large transcript that may be new since an earlier decision, in bytes.
const MAX_NEW_BYTES: u64 = 64 << 20;

/// A transcript that was read, to be judged.
pub(crate) struct Judging {
    /// The moment at which the reading began.
    pub(super) start: Instant,
    pub(crate) scan: Scan<UncheckedSignal>,
    /// The digest of the transcript's bytes, if state is kept; for a large file, of its ends.
    pub(super) input: Option<String>,
    /// The policy's canonical text.
    pub(super) policy_text: String,
    /// The file that was read; `None` for a text.
    pub(crate) transcript: Option<PathBuf>,
    /// The site of the checks on this turn.
    pub(super) site: CheckSite,
}

impl Judging {
    /// Takes all but the agent's last word from a scan of the session's transcript.
    pub(crate) fn beside(mut self, session: Option<Scan<UncheckedSignal>>) -> Self {
        if let Some(session) = session {
            self.scan.transcript = session.transcript;
            self.scan.prompt = session.prompt;
        }
        self
    }
}

impl Gate {
    /// Reads a transcript.
    ///
    /// # Errors
    ///
    /// A source that cannot be read.
    pub fn scan(
        &self,
        source: &Source,
        format: Option<Forced>,
    ) -> Result<Scan<UncheckedSignal>, Failure> {
        let mut scanner = Scanner::new(&self.patterns, format);
        let bytes = source.scan(&mut scanner)?;
        Ok(self.scanned(scanner, bytes))
    }

    /// Reads a transcript to be judged.
    ///
    /// # Errors
    ///
    /// A source that cannot be read.
    pub(crate) fn read(&self, source: &Source, request: &Request) -> Result<Judging, Failure> {
        let start = Instant::now();
        // The digest shows if a numbered iteration is repeated. Where only the end is read, nothing
        // else needs one.
        let is_whole = request.asker.iteration.is_some() || !request.turn.end_only;
        let mut hasher = (is_whole && self.memory.is_some()).then(blake3::Hasher::new);
        let mut scan = self.read_needed(source, &request.turn, hasher.as_mut())?;
        if request.turn.done_file {
            scan.signal = scan.signal.or_done_file(&self.policy.signal, &scan.last_word);
        }
        Ok(Judging {
            start,
            scan,
            input: hasher.map(|hasher| digest(&hasher)),
            policy_text: self.policy.canonical(),
            transcript: source.path().map(Path::to_owned),
            site: self.site_of_turn(source, &request.turn.own_files),
        })
    }

    /// Reads what the decision needs of a transcript: of a large one no more than its ends, if they
    /// suffice. The digest is of the beginning, the end and the length, or of all.
    fn read_needed(
        &self,
        source: &Source,
        turn: &Turn,
        hasher: Option<&mut blake3::Hasher>,
    ) -> Result<Scan<UncheckedSignal>, Failure> {
        let inner = Scanner::new(&self.patterns, turn.format);
        let mut scanner = HashingScanner { inner, hasher };
        let bytes = match source.begin(&mut scanner, turn.end_only)? {
            Beginning::All(bytes) => bytes,
            Beginning::Head(file) => {
                let read_bytes = turn.since.or_else(|| self.read_before(source, &scanner.inner));
                source.finish(file, read_bytes, &mut scanner)?
            }
        };
        scanner.hash(&bytes.to_le_bytes());
        let scan = self.scanned(scanner.inner, bytes);
        if self.is_enough(&scan, turn) { Ok(scan) } else { self.scan(source, turn.format) }
    }

    /// The byte up to which an earlier decision of this session read its transcript.
    fn read_before(&self, source: &Source, scanner: &Scanner<'_>) -> Option<u64> {
        let read_bytes = self.memory()?.read_before(scanner.session()?)?;
        let length = source.path()?.metadata().ok()?.len();
        // So much that is new is a first look at another file.
        (length.saturating_sub(read_bytes) <= MAX_NEW_BYTES).then_some(read_bytes)
    }

    /// The rest of the transcript cannot change the verdict. More of the final turn could only add
    /// indicators.
    fn is_enough(&self, scan: &Scan<UncheckedSignal>, turn: &Turn) -> bool {
        let needs_indicators = match scan.signal.claimed_status() {
            Status::Complete => true,
            Status::Absent => turn.done_file || !self.policy.exit_gate.require_explicit_signal,
            Status::Continue | Status::Blocked | Status::Invalid => false,
        };
        let budget = &self.policy.budget;
        match scan.reach {
            Reach::All => true,
            // Usage stands all over a transcript.
            _ if budget.tokens > 0 || budget.cost_micro_usd > 0 => false,
            _ if turn.end_only => true,
            Reach::Nothing => false,
            // Checks add what phrases in the rest of the turn could.
            _ if turn.stop.is_some() => true,
            Reach::Turn
                if self.policy.patterns.iter().all(|pattern| pattern.scope == Scope::Final) =>
            {
                true
            }
            Reach::Turn | Reach::Word => !needs_indicators || self.has_enough_indicators(scan),
        }
    }

    fn has_enough_indicators(&self, scan: &Scan<UncheckedSignal>) -> bool {
        let indicators = self.decide_scan(&scan.clone().without_token()).input.indicators;
        indicators.score >= indicators.threshold
    }

    fn scanned(&self, scanner: Scanner<'_>, bytes: u64) -> Scan<UncheckedSignal> {
        let mut scan = scanner.finish(&self.policy.signal);
        scan.transcript.bytes = bytes;
        self.masker.transcript(&mut scan.transcript);
        scan
    }
}

/// Refuses JSON that is not of the format that was named: each iteration would end as if the agent
/// had been silent.
///
/// # Errors
///
/// A transcript without a turn of this format.
pub(crate) fn admit_format(
    source: &Source,
    scan: &Scan<UncheckedSignal>,
    format: Option<Forced>,
) -> Result<(), Failure> {
    let Some(format) = format else { return Ok(()) };
    if !scan.foreign_format {
        return Ok(());
    }
    let name = source.path().map_or("the input".to_owned(), |path| path.display().to_string());
    let message =
        format!("{name} is JSON, but not of the format {}: it holds no turn", format.name());
    let failure = Failure::usage("format-without-turn", message);
    let failure =
        failure.hint("leave `--format` out, and gate finds the format itself if it knows it");
    Err(Failure { file: source.path().map(|path| path.display().to_string()), ..failure })
}

/// The digest that a decision on this source records.
///
/// # Errors
///
/// A source that cannot be read.
pub(crate) fn input_digest(
    patterns: &PatternSet,
    source: &Source,
    format: Option<Forced>,
) -> Result<String, Failure> {
    let mut hasher = blake3::Hasher::new();
    let inner = Scanner::new(patterns, format);
    let mut scanner = HashingScanner { inner, hasher: Some(&mut hasher) };
    let bytes = match source.begin(&mut scanner, false)? {
        Beginning::All(bytes) => bytes,
        Beginning::Head(file) => source.finish(file, None, &mut scanner)?,
    };
    hasher.update(&bytes.to_le_bytes());
    Ok(digest(&hasher))
}

fn digest(hasher: &blake3::Hasher) -> String {
    format!("blake3:{}", hasher.finalize().to_hex())
}
