//! `run-info.yaml`, written.

use super::info::{RunInfo, VERSION};
use crate::yaml::{self, Entry, Node};

/// Text for a time that has not come yet.
const NO_TIME: &str = "0001-01-01T00:00:00Z";

impl RunInfo {
    /// The record's text.
    pub fn to_yaml(&self) -> String {
        let ownership = self.process_ownership.map_or("", |owner| owner.name());
        let lineage = optional([
            ("parent_run_id", &self.parent_run_id),
            ("previous_run_id", &self.previous_run_id),
        ]);
        let paths = optional([
            ("cwd", &self.cwd),
            ("prompt_path", &self.prompt_path),
            ("output_path", &self.output_path),
            ("stdout_path", &self.stdout_path),
            ("stderr_path", &self.stderr_path),
            ("commandline", &self.commandline),
            ("error_summary", &self.error_summary),
        ]);
        let mut all = vec![plain("version", VERSION.to_string()), text("run_id", &self.run_id)];
        all.extend(lineage);
        all.extend([
            text("project_id", &self.project_id),
            text("task_id", &self.task_id),
            text("agent", &self.agent),
        ]);
        all.extend(optional([("process_ownership", ownership)]));
        all.extend(self.times());
        all.extend(paths);
        all.push(text("agent_version", &self.agent_version));
        all.extend(self.extra.iter().cloned());
        yaml::text(&all)
    }

    fn times(&self) -> [Entry; 6] {
        [
            plain("pid", self.pid.to_string()),
            plain("pgid", self.pgid.to_string()),
            plain("start_time", self.start_time.to_string()),
            plain("end_time", self.end_time.map_or(NO_TIME.to_owned(), |at| at.to_string())),
            plain("exit_code", self.exit_code.to_string()),
            plain("status", self.status.name()),
        ]
    }
}

fn plain(key: &str, value: impl Into<String>) -> Entry {
    Entry::new(key, Node::plain(value))
}

fn text(key: &str, value: &str) -> Entry {
    Entry::new(key, Node::text(value))
}

fn optional<const N: usize>(all: [(&str, &str); N]) -> impl Iterator<Item = Entry> {
    all.map(|(key, value)| (!value.is_empty()).then(|| text(key, value))).into_iter().flatten()
}
