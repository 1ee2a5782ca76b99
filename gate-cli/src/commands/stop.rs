//! `gate stop`: asks loops to stop.

use super::common::DONE;
use crate::context::Here;
use crate::failure::Failure;
use crate::governance::Runs;
use crate::render::print_text;
use clap::Args;

#[derive(Debug, Args)]
pub(crate) struct Stop {
    /// The loop over this task alone.
    #[arg(long, value_name = "ID")]
    pub(crate) task: Option<String>,
}

pub(super) fn run(here: &Here, args: &Stop) -> Result<u8, Failure> {
    let project = Runs::here(&here.places)?;
    let tasks = match &args.task {
        Some(id) => vec![project.task(id)?],
        None => project.tasks()?,
    };
    let mut stopped = Vec::new();
    for task in tasks {
        if args.task.is_some() || task.is_running()? {
            task.request_stop()?;
            stopped.push(task.id().to_owned());
        }
    }
    if stopped.is_empty() {
        return Err(Failure::usage("nothing-runs", "no loop runs here"));
    }
    print_text(&format!("asked to stop: {}\n", stopped.join(", ")))?;
    Ok(DONE)
}
