//! The criteria of the settings beside the goals.

use gate_checks::Checks;
use gate_core::decide::checks::CRITERIA;
use gate_core::decide::evidence::Outcome;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::failure::Failure;
use crate::gate::Gate;
use crate::render::brief;
use crate::render::page::{Mark, Page};
use crate::request::Request;
use crate::source::Source;
use crate::trust::NOT_TRUSTED;

/// The most lines of a criterion's failure that the card shows.
const MAX_FAILURE_LINES: usize = 6;

/// The criteria of the settings, after their commands ran.
#[derive(Debug, Default)]
pub(super) struct CriteriaResults {
    pub(super) list: Vec<CriterionRecord>,
    /// The reason why they are not known, if no criterion is to blame for it.
    problem: Option<String>,
}

/// One criterion.
#[derive(Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub(crate) struct CriterionRecord {
    /// Its name in the settings.
    #[serde(default)]
    pub(crate) id: Option<String>,
    /// Its own words.
    pub(crate) text: String,
    /// `met`, `not-met`, `claimed` (ticked, and without a command), `open`, or `unknown`.
    pub(crate) state: String,
    /// Its file; null if the settings have it.
    #[serde(default)]
    pub(crate) file: Option<String>,
    /// Its line, from 1.
    #[serde(default)]
    pub(crate) line: Option<u64>,
    /// Its command.
    #[serde(default)]
    pub(crate) verify: Option<String>,
    /// The result of the command: the failing assertion in one line, else the exit code.
    #[serde(default)]
    pub(crate) why: Option<String>,
    /// The failing assertion with its values, else the end of the command's output.
    #[serde(default)]
    pub(crate) failure: Option<String>,
}

impl CriteriaResults {
    /// Runs the commands of the criteria of a task, without one of all. Nothing is recorded.
    ///
    /// # Errors
    ///
    /// As of [`Gate::check`].
    pub(super) fn new(gate: &Gate, task: Option<&str>) -> Result<Self, Failure> {
        if !gate.policy().checks.contains_key(CRITERIA) {
            return Ok(Self::default());
        }
        let mut request = Request::default();
        request.asker.task = task.map(str::to_owned);
        request.asker.dry_run = true;
        request.checking.checks = Checks::Only(CRITERIA.to_owned());
        let decision = match gate.check_with(&Source::Message(String::new()), &request) {
            // Goals run whatever became of the settings.
            Err(failure) if failure.code == NOT_TRUSTED => {
                return Ok(Self { problem: Some(failure.message), ..Self::default() });
            }
            record => record?.decision,
        };
        let mut records = decision.input.evidence.into_iter();
        let Some(evidence) = records.find(|evidence| evidence.check == CRITERIA) else {
            let message = "the check of the criteria left no record";
            return Err(Failure::internal("criteria-unreadable", message));
        };
        let passes = evidence.outcome == Outcome::Pass;
        let list = evidence.detail.and_then(|mut detail| Some(detail.get_mut("criteria")?.take()));
        let list: Option<Vec<CriterionRecord>> =
            list.map(serde_json::from_value).transpose().map_err(|error| {
                Failure::internal("criteria-unreadable", format!("the check's detail: {error}"))
            })?;
        let list = list.unwrap_or_default();
        let has_open = list.iter().any(|one| !matches!(one.state.as_str(), "met" | "claimed"));
        let problem = (!passes && !has_open).then_some(evidence.summary);
        Ok(Self { list, problem })
    }

    /// The criteria; `None` if they are not known.
    pub(super) fn into_list(self) -> Option<Vec<CriterionRecord>> {
        self.problem.is_none().then_some(self.list)
    }

    /// A row for each criterion.
    pub(super) fn add_rows(&self, page: &mut Page) {
        for criterion in &self.list {
            let (mark, state) = match criterion.state.as_str() {
                "met" => (Mark::Good, "met"),
                "claimed" => (Mark::Unsure, "claimed"),
                "unknown" => (Mark::Unsure, "not known"),
                "open" => (Mark::Bad, "open"),
                _ => (Mark::Bad, "not met"),
            };
            page.marked(mark, state, &criterion.line());
            let failure =
                criterion.failure.as_ref().filter(|text| criterion.why.as_ref() != Some(text));
            let lines = failure.iter().flat_map(|failure| failure.lines());
            lines.take(MAX_FAILURE_LINES).for_each(|line| page.quote(&brief(line)));
        }
        if let Some(problem) = &self.problem {
            page.marked(Mark::Unsure, "criteria", problem);
        }
    }

    /// `1 of 3 criteria met`; `None` if there are none.
    pub(super) fn tally(&self) -> Option<String> {
        let met = self.list.iter().filter(|criterion| criterion.state == "met").count();
        (!self.list.is_empty()).then(|| format!("{met} of {} criteria met", self.list.len()))
    }
}

impl CriterionRecord {
    /// The criterion in its own words, its place, and the command that decided.
    fn line(&self) -> String {
        let place = match (&self.file, self.line) {
            (Some(file), Some(line)) => format!(" ({file}:{line})"),
            _ => String::new(),
        };
        let command = match (&self.verify, &self.why) {
            (Some(command), Some(result)) => format!("; `{command}`: {result}"),
            _ => String::new(),
        };
        format!("{}{place}{command}", self.text)
    }
}
