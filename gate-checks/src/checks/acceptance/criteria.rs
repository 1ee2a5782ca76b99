//! Criteria, from settings and files, and what became of them.

use gate_core::decide::evidence::{Evidence, Outcome};
use gate_core::decide::policy::Criterion as Configured;
use serde_json::{Value, json};

use super::plan::{Verify, shown};
use crate::check::CheckId;

/// The most criteria that a summary names, and that the detail has.
const MAX_NAMED: usize = 5;
const MAX_DETAILED: usize = 50;

/// The end of a summary that names other marks than `[x]`.
const DONE_MARKS: &str =
    " (done is [x], and a mark that `checks.acceptance_criteria.done_marks` names)";

/// One criterion.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(in crate::checks) struct Criterion {
    /// Its name in the settings.
    pub(super) id: Option<String>,
    pub(super) text: String,
    /// Its file and line, if a file has it.
    pub(super) place: Option<(String, usize)>,
    /// Its box is ticked, or it stands in the settings, which have no boxes.
    pub(super) done: bool,
    /// Its box, if the mark in that is neither done nor blank.
    pub(super) mark: Option<String>,
    /// Below a heading whose items do not block.
    pub(super) optional: bool,
    pub(in crate::checks) verify: Option<Verify>,
    /// The result of its command.
    pub(in crate::checks) result: Option<CommandResult>,
}

/// The result of a criterion's command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::checks) struct CommandResult {
    pub(in crate::checks) outcome: Outcome,
    /// Why, in a few words.
    pub(in crate::checks) why: String,
    /// The end of what it printed, if it failed.
    pub(in crate::checks) excerpt: Option<String>,
}

/// The state of a criterion.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// Its command exits with 0.
    Met,
    /// Its command exits otherwise.
    NotMet,
    /// It is ticked, and has no command.
    Claimed,
    /// It is not ticked, and has no command.
    Open,
    /// Its command could not be run to an end.
    Unknown,
}

impl State {
    fn name(self) -> &'static str {
        match self {
            Self::Met => "met",
            Self::NotMet => "not-met",
            Self::Claimed => "claimed",
            Self::Open => "open",
            Self::Unknown => "unknown",
        }
    }
}

/// All criteria.
#[derive(Debug, Default)]
pub(in crate::checks) struct Criteria {
    pub(in crate::checks) all: Vec<Criterion>,
    /// The detail of each file.
    pub(super) files: Vec<Value>,
    /// Why something could not be found out.
    pub(super) problems: Vec<String>,
}

impl From<&Configured> for Criterion {
    fn from(configured: &Configured) -> Self {
        let verify = (!configured.verify.is_empty()).then(|| configured.verify.clone());
        Self {
            id: Some(configured.id.clone()),
            text: configured.text.clone(),
            done: true,
            verify: verify.map(Verify::Argv),
            ..Self::default()
        }
    }
}

impl Criterion {
    fn state(&self) -> State {
        match self.result.as_ref().map(|result| result.outcome) {
            Some(Outcome::Pass) => State::Met,
            Some(Outcome::Fail) => State::NotMet,
            Some(_) => State::Unknown,
            None if self.done => State::Claimed,
            None => State::Open,
        }
    }

    /// Its words, else its place.
    fn named(&self) -> String {
        match (&self.place, self.text.is_empty()) {
            (Some((file, line)), true) => format!("{}:{line}", shown(file)),
            _ => shown(&self.text),
        }
    }

    /// Why it is not met, in its own words.
    fn refused(&self) -> String {
        match (&self.result, &self.verify) {
            (Some(result), Some(verify)) => {
                let ticked = if self.place.is_some() && self.done { "ticked, but " } else { "" };
                format!("{} ({ticked}`{}`: {})", self.named(), shown(&verify.line()), result.why)
            }
            _ => match &self.mark {
                Some(mark) => format!("{} {}", shown(mark), self.named()).trim_end().to_owned(),
                None => self.named(),
            },
        }
    }

