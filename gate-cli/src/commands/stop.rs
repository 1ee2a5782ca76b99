//! `gate stop`: asks loops to stop.

use super::common::DONE;
use crate::failure::Failure;
use crate::governance::project_here;
use crate::invocation::Invocation;
use crate::render::print_text;
use crate::runner;
use clap::Args;

#[derive(Debug, Args)]
pub(crate) struct Stop {
    /// The loop over this task alone.
    #[arg(long, value_name = "ID")]
    pub(crate) task: Option<String>,
}

pub(super) fn run(invocation: &Invocation, args: &Stop) -> Result<u8, Failure> {
    let project = project_here(&invocation.places)?;
    let mut tasks = project.tasks()?;
    if let Some(id) = &args.task {
        tasks.retain(|task| task.id() == id);
    }
    let mut stopped_tasks = Vec::new();
    for task in tasks {
        // Between two runs of its agent, a loop checks or waits.
        if args.task.is_some() || runner::is_locked(&task) || task.is_running()? {
            task.request_stop()?;
            stopped_tasks.push(task.id().to_owned());
        }
    }
    if stopped_tasks.is_empty() {
        let message = match &args.task {
            Some(id) => format!("there is no task {id} here"),
            None => "no loop runs here".to_owned(),
        };
        return Err(Failure::usage("nothing-runs", message).hint("`gate status` lists the loops"));
    }
    print_text(&format!("asked to stop: {}\n", stopped_tasks.join(", ")))?;
    Ok(DONE)
}
