//! `gate status`: whether stops of agents are judged here, and how.

use std::fmt::Write;
use std::path::Path;

use anstyle::{AnsiColor, Style};
use gate_core::Policy;
use gate_core::decide::breaker::BreakerState;
use gate_core::decide::policy::Judge;
use schemars::JsonSchema;
use serde::Serialize;

use super::common::DONE;
use crate::args;
use crate::context::Here;
use crate::failure::Failure;
use crate::memory::{OpenBreaker, RecordSelector, Which};
use crate::render::{self, brief, print, state_name};
use crate::settings::{self, Selection};

/// `gate.status.v1`: whether stops of agents are judged here, and how.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub(crate) struct Status {
    /// Always `gate.status.v1`.
    pub(crate) schema: &'static str,
    /// The project's id.
    pub(crate) project: String,
    /// The project's settings file; without one nothing is judged.
    pub(crate) settings: Option<String>,
    /// True if hooks judge: not without settings, nor if an operator or the settings
    /// switched them off.
    pub(crate) judges: bool,
    /// True if an operator switched them off.
    pub(crate) off: bool,
    /// Until when (RFC 3339, UTC); none where only `gate on` ends it.
    pub(crate) off_until: Option<String>,
    /// The turns that are judged.
    pub(crate) judge: Judge,
    /// The number of refusals of a stop before the agent is let go.
    pub(crate) max_blocks: u32,
    /// The checks that run in a hook.
    pub(crate) checks: Vec<String>,
    /// The state of the first breaker of this work tree that is not closed.
    pub(crate) breaker: BreakerState,
    /// All breakers that are not closed, and whose they are: those of this work
    /// tree first.
    pub(crate) open: Vec<OpenBreaker>,
    /// The latest decision here, in words.
    pub(crate) last: Option<String>,
}

pub(super) fn run(here: &Here, args: &args::Status) -> Result<u8, Failure> {
    let policy = settings::resolve(&here.places, &Selection::default())?.policy;
    let status = status(here, policy)?;
    print(&if args.json { render::json(&status)? } else { card(&status) })?;
    Ok(DONE)
}

fn status(here: &Here, policy: Policy) -> Result<Status, Failure> {
    let mut memory = here.memory(&policy)?;
    let switch = memory.switch()?;
    let settings = here.places.project_file()?;
    let breaker = memory.breaker(Which::Here, &policy)?;
    let last = memory.latest(&RecordSelector::default())?;
    let hook = policy.hook;
    let in_hook = policy.at(gate_core::decide::policy::When::Hook).checks;
    Ok(Status {
        schema: "gate.status.v1",
        project: memory.project().to_owned(),
        judges: settings.is_some() && !switch.off && hook.judge != Judge::Never,
        settings: settings.as_deref().map(Path::display).map(|path| path.to_string()),
        off: switch.off,
        off_until: switch.until,
        judge: hook.judge,
        max_blocks: hook.max_blocks,
        checks: in_hook.into_keys().collect(),
        breaker: breaker.state,
        open: breaker.open,
        last: last.map(|record| {
            let why = record.decision.reasons.first().map_or("", |reason| reason.message.as_str());
            format!("{} ({}): {why}", record.decision.verdict.name(), record.time)
        }),
    })
}

fn card(status: &Status) -> String {
    let (color, word) =
        if status.judges { (AnsiColor::Green, "ON") } else { (AnsiColor::Yellow, "OFF") };
    let style = Style::new().bold().fg_color(Some(color.into()));
    let mut text = format!("{style}{word}{style:#}  {}\n\n", meaning(status));
    row(&mut text, "project", &status.project);
    row(
        &mut text,
        "settings",
        status.settings.as_deref().unwrap_or("no gate.toml: `gate init` writes one"),
    );
    let judged = match status.judge {
        Judge::Auto => "turns that changed something, and headless ones with a signal",
        Judge::Always => "all turns",
        Judge::Never => "none (hook.judge is never)",
    };
    row(&mut text, "judged", judged);
    row(&mut text, "refusals", &format!("at most {} in a row", status.max_blocks));
    let checks = status.checks.join(", ");
    row(&mut text, "checks", if checks.is_empty() { "none" } else { &checks });
    for open in &status.open {
        let until = match &open.probe_at {
            Some(at) => format!(", until {at}"),
            None => String::new(),
        };
        let why = open.message.as_deref().unwrap_or_default();
        row(
            &mut text,
            state_name(open.state),
            &format!("{}{until}: {why}; `{}`", open.whose, open.reset),
        );
    }
    if status.open.is_empty() {
        row(&mut text, "breakers", "all closed: nobody is held");
    }
    if let Some(last) = &status.last {
        row(&mut text, "last", last);
    }
    text
}

/// Appends one row of the card.
fn row(text: &mut String, label: &str, value: &str) {
    // Writing to a String cannot fail.
    let _ = writeln!(text, "  {label:<12}{}", brief(value));
}

fn meaning(status: &Status) -> String {
    match (&status.off_until, status.off) {
        (Some(until), true) => format!("agents stop here without being judged, until {until}"),
        (None, true) => "agents stop here without being judged, until `gate on`".to_owned(),
        _ if status.judges => {
            "stops of agents are judged here, where a hook is installed".to_owned()
        }
        _ => "stops of agents are not judged here".to_owned(),
    }
}
