//! The folder of all run folders.

use std::path::{Path, PathBuf};

use gate_core::Failure;

use super::file;
use super::project::Project;
use crate::run::{self, layout};

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
    pub fn projects(&self) -> Result<Vec<Project>, Failure> {
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
