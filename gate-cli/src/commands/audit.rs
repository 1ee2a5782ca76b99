//! `gate audit`: what agents claimed in past transcripts, and what stood behind it.

mod page;
mod places;
mod text;

use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use clap::Args;
use gate_core::decide::indicator::PatternSet;
use rayon::prelude::*;

use super::common::DONE;
use super::replay::transcripts;
use crate::audit::{self, AuditRecord};
use crate::context::Here;
use crate::failure::Failure;
use crate::render::{self, print};
use crate::settings::{self, Selection, parse_duration};

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

pub(super) fn run(here: &Here, args: &Audit) -> Result<u8, Failure> {
    let folder = &here.places.folder;
    let paths = match args.paths.as_slice() {
        [] => places::known(&here.places),
        paths => paths.to_vec(),
    };
    let mut files = Vec::new();
    let mut unread = Vec::new();
    for input in transcripts(folder, &paths)? {
        match input.error {
            Some(failure) => unread.push(failure.message),
            None if args.since.is_none_or(|age| is_younger(&input.path, age)) => {
                files.push((input.path, input.shown, input.size));
            }
            None => {}
        }
    }
    let record = read(here, files, unread)?;
    if args.json {
        print(&render::json(&record)?)?;
    } else if let Some(file) = &args.html {
        super::common::write_page("audit", file, &page::document(&record))?;
    } else {
        print(&text::card(&record))?;
    }
    Ok(DONE)
}

/// Reads all files, on all cores; the long ones first, so that none is left to the end.
fn read(
    here: &Here,
    files: Vec<(PathBuf, String, u64)>,
    mut unread: Vec<String>,
) -> Result<AuditRecord, Failure> {
    let policy = settings::resolve(&here.places, &Selection::default())?.policy;
    let patterns = PatternSet::from_policy(&policy)?;
    let mut order: Vec<_> = files.into_iter().enumerate().collect();
    order.sort_by_key(|(_, (_, _, size))| std::cmp::Reverse(*size));
    let read = order
        .par_iter()
        .with_max_len(1)
        .map(|(at, (path, shown, _))| (*at, audit::read(path, shown, &patterns, &policy.signal)));
    let mut read: Vec<_> = read.collect();
    read.sort_by_key(|(at, _)| *at);
    let mut audited = Vec::new();
    for (_, result) in read {
        match result {
            Ok(file) => audited.push(file),
            Err(failure) => unread.push(failure.message),
        }
    }
    Ok(AuditRecord::new(audited, unread))
}

fn is_younger(file: &Path, age: Duration) -> bool {
    let changed = file.metadata().and_then(|metadata| metadata.modified());
    changed.is_ok_and(|changed| SystemTime::now().duration_since(changed).is_ok_and(|is| is <= age))
}
