//! The repository of a copy, with one commit of all its files.

use std::ffi::OsStr;
use std::io::{self, Seek, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::site::CheckSite;

/// Settings of every command: no hooks, no signatures, no collection of garbage behind a commit,
/// no compression, and a placeholder as the author.
const SETTINGS: [&str; 9] = [
    "core.compression=0",
    "core.hooksPath=/dev/null",
    "core.fsmonitor=false",
    "core.safecrlf=false",
    "commit.gpgSign=false",
    "maintenance.auto=false",
    "init.defaultBranch=main",
    "user.name=gate",
    "user.email=gate@localhost",
];

/// Makes a folder a repository and commits all its files.
///
/// # Errors
///
/// Git is not there, or failed.
pub(crate) fn commit_all(folder: &Path, site: &CheckSite, tree_root: &Path) -> io::Result<()> {
    init(folder, site, tree_root)?;
    let git = Git::find(folder, site, tree_root)?;
    git.run(&["add", "--all", "--force"], b"")?;
    git.run(&COMMIT, b"")
}

/// Makes a folder a repository without a commit.
///
/// # Errors
///
/// Git is not there, or failed.
pub(crate) fn init(folder: &Path, site: &CheckSite, tree_root: &Path) -> io::Result<()> {
    Git::find(folder, site, tree_root)?.run(&["init", "--quiet", "--template="], b"")
}

/// Commits the files at these paths, also ignored ones, and the removal of those that are gone. Each
/// path is followed by a zero.
///
/// # Errors
///
/// Git is not there, or failed.
pub(crate) fn commit(
    folder: &Path,
    site: &CheckSite,
    tree_root: &Path,
    paths: &[u8],
) -> io::Result<()> {
    let git = Git::find(folder, site, tree_root)?;
    git.run(&["update-index", "--add", "--remove", "--replace", "-z", "--stdin"], paths)?;
    git.run(&COMMIT, b"")
}

const COMMIT: [&str; 5] = ["commit", "--quiet", "--no-verify", "--allow-empty", "--message=copy"];

/// A git that is no part of the work.
struct Git<'a> {
    program: PathBuf,
    folder: &'a Path,
    site: &'a CheckSite,
}

impl<'a> Git<'a> {
    fn find(folder: &'a Path, site: &'a CheckSite, tree_root: &Path) -> io::Result<Self> {
        match which::which_in("git", Some(site.search_path()), "/") {
            Ok(program) if !program.starts_with(tree_root) => Ok(Self { program, folder, site }),
            _ => Err(io::Error::other("there is no git in PATH")),
        }
    }

    fn run(&self, args: &[&str], input: &[u8]) -> io::Result<()> {
        let mut command = Command::new(&self.program);
        // Variables of git could name another repository.
        let environment =
            self.site.environment.iter().filter(|(name, _)| !name.starts_with("GIT_"));
        command.env_clear().envs(environment.map(|(name, value)| (name, value)));
        // The user's settings may name programs that git would run on each file.
        command.env("GIT_CONFIG_GLOBAL", "/dev/null").env("GIT_CONFIG_NOSYSTEM", "1");
        command.env("GIT_TERMINAL_PROMPT", "0");
        for setting in SETTINGS {
            command.args([OsStr::new("-c"), OsStr::new(setting)]);
        }
        command.args(args).current_dir(self.folder);
        // A file has room for any number of names, as a pipe has not.
        let mut input_file = tempfile::tempfile()?;
        input_file.write_all(input)?;
        input_file.rewind()?;
        command.stdin(input_file).stdout(Stdio::null()).stderr(Stdio::piped());
        let output = command.output()?;
        if output.status.success() {
            return Ok(());
        }
        let error = String::from_utf8_lossy(&output.stderr).trim().to_owned();
        Err(io::Error::other(format!("git {}: {error}", args.first().unwrap_or(&""))))
    }
}
