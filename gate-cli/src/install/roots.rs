//! The folders that agents' settings are found from.

use std::path::PathBuf;

use crate::failure::Failure;
use crate::settings::Places;

/// Folders of settings, for a user and a project.
#[derive(Clone, Debug)]
pub(crate) struct Roots {
    pub(super) home: PathBuf,
    /// The user's settings folder (`$XDG_CONFIG_HOME`, `~/.config`).
    pub(super) config: PathBuf,
    pub(super) project: PathBuf,
    /// gate's own folder for what has to last.
    pub(super) data: PathBuf,
    environment: Vec<(String, String)>,
}

impl Roots {
    /// The folders of these places.
    ///
    /// # Errors
    ///
    /// There is no home folder, or the project cannot be made out.
    pub(crate) fn new(places: &Places) -> Result<Self, Failure> {
        let (Some(home), Some(data)) = (places.variable("HOME"), places.data.clone()) else {
            let message = "HOME names no folder, and settings stand there";
            return Err(Failure::usage("home-unknown", message));
        };
        let home = PathBuf::from(home);
        Ok(Self {
            config: places.user.clone().unwrap_or_else(|| home.join(".config")),
            data,
            project: places.project()?,
            environment: places.environment.clone(),
            home,
        })
    }

    /// A path of the facts: in the home folder, in the user's settings folder, else in the
    /// project.
    pub(super) fn path(&self, path: &str) -> PathBuf {
        if let Some(path) = path.strip_prefix("~/") {
            return self.home.join(path);
        }
        match path.strip_prefix("$XDG_CONFIG_HOME/") {
            Some(path) => self.config.join(path),
            None => self.project.join(path),
        }
    }

    /// The folder that a variable names.
    pub(super) fn variable(&self, name: &str) -> Option<PathBuf> {
        let mut set = self.environment.iter().filter(|(_, value)| !value.is_empty());
        set.find(|(known, _)| known == name).map(|(_, value)| self.project.join(value))
    }

    /// A program in PATH.
    pub(super) fn in_path(&self, program: &str) -> Option<PathBuf> {
        self.all_in_path(program).next()
    }

    /// A program in each folder of PATH that has it.
    pub(super) fn all_in_path<'a>(
        &'a self,
        program: &'a str,
    ) -> impl Iterator<Item = PathBuf> + 'a {
        let path = self.environment.iter().find(|(name, _)| name == "PATH");
        let folders = path.into_iter().flat_map(|(_, path)| std::env::split_paths(path));
        let files = folders.filter(|folder| folder.is_absolute()).map(move |at| at.join(program));
        files.filter(|file| file.is_file())
    }
}
