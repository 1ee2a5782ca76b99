//! `gate man` and `gate completions`.

use clap::CommandFactory;
use clap_complete::Shell;

use super::{DONE, print};
use crate::args::Cli;
use crate::failure::Failure;

/// The manual page, in roff.
pub(super) fn page() -> Result<u8, Failure> {
    let mut page = Vec::new();
    clap_mangen::Man::new(Cli::command())
        .render(&mut page)
        .map_err(|error| Failure::output(&error))?;
    print(&String::from_utf8_lossy(&page))?;
    Ok(DONE)
}

/// The completions for a shell.
pub(super) fn completions(shell: Shell) -> Result<u8, Failure> {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Cli::command(), "gate", &mut script);
    print(&String::from_utf8_lossy(&script))?;
    Ok(DONE)
}
