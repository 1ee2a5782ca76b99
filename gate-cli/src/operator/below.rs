//! Finds gate itself above this process: then a check calls, or another program that gate
//! started, and no person.
//!
//! A check runs under a supervisor, which inherits its orphans: a process that cleared its
//! environment, left its session or lost its parent is still below it. If the system hides
//! that, as without /proc, the mark in the environment is left.

use gate_checks::process::{self, MARK};

use crate::agent::{IN_RUN, Process};
use crate::settings::Places;
use crate::supervision::{ATTEND, SUPERVISE};

/// File name of gate's program.
const GATE: &str = "gate";

/// The nearest process of gate's above this one, in words. A process that the agent of a run
/// starts is that agent's: [`super::above`] finds it.
pub(super) fn gate_process(ancestors: &[Process], places: &Places) -> Option<String> {
    let own_program = program_file(std::process::id() as i32);
    let mut nearest = ancestors.iter().take_while(|process| !is_attendant(&process.words));
    let gate =
        nearest.find(|process| is_supervisor(&process.words) || is_gate(process.pid, own_program));
    if let Some(Process { pid, .. }) = gate {
        return Some(format!("process {pid}"));
    }
    // Within a run the process is the agent's, whatever mark it has.
    if places.variable(IN_RUN).is_some() {
        return None;
    }
    places.variable(MARK).map(|mark| format!("the environment has {MARK}={mark}"))
}

/// These are the words of the process that attends the agent of a run.
fn is_attendant(words: &[String]) -> bool {
    words.get(1).is_some_and(|word| word == ATTEND)
}

/// These are the words of a supervisor. Its own program cannot be looked at, and may be of another
/// version.
fn is_supervisor(words: &[String]) -> bool {
    words.get(1).is_some_and(|word| word == SUPERVISE)
        && words
            .get(2)
            .is_some_and(|word| ["--", "--stdin", "--grace", "--held"].contains(&word.as_str()))
}

/// A process is gate: a program with gate's name, or the one that runs here, whose file is
/// `own_program`. A script in front of gate is not.
fn is_gate(pid: i32, own_program: Option<FileId>) -> bool {
    let Some(program) = process::program(pid) else { return false };
    program.file_name().is_some_and(|name| name == GATE)
        || (own_program.is_some() && own_program == program_file(pid))
}

/// A file, whatever its name.
type FileId = (u64, u64);

/// The file that a process runs.
fn program_file(pid: i32) -> Option<FileId> {
    let link = process::program_link(pid);
    gate_platform::identity_at(&link, &link.metadata().ok()?).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Vec<String> {
        text.split(' ').map(str::to_owned).collect()
    }

    #[test]
    fn a_supervisor_is_known_by_its_order() {
        for text in
            ["/usr/bin/gate supervise -- cargo test", "runner supervise --stdin a.json -- x"]
        {
            assert!(is_supervisor(&words(text)), "{text}");
        }
        for text in
            ["gate supervise", "gate check -- x", "sh supervise x", "gate", "vim supervise --help"]
        {
            assert!(!is_supervisor(&words(text)), "{text}");
        }
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn a_test_runner_is_no_gate() {
        let parent = rustix::process::getppid().unwrap();
        let pid = std::process::id() as i32;
        let own_program = program_file(pid);
        assert!(!is_gate(parent.as_raw_pid(), own_program));
        assert!(is_gate(pid, own_program), "this very program");
    }
}
