//! The loops of a ledger: their iterations, their ends, and their cost.

mod fold;

use gate_core::Verdict;
use gate_core::decide::breaker::BreakerState;
use gate_core::decide::evidence::Outcome;
use gate_core::decide::reason::ReasonCode;
use gate_core::decide::signal::Status;
use gate_core::decide::situation::Released;
use gate_core::record::GoalRecord;
use schemars::JsonSchema;
use serde::Serialize;

use gate_card::Mark;

pub use fold::{fold, iteration};

/// A run of a loop, as far as its records lie in the window.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct LoopRecord {
    /// The project's id.
    pub project: String,
    /// The run's name.
    pub run: String,
    /// The task's id.
    pub task: Option<String>,
    /// The agent that was named to gate, or the format of its output.
    pub agent: Option<String>,
    /// The program that wrote the output, such as `claude-code`, if its format tells.
    pub client: Option<String>,
    /// The model, if the transcript names it.
    pub model: Option<String>,
    /// The state that the loop is in, or ended in.
    pub state: LoopState,
    /// Why, as a sentence.
    pub why: String,
    /// The one thing to do next.
    pub next: Option<String>,
    /// When its first iteration in the window began, if that is known, else ended (RFC 3339, UTC).
    pub started: String,
    /// When its last record was written, or when it was last seen if it died (RFC 3339, UTC).
    pub ended: String,
    /// The time between both, in milliseconds.
    pub duration_ms: u64,
    /// Tokens and money.
    pub usage: Usage,
    /// The state of its breaker after the last decision.
    pub breaker: BreakerState,
    /// The root of its work tree, if its start or its end was recorded.
    pub tree: Option<String>,
    /// The folder with its runs.
    pub folder: Option<String>,
    /// The path of its handoff.
    pub handoff: Option<String>,
    /// The command that goes on with it.
    pub resume: Option<String>,
    /// The machine on which it began, if its start is its last record of that kind: it runs, or
    /// it died.
    pub unended_on: Option<String>,
    /// The lock that it took there.
    #[serde(skip)]
    pub lock: Option<LoopLock>,
    /// The numbers of its iterations whose cost no transcript reports, though the iteration was cut
    /// off.
    pub unreported: Vec<u64>,
    /// The numbers of the iterations in which its gate died, each time before it was started again.
    pub deaths: Vec<u64>,
    /// The goals of persons at its last decision.
    pub goals: Vec<GoalRecord>,
    /// Its iterations in the window.
    pub iterations: Vec<IterationRecord>,
}

/// The lock on its task that a loop took when it began.
#[derive(Clone, Debug)]
pub struct LoopLock {
    /// The text of its file, which no other loop writes; none if it could not be written.
    pub mark: Option<String>,
    /// When the start was recorded (RFC 3339, UTC).
    pub since: String,
}

/// The state of a loop.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum LoopState {
    /// The work is done.
    Done,
    /// A breaker, a budget, a limit or a person ended the loop before the work was done, or its
    /// agent could not be started.
    Stopped,
    /// A person is needed.
    Blocked,
    /// A hook let the agent go without a verdict.
    Released,
    /// The loop goes on, or nobody recorded its end.
    Open,
    /// Its gate is gone, and recorded no end: it was killed, or the machine went down.
    Died,
}

impl LoopState {
    /// The mark on a card.
    pub fn mark(self) -> Mark {
        match self {
            Self::Done => Mark::Good,
            Self::Stopped | Self::Blocked | Self::Died => Mark::Bad,
            Self::Released | Self::Open => Mark::Unsure,
        }
    }

    /// The word on a card.
    pub fn word(self) -> &'static str {
        match self {
            Self::Done => "DONE",
            Self::Stopped => "STOPPED",
            Self::Blocked => "BLOCKED",
            Self::Released => "RELEASED",
            Self::Open => "OPEN",
            Self::Died => "DIED",
        }
    }

    /// The place in a list with the worst first, from 0.
    pub fn rank(self) -> u8 {
        match self {
            Self::Died => 0,
            Self::Blocked => 1,
            Self::Stopped => 2,
            Self::Released => 3,
            Self::Open => 4,
            Self::Done => 5,
        }
    }
}

/// The cost of agents whose output reports none.
pub const COST_UNKNOWN: &str = "cost unknown";

impl LoopRecord {
    /// Its deaths in words; none if there was none, or if its reason tells them.
    pub fn deaths_in_words(&self) -> Option<String> {
        let text = restarted(&self.deaths);
        (!self.deaths.is_empty() && self.why != text).then_some(text)
    }

