//! `gate check --plan`: the checks that would run here, and how long each took last.

use std::time::Duration;

use gate_checks::programs;
use gate_core::Policy;
use gate_core::decide::evidence::Outcome;
use gate_core::decide::policy::{CheckPolicy, Mode, When};
use gate_core::text::counted;
use schemars::JsonSchema;
use serde::Serialize;

use super::check::args::Check;
use super::common::{DONE, known_check};
use crate::failure::Failure;
use crate::gate::add_goal_check;
use crate::invocation::Invocation;
use crate::memory::{Memory, command_line};
use crate::render::{self, Mark, Page, local_time, print, span};
use crate::request::Asker;
use crate::{secrets, trust};

/// The most pages of the ledger that are read for the latest runs of checks.
const MAX_PAGES: usize = 4;

/// `gate.plan.v1`: the checks that would run here.
#[non_exhaustive]
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct PlanRecord {
    /// Always `gate.plan.v1`.
    pub schema: &'static str,
    /// The project's settings file.
    pub settings: Option<String>,
    /// Why nothing would be started: the settings are not approved.
    pub refused: Option<String>,
    /// The checks, in the order of their names; with `--only` that one.
    pub checks: Vec<PlannedCheck>,
    /// The checks that run in other places alone, such as a stop hook; none with `--only`.
    pub elsewhere: Vec<String>,
}

/// A check that would run.
#[non_exhaustive]
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct PlannedCheck {
    /// The check's name.
    pub check: String,
    /// The weight of its outcome.
    pub mode: Mode,
    /// The program and its arguments; empty if gate itself looks.
    pub argv: Vec<String>,
    /// The commands of its criteria, or of a person's goals.
    pub criteria: Vec<String>,
    /// A shell reads them.
    pub shell: bool,
    /// The working folder, if it is not the project's.
    pub cwd: Option<String>,
    /// The longest run, in milliseconds.
    pub timeout_ms: u64,
    /// The checks that must pass before it starts.
    pub needs: Vec<String>,
    /// Globs: it is skipped if no file that matches has changed since its last pass in a run.
    pub paths: Vec<String>,
    /// Its latest run in this work tree.
    pub last: Option<LastRun>,
}

/// The latest run of a check.
#[non_exhaustive]
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct LastRun {
    /// Its outcome.
    pub outcome: Outcome,
    /// Its time, in milliseconds.
    pub duration_ms: u64,
    /// The time of the decision that it was for (RFC 3339, UTC).
    pub time: String,
}

pub(super) fn run(invocation: &Invocation, args: &Check) -> Result<u8, Failure> {
    let (mut settings, trust) =
        trust::settings_as_written(&invocation.places, &args.reading.settings.selection())?;
    // A plan starts nothing, so it is shown without an approval, with what a check would answer.
    let refusal = trust.admit(&settings.policy, &invocation.site()?).err();
    if let Some(name) = &args.checks.only {
        known_check(&settings.policy.clone().at(When::Check), name)?;
    }
    let mut memory = invocation.memory(&settings.policy)?;
    let asker = Asker { task: args.task.clone(), run: args.run.clone(), ..Asker::default() };
    add_goal_check(&mut settings.policy, &memory.goals_for(&asker)?)?;
    let mut other_checks: Vec<String> = settings.policy.checks.keys().cloned().collect();
    let mut checks = planned(invocation, settings.policy, When::Check, &mut memory)?;
    other_checks.retain(|name| !checks.iter().any(|check| check.check == *name));
    if let Some(name) = &args.checks.only {
        checks.retain(|check| check.check == *name);
        other_checks.clear();
    }
    let record = PlanRecord {
        schema: "gate.plan.v1",
        settings: invocation.places.project_file()?.map(|file| file.display().to_string()),
        refused: refusal.map(|failure| match failure.hint {
            Some(hint) => format!("{}; {hint}", failure.message.trim_end_matches('.')),
            None => failure.message,
        }),
        elsewhere: other_checks,
        checks,
    };
    let text = if args.output.json { render::json(&record)? } else { card(&record) };
    print(&secrets::masked(&text))?;
    Ok(DONE)
}

/// The checks that run in a place, with the latest run of each.
pub(super) fn planned(
    invocation: &Invocation,
    policy: Policy,
    place: When,
    memory: &mut Memory,
) -> Result<Vec<PlannedCheck>, Failure> {
    let policy = policy.at(place);
    let programs = programs(&policy, &invocation.site()?);
    let planned = |(name, settings): (&String, &CheckPolicy)| {
        let program = programs.iter().find(|program| program.check == *name);
        PlannedCheck {
            check: name.clone(),
            mode: settings.mode,
            argv: program.map(|program| program.argv.clone()).unwrap_or_default(),
            criteria: criteria_commands(settings),
            shell: settings.shell,
            cwd: program.and_then(|program| program.cwd.clone()),
            timeout_ms: settings.timeout_ms,
            needs: settings.needs.clone(),
            paths: settings.paths.clone(),
            last: None,
        }
    };
    let mut checks: Vec<_> = policy.checks.iter().map(planned).collect();
    add_last_runs(&mut checks, memory)?;
    Ok(checks)
}

