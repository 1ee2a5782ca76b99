//! The parameters of one decision.

use std::path::PathBuf;
use std::time::Instant;

use gate_checks::check::About;
use gate_checks::{Checks, GatherOptions};
use gate_core::decide::elsewhere::WorkElsewhere;
use gate_core::decide::iteration_facts::Outage;
use gate_core::decide::open_decisions::{ConfirmedDecision, Listing};
use gate_core::decide::situation::Situation;
use gate_core::decide::stop::Stop;
use gate_transcript::Forced;
use jiff::Timestamp;

/// The parameters of one decision.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Request {
    /// The asker, and the decision that is asked for.
    pub asker: Asker,
    /// The turn that is judged.
    pub turn: Turn,
    /// The options of its checks. The gate itself adds its own checks, the baseline that it keeps and the
    /// changes that were approved.
    pub checking: GatherOptions,
}

/// The asker of a decision, and the decision that is asked for.
#[derive(Clone, Debug, Default)]
pub struct Asker {
    /// The task's id.
    pub task: Option<String>,
    /// The run's name.
    pub run: Option<String>,
    /// The iteration's number.
    pub iteration: Option<u64>,
    /// A new run begins.
    pub new_run: bool,
    /// Nothing is recorded.
    pub dry_run: bool,
    /// An agent asks by itself, in the middle of its work: it ends no goal of a person.
    pub is_agent: bool,
    /// The session whose baseline a hook compares with.
    pub session: Option<String>,
    /// The project in which the session began, if its client tells: the agent may have left it for
    /// another work tree.
    pub began_in: Option<PathBuf>,
    /// The working agent, for the record of a session that ends; by default the transcript's
    /// format.
    pub actor: Option<String>,
    /// An exit signal is submitted to a work item: the session's end is recorded there.
    pub of_work: bool,
    /// The operator's reason for forcing completion.
    pub force_reason: Option<String>,
    /// Names and values of the operator's flags, for the record.
    pub acts: Vec<(&'static str, Option<String>)>,
    /// When a hook has to answer at the latest, whatever its checks still do.
    pub until: Option<Instant>,
}

/// A turn of the agent: where it is read, and what the caller knows of it.
#[derive(Clone, Debug, Default)]
pub struct Turn {
    /// The format, or the agent, of the transcript.
    pub format: Option<Forced>,
    /// The byte that an earlier reading of the transcript has come to, if the caller knows it.
    pub since: Option<u64>,
    /// The end of a large transcript is enough whatever it holds: the caller knows the last word.
    pub end_only: bool,
    /// The exit code of the agent's program.
    pub agent_exit_code: Option<i32>,
    /// The agent created the file `DONE` of its task in this iteration.
    pub done_file: bool,
    /// Why the agent could not work, if its runner found out.
    pub outage: Option<Outage>,
    /// The open decisions that the turn was to list, and nothing else.
    pub listing: Option<Listing>,
    /// The decisions of a person before the work.
    pub decided: Vec<ConfirmedDecision>,
    /// When the runner tries again after that.
    pub retry_at: Option<Timestamp>,
    /// The stop that an agent's hook was called for.
    pub stop: Option<Stop>,
    /// The commit that the work tree stood on when the work began, if the caller knows it.
    pub began_at: Option<String>,
    /// Files that other sessions or people changed since the prompt, relative to the work tree's root.
    pub others_files: Vec<PathBuf>,
    /// Why the tree of the last prompt is not known, if it could not be noted.
    pub no_prompt_tree: Option<String>,
    /// Work that does not stand in the tree that is judged; `None` if the gate looks for it.
    pub elsewhere: Option<Vec<WorkElsewhere>>,
    /// Files of the caller's own, such as the one for the feedback: if they are untracked, they are
    /// no part of the work, and neither is the transcript.
    pub own_files: Vec<PathBuf>,
}

impl Request {
    pub(crate) fn runs_no_checks(&self) -> bool {
        self.checking.checks == Checks::None
    }
}

impl Asker {
    pub(crate) fn is_forced(&self) -> bool {
        self.force_reason.is_some()
    }

    /// The facts for checks.
    pub(crate) fn about(&self, sealed_refusals: u32) -> About {
        let Self { task, run, iteration, .. } = self.clone();
        About { task, run, iteration, sealed_refusals }
    }
}

impl Turn {
    fn situation(&self) -> Option<&Situation> {
        self.stop.as_ref()?.situation.as_ref()
    }

    /// This is a stop that waits for a helper or a wake-up.
    pub(crate) fn is_pause(&self) -> bool {
        self.situation().is_some_and(|situation| !situation.waits.is_empty())
    }

    /// This is a stop of an agent that a person may sit in front of.
    pub(crate) fn is_of_person(&self) -> bool {
        self.situation().is_some_and(|situation| !situation.is_unattended())
    }

    /// The tests that the session left red at an earlier stop.
    pub(crate) fn red_tests_of_session(&self) -> &[String] {
        let debt = self.situation().and_then(|situation| situation.owed.as_ref());
        debt.map_or(&[], |debt| debt.red.as_slice())
    }
}
