//! The folders that agents' settings are found from.

use std::fs;
use std::path::PathBuf;

use super::scope::Scope;
use crate::failure::Failure;
use crate::settings::Places;

/// gate's folder for installations for all users of a machine.
pub(super) const MANAGED_DATA: &str = "/var/lib/gate";

/// Folders of settings, for a user and a project.
#[derive(Clone, Debug)]
pub(crate) struct Roots {
    pub(super) home: PathBuf,
    /// The user's settings folder (`$XDG_CONFIG_HOME`, `~/.config`).
    pub(super) config: PathBuf,
    pub(super) project: PathBuf,
    /// gate's own folder for what has to last.
    pub(super) data: PathBuf,
    /// The root of the file system, below which the settings of all users are.
    pub(super) machine: PathBuf,
    /// The installation is for all users.
    pub(super) is_managed: bool,
    environment: Vec<(String, String)>,
}

impl Roots {
    /// The folders of these places.
    ///
    /// # Errors
    ///
    /// A missing home folder, or a project that cannot be made out.
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
            machine: PathBuf::from("/"),
            is_managed: false,
            home,
        })
    }

    /// The folders for an installation of this scope. One for all users keeps its receipts, and
    /// its copy of gate, in a folder of the machine.
    ///
    /// # Errors
    ///
    /// As of [`Self::new`]; nobody but root installs for all users.
    pub(crate) fn for_scope(places: &Places, scope: Scope) -> Result<Self, Failure> {
        let roots = Self::new(places)?;
        if scope != Scope::Managed {
            return Ok(roots);
        }
        if gate_platform::effective_user() != 0 {
            let message = "the settings of all users of a machine are root's to change";
            return Err(Failure::usage("needs-root", message)
                .hint("run it with sudo, or install for yourself: --user"));
        }
        Ok(Self { data: PathBuf::from(MANAGED_DATA), is_managed: true, ..roots })
    }

    /// Makes the folder of the machine, which all users can look into whatever root's own mask is.
    ///
    /// # Errors
    ///
    /// A folder that cannot be made.
    pub(crate) fn prepare(&self) -> Result<(), Failure> {
        if !self.is_managed {
            return Ok(());
        }
        gate_platform::let_all_read_new_files();
        fs::create_dir_all(&self.data)
            .map_err(|error| Failure::file("file-unwritable", "make", &self.data, &error))
    }

    /// Removes the folder of the machine, if nothing is in it.
    pub(crate) fn tidy(&self) {
        if self.is_managed {
            // A folder that is not empty stays.
            let _ = fs::remove_dir(&self.data);
        }
    }

    /// A path of the facts: of the machine, in the home folder, in the user's settings folder, else
    /// in the project.
    pub(super) fn path(&self, path: &str) -> PathBuf {
        if let Some(path_from_root) = path.strip_prefix('/') {
            return self.machine.join(path_from_root);
        }
        if let Some(path_from_home) = path.strip_prefix("~/") {
            return self.home.join(path_from_home);
        }
        match path.strip_prefix("$XDG_CONFIG_HOME/") {
            Some(path_from_config) => self.config.join(path_from_config),
            None => self.project.join(path),
        }
    }

    /// The folder that a variable names.
    pub(super) fn variable(&self, name: &str) -> Option<PathBuf> {
        let mut set_variables = self.environment.iter().filter(|(_, value)| !value.is_empty());
        set_variables.find(|(key, _)| key == name).map(|(_, value)| self.project.join(value))
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
        // A relative folder of PATH is another one for each caller.
        let absolute_folders = folders.filter(|folder| folder.is_absolute());
        absolute_folders.map(move |folder| folder.join(program)).filter(|file| file.is_file())
    }
}
