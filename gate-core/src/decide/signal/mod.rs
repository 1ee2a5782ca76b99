//! The explicit signal: what the agent itself says about being done.
//!
//! Every spelling finds its candidates in the last word; each candidate either
//! says something or is kept as a near miss with the reason why it says
//! nothing. Of one spelling the last statement counts; spellings that disagree
//! contradict each other. The result is one [`Signal`], with its problems
//! inside: it is [`Status::Complete`] only where there are none.

mod aftermath;
mod agent_exit;
mod custom;
mod exit_status;
mod introduction;
mod layout;
mod place;
mod promise;
mod prompt;
mod ralph_status;
mod value;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::policy::{SignalPolicy, SignalValue, Spelling, TokenMode};
use crate::read::{FinalTurn, Word};
use layout::Layout;

pub use prompt::prompt;

/// The most candidates of one spelling that are judged: the last ones. Each is
/// held against the text around it, and a hostile message may repeat one
/// without end.
const CANDIDATES: usize = 200;

/// Why the form of a signal is none. It says nothing, so it is no indicator
/// either.
const PLACEHOLDER: &str = "a placeholder, not a signal";

/// Why a signal before the last word is none.
const EARLIER_MESSAGE: &str =
    "it stands in an earlier message of this turn; the last message is what counts";

/// The longest text of the agent that a signal carries, in characters.
const LONGEST: usize = 2_000;

/// The most near misses that are kept.
const NEAR_MISSES: usize = 20;

/// What the agent says about being done.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Signal {
    /// What it amounts to.
    pub status: Status,
    /// The spelling that it was read from.
    pub source: Option<Spelling>,
    /// The agent's reason.
    pub reason: Option<String>,
    /// What the agent says remains to be done.
    pub remaining_work: Option<String>,
    /// The agent's confidence, in lower case.
    pub confidence: Option<String>,
    /// Whether the agent asks to bypass the threshold.
    pub override_requested: bool,
    /// Line of the input, from 1.
    pub line: Option<u64>,
    /// Why a signal that was found is not taken at its word.
    pub problems: Vec<String>,
    /// Texts that look like a signal and are none.
    pub near_misses: Vec<NearMiss>,
    /// Whether other fields of the signal say the same in another way, which
    /// counts one indicator.
    #[serde(default)]
    pub fields_agree: bool,
    /// The texts that were taken as the signal and its fields: they are no
    /// indicators as well.
    #[serde(skip)]
    pub taken: Vec<String>,
}

/// What a signal amounts to.
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

/// A text that looks like a signal and is none.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct NearMiss {
    /// The text.
    pub text: String,
    /// Line of the input, from 1.
    pub line: u64,
    /// Why it is none, or what would make it one.
    pub why: String,
}

/// Something in the last word that may be a signal.
#[derive(Debug)]
struct Candidate {
    spelling: Spelling,
    line: u64,
    /// The line of the message, which orders candidates.
    at: usize,
    /// What a person is shown.
    text: String,
    /// What counts as the signal, and not as an indicator.
    taken: Vec<String>,
    says: Says,
}

#[derive(Debug)]
enum Says {
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
struct Statement {
    value: SignalValue,
    reason: Option<String>,
    remaining_work: Option<String>,
    confidence: Option<String>,
    override_requested: bool,
    token: Option<String>,
    agrees: bool,
    problems: Vec<String>,
}

impl Statement {
    fn new(value: SignalValue) -> Self {
        Self {
            value,
            reason: None,
            remaining_work: None,
            confidence: None,
            override_requested: false,
            token: None,
            agrees: false,
            problems: Vec::new(),
        }
    }
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
            taken: Vec::new(),
        }
    }

    /// Reads the signal from the final turn. `token` is the iteration's token
    /// where the policy requires one; without it nothing can be accepted.
    pub fn read(turn: &FinalTurn, policy: &SignalPolicy, token: Option<&str>) -> Self {
        let mut near_misses = Vec::new();
        for word in turn.words() {
            let mut signal = Self::of_word(word, policy, token);
            if signal.status != Status::Absent || !word.answers_notification {
                signal.near_misses.append(&mut near_misses);
                return signal.with_misses_of(turn, policy);
            }
            near_misses.append(&mut signal.near_misses);
        }
        Self { near_misses, ..Self::absent() }.with_misses_of(turn, policy)
    }

    /// Where nothing was found, a signal in an earlier message of the turn is
    /// a near miss.
    fn with_misses_of(mut self, turn: &FinalTurn, policy: &SignalPolicy) -> Self {
        if self.status == Status::Absent {
            for word in turn.earlier() {
                let last = sift(candidates(word, policy), policy).last;
                self.near_misses
                    .extend(last.iter().map(|one| one.miss(EARLIER_MESSAGE.to_owned())));
            }
            self.near_misses.sort_by_key(|miss| miss.line);
        }
        self.near_misses.truncate(NEAR_MISSES);
        self
    }

    fn of_word(word: &Word, policy: &SignalPolicy, token: Option<&str>) -> Self {
        let Sifted { last, misses, doubts } = sift(candidates(word, policy), policy);
        let mut signal = Self::combine(last, policy, token);
        let placeholders = misses.iter().filter(|miss| miss.why == PLACEHOLDER);
        signal.taken.extend(placeholders.map(|miss| miss.text.clone()));
        signal.near_misses = misses;
        signal.problems.extend(doubts);
        signal.settle();
        if word.clipped && signal.status == Status::Absent {
            signal
                .problems
                .push("the message is longer than 8 MiB; only its end was searched".to_owned());
        }
        signal
    }

    /// One signal from the last candidate of each spelling.
    fn combine(last: Vec<Candidate>, policy: &SignalPolicy, token: Option<&str>) -> Self {
        let mangled: Vec<_> = last.iter().filter_map(Candidate::flaw).collect();
        let disagree = disagreement(&last);
        let Some(chosen) = last.into_iter().max_by_key(Candidate::weight) else {
            return Self::absent();
        };
        let mut signal = chosen.into_signal(policy, token);
        signal.problems.extend(disagree);
        signal.problems.extend(mangled);
        signal.settle();
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
}

