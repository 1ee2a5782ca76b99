//! The JSON of `gate doctor`.

use gate_checks::{Finding, Level, Proof, SelfTestOutcome};
use schemars::JsonSchema;
use serde::Serialize;

use crate::install::Install;

/// `gate.doctor.v1`: what is missing or wrong here.
#[non_exhaustive]
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct DoctorRecord {
    /// Always `gate.doctor.v1`.
    pub schema: &'static str,
    /// Nothing is wrong.
    pub ok: bool,
    /// The findings: about gate, about the project, about each check.
    pub findings: Vec<Finding>,
    /// The proofs of the self-test; empty without `--self-test`.
    pub self_test: Vec<Proof>,
    /// The number of findings about gate, which come first.
    #[serde(skip)]
    pub about_gate: usize,
}

impl DoctorRecord {
    pub(crate) fn new(
        gate_findings: Vec<Finding>,
        project_findings: Vec<Finding>,
        self_test: Vec<Proof>,
    ) -> Self {
        let about_gate = gate_findings.len();
        let findings = [gate_findings, project_findings].concat();
        let record = Self { schema: "gate.doctor.v1", ok: true, findings, self_test, about_gate };
        Self { ok: record.problems() == 0, ..record }
    }

    /// The number of problems, and of checks that cannot fail or do not pass.
    pub(crate) fn problems(&self) -> usize {
        let problems = self.findings.iter().filter(|finding| finding.level == Level::Problem);
        let useless_checks = self
            .self_test
            .iter()
            .filter(|proof| proof.outcome == SelfTestOutcome::CannotFail || proof.does_not_pass);
        problems.count() + useless_checks.count()
    }
}

/// `gate.doctor.agent.v1`: whether gate stands in front of an agent's stop.
#[non_exhaustive]
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct AgentRecord {
    /// Always `gate.doctor.agent.v1`.
    pub schema: &'static str,
    /// Nothing is wrong.
    pub ok: bool,
    /// The agent.
    pub agent: String,
    /// The places in which gate is installed.
    pub installs: Vec<Install>,
    /// The findings.
    pub findings: Vec<Finding>,
}

impl AgentRecord {
    pub(crate) fn new(agent: &str, installs: Vec<Install>, findings: Vec<Finding>) -> Self {
        let (schema, agent) = ("gate.doctor.agent.v1", agent.to_owned());
        let record = Self { schema, ok: true, agent, installs, findings };
        Self { ok: record.problems() == 0, ..record }
    }

    /// The number of problems.
    pub(crate) fn problems(&self) -> usize {
        self.findings.iter().filter(|finding| finding.level == Level::Problem).count()
    }
}
