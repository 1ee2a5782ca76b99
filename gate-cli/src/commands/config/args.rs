//! The arguments of `gate config`.

use std::path::PathBuf;

use clap::{Subcommand, ValueEnum};

use crate::commands::arguments::SettingsArgs;

#[derive(Debug, Subcommand)]
pub(crate) enum Config {
    /// Print the settings in force.
    Show {
        /// Say where each comes from.
        #[arg(long)]
        origin: bool,
        #[command(flatten)]
        settings: SettingsArgs,
    },
    /// Print a JSON Schema: of the settings, or of what gate prints.
    Schema {
        /// The schema's name.
        #[arg(value_enum, default_value_t = SchemaName::Config)]
        name: SchemaName,
        /// Print the two schemas of a check's plug-in instead.
        #[arg(long, conflicts_with = "name")]
        plugin: bool,
    },
    /// Print JSON settings of an exit gate as gate.toml.
    Import {
        /// The JSON file; `-` is the standard input.
        #[arg(value_name = "FILE.json")]
        file: PathBuf,
    },
}

/// The schemas, by name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum SchemaName {
    /// The settings: gate.toml.
    Config,
    /// `gate check --json`.
    Decision,
    /// `gate ci --json`.
    Ci,
    /// Any command with `--json`, if nothing was decided.
    Error,
    /// `gate scan --json`, one object a file.
    Scan,
    /// The request that a plug-in of the checks reads.
    CheckRequest,
    /// The answer that a plug-in of the checks writes.
    CheckResult,
    /// `gate doctor --json`.
    Doctor,
    /// `gate doctor --agent A --json`.
    DoctorAgent,
    /// `gate breaker --json`.
    Breaker,
    /// `gate baseline --json`.
    Baseline,
    /// `gate check --plan --json`.
    Plan,
    /// `gate status --json`.
    Status,
    /// `gate trust --json`.
    Trust,
    /// `gate approve --json`.
    Approve,
    /// `gate wrong --json`.
    Wrong,
    /// `gate ledger accept --json`.
    Accepted,
    /// `gate prune --json`.
    Prune,
    /// A message about the end of a loop.
    Notify,
    /// `gate report --json`.
    Report,
    /// `gate run --json`.
    Run,
    /// `gate explain --json`.
    Explain,
    /// `gate replay --json`, one object a row.
    Replay,
    /// `gate replay --group folder --json`, one object a row.
    ReplayGroup,
    /// `gate criteria --json`.
    Criteria,
    /// `gate seal --json`.
    Seals,
    /// `gate audit --json`.
    Audit,
    /// `gate tune --json`.
    Tune,
    /// The last line of `gate replay --json` with `--by`.
    ReplaySummary,
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
