//! Sessions whose stop was refused because gate could not decide: once each.
//!
//! What keeps gate from deciding may be its store, so this is kept beside it.

use std::fs::{DirBuilder, OpenOptions};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::Path;

use super::prompted::is_older;
use super::session::Session;
use crate::agent::Agent;

/// Whether a mistake in this file is older than the session's prompt: then it is none
/// of the agent's, and nothing that the agent could put right.
pub(crate) fn is_older_than_prompt(file: Option<&str>, session: Option<&Session>) -> bool {
    file.zip(session).is_some_and(|(file, session)| is_older(Path::new(file), session))
}

/// Whether this is the first stop of the session that cannot be decided. Where
/// that cannot be kept it is not: an agent must not be trapped.
pub(crate) fn is_first(state: Option<&Path>, agent: Agent, session: Option<&str>) -> bool {
    let (Some(state), Some(session)) = (state, session) else { return false };
    let folder = state.join("undecided");
    if DirBuilder::new().recursive(true).mode(0o700).create(&folder).is_err() {
        return false;
    }
    let name = blake3::hash(format!("{} {session}", agent.name()).as_bytes()).to_hex();
    let new =
        OpenOptions::new().write(true).create_new(true).mode(0o600).open(folder.join(&name[..32]));
    new.is_ok()
}
