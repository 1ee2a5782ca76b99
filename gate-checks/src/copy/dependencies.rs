//! Folders with what a project needs of others. They are large and no part of the tree, so a copy
//! has links to them.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use crate::worktree::{ENVIRONMENT_MARKER, ENVIRONMENT_NAMES};

/// Folders of dependencies.
const NAMES: [&str; 4] = ["node_modules", ".venv", "venv", "vendor"];

/// Virtual environments of any other name are looked for beside these files, and at the top.
const PYTHON_PROJECTS: [&str; 3] = ["pyproject.toml", "setup.py", "requirements.txt"];

/// The places of a copy that have to lead to the real tree, relative to both. `files` are the
/// files of the copy; `holds` says whether the copy has a file or a folder of this name.
pub(crate) fn dependencies<'f>(
    real: &Path,
    files: impl IntoIterator<Item = &'f Path>,
    holds: impl Fn(&Path) -> bool,
) -> Vec<PathBuf> {
    let folders = files.into_iter().flat_map(|file| file.ancestors().skip(1));
    let folders: BTreeSet<_> = folders.chain([Path::new("")]).collect();
    let mut links = Vec::new();
    for folder in folders {
        let named = NAMES.iter().map(|name| folder.join(name));
        for inside in named.chain(environments(real, folder, &holds)) {
            if !holds(&inside) && real.join(&inside).is_dir() {
                links.push(inside);
            } else if is_environment(real, &inside) && !holds(&inside.join(ENVIRONMENT_MARKER)) {
                let parts = ENVIRONMENT_NAMES.iter().map(|name| inside.join(name));
                links.extend(parts.filter(|part| !holds(part) && real.join(part).exists()));
            }
        }
    }
    links.sort();
    links.dedup();
    links
}

fn environments(real: &Path, folder: &Path, holds: &impl Fn(&Path) -> bool) -> Vec<PathBuf> {
    let is_python = PYTHON_PROJECTS.iter().any(|file| holds(&folder.join(file)));
    if !is_python && folder != Path::new("") {
        return Vec::new();
    }
    let entries = fs::read_dir(real.join(folder)).into_iter().flatten().flatten();
    let inside = entries.map(|entry| folder.join(entry.file_name()));
    inside.filter(|inside| is_environment(real, inside)).collect()
}

fn is_environment(real: &Path, inside: &Path) -> bool {
    real.join(inside).join(ENVIRONMENT_MARKER).is_file()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(real: &[&str], copied: &[&str], links: &[&str]) {
        let folder = tempfile::tempdir().unwrap();
        for file in real {
            let file = folder.path().join(file);
            fs::create_dir_all(file.parent().unwrap()).unwrap();
            fs::write(file, "").unwrap();
        }
        let files: Vec<_> = copied.iter().map(Path::new).collect();
        let holds = |inside: &Path| files.iter().any(|file| file.starts_with(inside));
        let found = dependencies(folder.path(), files.iter().copied(), holds);
        assert_eq!(found, links.iter().map(PathBuf::from).collect::<Vec<_>>());
    }

    #[test]
    fn dependencies_are_linked_beside_each_file_that_is_copied() {
        let real = ["node_modules/a.js", "web/node_modules/b.js", "other/node_modules/c.js"];
        check(&real, &["web/package.json"], &["node_modules", "web/node_modules"]);
        check(&["vendor/a.go"], &["vendor/a.go"], &[]);
    }

    #[test]
    fn an_environment_of_any_name_is_linked() {
        let real = ["env/pyvenv.cfg", "api/py/pyvenv.cfg", "web/py/pyvenv.cfg"];
        check(&real, &["api/pyproject.toml", "web/index.js"], &["api/py", "env"]);
    }

    #[test]
    fn an_environment_with_a_file_of_the_work_is_linked_in_parts() {
        let real = [".venv/pyvenv.cfg", ".venv/bin/pytest", ".venv/lib/x.py", ".venv/notes.txt"];
        let parts = [".venv/bin", ".venv/lib", ".venv/pyvenv.cfg"];
        check(&real, &[".venv/notes.txt"], &parts);
        let files = [".venv/notes.txt", ".venv/bin/pytest"];
        check(&real, &files, &[".venv/lib", ".venv/pyvenv.cfg"]);
        check(&real, &[".venv/pyvenv.cfg", ".venv/bin/pytest"], &[]);
    }
}
