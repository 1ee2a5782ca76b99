//! Errors in settings, with their place in the text.

use std::fmt;
use std::ops::Range;

use super::key::KeyPath;
use super::nearest;
use crate::text::brief;

/// Settings that cannot be used.
///
/// `Display` is one line: place, key, fault, and a hint, such as
/// ``gate.toml:3:1: unknown key `indicator_treshold` in `exit_gate`, did you
/// mean `indicator_threshold`?``. A renderer with more room takes the parts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConfigError(Box<ErrorParts>);

#[derive(Clone, Debug, PartialEq, Eq)]
struct ErrorParts {
    origin: String,
    excerpt: Option<Excerpt>,
    key: String,
    problem: Problem,
    hint: Option<String>,
}

/// The place in a text that an error is about.
#[non_exhaustive]
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Excerpt {
    /// The whole text.
    pub text: String,
    /// The faulty part of it, in bytes.
    pub span: Range<usize>,
    /// Line of the span's beginning, from 1.
    pub line: usize,
    /// Column of the span's beginning in characters, from 1.
    pub column: usize,
}

/// The kind of an error in settings.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Problem {
    /// The text is no TOML, or no JSON.
    #[error("{0}")]
    Syntax(String),
    /// No key has this name.
    #[error("unknown key `{0}`")]
    UnknownKey(String),
    /// A value names something that does not exist.
    #[error("unknown {kind} `{name}`")]
    UnknownName {
        /// The kind of the name: value, pack, check, task type.
        kind: &'static str,
        /// The name that nothing has.
        name: String,
    },
    /// A value of another type, or out of its type's range.
    #[error("expected {expected}, found {found}")]
    WrongType {
        /// The type or range of the setting.
        expected: String,
        /// The value in the text.
        found: String,
    },
    /// A value of the right type that makes no sense.
    #[error("{0}")]
    Invalid(String),
    /// A name that is given twice.
    #[error("duplicate {kind} `{name}`")]
    Duplicate {
        /// The kind of the name: pattern id, check, pack.
        kind: &'static str,
        /// The name that is used twice.
        name: String,
    },
    /// A regular expression that cannot be used.
    #[error("pattern `{id}`: {reason}")]
    Regex {
        /// The pattern's id.
        id: String,
        /// The cause, in words.
        reason: String,
    },
    /// A key that must be there is not.
    #[error("`{0}` is missing")]
    Missing(&'static str),
    /// Checks that wait for each other.
    #[error("checks need each other: {0}")]
    Cycle(String),
    /// Settings that contradict each other.
    #[error("{0}")]
    Conflict(String),
    /// A flag against a setting that the machine's settings lock.
    #[error("{lock} locks it at {value}")]
    Locked {
        /// File and line of the lock.
        lock: String,
        /// The locked value, as TOML.
        value: String,
    },
}

/// A problem at a key.
#[derive(Clone, Debug)]
pub(crate) struct Fault {
    /// The key.
    pub(super) path: KeyPath,
    pub(super) problem: Problem,
    pub(super) hint: Option<String>,
}

impl Fault {
    pub(super) fn new(path: KeyPath, problem: Problem) -> Self {
        Self { path, problem, hint: None }
    }

    /// No source sets this key, dotted, which has no default.
    pub(crate) fn missing(key: &'static str) -> Self {
        Self::new(KeyPath::default(), Problem::Missing(key))
    }

    /// A value of the right type that makes no sense.
    pub(super) fn invalid(path: KeyPath, message: impl Into<String>) -> Self {
        Self::new(path, Problem::Invalid(message.into()))
    }

    /// A name that is not among `names`; hints at the nearest of them.
    pub(super) fn unknown(path: KeyPath, kind: &'static str, name: &str, names: &[&str]) -> Self {
        let problem = Problem::UnknownName { kind, name: name.to_owned() };
        Self { path, problem, hint: nearest::hint(name, names) }
    }

    pub(super) fn hint(self, hint: impl Into<String>) -> Self {
        Self { hint: Some(hint.into()), ..self }
    }
}

/// The result of a validation.
pub(super) type Validation = Result<(), Fault>;

/// The most of a key that an error shows.
const MAX_KEY_CHARS: usize = 300;

impl ConfigError {
    /// An error in a text; `origin` is the file's name.
    pub(super) fn in_text(origin: &str, text: &str, span: Range<usize>, fault: Fault) -> Self {
        Self::new(origin, Some(Excerpt::new(text, span)), fault)
    }

