//! What loops and their runs are called.
//!
//! A loop is named by the caller, else by its task and work tree. Runs of one
//! loop follow each other: the first has the loop's name, the later ones a
//! number behind it, as in `nightly#2`.

use std::path::Path;

use crate::failure::Failure;

/// What stands between a loop's name and a run's number.
const MARK: char = '#';

/// A short name of a work tree's folder.
pub(super) fn of_tree(folder: &Path) -> String {
    blake3::hash(folder.as_os_str().as_encoded_bytes()).to_hex()[..8].to_owned()
}

/// A loop's name.
pub(super) fn of_loop(
    named: Option<&str>,
    task: Option<&str>,
    tree: &str,
) -> Result<String, Failure> {
    match named {
        Some(name) if name.contains(MARK) || name.trim().is_empty() => {
            let message = format!("--run {name}: a run's name is not empty and has no `{MARK}`");
            Err(Failure::usage("usage", message))
        }
        Some(name) => Ok(name.to_owned()),
        None => Ok(format!("{}-{tree}", task.unwrap_or("run"))),
    }
}

/// What the names of loops begin with that are known by a prompt.
const PROMPT: &str = "prompt-";

/// The name of a loop that a headless client is: whoever starts it again in this
/// work tree with the same prompt goes on with it. `prompt` is the prompt's digest.
pub(super) fn of_prompt(prompt: &str, tree: &str) -> String {
    let digest: String = prompt.rsplit(':').next().unwrap_or(prompt).chars().take(12).collect();
    format!("{PROMPT}{digest}-{tree}")
}

/// Whether a loop is known by a prompt.
pub(super) fn is_of_prompt(name: &str) -> bool {
    name.starts_with(PROMPT)
}

/// The run after this one.
pub(crate) fn next_run(name: &str, last: Option<&str>) -> String {
    let Some(last) = last else { return name.to_owned() };
    let number = last.rsplit_once(MARK).and_then(|(_, number)| number.parse().ok());
    format!("{name}{MARK}{}", number.unwrap_or(1_u64).saturating_add(1))
}

/// The run before this one, of those of one loop; none before the first.
pub(crate) fn run_before(run: &str) -> Option<String> {
    let (name, number) = run.rsplit_once(MARK)?;
    match number.parse().ok()? {
        0..=2_u64 => Some(name.to_owned()),
        number => Some(format!("{name}{MARK}{}", number - 1)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_of_a_loop_are_numbered() {
        assert_eq!(next_run("nightly", None), "nightly");
        assert_eq!(next_run("nightly", Some("nightly")), "nightly#2");
        assert_eq!(next_run("nightly", Some("nightly#9")), "nightly#10");
        assert_eq!(run_before("nightly#10").as_deref(), Some("nightly#9"));
        assert_eq!(run_before("nightly#2").as_deref(), Some("nightly"));
        assert_eq!(run_before("nightly"), None);
    }

    #[test]
    fn a_loop_is_named_by_the_caller_or_by_its_task_and_tree() {
        assert_eq!(of_loop(Some("nightly"), Some("7"), "ab"), Ok("nightly".to_owned()));
        assert_eq!(of_loop(None, Some("7"), "ab"), Ok("7-ab".to_owned()));
        assert_eq!(of_loop(None, None, "ab"), Ok("run-ab".to_owned()));
        assert_eq!(of_loop(Some("a#2"), None, "ab").unwrap_err().exit_code, 2);
    }
}
