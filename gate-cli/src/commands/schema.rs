//! The JSON Schemas of what gate prints and reads: files, which the program embeds.

use clap::ValueEnum;
use serde_json::{Value, json};

pub use super::baseline::BaselineRecord;
pub use super::doctor::{AgentRecord, DoctorRecord};
pub use super::exit::{ExitParsed, ExitSubmitted};
pub use super::explain::ExplainRecord;
pub use super::plan::{LastRun, PlanRecord, PlannedCheck};
pub use super::prune::PruneRecord;
pub use super::report::ReportRecord;
pub use super::scan::ScanRecord;
pub use super::work::{LeaseRecord, WorkList, WorkRecord};
pub use crate::approval::{Starts, TrustRecord};
pub use crate::install::{Install, Scope, TestStop};
pub use crate::notify::NotifyRecord;

/// Each schema has a name, the middle of its file's name, and what a test derives the file from.
macro_rules! schemas {
    ($(#[doc = $doc:literal] $name:ident: $file:literal, $derived:expr;)*) => {
        /// The schemas, by name.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
        pub enum Name {
            $(#[doc = $doc] $name,)*
        }

        impl Name {
            /// A JSON Schema, as its file has it.
            pub fn text(self) -> &'static str {
                match self {
                    $(Self::$name => include_str!(concat!("../../schemas/gate.", $file, ".v1.json")),)*
                }
            }

            /// The name of its file in `schemas/`, and what the file has to say.
            #[cfg(feature = "schemas")]
            pub fn derived(self) -> (&'static str, Value) {
                match self {
                    $(Self::$name => (concat!("gate.", $file, ".v1.json"), $derived),)*
                }
            }
        }
    };
}

schemas! {
    /// The settings: gate.toml.
    Config: "config", gate_core::config::schema();
    /// `gate check --json`.
    Decision: "decision", derived::<crate::record::Record>();
    /// `gate ci --json`.
    Ci: "ci", derived::<crate::pull_request::CiRecord>();
    /// Any command with `--json`, if nothing was decided.
    Error: "error", derived::<crate::failure::Failure>();
    /// `gate scan --json`, one object a file.
    Scan: "scan", derived::<ScanRecord>();
    /// The request that a plug-in of the checks reads.
    CheckRequest: "check.request", derived::<gate_checks::PluginRequest>();
    /// The answer that a plug-in of the checks writes.
    CheckResult: "check.result", derived::<gate_checks::PluginAnswer>();
    /// `gate doctor --json`.
    Doctor: "doctor", derived::<DoctorRecord>();
    /// `gate doctor --agent A --json`.
    DoctorAgent: "doctor.agent", derived::<AgentRecord>();
    /// `gate breaker --json`.
    Breaker: "breaker", derived::<crate::memory::BreakerStatus>();
    /// `gate baseline --json`.
    Baseline: "baseline", derived::<BaselineRecord>();
    /// `gate check --plan --json`.
    Plan: "plan", derived::<PlanRecord>();
    /// `gate status --json`.
    Status: "status", derived::<super::status::Status>();
    /// `gate trust --json`.
    Trust: "trust", derived::<TrustRecord>();
    /// `gate approve --json`.
    Approve: "approve", derived::<crate::test_approval::ApproveRecord>();
    /// `gate wrong --json`.
    Wrong: "wrong", derived::<crate::memory::WrongRecord>();
    /// `gate ledger accept --json`.
    Accepted: "accepted", derived::<crate::memory::AcceptedLoss>();
    /// `gate prune --json`.
    Prune: "prune", derived::<PruneRecord>();
    /// A message about the end of a loop.
    Notify: "notify", derived::<NotifyRecord>();
    /// `gate report --json`.
    Report: "report", derived::<ReportRecord>();
    /// `gate run --json`.
    Run: "run", derived::<crate::runner::RunRecord<'static>>();
    /// `gate explain --json`.
    Explain: "explain", derived::<ExplainRecord>();
    /// `gate replay --json`, one object a row.
    Replay: "replay", derived::<crate::replay::ReplayRecord>();
    /// `gate replay --group folder --json`, one object a row.
    ReplayGroup: "replay.group", derived::<crate::replay::ReplayGroup>();
    /// `gate criteria --json`.
    Criteria: "criteria", derived::<super::criteria::CriteriaRecord>();
    /// `gate seal --json`.
    Seals: "seals", derived::<super::seal::SealsRecord>();
    /// `gate audit --json`.
    Audit: "audit", derived::<crate::audit::AuditRecord>();
    /// `gate tune --json`.
    Tune: "tune", derived::<super::replay::tune::TuneRecord>();
    /// The last line of `gate replay --json` with `--by`.
    ReplaySummary: "replay.summary", derived::<super::replay::accuracy::ReplaySummary>();
    /// An exit signal of the agent exit protocol.
    ExitSignal: "exit.signal", derived::<gate_core::exit::ExitSignal>();
    /// `gate exit parse --json`.
    ExitParse: "exit.parse", derived::<ExitParsed>();
    /// `gate exit submit --json`.
    ExitSubmit: "exit.submit", derived::<ExitSubmitted>();
    /// `gate work --json`.
    Work: "work", derived::<WorkRecord>();
    /// `gate work list --json`.
    WorkList: "work.list", derived::<WorkList>();
    /// `gate work claim --json`.
    WorkLease: "work.lease", derived::<LeaseRecord>();
    /// A handoff, in JSON.
    Handoff: "handoff", gate_fleet::handoff::schema();
}

#[cfg(feature = "schemas")]
fn derived<T: schemars::JsonSchema>() -> Value {
    schemars::schema_for!(T).to_value()
}

/// The schemas of a plug-in's request and answer, in one object.
#[expect(clippy::expect_used, reason = "a test derives the schemas and compares")]
pub(super) fn plugin_schemas() -> Value {
    let read = |name: Name| serde_json::from_str::<Value>(name.text()).expect("JSON");
    json!({ "request": read(Name::CheckRequest), "result": read(Name::CheckResult) })
}
