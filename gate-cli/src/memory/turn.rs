//! One decision's turn: which loop it belongs to, what is remembered of it, and
//! how it is kept.

use gate_core::decide::breaker::{Admission, Change};
use gate_core::decide::iteration_facts::TreeState;
use gate_core::decide::run_state::{LoopState, RunState};
use gate_core::decide::signal::Status;
use gate_core::decide::stop::Refusals;
use gate_core::decide::timestamp;
use gate_core::exit::AgentSessionCompleted;
use gate_core::history::{Owner, State, kind};
use gate_core::protocol::ledger::Draft;
use gate_core::{Judged, Policy};
use jiff::Timestamp;
use serde_json::json;
use uuid::Uuid;

use super::body::{self, ActBody};
use super::earlier::Earlier;
use super::held::{Held, Settings};
use super::loops::{Loaded, load, went_by};
use super::{Memory, naming, now};
use crate::failure::Failure;
use crate::operator::Operator;
use crate::record::Record;
use crate::secrets;
use crate::store::Writing;
use crate::trust;

/// Who writes the records of decisions.
pub(super) const GATE: &str = "gate";

/// What is asked about one decision.
#[derive(Clone)]
pub(crate) struct Asked<'a> {
    /// The task's id.
    pub(crate) task: Option<&'a str>,
    /// The loop's name.
    pub(crate) run: Option<&'a str>,
    /// The caller's number of the iteration.
    pub(crate) iteration: Option<u64>,
    /// Whether a new run begins.
    pub(crate) new_run: bool,
    /// The digest of what is judged.
    pub(crate) input: Option<&'a str>,
    /// Whether nothing is kept.
    pub(crate) dry_run: bool,
    /// Whether the operator ends the loop.
    pub(crate) forced: bool,
    /// Looks at the work tree; none where it cannot be read.
    pub(crate) look: &'a dyn Fn() -> Option<TreeState>,
    /// Who works, for the record of a session that ends.
    pub(crate) actor: Option<&'a str>,
    /// Whether an exit signal is submitted to a work item, and recorded there.
    pub(crate) of_work: bool,
    /// What else the operator said, with the value that was given.
    pub(crate) acts: &'a [(&'static str, Option<String>)],
    /// The policy in force.
    pub(crate) policy: &'a Policy,
    /// Its one spelling.
    pub(crate) policy_text: &'a str,
    /// Whose settings these are; none where a program answers for them.
    pub(crate) settings: Option<Settings<'a>>,
    /// Refuses settings that are not approved, before anything rests on them.
    pub(crate) admit: &'a dyn Fn(&Turn) -> Result<(), Failure>,
}

/// What comes before a decision.
#[derive(Debug)]
pub(crate) enum Begun {
    /// It was made before.
    Repeated(Box<Record>),
    /// It is to be made.
    Turn(Box<Turn>),
}

/// A decision that is about to be made.
#[derive(Clone, Debug)]
pub(crate) struct Turn {
    task: String,
    name: String,
    probe: String,
    /// What the breaker says to it.
    pub(crate) admission: Admission,
    /// How often the agent's stop was refused before it; counted where a hook
    /// asks.
    pub(crate) refusals: Refusals,
    /// Whether the run has no work tree yet to be compared with.
    pub(crate) first_look: bool,
    /// The iteration, as it would be numbered now.
    iteration: Option<(String, u64)>,
    /// How the settings stand; none where nobody asks.
    pub(crate) trust: Option<trust::Standing>,
    /// Why nothing counts of what it would be decided under.
    pub(crate) tampered: Option<String>,
    /// The policy that holds in the place of that: the one that the run went by.
    own: Option<Box<(Policy, String)>>,
    /// The number of the last record when it began.
    pub(super) head: u64,
    /// Why the state cannot be trusted.
    lost: Option<Box<Failure>>,
}

/// What a decision rests on, at the moment in which it is made.
#[derive(Clone, Debug)]
pub(crate) struct Standing {
    /// What is remembered; none where it was lost.
    pub(crate) memory: Option<LoopState>,
    /// Why it was lost.
    pub(crate) lost: Option<String>,
    /// The run; none where it was lost.
    pub(crate) run: Option<String>,
    /// The iteration's number.
    pub(crate) iteration: Option<u64>,
    /// When it is made.
    pub(crate) at: timestamp::Timestamp,
    /// The id under which it would hold the probe.
    pub(crate) probe: String,
}

