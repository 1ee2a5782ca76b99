//! Lays layers over each other, key by key, and keeps the source of each value.

mod locked;

use std::collections::BTreeMap;

use toml::{Table, Value};

use super::error::{ConfigError, Fault};
use super::key::{KeyPath, Step};
use super::layer::{Layer, Origin};
use super::lock::{self, LockedAttempt};
use super::resolve::Setting;

/// The merged settings.
pub(super) struct Merged<'a> {
    layers: &'a [Layer],
    table: Table,
    /// The sources of the values that do not come from the lowest layer, as most do.
    sources: BTreeMap<KeyPath, ValueSource>,
    /// Sources that would have changed a locked setting.
    attempts: Vec<LockedAttempt>,
}

/// The source of an effective value.
#[derive(Clone, Debug)]
struct ValueSource {
    /// Index of the layer.
    layer: usize,
    /// Its key there, which is not the effective key if a task type sets it.
    path: KeyPath,
}

impl<'a> Merged<'a> {
    /// The lowest of these layers by itself.
    pub(super) fn new(layers: &'a [Layer]) -> Result<Self, ConfigError> {
        let table = layers.first().map_or_else(|| Ok(Table::new()), table)?;
        Ok(Self { layers, table, sources: BTreeMap::new(), attempts: Vec::new() })
    }

    /// Lays one of the layers over the settings so far: lists replace lists, tables merge.
    pub(super) fn overlay(&mut self, layer: usize) -> Result<(), ConfigError> {
        let table = table(&self.layers[layer])?;
        self.lay(&KeyPath::default(), table, &|path| ValueSource { layer, path: path.clone() });
        Ok(())
    }

    /// Lays the settings for a task type over those for all.
    pub(super) fn overlay_task_type(&mut self, task_type: &str) {
        let type_path = KeyPath::dotted("task_types").key(task_type);
        let Some(Value::Table(table)) = self.get(&type_path).cloned() else { return };
        let sources = self.sources.clone();
        self.lay(&KeyPath::default(), table, &|path| {
            let path = type_path.join(&path.0);
            sources.get(&path).cloned().unwrap_or(ValueSource { layer: 0, path })
        });
        self.apply_progress(&type_path.key("progress"));
    }

    /// The setting `progress` is a word for a switched-off trip.
    fn apply_progress(&mut self, type_path: &KeyPath) {
        self.table.remove("progress");
        self.sources.remove(&KeyPath::dotted("progress"));
        if self.get(type_path).and_then(Value::as_str) == Some("none") {
            let (layer, path) = self.source(type_path);
            let source = ValueSource { layer, path: path.clone() };
            self.put(&KeyPath::dotted("breaker.no_progress"), Value::Integer(0), source);
        }
    }

    /// Sets a value that no layer sets.
    pub(super) fn default_value(&mut self, path: &KeyPath, value: Value) {
        if self.get(path).is_none() {
            self.put(path, value, ValueSource { layer: 0, path: path.clone() });
        }
    }

    /// The effective settings.
    pub(super) fn table(&self) -> &Table {
        &self.table
    }

    /// Every effective setting, in order of keys.
    pub(super) fn settings(&self) -> Vec<Setting> {
        let lines: Vec<_> = self.layers.iter().map(Layer::lines).collect();
        let mut settings = leaves(&self.table, &KeyPath::default());
        // A list of keys, and no setting of any project.
        settings.retain(|(path, _)| *path != KeyPath::dotted(lock::LOCKED));
        let settings = settings.into_iter().map(|(path, value)| {
            let (layer, path_in_layer) = self.source(&path);
            Setting {
                key: path.to_string(),
                value: value.to_string(),
                origin: self.layers[layer].origin().clone(),
                line: lines[layer].get(path_in_layer).copied(),
            }
        });
        settings.collect()
    }

    /// Index of the layer that a value comes from, and its key there.
    fn source<'p>(&'p self, path: &'p KeyPath) -> (usize, &'p KeyPath) {
        self.sources.get(path).map_or((0, path), |source| (source.layer, &source.path))
    }

    /// Source of an effective value; `None` for the lowest layer.
    pub(super) fn origin(&self, path: &KeyPath) -> Option<&Origin> {
        self.sources.get(path).map(|source| self.layers[source.layer].origin())
    }

    /// A fault of the merged settings, at the place of the value in its source.
    pub(super) fn error(&self, fault: Fault) -> ConfigError {
        let source_of_fault = self.sources.iter().find(|(path, _)| fault.path.starts_with(path));
        match source_of_fault {
            Some((path, source)) => {
                let path = source.path.join(&fault.path.0[path.0.len()..]);
                self.layers[source.layer].error(Fault { path, ..fault })
            }
            None => self.layers[0].error(fault),
        }
    }

    fn get(&self, path: &KeyPath) -> Option<&Value> {
        path.value_in(&self.table)
    }

    fn lay(
        &mut self,
        table_path: &KeyPath,
        table: Table,
        source: &dyn Fn(&KeyPath) -> ValueSource,
    ) {
        for (name, value) in table {
            let path = table_path.key(&name);
            match value {
                Value::Table(table) => {
                    self.table_at(&path);
                    self.lay(&path, table, source);
                }
                value => self.put(&path, value, source(&path)),
            }
        }
    }

    fn put(&mut self, path: &KeyPath, value: Value, source: ValueSource) {
        if self.insert(path, value) {
            self.sources.insert(path.clone(), source);
        }
    }

    /// Sets a value; false if the value around it is no table.
    fn insert(&mut self, path: &KeyPath, value: Value) -> bool {
        let (table, name) = (self.table_at(&path.parent()), path.0.last());
        let (Some(table), Some(Step::Key(name))) = (table, name) else { return false };
        table.insert(name.clone(), value);
        true
    }

    /// The table at a path, made if it is missing.
    fn table_at(&mut self, path: &KeyPath) -> Option<&mut Table> {
        path.0.iter().try_fold(&mut self.table, |table, step| {
            let inner = table.entry(step.name()?).or_insert_with(|| Value::Table(Table::new()));
            inner.as_table_mut()
        })
    }
}

fn table(layer: &Layer) -> Result<Table, ConfigError> {
    Table::try_from(layer.raw())
        .map_err(|error| layer.error(Fault::invalid(KeyPath::default(), error.to_string())))
}

/// Every value that is no table, in order of keys.
fn leaves<'t>(table: &'t Table, table_path: &KeyPath) -> Vec<(KeyPath, &'t Value)> {
    let leaves = table.iter().flat_map(|(name, value)| {
        let path = table_path.key(name);
        match value {
            Value::Table(table) => leaves(table, &path),
            value => vec![(path, value)],
        }
    });
    leaves.collect()
}
