//! `gate uninstall`: takes gate away from an agent's stop.

use std::time::Duration;

use super::common::DONE;
use super::install::ScopeArgs;
use super::install::changes;
use crate::agent::Agent;
use crate::failure::Failure;
use crate::install::{Plan, Roots};
use crate::invocation::Invocation;
use crate::memory::Memory;
use crate::render::{self, print_text};
use crate::settings::{self, Selection};
use clap::Args;

#[derive(Debug, Args)]
pub(crate) struct Uninstall {
    /// The agent.
    pub(crate) agent: Agent,
    #[command(flatten)]
    pub(crate) scope: ScopeArgs,
    /// Show what would change, and change nothing.
    #[arg(long)]
    pub(crate) dry_run: bool,
}

/// The longest wait for a store that only records the act.
const STORE_TIMEOUT: Duration = Duration::from_secs(5);

pub(super) fn run(invocation: &Invocation, args: &Uninstall) -> Result<u8, Failure> {
    invocation.operator("gate uninstall")?;
    let roots = Roots::for_scope(&invocation.places, args.scope.scope())?;
    let plan = Plan::uninstall(args.agent, args.scope.scope(), &roots)?;
    if !args.dry_run {
        plan.apply()?;
        roots.tidy();
        record(invocation, args);
    }
    let mut text = changes(&plan, args.dry_run);
    if !plan.is_change() {
        let files: Vec<_> = plan.steps.iter().map(|step| step.file.display().to_string()).collect();
        text = format!("gate is not in {}: nothing was changed\n", files.join(" nor in "));
    }
    print_text(&text)?;
    Ok(DONE)
}

/// Records the act. A failure is only noted: nobody has to keep gate because its state is
/// broken.
fn record(invocation: &Invocation, args: &Uninstall) {
    let settings = settings::resolve(&invocation.places, &Selection::default());
    let id = settings.ok().and_then(|settings| settings.policy.project.id);
    let result = Memory::open_within(&invocation.places, id.as_deref(), STORE_TIMEOUT)
        .and_then(|mut memory| memory.record_act("uninstall", Some(args.agent.name())));
    if let Err(failure) = result {
        render::notes(&[format!("not recorded: {}", failure.message)]);
    }
}