/// Makes the decision.
pub(crate) type Decide<'a> = dyn FnMut(Standing) -> (Record, Judged) + 'a;

impl Turn {
    /// The policy that it is decided by.
    pub(crate) fn policy<'t>(&'t self, asked: &Asked<'t>) -> &'t Policy {
        self.own.as_ref().map_or(asked.policy, |own| &own.0)
    }

    /// The one spelling of the policy that holds in the place of the one that is
    /// asked about; none where that one holds.
    pub(crate) fn own_text(&self) -> Option<&str> {
        self.own.as_ref().map(|own| own.1.as_str())
    }
}

impl Memory {
    /// Before a decision: whether it was made already, and what the breaker
    /// says to it. Where the cool-down is over, this is where the probe begins.
    pub(crate) fn begin(&mut self, asked: &Asked<'_>) -> Result<Begun, Failure> {
        let mut turn = Turn::new(asked, &self.tree)?;
        let looked = self.read(|reading| {
            let loaded = load(reading, &turn.task, &turn.name)?;
            let earlier = Earlier::of(reading, &loaded, asked)?;
            Ok((loaded, earlier, Held::of(reading)?, reading.head()?.seq))
        });
        let (loaded, earlier, held, head) = match looked {
            Err(failure) if failure.lost_state().is_some() => {
                let turn = Turn { lost: Some(Box::new(failure)), ..turn };
                return Ok(Begun::Turn(Box::new(turn)));
            }
            looked => looked?,
        };
        if let Some(record) = earlier.repeated(asked) {
            return Ok(Begun::Repeated(Box::new(record)));
        }
        let seen = loaded.last.as_ref().is_some_and(|(_, run)| run.tree.is_some());
        let begins = asked.begins_run(&loaded, &earlier);
        turn.first_look = !seen || begins;
        turn.head = head;
        let standing = asked.standing(&loaded, &earlier, &turn);
        turn.iteration = standing.run.zip(standing.iteration);
        if let Some(settings) = &asked.settings {
            let goes_on = loaded.last.as_ref().filter(|_| !begins);
            let run = loaded.run(&turn.name, begins);
            turn.trust = Some(held.standing(settings));
            turn.tampered = held.tampered(settings, &run, goes_on.map(|(_, run)| run));
            if turn.tampered.is_some() && goes_on.is_some() {
                turn.own = self.read(|reading| went_by(reading, &turn.name))?.map(Box::new);
            }
        }
        turn.admission = self.admit(&loaded.memory(begins), &turn, asked)?;
        let goes_on = loaded.last.filter(|_| !begins);
        turn.refusals = goes_on.map(|(_, run)| run.refusals).unwrap_or_default();
        Ok(Begun::Turn(Box::new(turn)))
    }

    /// The iteration that would be decided next.
    pub(super) fn next_of(&mut self, asked: &Asked<'_>) -> Result<(String, u64), Failure> {
        let turn = Turn::new(asked, &self.tree)?;
        let standing = self.read(|reading| {
            let loaded = load(reading, &turn.task, &turn.name)?;
            let earlier = Earlier::of(reading, &loaded, asked)?;
            Ok(asked.standing(&loaded, &earlier, &turn))
        })?;
        let iteration = standing.run.zip(standing.iteration);
        iteration.ok_or_else(|| Failure::internal("defect", "an iteration without a number"))
    }

    /// What the breaker says; a step that it makes is recorded before anything
    /// rests on it.
    fn admit(
        &mut self,
        before: &LoopState,
        turn: &Turn,
        asked: &Asked<'_>,
    ) -> Result<Admission, Failure> {
        if asked.forced {
            return Ok(Admission::Free);
        }
        let policy = turn.policy(asked);
        let (admission, _, change) = before.governing().admit(&now(), policy, &turn.probe);
        // Nothing is tried with a budget that is spent.
        let spent = before.is_spent(policy);
        let admission = if spent { Admission::Held } else { admission };
        (asked.admit)(&Turn { admission, ..turn.clone() })?;
        if change.is_none() || spent || asked.dry_run {
            return Ok(admission);
        }
        let tree = self.tree.clone();
        self.write(|writing| {
            let before = load(writing, &turn.task, &turn.name)?.memory(true);
            let breaker = before.governing();
            let (admission, breaker, change) = breaker.admit(&now(), policy, &turn.probe);
            if let Some(change) = change {
                let state = match before.held_by_operator() {
                    Some(_) => State::of_task(&turn.task, breaker),
                    None => State::of_loop(&turn.name, &turn.task, breaker),
                };
                writing.append(transition(&change, &state, &tree)?)?;
            }
            Ok(admission)
        })
    }

