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

use crate::failure::Failure;
use crate::invocation::Invocation;
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
    /// The settings are approved.
    pub approved: bool,
    /// Some settings were approved here before this act.
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
    /// A shell reads the words.
    pub shell: bool,
    /// The working folder, if it is not the project's.
    pub cwd: Option<String>,
    /// The source: a file with its line, or the reason why gate found the program.
    pub from: String,
}

/// The programs that the project's settings start, as they are written.
pub(crate) fn record(invocation: &Invocation) -> Result<TrustRecord, Failure> {
    let (settings, trust) = trust::settings_as_written(&invocation.places, &Selection::default())?;
    let report = trust.report()?;
    let project = settings.policy.project.id.clone();
    Ok(TrustRecord {
        schema: "gate.trust.v1",
        project: project.unwrap_or_else(|| worktree::identity(&invocation.places.top())),
        file: report.file.as_ref().map(|file| file.display().to_string()),
        digest: report.digest,
        approved: report.state == TrustState::Approved,
        approved_before: report.approved.is_some(),
        starts: started_programs(invocation, &settings)?,
        ledger: None,
    })
}

/// The programs that all task types together start.
fn started_programs(invocation: &Invocation, settings: &Resolved) -> Result<Vec<Starts>, Failure> {
    let layers = settings::layers(&invocation.places, &Selection::default())?;
    let mut programs = programs_for_type(invocation, settings, None)?;
    for name in task_types(&layers) {
        let typed_settings = config::resolve(&layers, Some(&name))?;
        for program in programs_for_type(invocation, &typed_settings, Some(&name))? {
            let is_listed =
                |listed: &Starts| listed.check == program.check && listed.argv == program.argv;
            if !programs.iter().any(is_listed) {
                programs.push(program);
            }
        }
    }
    Ok(programs)
}

fn programs_for_type(
    invocation: &Invocation,
    settings: &Resolved,
    task_type: Option<&str>,
) -> Result<Vec<Starts>, Failure> {
    let settings_list = settings.settings();
    let programs = programs(&settings.policy, &invocation.site()?);
    let starts = programs.into_iter().map(|program| Starts {
        from: match program.found {
            Some(reason) => format!("found: {reason}"),
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
    let mut check_settings =
        settings.iter().filter(|setting| setting.key == key || setting.key.starts_with(&prefix));
    let command = check_settings.clone().find(|setting| setting.key.ends_with(".command"));
    // The check of the criteria need not be written.
    let criteria =
        settings.iter().find(|setting| check == CRITERIA && setting.key.starts_with("criteria"));
    match command.or(criteria).or_else(|| check_settings.next()) {
        Some(setting) => match setting.line {
            Some(line) => format!("{}:{line}", setting.origin),
            None => setting.origin.to_string(),
        },
        None => String::new(),
    }
}

fn task_types(layers: &[Layer]) -> Vec<String> {
    let tables = layers.iter().filter_map(|layer| layer.raw().task_types.as_ref());
    let mut names: Vec<_> = tables.flat_map(|types| types.keys().cloned()).collect();
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
    invocation: &Invocation,
    approved: &Approved,
    operator: &Operator,
    by: &str,
) -> Result<Ledger, Failure> {
    let digest = approved.file.as_ref().map(|_| approved.digest.as_str());
    let place = memory(invocation)?.trust(&approved.place, digest, operator)?;
    approved.store(&invocation.places, by)?;
    Ok(place)
}

/// The ledger for acts of trust: the project's by the identity that it has now, which an approval
/// names from this act on.
pub(crate) fn memory(invocation: &Invocation) -> Result<Memory, Failure> {
    let named_id = settings::resolve(&invocation.places, &Selection::default())?.policy.project.id;
    let identity = || worktree::identity(&invocation.places.top());
    // A database is shared by machines, where only `[project] id` names a project.
    let is_shared = invocation.places.names_database();
    let id = named_id.or_else(|| (!is_shared).then(identity));
    Memory::open(&invocation.places, id.as_deref())
}

/// The card of the settings to approve. Control characters and marks that reorder text are
/// spelled out, so that the text read is the text started.
pub(crate) fn settings_card(record: &TrustRecord) -> String {
    let mut card = String::new();
    let Some(file) = &record.file else {
        let _ =
            writeln!(card, "{} has no gate.toml: the defaults hold", text::clean(&record.project));
        let _ = writeln!(card, "digest    {}", record.digest);
        return card;
    };
    let _ = writeln!(card, "settings  {}", text::clean(file));
    let _ = writeln!(card, "project   {}", text::clean(&record.project));
    let _ = writeln!(card, "digest    {}", record.digest);
    card.push_str(if record.starts.is_empty() { "starts no program\n" } else { "starts\n" });
    for program in &record.starts {
        let shell = if program.shell { " by a shell" } else { "" };
        let task_type = program
            .task_type
            .as_ref()
            .map(|name| format!(" for task type {name:?}"))
            .unwrap_or_default();
        let argv = if program.argv.is_empty() {
            "no command found".to_owned()
        } else {
            format!("{:?}", program.argv)
        };
        let (check, from) = (text::clean(&program.check), text::clean(&program.from));
        let cwd = program.cwd.as_ref().map(|cwd| format!(" in {cwd:?}")).unwrap_or_default();
        let _ = writeln!(card, "  {check}{task_type}{shell}{cwd}: {argv}\n    {from}");
    }
    card
}

/// The line on the act itself.
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
pub(crate) fn approve_typed(invocation: &Invocation) -> Result<String, Failure> {
    let record = record(invocation)?;
    let approved = Approved::read(&invocation.places)?;
    keep(invocation, &approved, &Operator::from_process(), "gate trust, typed in a prompt")?;
    Ok(format!("{}{}", settings_card(&record), outcome(&record)))
}

/// Approves the settings that `gate init` has just written. Under an agent, or if nothing can
/// be recorded, prints a note instead.
pub(crate) fn approve_written(invocation: &Invocation) {
    let kept = invocation.operator("gate trust").and_then(|operator| {
        let approved = Approved::read(&invocation.places)?;
        keep(invocation, &approved, &operator, "gate init")
    });
    if let Err(failure) = kept {
        let note = format!("not approved yet: {}", failure.message);
        // The file is written, even if the note cannot be.
        let _ = writeln!(anstream::stderr().lock(), "note: {}", text::clean(&note));
    }
}
