//! Folders that tools fill.

use gate_platform::symlink;

use super::fixture::Fixture;

const CACHE: &str = "Signature: 8a477f597d28d172789f06886806bc55\n";

/// The files of the tree beside those of every repository here.
#[track_caller]
fn check(fixture: &Fixture, names: &[&str]) {
    let own = fixture.names().into_iter().filter(|name| name != "a" && name != "src/b");
    assert_eq!(own.collect::<Vec<_>>(), names);
}

/// An environment as `python3 -m venv`, virtualenv or uv write it.
fn environment(fixture: &Fixture, folder: &str) {
    let settings = "home = /usr/bin\ninclude-system-site-packages = false\nversion = 3.13.1\n";
    fixture.write(&format!("{folder}/pyvenv.cfg"), settings);
    for file in [".gitignore", "CACHEDIR.TAG", "bin/activate", "bin/pytest"] {
        fixture.write(&format!("{folder}/{file}"), "*");
    }
    let packages = format!("{folder}/lib/python3.13/site-packages");
    fixture.write(&format!("{packages}/_pytest/__init__.py"), "");
    symlink("/usr/bin/python3", fixture.path(&format!("{folder}/bin/python"))).unwrap();
    symlink("lib", fixture.path(&format!("{folder}/lib64"))).unwrap();
}

#[test]
fn an_environment_of_any_name_is_no_work() {
    let fixture = Fixture::repository();
    for folder in [".venv", "env", "services/api/py"] {
        environment(&fixture, folder);
    }
    check(&fixture, &[]);
}

#[test]
fn an_environment_outside_of_git_is_no_work_either() {
    let fixture = Fixture::plain();
    environment(&fixture, ".venv");
    check(&fixture, &[]);
}

#[test]
fn files_beside_the_environments_own_are_work() {
    let fixture = Fixture::repository();
    environment(&fixture, "helpers");
    fixture.write("helpers/__init__.py", "");
    fixture.write("helpers/fake/conftest.py", "");
    check(&fixture, &["helpers/__init__.py", "helpers/fake/conftest.py"]);
}

#[test]
fn a_folder_with_a_tracked_file_is_never_a_tools() {
    let fixture = Fixture::repository();
    environment(&fixture, "src");
    assert!(fixture.names().iter().any(|name| name == "src/bin/pytest"));
    let fixture = Fixture::repository();
    environment(&fixture, "env");
    fixture.git(&["add", "-f", "env/bin/activate"]);
    assert!(fixture.names().iter().any(|name| name == "env/bin/pytest"));
}

#[test]
fn a_marker_alone_hides_nothing() {
    let settings = "home = /usr/bin\n";
    for files in [
        &[("new/a.py", ""), ("new/pyvenv.cfg", settings)][..],
        &[("new/bin/python", ""), ("new/lib/a.py", ""), ("new/pyvenv.cfg", settings)],
        &[("new/bin/python", ""), ("new/lib/x/site-packages/a.py", ""), ("new/pyvenv.cfg", "")],
        &[("new/CACHEDIR.TAG", CACHE), ("new/a.py", "")],
        &[("new/.gitignore", "*\n"), ("new/a.py", "")],
        &[("target/CACHEDIR.TAG", CACHE), ("target/a.py", "")],
        &[("Cargo.toml", ""), ("target/debug/a.rs", "")],
        &[(".tox/py/a.py", "")],
        &[(".tox/.gitignore", "*\n!a.py\n"), (".tox/a.py", "")],
        &[("node_modules/.package-lock.json", ""), ("node_modules/a/index.js", "")],
        &[("node_modules/a/index.js", ""), ("package.json", "{}")],
    ] {
        let fixture = Fixture::repository();
        files.iter().for_each(|(name, text)| fixture.write(name, text));
        let names: Vec<_> = files.iter().map(|(name, _)| *name).collect();
        check(&fixture, &names);
    }
}

#[test]
fn the_whole_repository_is_never_an_environment() {
    let fixture = Fixture::empty();
    environment(&fixture, ".");
    assert!(fixture.names().iter().any(|name| name == "bin/activate"));
}

#[test]
fn a_project_inside_of_an_environment_is_work() {
    let mut fixture = Fixture::repository();
    environment(&fixture, "env");
    fixture.write("env/src/app/a.py", "");
    fixture.site.project = fixture.path("env/src/app");
    assert!(fixture.names().iter().any(|name| name == "env/src/app/a.py"));
}

#[test]
fn packages_builds_and_test_environments_are_no_work() {
    let fixture = Fixture::repository();
    for file in ["package.json", "packages/a/package.json", "bun/package.json", "bun/bun.lock"] {
        fixture.write(file, "{}");
    }
    fixture.commit();
    for (file, text) in [
        ("node_modules/.package-lock.json", "{}"),
        ("node_modules/vitest/index.js", ""),
        ("packages/a/node_modules/left-pad/index.js", ""),
        ("bun/node_modules/left-pad/index.js", ""),
        ("target/.rustc_info.json", "{}"),
        ("target/CACHEDIR.TAG", CACHE),
        ("target/debug/build/x/out/gen.rs", ""),
        (".tox/CACHEDIR.TAG", CACHE),
        (".tox/py313/lib/x.py", ""),
        (".nox/.gitignore", "# by nox\n*\n"),
        (".nox/tests/x.py", ""),
        (".gradle/8.5/fileHashes/fileHashes.bin", ""),
    ] {
        fixture.write(file, text);
    }
    let manifests = ["bun/bun.lock", "bun/package.json", "package.json", "packages/a/package.json"];
    check(&fixture, &manifests);
}
