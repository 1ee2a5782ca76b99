//! The JSON of `gate doctor`.

use gate_checks::{Finding, Level, Proof, Standing};
use schemars::JsonSchema;
use serde::Serialize;

use crate::install::Install;

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
