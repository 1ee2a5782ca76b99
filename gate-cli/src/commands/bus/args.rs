//! The arguments of `gate bus`.

use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::{Args, Subcommand};

use gate_fleet::bus::Filter;
use gate_fleet::disk::BusName;

use crate::settings::parse_duration;

#[derive(Debug, Subcommand)]
pub(crate) enum Bus {
    /// Post a message to a task or to the project.
    Post(Post),
    /// Show messages, the latest last.
    Read(Read),
    /// Show what is new behind a message, or wait for it.
    #[command(after_help = POLL_CODES)]
    Poll(Poll),
    /// Name the bus that commands use by default.
    Discover {
        #[command(flatten)]
        place: BusArgs,
        /// Print one JSON object.
        #[arg(long)]
        json: bool,
    },
}

const POLL_CODES: &str = "\
Exit codes: 0 there was something new, 1 there was not, 2 or 5 nothing was found out";

/// The bus. By default that of the run whose agent calls, else the nearest in the
/// folders from here upwards, else the project's.
#[derive(Debug, Args)]
pub(crate) struct BusArgs {
    /// The bus in this file.
    #[arg(long, value_name = "FILE")]
    pub(crate) bus: Option<PathBuf>,
    /// The project; else it is known by its repository.
    #[arg(long, value_name = "ID")]
    pub(crate) project: Option<String>,
    /// The task; without one it is the project's bus, if --project is given.
    #[arg(long, value_name = "ID")]
    pub(crate) task: Option<String>,
    /// The folder of all projects, instead of the settings' own.
    #[arg(long, value_name = "DIR")]
    pub(crate) root: Option<PathBuf>,
}

impl BusArgs {
    /// The arguments with absolute paths: a path is relative to this folder.
    pub(super) fn name(&self, folder: &Path) -> BusName {
        BusName {
            bus: self.bus.as_ref().map(|file| folder.join(file)),
            project: self.project.clone(),
            task: self.task.clone(),
            root: self.root.as_ref().map(|root| folder.join(root)),
        }
    }
}

#[derive(Debug, Args)]
pub(crate) struct Post {
    /// The type: INFO, PROGRESS, QUESTION, ANSWER, FACT, DECISION, ERROR or any other
    /// word but those of the runner, START, STOP and CRASH.
    #[arg(long = "type", value_name = "T", default_value = "INFO")]
    pub(crate) kind: String,
    /// The text; from the standard input if not given.
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    pub(crate) body: Option<String>,
    /// A message that it answers or corrects; may be given often.
    #[arg(long = "parent", value_name = "MSG_ID", value_parser = one_word)]
    pub(crate) parents: Vec<String>,
    /// A file, by its absolute path, or an address; may be given often.
    #[arg(long = "link", value_name = "URL")]
    pub(crate) links: Vec<String>,
    /// Data for programs, as KEY=VALUE; may be given often.
    #[arg(long, value_name = "KEY=VALUE", value_parser = pair)]
    pub(crate) meta: Vec<(String, String)>,
    /// The run that posts, if no agent of a run calls.
    #[arg(long, value_name = "ID")]
    pub(crate) run: Option<String>,
    #[command(flatten)]
    pub(crate) place: BusArgs,
    /// Print one JSON object: the message, and its bus.
    #[arg(long)]
    pub(crate) json: bool,
}

/// The messages to show.
#[derive(Debug, Args)]
pub(crate) struct BusFilter {
    /// Those behind this one.
    #[arg(long, value_name = "MSG_ID", visible_alias = "since")]
    pub(crate) since_id: Option<String>,
    /// Those of this type; may be given often.
    #[arg(long = "type", value_name = "T", visible_alias = "filter")]
    pub(crate) kinds: Vec<String>,
    /// This one and all that answer to it.
    #[arg(long, value_name = "MSG_ID")]
    pub(crate) thread: Option<String>,
}

impl BusFilter {
    pub(super) fn filter(&self) -> Filter {
        Filter {
            since_id: self.since_id.clone(),
            kinds: self.kinds.clone(),
            thread: self.thread.clone(),
        }
    }
}

#[derive(Debug, Args)]
pub(crate) struct Read {
    /// The bus's file; `-` is the standard input.
    #[arg(value_name = "FILE", conflicts_with_all = ["bus", "project", "task", "root"])]
    pub(crate) file: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) filter: BusFilter,
    /// So many of the latest; 20 if neither --since-id nor --thread is given.
    #[arg(short = 'n', long = "last", visible_alias = "tail", value_name = "N")]
    pub(crate) last: Option<usize>,
    /// All of them.
    #[arg(long, conflicts_with = "last")]
    pub(crate) all: bool,
    /// Go on with new messages as they come.
    #[arg(long, short)]
    pub(crate) follow: bool,
    #[command(flatten)]
    pub(crate) place: BusArgs,
    /// Print one JSON object a message, one a line.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Poll {
    #[command(flatten)]
    pub(crate) filter: BusFilter,
    /// Wait so long for something new, such as 30s.
    #[arg(long, value_name = "D", value_parser = parse_duration)]
    pub(crate) wait: Option<Duration>,
    #[command(flatten)]
    pub(crate) place: BusArgs,
    /// Print one JSON object a message, one a line.
    #[arg(long)]
    pub(crate) json: bool,
}

/// `KEY=VALUE`.
fn pair(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((key, value)) if !key.trim().is_empty() => {
            Ok((key.trim().to_owned(), value.to_owned()))
        }
        _ => Err("KEY=VALUE is expected".to_owned()),
    }
}

/// The id of a message, which other programs may form as they like.
fn one_word(id: &str) -> Result<String, String> {
    if id.is_empty() || id.contains(char::is_whitespace) {
        return Err("an id is one word, such as MSG-20260220-153045-500000000-PID04121-0012; \
                    `gate bus post --json` prints it as `msg_id`"
            .to_owned());
    }
    Ok(id.to_owned())
}
