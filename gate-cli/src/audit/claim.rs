//! The claim in an agent's last message: the work is done, in an explicit signal or in prose.

use gate_core::Policy;
use gate_core::config::Pack;
use gate_core::decide::indicator::{Counter, Hit, PatternError, PatternSet};
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
    patterns: PatternSet,
    signal: &'p SignalPolicy,
}

/// The meaning of a pattern's hit; that of a pattern of the settings is [`Kind::Report`]. See the
/// pack `reports`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
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
        let mut all = policy.clone();
        all.patterns.extend(Pack::reports());
        Ok(Self { patterns: PatternSet::from_policy(&all)?, signal: &policy.signal })
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
        let (mut done, mut report, mut is_open, mut is_doubted) = (None, None, false, false);
        let mut is_cut = false;
        let mut begins_done = None;
        let first = lines.first().map(|(number, _)| *number);
        for (number, line) in lines {
            let hits = self.hits(line, number);
            let of = |kind| hits.iter().find(|(known, _)| *known == kind).map(|(_, hit)| hit);
            if let Some(hit) = of(Kind::Done) {
                done.get_or_insert_with(|| hit.clone());
                is_open = false;
                if Some(number) == first {
                    begins_done = hits
                        .iter()
                        .find(|(_, hit)| hit.pattern == "done-word")
                        .map(|(_, hit)| hit.clone());
                }
            }
            if of(Kind::Open).is_some() {
                (done, is_open) = (None, true);
            }
            report = report.or_else(|| of(Kind::Report).cloned());
            is_doubted |= of(Kind::Doubt).is_some();
            is_cut = of(Kind::Plan).is_some();
        }
        if is_cut || is_open {
            return begins_done.filter(|_| !is_cut);
        }
        done.or(if goes_on || is_doubted { None } else { report })
    }

    fn hits(&self, line: &str, number: u64) -> Vec<(Kind, Hit)> {
        let mut counter = Counter::new(&self.patterns);
        let role = Role::Assistant;
        let text = Text { role, text: line, line: number, multiline: true, continues: false };
        counter.event(&Event::Text(text));
        counter.finish(|_| true).into_iter().map(|hit| (Kind::from(&hit), hit)).collect()
    }
}

impl From<&Hit> for Kind {
    fn from(hit: &Hit) -> Self {
        if hit.pack != "reports" {
            return Self::Report;
        }
        match hit.pattern.split('-').next() {
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
