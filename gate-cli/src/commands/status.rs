//! `gate status`: shows if stops of agents are judged here, and how; and the loops of this machine.

mod line;
mod loops;

use std::io::{self, IsTerminal};
use std::path::Path;
use std::thread;
use std::time::Duration;

use clap::Args;
use gate_core::Policy;
use gate_core::decide::breaker::BreakerState;
use gate_core::decide::policy::{Judge, When};
use schemars::JsonSchema;
use serde::Serialize;

use self::loops::LoopStatus;
use super::common::{DONE, no_home};
use super::goal::{self, OpenGoal};
use super::plan::{self, PlannedCheck};
use crate::failure::Failure;
use crate::governance;
use crate::install::HookedClients;
use crate::invocation::Invocation;
use crate::memory::{BreakerSelector, OpenBreaker, RecordSelector};
use crate::record::Record;
use crate::render::card::state_name;
use crate::render::{self, Mark, Page, local_time, print};
use crate::secrets;
use crate::settings::Selection;
use crate::trust::{self, Trust};

/// The pause between two looks.
const WATCH_INTERVAL: Duration = Duration::from_secs(1);

/// Puts the cursor in the first column of the first line, and clears the screen.
const CLEAR: &str = "\x1b[H\x1b[2J";

#[derive(Debug, Args)]
pub(crate) struct StatusArgs {
    /// Print one line of at most 120 characters, for a status bar.
    #[arg(long, conflicts_with = "json")]
    pub(crate) line: bool,
    /// Show it again each second, until Ctrl-C.
    #[arg(long, conflicts_with_all = ["line", "json"])]
    pub(crate) watch: bool,
    /// Print one JSON object.
    #[arg(long)]
    pub(crate) json: bool,
}

/// `gate.status.v1`: whether stops of agents are judged here, and how.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub(crate) struct Status {
    /// Always `gate.status.v1`.
    pub(crate) schema: &'static str,
    /// The project's id.
    pub(crate) project: String,
    /// The project's settings file; without one nothing is judged.
    pub(crate) settings: Option<String>,
    /// Hooks judge: not without settings, nor if these would start programs that
    /// nobody approved, nor if an operator or the settings switched the hooks off.
    pub(crate) judges: bool,
    /// Why the settings cannot decide, if so: nobody approved them.
    pub(crate) refused: Option<String>,
    /// An operator switched them off.
    pub(crate) off: bool,
    /// Until when (RFC 3339, UTC); null if only `gate on` ends it.
    pub(crate) off_until: Option<String>,
    /// The turns that are judged.
    pub(crate) judge: Judge,
    /// The number of refusals of a stop before the agent is let go.
    pub(crate) max_blocks: u32,
    /// The checks that run in a hook.
    pub(crate) checks: Vec<String>,
    /// The same, with their commands and their latest runs.
    pub(crate) plan: Vec<PlannedCheck>,
    /// The state of the first breaker of this work tree that is not closed.
    pub(crate) breaker: BreakerState,
    /// All breakers that are not closed, and whose they are: those of this work
    /// tree first.
    pub(crate) open: Vec<OpenBreaker>,
    /// The loops of this machine and store: those that run now, then those that ended in the last
    /// 24 hours, the latest first.
    pub(crate) loops: Vec<LoopStatus>,
    /// The goals that are open in this work tree, each with its state at the latest decision.
    pub(crate) goals: Vec<OpenGoal>,
    /// The latest decision here, in words.
    pub(crate) last: Option<String>,
    /// The same for a person, with the local time.
    #[serde(skip)]
    pub(super) shown_last: Option<(Mark, String)>,
}

pub(super) fn run(invocation: &Invocation, args: &StatusArgs) -> Result<u8, Failure> {
    if args.line {
        line::run(invocation)?;
        return Ok(DONE);
    }
    loop {
        let (settings, trust) =
            trust::settings_in_force(&invocation.places, &Selection::default())?;
        let folders = governance::runs(&invocation.places, settings.run.folder.as_deref())?;
        let loops = loops::loops(invocation, &settings.policy, &folders)?;
        let status = Status { loops, ..status(invocation, settings.policy, &trust)? };
        let text = if args.json { render::json(&status)? } else { card(invocation, &status) };
        let clear = if args.watch && io::stdout().is_terminal() { CLEAR } else { "" };
        print(&format!("{clear}{}", secrets::masked(&text)))?;
        if !args.watch {
            return Ok(DONE);
        }
        thread::sleep(WATCH_INTERVAL);
    }
}

/// The card for a person.
///
/// # Errors
///
/// Settings or a store that cannot be read.
pub(super) fn text(invocation: &Invocation) -> Result<String, Failure> {
    let (settings, trust) = trust::settings_in_force(&invocation.places, &Selection::default())?;
    Ok(card(invocation, &status(invocation, settings.policy, &trust)?))
}