    /// Makes the decision from what is remembered now, and keeps it. Where
    /// another process was faster with the same iteration, its decision counts.
    pub(crate) fn record(
        &mut self,
        turn: &Turn,
        asked: &Asked<'_>,
        decide: &mut Decide<'_>,
    ) -> Result<Record, Failure> {
        if let Some(failure) = &turn.lost {
            return without_memory(failure, asked, decide);
        }
        let tree = self.tree.clone();
        let recorded = if asked.dry_run {
            self.read(|reading| {
                let loaded = load(reading, &turn.task, &turn.name)?;
                let earlier = Earlier::of(reading, &loaded, asked)?;
                Ok(previewed(loaded, &earlier, turn, asked, decide))
            })
        } else {
            self.write(|writing| recorded(writing, &tree, turn, asked, decide))
        };
        match recorded {
            Err(failure) if failure.lost_state().is_some() => {
                without_memory(&failure, asked, decide)
            }
            recorded => recorded,
        }
    }
}

impl Turn {
    fn new(asked: &Asked<'_>, tree: &str) -> Result<Self, Failure> {
        Ok(Self {
            task: asked.task.unwrap_or_default().to_owned(),
            name: naming::of_loop(asked.run, asked.task, tree)?,
            probe: Uuid::now_v7().to_string(),
            admission: Admission::Held,
            refusals: Refusals::default(),
            first_look: true,
            iteration: None,
            trust: asked.settings.as_ref().map(|it| it.looked.standing),
            tampered: None,
            own: None,
            head: 0,
            lost: None,
        })
    }

    /// The iteration that it is about, as far as that is known.
    pub(crate) fn is_of(&self) -> Option<(&str, u64)> {
        self.iteration.as_ref().map(|(run, iteration)| (run.as_str(), *iteration))
    }
}

/// A decision that nothing is known for: the breaker is open, and there is
/// nothing that it could be recorded in.
fn without_memory(
    failure: &Failure,
    asked: &Asked<'_>,
    decide: &mut Decide<'_>,
) -> Result<Record, Failure> {
    if asked.forced {
        return Err(failure.clone());
    }
    let standing = Standing {
        memory: None,
        lost: Some(failure.message.clone()),
        run: None,
        iteration: None,
        at: now(),
        probe: String::new(),
    };
    Ok(decide(standing).0)
}

/// The decision as it would be; nothing is kept.
fn previewed(
    mut loaded: Loaded,
    earlier: &Earlier,
    turn: &Turn,
    asked: &Asked<'_>,
    decide: &mut Decide<'_>,
) -> Record {
    if !asked.forced {
        let policy = turn.policy(asked);
        let begins = asked.begins_run(&loaded, earlier);
        let before = loaded.memory(begins);
        let admitted = before.governing().admit(&now(), policy, &turn.probe).1;
        match before.held_by_operator() {
            _ if before.is_spent(policy) => {}
            Some(_) => loaded.hold = Some(admitted),
            None => loaded.breaker = admitted,
        }
    }
    decide(asked.standing(&loaded, earlier, turn)).0
}

fn recorded(
    writing: &mut dyn Writing,
    tree: &str,
    turn: &Turn,
    asked: &Asked<'_>,
    decide: &mut Decide<'_>,
) -> Result<Record, Failure> {
    let loaded = load(writing, &turn.task, &turn.name)?;
    let earlier = Earlier::of(writing, &loaded, asked)?;
    if let Some(record) = earlier.made_meanwhile(turn, asked) {
        return Ok(record);
    }
    let standing = asked.standing(&loaded, &earlier, turn);
    let is_held = loaded.hold.as_ref().is_some_and(|hold| !hold.is_closed());
    let (record, judged) = decide(standing);
    let memory = judged.memory.ok_or_else(|| Failure::internal("defect", "nothing to remember"))?;
    writing.keep_policy(&record.policy_digest, turn.own_text().unwrap_or(asked.policy_text))?;
    for act in asked.acts {
        writing.append(flagged(act, asked, &record)?)?;
    }
    let state = State {
        task: turn.task.clone(),
        name: Some(turn.name.clone()),
        owner: Owner::Loop,
        iteration: record.iteration,
        breaker: memory.breaker.clone(),
        hold: memory.hold.clone(),
        run: Some(memory.run),
    };
    let sealed = writing.append(Draft {
        time: record.time.clone(),
        kind: kind::of(&record.decision).to_owned(),
        run: record.run.clone(),
        actor: GATE.to_owned(),
        body: body::of_decision(&record, &state, tree)?,
    })?;
    if let Some(change) = &judged.change {
        let state = match memory.hold.filter(|_| is_held) {
            Some(hold) => State::of_task(&turn.task, hold),
            None => State::of_loop(&turn.name, &turn.task, memory.breaker),
        };
        writing.append(transition(change, &state, tree)?)?;
    }
    if let Some(ended) = session_end(asked, &record)? {
        writing.append(ended)?;
    }
    Ok(Record { ledger: Some(body::place(&sealed)), ..record })
}

