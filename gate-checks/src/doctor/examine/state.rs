//! The folder for gate's state: outside of the work, for this user alone.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use gate_core::Policy;
use gate_core::config::ByteSize;
use gate_core::text::readable_size;
use rustix::fs::{Access, access};

use crate::doctor::finding::{Finding, fine, note, problem};
use crate::site::CheckSite;
use crate::workspace::recorded_size;
use crate::worktree::WorkTree;

/// Looks at the state folder; nothing is made there.
pub(super) fn look(site: &CheckSite) -> Vec<Finding> {
    let Some(state) = &site.state else {
        let message = "there is no folder for state: nothing is kept between decisions";
        return vec![note("state-missing", message).hint("set GATE_STATE_DIR, or HOME")];
    };
    let mut found: Vec<_> = inside(state, site).into_iter().collect();
    match fs::metadata(state) {
        Ok(is) => found.push(made(state, &is)),
        Err(_) => found.push(to_be_made(state)),
    }
    found
}

/// Says if the copies of trees take more than the settings allow: one that is in use, or a
/// single large one, is not removed for that.
pub(super) fn copies(policy: &Policy, site: &CheckSite) -> Option<Finding> {
    let (limit, taken) = (policy.copies_max_bytes, recorded_size(site.state.as_deref()?));
    if limit == 0 || taken <= limit {
        return None;
    }
    let message = format!(
        "the copies of work trees take {}, and `copies_max` in [checks] is {}",
        readable_size(taken),
        ByteSize(limit)
    );
    Some(note("copies-over-limit", message).hint("gate prune, or set `copies_max` higher"))
}

/// State that the agent can write is none that can be relied on.
fn inside(state: &Path, site: &CheckSite) -> Option<Finding> {
    let tree = WorkTree::open(site).ok()?;
    let real = state.ancestors().find_map(|above| above.canonicalize().ok())?;
    real.starts_with(tree.root()).then(|| {
        let message = format!("the state folder {} is part of the work tree", state.display());
        problem("state-in-tree", message).hint("set GATE_STATE_DIR to a folder outside of it")
    })
}

fn made(state: &Path, is: &fs::Metadata) -> Finding {
    let shown = state.display();
    if !is.is_dir() || tempfile::tempfile_in(state).is_err() {
        let message = format!("the state folder {shown} cannot be written");
        return problem("state-unwritable", message).hint("put its owner or mode right");
    }
    let mode = is.permissions().mode() & 0o777;
    if mode & 0o077 != 0 {
        let message = format!("the state folder {shown} is open to others: its mode is {mode:04o}");
        return problem("state-not-private", message).hint(format!("chmod 700 {shown}"));
    }
    fine("state", format!("the state folder {shown} is there, for this user alone"))
}

fn to_be_made(state: &Path) -> Finding {
    let shown = state.display();
    let above = state.ancestors().find(|folder| folder.exists());
    if above.is_some_and(|above| access(above, Access::WRITE_OK | Access::EXEC_OK).is_ok()) {
        return fine("state", format!("the state folder {shown} will be made when it is needed"));
    }
    let message = format!("the state folder {shown} is not there and cannot be made");
    problem("state-unwritable", message).hint("set GATE_STATE_DIR to a folder that you can write")
}
