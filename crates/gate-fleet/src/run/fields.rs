//! `run-info.yaml`, read and written.

use jiff::Timestamp;
use serde::de::DeserializeOwned;

use super::info::{RunInfo, RunInfoError};
use super::layout;
use crate::tree::{Entry, Node, get, members};
use crate::yaml::{self, mapping};

/// The only version of the record.
const VERSION: &str = "1";

/// The year in which Go's clocks begin: no time at all.
const NO_TIME: Timestamp = Timestamp::constant(-62_135_596_800, 0);

impl RunInfo {
    /// Reads a record that has all required keys.
    ///
    /// # Errors
    ///
    /// No YAML, a key that is missing or has a value that is not allowed, a version that is not
    /// known.
    pub fn parse(text: &str) -> Result<Self, RunInfoError> {
        Self::read(text, &PathIds::default())
    }

    /// Reads the record at a path: an id that it does not name is taken from
    /// the folders, `…/<project>/<task>/runs/<run_id>/run-info.yaml`.
    ///
    /// # Errors
    ///
    /// As [`RunInfo::parse`].
    pub fn parse_at(text: &str, path: &str) -> Result<Self, RunInfoError> {
        Self::read(text, &PathIds::new(path))
    }

    fn read(text: &str, path_ids: &PathIds<'_>) -> Result<Self, RunInfoError> {
        let entries = mapping(text)?;
        for key in ["start_time", "exit_code", "status"] {
            if get(&entries, key).is_none_or(Node::is_empty) {
                return Err(RunInfoError::Missing { key });
            }
        }
        let mut info = Self::default();
        for entry in entries {
            match entry.key.as_str() {
                "version" => drop(parsed(&entry, VERSION, |text| (text == VERSION).then_some(()))?),
                "process_ownership" => {
                    info.process_ownership = parsed(&entry, "managed or external", value_named)?;
                }
                "pid" => info.pid = number(&entry)?,
                "pgid" => info.pgid = number(&entry)?,
                "start_time" => info.start_time = time(&entry)?.unwrap_or_default(),
                "end_time" => info.end_time = time(&entry)?.filter(|time| *time != NO_TIME),
                "exit_code" => info.exit_code = number(&entry)?,
                "status" => {
                    let expected = "running, completed, failed or unknown";
                    info.status = parsed(&entry, expected, value_named)?.unwrap_or_default();
                }
                key => match info.text_mut(key) {
                    Some(field) => one_value(&entry)?.clone_into(field),
                    None => info.extra.push(entry),
                },
            }
        }
        let PathIds { run, project, task } = *path_ids;
        for (key, path_id) in [("run_id", run), ("project_id", project), ("task_id", task)] {
            match info.text_mut(key).filter(|id| id.trim().is_empty()) {
                Some(_) if path_id.is_empty() => return Err(RunInfoError::Missing { key }),
                Some(id) => path_id.clone_into(id),
                None => {}
            }
        }
        Ok(info)
    }

    /// The field of a key whose value is text.
    fn text_mut(&mut self, key: &str) -> Option<&mut String> {
        Some(match key {
            "run_id" => &mut self.run_id,
            "parent_run_id" => &mut self.parent_run_id,
            "previous_run_id" => &mut self.previous_run_id,
            "project_id" => &mut self.project_id,
            "task_id" => &mut self.task_id,
            "agent" => &mut self.agent,
            "cwd" => &mut self.cwd,
            "prompt_path" => &mut self.prompt_path,
            "output_path" => &mut self.output_path,
            "stdout_path" => &mut self.stdout_path,
            "stderr_path" => &mut self.stderr_path,
            "commandline" => &mut self.commandline,
            "error_summary" => &mut self.error_summary,
            "agent_version" => &mut self.agent_version,
            _ => return None,
        })
    }

    /// The record's text.
    pub fn to_yaml(&self) -> String {
        let mut entries = vec![Entry::new("version", Node::plain(VERSION))];
        entries.extend(members(self));
        for Entry { key, value, .. } in &mut entries {
            let time = match key.as_str() {
                "start_time" => self.start_time,
                "end_time" => self.end_time.unwrap_or(NO_TIME),
                _ => continue,
            };
            // In quotes it would be text, and no moment, to other readers of YAML.
            *value = Node::plain(time.to_string());
        }
        entries.extend(self.extra.iter().cloned());
        yaml::text(entries)
    }
}

/// The number of a key; 0 if it is left blank.
fn number(entry: &Entry) -> Result<i64, RunInfoError> {
    Ok(parsed(entry, "a whole number", |text| text.parse().ok())?.unwrap_or(0))
}

fn time(entry: &Entry) -> Result<Option<Timestamp>, RunInfoError> {
    parsed(entry, "a time such as 2026-02-20T15:30:45Z", |text| text.parse().ok())
}

/// The value that records call by this name.
fn value_named<T: DeserializeOwned>(name: &str) -> Option<T> {
    serde_json::from_value(name.into()).ok()
}

/// The value of a key; `None` if it is left blank.
fn parsed<T>(
    entry: &Entry,
    expected: &'static str,
    parse: impl Fn(&str) -> Option<T>,
) -> Result<Option<T>, RunInfoError> {
    match one_value(entry)? {
        "" => Ok(None),
        text => parse(text).map(Some).ok_or_else(|| bad_value(entry, expected, text)),
    }
}

fn one_value(entry: &Entry) -> Result<&str, RunInfoError> {
    entry.value.as_str().ok_or_else(|| bad_value(entry, "one value", "a list or mapping"))
}

fn bad_value(entry: &Entry, expected: &'static str, value: &str) -> RunInfoError {
    let Entry { key, line, .. } = entry;
    RunInfoError::Value { line: *line, key: key.clone(), expected, found: value.to_owned() }
}

/// The ids that the path of a record names; empty where it names none.
#[derive(Default)]
struct PathIds<'p> {
    project: &'p str,
    task: &'p str,
    run: &'p str,
}

impl<'p> PathIds<'p> {
    fn new(path: &'p str) -> Self {
        let mut folders = path.rsplit(['/', '\\']).skip(1);
        let run = folders.next().unwrap_or_default();
        if folders.next() != Some(layout::RUNS) {
            return Self { run, ..Self::default() };
        }
        let task = folders.next().unwrap_or_default();
        Self { project: folders.next().unwrap_or_default(), task, run }
    }
}
