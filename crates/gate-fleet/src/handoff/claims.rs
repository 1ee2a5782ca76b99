//! Compares claims with what gate itself has seen.

use super::model::{Handoff, Outcome, Verification};
use super::placeholder::{answers_nothing, is_empty};
use super::problem::{Problem, few};
use gate_core::text;

/// The most of a command that a problem names, in characters.
const SHOWN_COMMAND: usize = 200;

/// A command that gate ran, and what came of it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Seen {
    /// The command, by each spelling of its words that means it: as the settings
    /// have it, and with the options that gate added.
    pub argvs: Vec<Vec<String>>,
    /// True if it passed; none if that could not be found out.
    pub passed: Option<bool>,
    /// The record that shows this, in words.
    pub record: String,
    /// True if it was seen of the work tree as it stands.
    pub is_of_this_tree: bool,
}

impl Seen {
    fn is(&self, words: &[String]) -> bool {
        self.argvs.iter().any(|argv| {
            argv == words
                || script(argv).and_then(super::words).is_some_and(|script| script == words)
        })
    }
}

/// The claims of a handoff that contradict the runs in `seen`, which has the newest first: a
/// claimed pass of a command that gate never ran or last saw otherwise, and a claimed failure of
/// one that last passed.
///
/// Commands are the same if their words are, as a shell reads them. A pass counts for the work tree
/// that it was seen of, and for no other. A failure that gate did not see is no contradiction.
pub fn unheld(handoff: &Handoff, seen: &[Seen]) -> Vec<Problem> {
    let claims = handoff.verification.iter().enumerate();
    let wrong = claims.filter_map(|(at, claim)| {
        let message = contradiction(claim, newest(claim, seen))?;
        let command = text::brief(&claim.command, SHOWN_COMMAND);
        Some(Problem::rule(2, format!("verification[{at}]"), format!("{message}: `{command}`")))
    });
    few(wrong.collect())
}

/// Why a claim does not hold beside what was seen of its command.
fn contradiction(claim: &Verification, seen: Option<&Seen>) -> Option<String> {
    let Some(Seen { passed, record, is_of_this_tree, .. }) = seen else {
        let message = "PASS is claimed, and gate has no record of this command";
        return if claim.result == Outcome::Pass { Some(message.to_owned()) } else { None };
    };
    match (&claim.result, passed) {
        (Outcome::Pass, Some(false)) => {
            Some(format!("PASS is claimed, and gate saw it fail ({record})"))
        }
        (Outcome::Pass, None) => {
            Some(format!("PASS is claimed, and gate could not find that out ({record})"))
        }
        (Outcome::Pass, Some(true)) if !is_of_this_tree => Some(format!(
            "PASS is claimed, and gate saw that of another tree ({record}): files were changed \
             since, so let gate check again"
        )),
        (Outcome::Fail, Some(true)) if *is_of_this_tree => {
            Some(format!("FAIL is claimed, and gate saw it pass ({record})"))
        }
        _ => None,
    }
}

/// True if each claimed command is among those that were seen: older records change
/// nothing then.
pub fn all_seen(handoff: &Handoff, seen: &[Seen]) -> bool {
    handoff.verification.iter().all(|claim| newest(claim, seen).is_some())
}

/// The newest sighting of the claimed command.
fn newest<'s>(claim: &Verification, seen: &'s [Seen]) -> Option<&'s Seen> {
    let words = words(&claim.command).filter(|words| !words.is_empty())?;
    seen.iter().find(|seen| seen.is(&words))
}

/// The claims about changed files that cannot be true: a file that is not there, and
/// never was.
///
/// # Errors
///
/// Those of `is_known`.
pub fn unknown_files<E>(
    handoff: &Handoff,
    mut is_known: impl FnMut(&str) -> Result<bool, E>,
) -> Result<Vec<Problem>, E> {
    let mut unknown = Vec::new();
    for (at, file) in handoff.changed_files.iter().enumerate() {
        let name = file.trim().trim_matches('`');
        if !is_empty(file) && !answers_nothing(file) && !is_known(name)? {
            let message = "there is no such file in the work tree, and none was ever committed";
            unknown.push(Problem::new(format!("changed_files[{at}]"), message));
        }
    }
    Ok(few(unknown))
}

/// The words of a command line, by the rules of a POSIX shell; none if a quote is open. Operators
/// such as `&&` are words like any other.
pub fn words(command: &str) -> Option<Vec<String>> {
    shlex::split(command)
}

/// A command as it would be typed: its words, quoted where they have to be. The
/// script of a shell stands for itself.
pub fn line(argv: &[String]) -> String {
    if let Some(script) = script(argv) {
        return script.to_owned();
    }
    // A word with a NUL cannot be typed; it is shown as it is.
    shlex::try_join(argv.iter().map(String::as_str)).unwrap_or_else(|_| argv.join(" "))
}

/// The script that a shell is called with.
fn script(argv: &[String]) -> Option<&str> {
    let [shell, flags @ .., script] = argv else { return None };
    let shell = shell.rsplit('/').next().unwrap_or(shell);
    let is_shell = matches!(shell, "sh" | "bash" | "dash" | "zsh");
    let runs = flags.last().is_some_and(|flag| flag.starts_with('-') && flag.ends_with('c'));
    (is_shell && runs).then_some(script)
}
