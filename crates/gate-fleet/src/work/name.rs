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
    /// Its id, unique in its project.
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
        check_name("the work's id", id)?;
        check_line("the title", title, MAX_TITLE)?;
        if description.len() > MAX_DESCRIPTION {
            return Err(too_long("the description", MAX_DESCRIPTION));
        }
        if description.contains('\0') {
            return Err(unfit("the description", "holds NUL"));
        }
        Ok(Self {
            id: id.to_owned(),
            title: title.to_owned(),
            description: description.to_owned(),
            state: ItemState::added(phase),
        })
    }

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
pub fn check_actor(text: &str) -> Result<(), WorkError> {
    check_name("the actor", text)
}

/// Checks that a text can be an item's or an actor's name.
fn check_name(subject: &'static str, text: &str) -> Result<(), WorkError> {
    if text.trim().is_empty() {
        return Err(unfit(subject, "is empty"));
    }
    check_line(subject, text, MAX_NAME)
}

fn check_line(subject: &'static str, text: &str, max_bytes: usize) -> Result<(), WorkError> {
    if text.len() > max_bytes {
        return Err(too_long(subject, max_bytes));
    }
    if text.chars().any(char::is_control) {
        return Err(unfit(subject, "holds a control character"));
    }
    Ok(())
}

fn too_long(subject: &'static str, max_bytes: usize) -> WorkError {
    unfit(subject, &format!("is longer than {max_bytes} bytes"))
}

fn unfit(subject: &'static str, fault: &str) -> WorkError {
    WorkError::Unfit { subject, fault: fault.to_owned() }
}
