//! The arguments of `gate fact`.

use std::path::PathBuf;

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::{Args, Subcommand};
use gate_fleet::fact::Scope;

#[derive(Debug, Subcommand)]
pub(crate) enum Fact {
    /// Write a fact down, for a task or for the project.
    Add(Add),
    /// Make facts that tasks found the project's. For a root agent or a person.
    Promote(Promote),
}

#[derive(Debug, Args)]
pub(crate) struct Add {
    /// A few words that its file is called by.
    #[arg(value_name = "NAME")]
    pub(crate) name: String,
    /// The scope; by default the task if one is known, else the project.
    #[arg(long, value_parser = scope())]
    pub(crate) scope: Option<Scope>,
    /// The subject; NAME if not given.
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    pub(crate) title: Option<String>,
    /// The fact, as Markdown; from the standard input if not given.
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    pub(crate) body: Option<String>,
    #[command(flatten)]
    pub(crate) owner: FactOwner,
    /// Print one JSON object.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
#[command(after_help = "Exit codes: 0 the project knows them now, 2 or 5 nothing was promoted")]
pub(crate) struct Promote {
    /// Ids of FACT messages, or files of facts.
    #[arg(value_name = "MSG_ID|FILE", required_unless_present = "all")]
    pub(crate) what: Vec<String>,
    /// All that the tasks here have found.
    #[arg(long, conflicts_with = "what")]
    pub(crate) all: bool,
    /// A few words that the file is called by, if one fact is promoted.
    #[arg(long, value_name = "NAME", conflicts_with = "all")]
    pub(crate) name: Option<String>,
    /// Say what would be promoted, and promote nothing.
    #[arg(long)]
    pub(crate) dry_run: bool,
    #[command(flatten)]
    pub(crate) owner: FactOwner,
    /// Print one JSON object.
    #[arg(long)]
    pub(crate) json: bool,
}

/// The owner of facts, and the caller.
#[derive(Debug, Args)]
pub(crate) struct FactOwner {
    /// The project; else it is known by its repository.
    #[arg(long, value_name = "ID")]
    pub(crate) project: Option<String>,
    /// The task; else that of the run whose agent calls.
    #[arg(long, value_name = "ID")]
    pub(crate) task: Option<String>,
    /// The run that found it, if no agent of a run calls.
    #[arg(long, value_name = "ID")]
    pub(crate) run: Option<String>,
    /// The folder of all projects, instead of the settings' own.
    #[arg(long, value_name = "DIR")]
    pub(crate) root: Option<PathBuf>,
}

fn scope() -> impl TypedValueParser<Value = Scope> {
    let values = [
        PossibleValue::new(Scope::Task.name()).help("The task"),
        PossibleValue::new(Scope::Project.name()).help("The project"),
        PossibleValue::new(Scope::Global.name()).help("Every project"),
    ];
    PossibleValuesParser::new(values)
        .try_map(|name| Scope::named(&name).ok_or("task, project or global is expected"))
}
