//! Candidates: whatever in the last word may be a signal, and what is left of
//! them.

use std::ops::Range;

use super::layout::Layout;
use super::{NearMiss, agent_exit, custom, exit_status, promise, ralph_status};
use crate::decide::policy::{SignalPolicy, SignalValue, Spelling};
use crate::protocol::exit::ExitSignal;
use crate::read::Word;
use crate::text::clean_lines;

/// The most candidates of one spelling that are judged: the last ones. Each is
/// held against the text around it, and a hostile message may repeat one
/// without end.
pub(super) const CANDIDATES: usize = 200;

/// Why the form of a signal is none.
pub(super) const PLACEHOLDER: &str = "a placeholder, not a signal";

/// The longest text of the agent that a signal carries, in characters.
const LONGEST: usize = 2_000;

/// Something in the last word that may be a signal.
#[derive(Debug)]
pub(super) struct Candidate {
    pub(super) spelling: Spelling,
    pub(super) line: u64,
    /// The line of the message, which orders candidates.
    pub(super) at: usize,
    /// The bytes of the message that it takes up.
    pub(super) span: Range<usize>,
    /// What a person is shown.
    pub(super) text: String,
    /// What counts as the signal, and not as an indicator.
    pub(super) taken: Vec<String>,
    pub(super) says: Says,
}

#[derive(Debug)]
pub(super) enum Says {
    /// It is a signal.
    Something(Statement),
    /// It is none, for this reason.
    Nothing(String),
    /// It would say that the work goes on, were it not for this reason. After
    /// a completion that is doubt enough.
    Doubt(String),
    /// It is one that cannot be read.
    Mangled(String),
}

/// What a signal says.
#[derive(Debug)]
pub(super) struct Statement {
    pub(super) value: SignalValue,
    pub(super) reason: Option<String>,
    pub(super) remaining_work: Option<String>,
    pub(super) confidence: Option<String>,
    pub(super) override_requested: bool,
    pub(super) agrees: bool,
    pub(super) problems: Vec<String>,
    pub(super) exit_signal: Option<Box<ExitSignal>>,
}

impl Statement {
    pub(super) fn new(value: SignalValue) -> Self {
        Self {
            value,
            reason: None,
            remaining_work: None,
            confidence: None,
            override_requested: false,
            agrees: false,
            problems: Vec::new(),
            exit_signal: None,
        }
    }
}

impl Candidate {
    pub(super) fn flaw(&self) -> Option<String> {
        match &self.says {
            Says::Mangled(why) => Some(format!("line {}: {why}", self.line)),
            Says::Something(_) | Says::Nothing(_) | Says::Doubt(_) => None,
        }
    }

    /// Which candidate stands for all: what forbids most.
    pub(super) fn weight(&self) -> u8 {
        match &self.says {
            Says::Something(statement) => match statement.value {
                SignalValue::Continue => 4,
                SignalValue::Blocked => 3,
                SignalValue::Complete if !statement.problems.is_empty() => 2,
                SignalValue::Complete => 1,
            },
            Says::Mangled(_) => 5,
            Says::Nothing(_) | Says::Doubt(_) => 0,
        }
    }

    /// Whether it counts under this policy. That the work goes on counts
    /// whatever its spelling.
    fn counts(&self, policy: &SignalPolicy) -> bool {
        let accepted = self.spelling == Spelling::Custom || policy.accept.contains(&self.spelling);
        let goes_on = matches!(&self.says, Says::Something(statement) if statement.value == SignalValue::Continue);
        accepted || goes_on
    }

    pub(super) fn completes(&self) -> bool {
        matches!(&self.says, Says::Something(statement) if statement.value == SignalValue::Complete)
    }

    pub(super) fn miss(&self, why: &str) -> NearMiss {
        NearMiss { text: cut(&self.text), line: self.line, why: cut(why) }
    }

    fn not_accepted(&self) -> String {
        format!("`{}` is not in signal.accept", self.spelling.name())
    }
}

/// All candidates in a message, in no particular order.
pub(super) fn candidates(word: &Word, policy: &SignalPolicy) -> Vec<Candidate> {
    let layout = Layout::new(word);
    let mut found = exit_status::candidates(&layout);
    found.extend(ralph_status::candidates(&layout));
    found.extend(promise::candidates(&layout, &policy.phrases));
    found.extend(agent_exit::candidates(&layout, policy.exit_protocol));
    found.extend(custom::candidates(&layout, &policy.custom));
    found
}

/// What is left of all candidates.
#[derive(Default)]
pub(super) struct Sifted {
    /// The last one of each spelling that is a signal.
    pub(super) last: Vec<Candidate>,
    /// All that are none.
    pub(super) misses: Vec<NearMiss>,
    /// The texts of examples, mentions and placeholders: they say nothing, so
    /// they are no indicators either.
    pub(super) refused: Vec<String>,
    /// Why a completion among the first is doubtful.
    pub(super) doubts: Vec<String>,
}

pub(super) fn sift(mut candidates: Vec<Candidate>, policy: &SignalPolicy) -> Sifted {
    candidates.sort_by_key(|candidate| candidate.at);
    let mut sifted = Sifted::default();
    let mut doubtful = Vec::new();
    for candidate in candidates {
        match &candidate.says {
            Says::Nothing(why) => {
                sifted.misses.push(candidate.miss(why));
                sifted.refused.extend(candidate.taken);
            }
            Says::Doubt(why) => {
                sifted.misses.push(candidate.miss(why));
                doubtful.push((candidate.at, candidate.line, candidate.text));
            }
            _ if !candidate.counts(policy) => {
                sifted.misses.push(candidate.miss(&candidate.not_accepted()));
            }
            _ => {
                sifted.last.retain(|other| other.spelling != candidate.spelling);
                sifted.last.push(candidate);
            }
        }
    }
    let completed = sifted.last.iter().filter(|one| one.completes()).map(|one| one.at).max();
    let after =
        doubtful.into_iter().filter(|(at, ..)| completed.is_some_and(|completed| *at > completed));
    sifted.doubts = after
        .map(|(_, line, text)| format!("line {line}: `{text}` follows the completion"))
        .collect();
    sifted.misses.sort_by_key(|miss| miss.line);
    sifted
}

/// Two spellings that say different things.
pub(super) fn disagreement(last: &[Candidate]) -> Option<String> {
    let values: Vec<_> = last
        .iter()
        .filter_map(|candidate| match &candidate.says {
            Says::Something(statement) => Some((candidate, statement.value)),
            Says::Nothing(_) | Says::Doubt(_) | Says::Mangled(_) => None,
        })
        .collect();
    let (first, value) = values.first()?;
    let (other, _) = values.iter().find(|(_, other)| other != value)?;
    Some(format!(
        "line {}: `{}` contradicts line {}: `{}`",
        first.line, first.text, other.line, other.text
    ))
}

/// The agent's text, cut to a length that records and terminals can bear, and without
/// what a terminal obeys.
pub(super) fn cut(text: &str) -> String {
    let text = &clean_lines(text);
    match text.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}
