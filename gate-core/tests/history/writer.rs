//! Writes a ledger as gate does: a step at an admission before its decision, a
//! decision, and the step that it makes right behind it.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use gate_core::config::{self, Layer, Origin};
use gate_core::decide::breaker::{Act, Admitted, Breaker, Change};
use gate_core::decide::decision::judge;
use gate_core::decide::evidence::{Evidence, Outcome};
use gate_core::decide::iteration_facts::{IterationFacts, LimitNotice, TreeSeen, TreeState};
use gate_core::decide::policy::Mode;
use gate_core::decide::run_state::{LoopState, RunState};
use gate_core::decide::signal::{Signal, Status};
use gate_core::decide::timestamp::Timestamp;
use gate_core::history::{Owner, State, kind};
use gate_core::ledger::{Body, Draft, Head, Record};
use gate_core::{Input, Policy, Verdict};
use serde_json::{Value, json};

const MINUTE: u64 = 60_000;

pub(crate) static POLICIES: LazyLock<[Policy; 2]> = LazyLock::new(|| {
    ["refused = 2\ncooldown = \"30m\"", "no_progress = 2\ninconclusive = 2\ncooldown = \"1h\""].map(
        |breaker| {
            let text = format!("[checks.tests]\ncommand = [\"true\"]\n[breaker]\n{breaker}\n");
            let layer = Layer::parse(Origin::Default, &text).expect("valid settings");
            let mut policy = config::resolve(&[layer], None).expect("valid settings").policy;
            policy.patterns.clear();
            policy
        },
    )
});

static DIGESTS: LazyLock<[String; 2]> =
    LazyLock::new(|| [POLICIES[0].digest(), POLICIES[1].digest()]);

/// The policy with this digest.
pub(crate) fn known(digest: &str) -> Option<Policy> {
    let at = DIGESTS.iter().position(|known| known == digest)?;
    Some(POLICIES[at].clone())
}

/// What an iteration is.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Kind {
    Passes,
    Claims,
    Works,
    Unsure,
    Silent,
    LimitNotice,
    Denied,
    Forced,
}

/// What happens.
#[derive(Clone, Debug)]
pub(crate) enum Step {
    Decide {
        kind: Kind,
        task: u8,
        policy: usize,
        tree: u8,
        new_run: bool,
    },
    /// An operator acts on a task, or on its loop.
    Operate {
        task: u8,
        act: Act,
        owner: Owner,
    },
    /// An operator's flag, which leaves runs and breakers as they are.
    Flag,
    /// So many minutes pass, or the clock goes back.
    Wait(i64),
    /// A probe begins, and is never heard of again.
    Crash {
        task: u8,
    },
}

/// A ledger that is being written.
#[derive(Debug, Default)]
pub(crate) struct Writer {
    pub(crate) records: Vec<Record>,
    /// Whether it is written as older gates did, with one breaker a task.
    pub(crate) is_old: bool,
    breakers: BTreeMap<(Owner, String), Breaker>,
    runs: BTreeMap<String, RunState>,
    minutes: u64,
    ids: u32,
    /// Changes the run that a decision rests on, given the loop's last: what a
    /// forger would do who seals and decides as gate does.
    pub(crate) forge: Option<fn(&RunState, &mut RunState)>,
}

impl Writer {
    pub(crate) fn take(&mut self, step: &Step) {
        match step {
            Step::Decide { kind, task, policy, tree, new_run } => {
                self.minutes += 1;
                let id = self.admit(*task, &POLICIES[*policy], matches!(kind, Kind::Forced));
                self.decide(*kind, *task, *policy, *tree, *new_run, &id);
            }
            Step::Operate { task, act, owner } => self.operate(&name(*task), *act, *owner),
            Step::Flag => self.write(kind::ACT, &json!({ "act": "no_checks", "uid": 0 })),
            Step::Wait(minutes) => self.minutes = self.minutes.saturating_add_signed(*minutes),
            Step::Crash { task } => drop(self.admit(*task, &POLICIES[0], false)),
        }
    }

    fn now(&self) -> Timestamp {
        let millis = 1_000_000 + self.minutes * MINUTE;
        Timestamp { boot: "boot".to_owned(), uptime_ms: millis, wall_ms: millis }
    }

    fn breaker(&self, owner: Owner, task: &str) -> Breaker {
        self.breakers.get(&(owner, task.to_owned())).cloned().unwrap_or_default()
    }

    /// Whose breaker the decisions of a task's loop feed.
    fn own(&self) -> Owner {
        if self.is_old { Owner::Task } else { Owner::Loop }
    }

    fn hold(&self, task: &str) -> Option<Breaker> {
        self.breaker(Owner::Task, task).as_hold().filter(|_| !self.is_old)
    }

    /// Whose breaker decides.
    fn governing(&self, task: &str) -> Owner {
        let is_held = self.hold(task).is_some_and(|hold| !hold.is_closed());
        if is_held { Owner::Task } else { self.own() }
    }

    fn admit(&mut self, task: u8, policy: &Policy, forced: bool) -> String {
        self.ids += 1;
        let id = format!("probe {}", self.ids);
        if !forced {
            let task = name(task);
            let owner = self.governing(&task);
            let Admitted { breaker, change, .. } =
                self.breaker(owner, &task).admit(&self.now(), policy, &id);
            self.step((owner, &task), breaker, change.as_ref());
        }
        id
    }

    fn step(&mut self, of: (Owner, &str), breaker: Breaker, change: Option<&Change>) {
        let Some(change) = change else { return };
        self.breakers.insert((of.0, of.1.to_owned()), breaker.clone());
        let mut body = serde_json::to_value(change).expect("plain data");
        body["state"] = json!(of_breaker(of, breaker));
        self.write(kind::TRANSITION, &body);
    }