    /// The cost in words, with what is not known of it; empty if no agent ran.
    pub fn cost(&self) -> String {
        let reported_cost = self.usage.dollars();
        let numbers: Vec<_> = self.unreported.iter().map(u64::to_string).collect();
        match (reported_cost.is_empty(), numbers.as_slice()) {
            (true, []) if self.iterations.is_empty() => reported_cost,
            (true, _) => COST_UNKNOWN.to_owned(),
            (false, []) => reported_cost,
            (false, [number]) => {
                format!("at least {reported_cost}; iteration {number} was not reported")
            }
            (false, _) => {
                format!(
                    "at least {reported_cost}; iterations {} were not reported",
                    numbers.join(", ")
                )
            }
        }
    }
}

/// The reason of a loop that died in these iterations, and whose task was started again each time.
fn restarted(deaths: &[u64]) -> String {
    let numbers: Vec<_> = deaths.iter().map(u64::to_string).collect();
    format!("died in iteration {}, and was started again", numbers.join(", then in iteration "))
}

/// Tokens and money.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct Usage {
    /// Input and output tokens together.
    pub tokens: u64,
    /// Micro-dollars.
    pub cost_micro_usd: u64,
    /// The same in dollars.
    pub cost_usd: f64,
}

impl Usage {
    /// So many tokens and micro-dollars.
    pub fn new(tokens: u64, cost_micro_usd: u64) -> Self {
        Self { tokens, cost_micro_usd, cost_usd: cost_micro_usd as f64 / 1e6 }
    }

    /// The sum of both; at most the largest number.
    pub fn plus(self, other: Self) -> Self {
        Self::new(
            self.tokens.saturating_add(other.tokens),
            self.cost_micro_usd.saturating_add(other.cost_micro_usd),
        )
    }

    /// `$1.25`; empty if there was no cost, or none is known.
    pub fn dollars(self) -> String {
        match self.cost_micro_usd {
            0 => String::new(),
            _ => dollars(self.cost_micro_usd),
        }
    }
}

/// `$1.25`. Less than a cent is shown in tenths of a cent.
pub fn dollars(micro: u64) -> String {
    match micro {
        1..10_000 => format!("${:.3}", micro as f64 / 1e6),
        _ => format!("${:.2}", micro as f64 / 1e6),
    }
}

/// An iteration of a loop: one decision.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct IterationRecord {
    /// The record's number in the ledger.
    pub seq: u64,
    /// The decision's id.
    pub decision_id: String,
    /// The iteration's number within the run.
    pub iteration: u64,
    /// When it was decided (RFC 3339, UTC).
    pub time: String,
    /// The verdict.
    pub verdict: Verdict,
    /// The result of a stop that a hook let go.
    pub released: Option<Released>,
    /// An operator forced the verdict.
    pub forced: bool,
    /// The verdict rests on more than the agent's word.
    pub verified: bool,
    /// The agent's own statement.
    pub claim: Status,
    /// The agent's reason for it, or the work that remains.
    pub claim_reason: Option<String>,
    /// The code of the first reason.
    pub reason: Option<ReasonCode>,
    /// The first reason, as a sentence.
    pub why: String,
    /// The checks.
    pub checks: Vec<CheckRecord>,
    /// The work tree is another one than before the iteration; null if that is not known.
    pub changed: Option<bool>,
    /// Number of files that differ from the commit at which the loop began; null if not known.
    pub changed_files: Option<u64>,
    /// The agent's time in milliseconds, if its transcript reports it.
    pub agent_ms: Option<u64>,
    /// The time for the decision in milliseconds, checks included.
    pub decision_ms: u64,
    /// The agent was cancelled, or crashed.
    pub cut_off: bool,
    /// The agent crashed.
    pub crashed: bool,
    /// Tokens and money of this iteration alone.
    pub usage: Usage,
}

impl IterationRecord {
    /// The agent was cut off before it reported a cost.
    pub fn is_unreported(&self) -> bool {
        self.cut_off && self.usage.cost_micro_usd == 0
    }
}

/// A check's outcome in an iteration.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct CheckRecord {
    /// The check's name.
    pub check: String,
    /// The outcome.
    pub outcome: Outcome,
    /// The run time in milliseconds.
    pub duration_ms: u64,
    /// One line for a person.
    pub summary: String,
    /// The part of a failed program's output that says why.
    pub excerpt: Option<String>,
    /// Tests that failed first and passed when they were run again.
    pub flaky: Vec<String>,
}
