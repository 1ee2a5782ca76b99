//! `gate uninstall`: takes gate away from an agent's stop.

use super::install::shown;
use super::{DONE, Here, print};
use crate::args::Uninstall;
use crate::failure::Failure;
use crate::install::{Plan, Roots};

pub(super) fn run(here: &Here, args: &Uninstall) -> Result<u8, Failure> {
    let roots = Roots::of(&here.places)?;
    let plan = Plan::uninstall(args.agent, args.whom.scope(), &roots)?;
    if !args.dry_run {
        plan.apply()?;
    }
    let mut text = shown(&plan, args.dry_run);
    if !plan.is_change() {
        let files: Vec<_> = plan.steps.iter().map(|it| it.file.display().to_string()).collect();
        text = format!("gate is not in {}: nothing was changed\n", files.join(" nor in "));
    }
    print(&text)?;
    Ok(DONE)
}
