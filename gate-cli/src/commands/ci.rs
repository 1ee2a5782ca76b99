//! `gate ci`: judges a pull request or a push.

mod annotations;
mod card;
mod markdown;

use std::fs::OpenOptions;
use std::io::Write;
use std::path::{Path, PathBuf};

use clap::Args;
use gate_checks::{CheckSite, Events, Temporary};

use super::common::DONE;
use super::{init, junit, sarif};
use crate::failure::Failure;
use crate::invocation::Invocation;
use crate::pull_request::{self, CiJob, CiOptions, CiRecord, Service};
use crate::render::{self, print};
use crate::secrets;

pub(crate) const CODES: &str = "\
Exit codes:
  0  pass
  1  fail: a required check fails, or a reviewer has to approve changed tests
  2  nothing can be compared, or the settings cannot be used
  5  internal error";

/// Exit code of a change that must not be merged.
const FAIL: u8 = 1;

#[derive(Debug, Args)]
pub(crate) struct Ci {
    /// Compare with this commit or branch [default: what the CI says]
    #[arg(long, value_name = "REF")]
    base: Option<String>,
    /// Let changed tests pass: who approves them, and the newest commit that holds for.
    #[arg(long, value_name = "WHO@COMMIT")]
    approve_tests: Option<String>,
    /// Let changed tests pass if this label was put on the pull request just now (GitHub).
    #[arg(long, value_name = "LABEL")]
    approve_label: Option<String>,
    /// Write the checks to this file, as JUnit XML.
    #[arg(long, value_name = "FILE")]
    junit: Option<PathBuf>,
    /// Write failing tests and findings to this file, as SARIF.
    #[arg(long, value_name = "FILE")]
    sarif: Option<PathBuf>,
    /// Print one JSON object.
    #[arg(long)]
    pub(crate) json: bool,
}

pub(super) fn run(invocation: &Invocation, args: &Ci) -> Result<u8, Failure> {
    let job = CiJob::read(&invocation.places)?;
    let junit = args.junit.as_ref().map(|name| invocation.places.folder.join(name));
    let sarif = args.sarif.as_ref().map(|name| invocation.places.folder.join(name));
    let options = CiOptions {
        base: args.base.clone(),
        approve_tests: args.approve_tests.clone(),
        approve_label: args.approve_label.clone(),
        own_files: junit.iter().chain(&sarif).cloned().collect(),
        events: if args.json { Events::nobody() } else { render::progress() },
        detected_settings: init::detected_settings,
    };
    // Nothing of an earlier job decides here: the state is a folder that goes with this run.
    let folder = Temporary::new("base").map_err(|error| {
        Failure::internal("ci-no-folder", format!("no temporary folder can be made: {error}"))
    })?;
    let site =
        CheckSite { state: Some(folder.path().to_owned()), slots: None, ..invocation.site()? };
    let record = pull_request::judge(&invocation.places, &job, site, &options)?;
    // The verdict first: a file that cannot be written must not take it away.
    answer(args, &job, &record)?;
    if let Some(file) = &job.summary_file {
        append(&invocation.places.folder.join(file), &markdown::summary(&record, &options));
    }
    if let Some(file) = &junit {
        junit::write_checks(file, &record.checks, &record.time)?;
    }
    if let Some(file) = &sarif {
        sarif::write_sarif(file, &record.checks, &sarif::failed_places(&record.problems))?;
    }
    Ok(if record.is_pass() { DONE } else { FAIL })
}

fn answer(args: &Ci, job: &CiJob, record: &CiRecord) -> Result<(), Failure> {
    let annotations = match job.service {
        Some(Service::GitHub) => secrets::masked(&annotations::annotations(record)),
        _ => String::new(),
    };
    if args.json {
        print(&secrets::masked(&render::json(record)?))?;
        render::diagnose_commands(&annotations);
        return Ok(());
    }
    print(&secrets::masked(&card::card(record)))?;
    render::print_commands(&annotations)
}

/// Adds the summary to the file that the CI names: other steps of the job may have written there.
fn append(file: &Path, text: &str) {
    let opened = OpenOptions::new().create(true).append(true).open(file);
    let result = opened.and_then(|mut file| file.write_all(secrets::masked(text).as_bytes()));
    if let Err(error) = result {
        let message = format!("the summary cannot be written to {}: {error}", file.display());
        render::notes(&[message]);
    }
}