/// The state of the hooks, without the loops; `trust` is that of the settings in force.
pub(super) fn status(
    invocation: &Invocation,
    policy: Policy,
    trust: &Trust,
) -> Result<Status, Failure> {
    let mut memory = invocation.memory(&policy)?;
    let switch = memory.switch()?;
    let settings = invocation.places.project_file()?;
    let breaker = memory.breaker(BreakerSelector::ThisTree, &policy)?;
    let last_decision = memory.latest(&RecordSelector::default())?;
    let hook = policy.hook;
    // Approved settings judge on, also where somebody has removed the file.
    let goals = goal::known_goals(invocation, &mut memory)?;
    // A person's goal is judged without any.
    let has_goal = goals.iter().any(|goal| goal.goal.command.is_some());
    let has_settings = settings.is_some() || Trust::was_approved(&invocation.places);
    let refusal = trust.admit_deciding(&policy, &invocation.site_under(trust)?).err();
    let plan = plan::planned(invocation, policy, When::Hook, &mut memory)?;
    Ok(Status {
        schema: "gate.status.v1",
        project: memory.project().to_owned(),
        judges: (has_settings && refusal.is_none() || has_goal)
            && !switch.off
            && hook.judge != Judge::Never,
        refused: if has_settings { refusal.map(|failure| failure.message) } else { None },
        settings: settings.as_deref().map(Path::display).map(|path| path.to_string()),
        off: switch.off,
        off_until: switch.until,
        judge: hook.judge,
        max_blocks: hook.max_blocks,
        checks: plan.iter().map(|check| check.check.clone()).collect(),
        plan,
        breaker: breaker.state,
        open: breaker.open,
        loops: Vec::new(),
        goals,
        last: last_decision.as_ref().map(decision_line),
        shown_last: last_decision.as_ref().map(render::decided),
    })
}

fn decision_line(record: &Record) -> String {
    let decision = &record.decision;
    format!("{} ({}): {}", decision.verdict.name(), record.time, decision.cause())
}

fn card(invocation: &Invocation, status: &Status) -> String {
    let mut page = Page::new();
    let (mark, word) = if status.judges { (Mark::Good, "ON") } else { (Mark::Unsure, "OFF") };
    page.head(mark, word, &meaning(invocation, status));
    page.blank();
    page.row("project", &status.project);
    let missing_settings = match no_home(&invocation.places, &invocation.places.folder).is_ok() {
        true => "no gate.toml: `gate setup` or `gate init` writes one",
        false => "no gate.toml: cd into a project, then `gate setup`",
    };
    page.row("settings", status.settings.as_deref().unwrap_or(missing_settings));
    if let Some(refusal) = &status.refused {
        page.marked(Mark::Bad, "approval", refusal);
    }
    let judged_turns = match status.judge {
        Judge::Auto => "turns that changed something, and headless ones with a signal",
        Judge::Always => "all turns",
        Judge::Never => "none (hook.judge is never)",
    };
    page.row("judged", judged_turns);
    page.row("refusals", &format!("at most {} in a row", status.max_blocks));
    for open in &status.open {
        let end = match open.probe_at.as_deref() {
            Some(time) => format!(", until {}", local_time(time)),
            None => String::new(),
        };
        let cause = open.message.as_deref().unwrap_or_default();
        let text = format!("{}{end}: {cause}; `{}`", open.whose, open.reset);
        page.marked(Mark::Bad, state_name(open.state), &text);
    }
    if status.open.is_empty() {
        page.row("breakers", "all ready: no loop is stopped");
    }
    if let Some((mark, last)) = &status.shown_last {
        page.marked(*mark, "last", last);
    }
    for OpenGoal { goal, .. } in &status.goals {
        page.row("goal", &goal.line());
    }
    page.blank();
    if status.plan.is_empty() {
        page.row("checks", "none at a stop");
    }
    plan::add_rows(&mut page, &status.plan);
    let root = invocation.places.top().display().to_string();
    loops::add_rows(&mut page, &status.loops, &status.project, &root);
    page.into_text()
}

fn meaning(invocation: &Invocation, status: &Status) -> String {
    match (&status.off_until, status.off) {
        (Some(until), true) => {
            format!("agents stop here without being judged, until {}", local_time(until))
        }
        (None, true) => "agents stop here without being judged, until `gate on`".to_owned(),
        _ if status.refused.is_some() && !status.judges => {
            "stops cannot be judged here before `gate trust`".to_owned()
        }
        _ if status.judges => match HookedClients::read(&invocation.places).installed.as_slice() {
            [] => "stops are checked here as soon as a client has gate's hook: `gate setup`"
                .to_owned(),
            clients => format!("stops are checked here, by the hook of {}", clients.join(", ")),
        },
        _ => "stops of agents are not judged here".to_owned(),
    }
}
