//! `gate runs`: the loops of this machine and store, those that run first.

use std::io::{self, IsTerminal};
use std::thread;
use std::time::Duration;

use clap::Args;
use gate_core::decide::breaker::BreakerState;
use gate_core::{Policy, Verdict};
use jiff::Timestamp;
use schemars::JsonSchema;
use serde::Serialize;

use super::common::{DONE, ago};
use crate::context::Here;
use crate::failure::Failure;
use crate::governance::Runs as RunFolders;
use crate::loops::{self, LoopRecord, LoopState, Usage, Window};
use crate::render::breaker::state_name;
use crate::render::{self, Mark, Page, local_time, print, span};
use crate::runner::{LiveLoop, live_loops};
use crate::secrets;
use crate::settings::{self, Selection, parse_duration};

/// The pause between two looks.
const INTERVAL: Duration = Duration::from_secs(1);

/// Puts the cursor in the first column of the first line, and clears the screen.
const CLEAR: &str = "\x1b[H\x1b[2J";

#[derive(Debug, Args)]
pub(crate) struct Runs {
    /// Show the loops of this time, and those that run now.
    #[arg(long, value_name = "AGE", value_parser = parse_duration, default_value = "24h")]
    pub(crate) since: Duration,
    /// Show them again each second, until Ctrl-C.
    #[arg(long, conflicts_with = "json")]
    pub(crate) watch: bool,
    /// Print one JSON object.
    #[arg(long)]
    pub(crate) json: bool,
}

/// `gate.runs.v1`: the loops of this machine and store.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct RunsRecord {
    /// Always `gate.runs.v1`.
    schema: &'static str,
    /// The loops: those that run now, then the others, the latest first.
    runs: Vec<RunLine>,
}

/// A loop.
#[derive(Clone, Debug, Serialize, JsonSchema)]
struct RunLine {
    /// The project's id.
    project: String,
    /// The run's name.
    run: String,
    /// The task's id.
    task: Option<String>,
    /// The agent or the format of its output.
    agent: Option<String>,
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
    /// The state of its breaker after the latest decision.
    breaker: Option<BreakerState>,
}

/// The state of a loop.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(untagged)]
enum RunningState {
    Running(Running),
    Ended(LoopState),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Running {
    /// A `gate run` on this machine has the loop.
    Running,
}

pub(super) fn run(here: &Here, args: &Runs) -> Result<u8, Failure> {
    loop {
        let resolved = settings::resolve(&here.places, &Selection::default())?;
        let folders = RunFolders::find(&here.places, resolved.run.folder.as_deref())?;
        let record = look(here, &resolved.policy, &folders, args.since)?;
        if args.json {
            print(&render::json(&record)?)?;
            return Ok(DONE);
        }
        let clear = if args.watch && io::stdout().is_terminal() { CLEAR } else { "" };
        print(&format!("{clear}{}", secrets::masked(&card(&record))))?;
        if !args.watch {
            return Ok(DONE);
        }
        thread::sleep(INTERVAL);
    }
}

fn look(
    here: &Here,
    policy: &Policy,
    folders: &RunFolders,
    age: Duration,
) -> Result<RunsRecord, Failure> {
    let window = Window { since: Some(ago(age)), all_projects: true };
    let recorded = loops::read(&mut here.whole_store(policy)?, &window)?;
    let mut recorded: Vec<_> = recorded.into_iter().rev().map(RunLine::recorded).collect();
    let mut runs = Vec::new();
    for live in live_loops(folders)? {
        let own = recorded.iter().position(|line| line.is_of(&live));
        let own = own.map(|own| recorded.remove(own));
        runs.push(RunLine::running(live, own.as_ref()));
    }
    runs.extend(recorded);
    Ok(RunsRecord { schema: "gate.runs.v1", runs })
}

impl RunLine {
    fn recorded(record: LoopRecord) -> Self {
        let last = record.iterations.last();
        Self {
            state: RunningState::Ended(record.state),
            doing: None,
            doing_since: None,
            iteration: last.map_or(0, |last| last.iteration),
            verdict: last.map(|last| last.verdict),
            breaker: Some(record.breaker),
            ended: Some(record.ended),
            project: record.project,
            run: record.run,
            task: record.task,
            agent: record.agent,
            model: record.model,
            started: record.started,
            duration_ms: record.duration_ms,
            usage: record.usage,
            why: record.why,
            next: record.next,
        }
    }

    /// True for the latest run of a loop that goes on.
    fn is_of(&self, live: &LiveLoop) -> bool {
        let rest = self.run.strip_prefix(&live.run);
        let is_same = rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('#'));
        let began = live.started.to_string();
        is_same && self.ended.as_ref().is_some_and(|ended| *ended >= began)
    }

    fn running(live: LiveLoop, recorded: Option<&Self>) -> Self {
        let since_began = Timestamp::now().duration_since(live.started);
        Self {
            project: recorded.map_or(live.project, |line| line.project.clone()),
            run: recorded.map_or(live.run, |line| line.run.clone()),
            task: Some(live.task),
            agent: Some(live.agent),
            model: recorded.and_then(|line| line.model.clone()),
            state: RunningState::Running(Running::Running),
            doing: Some(live.doing),
            doing_since: Some(live.since.to_string()),
            iteration: live.iteration,
            started: live.started.to_string(),
            ended: None,
            duration_ms: u64::try_from(since_began.as_millis()).unwrap_or_default(),
            usage: Usage::new(live.tokens, live.cost_micro_usd),
            verdict: live.verdict,
            why: live.why,
            next: None,
            breaker: recorded.and_then(|line| line.breaker),
        }
    }

    fn mark(&self) -> (Mark, &'static str) {
        match self.state {
            RunningState::Running(_) => (Mark::None, "RUNNING"),
            RunningState::Ended(state) => (state.mark(), state.word()),
        }
    }

    /// Iteration, time and cost.
    fn figures(&self) -> String {
        let time = span(Duration::from_millis(self.duration_ms));
        let mut figures = vec![format!("iteration {}", self.iteration), time];
        figures.extend(Some(self.usage.dollars()).filter(|cost| !cost.is_empty()));
        figures.extend(
            self.breaker
                .filter(|state| *state != BreakerState::Closed)
                .map(|state| format!("breaker {}", state_name(state))),
        );
        figures.join(" · ")
    }
}

fn card(record: &RunsRecord) -> String {
    let mut page = Page::new();
    if record.runs.is_empty() {
        page.text("No loops. `gate run --prompt PROMPT.md --agent AGENT` starts one.");
    }
    for line in &record.runs {
        let (mark, word) = line.mark();
        let name = line.task.as_deref().unwrap_or(&line.run);
        page.head(mark, word, &format!("{name}  {}", line.figures()));
        let agent = [line.agent.as_deref(), line.model.as_deref()];
        let agent: Vec<_> = agent.into_iter().flatten().collect();
        page.row("project", &line.project);
        if !agent.is_empty() {
            page.row("agent", &agent.join(", "));
        }
        match (&line.doing, &line.ended) {
            (Some(doing), _) => page.row("now", doing),
            (None, Some(ended)) => page.row("ended", &local_time(ended)),
            (None, None) => {}
        }
        if !line.why.is_empty() {
            page.row("why", &line.why);
        }
        if let Some(next) = &line.next {
            page.row("next", next);
        }
        page.blank();
    }
    page.into_text()
}
