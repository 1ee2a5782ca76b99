//! Claims in past transcripts, and the checks behind them.

use std::path::{Path, PathBuf};

use gate_checks::worktree::hardened_git;
use gate_checks::{CheckSite, environment};
use gate_core::Failure;
use gate_lens::audit::{AuditRecord, AuditTools, Transcript, read_all};
use gate_lens::replay::{Labels, find};
use pyo3::prelude::*;

use crate::failure::{raised, to_python};
use crate::settings::resolved;

/// The record of `gate audit --json` on these files and folders.
#[pyfunction]
pub(crate) fn audit<'py>(
    py: Python<'py>,
    paths: Vec<PathBuf>,
    settings: &str,
    origin: Option<&str>,
) -> PyResult<Bound<'py, PyAny>> {
    let record = py.detach(|| audited(&paths, settings, origin));
    to_python(py, &record.map_err(|failure| raised(py, &failure))?)
}

fn audited(
    paths: &[PathBuf],
    settings: &str,
    origin: Option<&str>,
) -> Result<AuditRecord, Failure> {
    let policy = resolved(settings, origin)?.policy;
    let masker = CheckSite { environment: environment(), ..CheckSite::new("") }.masker();
    let (mut files, mut failures) = (Vec::new(), Vec::new());
    for input in find(Path::new(""), paths, false, &Labels::default())?.all {
        match input.error {
            Some(failure) => failures.push(failure),
            None => {
                files.push(Transcript { path: input.path, shown: input.shown, size: input.size });
            }
        }
    }
    let unread = failures.iter().map(|failure: &Failure| failure.message.clone()).collect();
    let tools = AuditTools { masker: &masker, git: hardened_git };
    let record = read_all(files, unread, &policy, tools)?;
    match record.unread.first() {
        // Its numbers would look like a result.
        Some(message) if record.files == 0 => Err(failures
            .into_iter()
            .next()
            .unwrap_or_else(|| Failure::usage("input-unreadable", message))),
        _ => Ok(record),
    }
}
