//! The JSON that gate prints and reads, described.

use clap::ValueEnum;
use gate_checks::{Finding, Level, PluginAnswer, PluginRequest, Proof, Standing};
use gate_core::decide::score::Indicators;
use gate_core::decide::signal::Signal;
use gate_core::exit::ExitSignal;
use gate_core::{Decision, Transcript, config, handoff};
use schemars::{JsonSchema, schema_for};
use serde::Serialize;
use serde_json::{Value, json};

use crate::commands::Status;
pub use crate::commands::{
    BaselineRecord, ExitParsed, ExitSubmitted, LeaseRecord, Starts, TrustRecord, VersionRecord,
    WorkList, WorkRecord,
};
use crate::failure::Failure;
pub use crate::install::{Install, Scope, TestStop};
use crate::memory::{BreakerStatus, Lock, Past};
use crate::record::Record;
use crate::replay::{ReplayGroup, ReplayRecord};
use crate::runner::RunRecord;

/// The schemas, by name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Name {
    /// The settings: gate.toml.
    Config,
    /// `gate check --json`.
    Decision,
    /// Any command with `--json`, where nothing was decided.
    Error,
    /// `gate scan --json`, one object a file.
    Scan,
    /// What a plug-in of the checks is asked.
    CheckRequest,
    /// What a plug-in of the checks answers.
    CheckResult,
    /// `gate doctor --json`.
    Doctor,
    /// `gate doctor --agent A --json`.
    DoctorAgent,
    /// `gate breaker --json`.
    Breaker,
    /// `gate baseline --json`.
    Baseline,
    /// `gate status --json`.
    Status,
    /// `gate trust --json`.
    Trust,
    /// `gate lock --json`.
    Lock,
    /// `gate version --json`.
    Version,
    /// `gate run --json`.
    Run,
    /// `gate explain --json`.
    Explain,
    /// `gate replay --json`, one object a row.
    Replay,
    /// `gate replay --group folder --json`, one object a row.
    ReplayGroup,
    /// An exit signal of the agent exit protocol.
    ExitSignal,
    /// `gate exit parse --json`.
    ExitParse,
    /// `gate exit submit --json`.
    ExitSubmit,
    /// `gate work --json`.
    Work,
    /// `gate work list --json`.
    WorkList,
    /// `gate work claim --json`.
    WorkLease,
    /// A handoff, in JSON.
    Handoff,
}

/// A JSON Schema.
pub fn of(name: Name) -> Value {
    match name {
        Name::Config => config::schema(),
        Name::Decision => schema_for!(Record).to_value(),
        Name::Error => schema_for!(Failure).to_value(),
        Name::Scan => schema_for!(ScanRecord).to_value(),
        Name::CheckRequest => schema_for!(PluginRequest).to_value(),
        Name::CheckResult => schema_for!(PluginAnswer).to_value(),
        Name::Doctor => schema_for!(DoctorRecord).to_value(),
        Name::DoctorAgent => schema_for!(AgentRecord).to_value(),
        Name::Baseline => schema_for!(BaselineRecord).to_value(),
        Name::Breaker => schema_for!(BreakerStatus).to_value(),
        Name::Run => schema_for!(RunRecord).to_value(),
        Name::Status => schema_for!(Status).to_value(),
        Name::Trust => schema_for!(TrustRecord).to_value(),
        Name::Lock => schema_for!(Lock).to_value(),
        Name::Version => schema_for!(VersionRecord).to_value(),
        Name::Explain => schema_for!(ExplainRecord).to_value(),
        Name::Replay => schema_for!(ReplayRecord).to_value(),
        Name::ReplayGroup => schema_for!(ReplayGroup).to_value(),
        Name::ExitSignal => schema_for!(ExitSignal).to_value(),
        Name::ExitParse => schema_for!(ExitParsed).to_value(),
        Name::ExitSubmit => schema_for!(ExitSubmitted).to_value(),
        Name::Work => schema_for!(WorkRecord).to_value(),
        Name::WorkList => schema_for!(WorkList).to_value(),
        Name::WorkLease => schema_for!(LeaseRecord).to_value(),
        Name::Handoff => handoff::schema(),
    }
}

