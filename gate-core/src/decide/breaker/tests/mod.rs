//! The breaker under test: a loop in a box, and what its iterations can be.

mod budget;
mod cooldown;
mod counters;
mod probe;
mod progress;
mod table;
mod trips;
mod walk;

use std::sync::LazyLock;

use crate::config::{self, Layer, Origin};
use crate::decide::breaker::{Admission, Admitted, Breaker, BreakerState, Cause};
use crate::decide::decision::{Decision, Judged, judge};
use crate::decide::evidence::{Evidence, Outcome};
use crate::decide::input::Input;
use crate::decide::iteration_facts::{IterationFacts, LimitNotice, TreeSeen, TreeState};
use crate::decide::policy::{BreakerPolicy, Budget, Mode, Policy};
use crate::decide::reason::ReasonCode;
use crate::decide::run_state::{LoopState, RunState};
use crate::decide::signal::{Signal, Status};
use crate::decide::timestamp::Timestamp;
use crate::decide::verdict::Verdict;

/// A minute, in milliseconds.
const MINUTE: u64 = 60_000;

/// One required check, no trips, a cool-down of half an hour.
static POLICY: LazyLock<Policy> = LazyLock::new(|| {
    let text =
        "[exit_gate]\nenabled = false\n[checks.tests]\ncommand = [\"true\"]\ntimeout = \"5m\"\n";
    let layer = Layer::parse(Origin::Default, text).expect("valid settings");
    let policy = config::resolve(&[layer], None).expect("valid settings").policy;
    let breaker = BreakerPolicy {
        no_exit: 0,
        refused: 0,
        no_progress: 0,
        same_error: 0,
        inconclusive: 0,
        permission_denied: 0,
        output_decline: 0,
        rate_limited: 0,
        cooldown_ms: 30 * MINUTE,
    };
    let budget = Budget { iterations: 0, tokens: 0, cost_micro_usd: 0, wall_ms: 0 };
    Policy { patterns: Vec::new(), breaker, budget, ..policy }
});

fn policy(set: impl FnOnce(&mut Policy)) -> Policy {
    let mut policy = POLICY.clone();
    set(&mut policy);
    policy
}

fn at_ms(wall_ms: u64) -> Timestamp {
    Timestamp { boot: "boot".to_owned(), uptime_ms: wall_ms, wall_ms }
}

/// What an iteration leaves of the tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Left {
    Moved,
    Still,
    /// As it was, but the checks wrote something.
    Written,
    Unseen,
}

/// An iteration as gate sees it.
#[derive(Clone, Debug)]
struct Turn {
    input: Input,
    left: Left,
}

fn turn(status: Status, outcome: Option<Outcome>) -> Turn {
    let signal = Signal { status, ..Signal::absent() };
    let evidence = outcome.map(|outcome| Evidence::new("tests", Mode::Require, outcome));
    let input =
        Input { evidence: evidence.into_iter().collect(), ..Input::new(signal, Vec::new()) };
    Turn { input, left: Left::Moved }
}

/// It goes on; no check is run.
fn works() -> Turn {
    turn(Status::Continue, None)
}

/// It claims completion, and the tests are red.
fn claims() -> Turn {
    turn(Status::Complete, Some(Outcome::Fail))
}

/// It claims completion, and the tests cannot tell.
fn unsure() -> Turn {
    turn(Status::Complete, Some(Outcome::Inconclusive))
}

/// It claims completion, and the tests are green.
fn passes() -> Turn {
    turn(Status::Complete, Some(Outcome::Pass))
}

/// It says nothing of completion, and the tests are green.
fn silent() -> Turn {
    turn(Status::Absent, Some(Outcome::Pass))
}

impl Turn {
    fn left(self, left: Left) -> Self {
        Self { left, ..self }
    }

    fn still(self) -> Self {
        self.left(Left::Still)
    }

    fn error(mut self, signature: &str) -> Self {
        self.input.observed.signature = Some(signature.to_owned());
        self
    }

