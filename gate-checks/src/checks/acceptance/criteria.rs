//! Criteria, from settings and files, with their states, and the verdict on them.

use gate_core::decide::evidence::{Evidence, Outcome};
use gate_core::decide::policy::Criterion as Configured;
use gate_core::text::{brief, whole_lines};
use serde_json::{Value, json};

use super::plan::{Verify, shown};
use crate::check::CheckId;
use crate::checks::launch::MAX_EXCERPT_CHARS;

/// The most criteria that a summary names.
const MAX_NAMED: usize = 5;

/// The most criteria that the detail lists.
const MAX_DETAILED: usize = 50;

/// The most criteria whose failures an excerpt holds.
const MAX_EXPLAINED: usize = 3;

/// The end of a summary that names other marks than `[x]`.
const DONE_MARKS: &str =
    " (done is [x], and a mark that `checks.acceptance_criteria.done_marks` names)";

/// A criterion of the settings or of a file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(in crate::checks) struct Criterion {
    /// The criterion's name in the settings.
    pub(super) id: Option<String>,
    pub(super) text: String,
    /// `None` for a criterion of the settings.
    pub(super) place: Option<Place>,
    /// The box is ticked, or the criterion stands in the settings, which have no boxes.
    pub(super) done: bool,
    /// The box, if the mark in that is neither done nor blank.
    pub(super) mark: Option<String>,
    /// Below a heading whose items do not block.
    pub(super) optional: bool,
    pub(in crate::checks) verify: Option<Verify>,
    /// The result of the command, after it has run.
    pub(in crate::checks) result: Option<CommandResult>,
    /// The scripts that the command runs and the work changed, from the root of the tree.
    pub(in crate::checks) edited_scripts: Vec<String>,
}

/// The place of a criterion in a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Place {
    pub(super) file: String,
    /// From 1.
    pub(super) line: usize,
}

/// The result of a criterion's command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::checks) struct CommandResult {
    pub(in crate::checks) outcome: Outcome,
    /// The reason for the outcome, in a few words.
    pub(in crate::checks) reason: String,
    /// The failing assertion in the output, else its end, if the command failed.
    pub(in crate::checks) excerpt: Option<String>,
}

/// The state of a criterion.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// The command exits with 0.
    Met,
    /// The command exits with another code.
    NotMet,
    /// The box is ticked, and there is no command.
    Claimed,
    /// The box is not ticked, and there is no command.
    Open,
    /// The command could not be run to an end.
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

/// The criteria of the settings and of all files.
#[derive(Debug, Default)]
pub(in crate::checks) struct Criteria {
    pub(in crate::checks) list: Vec<Criterion>,
    /// The detail of each file.
    pub(super) files: Vec<Value>,
    /// Errors that leave criteria unknown.
    pub(super) problems: Vec<String>,
}

