//! `gate prompt`: the completion protocol, for an agent's prompt.

use gate_core::decide::signal::prompt;

use super::{DONE, Here, print};
use crate::args::Prompt;
use crate::failure::Failure;
use crate::settings;

pub(super) fn run(here: &Here, args: &Prompt) -> Result<u8, Failure> {
    let settings = settings::resolve(&here.places, &args.settings.selection())?;
    print(&prompt(&settings.policy.signal))?;
    Ok(DONE)
}
