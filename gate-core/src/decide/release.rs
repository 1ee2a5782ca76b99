//! Stops that a hook lets go without a verdict that ends the work.
//!
//! An unattended loop needs certainty before it ends. A person who is there needs the
//! truth quickly. So a stop is ruled by what it comes after: it is *decided* as a
//! loop's iteration is, its checks are *looked at*, or it is *released* as it stands.
//!
//! | | interactive | headless |
//! | --- | --- | --- |
//! | COMPLETE | looked at | decided |
//! | CONTINUE | released | decided |
//! | BLOCKED | decided | decided |
//! | no signal, work changed | looked at | looked at |
//! | no signal, nothing changed | released, or looked at if it owes | the same |
//! | asks the person something | released | as without the question |
//!
//! Where `exit` is asked of an interactive session too (a task, `gate on --session`,
//! `hook.signal = "require"`), a changed tree is decided in both columns.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::decision::Decision;
use super::evidence::{Evidence, Outcome, worst_of};
use super::input::Input;
use super::policy::{Mode, Policy};
use super::reason::{Reason, ReasonCode};
use super::signal::Status;
use super::stop::Refusals;

/// How often one failure refuses in a row in an interactive session.
const SAME_FAILURE: u32 = 2;

/// How many failing tests a message names.
const NAMED: usize = 3;

/// What was seen at a stop that was let go without `exit`, `tripped` or `blocked`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Released {
    /// Every required check that runs in a hook passed.
    Green,
    /// A required check failed.
    Red,
    /// Checks did not run, or did not end in time.
    NotRun,
}

/// What a stop comes after.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Situation {
    /// Whether nobody sits in front of the client (`-p`, `exec`, an SDK).
    pub headless: bool,
    /// Whether an interactive turn needs an `exit` as well.
    pub needs_exit: bool,
    /// What the agent changed since the person's prompt.
    pub work: Work,
    /// The judgement that the session owes for earlier changes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub owed: Option<Owed>,
    /// Whether the agent waits for the person's answer.
    pub asks: bool,
    /// Whether every turn is looked at (`hook.judge = "always"`).
    pub always: bool,
    /// Required checks that do not run in hooks (`when`).
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub elsewhere: Vec<String>,
    /// Whose the failures are, one entry a failing check.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub failures: Vec<Failure>,
}

/// What changed since the person's prompt.
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
    /// What was red when it was last looked at.
    pub red: Vec<String>,
}

/// Whose the failures of one check are. Each list holds names of tests, or the
/// check's own name where it reports none.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Failure {
    /// The check.
    pub check: String,
    /// Those that the session answers for.
    pub own: Vec<String>,
    /// Those that failed before the session changed anything.
    pub before: Vec<String>,
    /// Those that pass without another session's files.
    pub others: Vec<String>,
}

/// How a stop is ruled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Course {
    /// As an iteration of a loop.
    Decide,
    /// By its checks alone: red ones refuse.
    Look,
    /// It is let go; nothing runs.
    Release,
}

impl Situation {
    /// How a stop with this signal is ruled.
    pub fn course(&self, signal: Status) -> Course {
        let idle = self.work != Work::Changed && self.owed.is_none() && !self.always;
        match signal {
            Status::Blocked => Course::Decide,
            Status::Complete | Status::Continue | Status::Invalid if self.headless => {
                Course::Decide
            }
            _ if self.asks && !self.headless => Course::Release,
            _ if idle => Course::Release,
            _ if self.needs_exit => Course::Decide,
            Status::Continue => Course::Release,
            Status::Complete | Status::Absent | Status::Invalid => Course::Look,
        }
    }

    fn of_check(&self, check: &str) -> Option<&Failure> {
        self.failures.iter().find(|failure| failure.check == check)
    }

    /// Failures that are not the session's, in words.
    pub(super) fn not_own(&self) -> Option<String> {
        let all = |of: fn(&Failure) -> &Vec<String>| -> Vec<String> {
            self.failures.iter().flat_map(of).cloned().collect()
        };
        let (before, others) = (all(|it| &it.before), all(|it| &it.others));
        let before = (!before.is_empty()).then(|| format!("{} red before", were(&before)));
        let others = (!others.is_empty())
            .then(|| format!("{} red by another session's change", are(&others)));
        let parts: Vec<_> = before.into_iter().chain(others).collect();
        (!parts.is_empty()).then(|| parts.join("; "))
    }

    /// What earlier changes left red, in words.
    fn owed_red(&self) -> Option<String> {
        let owed = self.owed.as_ref().filter(|owed| !owed.red.is_empty())?;
        Some(format!("{} still red from your earlier change", are(&owed.red)))
    }
}

/// What a stop comes to.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Ruling {
    Release(Released, Reason),
    Refuse(Vec<Reason>),
}

/// A stop whose checks are looked at, or that is let go as it stands.
pub(super) struct Stopped<'a> {
    pub(super) input: &'a Input,
    pub(super) policy: &'a Policy,
    pub(super) situation: &'a Situation,
    pub(super) refusals: Refusals,
}

