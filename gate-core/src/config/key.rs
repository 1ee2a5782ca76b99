//! Dotted keys, such as `patterns.custom[1].regex`.

use std::fmt;

use toml::{Table, Value};

/// One step into a settings file.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Step {
    /// Into a table.
    Key(String),
    /// Into an array, from 0.
    Index(usize),
}

impl Step {
    /// The key's name; `None` for an index.
    pub(super) fn name(&self) -> Option<&str> {
        match self {
            Self::Key(name) => Some(name),
            Self::Index(_) => None,
        }
    }
}

/// The path of a key in a settings file; empty for the whole file.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct KeyPath(pub(super) Vec<Step>);

impl KeyPath {
    /// A path as its `Display` writes it, without quoted names: `patterns.custom[1].regex`.
    pub(super) fn dotted(text: &str) -> Self {
        let mut steps = Vec::new();
        for key in text.split('.') {
            let mut names = key.split('[');
            steps.extend(names.next().map(|name| Step::Key(name.to_owned())));
            let indices = names.filter_map(|index| index.strip_suffix(']')?.parse().ok());
            steps.extend(indices.map(Step::Index));
        }
        Self(steps)
    }

    /// This path and one key more.
    pub(super) fn key(&self, name: &str) -> Self {
        self.with(Step::Key(name.to_owned()))
    }

    /// This path and one array index more.
    pub(super) fn index(&self, index: usize) -> Self {
        self.with(Step::Index(index))
    }

    /// This path, then the steps of another.
    pub(super) fn join(&self, steps: &[Step]) -> Self {
        Self(self.0.iter().chain(steps).cloned().collect())
    }

    /// All but the last step.
    pub(super) fn parent(&self) -> Self {
        Self(self.0[..self.0.len().saturating_sub(1)].to_vec())
    }

    pub(super) fn starts_with(&self, prefix: &Self) -> bool {
        self.0.starts_with(&prefix.0)
    }

    /// The value of this key in a table.
    pub(super) fn value_in<'t>(&self, table: &'t Table) -> Option<&'t Value> {
        let mut names = self.0.iter().map(Step::name);
        let value = table.get(names.next()??)?;
        names.try_fold(value, |value, name| value.get(name?))
    }

    fn with(&self, step: Step) -> Self {
        self.join(&[step])
    }
}

impl fmt::Display for KeyPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (depth, step) in self.0.iter().enumerate() {
            match step {
                Step::Key(name) if depth == 0 => write!(f, "{}", quoted(name))?,
                Step::Key(name) => write!(f, ".{}", quoted(name))?,
                Step::Index(index) => write!(f, "[{index}]")?,
            }
        }
        Ok(())
    }
}

/// A key as TOML writes it: bare if it can be.
fn quoted(name: &str) -> String {
    if is_name(name) { name.to_owned() } else { format!("{name:?}") }
}

/// A valid name of a check, task type or pattern: letters, digits, `-` and `_`, so
/// that paths, keys and shell words can contain it.
pub(super) fn is_name(text: &str) -> bool {
    !text.is_empty()
        && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_".contains(&byte))
}
