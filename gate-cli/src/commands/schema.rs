//! The schemas of the JSON that gate prints and reads.

use gate_checks::{PluginAnswer, PluginRequest};
use gate_core::config;
use gate_core::exit::ExitSignal;
use gate_fleet::handoff;
use schemars::schema_for;
use serde_json::{Value, json};

pub use super::baseline::BaselineRecord;
pub use super::config::args::SchemaName as Name;
use super::criteria::CriteriaRecord;
pub use super::doctor::{AgentRecord, DoctorRecord};
pub use super::exit::{ExitParsed, ExitSubmitted};
pub use super::explain::ExplainRecord;
pub use super::plan::{LastRun, PlanRecord, PlannedCheck};
pub use super::prune::PruneRecord;
use super::replay::ReplaySummary;
use super::replay::tune::TuneRecord;
pub use super::report::ReportRecord;
pub use super::scan::ScanRecord;
use super::seal::SealsRecord;
use super::status::Status;
pub use super::work::{LeaseRecord, WorkList, WorkRecord};
pub use crate::approval::{Starts, TrustRecord};
use crate::audit::AuditRecord;
use crate::failure::Failure;
pub use crate::install::{Install, Scope, TestStop};
use crate::memory::{AcceptedLoss, BreakerStatus, WrongRecord};
pub use crate::notify::NotifyRecord;
use crate::pull_request::CiRecord;
use crate::record::Record;
use crate::replay::{ReplayGroup, ReplayRecord};
use crate::runner::RunRecord;
use crate::test_approval::ApproveRecord;

/// A JSON Schema.
pub fn schema(name: Name) -> Value {
    match name {
        Name::Config => config::schema(),
        Name::Decision => schema_for!(Record).to_value(),
        Name::Ci => schema_for!(CiRecord).to_value(),
        Name::Error => schema_for!(Failure).to_value(),
        Name::Scan => schema_for!(ScanRecord).to_value(),
        Name::CheckRequest => schema_for!(PluginRequest).to_value(),
        Name::CheckResult => schema_for!(PluginAnswer).to_value(),
        Name::Doctor => schema_for!(DoctorRecord).to_value(),
        Name::DoctorAgent => schema_for!(AgentRecord).to_value(),
        Name::Baseline => schema_for!(BaselineRecord).to_value(),
        Name::Breaker => schema_for!(BreakerStatus).to_value(),
        Name::Run => schema_for!(RunRecord).to_value(),
        Name::Plan => schema_for!(PlanRecord).to_value(),
        Name::Status => schema_for!(Status).to_value(),
        Name::Trust => schema_for!(TrustRecord).to_value(),
        Name::Approve => schema_for!(ApproveRecord).to_value(),
        Name::Wrong => schema_for!(WrongRecord).to_value(),
        Name::Accepted => schema_for!(AcceptedLoss).to_value(),
        Name::Prune => schema_for!(PruneRecord).to_value(),
        Name::Notify => schema_for!(NotifyRecord).to_value(),
        Name::Report => schema_for!(ReportRecord).to_value(),
        Name::Explain => schema_for!(ExplainRecord).to_value(),
        Name::Replay => schema_for!(ReplayRecord).to_value(),
        Name::ReplayGroup => schema_for!(ReplayGroup).to_value(),
        Name::Criteria => schema_for!(CriteriaRecord).to_value(),
        Name::Seals => schema_for!(SealsRecord).to_value(),
        Name::Audit => schema_for!(AuditRecord).to_value(),
        Name::Tune => schema_for!(TuneRecord).to_value(),
        Name::ReplaySummary => schema_for!(ReplaySummary).to_value(),
        Name::ExitSignal => schema_for!(ExitSignal).to_value(),
        Name::ExitParse => schema_for!(ExitParsed).to_value(),
        Name::ExitSubmit => schema_for!(ExitSubmitted).to_value(),
        Name::Work => schema_for!(WorkRecord).to_value(),
        Name::WorkList => schema_for!(WorkList).to_value(),
        Name::WorkLease => schema_for!(LeaseRecord).to_value(),
        Name::Handoff => handoff::schema(),
    }
}

/// The schemas of a plug-in's request and answer, in one object.
pub fn plugin_schema() -> Value {
    json!({ "request": schema(Name::CheckRequest), "result": schema(Name::CheckResult) })
}