    /// An error in a value without a text: a variable, a flag.
    pub(super) fn in_value(origin: &str, fault: Fault) -> Self {
        Self::new(origin, None, fault)
    }

    fn new(origin: &str, excerpt: Option<Excerpt>, fault: Fault) -> Self {
        let Fault { path, problem, hint } = fault;
        let key = match path.to_string() {
            key if key.len() > MAX_KEY_CHARS => brief(&key, MAX_KEY_CHARS),
            key => key,
        };
        Self(Box::new(ErrorParts { origin: origin.to_owned(), excerpt, key, problem, hint }))
    }

    /// The error with the place that its key has in another text, which `find_place` finds.
    pub(super) fn with_place_in(
        mut self,
        text: &str,
        find_place: impl FnOnce(&str, &KeyPath, &Problem) -> Range<usize>,
    ) -> Self {
        let span = find_place(text, &KeyPath::dotted(&self.0.key), &self.0.problem);
        self.0.excerpt = Some(Excerpt::new(text, span));
        self
    }

    /// The error with a better hint for an unknown key, if there is one.
    pub(super) fn with_key_hint(mut self, hint: impl FnOnce(&str) -> Option<String>) -> Self {
        if let Problem::UnknownKey(name) = &self.0.problem {
            self.0.hint = hint(name).or(self.0.hint.take());
        }
        self
    }

    /// A stable kebab-case code.
    pub fn code(&self) -> &'static str {
        match self.0.problem {
            Problem::Syntax(_) => "config-syntax",
            Problem::UnknownKey(_) => "config-unknown-key",
            Problem::UnknownName { .. } => "config-unknown-name",
            Problem::WrongType { .. } => "config-wrong-type",
            Problem::Invalid(_) => "config-invalid",
            Problem::Duplicate { .. } => "config-duplicate",
            Problem::Regex { .. } => "config-regex",
            Problem::Missing(_) => "config-missing",
            Problem::Cycle(_) => "config-cycle",
            Problem::Conflict(_) => "config-conflict",
            Problem::Locked { .. } => "config-locked",
        }
    }

    /// The file, variable or flag.
    pub fn origin(&self) -> &str {
        &self.0.origin
    }

    /// The place in the file; `None` for a variable or a flag.
    pub fn excerpt(&self) -> Option<&Excerpt> {
        self.0.excerpt.as_ref()
    }

    /// The line, from 1; `None` for a variable or a flag.
    pub fn line(&self) -> Option<usize> {
        self.excerpt().map(|excerpt| excerpt.line)
    }

    /// The column in characters, from 1; `None` for a variable or a flag.
    pub fn column(&self) -> Option<usize> {
        self.excerpt().map(|excerpt| excerpt.column)
    }

    /// The dotted key, such as `checks.tests.timeout`; `None` if the text as a whole is wrong.
    pub fn key(&self) -> Option<&str> {
        Some(self.0.key.as_str()).filter(|key| !key.is_empty())
    }

    /// The kind of the error, with its names and values.
    pub fn problem(&self) -> &Problem {
        &self.0.problem
    }

    /// A proposal how to mend it.
    pub fn hint(&self) -> Option<&str> {
        self.0.hint.as_deref()
    }

    /// Key and problem in one line, without place and hint.
    pub fn message(&self) -> String {
        let ErrorParts { key, problem, .. } = &*self.0;
        match (problem, key.rsplit_once('.')) {
            (Problem::UnknownKey(_), Some((table, _))) => format!("{problem} in `{table}`"),
            (Problem::UnknownKey(_), None) => problem.to_string(),
            _ if key.is_empty() => problem.to_string(),
            _ => format!("`{key}`: {problem}"),
        }
    }
}

impl fmt::Display for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0.origin)?;
        if let Some(Excerpt { line, column, .. }) = self.excerpt() {
            write!(f, ":{line}:{column}")?;
        }
        write!(f, ": {}", self.message())?;
        self.hint().map_or(Ok(()), |hint| write!(f, ", {hint}"))
    }
}

impl std::error::Error for ConfigError {}

impl Excerpt {
    fn new(text: &str, span: Range<usize>) -> Self {
        let (line, column) = position(text, span.start);
        Self { text: text.to_owned(), span, line, column }
    }
}

/// Line and column of a byte, both from 1; the column counts characters.
pub(super) fn position(text: &str, byte: usize) -> (usize, usize) {
    let head = text.get(..byte).unwrap_or(text);
    let line_start = head.rfind('\n').map_or(0, |newline| newline + 1);
    (head.matches('\n').count() + 1, head[line_start..].chars().count() + 1)
}
