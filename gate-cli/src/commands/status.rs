//! `gate status`: whether stops of agents are judged here, and how.

use std::path::Path;

use gate_core::Policy;
use gate_core::decide::breaker::BreakerState;
use gate_core::decide::policy::Judge;
use schemars::JsonSchema;
use serde::Serialize;

use super::{DONE, Here, print};
use crate::args;
use crate::failure::Failure;
use crate::memory::{OpenBreaker, Wanted, Which};
use crate::render;
use crate::settings::{self, Selection};

/// `gate.status.v1`: whether stops of agents are judged here, and how.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub(crate) struct Status {
    /// Always `gate.status.v1`.
    pub(crate) schema: &'static str,
    /// What the project is known by.
    pub(crate) project: String,
    /// The project's settings file; without one nothing is judged.
    pub(crate) settings: Option<String>,
    /// Whether hooks judge: not without settings, nor where an operator or the
    /// settings switched them off.
    pub(crate) judges: bool,
    /// Whether an operator switched them off.
    pub(crate) off: bool,
    /// Until when (RFC 3339, UTC); none where only `gate on` ends it.
    pub(crate) off_until: Option<String>,
    /// Which turns are judged.
    pub(crate) judge: Judge,
    /// How often a stop is refused before the agent is let go.
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
    print(&if args.json { render::json(&status)? } else { render::status_card(&status) })?;
    Ok(DONE)
}

fn status(here: &Here, policy: Policy) -> Result<Status, Failure> {
    let mut memory = here.memory(&policy)?;
    let switch = memory.switch()?;
    let settings = here.places.project_file()?;
    let breaker = memory.breaker(Which::Here, &policy)?;
    let last = memory.latest(&Wanted::default())?;
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
