//! Python's bytecode of its own modules, and of packages that are installed outside of the tree.
//!
//! Python looks for bytecode in the copy's folder alone, and would compile all that a run imports: for
//! pytest that takes three times as long as its start. So the folder has links to the bytecode of the
//! installation that PATH names.
//!
//! The agent must not choose what is linked to. So nothing in the tree names an installation, and a folder
//! that stands in the tree or in gate's copies, or that has another name by links, is passed over.

use std::ffi::OsStr;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use gate_platform::{RealPath, symlink};

use super::Workspace;
use super::place::known_place;
use crate::site::CheckSite;
use crate::worktree::environment_home;

const PYTHON: &str = "python3";

/// The most links that are made at a time. Further modules are compiled.
const MAX_LINKS: usize = 10_000;

/// The folder of bytecode beside the sources.
const BYTECODE: &str = "__pycache__";

/// The packages of an environment or an installation.
const PACKAGES: &str = "site-packages";

/// Large folders at the top of Python's own modules and of packages, which tests seldom import. Packages
/// are linked to by themselves.
const LEFT_OUT: [&str; 6] = [PACKAGES, "distutils", "idlelib", "lib2to3", "pip", "test"];

impl Workspace {
    /// Links to the bytecode of the Python that PATH names.
    pub(crate) fn link_installed_bytecode(&self, site: &CheckSite) {
        let programs = which::which_in_all(PYTHON, Some(site.search_path()), "/");
        let mut programs = programs.into_iter().flatten();
        let Some(folders) = programs.find_map(|program| self.module_folders(&program)) else {
            return;
        };
        let mut links_left = MAX_LINKS;
        for folder in folders.iter().filter(|folder| self.is_elsewhere(folder)) {
            let Ok(name) = folder.strip_prefix("/") else { continue };
            let links = self.compiled_python().join(name);
            if !links.exists() && !self.is_below_link(&links) {
                // Python compiles what is not linked to.
                let _ = link_folder(folder, &links, &LEFT_OUT, &mut links_left);
            }
        }
    }

    /// The folders of modules that a Python imports from. `None` if it is not installed elsewhere, or is
    /// a script that chooses a Python.
    fn module_folders(&self, program: &Path) -> Option<Vec<PathBuf>> {
        let programs = program.parent().filter(|folder| self.is_elsewhere(folder))?;
        let environment = programs.parent()?;
        let home = environment_home(environment);
        let base = home.as_deref().unwrap_or(programs).join(PYTHON).real_path().ok()?;
        let (prefix, version) = (base.parent()?.parent()?, base.file_name()?);
        let library = prefix.join("lib").join(version);
        if !is_version(version) || !library.is_dir() {
            return None;
        }
        let packages = match home {
            Some(_) => Vec::from([environment.join("lib").join(version).join(PACKAGES)]),
            // Debian's packages stand in two further places.
            None => Vec::from([
                library.join(PACKAGES),
                prefix.join("lib/python3/dist-packages"),
                prefix.join("local/lib").join(version).join("dist-packages"),
            ]),
        };
        Some(std::iter::once(library).chain(packages).collect())
    }

    /// No link leads to the folder, and it stands neither in the tree nor in a copy.
    fn is_elsewhere(&self, folder: &Path) -> bool {
        let place = known_place(&self.lock.workspace);
        let own_folders = [&self.mapping.tree_root, &self.lock.workspace, &self.folder];
        folder.real_path().is_ok_and(|real_folder| real_folder == folder)
            && !own_folders.into_iter().chain(&place).any(|own| folder.starts_with(own))
    }

    /// A run has put a link on the way to a path in this copy's folder.
    pub(super) fn is_below_link(&self, path: &Path) -> bool {
        let mut folders = path.ancestors().take_while(|folder| *folder != self.folder);
        folders.any(Path::is_symlink)
    }
}

/// A name such as `python3.13`.
fn is_version(name: &OsStr) -> bool {
    let minor = name.to_str().and_then(|name| name.strip_prefix("python3."));
    minor.is_some_and(|minor| minor.parse::<u8>().is_ok())
}

