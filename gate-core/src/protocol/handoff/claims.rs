//! Claims held against what gate itself has seen.

use super::command::{script, words};
use super::model::{Handoff, Outcome, Verification};
use super::placeholder::is_empty;
use super::problem::{Problem, few};

/// A command that gate ran, and what came of it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Seen {
    /// The command, by each spelling of its words that means it: as the settings
    /// have it, and with the options that gate added.
    pub argvs: Vec<Vec<String>>,
    /// Whether it passed; none where that could not be found out.
    pub passed: Option<bool>,
    /// Which record says so, in words.
    pub record: String,
}

impl Seen {
    /// Whether a command of these words is this one.
    fn is(&self, words: &[String]) -> bool {
        let typed = |argv: &Vec<String>| {
            argv == words
                || script(argv).and_then(super::words).is_some_and(|script| script == words)
        };
        self.argvs.iter().any(typed)
    }
}

/// The claims of a handoff that do not hold against what was seen, the newest
/// first: a command that is said to have passed, which gate never ran or last saw
/// otherwise, and one that is said to have failed and last passed.
///
/// Commands are the same where their words are, as a shell reads them. That gate
/// did not see a failure says nothing against it.
pub fn unheld(handoff: &Handoff, seen: &[Seen]) -> Vec<Problem> {
    let claims = handoff.verification.iter().enumerate();
    let wrong = claims.filter_map(|(at, claim)| {
        let message = match (&claim.result, newest(claim, seen)) {
            (Outcome::Pass, None) => {
                "PASS is claimed, and gate has no record of this command".to_owned()
            }
            (Outcome::Pass, Some(Seen { passed: Some(false), record, .. })) => {
                format!("PASS is claimed, and gate saw it fail ({record})")
            }
            (Outcome::Pass, Some(Seen { passed: None, record, .. })) => {
                format!("PASS is claimed, and gate could not find that out ({record})")
            }
            (Outcome::Fail, Some(Seen { passed: Some(true), record, .. })) => {
                format!("FAIL is claimed, and gate saw it pass ({record})")
            }
            _ => return None,
        };
        Some(Problem::rule(2, format!("verification[{at}]"), message))
    });
    few(wrong.collect())
}

/// Whether each claimed command is among those that were seen: older records change
/// nothing then.
pub fn all_seen(handoff: &Handoff, seen: &[Seen]) -> bool {
    handoff.verification.iter().all(|claim| newest(claim, seen).is_some())
}

/// What was seen last of the command that is claimed.
fn newest<'s>(claim: &Verification, seen: &'s [Seen]) -> Option<&'s Seen> {
    let words = words(&claim.command).filter(|words| !words.is_empty())?;
    seen.iter().find(|seen| seen.is(&words))
}

/// The claims about changed files that cannot be true: a file that is not there, and
/// never was.
///
/// # Errors
///
/// Those of whoever is asked for a file.
pub fn unknown_files<E>(
    handoff: &Handoff,
    mut is_known: impl FnMut(&str) -> Result<bool, E>,
) -> Result<Vec<Problem>, E> {
    let mut unknown = Vec::new();
    for (at, file) in handoff.changed_files.iter().enumerate() {
        let name = file.trim().trim_matches('`');
        if !is_empty(file) && !is_known(name)? {
            let message = "there is no such file in the work tree, and none was ever committed";
            unknown.push(Problem::of(format!("changed_files[{at}]"), message));
        }
    }
    Ok(few(unknown))
}
