//! Locked settings get the value of the machine's file again.

use toml::Value;

use super::{Merged, leaves};
use crate::config::error::{ConfigError, Fault, Problem};
use crate::config::key::KeyPath;
use crate::config::layer::{Layer, Origin};
use crate::config::lock::{LOCKED, Lock, LockedAttempt};

impl Merged<'_> {
    /// The keys that the machine's file locks.
    pub(in crate::config) fn locks(&self) -> Vec<Lock> {
        let mut machines = self.layers.iter().filter(|layer| layer.raw().locked.is_some());
        let Some(machine) = machines.next() else { return Vec::new() };
        let lines = machine.lines();
        let file = machine.origin().to_string();
        let keys = machine.raw().locked.iter().flatten();
        let locks = keys.map(|key| {
            let line = lines.get(&KeyPath::dotted(key)).or(lines.get(&KeyPath::dotted(LOCKED)));
            Lock { key: key.clone(), file: file.clone(), line: line.copied().unwrap_or(1) }
        });
        locks.collect()
    }

    /// The sources that would have changed a locked setting.
    pub(in crate::config) fn attempts(&self) -> &[LockedAttempt] {
        &self.attempts
    }

    /// Gives each locked setting the value of the machine's file again, and keeps the sources that
    /// would have set another one.
    ///
    /// # Errors
    ///
    /// A flag that would have set another value: its user has to know that it does not count.
    pub(in crate::config) fn lock(&mut self, task_type: Option<&str>) -> Result<(), ConfigError> {
        let locks = self.locks();
        if locks.is_empty() {
            return Ok(());
        }
        let machine = self.below_user(task_type)?;
        let mut attempts = Vec::new();
        for lock in locks {
            let lock_path = KeyPath::dotted(&lock.key);
            for (path, tried_value) in self.leaves_at(&lock_path) {
                let value = machine.get(&path);
                if value == Some(tried_value) {
                    continue;
                }
                let attempt = LockedAttempt {
                    key: path.to_string(),
                    value: value.map(Value::to_string),
                    lock: lock.place(),
                    tried_value: tried_value.to_string(),
                    source: self.place(&path),
                };
                if let Some(Origin::Flag(flag)) = self.origin(&path) {
                    return Err(refused(flag, path, attempt));
                }
                attempts.push(attempt);
            }
            self.restore(&lock_path, &machine);
        }
        self.attempts = attempts;
        Ok(())
    }

    /// The settings of the embedded default and the machine's file alone.
    fn below_user(&self, task_type: Option<&str>) -> Result<Self, ConfigError> {
        let mut merged = Self::new(self.layers)?;
        let is_machine = |layer: &Layer| matches!(layer.origin(), Origin::Machine(_));
        for (index, _) in self.layers.iter().enumerate().filter(|(_, layer)| is_machine(layer)) {
            merged.overlay(index)?;
        }
        // The machine's own exceptions for a type of task are no attempts.
        task_type.into_iter().for_each(|task_type| merged.overlay_task_type(task_type));
        Ok(merged)
    }

    /// File and line, variable or flag.
    fn place(&self, path: &KeyPath) -> String {
        let (layer, path) = self.source(path);
        let layer = &self.layers[layer];
        layer.origin().place(layer.lines().get(path).copied())
    }

    /// Every setting at this key or below it.
    fn leaves_at(&self, path: &KeyPath) -> Vec<(KeyPath, &Value)> {
        match self.get(path) {
            Some(Value::Table(table)) => leaves(table, path),
            value => value.map(|value| (path.clone(), value)).into_iter().collect(),
        }
    }

    /// Takes the values at this key and below it from other settings.
    fn restore(&mut self, path: &KeyPath, settings: &Self) {
        let Some(value) = settings.get(path) else { return };
        self.sources.retain(|key, _| !key.starts_with(path));
        let sources = settings.sources.iter().filter(|(key, _)| key.starts_with(path));
        self.sources.extend(sources.map(|(path, source)| (path.clone(), source.clone())));
        self.insert(path, value.clone());
    }
}

fn refused(flag: &str, path: KeyPath, attempt: LockedAttempt) -> ConfigError {
    let problem = Problem::Locked { lock: attempt.lock, value: attempt.value.unwrap_or_default() };
    ConfigError::in_value(flag, Fault::new(path, problem).hint(format!("leave out {flag}")))
}
