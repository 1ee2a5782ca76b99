//! The evidence cache: earlier records of exactly the same work.
//!
//! A record is found again by a key over the tree, the commit and the index,
//! the check's settings, the environment that it sees, its tool and gate's
//! version. A `pass` is kept only for checks that are marked hermetic, a
//! `fail` always: on an unchanged tree it cannot make an exit. With `paths`, a
//! pass is also kept for the run, by the files that match alone.
//!
//! A record is offered while checks run, and kept only once it is known that
//! the tree did not change under them.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, SystemTime};

use gate_core::decide::evidence::{Evidence, Outcome};
use gate_core::decide::policy::CheckPolicy;
use serde_json::json;

use crate::check::{About, CheckContext, CheckId};
use crate::process::environment;
use crate::store;

/// How many records are kept for a work tree.
const KEPT: usize = 200;

/// After this time without a decision a run is over, and with it what passed
/// in it.
const RUN_ENDS: Duration = Duration::from_secs(12 * 60 * 60);

/// The records of one work tree.
#[derive(Debug)]
pub(crate) struct EvidenceCache {
    folder: Option<PathBuf>,
    offered: Mutex<Vec<Offer>>,
}

#[derive(Debug)]
struct Offer {
    file: PathBuf,
    evidence: Evidence,
}

impl EvidenceCache {
    /// The records inside a work tree's folder of the state; without one
    /// nothing is found or kept.
    pub(crate) fn new(tree: Option<&Path>) -> Self {
        Self { folder: tree.map(|tree| tree.join("evidence")), offered: Mutex::default() }
    }

    /// An earlier record that still holds.
    pub(crate) fn find(
        &self,
        id: &CheckId,
        policy: &CheckPolicy,
        cx: &CheckContext,
    ) -> Option<Evidence> {
        let folder = self.folder.as_ref()?;
        let earlier = read(&file(folder, &key(id, policy, cx)))
            .filter(|earlier| earlier.outcome == Outcome::Fail || policy.hermetic);
        let earlier = earlier.map(|earlier| Evidence {
            summary: format!("{} (nothing has changed since)", earlier.summary),
            ..earlier
        });
        let found = earlier.or_else(|| {
            let earlier = read(&file(folder, &paths_key(id, policy, cx)?))?;
            let summary = format!("{} (nothing that matches paths has changed)", earlier.summary);
            Some(Evidence { summary, ..earlier })
        });
        found.filter(|found| found.check == id.as_str()).map(|found| Evidence {
            cached: true,
            duration_ms: 0,
            mode: policy.mode,
            ..found
        })
    }

    /// A record that may be kept.
    pub(crate) fn offer(
        &self,
        id: &CheckId,
        policy: &CheckPolicy,
        cx: &CheckContext,
        evidence: &Evidence,
    ) {
        let Some(folder) = &self.folder else { return };
        let steady = evidence.flaky.is_empty();
        let (whole, part) = match evidence.outcome {
            Outcome::Pass => (policy.hermetic && steady, steady),
            Outcome::Fail => (true, false),
            Outcome::Inconclusive | Outcome::Tamper | Outcome::Skipped => (false, false),
        };
        let whole = whole.then(|| key(id, policy, cx));
        let part = part.then(|| paths_key(id, policy, cx)).flatten();
        let offers = whole.into_iter().chain(part);
        let offers =
            offers.map(|key| Offer { file: file(folder, &key), evidence: evidence.clone() });
        self.offered().extend(offers);
    }

    /// Keeps what was offered: the tree did not change meanwhile.
    pub(crate) fn keep(&self) {
        let offered = std::mem::take(&mut *self.offered());
        for offer in &offered {
            if let Ok(text) = serde_json::to_vec(&offer.evidence) {
                // A record that is not kept is made again.
                let _ = store::write_file(&offer.file, &text);
            }
        }
        if let (Some(folder), false) = (&self.folder, offered.is_empty()) {
            keep_newest(folder);
        }
    }

    /// Forgets what was offered: nobody knows which tree it is about.
    pub(crate) fn forget(&self) {
        self.offered().clear();
    }

    fn offered(&self) -> std::sync::MutexGuard<'_, Vec<Offer>> {
        self.offered.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn file(folder: &Path, key: &blake3::Hash) -> PathBuf {
    folder.join(format!("{}.json", key.to_hex()))
}

/// A record; what is damaged is none.
fn read(file: &Path) -> Option<Evidence> {
    serde_json::from_slice(&fs::read(file).ok()?).ok()
}

/// Everything that a record depends on, beside the tree.
fn settings(id: &CheckId, policy: &CheckPolicy, cx: &CheckContext) -> serde_json::Value {
    let environment = environment(&cx.site.environment, &policy.env);
    let tool = policy.command.first().map(|program| tool(program, policy, cx));
    json!([env!("CARGO_PKG_VERSION"), id.as_str(), policy, environment, tool, cx.site.project])
}

fn key(id: &CheckId, policy: &CheckPolicy, cx: &CheckContext) -> blake3::Hash {
    let tree = json!([cx.tree.digest, cx.tree.head, cx.tree.index]);
    hash(&json!(["tree", tree, settings(id, policy, cx), cx.about.task]))
}

/// With `paths`: the files that match, within the run.
fn paths_key(id: &CheckId, policy: &CheckPolicy, cx: &CheckContext) -> Option<blake3::Hash> {
    if policy.paths.is_empty() {
        return None;
    }
    let part = cx.tree.digest_of(&cx.site.project, &policy.paths).ok()?;
    let About { task, run, .. } = &*cx.about;
    Some(hash(&json!(["paths", part, settings(id, policy, cx), task, run])))
}

fn hash(value: &serde_json::Value) -> blake3::Hash {
    blake3::hash(value.to_string().as_bytes())
}

/// The tool: where it stands, and which one it is.
fn tool(program: &str, policy: &CheckPolicy, cx: &CheckContext) -> serde_json::Value {
    let folder =
        policy.cwd.as_ref().map_or(cx.site.project.clone(), |cwd| cx.site.project.join(cwd));
    let path = cx.site.variable("PATH").unwrap_or_default();
    let found = which::which_in(program, Some(path), folder).ok();
    let metadata = found.as_ref().and_then(|found| fs::metadata(found).ok());
    let changed = metadata.as_ref().and_then(|metadata| metadata.modified().ok());
    let changed = changed.and_then(|time| time.duration_since(SystemTime::UNIX_EPOCH).ok());
    json!([found, metadata.map(|it| it.len()), changed.map(|it| it.as_nanos().to_string())])
}

/// Removes the records that were written longest ago, and those of runs that
/// are over.
fn keep_newest(folder: &Path) {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let dated = entries.filter_map(|entry| {
        let written = entry.metadata().ok()?.modified().ok()?;
        Some((written, entry.path()))
    });
    let mut dated: Vec<_> = dated.collect();
    dated.sort();
    let old = dated.len().saturating_sub(KEPT);
    let over = |written: &SystemTime| written.elapsed().is_ok_and(|age| age > RUN_ENDS);
    for (at, (written, path)) in dated.iter().enumerate() {
        if at < old || over(written) {
            let _ = fs::remove_file(path);
        }
    }
}
