//! From layers to a policy.

mod build;

use std::collections::BTreeSet;

use toml::{Table, Value};

use super::cross;
use super::error::{ConfigError, Fault};
use super::key::KeyPath;
use super::layer::{Layer, Origin};
use super::lock::{Lock, LockedAttempt};
use super::merge::Merged;
use super::raw::{NotifySettings, RawConfig, RunSettings, WorkSettings};
use crate::decide::checks::CRITERIA;
use crate::decide::policy::{Policy, Threshold};
use crate::text::brief;

/// The merged and checked settings.
#[non_exhaustive]
#[derive(Clone, Debug, PartialEq)]
pub struct Resolved {
    /// The rules of the decision.
    pub policy: Policy,
    /// `[run]`: loops that gate runs.
    pub run: RunSettings,
    /// `[notify]`: messages about ends of loops.
    pub notify: NotifySettings,
    /// `[work]`: work items.
    pub work: WorkSettings,
    /// Warnings that a decision mentions.
    pub warnings: Vec<ConfigWarning>,
    /// The keys that the machine's settings lock.
    pub locks: Vec<Lock>,
    /// The sources, the embedded default first.
    layers: Vec<Layer>,
    task_type: Option<String>,
}

impl Resolved {
    /// Every effective setting with its source, in order of keys. It is computed on each call: a
    /// decision needs none of it.
    pub fn settings(&self) -> Vec<Setting> {
        let merged = merge(&self.layers, self.task_type.as_deref());
        // They were merged before, so they can be.
        merged.map(|merged| merged.settings()).unwrap_or_default()
    }

    /// The lock of a setting: its own, or that of a table around it.
    pub fn lock_of(&self, key: &str) -> Option<&Lock> {
        self.locks.iter().find(|lock| lock.covers(key))
    }
}

/// Settings that hold, but that a person should know of.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ConfigWarning {
    /// The indicator threshold in force comes from the environment, where an
    /// agent could have set it.
    #[error("the indicator threshold {value} comes from the environment variable {variable}")]
    ThresholdFromEnvironment {
        /// The variable's name.
        variable: String,
        /// The threshold.
        value: u32,
    },
    /// A key of an earlier version.
    #[error("{place}: `{key}` {effect}: {instead}")]
    Gone {
        /// The file and the line.
        place: String,
        /// The key.
        key: String,
        /// The effect that it still has, as a phrase.
        effect: &'static str,
        /// The remedy, as a phrase.
        instead: &'static str,
    },
    /// A source would have changed a locked setting.
    #[error("{}", lock_sentence(_0))]
    Locked(LockedAttempt),
}

/// The most characters of a value in a warning: a command may be long.
const MAX_VALUE_CHARS: usize = 80;

fn lock_sentence(attempt: &LockedAttempt) -> String {
    let LockedAttempt { key, value, lock, tried_value, source } = attempt;
    let value =
        value.as_deref().map_or("its default".to_owned(), |value| brief(value, MAX_VALUE_CHARS));
    let tried_value = brief(tried_value, MAX_VALUE_CHARS);
    format!("{lock} locks `{key}` at {value}, so {tried_value} from {source} is ignored")
}

/// One effective setting.
#[non_exhaustive]
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Setting {
    /// Dotted key, such as `checks.tests.timeout`.
    pub key: String,
    /// Its value, as TOML.
    pub value: String,
    /// The highest source that sets the key.
    pub origin: Origin,
    /// The line there, from 1; `None` for variables, flags and the embedded default.
    pub line: Option<usize>,
}

/// Lays layers over each other, the later over the earlier, above the embedded
/// default, and builds the policy.
///
/// A task type's settings lie above all files and below variables and flags.
///
/// # Errors
///
/// A task type that no layer knows, or settings that contradict each other.
pub fn resolve(layers: &[Layer], task_type: Option<&str>) -> Result<Resolved, ConfigError> {
    if task_type.is_none() && layers.iter().all(Layer::is_silent) {
        return default_alone();
    }
    merged(layers, task_type)
}

/// The embedded default by itself, without the way over merged tables: most
/// starts of gate need no more.
fn default_alone() -> Result<Resolved, ConfigError> {
    let embedded = Layer::embedded();
    let resolved =
        build::resolved(embedded.raw().clone()).map_err(|fault| embedded.error(fault))?;
    Ok(Resolved { layers: vec![embedded], ..resolved })
}

