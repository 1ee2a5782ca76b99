//! The claim in an agent's last message: the work is done, in an explicit signal or in prose.

use gate_core::Policy;
use gate_core::config::Pack;
use gate_core::decide::indicator::{Counter, Hit, PatternError, PatternSet};
use gate_core::decide::policy::SignalPolicy;
use gate_core::decide::signal::{Signal, Status};
use gate_transcript::{Event, FinalTurn, Role, Text};

/// A claim that the work is done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Claim {
    /// Line of the input.
    pub line: u64,
    /// The sentence that claims; none if the message is nothing but a signal.
    pub quote: Option<String>,
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

/// A sentence that claims completion.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Sentence {
    /// The line of the message, from 1.
    number: u64,
    text: String,
}

/// The shortest text that says what was done, in characters: a shorter sentence is quoted with its
/// neighbour.
const MIN_QUOTE_CHARS: usize = 25;

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
        let sentence = match signal.status {
            Status::Complete => self.sentence_beside_signal(&message.text),
            Status::Blocked => return None,
            status => Some(self.report(&message.text, status == Status::Continue)?),
        };
        let line = match &sentence {
            None => signal.line.unwrap_or(message.line),
            Some(sentence) if message.multiline => message.line + sentence.number - 1,
            Some(_) => message.line,
        };
        let quote = sentence.map(|sentence| sentence.text);
        Some(Claim { line, quote, message: message.text.clone() })
    }

    /// The first sentence that says, beside an explicit signal, that the work is done.
    fn sentence_beside_signal(&self, message: &str) -> Option<Sentence> {
        let lines = prose(message).into_iter().filter(|(_, line)| !is_signal(line));
        let mut hits = lines.flat_map(|(number, line)| {
            let hits = hits(&self.lines, line, number).into_iter();
            hits.map(move |(kind, hit)| (kind, Sentence::around(&hit, line, number)))
        });
        hits.find(|(kind, _)| *kind == Kind::Done).map(|(_, sentence)| sentence)
    }

    /// The words that report finished work. An agent that has changed files ends with a report,
    /// in any words and any language, unless the message says otherwise. `goes_on` if a signal
    /// says that work remains: then only the word that it is done is a claim.
    fn report(&self, message: &str, goes_on: bool) -> Option<Sentence> {
        let lines = prose(message);
        let (&(first_number, first), &(last_number, last)) = (lines.first()?, lines.last()?);
        let is_alone = lines.len() == 1 && is_question_or_label(last);
        let asks = last.trim_end_matches([' ', '*', '_']).ends_with(['?', '？', '؟']);
        // A plan may end with the heading of its first step.
        let final_line = lines.iter().rev().find(|(_, line)| !is_heading(line));
        let &(number, final_line) = final_line.unwrap_or(&(last_number, last));
        if !hits(&self.plans, final_line, number).is_empty() {
            return None;
        }
        let (mut done, mut begins, mut is_open) = (None, None, false);
        // A report without a word of completion does not end in a question.
        let mut is_doubted = is_alone || asks;
        for (number, line) in lines {
            for (kind, hit) in hits(&self.lines, line, number) {
                match kind {
                    // A table counts what is done and what is not.
                    Kind::Done if line.starts_with('|') => {}
                    Kind::Done => {
                        let sentence = Sentence::around(&hit, line, number);
                        if number == first_number && BEGINNINGS.contains(&&*hit.pattern) {
                            begins = Some(sentence.clone());
                        }
                        done.get_or_insert(sentence);
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
            None => Some(Sentence::at(first, 0, first_number)),
            done => done,
        }
    }
}

impl Sentence {
    /// The sentence of a hit.
    fn around(hit: &Hit, line: &str, number: u64) -> Self {
        let column = (hit.column as usize).saturating_sub(1);
        let offset = line.char_indices().nth(column).map_or(0, |(offset, _)| offset);
        // A pattern may begin at the end of the sentence before.
        let skipped = hit.matched.find(char::is_alphanumeric).unwrap_or(0);
        let offset = (offset + skipped).min(line.len());
        Self::at(line, line.floor_char_boundary(offset), number)
    }

    /// The sentence at this offset of a line, as it stands there, without the marks of a heading or a
    /// list.
    fn at(line: &str, offset: usize, number: u64) -> Self {
        let ends = sentence_ends(line);
        let mut start = ends.iter().rfind(|end| **end <= offset).copied().unwrap_or(0);
        if line[..start].chars().count() <= MIN_QUOTE_CHARS {
            start = 0;
        }
        let is_long = |end: &&usize| {
            **end > offset && line[start..**end].trim().chars().count() >= MIN_QUOTE_CHARS
        };
        let end = ends.iter().find(is_long).copied().unwrap_or(line.len());
        let text = line[start..end].trim_matches(|c: char| c.is_whitespace() || "#>•".contains(c));
        let text =
            ["- ", "* ", "+ "].iter().find_map(|mark| text.strip_prefix(mark)).unwrap_or(text);
        Self { number, text: text.trim_end_matches([':', '：']).to_owned() }
    }
}

/// The offsets behind the sentences of a line.
fn sentence_ends(line: &str) -> Vec<usize> {
    let mut ends = Vec::new();
    for (offset, letter) in line.char_indices() {
        let end = offset + letter.len_utf8();
        let is_wide_end = matches!(letter, '。' | '！' | '？');
        let is_end = matches!(letter, '.' | '!' | '?');
        if is_wide_end || (is_end && line[end..].starts_with(' ')) {
            ends.push(end);
        }
    }
    ends
}

/// A line of a signal, which is read as such.
fn is_signal(line: &str) -> bool {
    let key =
        line.trim_matches(|c: char| c.is_whitespace() || "*`-_".contains(c)).split(':').next();
    let is_key = |key: &str| {
        key.len() > 3 && key.chars().all(|c| c.is_ascii_uppercase() || matches!(c, '_' | ' '))
    };
    line.contains("<promise>") || key.is_some_and(is_key)
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
    let is_bold = line.strip_prefix("**").and_then(|text| text.strip_suffix("**"));
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
