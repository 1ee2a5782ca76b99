//! A work item's names and texts.

use super::{ItemState, WorkError};
use gate_core::exit::WorkPhase;
use gate_core::ledger::Hash;

/// The longest id of an item or an actor, in bytes.
pub const MAX_NAME: usize = 128;

/// The longest title, in bytes.
pub const MAX_TITLE: usize = 512;

/// The longest description, in bytes.
pub const MAX_DESCRIPTION: usize = 64 * 1024;

/// A work item.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WorkItem {
    /// Its id, one of a kind in its project.
    pub id: String,
    /// Title in one line; may be empty.
    pub title: String,
    /// Description; may be empty.
    pub description: String,
    /// Its state.
    pub state: ItemState,
}

impl WorkItem {
    /// An item that begins in a phase.
    ///
    /// # Errors
    ///
    /// An id that is empty or above [`MAX_NAME`], a title above [`MAX_TITLE`], a
    /// description above [`MAX_DESCRIPTION`], control characters.
    pub fn new(
        id: &str,
        title: &str,
        description: &str,
        phase: WorkPhase,
    ) -> Result<Self, WorkError> {
        name("the work's id", id)?;
        line("the title", title, MAX_TITLE)?;
        if description.len() > MAX_DESCRIPTION {
            return Err(too_long("the description", MAX_DESCRIPTION));
        }
        if description.contains('\0') {
            return Err(WorkError::Unfit { what: "the description", why: "holds NUL".to_owned() });
        }
        Ok(Self {
            id: id.to_owned(),
            title: title.to_owned(),
            description: description.to_owned(),
            state: ItemState::added(phase),
        })
    }
}

impl WorkItem {
    /// The hash of its title and its description, by which a row is compared with the record that
    /// added it. A title holds no NUL.
    pub fn texts(&self) -> Hash {
        Hash::digest(format!("{}\0{}", self.title, self.description).as_bytes())
    }
}

/// Checks that a text can be an actor's name.
///
/// # Errors
///
/// One that is empty or above [`MAX_NAME`], control characters.
pub fn actor(text: &str) -> Result<(), WorkError> {
    name("the actor", text)
}

/// Checks that a text can be an item's or an actor's name.
fn name(what: &'static str, text: &str) -> Result<(), WorkError> {
    if text.trim().is_empty() {
        return Err(WorkError::Unfit { what, why: "is empty".to_owned() });
    }
    line(what, text, MAX_NAME)
}

fn line(what: &'static str, text: &str, most: usize) -> Result<(), WorkError> {
    if text.len() > most {
        return Err(too_long(what, most));
    }
    if text.chars().any(char::is_control) {
        let why = "holds a control character".to_owned();
        return Err(WorkError::Unfit { what, why });
    }
    Ok(())
}

fn too_long(what: &'static str, most: usize) -> WorkError {
    WorkError::Unfit { what, why: format!("is longer than {most} bytes") }
}
