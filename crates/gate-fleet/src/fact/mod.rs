//! Facts: findings of agents that other agents may rely on. Markdown with a front
//! matter of YAML, a file each.
//!
//! ```
//! use gate_fleet::fact::{Fact, Scope};
//!
//! let text = "---\ncreated_at: 2026-02-20T15:30:45Z\nscope: project\nrun_id: \"\"\n\
//!             title: The database\n---\n\nIt is SQLite.\n";
//! let fact = Fact::parse(text).expect("a fact");
//! assert_eq!((fact.scope, fact.body.as_str()), (Scope::Project, "It is SQLite.\n"));
//! assert_eq!(fact.to_markdown(), text);
//! ```

mod file;
mod name;
#[cfg(test)]
mod tests;

use jiff::Timestamp;

use crate::tree::Entry;
use crate::yaml::YamlError;

pub use name::{BadName, file_name, is_fact_file, slug};

/// A fact.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fact {
    /// When it was written.
    pub created_at: Timestamp,
    /// The agents for whom it holds.
    pub scope: Scope,
    /// The run that found it; empty if a person did.
    pub run_id: String,
    /// Its subject, in one line.
    pub title: String,
    /// The fact, as Markdown.
    pub body: String,
    /// Keys that are not known here.
    pub(super) extra: Vec<Entry>,
}

/// The range of agents for whom a fact holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Scope {
    /// A task.
    Task,
    /// A project.
    Project,
    /// Every project.
    Global,
}

/// A file that is no fact.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FactError {
    /// It does not begin with a front matter that ends.
    #[error("line 1: a front matter between two lines `---` is expected")]
    NoFrontMatter,
    /// The front matter is no YAML.
    #[error(transparent)]
    Yaml(#[from] YamlError),
    /// A key is missing, or has a value that is not allowed.
    #[error("{key}: {expected} is expected")]
    Key {
        /// The key.
        key: &'static str,
        /// The expected value.
        expected: &'static str,
    },
}

impl Fact {
    /// A fact that no run has found so far, found at this time.
    pub fn new(created_at: Timestamp, scope: Scope, title: &str, body: &str) -> Self {
        let (title, body) = (title.to_owned(), body.to_owned());
        Self { created_at, scope, run_id: String::new(), title, body, extra: Vec::new() }
    }

    /// The same for the whole project, from now on. It keeps the run that found it.
    #[must_use]
    pub fn promoted(self, created_at: Timestamp) -> Self {
        Self { created_at, scope: Scope::Project, ..self }
    }

    /// A fact with the same text, whatever its title.
    pub fn has_same_text(&self, other: &Self) -> bool {
        self.body.trim() == other.body.trim()
    }
}

impl Scope {
    /// The scope of this word in a front matter.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|scope| scope.name() == name)
    }

    /// All scopes, the narrowest first.
    pub const ALL: [Self; 3] = [Self::Task, Self::Project, Self::Global];

    /// Its word in a front matter.
    pub fn name(self) -> &'static str {
        match self {
            Self::Task => "task",
            Self::Project => "project",
            Self::Global => "global",
        }
    }
}
