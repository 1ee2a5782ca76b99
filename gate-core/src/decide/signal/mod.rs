//! The explicit signal: what the agent itself says about being done.
//!
//! Every spelling finds its candidates in the last word; each candidate either
//! says something or is kept as a near miss with the reason why it says
//! nothing. Of one spelling the last statement counts; spellings that disagree
//! contradict each other. The result is one [`Signal`], with its problems
//! inside: it is [`Status::Complete`] only without problems.

mod candidate;
mod context;
mod layout;
mod marker;
mod objection;
mod other_spellings;
mod prompt;
mod spelling;
mod text_after;
mod text_before;
mod token;
mod unchecked;
mod value;
mod work_left;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::language::Language;
use super::policy::{SignalPolicy, SignalValue, TokenMode};
use crate::exit::ExitSignal;
use candidate::{
    Candidate, Reading, Selection, Statement, cut, disagreement, refuse_examples, select,
};
use gate_transcript::{FinalTurn, Word};
use layout::Layout;
use token::{SeenToken, is_token_line};
use work_left::{OpenWork, is_said_in};

pub use candidate::NearMiss;
pub use prompt::prompt;
pub use spelling::Spelling;
pub use spelling::agent_exit::{ExitSighting, NoSignal, exit_signals};
pub(crate) use spelling::promise::BLOCKED;
pub use token::{TokenFinding, TokenHalves, TokenKey, TokenState};
pub use unchecked::UncheckedSignal;
pub use work_left::WorkLeft;

/// The problem of a signal with a damaged record behind it.
pub(crate) const UNREAD: &str = "what follows the signal could not be read";

/// The reason why a signal before the last word does not count.
const EARLIER_MESSAGE: &str =
    "it stands in an earlier message of this turn; the last message is what counts";

/// The most near misses that are kept.
const MAX_NEAR_MISSES: usize = 20;

/// A line that could be read as a signal, or as a part of one.
pub(super) fn says_signal(line: &str, policy: &SignalPolicy) -> bool {
    let mut parts = Spelling::ALL.iter().flat_map(|spelling| spelling.parts());
    parts.any(|part| part.stands_in(line)) || !candidates(&Word::whole(line), policy).is_empty()
}

/// The agent's own statement about being done.
#[non_exhaustive]
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Signal {
    /// The status that follows from the statement and its problems.
    pub status: Status,
    /// The spelling that it was read from.
    pub source: Option<Spelling>,
    /// The agent's reason.
    pub reason: Option<String>,
    /// The work that remains, in the agent's words.
    pub remaining_work: Option<String>,
    /// The agent's confidence, in lower case.
    pub confidence: Option<String>,
    /// The agent asks to bypass the threshold.
    pub override_requested: bool,
    /// Line of the input, from 1.
    pub line: Option<u64>,
    /// The reasons why a signal is not taken at its word.
    pub problems: Vec<String>,
    /// Texts that look like a signal, and do not count as one.
    pub near_misses: Vec<NearMiss>,
    /// Other fields of the signal confirm its status, which counts as one
    /// indicator.
    #[serde(default)]
    pub fields_agree: bool,
    /// The agent's final message is the signal and nothing else, markup aside.
    #[serde(default)]
    pub whole_message: bool,
    /// Sentences beside a completion that say that work of the task is left.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub work_left: Vec<WorkLeft>,
    /// The state of its token, if a token is required.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub token: Option<TokenState>,
    /// The exit signal of the agent exit protocol, if it was read from one.
    #[serde(skip)]
    pub exit_signal: Option<Box<ExitSignal>>,
    /// The texts of the signal and its fields: they are no indicators as well.
    #[serde(skip)]
    pub texts: Vec<String>,
}

/// The status of a signal.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Status {
    /// The agent says that it is done, without any problem.
    Complete,
    /// The agent says that work remains, or contradicts itself.
    Continue,
    /// The agent says that it cannot go on.
    Blocked,
    /// No signal was found.
    Absent,
    /// A signal was found that cannot be read.
    Invalid,
}

impl Signal {
    /// No signal.
    pub fn absent() -> Self {
        Self {
            status: Status::Absent,
            source: None,
            reason: None,
            remaining_work: None,
            confidence: None,
            override_requested: false,
            line: None,
            problems: Vec::new(),
            near_misses: Vec::new(),
            fields_agree: false,
            whole_message: false,
            work_left: Vec::new(),
            token: None,
            exit_signal: None,
            texts: Vec::new(),
        }
    }

    /// The signal is a tag or a block, which nothing else looks like, a status with a field
    /// beside it, or the whole message.
    pub(super) fn is_spelled_out(&self) -> bool {
        let has_field = self.reason.is_some() || self.remaining_work.is_some();
        match self.source {
            None => false,
            Some(Spelling::ExitStatus) => has_field || self.whole_message,
            Some(_) => true,
        }
    }

    /// Reads the signal from the final turn.
    pub fn read(turn: &FinalTurn, policy: &SignalPolicy) -> UncheckedSignal {
        let mut near_misses = Vec::new();
        // A message that only answers a notification of a background task often does not
        // repeat the status. If it holds no signal, the message before it counts.
        for word in turn.words() {
            let UncheckedSignal { mut signal, claim } = Self::from_message(word, policy);
            if signal.status != Status::Absent || !word.answers_notification {
                signal.near_misses.append(&mut near_misses);
                return UncheckedSignal { signal: signal.with_near_misses(turn, policy), claim };
            }
            near_misses.append(&mut signal.near_misses);
        }
        let signal = Self { near_misses, ..Self::absent() }.with_near_misses(turn, policy);
        UncheckedSignal { signal, claim: None }
    }

