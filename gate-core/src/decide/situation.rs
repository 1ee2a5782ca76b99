//! The circumstances of an agent's stop, and the course that a ruling on it takes.
//!
//! An unattended loop needs certainty before it ends. A person who is there needs the
//! truth quickly. So the course depends on what the stop comes after: the stop is
//! *decided* as a loop's iteration is, its checks are *looked at*, or it is *released*
//! as it stands.
//!
//! | | a person, or unknown | nobody |
//! | --- | --- | --- |
//! | COMPLETE | looked at | decided |
//! | CONTINUE | released | decided |
//! | BLOCKED | decided | decided |
//! | no signal, work changed | looked at | looked at |
//! | no signal, nothing changed | released, or looked at if it owes | the same |
//! | asks the person something | released | as without the question |
//! | waits for a helper, no COMPLETE | released as waiting | the same |
//!
//! If `exit` is asked of a person's session too (a task, `gate on --session`,
//! `hook.signal = "require"`), a changed tree is decided in both columns.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::signal::Status;

/// The number of failing tests that a message names.
const MAX_NAMED_TESTS: usize = 3;

/// The result of a stop that was let go without `exit`, `tripped` or `blocked`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Released {
    /// Every required check that runs in a hook passed.
    Green,
    /// A required check failed.
    Red,
    /// Checks did not run, or did not end in time.
    NotRun,
    /// The agent waits for a helper or a wake-up, which starts it again.
    Waiting,
}

/// The presence of somebody in front of an agent's client, who can answer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "Option<bool>", into = "Option<bool>")]
pub enum Presence {
    /// A person.
    Person,
    /// Nobody: a program started it (`-p`, `exec`, an SDK), or another agent.
    Nobody,
    /// gate cannot find out. Such a stop is judged as a person's.
    #[default]
    Unknown,
}

impl From<Option<bool>> for Presence {
    fn from(headless: Option<bool>) -> Self {
        match headless {
            Some(true) => Self::Nobody,
            Some(false) => Self::Person,
            None => Self::Unknown,
        }
    }
}

impl From<Presence> for Option<bool> {
    fn from(presence: Presence) -> Self {
        match presence {
            Presence::Nobody => Some(true),
            Presence::Person => Some(false),
            Presence::Unknown => None,
        }
    }
}

/// Changed files of one kind that a message names.
const MAX_NEWS: usize = 5;

/// The circumstances of a stop.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Situation {
    /// Nobody sits in front of the client (`-p`, `exec`, an SDK); null if gate cannot
    /// find out.
    #[serde(rename = "headless")]
    #[schemars(with = "Option<bool>")]
    pub presence: Presence,
    /// A person's turn needs an `exit` as well.
    pub needs_exit: bool,
    /// The agent's changes since the person's prompt.
    pub work: Work,
    /// The judgement that the session owes for earlier changes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub owed: Option<Owed>,
    /// The agent waits for the person's answer.
    pub asks: bool,
    /// Helpers and wake-ups that the agent waits for.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub waits: Vec<String>,
    /// Every turn is looked at (`hook.judge = "always"`).
    pub always: bool,
    /// A goal with a command holds, so that a turn that changed something is looked at even if the
    /// agent says that work remains.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub has_goal: bool,
    /// Required checks that do not run in hooks (`when`).
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub elsewhere: Vec<String>,
    /// The owners of the failures, one entry a failing check.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub failures: Vec<FailureShares>,
    /// Tests of the tree of the prompt that were edited or removed since, and files that they rest
    /// on, with the lines: `tests/test_cart.py (+1 -2)`, `tests/test_old.py (gone)`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub changed_tests: Vec<String>,
    /// The same for settings of test runners, CI, git hooks and agents.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub changed_settings: Vec<String>,
}

/// The kind of change since the person's prompt.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Work {
    /// Nothing, or the agent did not act.
    #[default]
    None,
    /// Prose that no check names.
    Prose,
    /// Files that checks may be about.
    Changed,
}

