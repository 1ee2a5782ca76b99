//! The folder of all run folders.

use std::path::{Path, PathBuf};

use gate_checks::worktree;
use gate_fleet::run::{self, layout};

use super::file;
use super::project::Project;
use crate::failure::Failure;
use crate::settings::{self, Places, Selection};

/// The folder that holds the projects.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Runs {
    root: PathBuf,
}

impl Runs {
    /// The projects in this folder.
    pub fn at(root: impl Into<PathBuf>) -> Self {
        Self { root: root.into() }
    }

    /// The projects in the folder of the settings (`[run] folder`), or in
    /// `$XDG_DATA_HOME/gate/runs`.
    ///
    /// # Errors
    ///
    /// Neither of them is known (code 2).
    pub fn find(places: &Places, folder: Option<&str>) -> Result<Self, Failure> {
        let set = folder.map(|folder| places.project().map(|project| project.join(folder)));
        let usual = places.data.as_ref().map(|data| data.join("runs"));
        let root = set.transpose()?.or(usual).ok_or_else(|| {
            Failure::usage("runs-unknown", "there is no folder for runs: HOME is not set")
                .hint("set `folder` in [run] of gate.toml, or XDG_DATA_HOME")
        })?;
        Ok(Self::at(root))
    }

    /// The project of these places, if nobody names another.
    ///
    /// # Errors
    ///
    /// Settings that are not valid, no folder.
    pub fn here(places: &Places) -> Result<Project, Failure> {
        let resolved = settings::resolve(places, &Selection::default())?;
        let known_by = match resolved.policy.project.id {
            Some(id) => id,
            None => worktree::identity(&places.project()?),
        };
        Self::find(places, resolved.run.folder.as_deref())?.project(&run::project_slug(&known_by))
    }

    /// The folder itself.
    pub fn folder(&self) -> &Path {
        &self.root
    }

    /// A project, by its id.
    ///
    /// # Errors
    ///
    /// An id that is none (code 2).
    pub fn project(&self, id: &str) -> Result<Project, Failure> {
        run::project_id(id)
            .map_err(|error: run::BadId| Failure::usage("project-invalid", error.to_string()))?;
        Ok(Project::new(self.clone(), id))
    }

    /// All projects that have a folder.
    ///
    /// # Errors
    ///
    /// A folder that cannot be read.
    pub(crate) fn projects(&self) -> Result<Vec<Project>, Failure> {
        let names = file::names(&self.root)?;
        let projects = names.iter().filter(|name| *name != layout::GLOBAL);
        let projects = projects.filter_map(|name| self.project(name).ok());
        Ok(projects.filter(|project| project.folder().is_dir()).collect())
    }

    /// The folder of facts that hold for all projects.
    pub fn global(&self) -> PathBuf {
        self.root.join(layout::GLOBAL)
    }
}
