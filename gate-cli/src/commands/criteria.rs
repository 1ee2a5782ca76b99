//! `gate criteria`: which criteria are met, by their own commands.

use clap::Args;
use gate_checks::Checks;
use gate_core::decide::checks::CRITERIA;
use gate_core::decide::evidence::{Evidence, Outcome};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::arguments::SettingsArgs;
use super::common::DONE;
use crate::failure::Failure;
use crate::gate::Gate;
use crate::invocation::Invocation;
use crate::render::page::{Mark, Page};
use crate::render::{self, brief, print};
use crate::request::Request;
use crate::source::Source;
use crate::trust;

pub(crate) const CODES: &str = "\
Exit codes:
  0    every criterion is met, or claimed and without a command
  1    a criterion is open, not met, or not known
  2    usage or configuration error
  5    internal error";

/// The most lines of a criterion's failure that the card shows.
const MAX_FAILURE_LINES: usize = 6;

/// Exit code if a criterion is not met.
const NOT_MET: u8 = 1;

#[derive(Debug, Args)]
pub(crate) struct CriteriaArgs {
    /// Look at the criteria of this task alone.
    #[arg(long, value_name = "ID")]
    pub(crate) task: Option<String>,
    #[command(flatten)]
    pub(crate) settings: SettingsArgs,
    /// Print one JSON object.
    #[arg(long)]
    pub(crate) json: bool,
}

/// `gate.criteria.v1`: the criteria, and what became of each. Fields are added, never
/// changed.
#[derive(Debug, PartialEq, Serialize, JsonSchema)]
pub(crate) struct CriteriaRecord {
    /// Always `gate.criteria.v1`.
    pub(crate) schema: &'static str,
    /// Every criterion is met, or claimed and without a command.
    pub(crate) ok: bool,
    /// The result in one line.
    pub(crate) summary: String,
    /// Each criterion, in the order of the settings and files.
    pub(crate) criteria: Vec<CriterionRecord>,
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

pub(super) fn run(invocation: &Invocation, args: &CriteriaArgs) -> Result<u8, Failure> {
    let (settings, trust) =
        trust::settings_in_force(&invocation.places, &args.settings.selection())?;
    if !settings.policy.checks.contains_key(CRITERIA) {
        let failure = Failure::usage("no-criteria", "the settings name no criteria");
        return Err(failure.hint(
            "write [[criteria]], or files = [\"TASKS.md\"] in [checks.acceptance_criteria]",
        ));
    }
    let gate = Gate::open(settings, invocation.site()?)?;
    let memory = invocation.memory_under(&trust, gate.policy())?;
    let gate = gate.remembering(memory).trusting(trust)?;
    let mut request = Request::default();
    request.asker.task.clone_from(&args.task);
    request.asker.dry_run = true;
    request.checking.checks = Checks::Only(CRITERIA.to_owned());
    let decision = gate.check_with(&Source::Message(String::new()), &request)?.decision;
    let evidence = decision.input.evidence.into_iter().find(|evidence| evidence.check == CRITERIA);
    let Some(evidence) = evidence else {
        let message = "the check of the criteria left no record";
        return Err(Failure::internal("criteria-unreadable", message));
    };
    let record = CriteriaRecord::new(evidence)?;
    if args.json { print(&render::json(&record)?) } else { print(&card(&record)) }?;
    Ok(if record.ok { DONE } else { NOT_MET })
}

impl CriteriaRecord {
    fn new(evidence: Evidence) -> Result<Self, Failure> {
        let ok = evidence.outcome == Outcome::Pass;
        let list = evidence.detail.and_then(|mut detail| Some(detail.get_mut("criteria")?.take()));
        let criteria =
            serde_json::from_value(list.unwrap_or(Value::Array(Vec::new()))).map_err(|error| {
                Failure::internal("criteria-unreadable", format!("the check's detail: {error}"))
            })?;
        Ok(Self { schema: "gate.criteria.v1", ok, summary: evidence.summary, criteria })
    }
}

fn card(record: &CriteriaRecord) -> String {
    let mut page = Page::new();
    let mark = if record.ok { Mark::Good } else { Mark::Bad };
    let met = record.criteria.iter().filter(|criterion| criterion.state == "met").count();
    let sentence = match record.criteria.len() {
        0 => record.summary.clone(),
        count => format!("{met} of {count} met"),
    };
    page.head(mark, "CRITERIA", &sentence);
    for criterion in &record.criteria {
        let (mark, state) = match criterion.state.as_str() {
            "met" => (Mark::Good, "met"),
            "claimed" => (Mark::Unsure, "claimed"),
            "unknown" => (Mark::Unsure, "not known"),
            "open" => (Mark::Bad, "open"),
            _ => (Mark::Bad, "not met"),
        };
        page.marked(mark, state, &criterion_line(criterion));
        let failure =
            criterion.failure.as_ref().filter(|text| criterion.why.as_ref() != Some(text));
        let lines = failure.iter().flat_map(|failure| failure.lines());
        lines.take(MAX_FAILURE_LINES).for_each(|line| page.quote(&brief(line)));
    }
    // If no criterion is to blame, only the check's summary says why it does not pass.
    let has_open = record
        .criteria
        .iter()
        .any(|criterion| !matches!(criterion.state.as_str(), "met" | "claimed"));
    if !record.ok && !has_open {
        page.row("", &record.summary);
    }
    page.into_text()
}

/// The criterion in its own words, its place, and the command that decided.
fn criterion_line(criterion: &CriterionRecord) -> String {
    let place = match (&criterion.file, criterion.line) {
        (Some(file), Some(line)) => format!(" ({file}:{line})"),
        _ => String::new(),
    };
    let command = match (&criterion.verify, &criterion.why) {
        (Some(command), Some(result)) => format!("; `{command}`: {result}"),
        _ => String::new(),
    };
    format!("{}{place}{command}", criterion.text)
}