/// Earlier changes of a session that were not found green.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Owed {
    /// The tests and checks that failed last time.
    pub red: Vec<String>,
}

/// The failures of one check by owner. Each list holds names of tests, or the check's own
/// name if the check reports no tests.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
#[schemars(rename = "Failure")]
pub struct FailureShares {
    /// The check.
    pub check: String,
    /// Those that the session answers for.
    pub own: Vec<String>,
    /// Those of its own passed on the tree of the prompt, and failed twice now.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub newly_red: bool,
    /// Those that failed on the tree of the prompt.
    pub before: Vec<String>,
    /// Those that pass without files that others changed.
    pub others: Vec<String>,
    /// Those that passed when they ran again.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub flaky: Vec<String>,
    /// Those of which it is not known if they failed before.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub unknown: Vec<String>,
    /// The reason why that is not known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub problem: Option<String>,
}

impl FailureShares {
    /// A failure in a message: a test, or the check as a whole.
    fn failure_name(&self, name: &str) -> String {
        if name == self.check { format!("the check {name}") } else { name.to_owned() }
    }
}

/// The course of a ruling on a stop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Course {
    /// As an iteration of a loop.
    Decide,
    /// By its checks alone: red ones refuse.
    Look,
    /// It is let go; nothing runs.
    Release,
    /// It is a pause, and let go; nothing runs.
    Wait,
}

impl Situation {
    /// The course of a ruling on a stop with this signal.
    pub fn course(&self, signal: Status) -> Course {
        let is_idle = self.work != Work::Changed && self.owed.is_none() && !self.always;
        match signal {
            Status::Blocked => Course::Decide,
            _ if signal != Status::Complete && !self.waits.is_empty() => Course::Wait,
            Status::Complete | Status::Continue | Status::Invalid if self.is_unattended() => {
                Course::Decide
            }
            _ if self.asks && !self.is_unattended() => Course::Release,
            _ if is_idle => Course::Release,
            _ if self.needs_exit => Course::Decide,
            Status::Continue if !self.has_goal => Course::Release,
            Status::Complete | Status::Absent | Status::Invalid | Status::Continue => Course::Look,
        }
    }

    /// Nobody sits in front of the client.
    pub fn is_unattended(&self) -> bool {
        self.presence == Presence::Nobody
    }

    pub(super) fn shares_of(&self, check: &str) -> Option<&FailureShares> {
        self.failures.iter().find(|failure| failure.check == check)
    }

    /// Failures that are not the session's, in words.
    pub(super) fn failures_of_others(&self) -> Option<String> {
        let names_in = |share: fn(&FailureShares) -> &Vec<String>| {
            let checks = self.failures.iter();
            checks
                .flat_map(|check| share(check).iter().map(|name| check.failure_name(name)))
                .collect::<Vec<_>>()
        };
        let old = names_in(|check| &check.before);
        let foreign = names_in(|check| &check.others);
        let flaky = names_in(|check| &check.flaky);
        let unknown = names_in(|check| &check.unknown);
        let mut parts = Vec::new();
        if !old.is_empty() {
            parts.push(format!("{} red before the last prompt", were(&old)));
        }
        if !foreign.is_empty() {
            parts.push(format!("{} red by a change that is not this session's", are(&foreign)));
        }
        if !flaky.is_empty() {
            parts.push(format!("{} flaky: failed, and passed when run again", are(&flaky)));
        }
        if !unknown.is_empty() {
            let problem = self.failures.iter().find_map(|check| check.problem.as_deref());
            let problem = problem.map(|problem| format!(" ({problem})")).unwrap_or_default();
            parts.push(format!("{} red; if before, too, is not known{problem}", are(&unknown)));
        }
        (!parts.is_empty()).then(|| parts.join("; "))
    }

    /// All failures are of flaky tests.
    pub(super) fn is_only_flaky(&self) -> bool {
        self.failures.iter().all(|check| {
            [&check.own, &check.before, &check.others, &check.unknown]
                .iter()
                .all(|names| names.is_empty())
        })
    }

