//! The loops of this machine and store, those that run first.

use std::time::Duration;

use gate_core::decide::breaker::BreakerState;
use gate_core::{Policy, Verdict};
use gate_lens::loops::{LoopRecord, LoopState, Usage};
use jiff::Timestamp;
use schemars::JsonSchema;
use serde::Serialize;

use crate::commands::common::ago;
use crate::failure::Failure;
use crate::governance::Runs as RunFolders;
use crate::invocation::Invocation;
use crate::loops::{self, Window};
use crate::memory::machine;
use crate::render::card::state_name;
use crate::render::{Mark, Page, local_time, span};
use crate::runner::{LiveLoop, live_loops};

/// The time in which a loop that ended is still shown.
const SHOWN_FOR: Duration = Duration::from_secs(24 * 60 * 60);

/// A loop.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub(crate) struct LoopStatus {
    /// The project's id.
    project: String,
    /// The run's name.
    run: String,
    /// The task's id.
    task: Option<String>,
    /// The agent that was named to gate, or the format of its output.
    agent: Option<String>,
    /// The program that wrote the output, such as `claude-code`, if that is known.
    client: Option<String>,
    /// The model, if the transcript names it.
    model: Option<String>,
    /// `running` if a `gate run` on this machine has the loop, else the state in which its
    /// last record left it.
    state: RunningState,
    /// The work of a running loop at this moment, as a phrase.
    doing: Option<String>,
    /// When that began (RFC 3339, UTC).
    doing_since: Option<String>,
    /// The number of the last iteration.
    iteration: u64,
    /// When the loop began (RFC 3339, UTC).
    started: String,
    /// When its last record was written; none if it runs.
    ended: Option<String>,
    /// The time since it began, or until its end, in milliseconds.
    duration_ms: u64,
    /// Tokens and money.
    usage: Usage,
    /// The latest verdict.
    verdict: Option<Verdict>,
    /// Why, as a sentence.
    why: String,
    /// The one thing to do next.
    next: Option<String>,
    /// The root of its work tree, if that is known.
    tree: Option<String>,
    /// The folder with its runs.
    folder: Option<String>,
    /// The machine on which it began, if its end is not recorded.
    #[serde(skip)]
    machine: Option<String>,
    /// The path of its handoff.
    handoff: Option<String>,
    /// The command that goes on with it.
    resume: Option<String>,
    /// The cost in words, with what is not known of it.
    #[serde(skip)]
    cost: String,
    /// Its deaths in words, each before it was started again.
    #[serde(skip)]
    deaths: Option<String>,
    /// The state of its breaker after the latest decision.
    breaker: Option<BreakerState>,
}

/// The state of a loop.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(untagged)]
pub(crate) enum RunningState {
    Running(Running),
    Ended(LoopState),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Running {
    /// A `gate run` on this machine has the loop.
    Running,
}

/// The loops that run now, then those that ended in the last day, the latest first.
pub(super) fn loops(
    invocation: &Invocation,
    policy: &Policy,
    folders: &RunFolders,
) -> Result<Vec<LoopStatus>, Failure> {
    let window = Window { since: Some(ago(SHOWN_FOR)), all_projects: true };
    let records = loops::read(&mut invocation.whole_store(policy)?, &window)?;
    let mut ended: Vec<_> = records.into_iter().rev().map(LoopStatus::recorded).collect();
    let mut running = Vec::new();
    for live in live_loops(folders)? {
        // A loop that goes on has records, too, and is shown once.
        let position = ended.iter().position(|status| status.is_run_of(&live));
        let recorded = position.map(|position| ended.remove(position));
        running.push(LoopStatus::running(live, recorded.as_ref()));
    }
    Ok([running, ended].concat())
}

impl LoopStatus {
    fn recorded(record: LoopRecord) -> Self {
        let last_iteration = record.iterations.last();
        Self {
            cost: record.cost(),
            deaths: record.deaths_in_words(),
            tree: record.tree,
            folder: record.folder,
            machine: record.unended_on,
            handoff: record.handoff,
            resume: record.resume,
            state: RunningState::Ended(record.state),
            doing: None,
            doing_since: None,
            iteration: record
                .unreported
                .iter()
                .max()
                .copied()
                .max(last_iteration.map(|one| one.iteration))
                .unwrap_or_default(),
            verdict: last_iteration.map(|iteration| iteration.verdict),
            breaker: Some(record.breaker),
            ended: Some(record.ended),
            project: record.project,
            run: record.run,
            task: record.task,
            agent: record.agent,
            client: record.client,
            model: record.model,
            started: record.started,
            duration_ms: record.duration_ms,
            usage: record.usage,
            why: record.why,
            next: record.next,
        }
    }