impl Stopped<'_> {
    /// Lets it go as it stands.
    pub(super) fn release(&self) -> Ruling {
        let what = if self.situation.asks {
            "the agent asks something"
        } else if self.input.signal.status == Status::Continue {
            "the agent says that work remains"
        } else if self.situation.work == Work::Prose {
            "only prose changed"
        } else {
            "nothing changed since the prompt"
        };
        released(
            Released::NotRun,
            match self.situation.owed_red() {
                Some(owed) => format!("{what}; {owed}"),
                None => what.to_owned(),
            },
        )
    }

    /// Rules by the checks. `refusing` are the reasons that a loop's iteration would
    /// get from them.
    pub(super) fn look(&self, refusing: Vec<Reason>) -> Ruling {
        if self.policy.checks.is_empty() {
            return released(Released::NotRun, "no check is configured here: `gate init`");
        }
        let tampered = |reason: &Reason| reason.code == ReasonCode::Tampered;
        if refusing.iter().any(tampered) {
            return Ruling::Refuse(refusing.into_iter().filter(tampered).collect());
        }
        let failing: Vec<_> = self.failing().collect();
        if failing.is_empty() {
            return self.without_failure();
        }
        let own: Vec<_> = failing.iter().flat_map(|failing| self.own(failing)).collect();
        if own.is_empty() {
            return self.excused(&failing);
        }
        if self.situation.work != Work::Changed && !self.situation.always {
            return released(
                Released::Red,
                format!("{} still red from your earlier change", are(&own)),
            );
        }
        if !self.situation.headless && self.is_refused_enough() {
            return released(
                Released::Red,
                format!("{} still red after {SAME_FAILURE} refusals", are(&own)),
            );
        }
        let is_failing = |reason: &Reason| {
            reason.check.as_ref().is_some_and(|check| {
                failing.iter().any(|it| it.check == *check && !self.own(it).is_empty())
            })
        };
        Ruling::Refuse(refusing.into_iter().filter(is_failing).collect())
    }

    /// A digest of what is red, by which a failure is known again.
    pub(super) fn failure(&self) -> Option<String> {
        let mut names: Vec<_> = self
            .failing()
            .flat_map(|it| self.own(it).into_iter().map(|own| format!("{}:{own}", it.check)))
            .collect();
        names.sort();
        (!names.is_empty()).then(|| crate::digest(names.join("\n").as_bytes()))
    }

    fn is_refused_enough(&self) -> bool {
        self.refusals.same >= SAME_FAILURE && self.refusals.failure == self.failure()
    }

    /// The required checks that failed and refuse a stop: all of them if the agent
    /// says that it is done, else those that run the work. What is open or not
    /// committed in the middle of a plan is no failure.
    fn failing(&self) -> impl Iterator<Item = &Evidence> {
        let claims = self.input.signal.status == Status::Complete;
        self.input.evidence.iter().filter(move |evidence| {
            evidence.outcome == Outcome::Fail
                && self.is_required(evidence)
                && (claims || runs_the_work(&evidence.check))
        })
    }

    fn is_required(&self, evidence: &Evidence) -> bool {
        let policy = self.policy.checks.get(&evidence.check);
        policy.map_or(evidence.mode, |check| check.mode) == Mode::Require
    }

    /// What of a failing check the session answers for: what nobody can be given is
    /// its own.
    fn own(&self, evidence: &Evidence) -> Vec<String> {
        match self.situation.of_check(&evidence.check) {
            Some(failure) => failure.own.clone(),
            None => failing_tests(evidence),
        }
    }

    /// Every failure is another's, or older than the session.
    fn excused(&self, failing: &[&Evidence]) -> Ruling {
        let shares = failing.iter().filter_map(|it| self.situation.of_check(&it.check));
        let before: Vec<_> = shares.flat_map(|it| &it.before).cloned().collect();
        let claims = self.input.signal.status == Status::Complete;
        if claims && !before.is_empty() && !self.refusals.named_before {
            let message = format!("{} red before you began", were(&before));
            return Ruling::Refuse(vec![Reason::new(ReasonCode::RedBefore, message)]);
        }
        released(Released::Red, self.situation.not_own().unwrap_or_default())
    }

    fn without_failure(&self) -> Ruling {
        let undecided: Vec<_> = self.undecided().collect();
        if let Some(first) = undecided.first() {
            let why = if first.summary.is_empty() { "it did not run" } else { &first.summary };
            return released(Released::NotRun, format!("{}: {why}", first.check));
        }
        let passed = self.input.evidence.iter().filter(|it| it.outcome == Outcome::Pass);
        let passed: Vec<_> = passed.map(|it| format!("{} ({})", it.check, it.summary)).collect();
        let open: Vec<_> = self.open().collect();
        let mut message = match passed.is_empty() {
            true => "no check ran".to_owned(),
            false => format!("passed: {}", passed.join(", ")),
        };
        if !open.is_empty() {
            message.push_str(&format!("; open: {}", open.join(", ")));
        }
        let kind = if passed.is_empty() { Released::NotRun } else { Released::Green };
        released(kind, message)
    }

    /// Required checks that could not be found out here.
    fn undecided(&self) -> impl Iterator<Item = &Evidence> {
        let claims = self.input.signal.status == Status::Complete;
        self.policy.checks.keys().filter_map(|name| worst_of(&self.input.evidence, name)).filter(
            move |it| {
                matches!(it.outcome, Outcome::Inconclusive | Outcome::Skipped)
                    && self.is_required(it)
                    && (claims || runs_the_work(&it.check))
            },
        )
    }

    /// Open items of plans and the like.
    fn open(&self) -> impl Iterator<Item = String> {
        let failed = self.input.evidence.iter().filter(|it| it.outcome == Outcome::Fail);
        let open = failed.filter(|it| self.is_required(it) && !runs_the_work(&it.check));
        open.map(|it| format!("{} ({})", it.check, it.summary))
    }
}

