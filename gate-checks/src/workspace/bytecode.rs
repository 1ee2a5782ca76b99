//! Python's bytecode of its own modules, and of packages that are installed outside of the tree.
//!
//! Python looks for bytecode in the copy's folder alone, and would compile all that a run imports: for
//! pytest that takes three times as long as its start. So the folder has links to the bytecode of the
//! installations. Bytecode in the tree is not among it: the agent may have written that.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use gate_platform::{RealPath, symlink};

use super::Workspace;
use crate::project::ENVIRONMENTS;
use crate::site::CheckSite;
use crate::worktree::environment_home;

const PYTHON: &str = "python3";

/// The most links of a copy. Further modules are compiled.
const MAX_LINKS: usize = 10_000;

/// The folder of bytecode beside the sources.
const COMPILED: &str = "__pycache__";

/// The packages of an environment or an installation.
const PACKAGES: &str = "site-packages";

/// Folders in that of Python's own modules which no run of tests imports. Packages have a folder of their
/// own.
const LEFT_OUT: [&str; 10] = [
    PACKAGES,
    "distutils",
    "ensurepip",
    "idlelib",
    "lib2to3",
    "pip",
    "setuptools",
    "test",
    "tests",
    "tkinter",
];

impl Workspace {
    /// Links to the bytecode of the Python that a run in this tree starts. Python compiles what is not
    /// linked to.
    pub(crate) fn link_installed_bytecode(&self, site: &CheckSite) {
        let tree_root = &self.mapping.tree_root;
        let environments = ENVIRONMENTS.map(|name| tree_root.join(name).join("bin").join(PYTHON));
        let from_path = which::which_in_all(PYTHON, Some(site.search_path()), "/");
        let installation = from_path.into_iter().flatten().find_map(|program| modules_of(&program));
        let of_environments = environments.iter().filter_map(|program| modules_of(program));
        let mut links_left = MAX_LINKS;
        for folder in of_environments.chain(installation).flatten() {
            let Ok(name) = folder.strip_prefix("/") else { continue };
            let links = self.compiled_python().join(name);
            let is_in_tree = folder.real_path().is_ok_and(|folder| folder.starts_with(tree_root));
            if !is_in_tree && !links.exists() {
                let _ = link_folder(&folder, &links, &mut links_left);
            }
        }
    }
}

/// The folders of modules that a Python imports from. `None` if its own modules are not where an
/// installation has them: then it is a script that chooses a Python.
fn modules_of(program: &Path) -> Option<Vec<PathBuf>> {
    let environment = program.parent()?.parent()?;
    let home = environment_home(environment);
    let base = home.as_ref().map_or_else(|| program.to_owned(), |home| home.join(PYTHON));
    let base = base.real_path().ok()?;
    let (prefix, version) = (base.parent()?.parent()?, base.file_name()?);
    let library = prefix.join("lib").join(version);
    if !library.is_dir() {
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

/// Links to the bytecode of a folder and of those in it, as long as links are left.
fn link_folder(folder: &Path, links: &Path, links_left: &mut usize) -> io::Result<()> {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let (path, name) = (entry.path(), entry.file_name());
        if !entry.file_type().is_ok_and(|file_type| file_type.is_dir()) {
            continue;
        }
        if name != COMPILED {
            if !LEFT_OUT.iter().any(|left_out| name == *left_out) {
                link_folder(&path, &links.join(name), links_left)?;
            }
            continue;
        }
        fs::create_dir_all(links)?;
        for file in fs::read_dir(path)?.flatten() {
            let is_optimised = file.file_name().to_string_lossy().contains(".opt-");
            if *links_left == 0 || is_optimised {
                continue;
            }
            symlink(file.path(), links.join(file.file_name()))?;
            *links_left -= 1;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workspace::tests::Bench;

    /// Writes an installation with a module, and an environment with a package that was made with it.
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
            packages.join("six/__pycache__/moves.cpython-313.pyc"),
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
        let entries =
            fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
        let (folders, mut links): (Vec<_>, Vec<_>) = entries.partition(|path| path.is_dir());
        links.extend(folders.iter().flat_map(|folder| links_below(folder)));
        links.sort();
        links
    }

    /// The files of bytecode that a copy has, relative to `base`.
    fn linked(workspace: &Workspace, base: &Path) -> Vec<PathBuf> {
        let folder = workspace.compiled_python().join(base.strip_prefix("/").unwrap());
        let links = links_below(&workspace.compiled_python());
        links.iter().map(|link| link.strip_prefix(&folder).unwrap().to_owned()).collect()
    }

    #[test]
    fn bytecode_outside_of_the_tree_is_linked_to() {
        let outside = tempfile::tempdir().unwrap();
        let base = outside.path().real_path().unwrap();
        let own_modules = [
            "prefix/lib/python3.13/json/decoder.cpython-313.pyc",
            "prefix/lib/python3.13/os.cpython-313.pyc",
        ];
        let package = "environment/lib/python3.13/site-packages/six/moves.cpython-313.pyc";
        install(&base.join("prefix"), &base.join("environment"));
        let mut bench = Bench::new();
        let workspace = bench.workspace();
        let path = format!("/nowhere:{}", base.join("environment/bin").display());
        bench.fixture.site.environment = Vec::from([("PATH".to_owned(), path)]);
        workspace.link_installed_bytecode(&bench.fixture.site);
        let expected = [&[package], &own_modules[..]].concat();
        assert_eq!(linked(&workspace, &base), expected.iter().map(Path::new).collect::<Vec<_>>());
        // A second time it is there.
        workspace.link_installed_bytecode(&bench.fixture.site);
        assert_eq!(linked(&workspace, &base).len(), 3);
    }

    #[test]
    fn bytecode_in_the_tree_is_not() {
        let outside = tempfile::tempdir().unwrap();
        let prefix = outside.path().real_path().unwrap().join("prefix");
        let mut bench = Bench::new();
        let workspace = bench.workspace();
        install(&prefix, &bench.fixture.path(".venv"));
        // The tree has another name, too.
        symlink(bench.fixture.path("."), outside.path().join("tree")).unwrap();
        let path = outside.path().join("tree/.venv/bin").display().to_string();
        bench.fixture.site.environment = Vec::from([("PATH".to_owned(), path)]);
        workspace.link_installed_bytecode(&bench.fixture.site);
        assert_eq!(
            linked(&workspace, &prefix.join("lib/python3.13")),
            ["json/decoder.cpython-313.pyc", "os.cpython-313.pyc"].map(PathBuf::from)
        );
    }
}
