//! Compares claims with what gate itself has seen.

use super::command::{script, words};
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
    /// The digest of the work tree that it was seen of; none if it is not known.
    pub tree: Option<String>,
}

impl Seen {
    fn is(&self, words: &[String]) -> bool {
        self.argvs.iter().any(|argv| {
            argv == words
                || script(argv).and_then(super::words).is_some_and(|script| script == words)
        })
    }

    fn is_of<E>(&self, is_it: impl FnMut(&str) -> Result<bool, E>) -> Result<bool, E> {
        self.tree.as_deref().map_or(Ok(false), is_it)
    }
}

/// The claims of a handoff that contradict the runs in `seen`, which has the newest first: a
/// claimed pass of a command that gate never ran or last saw otherwise, and a claimed failure of
/// one that last passed.
///
/// Commands are the same if their words are, as a shell reads them. A pass counts for the work tree
/// that it was seen of, and for no other: `is_here` returns true for the digest of the work tree as
/// it stands. A failure that gate did not see is no contradiction.
///
/// # Errors
///
/// Those of `is_here`.
pub fn unheld<E>(
    handoff: &Handoff,
    seen: &[Seen],
    mut is_here: impl FnMut(&str) -> Result<bool, E>,
) -> Result<Vec<Problem>, E> {
    let mut wrong = Vec::new();
    for (at, claim) in handoff.verification.iter().enumerate() {
        let found = match &claim.result {
            Outcome::Pass => unseen_pass(newest(claim, seen), &mut is_here)?,
            Outcome::Fail => unseen_failure(newest(claim, seen), &mut is_here)?,
            Outcome::Unsaid(_) => None,
        };
        let command = text::brief(&claim.command, SHOWN_COMMAND);
        let problem = found.map(|message| {
            Problem::rule(2, format!("verification[{at}]"), format!("{message}: `{command}`"))
        });
        wrong.extend(problem);
    }
    Ok(few(wrong))
}

/// Why a pass that is claimed does not hold.
fn unseen_pass<E>(
    seen: Option<&Seen>,
    is_here: impl FnMut(&str) -> Result<bool, E>,
) -> Result<Option<String>, E> {
    let Some(seen) = seen else {
        return Ok(Some("PASS is claimed, and gate has no record of this command".to_owned()));
    };
    let record = &seen.record;
    Ok(match seen.passed {
        Some(false) => Some(format!("PASS is claimed, and gate saw it fail ({record})")),
        None => Some(format!("PASS is claimed, and gate could not find that out ({record})")),
        Some(true) if seen.is_of(is_here)? => None,
        Some(true) => Some(format!(
            "PASS is claimed, and gate saw that of another tree ({record}): files were changed \
             since, so let gate check again"
        )),
    })
}

/// Why a failure that is claimed does not hold.
fn unseen_failure<E>(
    seen: Option<&Seen>,
    is_here: impl FnMut(&str) -> Result<bool, E>,
) -> Result<Option<String>, E> {
    let Some(seen) = seen.filter(|seen| seen.passed == Some(true)) else { return Ok(None) };
    Ok(seen
        .is_of(is_here)?
        .then(|| format!("FAIL is claimed, and gate saw it pass ({})", seen.record)))
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
