//! Approves what the project's settings start, and shows it before: for `gate trust`,
//! for `gate init`, and for a person who types it in an agent's prompt.

use std::fmt::Write as _;
use std::io::Write as _;

use gate_checks::{programs, worktree};
use gate_core::config::{self, Layer, Resolved};
use gate_core::decide::checks::CRITERIA;
use gate_core::text;
use schemars::JsonSchema;
use serde::Serialize;

use crate::context::Here;
use crate::failure::Failure;
use crate::memory::Memory;
use crate::operator::Operator;
use crate::record::Ledger;
use crate::settings::{self, Selection};
use crate::trust::{self, Approved, TrustState};

/// `gate.trust.v1`: what the project's settings start, and whether that is approved.
#[non_exhaustive]
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct TrustRecord {
    /// Always `gate.trust.v1`.
    pub schema: &'static str,
    /// The project's id.
    pub project: String,
    /// The settings file; null if the defaults hold.
    pub file: Option<String>,
    /// The digest of the settings, for `GATE_TRUST`.
    pub digest: String,
    /// True if the settings are approved.
    pub approved: bool,
    /// True if something was approved here before this act.
    pub approved_before: bool,
    /// The programs that the settings start.
    pub starts: Vec<Starts>,
    /// The record of the act.
    pub ledger: Option<Ledger>,
}

/// A program that a check would start.
#[non_exhaustive]
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Starts {
    /// The check.
    pub check: String,
    /// The task type that it is started for; null if it is any.
    pub task_type: Option<String>,
    /// The program and its arguments; empty if none was found.
    pub argv: Vec<String>,
    /// True if a shell reads them.
    pub shell: bool,
    /// The working folder, if it is not the project's.
    pub cwd: Option<String>,
    /// The source: a file with its line, or the reason why gate found the program.
    pub from: String,
}

pub(crate) fn record(here: &Here) -> Result<TrustRecord, Failure> {
    let (settings, trust) = trust::settings_as_written(&here.places, &Selection::default())?;
    let report = trust.report()?;
    let project = settings.policy.project.id.clone();
    Ok(TrustRecord {
        schema: "gate.trust.v1",
        project: project.unwrap_or_else(|| worktree::identity(&here.places.top())),
        file: report.file.as_ref().map(|file| file.display().to_string()),
        digest: report.digest,
        approved: report.state == TrustState::Approved,
        approved_before: report.approved.is_some(),
        starts: starts(here, &settings)?,
        ledger: None,
    })
}

/// The programs that all task types together start.
fn starts(here: &Here, settings: &Resolved) -> Result<Vec<Starts>, Failure> {
    let layers = settings::layers(&here.places, &Selection::default())?;
    let mut all = starts_for_type(here, settings, None)?;
    for name in task_types(&layers) {
        let typed = config::resolve(&layers, Some(&name))?;
        for starts in starts_for_type(here, &typed, Some(&name))? {
            if !all.iter().any(|other| other.check == starts.check && other.argv == starts.argv) {
                all.push(starts);
            }
        }
    }
    Ok(all)
}

fn starts_for_type(
    here: &Here,
    settings: &Resolved,
    task_type: Option<&str>,
) -> Result<Vec<Starts>, Failure> {
    let settings_list = settings.settings();
    let programs = programs(&settings.policy, &here.site()?);
    let starts = programs.into_iter().map(|program| Starts {
        from: match program.found {
            Some(why) => format!("found: {why}"),
            None => source(&settings_list, &program.check),
        },
        check: program.check,
        task_type: task_type.map(str::to_owned),
        argv: program.argv,
        shell: program.shell,
        cwd: program.cwd,
    });
    Ok(starts.collect())
}

/// The file and line of a check's command, else of the check's first setting.
fn source(settings: &[config::Setting], check: &str) -> String {
    let (key, prefix) = (format!("checks.{check}"), format!("checks.{check}."));
    let mut own =
        settings.iter().filter(|setting| setting.key == key || setting.key.starts_with(&prefix));
    let command = own.clone().find(|setting| setting.key.ends_with(".command"));
    // The check of the criteria need not be written.
    let criteria =
        settings.iter().find(|setting| check == CRITERIA && setting.key.starts_with("criteria"));
    match command.or(criteria).or_else(|| own.next()) {
        Some(setting) => match setting.line {
            Some(line) => format!("{}:{line}", setting.origin),
            None => setting.origin.to_string(),
        },
        None => String::new(),
    }
}

