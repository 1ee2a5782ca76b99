//! One decision's turn: which loop it belongs to, what is remembered of it, and
//! how it is kept.

use gate_core::decide::breaker::{Admission, Breaker, Change};
use gate_core::decide::memory::{Memory as Remembered, RunState};
use gate_core::decide::moment::Moment;
use gate_core::history::{State, kind};
use gate_core::protocol::ledger::{Draft, Sealed};
use gate_core::{Judged, Policy, Verdict};
use jiff::Timestamp;
use uuid::Uuid;

use super::body::{self, ActBody};
use super::operator::Operator;
use super::{Memory, naming, now};
use crate::failure::Failure;
use crate::record::Record;
use crate::store::{Reading, Writing};

/// Who writes the records of decisions.
const GATE: &str = "gate";

/// What is asked about one decision.
#[derive(Clone, Debug)]
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
    /// What else the operator said, with the value that was given.
    pub(crate) acts: &'a [(&'static str, Option<String>)],
    /// The policy in force.
    pub(crate) policy: &'a Policy,
    /// Its one spelling.
    pub(crate) policy_text: &'a str,
}

/// What comes before a decision.
#[derive(Debug)]
pub(crate) enum Begun {
    /// It was made before.
    Repeated(Box<Record>),
    /// It is to be made.
    Turn(Turn),
}

/// A decision that is about to be made.
#[derive(Debug)]
pub(crate) struct Turn {
    task: String,
    name: String,
    probe: String,
    /// What the breaker says to it.
    pub(crate) admission: Admission,
    /// Whether the run has no work tree yet to be compared with.
    pub(crate) first_look: bool,
    /// Why the state cannot be trusted.
    lost: Option<Box<Failure>>,
}

/// What a decision rests on, at the moment in which it is made.
#[derive(Clone, Debug)]
pub(crate) struct Standing {
    /// What is remembered; none where it was lost.
    pub(crate) memory: Option<Remembered>,
    /// Why it was lost.
    pub(crate) lost: Option<String>,
    /// The run; none where it was lost.
    pub(crate) run: Option<String>,
    /// The iteration's number.
    pub(crate) iteration: Option<u64>,
    /// When it is made.
    pub(crate) at: Moment,
    /// The id under which it would hold the probe.
    pub(crate) probe: String,
}

/// Makes the decision.
pub(crate) type Decide<'a> = dyn FnMut(Standing) -> (Record, Judged) + 'a;

/// What is remembered of a loop and its task.
struct Loaded {
    breaker: Breaker,
    last: Option<(String, RunState)>,
}

impl Memory {
    /// Before a decision: whether it was made already, and what the breaker
    /// says to it. Where the cool-down is over, this is where the probe begins.
    pub(crate) fn begin(&mut self, asked: &Asked<'_>) -> Result<Begun, Failure> {
        let mut turn = Turn {
            task: asked.task.unwrap_or_default().to_owned(),
            name: naming::of_loop(asked.run, asked.task, &self.tree)?,
            probe: Uuid::now_v7().to_string(),
            admission: Admission::Held,
            first_look: true,
            lost: None,
        };
        let looked = self.read(|reading| {
            let loaded = load(reading, &turn)?;
            let repeated = repeated(reading, &loaded, asked)?;
            Ok((loaded, repeated))
        });
        let (loaded, repeated) = match looked {
            Err(failure) if failure.lost_state().is_some() => {
                return Ok(Begun::Turn(Turn { lost: Some(Box::new(failure)), ..turn }));
            }
            looked => looked?,
        };
        if let Some(record) = repeated {
            return Ok(Begun::Repeated(Box::new(record)));
        }
        let seen = loaded.last.as_ref().is_some_and(|(_, run)| run.tree.is_some());
        turn.first_look = !seen || asked.begins_run(&loaded);
        turn.admission = self.admit(&loaded, &turn, asked)?;
        Ok(Begun::Turn(turn))
    }

