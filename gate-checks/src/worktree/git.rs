//! Runs git so that nothing in the repository can falsify its output or start a program.
//!
//! The program comes from PATH, never from the work tree. `GIT_*` variables are gone, the git
//! folder is named, replace refs are off, and what settings of the repository could start (a file
//! system monitor, hooks, a pager, a transport for objects that are missing) is switched off. In a
//! real repository, only commands run that read what git itself wrote. Commands that apply
//! attributes and filters run in a folder of gate's own.

use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::thread;
use std::time::{Duration, Instant};

use gate_platform::{GIT, PermissionsExt, RealPath, end_group, lead_group};

use super::error::WorktreeError;
use super::names;
use crate::cancellation::Cancellation;
use crate::site::environment;
use crate::worktree::error::stop_if_cancelled;

/// The longest that one git command may take.
const GIT_TIMEOUT: Duration = Duration::from_secs(60);

/// The most bytes that git may print.
const MAX_OUTPUT_BYTES: u64 = 1 << 30;

/// The pause between two looks at the cancellation while git runs.
const POLL_INTERVAL: Duration = Duration::from_millis(50);

/// Options before every command.
const HARDENING: [&str; 12] = [
    "--no-pager",
    "--no-replace-objects",
    "-c",
    "core.fsmonitor=false",
    "-c",
    "core.hooksPath=/dev/null",
    "-c",
    "core.untrackedCache=false",
    "-c",
    "core.safecrlf=false",
    "-c",
    "submodule.recurse=false",
];

/// Environment of every command: it takes no locks, prompts for no password, and fetches no object
/// by any transport.
const VARIABLES: [(&str, &str); 5] = [
    ("LC_ALL", "C"),
    ("GIT_OPTIONAL_LOCKS", "0"),
    ("GIT_TERMINAL_PROMPT", "0"),
    ("GIT_NO_LAZY_FETCH", "1"),
    ("GIT_ALLOW_PROTOCOL", ""),
];

/// A git command in a folder, in which no setting of a repository starts a program or fetches an
/// object. The program is the first git on this process's PATH that does not lie in the folder;
/// `None` if there is no such git.
pub fn hardened_git(folder: &Path) -> Option<Command> {
    let folder = folder.real_path().ok()?;
    let mut command = Git::find(&environment(), &folder)?.hardened();
    command.current_dir(folder);
    Some(command)
}

/// The git program, and the environment that it is given.
#[derive(Clone, Debug)]
pub(crate) struct Git {
    program: Arc<Path>,
    environment: Arc<[(String, String)]>,
}

/// A repository as git's options name it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct GitPlace<'p> {
    /// The git folder.
    pub(crate) git_dir: &'p Path,
    /// The work tree, which is also the working folder.
    pub(crate) work_tree: &'p Path,
    /// Variables that this place needs.
    pub(crate) variables: &'p [(&'p str, &'p Path)],
}

/// The exit code and output of a git command.
#[derive(Debug)]
pub(crate) struct GitOutput {
    /// `None` if a signal ended it.
    pub(crate) code: Option<i32>,
    pub(crate) stdout: Vec<u8>,
    stderr: Vec<u8>,
}

impl Git {
    /// The first git on PATH that does not lie in the work tree.
    pub(crate) fn find(environment: &[(String, String)], root: &Path) -> Option<Self> {
        let path = environment.iter().rfind(|(name, _)| name == "PATH")?.1.as_str();
        let folders = std::env::split_paths(path).filter(|folder| folder.is_absolute());
        let program =
            folders.map(|folder| folder.join(GIT)).find(|program| is_usable(program, root))?;
        let environment = environment.iter().filter(|(name, _)| !name.starts_with("GIT_")).cloned();
        Some(Self { program: program.into(), environment: environment.collect() })
    }

    /// The standard output of a git command that exits with 0.
    pub(crate) fn read(
        &self,
        place: GitPlace<'_>,
        args: &[&str],
        cancel: &Cancellation,
    ) -> Result<Vec<u8>, WorktreeError> {
        let output = self.output(place, args, &[], cancel)?;
        if output.code == Some(0) { Ok(output.stdout) } else { Err(output.to_error(place, args)) }
    }

    /// Runs a git command, which may end with any code. Paths follow `--`.
    pub(crate) fn output(
        &self,
        place: GitPlace<'_>,
        args: &[&str],
        paths: &[&Path],
        cancel: &Cancellation,
    ) -> Result<GitOutput, WorktreeError> {
        let mut command = self.command(place);
        command.args(args);
        if !paths.is_empty() {
            command.arg("--").args(paths);
        }
        stop_if_cancelled(cancel)?;
        let output = run(&mut command, cancel);
        stop_if_cancelled(cancel)?;
        output.map_err(|error| git_error(place, args, &error.to_string()))
    }

    fn hardened(&self) -> Command {
        let mut command = Command::new(&*self.program);
        command.env_clear();
        command.envs(self.environment.iter().map(|(name, value)| (name, value)));
        command.envs(VARIABLES).args(HARDENING);
        command
    }

    fn command(&self, place: GitPlace<'_>) -> Command {
        let mut command = self.hardened();
        command.envs(place.variables.iter().copied());
        command.arg("--git-dir").arg(place.git_dir);
        command.arg("--work-tree").arg(place.work_tree);
        command.current_dir(place.work_tree);
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        lead_group(&mut command);
        command
    }
}

