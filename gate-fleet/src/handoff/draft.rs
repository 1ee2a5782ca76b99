//! A handoff that is drafted from what is known.

use super::command;
use super::model::{Blocker, Handoff, Outcome, Risk, Verification};

/// Placeholder for an unknown text: it does not validate.
const LATER: &str = "...";

/// Facts about the work that a draft starts from.
#[derive(Clone, Copy, Debug, Default)]
pub struct Known<'k> {
    /// Its target.
    pub objective: Option<&'k str>,
    /// The files that were changed.
    pub changed_files: &'k [String],
    /// The commands that were run.
    pub ran: &'k [Ran],
    /// Why it is not done.
    pub open: &'k [String],
}

/// A command that was run, and what came of it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Ran {
    /// The command's words.
    pub argv: Vec<String>,
    /// True if it passed.
    pub passed: bool,
    /// A short note; empty if there is none.
    pub note: String,
}

/// Drafts a handoff. Nothing is invented: what is not known is `...`, so that the
/// draft does not validate before somebody has finished it.
pub fn draft(known: &Known<'_>) -> Handoff {
    let ran = known.ran.iter().map(Ran::verification).collect();
    let open = known.open.iter().map(|why| risk(why)).collect();
    let files = known.changed_files.to_vec();
    Handoff {
        objective: known.objective.unwrap_or(LATER).to_owned(),
        in_scope: vec![LATER.to_owned()],
        out_of_scope: vec![LATER.to_owned()],
        changed_files: or(files, LATER.to_owned()),
        verification: or(ran, placeholder()),
        open_risks: or(open, risk(LATER)),
        next_actions: vec![LATER.to_owned()],
        assumptions: vec![LATER.to_owned()],
        a2a: None,
    }
}

impl Ran {
    fn verification(&self) -> Verification {
        let blocker = Blocker { severity: LATER.to_owned(), rollback: LATER.to_owned() };
        Verification {
            command: command::line(&self.argv),
            result: if self.passed { Outcome::Pass } else { Outcome::Fail },
            notes: Some(self.note.trim().to_owned()).filter(|note| !note.is_empty()),
            blocker: if self.passed { None } else { Some(blocker) },
        }
    }
}

fn risk(what: &str) -> Risk {
    Risk { risk: what.to_owned(), impact: LATER.to_owned(), owner: LATER.to_owned() }
}

fn placeholder() -> Verification {
    let result = Outcome::Unsaid("PASS|FAIL".to_owned());
    Verification { command: LATER.to_owned(), result, ..Verification::default() }
}

fn or<T>(known: Vec<T>, otherwise: T) -> Vec<T> {
    if known.is_empty() { vec![otherwise] } else { known }
}
