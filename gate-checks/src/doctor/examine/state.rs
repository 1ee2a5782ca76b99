//! The folder for gate's state: outside of the work, for this user alone.

use std::fs;
use std::path::Path;

use gate_core::Policy;
use gate_core::config::ByteSize;
use gate_core::text::readable_size;
use gate_platform::{PermissionsExt, RealPath, check_writable};

use crate::doctor::finding::{Finding, fine, note, problem};
use crate::site::CheckSite;
use crate::workspace::recorded_size;
use crate::worktree::WorkTree;

/// Findings about the state folder. No folder is made for them.
pub(super) fn folder_findings(site: &CheckSite) -> Vec<Finding> {
    let Some(state) = &site.state else {
        let message = "there is no folder for state: nothing is kept between decisions";
        return vec![note("state-missing", message).hint("set GATE_STATE_DIR, or HOME")];
    };
    let mut findings: Vec<_> = state_in_tree(state, site).into_iter().collect();
    findings.push(match fs::metadata(state) {
        Ok(metadata) => existing_folder(state, &metadata),
        Err(_) => missing_folder(state),
    });
    findings
}

/// Copies of trees that take more than the settings allow. A copy that is in use, or a single large
/// one, is not removed for that.
pub(super) fn oversized_copies(policy: &Policy, site: &CheckSite) -> Option<Finding> {
    let (limit, size) = (policy.copies_max_bytes, recorded_size(site.state.as_deref()?));
    if limit == 0 || size <= limit {
        return None;
    }
    let message = format!(
        "the copies of work trees take {}, and `copies_max` in [checks] is {}",
        readable_size(size),
        ByteSize(limit)
    );
    Some(note("copies-over-limit", message).hint("gate prune, or set `copies_max` higher"))
}

/// State in the tree, where the agent can write it: nothing there can be relied on.
fn state_in_tree(state: &Path, site: &CheckSite) -> Option<Finding> {
    let tree = WorkTree::open(site).ok()?;
    let real_path = state.ancestors().find_map(|folder| folder.real_path().ok())?;
    real_path.starts_with(tree.root()).then(|| {
        let message = format!("the state folder {} is part of the work tree", state.display());
        problem("state-in-tree", message).hint("set GATE_STATE_DIR to a folder outside of it")
    })
}

fn existing_folder(state: &Path, metadata: &fs::Metadata) -> Finding {
    let name = state.display();
    if !metadata.is_dir() || tempfile::tempfile_in(state).is_err() {
        let message = format!("the state folder {name} cannot be written");
        return problem("state-unwritable", message).hint("put its owner or mode right");
    }
    let mode = metadata.permissions().mode() & 0o777;
    if mode & 0o077 != 0 {
        let message = format!("the state folder {name} is open to others: its mode is {mode:04o}");
        return problem("state-not-private", message).hint(format!("chmod 700 {name}"));
    }
    fine("state", format!("the state folder {name} is there, for this user alone"))
}

fn missing_folder(state: &Path) -> Finding {
    let name = state.display();
    let parent = state.ancestors().find(|folder| folder.exists());
    if parent.is_some_and(|parent| check_writable(parent).is_ok()) {
        return fine("state", format!("the state folder {name} will be made when it is needed"));
    }
    let message = format!("the state folder {name} is not there and cannot be made");
    problem("state-unwritable", message).hint("set GATE_STATE_DIR to a folder that you can write")
}