impl GitOutput {
    /// The error of a command that failed.
    pub(crate) fn to_error(&self, place: GitPlace<'_>, args: &[&str]) -> WorktreeError {
        let messages = String::from_utf8_lossy(&self.stderr);
        let line = messages.lines().find(|line| !line.trim().is_empty());
        let code = self.code.map_or("a signal".to_owned(), |code| format!("code {code}"));
        let problem = line.map_or_else(|| format!("ended with {code}"), str::to_owned);
        git_error(place, args, &problem)
    }
}

fn git_error(place: GitPlace<'_>, args: &[&str], problem: &str) -> WorktreeError {
    let command = args.first().copied().unwrap_or_default().to_owned();
    let problem = problem.chars().filter(|letter| !letter.is_control()).take(300).collect();
    WorktreeError::Git { command, folder: place.work_tree.into(), problem }
}

/// The program exists, is executable and is no file of the tree: the agent could have written that
/// one.
fn is_usable(program: &Path, root: &Path) -> bool {
    let Ok(real_path) = program.real_path() else { return false };
    let folder = program.parent().and_then(|folder| folder.real_path().ok());
    let is_executable = real_path
        .metadata()
        .is_ok_and(|metadata| metadata.is_file() && metadata.permissions().mode() & 0o111 != 0);
    is_executable
        && !real_path.starts_with(root)
        && folder.is_some_and(|folder| !folder.starts_with(root))
}

fn run(command: &mut Command, cancel: &Cancellation) -> io::Result<GitOutput> {
    let mut child = command.spawn()?;
    let output = wait_for_output(&mut child, cancel);
    if output.is_err() {
        kill(&mut child);
    }
    output
}

fn wait_for_output(child: &mut Child, cancel: &Cancellation) -> io::Result<GitOutput> {
    // Both pipes are read at once: git would wait for room in one while gate reads the other.
    let (stdout, stderr) = (drain(child.stdout.take()), drain(child.stderr.take()));
    let deadline = Instant::now() + GIT_TIMEOUT;
    let stdout = wait_for_bytes(&stdout, deadline, cancel)?;
    let stderr = wait_for_bytes(&stderr, deadline, cancel)?;
    Ok(GitOutput { code: wait_for_exit(child, deadline)?, stdout, stderr })
}

/// Reads a pipe to its end on a thread of its own: its receiver can give up, even if a descendant
/// holds the pipe open.
fn drain(pipe: Option<impl Read + Send + 'static>) -> Receiver<io::Result<Vec<u8>>> {
    let (sender, receiver) = mpsc::channel();
    thread::spawn(move || {
        let mut bytes = Vec::new();
        let length =
            pipe.map_or(Ok(0), |pipe| pipe.take(MAX_OUTPUT_BYTES + 1).read_to_end(&mut bytes));
        // The receiver is gone if it gave up.
        let _ = sender.send(length.map(|_| bytes));
    });
    receiver
}

fn wait_for_bytes(
    receiver: &Receiver<io::Result<Vec<u8>>>,
    deadline: Instant,
    cancel: &Cancellation,
) -> io::Result<Vec<u8>> {
    loop {
        match receiver.recv_timeout(POLL_INTERVAL) {
            Ok(Ok(bytes)) if bytes.len() as u64 > MAX_OUTPUT_BYTES => {
                return Err(io::Error::other("printed more than 1 GiB"));
            }
            Ok(result) => return result,
            Err(RecvTimeoutError::Disconnected) => {
                return Err(io::Error::other("its pipe was lost"));
            }
            Err(RecvTimeoutError::Timeout) if cancel.is_cancelled() => {
                return Err(io::ErrorKind::Interrupted.into());
            }
            Err(RecvTimeoutError::Timeout) if Instant::now() > deadline => {
                return Err(timed_out());
            }
            Err(RecvTimeoutError::Timeout) => {}
        }
    }
}

/// Waits for a process whose pipes are closed, which takes no time unless it
/// closed them early.
fn wait_for_exit(child: &mut Child, deadline: Instant) -> io::Result<Option<i32>> {
    let mut pause = Duration::from_micros(20);
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(status.code());
        }
        if Instant::now() > deadline {
            return Err(timed_out());
        }
        thread::sleep(pause);
        pause = (pause * 2).min(POLL_INTERVAL);
    }
}

fn timed_out() -> io::Error {
    io::Error::other(format!("gave no answer in {} s", GIT_TIMEOUT.as_secs()))
}

/// Ends git and what it started.
fn kill(child: &mut Child) {
    end_group(child.id());
    let _ = child.kill();
    let _ = child.wait();
}

/// The folder that a `.git` stands for: itself, or, in a linked worktree or a submodule,
/// the folder that the file names.
pub(super) fn git_dir(dot_git: &Path) -> Result<PathBuf, WorktreeError> {
    if dot_git.is_dir() {
        return Ok(dot_git.into());
    }
    linked_git_dir(dot_git).ok_or_else(|| WorktreeError::DotGit { path: dot_git.into() })
}

fn linked_git_dir(dot_git: &Path) -> Option<PathBuf> {
    let file = super::content::open(dot_git).ok()?;
    let mut text = Vec::new();
    file.take(1 << 16).read_to_end(&mut text).ok()?;
    let path = text.strip_prefix(b"gitdir:")?;
    let folder = dot_git.parent().unwrap_or(dot_git).join(names::path(path.trim_ascii()));
    folder.real_path().ok()
}

#[cfg(test)]
mod tests;
