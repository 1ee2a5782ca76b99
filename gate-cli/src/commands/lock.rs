//! `gate lock`: locks a run to the policy of this moment.

use super::common::DONE;
use crate::commands::arguments::SettingsArgs;
use crate::context::Here;
use crate::failure::Failure;
use crate::memory::{self, Loop};
use crate::render::{self, print, print_text};
use crate::trust;
use clap::Args;

#[derive(Debug, Args)]
pub(crate) struct Lock {
    /// The loop's name; else it is named by its task and work tree.
    #[arg(long, value_name = "ID")]
    pub(crate) run: Option<String>,
    /// The task's id.
    #[arg(long, value_name = "ID")]
    pub(crate) task: Option<String>,
    /// End the lock.
    #[arg(long)]
    pub(crate) release: bool,
    #[command(flatten)]
    pub(crate) settings: SettingsArgs,
    /// Print one JSON object.
    #[arg(long)]
    pub(crate) json: bool,
}

pub(super) fn run(here: &Here, args: &Lock) -> Result<u8, Failure> {
    let operator = here.operator("gate lock")?;
    let (settings, trust) = trust::settings_in_force(&here.places, &args.settings.selection())?;
    let policy = settings.policy;
    let mut memory = here.memory_under(&trust, &policy)?;
    let digest = policy.digest();
    let of = Loop { run: args.run.as_deref(), task: args.task.as_deref() };
    let to = (!args.release).then_some((digest.as_str(), &policy));
    let lock = memory.lock(&of, to, &operator)?;
    if args.json { print(&render::json(&lock)?) } else { print_text(&card(&lock)) }?;
    Ok(DONE)
}

fn card(lock: &memory::Lock) -> String {
    let run = gate_core::text::brief(&lock.run, 200);
    match &lock.policy {
        Some(policy) => format!(
            "run {run} is locked to the policy {policy}\n\
             end it: gate lock --release, with the same --run and --task\n"
        ),
        None => format!("run {run} is locked to no policy\n"),
    }
}