/// Rules a stop that was decided as a loop's iteration is and would go on: what cannot
/// be found out in a hook lets go. None where something else is missing too.
pub(super) fn beyond_a_hook(reasons: &[Reason], input: &Input, policy: &Policy) -> Option<Ruling> {
    use ReasonCode::{CheckNotRun, CheckRunning, RequiredCheckInconclusive, ThresholdNotReached};
    let late = |reason: &Reason| {
        matches!(reason.code, CheckNotRun | CheckRunning | RequiredCheckInconclusive)
    };
    let first = reasons.iter().find(|reason| late(reason))?;
    let only = reasons.iter().all(|reason| late(reason) || reason.code == ThresholdNotReached);
    let complete = input.signal.status == Status::Complete && !policy.checks.is_empty();
    (only && complete).then(|| released(Released::NotRun, first.message.clone()))
}

/// Rules a stop that would be `exit`, where a required check does not run in hooks.
pub(super) fn checked_elsewhere(situation: &Situation) -> Option<Ruling> {
    let elsewhere = situation.elsewhere.join(", ");
    (!elsewhere.is_empty()).then(|| {
        let message = format!("what runs in a hook passed; not run here: {elsewhere}");
        released(Released::Green, message)
    })
}

fn released(kind: Released, message: impl Into<String>) -> Ruling {
    Ruling::Release(kind, Reason::new(ReasonCode::Released, message))
}

/// Whether a check runs what was written. The others look at plans, at git and at
/// settings.
pub fn runs_the_work(check: &str) -> bool {
    let looks = ["acceptance_criteria", "clean_git", "handoff", "review", "integrity", "noticed"];
    !looks.contains(&check)
}

/// The failing tests that a check reports; else its own name.
pub fn failing_tests(evidence: &Evidence) -> Vec<String> {
    let detail = evidence.detail.as_ref();
    let named = detail.and_then(|it| it.pointer("/tests/failed_tests")?.as_array());
    let names = named.into_iter().flatten().filter_map(|it| it.as_str().map(str::to_owned));
    let names: Vec<_> = names.collect();
    if names.is_empty() { vec![evidence.check.clone()] } else { names }
}

fn are(names: &[String]) -> String {
    format!("{} {}", named(names), if names.len() == 1 { "is" } else { "are" })
}

fn were(names: &[String]) -> String {
    format!("{} {}", named(names), if names.len() == 1 { "was" } else { "were" })
}

/// Failing tests in a message: how many, and the first of them by name.
fn named(names: &[String]) -> String {
    let first = names.iter().take(NAMED).map(String::as_str).collect::<Vec<_>>().join(", ");
    match names.len() {
        1 => first,
        many if many <= NAMED => format!("{many} tests ({first})"),
        many => format!("{many} tests ({first}, …)"),
    }
}

/// When a person is told of a release.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Notice {
    /// Never: nothing is worth a message.
    Silent,
    /// Each time.
    Always,
    /// The first time in a session.
    OncePerSession,
    /// The first time in a project.
    OncePerProject,
}

impl Decision {
    /// When the person is told of this release.
    pub fn notice(&self) -> Notice {
        let Some(situation) = self.situation() else { return Notice::Silent };
        let ran = !self.evidence.is_empty();
        match self.released {
            None => Notice::Silent,
            Some(Released::Red) => Notice::Always,
            Some(Released::Green) if situation.headless => Notice::Silent,
            Some(Released::Green) => Notice::Always,
            Some(Released::NotRun) if ran => Notice::OncePerSession,
            Some(Released::NotRun) if situation.owed_red().is_some() => Notice::Always,
            Some(Released::NotRun) => match situation.course(self.signal.status) {
                Course::Release => Notice::Silent,
                Course::Look | Course::Decide => Notice::OncePerProject,
            },
        }
    }

    /// What the stop came after; none where no hook asked.
    pub fn situation(&self) -> Option<&Situation> {
        self.observed.stop.as_ref()?.situation.as_ref()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at_rest(headless: bool) -> Situation {
        Situation { headless, ..Situation::default() }
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
