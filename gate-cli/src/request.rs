//! The parameters of one decision.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use gate_checks::check::Occasion;
use gate_checks::{Cancellation, Events};
use gate_core::decide::elsewhere::WorkElsewhere;
use gate_core::decide::first_tests::FirstTests;
use gate_core::decide::iteration_facts::Outage;
use gate_core::decide::policy::Allowance;
use gate_core::decide::stop::Stop;
use gate_transcript::Forced;
use jiff::Timestamp;

/// The parameters of one decision.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Request {
    /// The format, or the agent, of the transcript.
    pub format: Option<Forced>,
    /// The byte that an earlier reading of the transcript has come to, if the caller knows it.
    pub since: Option<u64>,
    /// If true, the end of a large transcript is enough whatever it holds: the caller knows the
    /// last word.
    pub end_only: bool,
    /// The task's id.
    pub task: Option<String>,
    /// The run's name.
    pub run: Option<String>,
    /// The commit that the work tree stood on when the work began, if the caller knows it.
    pub began_at: Option<String>,
    /// The iteration's number.
    pub iteration: Option<u64>,
    /// If true, a new run begins.
    pub new_run: bool,
    /// If true, nothing is recorded.
    pub dry_run: bool,
    /// The exit code of the agent's program.
    pub agent_exit_code: Option<i32>,
    /// True if the agent created the file `DONE` of its task in this iteration.
    pub done_file: bool,
    /// The working agent, for the record of a session that ends; by default the transcript's
    /// format.
    pub actor: Option<String>,
    /// True if an exit signal is submitted to a work item: the session's end is recorded there.
    pub of_work: bool,
    /// The operator's reason for forcing completion.
    pub forced: Option<String>,
    /// Names and values of the operator's flags, for the record.
    pub acts: Vec<(&'static str, Option<String>)>,
    /// Changes that the operator approves for this decision, beside those of the settings.
    pub allow: Vec<Allowance>,
    /// The tests that were written before the work, if a phase of its own wrote some.
    pub first_tests: Option<FirstTests>,
    /// The checks that run.
    pub checks: Checks,
    /// If true, no cached result of a check is used, and none is cached.
    pub fresh: bool,
    /// Why the agent could not work, if its runner found out.
    pub outage: Option<Outage>,
    /// When the runner tries again after that.
    pub retry_at: Option<Timestamp>,
    /// The stop that an agent's hook was called for.
    pub stop: Option<Stop>,
    /// Longest time for all checks; none for no limit.
    pub deadline: Option<Duration>,
    /// When a hook has to answer at the latest, whatever its checks still do.
    pub until: Option<Instant>,
    /// If true, each command runs once, in the tree itself, and nothing is compared: enough to let
    /// an agent stop, never for an exit.
    pub plain: bool,
    /// Files that others changed since the prompt, relative to the work tree's root.
    pub others_files: Vec<PathBuf>,
    /// Why the tree of the last prompt is not known, if it could not be noted.
    pub no_prompt_tree: Option<String>,
    /// Work that does not stand in the tree that is judged; none if the gate looks for it.
    pub elsewhere: Option<Vec<WorkElsewhere>>,
    /// The session whose baseline a hook compares with.
    pub session: Option<String>,
    /// Files of the caller's own, such as the one for the feedback: if they are untracked, they are
    /// no part of the work, and neither is the transcript.
    pub own_files: Vec<PathBuf>,
    /// Ends the checks from outside.
    pub cancel: Cancellation,
    /// The receiver of the checks' events.
    pub events: Events,
}

impl Request {
    /// The occasion of the checks.
    pub(crate) fn occasion(&self) -> Occasion {
        if self.plain { Occasion::Session } else { Occasion::Loop }
    }

    /// True at a stop that waits for a helper or a wake-up.
    pub(crate) fn is_pause(&self) -> bool {
        let situation = self.stop.as_ref().and_then(|stop| stop.situation.as_ref());
        situation.is_some_and(|situation| !situation.waits.is_empty())
    }

    /// True at a stop of an agent that a person may sit in front of.
    pub(crate) fn is_of_person(&self) -> bool {
        let situation = self.stop.as_ref().and_then(|stop| stop.situation.as_ref());
        situation.is_some_and(|situation| !situation.is_unattended())
    }
}

/// A selection of checks.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Checks {
    /// The configured ones, unless the signal already forbids `exit`.
    #[default]
    Lazy,
    /// The configured ones.
    All,
    /// This one alone. The others leave a record that says so, and a required
    /// one among them forbids `exit`.
    Only(String),
    /// None.
    None,
}

impl Checks {
    pub(crate) fn only(&self) -> Option<&str> {
        match self {
            Self::Only(name) => Some(name),
            Self::Lazy | Self::All | Self::None => None,
        }
    }
}
