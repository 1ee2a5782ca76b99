//! The JSON Schemas of what gate prints and reads: files, which the program embeds.

use clap::ValueEnum;
pub use gate_fleet::exit::{ExitParsed, ExitSubmitted};
pub use gate_fleet::work::{LeaseRecord, WorkList, WorkRecord};
use serde_json::{Value, json};

pub use super::baseline::BaselineRecord;
pub use super::doctor::{AgentRecord, DoctorRecord};
pub use super::explain::ExplainRecord;
pub use super::plan::{LastRun, PlanRecord, PlannedCheck};
pub use super::prune::PruneRecord;
pub use super::scan::ScanRecord;
pub use crate::approval::{Starts, TrustRecord};
pub use crate::install::{Install, Scope, TestStop};
pub use crate::notify::NotifyRecord;
pub use gate_lens::report::ReportRecord;

/// Each schema has a name, its text, and what a test derives the text from.
macro_rules! schemas {
    ($(#[doc = $doc:literal] $name:ident: $text:ident, $derived:expr;)*) => {
        /// The schemas, by name.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
        pub enum Name {
            $(#[doc = $doc] $name,)*
        }

        impl Name {
            /// A JSON Schema, as its file has it.
            pub fn text(self) -> &'static str {
                match self {
                    $(Self::$name => gate_schemas::$text,)*
                }
            }

            /// The schema, as the types have it.
            #[cfg(feature = "schemas")]
            pub fn derived(self) -> Value {
                match self {
                    $(Self::$name => $derived,)*
                }
            }
        }
    };
}

schemas! {
    /// The settings: gate.toml.
    Config: CONFIG, gate_core::config::schema();
    /// `gate check --json`.
    Decision: DECISION, derived::<crate::record::Record>();
    /// `gate ci --json`.
    Ci: CI, derived::<crate::pull_request::CiRecord>();
    /// Any command with `--json`, if nothing was decided.
    Error: ERROR, derived::<crate::failure::Failure>();
    /// `gate scan --json`, one object a file.
    Scan: SCAN, derived::<ScanRecord>();
    /// The request that a plug-in of the checks reads.
    CheckRequest: CHECK_REQUEST, derived::<gate_checks::PluginRequest>();
    /// The answer that a plug-in of the checks writes.
    CheckResult: CHECK_RESULT, derived::<gate_checks::PluginAnswer>();
    /// `gate doctor --json`.
    Doctor: DOCTOR, derived::<DoctorRecord>();
    /// `gate doctor --agent A --json`.
    DoctorAgent: DOCTOR_AGENT, derived::<AgentRecord>();
    /// `gate breaker --json`.
    Breaker: BREAKER, derived::<crate::memory::BreakerStatus>();
    /// `gate baseline --json`.
    Baseline: BASELINE, derived::<BaselineRecord>();
    /// `gate check --plan --json`.
    Plan: PLAN, derived::<PlanRecord>();
    /// `gate status --json`.
    Status: STATUS, derived::<super::status::Status>();
    /// `gate trust --json`.
    Trust: TRUST, derived::<TrustRecord>();
    /// `gate approve --json`.
    Approve: APPROVE, derived::<crate::test_approval::ApproveRecord>();
    /// `gate wrong --json`.
    Wrong: WRONG, derived::<crate::memory::WrongRecord>();
    /// `gate ledger accept --json`.
    Accepted: ACCEPTED, derived::<crate::memory::AcceptedLoss>();
    /// `gate prune --json`.
    Prune: PRUNE, derived::<PruneRecord>();
    /// A message about the end of a loop.
    Notify: NOTIFY, derived::<NotifyRecord>();
    /// `gate report --json`.
    Report: REPORT, derived::<ReportRecord>();
    /// `gate run --json`.
    Run: RUN, derived::<crate::runner::RunRecord<'static>>();
    /// `gate explain --json`.
    Explain: EXPLAIN, derived::<ExplainRecord>();
    /// `gate replay --json`, one object a row.
    Replay: REPLAY, derived::<gate_lens::replay::ReplayRecord>();
    /// `gate replay --group folder --json`, one object a row.
    ReplayGroup: REPLAY_GROUP, derived::<gate_lens::replay::ReplayGroup>();
    /// `gate goal --json`.
    Goal: GOAL, derived::<super::goal::GoalsRecord>();
    /// `gate seal --json`.
    Seals: SEALS, derived::<super::seal::SealsRecord>();
    /// `gate audit --json`.
    Audit: AUDIT, derived::<gate_lens::audit::AuditRecord>();
    /// `gate tune --json`.
    Tune: TUNE, derived::<gate_lens::tune::TuneRecord>();
    /// The last line of `gate replay --json` with `--by`.
    ReplaySummary: REPLAY_SUMMARY, derived::<gate_lens::replay::accuracy::ReplaySummary>();
    /// An exit signal of the agent exit protocol.
    ExitSignal: EXIT_SIGNAL, derived::<gate_core::exit::ExitSignal>();
    /// `gate exit parse --json`.
    ExitParse: EXIT_PARSE, derived::<ExitParsed>();
    /// `gate exit submit --json`.
    ExitSubmit: EXIT_SUBMIT, derived::<ExitSubmitted>();
    /// `gate work --json`.
    Work: WORK, derived::<WorkRecord>();
    /// `gate work list --json`.
    WorkList: WORK_LIST, derived::<WorkList>();
    /// `gate work claim --json`.
    WorkLease: WORK_LEASE, derived::<LeaseRecord>();
    /// A handoff, in JSON.
    Handoff: HANDOFF, gate_fleet::handoff::schema();
}

#[cfg(feature = "schemas")]
fn derived<T: schemars::JsonSchema>() -> Value {
    schemars::schema_for!(T).to_value()
}

/// The schemas of a plug-in's request and answer, in one object.
#[expect(clippy::expect_used, reason = "a test derives the schemas and compares")]
pub(super) fn plugin_schemas() -> Value {
    let schema = |name: Name| serde_json::from_str::<Value>(name.text()).expect("JSON");
    json!({ "request": schema(Name::CheckRequest), "result": schema(Name::CheckResult) })
}