    /// What the breaker says; a step that it makes is recorded before anything
    /// rests on it.
    fn admit(
        &mut self,
        loaded: &Loaded,
        turn: &Turn,
        asked: &Asked<'_>,
    ) -> Result<Admission, Failure> {
        if asked.forced {
            return Ok(Admission::Free);
        }
        let (admission, _, change) = loaded.breaker.admit(&now(), asked.policy, &turn.probe);
        if change.is_none() || asked.dry_run {
            return Ok(admission);
        }
        self.write(|writing| {
            let breaker = load(writing, turn)?.breaker;
            let (admission, breaker, change) = breaker.admit(&now(), asked.policy, &turn.probe);
            if let Some(change) = change {
                writing.append(transition(&change, &turn.task, breaker)?)?;
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
            self.read(|reading| Ok(previewed(load(reading, turn)?, turn, asked, decide)))
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
    turn: &Turn,
    asked: &Asked<'_>,
    decide: &mut Decide<'_>,
) -> Record {
    if !asked.forced {
        loaded.breaker = loaded.breaker.admit(&now(), asked.policy, &turn.probe).1;
    }
    decide(asked.standing(&loaded, turn)).0
}

fn recorded(
    writing: &mut dyn Writing,
    tree: &str,
    turn: &Turn,
    asked: &Asked<'_>,
    decide: &mut Decide<'_>,
) -> Result<Record, Failure> {
    let loaded = load(writing, turn)?;
    if let Some(record) = repeated(writing, &loaded, asked)? {
        return Ok(record);
    }
    let (record, judged) = decide(asked.standing(&loaded, turn));
    let memory = judged.memory.ok_or_else(|| Failure::internal("defect", "nothing to remember"))?;
    writing.keep_policy(&record.policy_digest, asked.policy_text)?;
    for act in asked.acts {
        writing.append(flagged(act, asked, &record)?)?;
    }
    let state = State {
        task: turn.task.clone(),
        name: Some(turn.name.clone()),
        iteration: record.iteration,
        breaker: memory.breaker.clone(),
        run: Some(memory.run),
    };
    let sealed = writing.append(Draft {
        time: record.time.clone(),
        kind: decided(&record).to_owned(),
        run: record.run.clone(),
        actor: GATE.to_owned(),
        body: body::of_decision(&record, &state, tree)?,
    })?;
    if let Some(change) = &judged.change {
        writing.append(transition(change, &turn.task, memory.breaker)?)?;
    }
    Ok(Record { ledger: Some(body::place(&sealed)), ..record })
}

/// The type of a decision's record.
fn decided(record: &Record) -> &'static str {
    if record.decision.verdict == Verdict::Exit { kind::PASSED } else { kind::BLOCKED }
}

/// The record of a step of the breaker.
fn transition(change: &Change, task: &str, breaker: Breaker) -> Result<Draft, Failure> {
    let state = State::of_task(task, breaker);
    Ok(Draft {
        time: Timestamp::now().to_string(),
        kind: kind::TRANSITION.to_owned(),
        run: None,
        actor: GATE.to_owned(),
        body: body::of_change(change, &state)?,
    })
}

/// The record of an operator's flag.
fn flagged(
    (act, value): &(&'static str, Option<String>),
    asked: &Asked<'_>,
    record: &Record,
) -> Result<Draft, Failure> {
    let operator = Operator::of_process();
    let act = ActBody {
        act,
        reason: None,
        value: value.as_deref(),
        task: asked.task,
        operator: &operator,
        lost: None,
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

/// What the last records of a loop and of its task say.
fn load(reading: &mut dyn Reading, turn: &Turn) -> Result<Loaded, Failure> {
    let of_task = reading.latest_of_task(&turn.task)?;
    let breaker = of_task.as_ref().map(body::state_of).transpose()?.map(|state| state.breaker);
    let of_loop = reading.latest_of_loop(&turn.name)?;
    let last = of_loop.as_ref().map(run_of).transpose()?;
    Ok(Loaded { breaker: breaker.unwrap_or_default(), last })
}

/// The run of a decision's record.
fn run_of(sealed: &Sealed) -> Result<(String, RunState), Failure> {
    let state = body::state_of(sealed)?;
    let damaged = || {
        let message = format!("record {} of the ledger names no run", sealed.record.seq);
        Failure::internal("state-corrupt", message)
    };
    Ok((sealed.record.run.clone().ok_or_else(damaged)?, state.run.ok_or_else(damaged)?))
}

/// The recorded decision of this iteration. Of a run that is over it counts
/// only for the same input: the name may have been taken for a new run.
fn repeated(
    reading: &mut dyn Reading,
    loaded: &Loaded,
    asked: &Asked<'_>,
) -> Result<Option<Record>, Failure> {
    let (Some(iteration), Some((run, state)), false) =
        (asked.iteration, &loaded.last, asked.new_run)
    else {
        return Ok(None);
    };
    let Some(sealed) = reading.decision(run, iteration)? else { return Ok(None) };
    let record = body::decision_of(&sealed)?;
    let over = state.is_over(&now(), &loaded.breaker);
    let same = asked.input.is_some() && record.input_digest.as_deref() == asked.input;
    Ok((!over || same).then_some(Record { repeated: true, ..record }))
}

impl Asked<'_> {
    /// Whether the decision belongs to another run than the loop's last.
    fn begins_run(&self, loaded: &Loaded) -> bool {
        let over = |(_, run): &(String, RunState)| run.is_over(&now(), &loaded.breaker);
        self.new_run || loaded.last.as_ref().is_none_or(over)
    }

    /// What the decision rests on.
    fn standing(&self, loaded: &Loaded, turn: &Turn) -> Standing {
        let at = now();
        let breaker = loaded.breaker.clone();
        let (run, state) = match &loaded.last {
            Some((run, state)) if !self.begins_run(loaded) => (run.clone(), state.clone()),
            last => {
                let before = last.as_ref().map(|(run, _)| run.as_str());
                (naming::next_run(&turn.name, before), RunState::begins(&at, &breaker))
            }
        };
        Standing {
            iteration: Some(self.iteration.unwrap_or(state.iteration + 1)),
            memory: Some(Remembered { breaker, run: state }),
            lost: None,
            run: Some(run),
            at,
            probe: turn.probe.clone(),
        }
    }
}