/// Links to the bytecode of a folder and of those in it but for some, as long as links are left.
fn link_folder(
    folder: &Path,
    links: &Path,
    left_out: &[&str],
    links_left: &mut usize,
) -> io::Result<()> {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let (path, name) = (entry.path(), entry.file_name());
        let is_folder = entry.file_type().is_ok_and(|file_type| file_type.is_dir());
        if !is_folder || left_out.iter().any(|left_out| name == *left_out) {
            continue;
        }
        if name != BYTECODE {
            link_folder(&path, &links.join(name), &[], links_left)?;
            continue;
        }
        fs::create_dir_all(links)?;
        for file in fs::read_dir(path)?.flatten() {
            let is_file = file.file_type().is_ok_and(|file_type| file_type.is_file());
            if !is_file || file.file_name().to_string_lossy().contains(".opt-") {
                continue;
            }
            *links_left = links_left.checked_sub(1).ok_or(io::ErrorKind::QuotaExceeded)?;
            symlink(file.path(), links.join(file.file_name()))?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::remove::remove_all;
    use crate::workspace::tests::Bench;

    /// Writes an installation with modules, and an environment with a package that was made with it.
    fn install(prefix: &Path, environment: &Path) {
        let library = prefix.join("lib/python3.13");
        let packages = environment.join("lib/python3.13/site-packages");
        let files = [
            prefix.join("bin/python3.13"),
            library.join("__pycache__/os.cpython-313.pyc"),
            library.join("__pycache__/os.cpython-313.opt-1.pyc"),
            library.join("json/__pycache__/decoder.cpython-313.pyc"),
            library.join("test/__pycache__/all.cpython-313.pyc"),
            library.join("site-packages/__pycache__/other.cpython-313.pyc"),
            environment.join("bin/activate"),
            packages.join("django/test/__pycache__/client.cpython-313.pyc"),
        ];
        for file in files {
            fs::create_dir_all(file.parent().unwrap()).unwrap();
            fs::write(file, "").unwrap();
        }
        gate_platform::set_mode(&prefix.join("bin/python3.13"), 0o755).unwrap();
        symlink("python3.13", prefix.join("bin/python3")).unwrap();
        symlink(prefix.join("bin/python3"), environment.join("bin/python3")).unwrap();
        let settings = format!("home = {}\n", prefix.join("bin").display());
        fs::write(environment.join("pyvenv.cfg"), settings).unwrap();
    }

    fn links_below(folder: &Path) -> Vec<PathBuf> {
        let entries = fs::read_dir(folder).into_iter().flatten().flatten();
        let (folders, mut links): (Vec<_>, Vec<_>) =
            entries.map(|entry| entry.path()).partition(|path| path.is_dir());
        links.extend(folders.iter().flat_map(|folder| links_below(folder)));
        links.sort();
        links
    }

    /// A folder outside of the tree, without links on the way to it.
    fn outside() -> (tempfile::TempDir, PathBuf) {
        let folder = tempfile::tempdir().unwrap();
        let real_folder = folder.path().real_path().unwrap();
        (folder, real_folder)
    }

    /// The links of a copy, relative to `base`, if PATH is this folder.
    fn linked(bench: &mut Bench, path: &Path, base: &Path) -> Vec<String> {
        let workspace = bench.workspace();
        let variable = ("PATH".to_owned(), format!("/nowhere:{}", path.display()));
        bench.fixture.site.environment = Vec::from([variable]);
        workspace.link_installed_bytecode(&bench.fixture.site);
        let base = workspace.compiled_python().join(base.strip_prefix("/").unwrap());
        let links = links_below(&workspace.compiled_python());
        remove_all(&workspace.compiled_python()).unwrap();
        let names = links.iter().map(|link| link.strip_prefix(&base).unwrap_or(link));
        names.map(|name| name.display().to_string()).collect()
    }

    #[test]
    fn the_installation_that_path_names_is_linked_to() {
        let (_folder, base) = outside();
        install(&base.join("prefix"), &base.join("environment"));
        let own_modules = [
            "prefix/lib/python3.13/json/decoder.cpython-313.pyc",
            "prefix/lib/python3.13/os.cpython-313.pyc",
        ];
        let in_environment =
            "environment/lib/python3.13/site-packages/django/test/client.cpython-313.pyc";
        let of_installation = "prefix/lib/python3.13/site-packages/other.cpython-313.pyc";
        let mut bench = Bench::new();
        assert_eq!(
            linked(&mut bench, &base.join("environment/bin"), &base),
            [&[in_environment], &own_modules[..]].concat()
        );
        assert_eq!(
            linked(&mut bench, &base.join("prefix/bin"), &base),
            [&own_modules[..], &[of_installation]].concat()
        );
    }

    #[test]
    fn nothing_that_the_agent_chooses_is() {
        let (_folder, base) = outside();
        let mut bench = Bench::new();
        let none: [&str; 0] = [];
        // An environment in the tree, by its own name and by another one.
        let environment = bench.fixture.path(".venv");
        install(&base.join("prefix"), &environment);
        symlink(bench.fixture.path("."), base.join("tree")).unwrap();
        let path = environment.join("bin").real_path().unwrap();
        assert_eq!(linked(&mut bench, &path, &base), none);
        assert_eq!(linked(&mut bench, &base.join("tree/.venv/bin"), &base), none);
        // An installation in a copy of the tree.
        let copy = bench.workspace().root().to_owned();
        install(&copy.join("prefix"), &copy.join("environment"));
        assert_eq!(linked(&mut bench, &copy.join("prefix/bin"), &base), none);
        // A folder of modules that is a link.
        let library = base.join("prefix/lib/python3.13");
        fs::rename(&library, base.join("modules")).unwrap();
        symlink(base.join("modules"), &library).unwrap();
        assert_eq!(linked(&mut bench, &base.join("prefix/bin"), &base), none);
    }

    #[test]
    fn no_link_of_a_run_is_followed() {
        let (_folder, base) = outside();
        install(&base.join("prefix"), &base.join("environment"));
        let mut bench = Bench::new();
        let compiled = bench.workspace().compiled_python();
        let first_name = base.components().nth(1).unwrap();
        fs::create_dir_all(&compiled).unwrap();
        let (_other_folder, victim) = outside();
        symlink(&victim, compiled.join(first_name)).unwrap();
        linked(&mut bench, &base.join("prefix/bin"), &base);
        assert_eq!(fs::read_dir(victim).unwrap().count(), 0);
    }
}
