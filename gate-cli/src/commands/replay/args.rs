//! The arguments of `gate replay`.

use std::num::NonZeroUsize;
use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::accuracy::By;
use super::report::Grouping;
use crate::commands::arguments::InputArgs;

pub(crate) const CODES: &str = "\
Exit codes:
  0    all was read; no false or missed exit, by labels and marks
  1    by --labels, or by what `gate wrong` has marked, there are false or missed exits
  2    usage or configuration error; or a file was not found, and the rest was read
  5    internal error; or a file could not be read, and the rest was
  130  interrupted: the rows so far are whole";

#[derive(Debug, Args)]
pub(crate) struct Replay {
    /// Transcripts: files, folders, globs; `-` reads a list of them from the
    /// standard input.
    #[arg(value_name = "PATH", required = true)]
    pub(crate) paths: Vec<PathBuf>,
    /// The list on the standard input is separated by NUL, as `find -print0`
    /// writes it.
    #[arg(long, short = '0')]
    pub(crate) null: bool,
    /// Show rows of one folder, or of one session, together.
    #[arg(long, value_enum, value_name = "BY", default_value_t = Grouping::File)]
    pub(crate) group: Grouping,
    /// Count verdicts, and those that are right and wrong, by agent, model or folder.
    #[arg(long, value_enum, value_name = "BY")]
    pub(crate) by: Option<By>,
    /// The right answers: JSONL of `{"file", "label"}`, with files named from the labels'
    /// folder. What `gate wrong` has marked is labelled without it.
    #[arg(long, value_name = "FILE")]
    pub(crate) labels: Option<PathBuf>,
    /// Say which verdicts are other than in this output of `replay --json`.
    #[arg(long, value_name = "OLD.jsonl")]
    pub(crate) compare: Option<PathBuf>,
    /// Show these rows alone.
    #[arg(long, value_enum, value_name = "WHICH")]
    pub(crate) only: Option<Only>,
    /// Read so many files at once, and a large one on so many cores; all if not given.
    #[arg(long, short, value_name = "N")]
    pub(crate) jobs: Option<NonZeroUsize>,
    #[command(flatten)]
    pub(crate) reading: InputArgs,
    /// Print one JSON object a row.
    #[arg(long)]
    pub(crate) json: bool,
}

/// The rows to show.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Only {
    /// Verdicts that have changed; with --compare.
    Changed,
    /// False and missed exits; with --labels.
    Wrong,
    /// No exit, and something that is almost a signal.
    Near,
}