impl Candidate {
    fn flaw(&self) -> Option<String> {
        match &self.says {
            Says::Mangled(why) => Some(format!("line {}: {why}", self.line)),
            Says::Something(_) | Says::Nothing(_) | Says::Doubt(_) => None,
        }
    }

    /// Which candidate stands for all: what forbids most.
    fn weight(&self) -> u8 {
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

    fn into_signal(self, policy: &SignalPolicy, token: Option<&str>) -> Signal {
        let mut signal = Signal {
            source: Some(self.spelling),
            line: Some(self.line),
            taken: self.taken,
            ..Signal::absent()
        };
        match self.says {
            Says::Something(statement) => signal.take(statement, policy, token),
            Says::Mangled(_) | Says::Nothing(_) | Says::Doubt(_) => signal.status = Status::Invalid,
        }
        signal
    }
}

impl Signal {
    fn take(&mut self, statement: Statement, policy: &SignalPolicy, token: Option<&str>) {
        self.status = match statement.value {
            SignalValue::Complete => Status::Complete,
            SignalValue::Continue => Status::Continue,
            SignalValue::Blocked => Status::Blocked,
        };
        self.problems = statement.problems;
        if policy.token == TokenMode::Required
            && (token.is_none() || token != statement.token.as_deref())
        {
            self.problems.push("it does not carry this iteration's EXIT_TOKEN".to_owned());
        }
        self.reason = statement.reason.as_deref().map(cut);
        self.remaining_work = statement.remaining_work.as_deref().map(cut);
        self.confidence = statement.confidence;
        self.override_requested = statement.override_requested;
        self.fields_agree = statement.agrees && self.status == Status::Complete;
    }
}

/// All candidates in a message, in no particular order.
fn candidates(word: &Word, policy: &SignalPolicy) -> Vec<Candidate> {
    let layout = Layout::new(word);
    let mut found = exit_status::candidates(&layout);
    found.extend(ralph_status::candidates(&layout));
    found.extend(promise::candidates(&layout, &policy.phrases));
    found.extend(agent_exit::candidates(&layout));
    found.extend(custom::candidates(&layout, &policy.custom));
    found
}

/// What is left of all candidates.
#[derive(Default)]
struct Sifted {
    /// The last one of each spelling that is a signal.
    last: Vec<Candidate>,
    /// All that are none.
    misses: Vec<NearMiss>,
    /// Why a completion among the first is doubtful.
    doubts: Vec<String>,
}

fn sift(mut candidates: Vec<Candidate>, policy: &SignalPolicy) -> Sifted {
    candidates.sort_by_key(|candidate| candidate.at);
    let mut sifted = Sifted::default();
    let mut doubtful = Vec::new();
    for candidate in candidates {
        match &candidate.says {
            Says::Nothing(why) => sifted.misses.push(candidate.miss(why.clone())),
            Says::Doubt(why) => {
                sifted.misses.push(candidate.miss(why.clone()));
                doubtful.push((candidate.at, candidate.line, candidate.text));
            }
            _ if !candidate.counts(policy) => {
                sifted.misses.push(candidate.miss(candidate.not_accepted()))
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

impl Candidate {
    /// Whether it counts under this policy. That the work goes on counts
    /// whatever its spelling.
    fn counts(&self, policy: &SignalPolicy) -> bool {
        let accepted = self.spelling == Spelling::Custom || policy.accept.contains(&self.spelling);
        let goes_on = matches!(&self.says, Says::Something(statement) if statement.value == SignalValue::Continue);
        accepted || goes_on
    }

    fn completes(&self) -> bool {
        matches!(&self.says, Says::Something(statement) if statement.value == SignalValue::Complete)
    }
}

impl Candidate {
    fn miss(&self, why: String) -> NearMiss {
        NearMiss { text: cut(&self.text), line: self.line, why: cut(&why) }
    }

    fn not_accepted(&self) -> String {
        format!("`{}` is not in signal.accept", self.spelling.name())
    }
}

impl Spelling {
    /// Its name in settings and records.
    pub fn name(self) -> &'static str {
        match self {
            Self::ExitStatus => "exit_status",
            Self::RalphStatus => "ralph_status",
            Self::Promise => "promise",
            Self::AgentExit => "agent_exit",
            Self::Custom => "custom",
        }
    }
}

/// The agent's text, cut to a length that records and terminals can bear.
fn cut(text: &str) -> String {
    match text.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

/// Two spellings that say different things.
fn disagreement(last: &[Candidate]) -> Option<String> {
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

#[cfg(test)]
mod tests;
