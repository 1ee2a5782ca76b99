//! What a test needs and what may be absent: the one place that asks. The
//! tests of gate-core take this file in by its path.

#![allow(clippy::disallowed_types, reason = "that crate starts no process, its tests may")]

use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::{ChildStdin, Command, Stdio};
use std::sync::{Mutex, MutexGuard, OnceLock};
use std::thread;

/// The folder that holds the repository's README, crates and tests.
pub(crate) fn root() -> &'static Path {
    let mut folders = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors();
    folders.find(|folder| folder.join("Cargo.lock").is_file()).unwrap()
}

/// The folder beside the repository with labelled transcripts.
pub(crate) fn shared() -> PathBuf {
    root().join("../shared")
}

/// Something that a test needs is on this machine. If not, the caller skips the test, and the
/// end of the run lists it. With GATE_CI=1, which .ci/run sets, the test fails instead, unless
/// GATE_WITHOUT, a list of words, names it.
pub(crate) fn needs(what: &str) -> bool {
    let (there, why) = match what {
        "shared" => (shared().is_dir(), "there is no folder ../shared beside the repository"),
        "bash" | "python3" | "node" | "npm" | "make" | "go" | "bats" | "parallel" | "jq"
        | "openssl" | "pgbouncer" | "sqlite3" => (is_program(what), "it is not in PATH"),
        "typescript" => (
            runs("node", &["-e", "process.exit(process.features.typescript ? 0 : 1)"]),
            "node in PATH does not run TypeScript, or is absent",
        ),
        "script" => (
            runs("script", &["-qec", "true", "/dev/null"]),
            "script in PATH starts no command in a terminal, or is absent",
        ),
        "nextest" => (is_program("cargo-nextest"), "cargo-nextest is not in PATH"),
        "postgres" => (
            server_programs().is_some() || std::env::var_os("GATE_TEST_DATABASE_URL").is_some(),
            "there is no initdb, and GATE_TEST_DATABASE_URL names no server",
        ),
        "strace" => (runs("strace", &["-o", "/dev/null", "true"]), "strace cannot trace here"),
        "namespaces" => (
            runs("unshare", &["-rm", "mount", "-t", "tmpfs", "tmpfs", "/mnt"]),
            "unshare cannot make a file system here",
        ),
        "pytest" | "yaml" => (is_module(what), "python3 has no such module"),
        "exit-gate" => {
            (is_module("exit_gate"), "python3 has no such module: `.ci/full python` installs it")
        }
        "jest" | "vitest" | "mocha" => {
            (node_module(what).is_some(), "GATE_NODE_MODULES names no folder that holds it")
        }
        "claude-code" => client(what, "claude", 0),
        "codex" => client(what, what, 16),
        "copilot" | "gemini" | "qwen" | "opencode" => client(what, what, 20),
        "droid" => client(what, what, 0),
        _ => panic!("{what}: `needs` in tests/needs.rs does not know how to look for it"),
    };
    if !there {
        skip(what, why);
    }
    there
}

/// Counts this test as skipped for want of something, as [`needs`] does.
pub(crate) fn skip(what: &str, why: &str) {
    let strict = is_set("GATE_CI", "1") && !is_set("GATE_WITHOUT", what);
    assert!(!strict, "{what}: {why}");
    // nextest starts a process for each test, and waits for what it leaves behind.
    if std::env::var_os("NEXTEST").is_some() {
        let _ = writeln!(io::stderr(), "SKIPPED {what}: {why}");
        return;
    }
    let test = thread::current().name().unwrap_or_default().to_owned();
    let _ = writeln!(&mut *summary(), "{what}: {why}\t{test}");
}

/// Prints a line for each thing that was absent, with the number of tests that it cost.
const SUMMARISE: &str = r#"
sort -u | cut -f1 | uniq -c | while read -r count what; do echo "SKIPPED $count: $what" >&2; done
"#;

/// The standard input of the shell that sums up what was skipped. The standard harness has no hook at
/// the end of a run, so the end of this process is the sign: it closes the pipe.
fn summary() -> MutexGuard<'static, ChildStdin> {
    static SHELL: OnceLock<Mutex<ChildStdin>> = OnceLock::new();
    let shell = SHELL.get_or_init(|| {
        let mut shell = Command::new("sh");
        let shell = shell.args(["-c", SUMMARISE]).stdin(Stdio::piped()).stdout(Stdio::null());
        Mutex::new(shell.spawn().unwrap().stdin.take().unwrap())
    });
    shell.lock().unwrap()
}

fn is_set(variable: &str, to: &str) -> bool {
    let value = std::env::var(variable).unwrap_or_default();
    value.split_whitespace().any(|word| word == to)
}

/// An agent program is in the folder GATE_CLIENTS, which `.ci/clients`
/// fills, and node is no older than it wants.
fn client(name: &str, program: &str, node: u32) -> (bool, &'static str) {
    if client_program(name, program).is_none() {
        (false, "GATE_CLIENTS names no folder that holds it")
    } else {
        (
            node == 0 || node_version() >= Some(node),
            "node in PATH is older than it wants, or absent",
        )
    }
}

/// The folder that `.ci/clients` installs the clients into.
pub(crate) fn clients_folder() -> Option<PathBuf> {
    std::env::var_os("GATE_CLIENTS").map(PathBuf::from)
}

/// The program of a client that `.ci/clients` has installed.
pub(crate) fn client_program(name: &str, program: &str) -> Option<PathBuf> {
    let folder = clients_folder()?.join(name);
    let program = folder.join("node_modules/.bin").join(program);
    program.is_file().then_some(program)
}

/// The first number of node's version.
fn node_version() -> Option<u32> {
    let output = Command::new("node").arg("--version").output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    text.trim_start_matches('v').split('.').next()?.parse().ok()
}

/// The folders of PATH.
pub(crate) fn search_path() -> Vec<PathBuf> {
    std::env::split_paths(&std::env::var_os("PATH").unwrap_or_default()).collect()
}

/// Whether a program does what it is called for.
fn runs(program: &str, args: &[&str]) -> bool {
    let mut command = Command::new(program);
    command.args(args).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    command.status().is_ok_and(|status| status.success())
}

/// Whether python3 can import it.
fn is_module(name: &str) -> bool {
    let mut python = Command::new("python3");
    let import = python.args(["-c", &format!("import {name}")]).stderr(Stdio::null());
    import.status().is_ok_and(|status| status.success())
}

/// A package of the folder GATE_NODE_MODULES, which `.ci/run` fills.
pub(crate) fn node_module(name: &str) -> Option<PathBuf> {
    let folder = PathBuf::from(std::env::var_os("GATE_NODE_MODULES")?);
    folder.join(name).is_dir().then_some(folder)
}

/// The folder of PostgreSQL's own programs: in PATH, or where Debian keeps them.
pub(crate) fn server_programs() -> Option<PathBuf> {
    let kept = std::fs::read_dir("/usr/lib/postgresql").into_iter().flatten().flatten();
    let kept = kept.map(|version| version.path().join("bin"));
    let mut folders = search_path().into_iter().chain(kept);
    let initdb = folders.find_map(|folder| folder.join("initdb").canonicalize().ok())?;
    initdb.parent().map(Path::to_owned)
}

fn is_program(name: &str) -> bool {
    search_path().iter().any(|folder| folder.join(name).is_file())
}
