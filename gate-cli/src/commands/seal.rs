//! `gate seal`: tests that the agent does not see.

use std::path::PathBuf;

use clap::{Args, Subcommand};
use gate_checks::{CheckSite, Seal, add_seal, remove_seal, seals};
use schemars::JsonSchema;
use serde::Serialize;

use super::common::DONE;
use crate::commands::arguments::non_empty;
use crate::failure::Failure;
use crate::invocation::Invocation;
use crate::render::{self, print, print_text};
use crate::sealing::{TrialRecord, sealed_line, try_sealed};
use crate::settings::Selection;
use crate::trust;

#[derive(Debug, Subcommand)]
pub(crate) enum Sealing {
    /// Seal the tests in a folder for a check
    ///
    /// Their files are laid over the work in the last run before an exit, at the same relative
    /// paths, and appear in no output of a decision. A file with an old test's path takes its place.
    /// gate runs them once without the work, and says which are found and fail: a test that passes
    /// already proves nothing. For the operator; recorded.
    Add(Add),
    /// List the sealed folders of this project
    List(List),
    /// Remove the seal of a check
    ///
    /// For the operator; recorded.
    Remove(Remove),
}

#[derive(Debug, Args)]
pub(crate) struct Add {
    /// The check whose command runs them.
    #[arg(value_name = "NAME", value_parser = non_empty)]
    pub(crate) name: String,
    /// The folder, outside of the work tree.
    #[arg(value_name = "FOLDER")]
    pub(crate) folder: PathBuf,
    /// Print one JSON object.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct List {
    /// Print one JSON object.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Remove {
    /// The check.
    #[arg(value_name = "NAME", value_parser = non_empty)]
    pub(crate) name: String,
    /// Print one JSON object.
    #[arg(long)]
    pub(crate) json: bool,
}

/// `gate.seals.v1`: the sealed folders. Fields are added, never changed.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct SealsRecord {
    /// Always `gate.seals.v1`.
    pub(crate) schema: &'static str,
    /// The sealed folders after the command.
    pub(crate) seals: Vec<SealRecord>,
    /// The tests that were sealed now, run once without the work; null for other commands.
    pub(crate) trial: Option<TrialRecord>,
}

/// One sealed folder.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct SealRecord {
    /// The check whose command runs its tests.
    pub(crate) check: String,
    /// The folder.
    pub(crate) folder: String,
    /// Number of its files.
    pub(crate) files: u64,
    /// BLAKE3 of its files, in hexadecimal.
    pub(crate) digest: String,
}

impl SealRecord {
    fn new(check: String, seal: Seal) -> Self {
        let folder = seal.folder.display().to_string();
        Self { check, folder, files: seal.files, digest: seal.digest }
    }
}

pub(super) fn run(invocation: &Invocation, sealing: &Sealing) -> Result<u8, Failure> {
    let site = invocation.site()?;
    let mut trial = None;
    let (act, is_json) = match sealing {
        Sealing::List(args) => (None, args.json),
        Sealing::Add(args) => {
            let act = add(invocation, &site, args)?;
            let tried = try_sealed(invocation, &args.name)?;
            let text = format!("{act}{}", tried.card());
            trial = Some(tried);
            (Some(text), args.json)
        }
        Sealing::Remove(args) => (Some(remove(invocation, &site, args)?), args.json),
    };
    let seals: Vec<_> =
        seals(&site)?.into_iter().map(|(check, seal)| SealRecord::new(check, seal)).collect();
    if is_json {
        print(&render::json(&SealsRecord { schema: "gate.seals.v1", seals, trial })?)?;
    } else {
        print_text(&act.unwrap_or_else(|| listing(&seals)))?;
    }
    Ok(DONE)
}

/// Seals the tests in a folder, and records that. Returns the act in words.
fn add(invocation: &Invocation, site: &CheckSite, args: &Add) -> Result<String, Failure> {
    invocation.operator("gate seal add")?;
    let (settings, _) = trust::settings_as_written(&invocation.places, &Selection::default())?;
    let policy = settings.policy;
    let Some(check) = policy.checks.get(&args.name) else {
        return Err(unknown_check(&args.name, policy.checks.keys()));
    };
    // Sealed tests run in a copy, which only such a check has.
    if !check.control {
        let message = format!("checks.{}: sealed tests need `control = true`", args.name);
        return Err(Failure::usage("seal-refused", message));
    }
    let seal = add_seal(site, &args.name, &invocation.places.folder.join(&args.folder))?;
    invocation.memory(&policy)?.record_act("seal-add", Some(&seal.digest))?;
    Ok(sealed_line(&args.name, &seal))
}

/// Removes a seal, and records that. Returns the act in words.
fn remove(invocation: &Invocation, site: &CheckSite, args: &Remove) -> Result<String, Failure> {
    invocation.operator("gate seal remove")?;
    let (settings, _) = trust::settings_as_written(&invocation.places, &Selection::default())?;
    let Some(seal) = remove_seal(site, &args.name)? else {
        return Err(unknown_check(&args.name, seals(site)?.keys()));
    };
    invocation.memory(&settings.policy)?.record_act("seal-remove", Some(&seal.digest))?;
    Ok(format!("removed the seal of {}: {}\n", args.name, seal.folder.display()))
}

fn listing(seals: &[SealRecord]) -> String {
    if seals.is_empty() {
        return "nothing is sealed here; `gate seal add CHECK FOLDER` seals tests\n".to_owned();
    }
    let lines = seals.iter().map(|seal| {
        let SealRecord { check, folder, files, .. } = seal;
        format!("{check}  {folder} (files: {files})\n")
    });
    lines.collect()
}

fn unknown_check<'n>(name: &str, checks: impl Iterator<Item = &'n String>) -> Failure {
    let names: Vec<_> = checks.map(String::as_str).collect();
    let list = if names.is_empty() { "there is none".to_owned() } else { names.join(", ") };
    Failure::usage("seal-refused", format!("{name:?} is none of these: {list}"))
}