fn criteria_commands(settings: &CheckPolicy) -> Vec<String> {
    settings.criteria.iter().filter_map(|criterion| command_line(&criterion.verify)).collect()
}

/// Adds the latest run of each check. A result that was taken from the cache is no run.
fn add_last_runs(checks: &mut [PlannedCheck], memory: &mut Memory) -> Result<(), Failure> {
    let mut end_seq = None;
    for _ in 0..MAX_PAGES {
        let (records, next_end_seq) = memory.decisions(end_seq)?;
        for record in &records {
            for evidence in &record.decision.input.evidence {
                let has_run = !evidence.cached && evidence.outcome != Outcome::Skipped;
                let check = checks.iter_mut().find(|check| check.check == evidence.check);
                // The newest record comes first, so a later one knows nothing newer.
                if let Some(check) = check.filter(|check| check.last.is_none() && has_run) {
                    check.last = Some(LastRun {
                        outcome: evidence.outcome,
                        duration_ms: evidence.duration_ms,
                        time: record.time.clone(),
                    });
                }
            }
        }
        end_seq = next_end_seq;
        if end_seq.is_none() || checks.iter().all(|check| check.last.is_some()) {
            break;
        }
    }
    Ok(())
}

fn card(record: &PlanRecord) -> String {
    let mut page = Page::new();
    let last_runs = record.checks.iter().filter_map(|check| check.last.as_ref());
    let total_ms: u64 = last_runs.map(|last| last.duration_ms).sum();
    let count = counted(record.checks.len(), "check");
    let time = match total_ms {
        0 => String::new(),
        _ => format!("; last time they took {}", span(Duration::from_millis(total_ms))),
    };
    page.head(Mark::None, "PLAN", &format!("`gate check` would run {count} here{time}"));
    page.blank();
    if record.settings.is_none() {
        page.marked(Mark::Unsure, "settings", "no gate.toml: `gate init` writes one");
    }
    if let Some(refusal) = &record.refused {
        page.marked(Mark::Bad, "settings", refusal);
    }
    add_rows(&mut page, &record.checks);
    if !record.elsewhere.is_empty() {
        page.row("not here", &format!("{} (see `when` in gate.toml)", record.elsewhere.join(", ")));
    }
    page.into_text()
}

/// Adds a row for each check: its command, then its weight and its latest run.
pub(super) fn add_rows(page: &mut Page, checks: &[PlannedCheck]) {
    for check in checks {
        let mark = match check.last.as_ref().map(|last| Mark::from_outcome(last.outcome)) {
            Some(Mark::Bad) if check.mode != Mode::Require => Mark::Unsure,
            mark => mark.unwrap_or(Mark::None),
        };
        page.marked(mark, &check.check, &command_words(check));
        page.detail(&facts(check).join("; "));
    }
}

fn outcome_words(outcome: Outcome) -> &'static str {
    match outcome {
        Outcome::Pass => "passed",
        Outcome::Fail => "failed",
        Outcome::Tamper => "was tampered with",
        Outcome::Inconclusive | Outcome::Skipped => "could not run",
    }
}

fn command_words(check: &PlannedCheck) -> String {
    let cwd = check.cwd.as_ref().map(|cwd| format!(" (in {cwd})")).unwrap_or_default();
    match check.argv.as_slice() {
        [] if !check.criteria.is_empty() => check.criteria.join("; "),
        [] => "gate itself looks".to_owned(),
        argv => format!("{}{cwd}", argv.join(" ")),
    }
}

fn facts(check: &PlannedCheck) -> Vec<String> {
    let weight = match check.mode {
        Mode::Require => "must pass",
        Mode::Count => "adds an indicator if it passes",
        Mode::Warn => "only shown",
    };
    let mut facts = vec![weight.to_owned()];
    if !check.needs.is_empty() {
        facts.push(format!("after {}", check.needs.join(", ")));
    }
    if !check.paths.is_empty() {
        facts.push(format!("skipped if nothing in {} changed", check.paths.join(", ")));
    }
    facts.push(match &check.last {
        Some(last) => {
            let length = span(Duration::from_millis(last.duration_ms));
            let time = local_time(&last.time);
            format!("last: {} in {length}, {time}", outcome_words(last.outcome))
        }
        None => "has not run yet".to_owned(),
    });
    facts
}
