//! Settings files on disk, the folders that they are found from, and what is remembered of
//! them.

mod files;
mod readers;
mod receipts;

use std::fs;

use tempfile::TempDir;

use super::roots::Roots;
use crate::settings::Places;

/// A home, a project, and gate's folder, with these variables beside HOME.
pub(super) fn roots(variables: &[(&str, &str)]) -> (TempDir, Roots) {
    let folder = tempfile::tempdir().unwrap();
    for name in ["home", "project"] {
        fs::create_dir(folder.path().join(name)).unwrap();
    }
    let home = folder.path().join("home").display().to_string();
    let mut environment = vec![("HOME".to_owned(), home)];
    let variables = variables.iter().map(|(name, value)| ((*name).into(), (*value).into()));
    environment.extend(variables);
    let (project, data) = (folder.path().join("project"), Some(folder.path().join("data")));
    let places = Places { folder: project, data, environment, ..Places::default() };
    let mut roots = Roots::new(&places).unwrap();
    roots.machine = folder.path().join("machine");
    (folder, roots)
}
