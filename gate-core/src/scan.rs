//! From bytes to a signal, indicators and facts: everything that a decision
//! needs from a transcript.

mod warnings;

use serde::{Deserialize, Serialize};

use crate::decide::feedback;
use crate::decide::indicator::{Counter, Hit, PatternError, PatternSet};
use crate::decide::iteration_facts::IterationFacts;
use crate::decide::policy::{Policy, SignalPolicy};
use crate::decide::signal::{Signal, TokenFinding, UNREAD, UncheckedSignal};
use crate::trouble::{self, Effort, Watch};
use gate_transcript::{
    Boundary, Event, Fact, FinalTurn, Forced, Problem, ProblemKind, Prompt, Reader, Role, Sink,
    Usage, Wording,
};

/// The most errors, limits, denials and problems that are kept of each kind.
const MAX_KEPT: usize = 100;

/// Scans one transcript, fed in pieces of any size.
///
/// Memory stays flat whatever the size of the input, and the result is the
/// same however the input is cut.
#[derive(Debug)]
pub struct Scanner<'p> {
    reader: Reader,
    collector: Collector<'p>,
}

/// The findings in a transcript.
///
/// `Scan<UncheckedSignal>` is what a [`Scanner`] returns. A decision takes a plain `Scan`,
/// whose signal's token was checked ([`Scan::with_token`]) or left unchecked on purpose
/// ([`Scan::without_token`]).
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Scan<S = Signal> {
    /// The agent's own statement about the end of its work.
    pub signal: S,
    /// The patterns' hits, without those in the text of the signal itself.
    pub hits: Vec<Hit>,
    /// Facts that the format reports beside the conversation.
    pub transcript: Transcript,
    /// Failures and the amount of work in the final turn, for the breaker.
    pub effort: Effort,
    /// The agent's last word; of a long one the end.
    pub last_word: String,
    /// The digest of the person's prompt, if it was read.
    pub prompt: Option<String>,
    /// The part of the transcript that was read.
    pub reach: Reach,
    /// A tool was used since the person's last prompt, or it may have been used in a part that
    /// was not read.
    pub acted: bool,
    /// The input is JSON of no known format: nobody's words could be found.
    pub unknown_format: bool,
    /// The input is JSON, but not of the format or agent that was named: it holds no turn.
    pub foreign_format: bool,
}

/// The part of a transcript that was read; the caller skipped the rest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Reach {
    /// Nothing: the agent's last word may be in the part that was skipped.
    Nothing,
    /// The last word, and only a part of the turn that it ends.
    Word,
    /// All of the final turn.
    Turn,
    /// Everything.
    All,
}

/// Figures, failures and commands that a format reports beside the conversation.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[non_exhaustive]
pub struct Transcript {
    /// The format's name.
    pub format: Option<String>,
    /// The program that wrote it, such as `claude-code`; null where the format does not tell.
    #[serde(default)]
    pub client: Option<String>,
    /// The client's id of the session.
    pub session: Option<String>,
    /// The model's name.
    pub model: Option<String>,
    /// Input and output tokens together.
    pub tokens: Option<u64>,
    /// Cost in micro-dollars.
    pub cost_micro_usd: Option<u64>,
    /// Time in milliseconds.
    pub duration_ms: Option<u64>,
    /// These figures are of one call of the client alone.
    #[serde(skip)]
    pub is_of_call: bool,
    /// Turns that a prompt, hook feedback or a compaction began.
    pub turns: u64,
    /// Length in bytes.
    #[serde(default)]
    pub bytes: u64,
    /// Bytes that were skipped after the beginning: turns, usage and lines are counted
    /// without them.
    #[serde(default)]
    pub skipped: u64,
    /// Failures of the agent or its API; the last 100.
    pub errors: Vec<Remark>,
    /// Rate and usage limits of the last turn; the last 100.
    pub limits: Vec<Limit>,
    /// Denied tool calls; the last 100.
    pub denials: Vec<Remark>,
    /// Commands that the agent ran, with the exit code that its client saw:
    /// observed, never evidence. The last 100.
    pub commands: Vec<Command>,
    /// Flaws of the input; the first 100.
    pub problems: Vec<Remark>,
}

/// A text with its line.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Remark {
    /// The text.
    pub text: String,
    /// Line of the input, from 1.
    pub line: u64,
}

/// A rate or usage limit.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Limit {
    /// The client's text.
    pub text: String,
    /// When it ends, in seconds since 1970.
    pub resets_at: Option<i64>,
    /// Line of the input, from 1.
    pub line: u64,
}

/// A command that the agent ran.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Command {
    /// The command line.
    pub command: String,
    /// The exit code.
    pub exit_code: i32,
    /// Line of the input, from 1.
    pub line: u64,
}

