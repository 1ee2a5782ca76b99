//! `gate off` and `gate on`: switch the stop hooks here off and on.

use gate_checks::worktree::WorkTree;

use super::common::DONE;
use crate::failure::Failure;
use crate::hook::session::require_exit;
use crate::invocation::Invocation;
use crate::render::{local_time, print_text};
use crate::settings::parse_duration;
use crate::settings::{self, Selection};
use clap::Args;
use std::time::Duration;

#[derive(Debug, Args)]
pub(crate) struct Off {
    /// For so long, such as 1h; until `gate on` if not given.
    #[arg(long = "for", value_name = "D", value_parser = parse_duration)]
    pub(crate) length: Option<Duration>,
}

#[derive(Debug, Args)]
pub(crate) struct On {
    /// Have the agents' sessions in this work tree end only with an explicit signal and
    /// green checks.
    #[arg(long)]
    pub(crate) session: bool,
}

pub(super) fn off(invocation: &Invocation, args: &Off) -> Result<u8, Failure> {
    invocation.operator("gate off")?;
    let millis = args.length.map(|length| u64::try_from(length.as_millis()).unwrap_or(u64::MAX));
    let end = match set_switch(invocation, true, millis)? {
        Some(time) => format!("until {}", local_time(&time)),
        None => "until `gate on`".to_owned(),
    };
    print_text(&format!("off {end}: agents stop here without being judged\n"))?;
    Ok(DONE)
}

pub(super) fn on(invocation: &Invocation, args: &On) -> Result<u8, Failure> {
    if args.session {
        invocation.operator("gate on --session")?;
        let tree = WorkTree::open(&invocation.site()?)
            .map_err(|error| Failure::internal("tree-unreadable", error.to_string()))?;
        let count = require_exit(invocation.places.state.as_deref(), tree.root(), true);
        if count == 0 {
            let message = "no session of an agent is known in this work tree";
            return Err(Failure::usage("no-session", message)
                .hint("type `gate on --session` into the agent's own prompt"));
        }
        print_text(&format!(
            "on: {count} sessions here end only with an explicit signal and green checks\n"
        ))?;
        return Ok(DONE);
    }
    invocation.above_checks("gate on")?;
    set_switch(invocation, false, None)?;
    print_text("on: stops are checked here\n")?;
    Ok(DONE)
}

/// Switches the hooks here. Returns the end of the time in which they are off.
fn set_switch(
    invocation: &Invocation,
    off: bool,
    for_ms: Option<u64>,
) -> Result<Option<String>, Failure> {
    let policy = settings::resolve(&invocation.places, &Selection::default())?.policy;
    Ok(invocation.memory(&policy)?.set_switch(off, for_ms)?.until)
}