/// The record of a step of the breaker.
fn transition(change: &Change, state: &State, tree: &str) -> Result<Draft, Failure> {
    Ok(Draft {
        time: Timestamp::now().to_string(),
        kind: kind::TRANSITION.to_owned(),
        run: None,
        actor: GATE.to_owned(),
        body: body::of_change(change, state, tree)?,
    })
}

/// The record of a session that ends with a valid exit signal. A session whose stop a
/// hook refuses goes on.
fn session_end(asked: &Asked<'_>, record: &Record) -> Result<Option<Draft>, Failure> {
    let decision = &record.decision;
    let signal = &decision.signal;
    let taken = matches!(signal.status, Status::Complete | Status::Blocked) && !asked.of_work;
    let goes_on = decision.observed.stop.is_some() && !decision.stop;
    let Some(exit) = signal.exit_signal.clone().filter(|_| taken && !goes_on) else {
        return Ok(None);
    };
    let run = record.run.clone();
    let in_run = || {
        format!("{}/{}", run.as_deref().unwrap_or_default(), record.iteration.unwrap_or_default())
    };
    let session = record.transcript.session.clone().unwrap_or_else(in_run);
    let format = record.transcript.format.as_deref();
    let actor = asked.actor.or(format).unwrap_or("agent");
    let event = AgentSessionCompleted::at(Timestamp::now(), Uuid::now_v7(), &session, actor, *exit);
    Ok(Some(Draft {
        time: record.time.clone(),
        kind: AgentSessionCompleted::EVENT_TYPE.to_owned(),
        run,
        actor: actor.to_owned(),
        body: body::masked(&json!({ "event": event }))?,
    }))
}

/// The record of an operator's flag.
fn flagged(
    (act, value): &(&'static str, Option<String>),
    asked: &Asked<'_>,
    record: &Record,
) -> Result<Draft, Failure> {
    let operator = Operator::from_process();
    let value = value.as_deref().map(secrets::masked);
    let act = ActBody {
        act,
        reason: None,
        value: value.as_deref(),
        task: asked.task,
        operator: &operator,
        lost: None,
        tree: None,
        state: None,
    };
    Ok(Draft {
        time: record.time.clone(),
        kind: kind::ACT.to_owned(),
        run: record.run.clone(),
        actor: operator.actor(),
        body: body::body(&act)?,
    })
}

impl Asked<'_> {
    /// Whether the decision belongs to another run than the loop's last.
    fn begins_run(&self, loaded: &Loaded, earlier: &Earlier) -> bool {
        self.new_run || matches!(earlier, Earlier::Restarted) || loaded.is_over()
    }

    /// What the decision rests on.
    fn standing(&self, loaded: &Loaded, earlier: &Earlier, turn: &Turn) -> Standing {
        let begins = self.begins_run(loaded, earlier);
        let run = loaded.run(&turn.name, begins);
        let memory = loaded.memory(begins);
        Standing {
            iteration: Some(self.number(&memory.run, earlier)),
            memory: Some(memory),
            lost: None,
            run: Some(run),
            at: now(),
            probe: turn.probe.clone(),
        }
    }

    /// The iteration's number. The operator's word gets one of its own where the
    /// caller's is taken.
    fn number(&self, run: &RunState, earlier: &Earlier) -> u64 {
        let taken = matches!(earlier, Earlier::Live(_));
        self.iteration.filter(|_| !taken).unwrap_or(run.iteration + 1)
    }
}
