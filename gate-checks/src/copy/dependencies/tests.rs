//! Installed things that lead into the tree lead into the copy.

use std::collections::BTreeMap;

use gate_platform::symlink;

use super::*;

/// A tree of which the copy has these files.
struct Bench {
    _folder: tempfile::TempDir,
    mapping: Mapping,
    copied: Vec<&'static str>,
}

impl Bench {
    fn new(copied: &[&'static str]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let top = folder.path().canonicalize().unwrap();
        let mapping = Mapping { tree_root: top.join("real"), copy: top.join("copy") };
        let bench = Self { _folder: folder, mapping, copied: copied.to_vec() };
        copied.iter().for_each(|file| bench.write(file, ""));
        bench
    }

    fn write(&self, file: &str, text: &str) {
        let file = self.mapping.tree_root.join(file);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(file, text.replace("REAL", &self.mapping.tree_root.display().to_string()))
            .unwrap();
    }

    fn link(&self, file: &str, target: &str) {
        let file = self.mapping.tree_root.join(file);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        symlink(target.replace("REAL", &self.mapping.tree_root.display().to_string()), file)
            .unwrap();
    }

    /// The entries as texts, in which the roots are called REAL and COPY.
    fn found(&self) -> BTreeMap<String, String> {
        let files = self.copied.iter().map(Path::new);
        let holds =
            |inside: &Path| self.copied.iter().any(|file| Path::new(file).starts_with(inside));
        let found = dependencies(&self.mapping, files, holds);
        let told = |item: StandInContent| match item {
            StandInContent::Link(target) => format!("-> {}", target.display()),
            StandInContent::Text(bytes) => String::from_utf8(bytes).unwrap(),
            StandInContent::Executable(bytes) => format!("x {}", String::from_utf8(bytes).unwrap()),
        };
        let named = |text: String| {
            let text = text.replace(&self.mapping.tree_root.display().to_string(), "REAL");
            text.replace(&self.mapping.copy.display().to_string(), "COPY")
        };
        let entries = found.stand_ins.into_iter();
        entries.map(|one| (one.path.display().to_string(), named(told(one.content)))).collect()
    }

    fn leads(&self) -> Vec<String> {
        let files = self.copied.iter().map(Path::new);
        let holds =
            |inside: &Path| self.copied.iter().any(|file| Path::new(file).starts_with(inside));
        let found = dependencies(&self.mapping, files, holds).targets_in_tree;
        found.into_iter().map(|lead| lead.display().to_string()).collect()
    }
}

#[track_caller]
fn check(bench: &Bench, expected: &[(&str, &str)]) {
    let expected = expected.iter().map(|(path, item)| ((*path).to_owned(), (*item).to_owned()));
    assert_eq!(bench.found(), expected.collect::<BTreeMap<_, _>>());
}

/// Each of these is one link to the real folder.
#[track_caller]
fn whole(tree_files: &[&str], copied: &[&'static str], links: &[&str]) {
    let bench = Bench::new(copied);
    tree_files.iter().for_each(|file| bench.write(file, ""));
    let expected: Vec<_> = links.iter().map(|link| (*link, format!("-> REAL/{link}"))).collect();
    let expected: Vec<_> = expected.iter().map(|(link, item)| (*link, item.as_str())).collect();
    check(&bench, &expected);
    assert!(bench.leads().is_empty());
}

#[test]
fn dependencies_are_linked_beside_each_file_that_is_copied() {
    let tree_files = ["node_modules/a.js", "web/node_modules/b.js", "other/node_modules/c.js"];
    whole(&tree_files, &["web/package.json"], &["node_modules", "web/node_modules"]);
    whole(&["vendor/a.go"], &["vendor/a.go"], &[]);
}

#[test]
fn an_environment_of_any_name_is_linked() {
    let tree_files = ["env/pyvenv.cfg", "api/py/pyvenv.cfg", "web/py/pyvenv.cfg"];
    whole(&tree_files, &["api/pyproject.toml", "web/index.js"], &["api/py", "env"]);
}

#[test]
fn an_environment_with_a_file_of_the_work_is_linked_in_parts() {
    let tree_files = [".venv/pyvenv.cfg", ".venv/bin/pytest", ".venv/lib/x.py", ".venv/notes.txt"];
    let parts = [".venv/bin", ".venv/lib", ".venv/pyvenv.cfg"];
    whole(&tree_files, &[".venv/notes.txt"], &parts);
    let files = [".venv/notes.txt", ".venv/bin/pytest"];
    whole(&tree_files, &files, &[".venv/lib", ".venv/pyvenv.cfg"]);
    whole(&tree_files, &[".venv/pyvenv.cfg", ".venv/bin/pytest"], &[]);
}

#[test]
fn a_package_of_the_workspace_is_the_copys() {
    let bench = Bench::new(&["package.json", "packages/a/index.js"]);
    for file in [".package-lock.json", "left-pad/index.js", "@y/one/index.js", "@x/two/index.js"] {
        bench.write(&format!("node_modules/{file}"), "");
    }
    bench.write("node_modules/.cache/babel/x", "");
    bench.link("node_modules/@x/a", "../../packages/a");
    bench.link("node_modules/self", "..");
    bench.link("node_modules/gone", "../packages/gone");
    bench.link("node_modules/.bin/pad", "../left-pad/index.js");
    bench.link("node_modules/.bin/a", "../@x/a/index.js");
    check(
        &bench,
        &[
            ("node_modules/.bin/a", "-> COPY/packages/a/index.js"),
            ("node_modules/.bin/pad", "-> REAL/node_modules/.bin/pad"),
            ("node_modules/.package-lock.json", "-> REAL/node_modules/.package-lock.json"),
            ("node_modules/@x/a", "-> COPY/packages/a"),
            ("node_modules/@x/two", "-> REAL/node_modules/@x/two"),
            ("node_modules/@y", "-> REAL/node_modules/@y"),
            ("node_modules/gone", "-> REAL/node_modules/gone"),
            ("node_modules/left-pad", "-> REAL/node_modules/left-pad"),
            ("node_modules/self", "-> COPY"),
        ],
    );
    assert_eq!(bench.leads(), ["", "packages/a", "packages/a/index.js"]);
}

#[test]
fn a_package_that_git_ignores_stays_where_it_is() {
    let bench = Bench::new(&["package.json"]);
    bench.write("generated/index.js", "");
    bench.link("node_modules/generated", "../generated");
    bench.write("node_modules/.bin/x", "");
    check(&bench, &[("node_modules", "-> REAL/node_modules")]);
}

#[test]
fn an_editable_install_is_the_copys() {
    let bench = Bench::new(&["pyproject.toml", "src/own/__init__.py", "other/setup.py"]);
    let packages = ".venv/lib/python3.13/site-packages";
    for (file, text) in [
        (".venv/pyvenv.cfg", "home = /usr/bin\n"),
        (".venv/share/x", ""),
        (".venv/bin/pytest", "#!REAL/.venv/bin/python\nimport pytest\n"),
        (".venv/bin/plain", "#!/bin/sh\n"),
    ] {
        bench.write(file, text);
    }
    bench.link(".venv/bin/python", "/usr/bin/python3");
    bench.link(".venv/bin/python3", "python");
    bench.link(".venv/lib64", "lib");
    for (file, text) in [
        ("_own.pth", "REAL/src\n"),
        ("__editable___own_finder.py", "MAPPING = {'own': 'REAL/src/own', 'b': 'REAL/build/b'}\n"),
        ("other.egg-link", "REAL/other\n.\n"),
        ("apart.pth", "REAL-other/src\nREAL/ignored\n"),
        ("own-1.dist-info/direct_url.json", "{\"url\": \"file://REAL\"}"),
        ("own-1.dist-info/RECORD", ""),
        ("pytest/__init__.py", ""),
        ("__pycache__/__editable___own_finder.cpython-313.pyc", ""),
        ("__pycache__/six.cpython-313.pyc", ""),
    ] {
        bench.write(&format!("{packages}/{file}"), text);
    }
    bench.link(&format!("{packages}/linked"), "REAL/src/own");
    let at = |name: &str| format!("{packages}/{name}");
    let link_to_tree = |name: &str| format!("-> REAL/{packages}/{name}");
    let expected = [
        (".venv/bin/plain".to_owned(), "-> REAL/.venv/bin/plain".to_owned()),
        (".venv/bin/pytest".to_owned(), "-> REAL/.venv/bin/pytest".to_owned()),
    ];
    let mut found = bench.found();
    assert_eq!(found.get(&expected[0].0), Some(&expected[0].1));
    let pytest = found.remove(".venv/bin/pytest").unwrap();
    assert!(pytest.contains("COPY/.venv/bin/python") && pytest.ends_with("import pytest\n"));
    for (path, item) in [
        (".venv/bin/python".to_owned(), "-> /usr/bin/python3".to_owned()),
        (".venv/bin/python3".to_owned(), "-> python".to_owned()),
        (".venv/lib64".to_owned(), "-> lib".to_owned()),
        (".venv/pyvenv.cfg".to_owned(), "-> REAL/.venv/pyvenv.cfg".to_owned()),
        (".venv/share".to_owned(), "-> REAL/.venv/share".to_owned()),
        (at("_own.pth"), "COPY/src\n".to_owned()),
        (
            at("__editable___own_finder.py"),
            "MAPPING = {'own': 'COPY/src/own', 'b': 'REAL/build/b'}\n".to_owned(),
        ),
        (at("other.egg-link"), "COPY/other\n.\n".to_owned()),
        (at("apart.pth"), link_to_tree("apart.pth")),
        (at("own-1.dist-info/direct_url.json"), "{\"url\": \"file://COPY\"}".to_owned()),
        (at("own-1.dist-info/RECORD"), link_to_tree("own-1.dist-info/RECORD")),
        (at("pytest"), link_to_tree("pytest")),
        (at("__pycache__/six.cpython-313.pyc"), link_to_tree("__pycache__/six.cpython-313.pyc")),
        (at("linked"), "-> COPY/src/own".to_owned()),
    ] {
        assert_eq!(found.remove(&path), Some(item), "{path}");
    }
    assert_eq!(found.keys().collect::<Vec<_>>(), [".venv/bin/plain"]);
    assert_eq!(bench.leads(), ["", "other", "src", "src/own"]);
}

#[test]
fn a_cache_among_packages_is_not_shared() {
    let bench = Bench::new(&["package.json"]);
    bench.write("node_modules/left/index.js", "");
    bench.write("node_modules/.cache/jest/compiled", "");
    check(&bench, &[("node_modules/left", "-> REAL/node_modules/left")]);
}