    fn denied(mut self) -> Self {
        self.input.observed.denied = vec!["Bash".to_owned()];
        self
    }

    fn limited(mut self) -> Self {
        self.input.observed.limited =
            Some(LimitNotice { text: "limit".to_owned(), resets_at: None });
        self
    }

    fn writes(mut self, output: u64) -> Self {
        self.input.observed.output = output;
        self
    }

    /// The iteration's tests came out so, whatever its signal.
    fn tests(mut self, outcome: Outcome) -> Self {
        self.input.evidence = vec![Evidence::new("tests", Mode::Require, outcome)];
        self
    }
}

/// A loop: its policy, what is remembered, the time, and the tree.
struct Loop {
    policy: Policy,
    memory: LoopState,
    now: u64,
    tree: u32,
    last: Option<Judged>,
}

impl Loop {
    /// With nothing but these settings switched on.
    fn new(set: impl FnOnce(&mut Policy)) -> Self {
        let breaker = Breaker::default();
        let now = 1_000 * MINUTE;
        let run = RunState::begins(&at_ms(now), 0);
        let memory = LoopState { breaker, hold: None, run };
        Self { policy: policy(set), memory, now, tree: 0, last: None }
    }

    /// One more iteration, a minute later.
    #[track_caller]
    fn feed(&mut self, turn: Turn) -> Decision {
        self.judged(turn, None)
    }

    /// As often.
    #[track_caller]
    fn repeat(&mut self, times: usize, turn: &Turn) -> Vec<Verdict> {
        (0..times).map(|_| self.feed(turn.clone()).verdict).collect()
    }

    /// One more iteration, which is the breaker's probe.
    #[track_caller]
    fn probe(&mut self, turn: Turn) -> Decision {
        let Admitted { admission, breaker, .. } =
            self.memory.breaker.admit(&self.at(), &self.policy, "mine");
        assert_eq!(admission, Admission::Probe, "{:?}", self.memory.breaker);
        self.memory.breaker = breaker;
        self.judged(turn, Some("mine"))
    }

    /// What waits until the breaker is cool again.
    #[track_caller]
    fn cool_down(&mut self) {
        self.now += self.memory.breaker.cools_in(&self.at(), &self.policy).expect("it is open");
    }

    fn judged(&mut self, turn: Turn, probe: Option<&str>) -> Decision {
        self.now += MINUTE;
        self.tree += u32::from(turn.left == Left::Moved);
        let before = TreeState { digest: self.tree.to_string(), head: None, branches: None };
        self.tree += u32::from(turn.left == Left::Written);
        let after = TreeState { digest: self.tree.to_string(), head: None, branches: None };
        let seen = TreeSeen {
            before,
            after,
            uncommitted: None,
            changed_files: None,
            since_beginning: None,
        };
        let observed = IterationFacts {
            at: self.at(),
            iteration: self.memory.run.iteration + 1,
            tree: (turn.left != Left::Unseen).then_some(seen),
            probe: probe.map(str::to_owned),
            ..turn.input.observed
        };
        let memory = Some(self.memory.clone());
        let judged = judge(&Input { stateful: true, memory, observed, ..turn.input }, &self.policy);
        self.memory = judged.memory.clone().expect("state is kept");
        self.last = Some(judged.clone());
        judged.decision
    }

    fn at(&self) -> Timestamp {
        at_ms(self.now)
    }

    fn state(&self) -> BreakerState {
        self.memory.breaker.state
    }

    fn cause(&self) -> Option<Cause> {
        self.memory.breaker.trip.as_ref().map(|trip| trip.cause)
    }
}

/// What tripped, first to last.
fn tripped_by(decision: &Decision) -> Vec<&str> {
    let tripped = |reason: &&_| {
        let reason: &crate::decide::reason::Reason = reason;
        reason.code == ReasonCode::BreakerTripped
    };
    decision.reasons.iter().filter(tripped).map(|reason| reason.message.as_str()).collect()
}