impl<'p> Scanner<'p> {
    /// Scans with these patterns; the format is found unless one is given.
    pub fn new(patterns: &'p PatternSet, format: Option<Forced>) -> Self {
        let collector = Collector {
            turn: FinalTurn::default(),
            prompt: Prompt::new(feedback::is_feedback),
            counter: Counter::new(patterns),
            transcript: Transcript::default(),
            watch: Watch::default(),
            lost_line: None,
            reach: Reach::All,
            acted: false,
            unknown_format: false,
            foreign_format: false,
        };
        Self { reader: Reader::new(format), collector }
    }

    /// Takes the next bytes.
    pub fn push(&mut self, bytes: &[u8]) {
        self.reader.push(bytes, &mut self.collector);
    }

    /// The session of the transcript, once the format has named it.
    pub fn session(&self) -> Option<&str> {
        self.collector.transcript.session.as_deref()
    }

    /// A place at which whole lines can be left out: the format is known and allows it, no
    /// pattern looks at other texts than the agent's, and the input has come to the end of a
    /// line after its first 64 KiB.
    pub fn can_skip(&self) -> bool {
        let Collector { turn, counter, .. } = &self.collector;
        // The answer to a notification may not be taken for a word of its own.
        self.reader.can_skip() && !turn.is_notified() && !counter.reads_all_roles()
    }

    /// Leaves out this many bytes, in whole lines. To be called only if [`Scanner::can_skip`].
    /// [`Scan::reach`] shows if the input after them suffices.
    pub fn skip(&mut self, bytes: u64) {
        self.reader.skip();
        self.collector.skip(bytes);
    }

    /// Begins with the line at this byte of the input. To be called before anything is
    /// pushed.
    pub fn begin_at(&mut self, byte: u64) {
        self.collector.skip(byte);
    }

    /// Ends the input.
    pub fn finish(mut self, policy: &SignalPolicy) -> Scan<UncheckedSignal> {
        self.reader.finish(&mut self.collector);
        let Collector {
            mut turn,
            prompt,
            counter,
            mut transcript,
            watch,
            lost_line,
            reach,
            acted,
            unknown_format,
            foreign_format,
        } = self.collector;
        turn.finish();
        let reach = match reach {
            Reach::Nothing if turn.words().next().is_some() => Reach::Word,
            reach => reach,
        };
        let format = self.reader.format();
        transcript.format = format.map(|format| format.name().to_owned());
        transcript.client = format.and_then(|format| format.client()).map(str::to_owned);
        let mut signal = Signal::read(&turn, policy);
        if let Some(lost_line) = lost_line
            && signal.line().is_some_and(|line| line <= lost_line)
        {
            signal.doubt(format!("line {lost_line}: {UNREAD}"));
        }
        let hits = counter.finish(|hit| !is_in_signal(hit, &signal));
        let effort = watch.finish(&turn);
        let last_word = turn.words().next().map(|word| word.text.clone()).unwrap_or_default();
        let prompt = prompt.finish();
        Scan {
            signal,
            hits,
            transcript,
            effort,
            last_word,
            prompt,
            reach,
            acted,
            unknown_format,
            foreign_format,
        }
    }
}

/// Scans a whole transcript, finding its format by itself. Nobody checks tokens: if the policy
/// requires one, a signal that would end the loop is invalid.
///
/// # Errors
///
/// A pattern of the policy that does not compile.
pub fn scan(bytes: &[u8], policy: &Policy) -> Result<Scan, PatternError> {
    let patterns = PatternSet::from_policy(policy)?;
    let mut scanner = Scanner::new(&patterns, None);
    scanner.push(bytes);
    Ok(scanner.finish(&policy.signal).without_token())
}

impl Scan<UncheckedSignal> {
    /// The scan with the finding about its signal's token.
    #[must_use]
    pub fn with_token(self, finding: &TokenFinding) -> Scan {
        self.map_signal(|signal| signal.with_token(finding))
    }

    /// The scan without a look at its signal's token. If the policy requires one, a signal
    /// that would end the loop is invalid.
    #[must_use]
    pub fn without_token(self) -> Scan {
        self.map_signal(UncheckedSignal::without_token)
    }
}

impl<S> Scan<S> {
    /// The same scan with another signal.
    #[must_use]
    pub fn map_signal<T>(self, change: impl FnOnce(S) -> T) -> Scan<T> {
        let Self {
            signal,
            hits,
            transcript,
            effort,
            last_word,
            prompt,
            reach,
            acted,
            unknown_format,
            foreign_format,
        } = self;
        let signal = change(signal);
        Scan {
            signal,
            hits,
            transcript,
            effort,
            last_word,
            prompt,
            reach,
            acted,
            unknown_format,
            foreign_format,
        }
    }

    /// The part of it that feeds the breaker. The caller adds the time and the state of
    /// the work tree.
    pub fn observed(&self) -> IterationFacts {
        let Self { transcript, effort, .. } = self;
        IterationFacts {
            signature: effort.signature.clone().map(String::from),
            denied: effort.denied.clone(),
            limited: effort.limited.clone(),
            output: effort.output,
            session: transcript.session.clone(),
            tokens: transcript.tokens,
            cost_micro_usd: transcript.cost_micro_usd,
            is_of_call: transcript.is_of_call,
            ..IterationFacts::default()
        }
    }
}

