//! The repository of a copy: its own, with one commit of all that is there.

use std::ffi::OsStr;
use std::io;
use std::path::Path;
use std::process::{Command, Stdio};

use crate::site::Site;

/// Said before every command: no hooks, no signatures, nobody asked, and an
/// author who is nobody.
const SETTINGS: [&str; 7] = [
    "core.hooksPath=/dev/null",
    "core.fsmonitor=false",
    "core.safecrlf=false",
    "commit.gpgSign=false",
    "init.defaultBranch=main",
    "user.name=gate",
    "user.email=gate@localhost",
];

/// Makes a folder a repository and commits all of it.
///
/// # Errors
///
/// Git is not there, or failed.
pub(crate) fn commit_all(folder: &Path, site: &Site, real: &Path) -> io::Result<()> {
    let program = which::which_in("git", Some(site.search_path()), "/");
    let program = program.ok().filter(|program| !program.starts_with(real));
    let program = program.ok_or_else(|| io::Error::other("there is no git in PATH"))?;
    let git = |args: &[&str]| run(&program, folder, site, args);
    git(&["init", "--quiet", "--template="])?;
    git(&["add", "--all", "--force"])?;
    git(&["commit", "--quiet", "--no-verify", "--allow-empty", "--message=copy"])
}

fn run(program: &Path, folder: &Path, site: &Site, args: &[&str]) -> io::Result<()> {
    let mut command = Command::new(program);
    let kept = site.environment.iter().filter(|(name, _)| !name.starts_with("GIT_"));
    command.env_clear().envs(kept.map(|(name, value)| (name, value)));
    // The user's settings may name programs that git would run on each file.
    command.env("GIT_CONFIG_GLOBAL", "/dev/null").env("GIT_CONFIG_NOSYSTEM", "1");
    command.env("GIT_TERMINAL_PROMPT", "0");
    for setting in SETTINGS {
        command.args([OsStr::new("-c"), OsStr::new(setting)]);
    }
    command.args(args).current_dir(folder);
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
    let done = command.output()?;
    if done.status.success() {
        return Ok(());
    }
    let said = String::from_utf8_lossy(&done.stderr).trim().to_owned();
    Err(io::Error::other(format!("git {}: {said}", args.first().unwrap_or(&""))))
}
