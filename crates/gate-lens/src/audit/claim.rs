//! The claim in an agent's last message: the work is done, in an explicit signal or in prose.

use gate_core::Policy;
use gate_core::config::Pack;
use gate_core::decide::indicator::{Counter, Hit, PatternError, PatternSet, excerpt};
use gate_core::decide::policy::SignalPolicy;
use gate_core::decide::signal::{Signal, Status};
use gate_transcript::{Event, FinalTurn, Role, Text};

/// A claim that the work is done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Claim {
    /// Line of the input.
    pub line: u64,
    pub text: String,
    /// The whole last message.
    pub message: String,
}

/// Finds claims.
pub(crate) struct ClaimFinder<'p> {
    /// Patterns for any line, and those for the last one.
    lines: PatternSet,
    plans: PatternSet,
    signal: &'p SignalPolicy,
}

/// The meaning of a pattern's hit. See the pack `reports`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Kind {
    Done,
    Open,
    Doubt,
    Order,
    Plan,
}

/// A line of a message, from 1, and the words in it that claim completion.
type Words = (u64, String);

impl<'p> ClaimFinder<'p> {
    /// A finder for the signals and the language of a policy.
    ///
    /// # Errors
    ///
    /// A rule of language in the settings that does not compile.
    pub(crate) fn new(policy: &'p Policy) -> Result<Self, PatternError> {
        let (plans, lines) = Pack::reports()
            .into_iter()
            .partition(|pattern| Kind::from_pattern(&pattern.id) == Kind::Plan);
        let set = |patterns| {
            let mut policy = policy.clone();
            policy.patterns = patterns;
            PatternSet::from_policy(&policy)
        };
        Ok(Self { lines: set(lines)?, plans: set(plans)?, signal: &policy.signal })
    }

    /// The claim in the agent's last message.
    pub(crate) fn find(&self, last: &FinalTurn) -> Option<Claim> {
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
                let (line, words) = self.report(&message.text, status == Status::Continue)?;
                let lines_before = if message.multiline { line - 1 } else { 0 };
                Some(claim(message.line + lines_before, words))
            }
        }
    }

    /// The words that report finished work. An agent that has changed files ends with a report,
    /// in any words and any language, unless the message says otherwise. `goes_on` if a signal
    /// says that work remains: then only the word that it is done is a claim.
    fn report(&self, message: &str, goes_on: bool) -> Option<Words> {
        let lines = prose(message);
        let (&(first_number, first), &(last_number, last)) = (lines.first()?, lines.last()?);
        let is_alone = lines.len() == 1 && is_question_or_label(last);
        // A plan may end with the heading of its first step.
        let final_line = lines.iter().rev().find(|(_, line)| !is_heading(line));
        let &(number, final_line) = final_line.unwrap_or(&(last_number, last));
        if !hits(&self.plans, final_line, number).is_empty() {
            return None;
        }
        let (mut done, mut begins, mut is_open, mut is_doubted) = (None, None, false, is_alone);
        for (number, line) in lines {
            for (kind, hit) in hits(&self.lines, line, number) {
                match kind {
                    // A table counts what is done and what is not.
                    Kind::Done if line.starts_with('|') => {}
                    Kind::Done => {
                        if number == first_number && BEGINNINGS.contains(&&*hit.pattern) {
                            begins = Some((number, hit.excerpt.clone()));
                        }
                        done.get_or_insert((number, hit.excerpt));
                        is_open = false;
                    }
                    Kind::Open => (done, is_open) = (None, true),
                    Kind::Doubt => is_doubted = true,
                    Kind::Order => is_doubted |= number == first_number,
                    Kind::Plan => {}
                }
            }
        }
        match done {
            _ if is_open => begins,
            None if goes_on || is_doubted => None,
            None => Some((first_number, excerpt(first, 0))),
            done => done,
        }
    }
}

/// Patterns of a sentence that begins with what was done. If a message begins so, what it leaves
/// open is no part of the work.
const BEGINNINGS: [&str; 2] = ["done-word", "done-first"];

/// The hits of patterns in a line: those of finished work before those of open work.
fn hits(patterns: &PatternSet, line: &str, number: u64) -> Vec<(Kind, Hit)> {
    let mut counter = Counter::new(patterns);
    let role = Role::Assistant;
    let text = Text { role, text: line, line: number, multiline: true, continues: false };
    counter.event(&Event::Text(text));
    let hits = counter.finish(|_| true).into_iter();
    let mut hits: Vec<_> = hits.map(|hit| (Kind::from_pattern(&hit.pattern), hit)).collect();
    hits.sort_by_key(|(kind, _)| *kind);
    hits
}

impl Kind {
    /// The kind that a pattern's id begins with.
    fn from_pattern(id: &str) -> Self {
        match id.split('-').next() {
            Some("open") => Self::Open,
            Some("doubt") => Self::Doubt,
            Some("order") => Self::Order,
            Some("plan") => Self::Plan,
            _ => Self::Done,
        }
    }
}

/// A line that asks, leads on to what stands below, or is the heading of something that is not
/// there.
fn is_question_or_label(line: &str) -> bool {
    let line = line.trim_end();
    let is_label = line.ends_with([':', '：']) && !line.contains(['.', '!', '。', '！']);
    is_label || line.ends_with(['?', '？']) || is_heading(line)
}

fn is_heading(line: &str) -> bool {
    let line = line.trim();
    let is_bold = line.strip_prefix("**").and_then(|rest| rest.strip_suffix("**"));
    line.starts_with("##")
        || is_bold
            .is_some_and(|text| !text.contains('*') && !text.ends_with(['.', '!', '?', '。', '！']))
}

/// The lines of a message with their numbers from 1, without empty ones, blocks of code and
/// quotations; those if there is nothing else, since a report may stand in a frame.
fn prose(message: &str) -> Vec<(u64, &str)> {
    let (mut fence, mut prose, mut framed) = (None, Vec::new(), Vec::new());
    for (number, line) in (1..).zip(message.lines()) {
        let begin = line.trim_start();
        let mark = ["```", "~~~"].into_iter().find(|mark| begin.starts_with(mark));
        match (fence, mark) {
            (None, Some(mark)) => fence = Some(mark),
            (Some(open), Some(mark)) if open == mark => fence = None,
            _ if begin.is_empty() => {}
            (None, None) if !begin.starts_with('>') => prose.push((number, line)),
            _ => framed.push((number, line)),
        }
    }
    if prose.is_empty() { framed } else { prose }
}

#[cfg(test)]
mod tests;
