//! `gate trust`, `approve`, `lock`, `wrong` and `version`.

use clap::Args;

use super::shared::{SettingsArgs, non_empty};

#[derive(Debug, Args)]
pub(crate) struct Trust {
    /// Show what would be approved, with its digest for GATE_TRUST, and approve nothing.
    #[arg(long, visible_alias = "print", conflicts_with = "revoke")]
    pub(crate) show: bool,
    /// Take back what was approved here.
    #[arg(long)]
    pub(crate) revoke: bool,
    /// Print one JSON object.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Approve {
    /// Changed tests, by their names in reports or by their files; `*` stands for anything.
    /// Without any, gate shows what the latest decision here waits for.
    #[arg(value_name = "TEST", requires = "reason", value_parser = non_empty)]
    pub(crate) tests: Vec<String>,
    /// Why the change is right.
    #[arg(long, value_name = "TEXT", requires = "tests", value_parser = non_empty)]
    pub(crate) reason: Option<String>,
    /// Print one JSON object.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Lock {
    /// The loop's name; else it is named by its task and work tree.
    #[arg(long, value_name = "ID")]
    pub(crate) run: Option<String>,
    /// The task's id.
    #[arg(long, value_name = "ID")]
    pub(crate) task: Option<String>,
    /// End the lock.
    #[arg(long)]
    pub(crate) release: bool,
    #[command(flatten)]
    pub(crate) settings: SettingsArgs,
    /// Print one JSON object.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Wrong {
    /// The decision: the number of its record, or the beginning of its id. In a shell,
    /// leave the `#` of a number out or quote it.
    #[arg(value_name = "DECISION")]
    pub(crate) decision: String,
    /// Why the decision was wrong.
    #[arg(long, value_name = "TEXT", value_parser = non_empty)]
    pub(crate) reason: String,
    /// Print one JSON object.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Version {
    /// Say which file runs, and what its bytes are.
    #[arg(long)]
    pub(crate) digest: bool,
    /// Print one JSON object.
    #[arg(long)]
    pub(crate) json: bool,
}
