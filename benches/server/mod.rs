//! PostgreSQL servers for benchmarks, thrown away with them.

use std::fs;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

/// The folder with these programs of PostgreSQL: in PATH, or where Debian keeps them.
pub(crate) fn programs(names: &[&str]) -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let kept = fs::read_dir("/usr/lib/postgresql").into_iter().flatten().flatten();
    let kept = kept.map(|version| version.path().join("bin"));
    let has_all = |folder: &PathBuf| names.iter().all(|name| folder.join(name).exists());
    std::env::split_paths(&path).chain(kept).find(has_all)
}

/// PostgreSQL's programs refuse to run as root.
pub(crate) fn as_nobody(program: &Path) -> Command {
    let id = Command::new("id").arg("-u").output().unwrap();
    if id.stdout != b"0\n" {
        return Command::new(program);
    }
    let mut command = Command::new("setpriv");
    command.args(["--reuid=65534", "--regid=65534", "--clear-groups"]).arg(program);
    command
}

/// A server that is thrown away.
pub(crate) struct Server {
    shell: Child,
    /// The line that the script prints once the server runs.
    pub(crate) line: String,
}

impl Server {
    /// Runs a script that makes a server, prints a line, and ends the server when standard input
    /// ends.
    pub(crate) fn new(script: &str, programs: &Path, argument: &str) -> Self {
        let mut shell = as_nobody(Path::new("sh"));
        shell.args(["-c", script, "sh"]).arg(programs).arg(argument);
        let mut shell = shell.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(shell.stdout.take().unwrap()).read_line(&mut line).unwrap();
        assert!(!line.is_empty(), "no server could be made");
        Self { shell, line: line.trim().to_owned() }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        drop(self.shell.stdin.take());
        let _ = self.shell.wait();
    }
}
