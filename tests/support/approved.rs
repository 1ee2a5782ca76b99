//! The project's settings, and what a person did about them before the program runs.

use std::path::Path;

use gate_cli::Places;

use super::Run;

impl Run {
    /// The project's settings, which a person approves before the program runs.
    pub(crate) fn settings(self, text: &str) -> Self {
        self.settings_in("", text)
    }

    /// The settings of a folder of the project, approved in the same way.
    pub(crate) fn settings_in(mut self, folder: &str, text: &str) -> Self {
        self.approves.push(self.path("work").join(folder));
        self.file(&Path::new(folder).join("gate.toml").display().to_string(), text)
    }

    /// Settings that nobody approves.
    pub(crate) fn unapproved(self, text: &str) -> Self {
        self.file("gate.toml", text)
    }

    /// The person looked at the settings, and approved them. Those that do not hold
    /// are told by whoever reads them.
    pub(super) fn approve(&self) {
        for folder in self.approves.iter().filter(|approve| approve.is_dir()) {
            let home = self.path("home");
            let _ = gate_cli::trust::approve(&Places {
                folder: folder.canonicalize().unwrap(),
                user: Some(home.join(".config")),
                machine: None,
                state: None,
                data: Some(home.join(".local/share/gate")),
                environment: Vec::new(),
            });
        }
    }
}
