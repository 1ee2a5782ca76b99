//! A ledger in a folder of its own, and decisions that are recorded in it.

mod breakers;
mod decisions;
mod queries;

use gate_core::config::{Layer, Origin, resolve};
use gate_core::decide::decision::{Judged, judge};
use gate_core::decide::policy::Spelling;
use gate_core::decide::signal::{Signal, Status};
use gate_core::{Input, Policy};
use serde_json::json;
use tempfile::TempDir;
use uuid::Uuid;

use super::{DecisionContext, DecisionRequest, DecisionStart, LookUp, Memory, PendingDecision};
use crate::failure::Failure;
use crate::record::Record;
use crate::request::Asker;
use crate::settings::Places;
use crate::tests::record;

/// A project with its state beside it.
struct Shop {
    folder: TempDir,
    places: Places,
}

impl Shop {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let project = folder.path().join("project");
        std::fs::create_dir(&project).unwrap();
        let (state, data) = (folder.path().join("state"), folder.path().join("data"));
        let places =
            Places { folder: project, state: Some(state), data: Some(data), ..Places::default() };
        Self { folder, places }
    }

    fn memory(&self) -> Memory {
        Memory::open(&self.places, Some("shop")).unwrap()
    }

    /// Removes the store, but not the mark of its head.
    fn lose_state(&self) {
        std::fs::remove_dir_all(self.folder.path().join("state")).unwrap();
    }
}

/// The number of records in a ledger.
fn count(memory: &mut Memory) -> u64 {
    memory.view().unwrap().head().unwrap().seq
}

/// The types of all records.
fn kinds(memory: &mut Memory) -> Vec<String> {
    let entries = memory.view().unwrap().entries(1, 1_000).unwrap();
    entries.into_iter().map(|sealed| sealed.record.kind).collect()
}

fn policy(settings: &str) -> Policy {
    let layer = Layer::parse(Origin::Project("gate.toml".into()), settings).unwrap();
    resolve(&[layer], None).unwrap().policy
}

/// A decision that a test asks for.
struct Ask {
    asker: Asker,
    policy: Policy,
    text: String,
}

impl Ask {
    fn under(settings: &str) -> Self {
        let policy = policy(settings);
        let text = serde_json::to_string(&policy).unwrap();
        Self { asker: Asker { run: Some("nightly".to_owned()), ..Asker::default() }, policy, text }
    }

    fn asker(&self) -> Asker {
        self.asker.clone()
    }

    fn forced(&self) -> Asker {
        Asker { force_reason: Some("shipped".to_owned()), ..self.asker() }
    }

    fn request(&self) -> DecisionRequest<'_> {
        DecisionRequest {
            asker: &self.asker,
            input: None,
            approval: None,
            goals: &[],
            policy: &self.policy,
            policy_text: &self.text,
            settings: None,
        }
    }
}

/// The agent says that work remains.
fn goes_on() -> Signal {
    let mut signal = Signal::absent();
    signal.status = Status::Continue;
    signal
}

/// The agent's whole message says that it is done.
fn done() -> Signal {
    let mut signal = Signal::absent();
    signal.status = Status::Complete;
    signal.whole_message = true;
    signal.source = Some(Spelling::ExitStatus);
    signal
}

fn answer(
    request: &DecisionRequest<'_>,
    signal: &Signal,
    context: &DecisionContext,
) -> (Record, Judged) {
    let DecisionContext { memory, lost, run, iteration, at, .. } = context.clone();
    let mut input = Input::new(signal.clone(), Vec::new());
    input.observed.at = at;
    input.observed.iteration = iteration.unwrap_or_default();
    input.force_reason.clone_from(&request.asker.force_reason);
    input.stateful = true;
    input.memory = memory;
    input.lost = lost;
    let judged = judge(&input, request.policy);
    let record = Record {
        decision_id: Uuid::now_v7().to_string(),
        run,
        iteration,
        decision: judged.decision.clone(),
        policy_digest: gate_core::digest(request.policy_text.as_bytes()),
        input_digest: request.input.map(str::to_owned),
        ..record(&json!({}))
    };
    (record, judged)
}

fn pending(memory: &mut Memory, request: &DecisionRequest<'_>) -> PendingDecision {
    let mut pending = match memory.look_up(request).unwrap() {
        LookUp::Pending(pending) => *pending,
        LookUp::Repeated(record) => panic!("repeated: {}", record.decision_id),
    };
    memory.begin_probe(&mut pending, request).unwrap();
    pending
}

/// Decides in a transaction, and records the decision.
fn record_decision(
    memory: &mut Memory,
    pending: &PendingDecision,
    request: &DecisionRequest<'_>,
    signal: &Signal,
) -> Result<Record, Failure> {
    match memory.begin_decision(pending, request)? {
        DecisionStart::Repeated(record) => Ok(*record),
        DecisionStart::Open(transaction) => {
            let (record, judged) = answer(request, signal, &transaction.context);
            transaction.commit(record, judged, pending, request)
        }
    }
}

/// Decides and records, or repeats an earlier decision; decides without state if it is lost.
fn decide(
    memory: &mut Memory,
    request: &DecisionRequest<'_>,
    signal: &Signal,
) -> Result<Record, Failure> {
    let mut pending = match memory.look_up(request)? {
        LookUp::Repeated(record) => return Ok(*record),
        LookUp::Pending(pending) => *pending,
    };
    if let Some(earlier) = pending.earlier_decision {
        return Ok(*earlier);
    }
    memory.begin_probe(&mut pending, request)?;
    let failure = match record_decision(memory, &pending, request, signal) {
        Err(failure) if !request.asker.is_forced() => failure,
        decided => return decided,
    };
    let context = DecisionContext::without_state(&failure).ok_or(failure)?;
    Ok(answer(request, signal, &context).0)
}

/// The run and the iteration of a record.
fn place(record: &Record) -> (&str, u64) {
    (record.run.as_deref().unwrap(), record.iteration.unwrap())
}
