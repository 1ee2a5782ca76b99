//! `run-info.yaml`, read.

use jiff::Timestamp;

use super::info::{Ownership, RunInfo, RunInfoError, Status, VERSION};
use super::layout;
use crate::yaml::{Entry, mapping};

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
        Self::read(text, ["", "", ""])
    }

    /// Reads the record at a path: an id that it does not name is taken from
    /// the folders, `…/<project>/<task>/runs/<run_id>/run-info.yaml`.
    ///
    /// # Errors
    ///
    /// As [`RunInfo::parse`].
    pub fn parse_at(text: &str, path: &str) -> Result<Self, RunInfoError> {
        Self::read(text, ids(path))
    }

    fn read(text: &str, [project, task, run]: [&str; 3]) -> Result<Self, RunInfoError> {
        let mut fields = Fields(mapping(text)?);
        if let Some(version) = fields.number::<u64>("version")?
            && version != VERSION
        {
            return Err(value("version", 0, "1", &version.to_string()));
        }
        Ok(Self {
            run_id: fields.id("run_id", run)?,
            parent_run_id: fields.text("parent_run_id")?,
            previous_run_id: fields.text("previous_run_id")?,
            project_id: fields.id("project_id", project)?,
            task_id: fields.id("task_id", task)?,
            agent: fields.text("agent")?,
            process_ownership: fields
                .one_of("process_ownership", &Ownership::ALL, |owner| owner.name())?,
            pid: fields.number("pid")?.unwrap_or(0),
            pgid: fields.number("pgid")?.unwrap_or(0),
            start_time: fields.required("start_time", Fields::time)?,
            end_time: fields.time("end_time")?.filter(|time| *time != NO_TIME),
            exit_code: fields.required("exit_code", Fields::number)?,
            status: fields.required("status", |fields, key| {
                fields.one_of(key, &Status::ALL, |status| status.name())
            })?,
            cwd: fields.text("cwd")?,
            prompt_path: fields.text("prompt_path")?,
            output_path: fields.text("output_path")?,
            stdout_path: fields.text("stdout_path")?,
            stderr_path: fields.text("stderr_path")?,
            commandline: fields.text("commandline")?,
            error_summary: fields.text("error_summary")?,
            agent_version: fields.text("agent_version")?,
            extra: fields.0,
        })
    }
}

/// Keys that were not read yet.
struct Fields(Vec<Entry>);

impl Fields {
    fn text(&mut self, key: &'static str) -> Result<String, RunInfoError> {
        Ok(self.take(key)?.map(|(text, _)| text).unwrap_or_default())
    }

    /// An id, which a record may leave out only if its path has it.
    fn id(&mut self, key: &'static str, by_path: &str) -> Result<String, RunInfoError> {
        let text = self.text(key)?;
        let id = if text.trim().is_empty() { by_path } else { &text };
        if id.is_empty() { Err(RunInfoError::Missing { key }) } else { Ok(id.to_owned()) }
    }

    fn number<N: std::str::FromStr>(
        &mut self,
        key: &'static str,
    ) -> Result<Option<N>, RunInfoError> {
        self.parsed(key, "a whole number", |text| text.parse().ok())
    }

    fn time(&mut self, key: &'static str) -> Result<Option<Timestamp>, RunInfoError> {
        self.parsed(key, "a time such as 2026-02-20T15:30:45Z", |text| text.parse().ok())
    }

    fn one_of<T: Copy>(
        &mut self,
        key: &'static str,
        all: &[T],
        name: fn(&T) -> &'static str,
    ) -> Result<Option<T>, RunInfoError> {
        let expected = match key {
            "status" => "running, completed, failed or unknown",
            _ => "managed or external",
        };
        self.parsed(key, expected, |text| all.iter().find(|known| name(known) == text).copied())
    }

    fn required<T>(
        &mut self,
        key: &'static str,
        read: impl Fn(&mut Self, &'static str) -> Result<Option<T>, RunInfoError>,
    ) -> Result<T, RunInfoError> {
        read(self, key)?.ok_or(RunInfoError::Missing { key })
    }

    fn parsed<T>(
        &mut self,
        key: &'static str,
        expected: &'static str,
        parse: impl Fn(&str) -> Option<T>,
    ) -> Result<Option<T>, RunInfoError> {
        let Some((text, line)) = self.take(key)?.filter(|(text, _)| !text.is_empty()) else {
            return Ok(None);
        };
        parse(&text).map(Some).ok_or_else(|| value(key, line, expected, &text))
    }

    fn take(&mut self, key: &'static str) -> Result<Option<(String, usize)>, RunInfoError> {
        let Some(at) = self.0.iter().position(|entry| entry.key == key) else {
            return Ok(None);
        };
        let entry = self.0.remove(at);
        let text = entry.value.as_str().map(str::to_owned);
        let text = text.ok_or_else(|| value(key, entry.line, "one value", "a list or mapping"))?;
        Ok(Some((text, entry.line)))
    }
}

fn value(key: &'static str, line: usize, expected: &'static str, found: &str) -> RunInfoError {
    RunInfoError::Value { line, key, expected, found: found.to_owned() }
}

/// Project, task and run of a record, by its path; empty if the path has none.
fn ids(path: &str) -> [&str; 3] {
    let mut parts = path.rsplit(['/', '\\']).skip(1);
    let run = parts.next().unwrap_or_default();
    if parts.next() != Some(layout::RUNS) {
        return ["", "", run];
    }
    let task = parts.next().unwrap_or_default();
    [parts.next().unwrap_or_default(), task, run]
}