    fn detail(&self) -> Value {
        let mut detail = json!({ "text": shown(&self.text), "state": self.state().name() });
        if let Some(id) = &self.id {
            detail["id"] = json!(id);
        }
        if let Some((file, line)) = &self.place {
            detail["file"] = json!(shown(file));
            detail["line"] = json!(line);
        }
        if let Some(verify) = &self.verify {
            detail["verify"] = json!(shown(&verify.line()));
        }
        if let Some(result) = &self.result {
            detail["why"] = json!(result.why);
        }
        detail
    }
}

impl Criteria {
    /// The criteria of the settings alone.
    pub(in crate::checks) fn configured(all: &[Configured]) -> Self {
        Self { all: all.iter().map(Criterion::from).collect(), ..Self::default() }
    }

    /// The verdict, a claim if it rests on the agent's word, in part or as a whole. What is open or not met is certain, even if a file could not be read. That
    /// all is done is certain only if every file could be read, and every command be run.
    pub(in crate::checks) fn verdict(&self, check: &CheckId) -> Evidence {
        let counting: Vec<_> = self.all.iter().filter(|one| !one.optional).collect();
        let of = |states: &[State]| -> Vec<&Criterion> {
            counting.iter().copied().filter(|one| states.contains(&one.state())).collect()
        };
        let (refused, unknown) = (of(&[State::NotMet, State::Open]), of(&[State::Unknown]));
        let (met, claimed) = (of(&[State::Met]), of(&[State::Claimed]));
        let verified = counting.iter().any(|one| one.result.is_some());
        let (outcome, summary) = if !refused.is_empty() {
            let state = if verified { "not met" } else { "open" };
            let names = names(&refused, Criterion::refused);
            let summary = format!("{} of {}: {names}", refused.len(), are(counting.len(), state));
            let is_marked =
                refused.iter().any(|one| one.state() == State::Open && one.mark.is_some());
            (Outcome::Fail, if is_marked { summary + DONE_MARKS } else { summary })
        } else if let Some(problem) = self.problems.first() {
            (Outcome::Inconclusive, problem.clone())
        } else if !unknown.is_empty() {
            let names = names(&unknown, Criterion::refused);
            (Outcome::Inconclusive, format!("it is not known if these are met: {names}"))
        } else if counting.is_empty() {
            (Outcome::Inconclusive, "no criteria were found that count".to_owned())
        } else if !verified {
            (Outcome::Pass, format!("{} as done", are(counting.len(), "marked")))
        } else if claimed.is_empty() {
            (Outcome::Pass, are(met.len(), "met"))
        } else {
            let names = names(&claimed, Criterion::named);
            let met = format!("{} of {} criteria are met", met.len(), counting.len());
            (Outcome::Pass, format!("{met}; {} only claimed: {names}", claimed.len()))
        };
        let mut evidence = check.record(outcome, summary).with_detail(self.detail());
        evidence.claim = outcome == Outcome::Pass && !claimed.is_empty();
        evidence.excerpt = refused.iter().find_map(|one| one.result.as_ref()?.excerpt.clone());
        evidence
    }

    fn detail(&self) -> Value {
        let open = self.all.iter().filter(|one| !one.optional && one.state() == State::Open);
        let open = open.take(MAX_DETAILED).filter_map(|one| {
            let (file, line) = one.place.as_ref()?;
            Some(json!({ "file": shown(file), "line": line, "text": shown(&one.text) }))
        });
        let mut detail = json!({ "files": self.files, "open": open.collect::<Vec<_>>() });
        let all = self.all.iter().filter(|one| !one.optional).take(MAX_DETAILED);
        detail["criteria"] = all.map(Criterion::detail).collect();
        if !self.problems.is_empty() {
            detail["problems"] = json!(self.problems);
        }
        detail
    }
}

fn are(all: usize, state: &str) -> String {
    match (all, state) {
        (1, "marked" | "met") => format!("the only criterion is {state}"),
        (_, "marked" | "met") => format!("all {all} criteria are {state}"),
        (1, _) => format!("1 criterion is {state}"),
        _ => format!("{all} criteria are {state}"),
    }
}

fn names(criteria: &[&Criterion], named: fn(&Criterion) -> String) -> String {
    let mut names: Vec<_> = criteria.iter().take(MAX_NAMED).map(|one| named(one)).collect();
    if criteria.len() > MAX_NAMED {
        names.push(format!("and {} more", criteria.len() - MAX_NAMED));
    }
    names.join("; ")
}
