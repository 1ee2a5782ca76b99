//! `gate explain`: a decision with all that led to it, or what a code means.

pub(super) mod card;

mod codes;
mod markdown;

use gate_core::Decision;
use gate_core::decide::reason::{ReasonCode, WarningCode, explain};
use gate_core::integrity::rules;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

use super::common::DONE;
use crate::commands::arguments::{Suggested, codes};
use crate::failure::{Failure, error_page, error_pages};
use crate::invocation::Invocation;
use crate::memory::{RecordSelector, ReplayedDecision};
use crate::record::Record;
use crate::render::{self, print};
use crate::secrets;
use crate::settings::{self, Selection};
use clap::Args;

pub(crate) const CODES: &str = "\
Exit codes: 0, or 1 if the decision, made again from its record, is another one";

#[derive(Debug, Args)]
pub(crate) struct Explain {
    /// A decision's id or its beginning, a record's number (`#12` or `12`), or
    /// a code such as `signal-absent`; the latest decision here if not given.
    #[arg(value_name = "DECISION|#N|CODE", value_parser = Suggested(codes), hide_possible_values = true)]
    pub(crate) name: Option<String>,
    /// List all codes instead.
    #[arg(long, conflicts_with_all = ["name", "json", "md"])]
    pub(crate) codes: bool,
    /// Print Markdown for a pull request: what was claimed, what ran, on which tree.
    #[arg(long, conflicts_with = "json")]
    pub(crate) md: bool,
    /// Print one JSON object.
    #[arg(long)]
    pub(crate) json: bool,
}

/// Exit code of a decision that comes out otherwise when it is decided again.
const DIFFERS: u8 = 1;

/// `gate.explain.v1`: a decision with all that it rests on.
#[non_exhaustive]
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct ExplainRecord {
    /// Always `gate.explain.v1`.
    pub schema: &'static str,
    /// The decision, with its inputs.
    pub decision: Record,
    /// The policy that it was decided under; null if it was not stored.
    pub policy: Option<Value>,
    /// The decision, decided again from its record; null without its policy, and if it rests on
    /// a rule that this version does not have.
    pub again: Option<Decision>,
    /// Both are the same.
    pub same: Option<bool>,
}

impl ExplainRecord {
    fn new(replayed: ReplayedDecision) -> Self {
        let same = replayed.is_same();
        let ReplayedDecision { record, policy, again } = replayed;
        let policy = policy.and_then(|policy| serde_json::to_value(policy).ok());
        Self { schema: "gate.explain.v1", decision: record, policy, again, same }
    }
}

pub(super) fn run(invocation: &Invocation, args: &Explain) -> Result<u8, Failure> {
    if args.codes {
        print(&all_codes())?;
        return Ok(DONE);
    }
    if let Some(page) = args.name.as_deref().and_then(code_page) {
        if args.json || args.md {
            let option = if args.json { "--json" } else { "--md" };
            let message = format!("{option} prints a decision; the page of a code is text");
            let hint = format!("leave `{option}` out, or name a decision (`gate log` lists them)");
            return Err(Failure::usage("usage", message).hint(hint));
        }
        print(&page)?;
        return Ok(DONE);
    }
    let policy = settings::resolve(&invocation.places, &Selection::default())?.policy;
    let mut memory = invocation.memory(&policy)?;
    let record = match &args.name {
        Some(name) => memory.decision(name)?.ok_or_else(|| unknown_name(name))?,
        None => memory.latest(&RecordSelector::default())?.ok_or_else(no_decision)?,
    };
    let replayed = memory.replay(record)?;
    let differs = replayed.is_same() == Some(false);
    let text = match (args.json, args.md) {
        (true, _) => render::json(&ExplainRecord::new(replayed))?,
        (false, true) => markdown::document(&replayed.record),
        (false, false) => card::explained(&replayed),
    };
    // The policy is kept as it was written, so it may contain secrets.
    print(&secrets::masked(&text))?;
    Ok(if differs { DIFFERS } else { DONE })
}

/// The page of a code, or of a rule of `integrity`.
fn code_page(code: &str) -> Option<String> {
    match explain(code).or_else(|| error_page(code)) {
        Some(explanation) => Some(codes::code_page(code, explanation)),
        None => rules().find(|rule| rule.id == code).map(codes::rule_page),
    }
}

fn no_decision() -> Failure {
    Failure::internal("no-decision", "gate has decided nothing here yet")
        .hint("`gate explain --codes` lists what the codes of decisions mean")
}

fn unknown_name(name: &str) -> Failure {
    let message = format!("no decision, record or code is called `{name}`");
    let lists = "`gate log` lists the decisions, `gate explain --codes` all codes";
    let hint = match nearest_code(name) {
        Some(code) => format!("did you mean `{code}`? {lists}"),
        None => lists.to_owned(),
    };
    Failure::usage("unknown-decision", message).hint(hint)
}

fn all_codes() -> String {
    let reasons = ReasonCode::ALL.iter().map(|code| (code.code(), code.explanation()));
    let warnings = WarningCode::ALL.iter().map(|code| (code.code(), code.explanation()));
    let groups = [
        ("Reasons", reasons.collect::<Vec<_>>()),
        ("Warnings", warnings.collect()),
        ("Errors", error_pages().collect()),
    ];
    codes::code_list(&groups)
}

/// The code that is most like this name.
fn nearest_code(name: &str) -> Option<&'static str> {
    let reasons = ReasonCode::ALL.iter().map(|code| code.code());
    let warnings = WarningCode::ALL.iter().map(|code| code.code());
    let errors = error_pages().map(|(code, _)| code);
    let rules = rules().map(|rule| rule.id);
    let codes: Vec<_> = reasons.chain(warnings).chain(errors).chain(rules).collect();
    gate_core::config::nearest_name(name, &codes)
}
