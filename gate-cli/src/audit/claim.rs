//! The claim in an agent's last message: the work is done, in an explicit signal or in prose.

use gate_core::Policy;
use gate_core::config::Pack;
use gate_core::decide::indicator::{Counter, Hit, PatternError, PatternSet};
use gate_core::decide::pattern::Pattern;
use gate_core::decide::policy::SignalPolicy;
use gate_core::decide::signal::{Signal, Status};
use gate_transcript::{Event, FinalTurn, Role, Text};

/// A claim that the work is done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Claim {
    /// Line of the input.
    pub(super) line: u64,
    pub(super) text: String,
    /// The whole last message.
    pub(super) message: String,
}

/// Finds claims.
pub(super) struct ClaimFinder<'p> {
    /// Patterns that decide, for any line and for the last one.
    decisive: PatternSet,
    plans: PatternSet,
    /// Those of reports, which are tried if no other decides.
    reports: PatternSet,
    signal: &'p SignalPolicy,
}

/// The meaning of a pattern's hit; that of a pattern of the settings is [`Kind::Report`]. See the
/// pack `reports`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Kind {
    Done,
    Report,
    Open,
    Doubt,
    Plan,
}

impl<'p> ClaimFinder<'p> {
    /// A finder for the patterns of a policy and the pack `reports`.
    ///
    /// # Errors
    ///
    /// A pattern of the settings that does not compile.
    pub(super) fn new(policy: &'p Policy) -> Result<Self, PatternError> {
        let mut all = policy.patterns.clone();
        all.extend(Pack::reports());
        let of = |is: fn(Kind) -> bool| {
            let kind = |pattern: &Pattern| Kind::new(&pattern.pack, &pattern.id);
            let patterns = all.iter().filter(|pattern| is(kind(pattern))).cloned().collect();
            PatternSet::from_policy(&Policy { patterns, ..policy.clone() })
        };
        Ok(Self {
            decisive: of(|kind| matches!(kind, Kind::Done | Kind::Open | Kind::Doubt))?,
            plans: of(|kind| kind == Kind::Plan)?,
            reports: of(|kind| kind == Kind::Report)?,
            signal: &policy.signal,
        })
    }

    /// The claim in the agent's last message.
    pub(super) fn find(&self, last: &FinalTurn) -> Option<Claim> {
        let message = last.words().next()?;
        let signal = Signal::read(last, self.signal).without_token();
        let claim = |line, text| Claim { line, text, message: message.text.clone() };
        match signal.status {
            Status::Complete => {
                let line = signal.line.unwrap_or(message.line);
                Some(claim(line, "an explicit signal".to_owned()))
            }
            Status::Blocked => None,
            status => {
                let hit = self.report(&message.text, status == Status::Continue)?;
                let lines_before = if message.multiline { hit.line - 1 } else { 0 };
                Some(claim(message.line + lines_before, hit.excerpt))
            }
        }
    }

    /// The words that report finished work. `goes_on` if a signal says that work remains: then
    /// a list of what was done is no claim, and the word that it is done is one.
    fn report(&self, message: &str, goes_on: bool) -> Option<Hit> {
        let mut lines = prose(message);
        if lines.is_empty() {
            // A report may stand in a frame.
            lines =
                (1..).zip(message.lines()).filter(|(_, line)| !line.trim().is_empty()).collect();
        }
        let (last_number, last) = lines.last()?;
        if !hits(&self.plans, last, *last_number).is_empty() {
            return None;
        }
        let (mut done, mut begins, mut is_open, mut is_doubted) = (None, None, false, false);
        for (at, (number, line)) in lines.iter().enumerate() {
            for (kind, hit) in hits(&self.decisive, line, *number) {
                match kind {
                    Kind::Done => {
                        if at == 0 && hit.pattern == DONE_WORD {
                            begins = Some(hit.clone());
                        }
                        done.get_or_insert(hit);
                        is_open = false;
                    }
                    Kind::Open => (done, is_open) = (None, true),
                    Kind::Doubt => is_doubted = true,
                    Kind::Report | Kind::Plan => {}
                }
            }
        }
        match done {
            _ if is_open => begins,
            None if goes_on || is_doubted => None,
            None => lines.iter().find_map(|(number, line)| {
                hits(&self.reports, line, *number).into_iter().next().map(|(_, hit)| hit)
            }),
            done => done,
        }
    }
}

/// The pattern of a sentence that begins with the word for done. If a message begins so, what it
/// leaves open is no part of the work.
const DONE_WORD: &str = "done-word";

/// The hits of patterns in a line; what is said to be done before what is open.
fn hits(patterns: &PatternSet, line: &str, number: u64) -> Vec<(Kind, Hit)> {
    let mut counter = Counter::new(patterns);
    let role = Role::Assistant;
    let text = Text { role, text: line, line: number, multiline: true, continues: false };
    counter.event(&Event::Text(text));
    let hits = counter.finish(|_| true).into_iter();
    let mut hits: Vec<_> = hits.map(|hit| (Kind::new(&hit.pack, &hit.pattern), hit)).collect();
    hits.sort_by_key(|(kind, _)| *kind);
    hits
}

impl Kind {
    fn new(pack: &str, pattern: &str) -> Self {
        if pack != "reports" {
            return Self::Report;
        }
        match pattern.split('-').next() {
            Some("done") => Self::Done,
            Some("open") => Self::Open,
            Some("doubt") => Self::Doubt,
            Some("plan") => Self::Plan,
            _ => Self::Report,
        }
    }
}

/// The lines of a message with their numbers from 1, without empty ones, blocks of code and
/// quotations.
fn prose(message: &str) -> Vec<(u64, &str)> {
    let mut fence = None;
    let mut lines = Vec::new();
    for (number, line) in (1..).zip(message.lines()) {
        let begin = line.trim_start();
        let mark = ["```", "~~~"].into_iter().find(|mark| begin.starts_with(mark));
        match (fence, mark) {
            (None, Some(mark)) => fence = Some(mark),
            (Some(open), Some(mark)) if open == mark => fence = None,
            (None, None) if !begin.is_empty() && !begin.starts_with('>') => {
                lines.push((number, line));
            }
            _ => {}
        }
    }
    lines
}

#[cfg(test)]
mod tests;