    /// Without a signal, one in an earlier message of the turn is a near miss.
    fn with_near_misses(mut self, turn: &FinalTurn, policy: &SignalPolicy) -> Self {
        if self.status == Status::Absent {
            for word in turn.earlier() {
                let signals = select(candidates(word, policy), policy).signals;
                let near_misses = signals.iter().map(|signal| signal.near_miss(EARLIER_MESSAGE));
                self.near_misses.extend(near_misses);
            }
            if let Some(word) = turn.words().next() {
                let layout = Layout::new(word, &policy.language);
                self.near_misses.extend(other_spellings::near_misses(&layout));
            }
            self.near_misses.sort_by_key(|miss| miss.line);
        }
        self.near_misses.truncate(MAX_NEAR_MISSES);
        self
    }

    fn from_message(word: &Word, policy: &SignalPolicy) -> UncheckedSignal {
        let Selection { signals, near_misses, refused_texts, doubts } =
            select(candidates(word, policy), policy);
        let index = weightiest(&signals).map(|weightiest| signals[weightiest].index);
        let spans: Vec<_> = signals.iter().map(|candidate| candidate.span.clone()).collect();
        let mut signal = Self::combine(signals);
        signal.texts.extend(refused_texts);
        signal.near_misses = near_misses;
        signal.problems.extend(doubts);
        signal.settle();
        let layout = Layout::new(word, &policy.language);
        let needs_token = policy.token == TokenMode::Required;
        if signal.status == Status::Complete {
            signal.whole_message =
                layout.is_covered_by(&spans, |line| needs_token && is_token_line(line));
            signal.weigh_open_work(OpenWork::read(&layout, &spans), &policy.language);
        }
        if word.clipped && signal.status == Status::Absent {
            signal.problems.push("the message is very long; only its end was searched".to_owned());
        }
        match index {
            Some(index) if needs_token => signal.await_token(SeenToken::beside(&layout, index)),
            _ => UncheckedSignal { signal, claim: None },
        }
    }

    /// A mark of open work contradicts the completion; a sentence about it is kept beside it.
    fn weigh_open_work(&mut self, words: OpenWork, language: &Language) {
        let marks = words.marks.iter();
        self.problems.extend(
            marks.map(|mark| format!("complete, but the final message marks work as open: {mark}")),
        );
        if self.source == Some(Spelling::ExitStatus)
            && let Some(reason) = self.reason.as_deref().filter(|text| is_said_in(language, text))
        {
            self.problems.push(format!("EXIT_STATUS: COMPLETE, but EXIT_REASON: {reason}"));
        }
        self.work_left = words.sentences;
        self.settle();
    }

    /// One signal from the last candidate of each spelling.
    fn combine(mut signals: Vec<Candidate>) -> Self {
        // A signal that cannot be read may have been a CONTINUE, and spellings that disagree
        // cannot both be right: both forbid a completion instead of losing to it.
        let flaws: Vec<_> = signals.iter().filter_map(Candidate::flaw).collect();
        let disagreement = disagreement(&signals);
        let Some(weightiest) = weightiest(&signals) else { return Self::absent() };
        let mut signal = Self::from_candidate(signals.swap_remove(weightiest));
        signal.problems.extend(disagreement);
        signal.problems.extend(flaws);
        signal.settle();
        signal
    }

    fn from_candidate(candidate: Candidate) -> Self {
        let mut signal = Self {
            source: Some(candidate.spelling),
            line: Some(candidate.line),
            texts: candidate.texts,
            ..Self::absent()
        };
        match candidate.reading {
            Reading::Signal(statement) => signal.apply(statement),
            Reading::Unreadable(_) | Reading::Rejected(_) | Reading::Doubtful(_) => {
                signal.status = Status::Invalid;
            }
        }
        signal
    }

    /// Holds the invariant: complete only without problems.
    fn settle(&mut self) {
        self.problems.dedup();
        self.problems = self.problems.iter().map(|problem| cut(problem)).collect();
        if self.status == Status::Complete && !self.problems.is_empty() {
            self.status = Status::Continue;
        }
    }

    fn apply(&mut self, statement: Statement) {
        self.status = match statement.value {
            SignalValue::Complete => Status::Complete,
            SignalValue::Continue => Status::Continue,
            SignalValue::Blocked => Status::Blocked,
        };
        self.problems = statement.problems;
        self.reason = statement.reason.as_deref().map(cut);
        self.remaining_work = statement.remaining_work.as_deref().map(cut);
        self.confidence = statement.confidence;
        self.override_requested = statement.override_requested;
        self.exit_signal = statement.exit_signal;
        self.fields_agree = statement.fields_agree && self.status == Status::Complete;
    }
}

/// All candidates in a message, in no particular order.
fn candidates(word: &Word, policy: &SignalPolicy) -> Vec<Candidate> {
    let layout = Layout::new(word, &policy.language);
    let spellings = Spelling::ALL.iter();
    let mut candidates: Vec<_> =
        spellings.flat_map(|spelling| spelling.candidates(&layout, policy)).collect();
    refuse_examples(&mut candidates, &layout);
    candidates
}

/// The signal that stands for all: the one with the highest weight, of several the last.
fn weightiest(signals: &[Candidate]) -> Option<usize> {
    (0..signals.len()).max_by_key(|index| signals[*index].weight())
}

#[cfg(test)]
mod tests;