/// What a plug-in is asked and what it answers, in one object.
pub fn of_plugin() -> Value {
    json!({ "request": of(Name::CheckRequest), "result": of(Name::CheckResult) })
}

/// `gate.scan.v1`: what a transcript holds.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct ScanRecord {
    /// Always `gate.scan.v1`.
    pub schema: &'static str,
    /// The file, as it was named.
    pub file: String,
    /// What the agent says about being done.
    pub signal: Signal,
    /// What speaks for completion, checks left out.
    pub indicators: Indicators,
    /// What the format tells beside the conversation.
    pub transcript: Transcript,
}

impl ScanRecord {
    /// The record of one file.
    pub(crate) fn new(file: String, decision: Decision, transcript: Transcript) -> Self {
        Self {
            schema: "gate.scan.v1",
            file,
            signal: decision.signal,
            indicators: decision.indicators,
            transcript,
        }
    }
}

/// `gate.doctor.v1`: what is missing or wrong here.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct DoctorRecord {
    /// Always `gate.doctor.v1`.
    pub schema: &'static str,
    /// Whether nothing is wrong.
    pub ok: bool,
    /// What was found: about gate, about the project, about each check.
    pub findings: Vec<Finding>,
    /// What the self-test showed; empty without `--self-test`.
    pub self_test: Vec<Proof>,
    /// How many of the findings are about gate: the first.
    #[serde(skip)]
    pub about_gate: usize,
}

impl DoctorRecord {
    pub(crate) fn new(gate: Vec<Finding>, others: Vec<Finding>, self_test: Vec<Proof>) -> Self {
        let about_gate = gate.len();
        let findings = [gate, others].concat();
        let record = Self { schema: "gate.doctor.v1", ok: true, findings, self_test, about_gate };
        Self { ok: record.problems() == 0, ..record }
    }

    /// How much is wrong: problems, and checks that cannot fail.
    pub(crate) fn problems(&self) -> usize {
        let wrong = self.findings.iter().filter(|finding| finding.level == Level::Problem);
        let deaf = self.self_test.iter().filter(|it| it.standing == Standing::CannotFail);
        wrong.count() + deaf.count()
    }
}

/// `gate.doctor.agent.v1`: whether gate stands in front of an agent's stop.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct AgentRecord {
    /// Always `gate.doctor.agent.v1`.
    pub schema: &'static str,
    /// Whether nothing is wrong.
    pub ok: bool,
    /// The agent.
    pub agent: String,
    /// Where gate is installed.
    pub installs: Vec<Install>,
    /// What was found.
    pub findings: Vec<Finding>,
}

impl AgentRecord {
    pub(crate) fn new(agent: &str, installs: Vec<Install>, findings: Vec<Finding>) -> Self {
        let (schema, agent) = ("gate.doctor.agent.v1", agent.to_owned());
        let record = Self { schema, ok: true, agent, installs, findings };
        Self { ok: record.problems() == 0, ..record }
    }

    /// How much is wrong.
    pub(crate) fn problems(&self) -> usize {
        self.findings.iter().filter(|finding| finding.level == Level::Problem).count()
    }
}

/// `gate.explain.v1`: a decision with all that it rests on.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct ExplainRecord {
    /// Always `gate.explain.v1`.
    pub schema: &'static str,
    /// The decision, with its inputs.
    pub decision: Record,
    /// The policy that it was decided under; null where it was not kept.
    pub policy: Option<Value>,
    /// The decision, decided again from its record; null without its policy.
    pub again: Option<Decision>,
    /// Whether both are the same.
    pub same: Option<bool>,
}

impl ExplainRecord {
    pub(crate) fn of(past: Past) -> Self {
        let same = past.is_same();
        let Past { record, policy, again } = past;
        let policy = policy.and_then(|policy| serde_json::to_value(policy).ok());
        Self { schema: "gate.explain.v1", decision: record, policy, again, same }
    }
}