impl From<&Configured> for Criterion {
    fn from(configured: &Configured) -> Self {
        let verify = (!configured.verify.is_empty()).then(|| Verify::from_argv(&configured.verify));
        Self {
            id: Some(configured.id.clone()),
            text: configured.text.clone(),
            done: true,
            verify,
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

    /// The criterion's text, else its place.
    pub(super) fn name(&self) -> String {
        match &self.place {
            Some(place) if self.text.is_empty() => format!("{}:{}", shown(&place.file), place.line),
            _ => shown(&self.text),
        }
    }

    /// The name, with the command or the mark for which the criterion is not met.
    pub(super) fn refusal(&self) -> String {
        match (&self.result, &self.verify) {
            (Some(result), Some(verify)) => {
                let ticked = if self.place.is_some() && self.done { "ticked, but " } else { "" };
                let command = shown(&verify.line());
                format!("{} ({ticked}`{command}`: {})", self.name(), result.reason)
            }
            _ => match &self.mark {
                Some(mark) => format!("{} {}", shown(mark), self.name()).trim_end().to_owned(),
                None => self.name(),
            },
        }
    }

    fn detail(&self) -> Value {
        let mut detail = json!({ "text": shown(&self.text), "state": self.state().name() });
        if let Some(id) = &self.id {
            detail["id"] = json!(id);
        }
        if let Some(place) = &self.place {
            detail["file"] = json!(shown(&place.file));
            detail["line"] = json!(place.line);
        }
        if let Some(verify) = &self.verify {
            detail["verify"] = json!(shown(&verify.line()));
        }
        if !self.edited_scripts.is_empty() {
            detail["edited"] = json!(self.edited_scripts);
        }
        if let Some(result) = &self.result {
            detail["why"] = json!(result.reason);
            if let Some(excerpt) = &result.excerpt {
                detail["failure"] = json!(excerpt);
            }
        }
        detail
    }
}

impl Criteria {
    /// The criteria of the settings alone.
    pub(in crate::checks) fn configured(criteria: &[Configured]) -> Self {
        Self { list: criteria.iter().map(Criterion::from).collect(), ..Self::default() }
    }

    /// The record of the check, a claim if it rests on the agent's word, in part or as a whole. A
    /// criterion that is open or not met is certain, even if a file could not be read. That all are
    /// done is certain only if every file could be read, and every command be run.
    pub(in crate::checks) fn verdict(&self, check: &CheckId) -> Evidence {
        let with_state = |state: State| -> Vec<&Criterion> {
            self.counting().filter(|criterion| criterion.state() == state).collect()
        };
        let (met, claimed) = (with_state(State::Met), with_state(State::Claimed));
        let unknown = with_state(State::Unknown);
        let refused: Vec<_> = self
            .counting()
            .filter(|criterion| matches!(criterion.state(), State::NotMet | State::Open))
            .collect();
        let total = self.counting().count();
        let has_results = self.counting().any(|criterion| criterion.result.is_some());
        let (outcome, summary) = if !refused.is_empty() {
            let state = if has_results { "not met" } else { "open" };
            let names = listed(&refused, Criterion::refusal);
            let summary = format!("{} of {}: {names}", refused.len(), criteria_are(total, state));
            let has_other_mark = refused
                .iter()
                .any(|criterion| criterion.state() == State::Open && criterion.mark.is_some());
            (Outcome::Fail, if has_other_mark { summary + DONE_MARKS } else { summary })
        } else if let Some(problem) = self.problems.first() {
            (Outcome::Inconclusive, problem.clone())
        } else if !unknown.is_empty() {
            let names = listed(&unknown, Criterion::refusal);
            (Outcome::Inconclusive, format!("it is not known if these are met: {names}"))
        } else if total == 0 {
            (Outcome::Inconclusive, "no criteria were found that count".to_owned())
        } else if !has_results {
            (Outcome::Pass, format!("{} as done", criteria_are(total, "marked")))
        } else if claimed.is_empty() {
            (Outcome::Pass, criteria_are(met.len(), "met"))
        } else {
            let names = listed(&claimed, Criterion::name);
            let met = format!("{} of {total} criteria are met", met.len());
            (Outcome::Pass, format!("{met}; {} only claimed: {names}", claimed.len()))
        };
        let mut evidence = check.record(outcome, summary).with_detail(self.detail());
        evidence.claim = outcome == Outcome::Pass && !claimed.is_empty();
        evidence.excerpt = excerpt(&refused);
        evidence
    }

    /// The criteria that block.
    fn counting(&self) -> impl Iterator<Item = &Criterion> {
        self.list.iter().filter(|criterion| !criterion.optional)
    }

    fn detail(&self) -> Value {
        let open = self
            .counting()
            .filter(|criterion| criterion.state() == State::Open)
            .take(MAX_DETAILED)
            .filter_map(|criterion| {
                let Place { file, line } = criterion.place.as_ref()?;
                Some(json!({ "file": shown(file), "line": line, "text": shown(&criterion.text) }))
            });
        let mut detail = json!({ "files": self.files, "open": open.collect::<Vec<_>>() });
        detail["criteria"] = self.counting().take(MAX_DETAILED).map(Criterion::detail).collect();
        if !self.problems.is_empty() {
            detail["problems"] = json!(self.problems);
        }
        detail
    }
}

/// Why the commands failed: of several criteria the first ones, each below its name.
fn excerpt(refused: &[&Criterion]) -> Option<String> {
    let explained: Vec<_> = refused
        .iter()
        .filter_map(|criterion| {
            Some((criterion.name(), criterion.result.as_ref()?.excerpt.as_ref()?))
        })
        .take(MAX_EXPLAINED)
        .collect();
    match explained.as_slice() {
        [] => None,
        [(_, excerpt)] => Some((*excerpt).clone()),
        several => {
            let room = MAX_EXCERPT_CHARS / several.len();
            let blocks = several.iter().map(|(name, excerpt)| {
                let name = brief(name, room / 3);
                let excerpt = whole_lines(excerpt, room.saturating_sub(name.chars().count() + 3));
                format!("{name}:\n{excerpt}")
            });
            Some(blocks.collect::<Vec<_>>().join("\n"))
        }
    }
}

/// The beginning of a sentence on so many criteria of this state.
fn criteria_are(count: usize, state: &str) -> String {
    match (count, state) {
        (1, "marked" | "met") => format!("the only criterion is {state}"),
        (_, "marked" | "met") => format!("all {count} criteria are {state}"),
        (1, _) => format!("1 criterion is {state}"),
        _ => format!("{count} criteria are {state}"),
    }
}

fn listed(criteria: &[&Criterion], name: fn(&Criterion) -> String) -> String {
    let mut names: Vec<_> =
        criteria.iter().take(MAX_NAMED).map(|criterion| name(criterion)).collect();
    if criteria.len() > MAX_NAMED {
        names.push(format!("and {} more", criteria.len() - MAX_NAMED));
    }
    names.join("; ")
}
