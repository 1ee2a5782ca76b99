//! A problem at a key, before it is known where that key stands.

use super::error::Problem;
use super::key::KeyPath;
use super::nearest;

/// A problem at a key.
#[derive(Clone, Debug)]
pub(super) struct Fault {
    /// The key.
    pub(super) path: KeyPath,
    pub(super) problem: Problem,
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

/// Result of a validation.
pub(super) type Validation = Result<(), Fault>;
