//! `gate prompt`: the completion protocol, for an agent's prompt, with the token of
//! the iteration that comes next if one is required.

use gate_core::decide::policy::{TokenMode, When};

use super::common::DONE;
use crate::commands::arguments::SettingsArgs;
use crate::failure::Failure;
use crate::gate::Gate;
use crate::invocation::Invocation;
use crate::render::print;
use crate::request::{Asker, Request};
use crate::settings;
use clap::Args;

#[derive(Debug, Args)]
pub(crate) struct Prompt {
    /// The task's id, as for `gate check`. With `signal.token = "required"` it selects
    /// the token.
    #[arg(long, value_name = "ID")]
    pub(crate) task: Option<String>,
    /// The run's name.
    #[arg(long, value_name = "ID")]
    pub(crate) run: Option<String>,
    /// The iteration's number, if the caller counts.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=1_000_000_000))]
    pub(crate) iteration: Option<u64>,
    /// Begin a new run with it.
    #[arg(long)]
    pub(crate) new_run: bool,
    #[command(flatten)]
    pub(crate) settings: SettingsArgs,
}

pub(super) fn run(invocation: &Invocation, args: &Prompt) -> Result<u8, Failure> {
    let settings = settings::resolve(&invocation.places, &args.settings.selection())?;
    // Only a token depends on the loop, so without one no state has to be there.
    let memory = match settings.policy.signal.token {
        TokenMode::Required => Some(invocation.memory(&settings.policy)?),
        _ => None,
    };
    let gate = Gate::open(settings, invocation.site()?)?.at(When::Check);
    let gate = match memory {
        Some(memory) => gate.remembering(memory),
        None => gate,
    };
    let asker = Asker {
        task: args.task.clone(),
        run: args.run.clone(),
        iteration: args.iteration,
        new_run: args.new_run,
        ..Asker::default()
    };
    print(&gate.prompt(&Request { asker, ..Request::default() })?)?;
    Ok(DONE)
}
