//! `gate audit`: what agents claimed in past transcripts, and what stood behind it.

mod places;

use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use clap::Args;

use super::common::DONE;
use crate::failure::Failure;
use crate::invocation::Invocation;
use crate::render::{self, print};
use crate::secrets;
use crate::settings::{self, Selection, parse_duration};
use gate_card::notes;
use gate_checks::worktree::hardened_git;
use gate_lens::audit::{AuditTools, Transcript, page, read_all, text};
use gate_lens::replay::{Inputs, Labels, find};

#[derive(Debug, Args)]
pub(crate) struct Audit {
    /// Transcripts: files, folders, globs; if none is named, wherever agents keep them.
    #[arg(value_name = "PATH")]
    pub(crate) paths: Vec<PathBuf>,
    /// Read the files that were changed in this time alone, such as 12h or 30d.
    #[arg(long, value_name = "AGE", value_parser = parse_duration)]
    pub(crate) since: Option<Duration>,
    /// Write one HTML page that needs no network to this file; `-` is standard output.
    #[arg(long, value_name = "FILE", conflicts_with = "json")]
    pub(crate) html: Option<PathBuf>,
    /// Print one JSON object.
    #[arg(long)]
    pub(crate) json: bool,
}

pub(super) fn run(invocation: &Invocation, args: &Audit) -> Result<u8, Failure> {
    let folder = &invocation.places.folder;
    let paths = match args.paths.as_slice() {
        [] => {
            let places = places::known(&invocation.places);
            if places.is_empty() {
                notes(&[places::looked(&invocation.places)]);
            }
            places
        }
        paths => paths.to_vec(),
    };
    let (mut files, mut unread, mut code) = (Vec::new(), Vec::new(), DONE);
    let Inputs { all: inputs, .. } = find(folder, &paths, false, &Labels::default())?;
    let all_inputs = inputs.len();
    for input in inputs {
        match input.error {
            Some(failure) if all_inputs == 1 => return Err(failure),
            Some(failure) => {
                code = code.max(failure.exit_code);
                notes(std::slice::from_ref(&failure.message));
                unread.push(failure.message);
            }
            None if args.since.is_none_or(|age| is_younger(&input.path, age)) => {
                let (path, shown, size) = (input.path, input.shown, input.size);
                files.push(Transcript { path, shown, size });
            }
            None => {}
        }
    }
    let policy = settings::resolve(&invocation.places, &Selection::default())?.policy;
    let record = read_all(files, unread, &policy, tools())?;
    if args.json {
        print(&render::json(&record)?)?;
    } else if let Some(file) = &args.html {
        super::common::write_page("audit", file, &page::document(&record))?;
    } else {
        print(&text::card(&record))?;
    }
    Ok(code)
}

/// The parts of the program that an audit needs. Nobody approved the repositories that transcripts
/// name, so git may start nothing that their settings name.
pub(super) fn tools() -> AuditTools<'static> {
    AuditTools { masker: secrets::masker(), git: hardened_git }
}

fn is_younger(file: &Path, age: Duration) -> bool {
    let changed = file.metadata().and_then(|metadata| metadata.modified());
    changed.is_ok_and(|changed| SystemTime::now().duration_since(changed).is_ok_and(|is| is <= age))
}
