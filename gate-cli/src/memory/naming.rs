//! The names of loops and runs.
//!
//! The caller names a loop; otherwise its task and work tree do. The first run of a loop
//! has the loop's name. Later runs have a number after it, as in `nightly#2`.

use std::path::Path;

use crate::failure::Failure;

/// Separates a loop's name from a run's number.
const MARK: char = '#';

/// A name for a work tree's folder, such as `lusab-babad`.
pub(super) fn tree_name(folder: &Path) -> String {
    sayable(&blake3::hash(folder.as_os_str().as_encoded_bytes()).to_hex()[..8])
}

/// A loop: the decisions that count together, and that are compared with one baseline until an
/// `exit`. If its agent is started again, the loop goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LoopId<'a> {
    /// By the caller's name: `--run`, or an agent's session.
    Named(&'a str),
    /// By its task in this work tree.
    Task(&'a str),
    /// By the prompt of a headless client or of `gate run` in this work tree: its digest.
    Prompt(&'a str),
    /// The work tree's only one: nothing else is known.
    Tree,
}

impl<'a> LoopId<'a> {
    /// The loop that a caller names, else that of its task, else the work tree's.
    pub(crate) fn new(named: Option<&'a str>, task: Option<&'a str>) -> Self {
        let task = task.map_or(Self::Tree, Self::Task);
        named.map_or(task, Self::Named)
    }

    /// The loop's name. `tree` is the work tree's name.
    ///
    /// Fails on a name that a run cannot have.
    pub(super) fn name(self, tree: &str) -> Result<String, Failure> {
        match self {
            Self::Named(name) if name.contains(MARK) || name.trim().is_empty() => {
                let message =
                    format!("--run {name}: a run's name is not empty and has no `{MARK}`");
                Err(Failure::usage("usage", message))
            }
            Self::Named(name) => Ok(name.to_owned()),
            Self::Task(task) => Ok(format!("{task}-{tree}")),
            Self::Prompt(digest) => {
                // A digest begins with the name of its algorithm.
                let hex = digest.rsplit(':').next().unwrap_or(digest);
                let first_digits: String = hex.chars().take(8).collect();
                Ok(format!("{PROMPT_PREFIX}{}-{tree}", sayable(&first_digits)))
            }
            Self::Tree => Ok(format!("run-{tree}")),
        }
    }
}

/// Hexadecimal digits as syllables, five letters for four digits, so that people can say
/// and remember them. Other text stays as it is.
///
/// Source: D. S. Wilkerson, "A Proposal for Proquints", arXiv:0901.4016.
fn sayable(hex: &str) -> String {
    match u32::from_str_radix(hex, 16) {
        Ok(number) => format!("{}-{}", quint(number >> 16), quint(number & 0xffff)),
        Err(_) => hex.to_owned(),
    }
}

/// The syllables of 16 bits: four for each consonant, two for each vowel.
fn quint(word: u32) -> String {
    const CONSONANTS: &[u8; 16] = b"bdfghjklmnprstvz";
    const VOWELS: &[u8; 4] = b"aiou";
    let letters = [
        CONSONANTS[(word >> 12 & 15) as usize],
        VOWELS[(word >> 10 & 3) as usize],
        CONSONANTS[(word >> 6 & 15) as usize],
        VOWELS[(word >> 4 & 3) as usize],
        CONSONANTS[(word & 15) as usize],
    ];
    letters.into_iter().map(char::from).collect()
}

const PROMPT_PREFIX: &str = "prompt-";

pub(super) fn is_prompt_loop(name: &str) -> bool {
    name.starts_with(PROMPT_PREFIX)
}

/// The name of the run after the last one; the loop's own name for the first.
pub(crate) fn next_run(loop_name: &str, last_run: Option<&str>) -> String {
    let Some(last_run) = last_run else { return loop_name.to_owned() };
    let number = last_run.rsplit_once(MARK).and_then(|(_, number)| number.parse().ok());
    format!("{loop_name}{MARK}{}", number.unwrap_or(1_u64).saturating_add(1))
}

/// The name of the same loop's run before this one; `None` for the first.
pub(crate) fn run_before(run: &str) -> Option<String> {
    let (name, number) = run.rsplit_once(MARK)?;
    match number.parse().ok()? {
        // The first run has no number.
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
    fn names_can_be_said() {
        assert_eq!(sayable("7f000001"), "lusab-babad");
        assert_eq!(sayable("3f54dcc1"), "gutih-tugad");
        assert_eq!(sayable("words"), "words");
    }

    #[test]
    fn a_loop_is_named_by_the_caller_or_by_its_task_and_tree() {
        let name = |named, task| LoopId::new(named, task).name("ab");
        assert_eq!(name(Some("nightly"), Some("7")), Ok("nightly".to_owned()));
        assert_eq!(name(None, Some("7")), Ok("7-ab".to_owned()));
        assert_eq!(name(None, None), Ok("run-ab".to_owned()));
        assert_eq!(name(Some("a#2"), None).unwrap_err().exit_code, 2);
        let prompt = LoopId::Prompt("blake3:7f000001").name("ab");
        assert_eq!(prompt, Ok("prompt-lusab-babad-ab".to_owned()));
    }
}
