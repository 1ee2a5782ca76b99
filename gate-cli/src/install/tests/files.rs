//! Files that are written whole, and folders that go with them.

use std::fs::{self, Permissions};
use std::path::{Path, PathBuf};

use gate_platform::{PermissionsExt, symlink};

use super::super::clients;
use super::super::disk::{read, real_path, remove, write};
use super::super::roots::Roots;
use super::super::scope::Scope;
use super::roots;
use crate::agent::Agent;
use crate::settings::Places;

fn entries(folder: &Path) -> usize {
    fs::read_dir(folder).unwrap().count()
}

#[test]
fn a_file_keeps_its_permissions_and_leaves_nothing_beside_it() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("a/b/settings.json");
    assert_eq!(read(&file), Ok(None));
    write(&file, b"new").unwrap();
    fs::set_permissions(&file, Permissions::from_mode(0o600)).unwrap();
    write(&file, b"newer").unwrap();
    let mode = file.metadata().unwrap().permissions().mode() & 0o777;
    assert_eq!((read(&file), mode), (Ok(Some(b"newer".to_vec())), 0o600));
    assert_eq!(entries(file.parent().unwrap()), 1);
    let impossible = file.join("x.json");
    let failure = write(&impossible, b"x").unwrap_err();
    let beginning = format!("cannot write {}: ", impossible.display());
    assert!(
        failure.code == "file-unwritable" && failure.message.starts_with(&beginning),
        "{failure}"
    );
    assert_eq!(read(folder.path()).unwrap_err().code, "file-unreadable");
}

#[test]
fn only_empty_folders_above_a_file_go_with_it() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    write(&path("a/b/s.json"), b"{}").unwrap();
    fs::create_dir(path("c")).unwrap();
    fs::write(path("a/mine"), "").unwrap();
    let folders = ["a", "a/b", "c"].map(path);
    remove(&path("a/b/s.json"), &folders).unwrap();
    assert_eq!(folders.map(|folder| folder.exists()), [true, false, true]);
    remove(&path("a/b/s.json"), &[]).unwrap();
    assert_eq!(remove(&path("c"), &[]).unwrap_err().code, "file-unwritable");
}

#[test]
fn a_path_leads_to_the_real_file_whether_it_is_there_or_not() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().canonicalize().unwrap();
    let full_path = |name: &str| root.join(name);
    fs::create_dir_all(full_path("dot/claude")).unwrap();
    fs::write(full_path("dot/claude/s.json"), "{}").unwrap();
    symlink(full_path("dot/claude"), full_path("link")).unwrap();
    symlink("link/s.json", full_path("s.json")).unwrap();
    symlink("nowhere", full_path("dead")).unwrap();
    for (path, expected) in [
        ("s.json", "dot/claude/s.json"),
        ("link/s.json", "dot/claude/s.json"),
        ("link/new/t.json", "dot/claude/new/t.json"),
        ("other/t.json", "other/t.json"),
    ] {
        assert_eq!(real_path(&full_path(path)), Ok(full_path(expected)), "{path}");
    }
    let failure = real_path(&full_path("dead")).unwrap_err();
    let beginning = format!("cannot follow {}: ", full_path("dead").display());
    assert!(failure.exit_code == 2 && failure.message.starts_with(&beginning), "{failure}");
}

#[test]
fn settings_are_found_from_the_variables_that_say_something() {
    let (folder, roots) =
        roots(&[("CLAUDE_CONFIG_DIR", "../c"), ("EMPTY", ""), ("PATH", "bin:/abs::relative")]);
    let project = folder.path().join("project");
    assert_eq!(clients::client_folder(Agent::ClaudeCode, &roots), project.join("../c"));
    let settings = clients::settings_file(Agent::ClaudeCode, &roots, Scope::User);
    assert_eq!(settings, Some(project.join("../c/settings.json")));
    assert_eq!([roots.variable("EMPTY"), roots.variable("MISSING")], [None, None]);
    assert_eq!(roots.path("~/.claude"), folder.path().join("home/.claude"));
    assert_eq!(roots.path("$XDG_CONFIG_HOME/goose"), folder.path().join("home/.config/goose"));
    assert_eq!(roots.path(".codex/hooks.json"), project.join(".codex/hooks.json"));
    fs::create_dir(project.join("bin")).unwrap();
    fs::write(project.join("bin/gate"), "").unwrap();
    assert_eq!(roots.in_path("gate"), None, "a relative folder depends on who looks");
}

#[test]
fn a_program_is_a_file_in_the_first_folder_that_has_it() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    for name in ["one", "two", "one/gate"] {
        fs::create_dir(path(name)).unwrap();
    }
    fs::write(path("two/gate"), "").unwrap();
    let search_path = format!("{}:{}", path("one").display(), path("two").display());
    let (_home, roots) = roots(&[("PATH", &search_path)]);
    assert_eq!(roots.in_path("gate"), Some(path("two/gate")));
    assert_eq!(roots.in_path("codex"), None);
}

#[test]
fn without_a_home_there_are_no_settings() {
    let places = Places { folder: PathBuf::from("/"), ..Places::default() };
    let failure = Roots::new(&places).unwrap_err();
    assert_eq!((failure.exit_code, failure.code.as_str()), (2, "home-unknown"));
}