fn merged(layers: &[Layer], task_type: Option<&str>) -> Result<Resolved, ConfigError> {
    let layers = [&[Layer::embedded()], layers].concat();
    let merged = merge(&layers, task_type)?;
    // From text again: to read the settings from tables as well would double their code.
    let raw: RawConfig = toml::from_str(&merged.table().to_string()).map_err(|error| {
        merged.error(Fault::invalid(KeyPath::default(), error.message().to_owned()))
    })?;
    cross::config(&raw).map_err(|fault| merged.error(fault))?;
    let mut resolved = build::resolved(raw).map_err(|fault| merged.error(fault))?;
    resolved.policy.signal.exit_protocol = layers.iter().any(|layer| layer.exit_protocol);
    Ok(Resolved {
        warnings: warnings(&layers, &merged, resolved.policy.exit_gate.threshold),
        locks: merged.locks(),
        task_type: task_type.map(str::to_owned),
        layers,
        ..resolved
    })
}

fn merge<'a>(layers: &'a [Layer], task_type: Option<&str>) -> Result<Merged<'a>, ConfigError> {
    let mut merged = Merged::new(layers)?;
    let (files, variables_and_flags): (Vec<_>, Vec<_>) =
        (1..layers.len()).partition(|index| layers[*index].origin().is_file());
    for index in files {
        merged.overlay(index)?;
    }
    if let Some(task_type) = task_type {
        expect_task_type(merged.table(), task_type)?;
        merged.overlay_task_type(task_type);
    }
    for index in variables_and_flags {
        merged.overlay(index)?;
    }
    // Behind all sources, so that none lies above a lock.
    merged.lock(task_type)?;
    check_defaults(&mut merged);
    Ok(merged)
}

fn expect_task_type(table: &Table, task_type: &str) -> Result<(), ConfigError> {
    let types = table.get("task_types").and_then(Value::as_table);
    let names: Vec<&str> = types.into_iter().flatten().map(|(name, _)| name.as_str()).collect();
    if names.contains(&task_type) {
        return Ok(());
    }
    let mut fault = Fault::unknown(KeyPath::default(), "task type", task_type, &names);
    fault.hint.get_or_insert_with(|| "no file has [task_types.NAME]".to_owned());
    Err(ConfigError::in_value("--task-type", fault))
}

/// Fills in the defaults of each check.
fn check_defaults(merged: &mut Merged<'_>) {
    let checks = merged.table().get("checks").and_then(Value::as_table);
    let named = checks.into_iter().flatten().filter(|(_, value)| value.is_table());
    let mut names: BTreeSet<String> = named.map(|(name, _)| name.clone()).collect();
    // A check of this name looks at the criteria, and need not be written.
    if merged.table().contains_key("criteria") {
        names.insert(CRITERIA.to_owned());
    }
    for name in names {
        for (key, value) in build::check_defaults(&name) {
            merged.default_value(&KeyPath::dotted("checks").key(&name).key(key), value);
        }
    }
}

/// Keys of earlier versions, by the lines of the file that has them.
fn removed_keys(layer: &Layer) -> Vec<ConfigWarning> {
    if layer.removed_keys.is_empty() {
        return Vec::new();
    }
    let lines = layer.lines();
    let mut keys: Vec<_> =
        layer.removed_keys.iter().map(|key| (lines.get(&key.path).copied(), key)).collect();
    keys.sort_by_key(|(line, _)| *line);
    let warnings = keys.into_iter().map(|(line, key)| ConfigWarning::Gone {
        place: layer.origin().place(line),
        key: key.path.to_string(),
        effect: key.effect,
        instead: key.instead,
    });
    warnings.collect()
}

fn warnings(layers: &[Layer], merged: &Merged<'_>, threshold: Threshold) -> Vec<ConfigWarning> {
    let attempts = merged.attempts().iter().cloned().map(ConfigWarning::Locked);
    let origin = merged.origin(&KeyPath::dotted("exit_gate.indicator_threshold"));
    let threshold = match (origin, threshold) {
        (Some(Origin::Environment(variable)), Threshold::Fixed(value)) => {
            Some(ConfigWarning::ThresholdFromEnvironment { variable: variable.clone(), value })
        }
        _ => None,
    };
    layers.iter().flat_map(removed_keys).chain(threshold).chain(attempts).collect()
}

impl Default for Policy {
    /// The embedded default with the seed's threshold of 2.
    fn default() -> Self {
        #[allow(clippy::expect_used, reason = "a constant text, and a test resolves it")]
        let resolved = resolve(&[], None).expect("the embedded default resolves");
        let mut policy = resolved.policy;
        policy.exit_gate.threshold = Threshold::Fixed(2);
        policy
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_default_by_itself_is_what_merging_makes_of_it() {
        let silent = Layer::flags(None);
        assert!(silent.is_silent() && !Layer::flags(Some(2)).is_silent());
        assert_eq!(resolve(&[silent], None), merged(&[], None));
    }

    #[test]
    fn what_is_embedded_is_what_the_text_says() {
        let text = Layer::parse(Origin::Default, super::super::DEFAULT);
        assert_eq!(Ok(Layer::embedded()), text);
    }
}
