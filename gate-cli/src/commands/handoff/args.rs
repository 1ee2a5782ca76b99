//! The arguments of `gate handoff`.

use std::path::PathBuf;

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::{Args, Subcommand};
use gate_fleet::handoff::Format;

#[derive(Debug, Subcommand)]
pub(crate) enum Handoff {
    /// Draft a handoff from what gate knows: the changed files, the commands that ran with their
    /// results, and what is open. What gate does not know is `...`, and has to be filled in.
    New(New),
    /// Check that a handoff has all that it has to have.
    #[command(after_help = CHECK_CODES)]
    Check(Check),
    /// Write a handoff in another format. Nothing of it is lost; what a message holds
    /// beside it is named.
    #[command(after_help = CONVERT_CODES)]
    Convert(Convert),
    /// Compare a handoff's commands and files with gate's own records and the work tree. Nothing is
    /// run, and a PASS of another tree does not count.
    #[command(after_help = VERIFY_CODES)]
    Verify(Verify),
    /// Print the JSON Schema of a handoff.
    Schema,
}

const CHECK_CODES: &str = "\
Exit codes: 0 it does, 1 it does not, 2 or 5 nothing was found out";

const CONVERT_CODES: &str = "\
Exit codes: 0 it was written; 1 it lacks something, or stands in a message that says more, and was written as it is, or cannot be read, and was not; 2 or 5 nothing was found out";

const VERIFY_CODES: &str = "\
Exit codes: 0 it holds, 1 it does not, 2 or 5 nothing was found out";

/// A handoff, and how it is written.
#[derive(Debug, Args)]
pub(crate) struct HandoffInput {
    /// The handoff; `-` is the standard input.
    #[arg(value_name = "FILE")]
    pub(crate) file: PathBuf,
    /// The format of the handoff; detected if not given.
    #[arg(long, value_name = "F", value_parser = format())]
    pub(crate) format: Option<Format>,
}

#[derive(Debug, Args)]
pub(crate) struct New {
    /// The target, in one sentence.
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    pub(crate) objective: Option<String>,
    /// Of this task's latest decision; of the latest one here if not given.
    #[arg(long, value_name = "ID")]
    pub(crate) task: Option<String>,
    /// Name the files too that were changed and committed since this commit.
    #[arg(long, value_name = "COMMIT")]
    pub(crate) since: Option<String>,
    /// The format to write.
    #[arg(long, value_name = "F", default_value = "md", value_parser = format())]
    pub(crate) format: Format,
    /// The same as `--format json`.
    #[arg(long, conflicts_with = "format")]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Check {
    #[command(flatten)]
    pub(crate) text: HandoffInput,
    /// Print one JSON object.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Convert {
    #[command(flatten)]
    pub(crate) text: HandoffInput,
    /// The format to write; if not given, Markdown becomes JSON, and all else Markdown.
    #[arg(long, value_name = "F", value_parser = format())]
    pub(crate) to: Option<Format>,
    /// Print one JSON object, with the handoff as its `text`.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Verify {
    #[command(flatten)]
    pub(crate) text: HandoffInput,
    /// The transcript that gate judged, if it lies in the work tree: it does not
    /// count as a part of the tree, as then.
    #[arg(long, value_name = "FILE")]
    pub(crate) transcript: Option<PathBuf>,
    /// Print one JSON object.
    #[arg(long)]
    pub(crate) json: bool,
}

fn format() -> impl TypedValueParser<Value = Format> {
    let values = [
        PossibleValue::new("md").alias("markdown").help("A list below the heading `## Handoff`"),
        PossibleValue::new("json").help("One JSON object"),
        PossibleValue::new("a2a").help("A message of A2A 0.3.0"),
    ];
    PossibleValuesParser::new(values).map(|name| match name.as_str() {
        "json" => Format::Json,
        "a2a" => Format::A2a,
        _ => Format::Markdown,
    })
}