    /// The latest run of a loop that goes on.
    fn is_run_of(&self, live: &LiveLoop) -> bool {
        let folder = live.folder.display().to_string();
        let is_here = self.machine.as_ref().is_none_or(|name| *name == machine())
            && self.folder.as_ref().is_none_or(|path| *path == folder);
        let last_record = self.ended.as_ref().and_then(|time| time.parse::<Timestamp>().ok());
        let is_now = last_record.is_some_and(|time| time >= live.started);
        is_here && is_now && live.has_run(&self.run)
    }

    fn running(live: LiveLoop, recorded: Option<&Self>) -> Self {
        let duration = Timestamp::now().duration_since(live.started);
        let usage = Usage::new(live.tokens, live.cost_micro_usd);
        Self {
            cost: usage.dollars(),
            deaths: recorded.and_then(|status| status.deaths.clone()),
            tree: Some(live.root.display().to_string()),
            folder: Some(live.folder.display().to_string()),
            machine: None,
            handoff: None,
            resume: None,
            project: recorded.map_or(live.project, |status| status.project.clone()),
            run: recorded.map_or(live.run, |status| status.run.clone()),
            task: Some(live.task),
            agent: Some(live.agent),
            client: recorded.and_then(|status| status.client.clone()),
            model: recorded.and_then(|status| status.model.clone()),
            state: RunningState::Running(Running::Running),
            doing: Some(live.doing),
            doing_since: Some(live.since.to_string()),
            iteration: live.iteration,
            started: live.started.to_string(),
            ended: None,
            duration_ms: u64::try_from(duration.as_millis()).unwrap_or_default(),
            usage,
            verdict: live.verdict,
            why: live.why,
            next: None,
            breaker: recorded.and_then(|status| status.breaker),
        }
    }

    /// The place on the card: those that run, then the worst first.
    fn rank(&self) -> u8 {
        match self.state {
            RunningState::Running(_) => 0,
            RunningState::Ended(state) => 1 + state.rank(),
        }
    }

    fn mark(&self) -> (Mark, &'static str) {
        match self.state {
            RunningState::Running(_) => (Mark::None, "RUNNING"),
            RunningState::Ended(state) => (state.mark(), state.word()),
        }
    }

    /// Iteration, time, end and cost.
    fn figures(&self) -> String {
        let time = span(Duration::from_millis(self.duration_ms));
        let mut figures = vec![format!("iteration {}", self.iteration), time];
        figures.extend(self.ended.as_deref().map(local_time));
        figures.extend(Some(self.cost.clone()).filter(|cost| !cost.is_empty()));
        figures.extend(
            self.breaker
                .filter(|state| *state != BreakerState::Closed)
                .map(|state| format!("breaker {}", state_name(state))),
        );
        figures.join(" · ")
    }
}

/// Shows the loops on the page of the status: the work of a running one, and of one that did not
/// end well the reason and the remedy, the worst first. `project` is the one of the status, and
/// `tree` the root of its work tree.
pub(super) fn add_rows(page: &mut Page, loops: &[LoopStatus], project: &str, tree: &str) {
    if !loops.is_empty() {
        page.blank();
    }
    let mut worst_first: Vec<_> = loops.iter().collect();
    worst_first.sort_by_key(|status| status.rank());
    for status in worst_first {
        let (mark, word) = status.mark();
        let name = status.task.as_deref().unwrap_or(&status.run);
        page.head(mark, word, &format!("{name}  {}", status.figures()));
        if status.project != project {
            page.row("project", &status.project);
        }
        page.rows("now", &status.doing);
        page.rows("deaths", &status.deaths);
        if status.state == RunningState::Ended(LoopState::Done) {
            continue;
        }
        if status.state == RunningState::Ended(LoopState::Open) {
            page.row("open", "it goes on, or its end was not recorded");
        }
        // A loop that waits says why with its work.
        let is_told = status.doing.as_ref().is_some_and(|doing| doing.ends_with(&status.why));
        page.rows("why", (!is_told).then_some(&status.why));
        page.rows("next", &status.next);
        if status.tree.as_deref() != Some(tree) {
            page.rows("tree", &status.tree);
        }
        page.rows("folder", &status.folder);
        page.rows("handoff", &status.handoff);
        let is_named = |resume: &&String| status.next.iter().any(|next| next.contains(*resume));
        page.rows("go on with", status.resume.as_ref().filter(|resume| !is_named(resume)));
    }
}
