//! Remembers the sessions of which gate refused a stop because it could not decide. It
//! does so once a session.
//!
//! The store itself may be the reason, so this is kept in files beside the store.

use std::fs::{DirBuilder, OpenOptions};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::Path;

use super::prompt::is_older;
use super::session::Session;
use crate::agent::Agent;

/// True if this file, which has a mistake, is older than the session's last prompt. Then
/// the mistake is not the agent's, and the agent is not to mend it.
pub(crate) fn is_older_than_prompt(file: Option<&str>, session: Option<&Session>) -> bool {
    file.zip(session).is_some_and(|(file, session)| is_older(Path::new(file), session))
}

/// True for the session's first stop that cannot be decided. False if that cannot be
/// remembered: otherwise gate would refuse every stop, and the agent would be trapped.
pub(crate) fn is_first(state: Option<&Path>, agent: Agent, session: Option<&str>) -> bool {
    let (Some(state), Some(session)) = (state, session) else { return false };
    let folder = state.join("undecided");
    if DirBuilder::new().recursive(true).mode(0o700).create(&folder).is_err() {
        return false;
    }
    let name = blake3::hash(format!("{} {session}", agent.name()).as_bytes()).to_hex();
    let file = folder.join(&name[..32]);
    OpenOptions::new().write(true).create_new(true).mode(0o600).open(file).is_ok()
}