    fn decide(&mut self, kind: Kind, task: u8, policy: usize, tree: u8, new_run: bool, id: &str) {
        let (task, at) = (name(task), self.now());
        let (breaker, hold) = (self.breaker(self.own(), &task), self.hold(&task));
        let resets = breaker.resets + hold.as_ref().map_or(0, |hold| hold.resets);
        let in_loop = in_loop(&task);
        let last = self.runs.get(&in_loop);
        let goes_on = last.filter(|run| !new_run && !run.is_over(&at, resets));
        let mut run = goes_on.cloned().unwrap_or_else(|| RunState::begins(&at, resets));
        if let (Some(forge), Some(last)) = (self.forge, last) {
            forge(last, &mut run);
        }
        let iteration = run.iteration + 1;
        let mut input = input(kind);
        input.observed = observed(kind, tree);
        input.observed.at = at;
        input.observed.iteration = iteration;
        input.observed.probe = Some(id.to_owned());
        input.stateful = true;
        input.memory = Some(LoopState { breaker, hold, run });
        let judged = judge(&input, &POLICIES[policy]);
        let memory = judged.memory.expect("state is kept");
        let mut decision = serde_json::to_value(&judged.decision).expect("plain data");
        decision["policy_digest"] = json!(DIGESTS[policy]);
        decision["task"] = if task.is_empty() { Value::Null } else { json!(task) };
        decision["iteration"] = json!(iteration);
        decision["usage"] = json!({ "tokens": 5, "cost_micro_usd": null });
        let state = State {
            task: task.clone(),
            name: Some(in_loop.clone()),
            owner: self.own(),
            iteration: Some(iteration),
            breaker: memory.breaker.clone(),
            hold: memory.hold.clone(),
            run: Some(memory.run.clone()),
        };
        let owner = self.governing(&task);
        let of_hold = memory.hold.clone().filter(|_| owner != self.own());
        let stepped = of_hold.unwrap_or_else(|| memory.breaker.clone());
        let exit = judged.decision.verdict == Verdict::Exit;
        let kind = if exit { kind::PASSED } else { kind::BLOCKED };
        self.breakers.insert((self.own(), task.clone()), memory.breaker);
        self.runs.insert(in_loop, memory.run);
        self.write(kind, &json!({ "decision": decision, "state": state, "tree": "ab" }));
        self.step((owner, &task), stepped, judged.change.as_ref());
    }

    fn operate(&mut self, task: &str, act: Act, owner: Owner) {
        let owner = if self.is_old { Owner::Task } else { owner };
        let (breaker, _) = self.breaker(owner, task).operated(act, "by hand", &self.now());
        let act = match act {
            Act::Reset => "breaker_reset",
            Act::Trip => "breaker_trip",
            Act::Isolate => "breaker_isolate",
        };
        self.breakers.insert((owner, task.to_owned()), breaker.clone());
        let state = of_breaker((owner, task), breaker);
        self.write(
            kind::ACT,
            &json!({ "act": act, "reason": "by hand", "uid": 0, "state": state }),
        );
    }

    fn write(&mut self, kind: &str, body: &Value) {
        let last = self.records.last().cloned().map(|record| record.seal().head());
        let draft = Draft {
            time: "2026-11-02T10:00:00Z".to_owned(),
            kind: kind.to_owned(),
            run: None,
            actor: "gate".to_owned(),
            body: Body::new(body).expect("a body"),
        };
        self.records.push(last.unwrap_or(Head::EMPTY).follow(draft).record);
    }
}

fn name(task: u8) -> String {
    if task == 0 { String::new() } else { task.to_string() }
}

fn in_loop(task: &str) -> String {
    format!("loop-{task}")
}

fn of_breaker((owner, task): (Owner, &str), breaker: Breaker) -> State {
    match owner {
        Owner::Task => State::for_task(task, breaker),
        Owner::Loop => State::for_loop(&in_loop(task), task, breaker),
    }
}

fn input(kind: Kind) -> Input {
    let (status, outcome) = match kind {
        Kind::Passes => (Status::Complete, Some(Outcome::Pass)),
        Kind::Claims | Kind::Forced => (Status::Complete, Some(Outcome::Fail)),
        Kind::Unsure => (Status::Complete, Some(Outcome::Inconclusive)),
        Kind::Silent => (Status::Absent, Some(Outcome::Pass)),
        Kind::Works | Kind::LimitNotice | Kind::Denied => (Status::Continue, None),
    };
    let record = |outcome| Evidence::new("tests", Mode::Require, outcome);
    let mut input = Input::new(Signal::absent(), Vec::new());
    input.signal.status = status;
    input.evidence.extend(outcome.map(record));
    input.force_reason = matches!(kind, Kind::Forced).then(|| "enough".to_owned());
    input
}

fn observed(kind: Kind, tree: u8) -> IterationFacts {
    let state = TreeState { digest: tree.to_string(), head: None, branches: None };
    let seen = TreeSeen {
        before: state.clone(),
        after: state,
        uncommitted: Some(tree == 0),
        changed_files: None,
        since_beginning: None,
    };
    let mut facts = IterationFacts::default();
    facts.tree = (tree < 2).then_some(seen);
    facts.tokens = Some(5);
    facts.session = Some(format!("session {tree}"));
    match kind {
        Kind::Claims => facts.signature = Some("red".to_owned()),
        Kind::Denied => facts.denied.push("Bash".to_owned()),
        Kind::LimitNotice => {
            facts.limited = Some(LimitNotice { text: "limit".to_owned(), resets_at: None });
        }
        _ => {}
    }
    facts
}
