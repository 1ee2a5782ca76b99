//! `gate man` and `gate completions`.

use clap::CommandFactory;
use clap_complete::Shell;

use super::common::DONE;
use crate::args::Cli;
use crate::failure::Failure;
use crate::render::print;

/// A manual page, in roff.
pub(super) fn page(name: Option<&str>) -> Result<u8, Failure> {
    let mut page = Vec::new();
    let man = clap_mangen::Man::new(command(name)?);
    man.render(&mut page).map_err(|error| Failure::output(&error))?;
    print(&String::from_utf8_lossy(&page))?;
    Ok(DONE)
}

fn command(name: Option<&str>) -> Result<clap::Command, Failure> {
    let mut all = Cli::command();
    let Some(name) = name else { return Ok(all) };
    all.build();
    let found = all.find_subcommand(name).cloned();
    found.ok_or_else(|| Failure::usage("unknown-command", format!("gate has no command `{name}`")))
}

/// The completions for a shell.
pub(super) fn completions(shell: Shell) -> Result<u8, Failure> {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Cli::command(), "gate", &mut script);
    print(&String::from_utf8_lossy(&script))?;
    Ok(DONE)
}
