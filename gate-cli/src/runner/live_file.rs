//! The file in a task's folder with the present work of its loop.

use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use gate_core::text::shell_word;
use gate_fleet::run::layout;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::live::LoopEvent;
use super::lock;
use crate::failure::Failure;
use crate::governance::{Runs, Task};
use crate::render::local_time;
use crate::secrets;

/// A loop as its file describes it.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct LiveLoop {
    /// The project's id in the names of folders.
    pub(crate) project: String,
    /// The task's id.
    pub(crate) task: String,
    /// The name of the loop, which is that of its first run.
    pub(crate) run: String,
    /// The agent.
    pub(crate) agent: String,
    /// The topmost folder of its work tree.
    pub(crate) root: PathBuf,
    /// The task's folder; empty if it was not looked for.
    #[serde(skip)]
    pub(crate) folder: PathBuf,
    /// The process of its `gate run`; 0 if that is not known.
    pub(crate) pid: u32,
    /// When the loop began.
    pub(crate) started: Timestamp,
    /// The number of the iteration, from 1.
    pub(crate) iteration: u64,
    /// The work at this moment, as a phrase.
    pub(crate) doing: String,
    /// When the work at this moment began.
    pub(crate) since: Timestamp,
    /// Tokens of the loop so far.
    pub(crate) tokens: u64,
    /// Micro-dollars of the loop so far.
    pub(crate) cost_micro_usd: u64,
    /// The latest verdict.
    pub(crate) verdict: Option<gate_core::Verdict>,
    /// The first reason of the latest decision.
    pub(crate) why: String,
}

impl Default for LiveLoop {
    fn default() -> Self {
        Self {
            project: String::new(),
            task: String::new(),
            run: String::new(),
            agent: String::new(),
            root: PathBuf::new(),
            folder: PathBuf::new(),
            pid: 0,
            started: Timestamp::UNIX_EPOCH,
            iteration: 0,
            doing: String::new(),
            since: Timestamp::UNIX_EPOCH,
            tokens: 0,
            cost_micro_usd: 0,
            verdict: None,
            why: String::new(),
        }
    }
}

/// Keeps the file of a loop up to date.
#[derive(Debug)]
pub(crate) struct LiveFile {
    task: Task,
    state: Mutex<LiveLoop>,
}

impl LiveFile {
    pub(crate) fn new(task: &Task, root: &Path, run: &str, agent: &str) -> Self {
        let now = Timestamp::now();
        let state = LiveLoop {
            project: task.project().id().to_owned(),
            task: task.id().to_owned(),
            run: run.to_owned(),
            agent: agent.to_owned(),
            root: root.to_owned(),
            pid: std::process::id(),
            started: now,
            since: now,
            doing: "starts".to_owned(),
            ..LiveLoop::default()
        };
        Self { task: task.clone(), state: Mutex::new(state) }
    }

    /// Writes what an event changes. A file that cannot be written ends no loop: it is for
    /// display alone.
    pub(crate) fn note(&self, event: LoopEvent<'_>) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        if state.update(event) {
            let text = serde_json::to_string(&*state).unwrap_or_default();
            let _ = self.task.note_live(&text);
        }
    }
}

impl LiveLoop {
    /// The last account of the loop over the task with this folder.
    pub(crate) fn read(folder: &Path) -> Option<Self> {
        let text = std::fs::read_to_string(folder.join(layout::LIVE)).ok()?;
        serde_json::from_str(&text).ok()
    }

    /// The run is one of this loop. Behind the name of its loop, a later run has a number.
    pub(crate) fn has_run(&self, run: &str) -> bool {
        let number = run.strip_prefix(&self.run);
        number.is_some_and(|number| number.is_empty() || number.starts_with('#'))
    }

    /// The account is of the loop whose start was recorded at this time: it begins before that, and
    /// goes on after it. That of another loop in the folder does one of both.
    pub(crate) fn is_since(&self, time: &str) -> bool {
        let recorded = time.parse::<Timestamp>();
        recorded.is_ok_and(|time| self.started <= time && time <= self.since)
    }

    /// Takes an event in. Returns `false` if the file does not show it.
    fn update(&mut self, event: LoopEvent<'_>) -> bool {
        let doing = match event {
            LoopEvent::Starts { .. } => "starts".to_owned(),
            LoopEvent::Begins { iteration, spent, .. } => {
                self.iteration = iteration;
                if let Some(spent) = spent {
                    (self.tokens, self.cost_micro_usd) = (spent.tokens, spent.cost_micro_usd);
                }
                "the agent works".to_owned()
            }
            LoopEvent::Ended { .. } => "reads the agent's output".to_owned(),
            LoopEvent::Check(gate_checks::Event::Started { check }) => format!("runs {check}"),
            LoopEvent::Check(gate_checks::Event::Waiting { check }) => {
                format!("waits for a slot to run {check}")
            }
            LoopEvent::Judged { record, .. } => {
                self.verdict = Some(record.decision.verdict);
                self.why = record.decision.cause();
                if let Some(spent) = record.decision.spent() {
                    (self.tokens, self.cost_micro_usd) = (spent.tokens, spent.cost_micro_usd);
                }
                "has decided".to_owned()
            }
            LoopEvent::Waits { until, reason } => {
                format!(
                    "waits until {}: {}",
                    local_time(&until.to_string()),
                    secrets::masked(reason)
                )
            }
            LoopEvent::Check(_) | LoopEvent::Printed(_) => return false,
        };
        (self.doing, self.since) = (doing, Timestamp::now());
        true
    }
}

/// The warning for a loop that begins in a work tree in which another loop runs; empty if there is
/// no such loop.
pub(crate) fn other_loop_here(runs: &Runs, root: &Path, task: &Task) -> Vec<String> {
    // A list that cannot be read keeps nobody from working.
    let loops = live_loops(runs).unwrap_or_default();
    let neighbour = loops.into_iter().find(|live| live.root == root && live.task != task.id());
    let warning = neighbour.map(|live| {
        format!(
            "the loop {} ({}, pid {}) runs in this work tree, too: each changes what the other is \
             judged by. Work in a tree of your own: git worktree add ../{}",
            live.run,
            live.agent,
            live.pid,
            shell_word(task.id())
        )
    });
    warning.into_iter().collect()
}

/// The loops of `gate run` that run on this machine now.
///
/// # Errors
///
/// A folder that cannot be read.
pub(crate) fn live_loops(runs: &Runs) -> Result<Vec<LiveLoop>, Failure> {
    let mut loops = Vec::new();
    for project in runs.projects()? {
        for task in project.tasks()? {
            // A loop that was killed leaves its file, but not its lock.
            if lock::is_locked(&task)
                && let Some(text) = task.live()?
                && let Ok(live) = serde_json::from_str::<LiveLoop>(&text)
            {
                loops.push(LiveLoop { folder: task.folder(), ..live });
            }
        }
    }
    loops.sort_by_key(|live| live.started);
    Ok(loops)
}