/// A hit in a text that was taken as the signal: the signal counts already.
fn is_in_signal(hit: &Hit, signal: &UncheckedSignal) -> bool {
    let matched = folded(&hit.matched);
    signal.texts().iter().any(|text| folded(text).contains(&matched))
}

/// The text in lower case and without white space.
fn folded(text: &str) -> String {
    text.split_whitespace().collect::<String>().to_lowercase()
}

#[derive(Debug)]
struct Collector<'p> {
    turn: FinalTurn,
    prompt: Prompt,
    counter: Counter<'p>,
    transcript: Transcript,
    watch: Watch,
    /// The line of the last record that could not be read whole.
    lost_line: Option<u64>,
    reach: Reach,
    acted: bool,
    unknown_format: bool,
    foreign_format: bool,
}

impl Collector<'_> {
    fn skip(&mut self, bytes: u64) {
        self.turn = FinalTurn::default();
        self.prompt = Prompt::new(feedback::is_feedback);
        self.counter.forget();
        self.watch = Watch::default();
        self.transcript.skipped = bytes;
        self.reach = Reach::Nothing;
        self.acted = true;
    }
}

impl Sink for Collector<'_> {
    fn event(&mut self, event: Event<'_>) {
        self.turn.event(&event);
        self.prompt.event(&event);
        self.counter.event(&event);
        self.watch.event(&event);
        match event {
            Event::Boundary(Boundary::Notification | Boundary::Unanswered, _) => {}
            Event::Text(text) => self.acted |= text.role == Role::Tool,
            Event::Tail => {
                self.transcript.tail();
                self.acted = true;
            }
            Event::Boundary(boundary, _) => {
                self.acted &= boundary != Boundary::Prompt;
                self.transcript.turns += 1;
                self.transcript.limits.clear();
                self.reach = self.reach.max(Reach::Turn);
            }
            Event::Fact(fact) => self.transcript.fact(fact),
            Event::Problem(problem) => {
                if problem.kind.loses_words() {
                    self.lost_line = Some(problem.line);
                }
                self.unknown_format |= problem.kind == ProblemKind::UnknownJson;
                self.foreign_format |= problem.kind == ProblemKind::ForeignJson;
                self.transcript.problem(&problem);
            }
        }
    }

    fn has_wording(&self, wording: Wording, text: &str) -> bool {
        trouble::has_wording(wording, text)
    }
}

impl Transcript {
    fn fact(&mut self, fact: Fact) {
        match fact {
            Fact::Session(id) => self.session = Some(id),
            Fact::Model(name) => self.model = Some(name),
            Fact::Usage(usage) => self.usage(usage),
            Fact::Error { message, line } => {
                keep_last(&mut self.errors, Remark { text: message, line });
            }
            Fact::Limit { message, resets_at, line } => {
                keep_last(&mut self.limits, Limit { text: message, resets_at, line });
            }
            Fact::Denial { tool, line } => {
                keep_last(&mut self.denials, Remark { text: tool, line });
            }
            Fact::ToolFailure { .. } => {}
            Fact::Command { command, exit_code, line } => {
                keep_last(&mut self.commands, Command { command, exit_code, line });
            }
        }
    }

    fn usage(&mut self, usage: Usage) {
        self.tokens = usage.tokens;
        self.cost_micro_usd = usage.cost_micro_usd;
        self.duration_ms = usage.duration_ms;
        self.is_of_call = usage.is_of_call;
    }

    /// Forgets the facts that are reported of the tail alone.
    fn tail(&mut self) {
        self.errors.clear();
        self.limits.clear();
        self.denials.clear();
        self.commands.clear();
        self.problems.clear();
    }

    fn problem(&mut self, problem: &Problem) {
        if self.problems.len() < MAX_KEPT {
            self.problems
                .push(Remark { text: flaw_words(problem.kind).to_owned(), line: problem.line });
        }
    }
}

/// A flaw of the input, in words.
fn flaw_words(kind: ProblemKind) -> &'static str {
    match kind {
        ProblemKind::InvalidUtf8 => "bytes that are not UTF-8 were replaced",
        ProblemKind::RawControl => {
            "line breaks or other control characters stand in a string as they are; read as text"
        }
        ProblemKind::Noise => "no record of this format; passed over",
        ProblemKind::Unreadable => "a record that cannot be read; passed over",
        ProblemKind::Torn => "the last record is cut off",
        ProblemKind::Oversized => "a record longer than 16 MiB was passed over",
        ProblemKind::ForeignJson => {
            "JSON, but not of the format that was named: it holds no turn. Without `--format` gate \
             finds the format itself"
        }
        ProblemKind::UnknownJson => {
            "JSON of no known format: nobody's words could be found. `--format` says whose it is; \
             `gate scan --help` lists the names"
        }
    }
}

fn keep_last<T>(list: &mut Vec<T>, element: T) {
    if list.len() >= MAX_KEPT {
        list.remove(0);
    }
    list.push(element);
}

#[cfg(test)]
mod tests;
