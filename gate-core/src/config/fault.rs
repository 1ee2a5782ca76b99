//! A problem at a key, before it is known where that key stands.

use super::error::Problem;
use super::key::KeyPath;
use super::nearest;

/// A problem at a key.
#[derive(Clone, Debug)]
pub(super) struct Fault {
    /// The key.
    pub(super) path: KeyPath,
    /// What is wrong with it.
    pub(super) problem: Problem,
    /// What to do about it.
    pub(super) hint: Option<String>,
}

impl Fault {
    pub(super) fn new(path: KeyPath, problem: Problem) -> Self {
        Self { path, problem, hint: None }
    }

    /// A value of the right type that makes no sense.
    pub(super) fn invalid(path: KeyPath, message: impl Into<String>) -> Self {
        Self::new(path, Problem::Invalid(message.into()))
    }

    /// A name that nothing has; hints at the nearest of those `known`.
    pub(super) fn unknown(path: KeyPath, what: &'static str, name: &str, known: &[&str]) -> Self {
        let problem = Problem::UnknownName { what, name: name.to_owned() };
        Self { path, problem, hint: nearest::hint(name, known) }
    }

    pub(super) fn hint(self, hint: impl Into<String>) -> Self {
        Self { hint: Some(hint.into()), ..self }
    }
}

/// Whether a check of settings found them in order.
pub(super) type Checked = Result<(), Fault>;