fn task_types(layers: &[Layer]) -> Vec<String> {
    let all = layers.iter().filter_map(|layer| layer.raw().task_types.as_ref());
    let mut names: Vec<_> = all.flat_map(|types| types.keys().cloned()).collect();
    names.sort();
    names.dedup();
    names
}

/// Approves the settings: records the act first, so that nothing rests on an unrecorded one.
///
/// # Errors
///
/// A store that cannot be written, or a folder for approvals.
pub(crate) fn keep(
    here: &Here,
    approved: &Approved,
    operator: &Operator,
    by: &str,
) -> Result<Ledger, Failure> {
    let digest = approved.file.as_ref().map(|_| approved.digest.as_str());
    let place = memory(here)?.trust((&approved.place, digest), operator)?;
    approved.store(&here.places, by)?;
    Ok(place)
}

/// The ledger for acts of trust: the project's by the identity that it has now, which an approval
/// names from this act on.
pub(crate) fn memory(here: &Here) -> Result<Memory, Failure> {
    let id = settings::resolve(&here.places, &Selection::default())?.policy.project.id;
    let identity = || worktree::identity(&here.places.top());
    let is_shared = here.places.names_database();
    let id = id.or_else(|| (!is_shared).then(identity));
    Memory::open(&here.places, id.as_deref())
}

/// The card of the settings to approve. Control characters and marks that reorder text are
/// spelled out, so that the text read is the text started.
pub(crate) fn shown(record: &TrustRecord) -> String {
    let mut shown = String::new();
    let Some(file) = &record.file else {
        let _ =
            writeln!(shown, "{} has no gate.toml: the defaults hold", text::clean(&record.project));
        let _ = writeln!(shown, "digest    {}", record.digest);
        return shown;
    };
    let _ = writeln!(shown, "settings  {}", text::clean(file));
    let _ = writeln!(shown, "project   {}", text::clean(&record.project));
    let _ = writeln!(shown, "digest    {}", record.digest);
    shown.push_str(if record.starts.is_empty() { "starts no program\n" } else { "starts\n" });
    for program in &record.starts {
        let shell = if program.shell { " by a shell" } else { "" };
        let task_type = program.task_type.as_ref().map(|name| format!(" for task type {name:?}"));
        let task_type = task_type.unwrap_or_default();
        let argv = if program.argv.is_empty() {
            "no command found".to_owned()
        } else {
            format!("{:?}", program.argv)
        };
        let (check, from) = (text::clean(&program.check), text::clean(&program.from));
        let cwd = program.cwd.as_ref().map(|cwd| format!(" in {cwd:?}")).unwrap_or_default();
        let _ = writeln!(shown, "  {check}{task_type}{shell}{cwd}: {argv}\n    {from}");
    }
    shown
}

pub(crate) fn outcome(record: &TrustRecord) -> String {
    match (&record.file, record.approved_before) {
        (Some(_), _) => "approved; gate asks again when a setting changes\n".to_owned(),
        (None, true) => "what was approved here before is taken back\n".to_owned(),
        (None, false) => "there is nothing to approve\n".to_owned(),
    }
}

/// Approves the settings for a person who typed it in an agent's prompt. Returns the card of
/// the settings.
///
/// # Errors
///
/// Settings that cannot be read, a store that cannot be written.
pub(crate) fn approve_typed(here: &Here) -> Result<String, Failure> {
    let record = record(here)?;
    let approved = Approved::read(&here.places)?;
    keep(here, &approved, &Operator::from_process(), "gate trust, typed in a prompt")?;
    Ok(format!("{}{}", shown(&record), outcome(&record)))
}

/// Approves the settings that `gate init` has just written. Under an agent, or if nothing can
/// be recorded, prints a note instead.
pub(crate) fn approve_written(here: &Here) {
    let approved = here.operator("gate trust").and_then(|operator| {
        let approved = Approved::read(&here.places)?;
        keep(here, &approved, &operator, "gate init")
    });
    if let Err(failure) = approved {
        let note = format!("not approved yet: {}", failure.message);
        // The file is written, even if the note cannot be.
        let _ = writeln!(anstream::stderr().lock(), "note: {}", text::clean(&note));
    }
}
