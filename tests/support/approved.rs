//! The project's settings, which a person approves before the program runs.

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
        self.approved_folders.push(self.path("work").join(folder));
        self.file(&Path::new(folder).join("gate.toml").display().to_string(), text)
    }

    /// Settings that nobody approves.
    pub(crate) fn unapproved(self, text: &str) -> Self {
        self.file("gate.toml", text)
    }

    /// Approves the settings, as a person does. The program under test reports settings that are not
    /// valid, so an error is passed over here.
    pub(super) fn approve(&self) {
        for folder in self.approved_folders.iter().filter(|folder| folder.is_dir()) {
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