    /// The news of changed tests and settings, in words.
    pub(super) fn news(&self) -> Option<String> {
        let lists = [("tests", &self.changed_tests), ("settings", &self.changed_settings)];
        let changed = lists.iter().filter(|(_, files)| !files.is_empty());
        let parts: Vec<_> = changed
            .map(|(kind, files)| {
                let named = files.iter().take(MAX_NEWS).cloned().collect::<Vec<_>>().join(", ");
                match files.len().saturating_sub(MAX_NEWS) {
                    0 => format!("changed {kind}: {named}"),
                    unnamed => format!("changed {kind}: {named}, and {unnamed} more"),
                }
            })
            .collect();
        (!parts.is_empty()).then(|| parts.join("; "))
    }

    /// A sentence about the failures that earlier changes left.
    pub(super) fn owed_red(&self) -> Option<String> {
        let owed = self.owed.as_ref().filter(|owed| !owed.red.is_empty())?;
        Some(format!("{} still red from your earlier change", are(&owed.red)))
    }
}

pub(super) fn are(names: &[String]) -> String {
    format!("{} {}", number_and_names(names), if names.len() == 1 { "is" } else { "are" })
}

pub(super) fn were(names: &[String]) -> String {
    format!("{} {}", number_and_names(names), if names.len() == 1 { "was" } else { "were" })
}

/// Failing tests in a message: their number, and the first of them by name.
fn number_and_names(names: &[String]) -> String {
    let are_tests = !names.iter().any(|name| name.starts_with("the check "));
    let kind = if are_tests { "tests" } else { "failures" };
    let first_names =
        names.iter().take(MAX_NAMED_TESTS).map(String::as_str).collect::<Vec<_>>().join(", ");
    match names.len() {
        1 => first_names,
        count if count <= MAX_NAMED_TESTS => format!("{count} {kind} ({first_names})"),
        count => format!("{count} {kind} ({first_names}, …)"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at_rest(headless: bool) -> Situation {
        Situation { presence: Some(headless).into(), ..Situation::default() }
    }

    fn working(headless: bool) -> Situation {
        Situation { work: Work::Changed, ..at_rest(headless) }
    }

    #[test]
    fn nothing_runs_where_nothing_changed() {
        for headless in [false, true] {
            assert_eq!(at_rest(headless).course(Status::Absent), Course::Release);
            let prose = Situation { work: Work::Prose, ..at_rest(headless) };
            assert_eq!(prose.course(Status::Absent), Course::Release);
        }
        assert_eq!(at_rest(false).course(Status::Complete), Course::Release);
        assert_eq!(at_rest(true).course(Status::Complete), Course::Decide);
    }

    #[test]
    fn a_change_is_looked_at_and_only_a_headless_claim_is_decided() {
        assert_eq!(working(false).course(Status::Absent), Course::Look);
        assert_eq!(working(true).course(Status::Absent), Course::Look);
        assert_eq!(working(false).course(Status::Complete), Course::Look);
        assert_eq!(working(true).course(Status::Complete), Course::Decide);
        let strict = Situation { needs_exit: true, ..working(false) };
        assert_eq!(strict.course(Status::Complete), Course::Decide);
        assert_eq!(strict.course(Status::Absent), Course::Decide);
    }

    #[test]
    fn a_question_frees_only_an_agent_that_somebody_answers() {
        let asking = |headless| Situation { asks: true, ..working(headless) };
        assert_eq!(asking(false).course(Status::Absent), Course::Release);
        assert_eq!(asking(true).course(Status::Absent), Course::Look);
    }

    #[test]
    fn a_session_that_owes_is_looked_at_without_a_new_change() {
        let owing = Situation { owed: Some(Owed::default()), ..at_rest(false) };
        assert_eq!(owing.course(Status::Absent), Course::Look);
    }

    #[test]
    fn going_on_is_respected_and_keeps_a_headless_agent_going() {
        assert_eq!(working(false).course(Status::Continue), Course::Release);
        assert_eq!(working(true).course(Status::Continue), Course::Decide);
    }
}
