//! Files that are written whole, and folders that go with them.

use std::fs::{self, Permissions};
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};

use super::super::clients;
use super::super::disk::{read, real, remove, write};
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
    let below = file.join("x.json");
    let failure = write(&below, b"x").unwrap_err();
    let begins = format!("cannot write {}: ", below.display());
    assert!(failure.code == "file-unwritable" && failure.message.starts_with(&begins), "{failure}");
    assert_eq!(read(folder.path()).unwrap_err().code, "file-unreadable");
}

#[test]
fn only_empty_folders_above_a_file_go_with_it() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    write(&at("a/b/s.json"), b"{}").unwrap();
    fs::create_dir(at("c")).unwrap();
    fs::write(at("a/mine"), "").unwrap();
    let folders = ["a", "a/b", "c"].map(at);
    remove(&at("a/b/s.json"), &folders).unwrap();
    assert_eq!(folders.map(|folder| folder.exists()), [true, false, true]);
    remove(&at("a/b/s.json"), &[]).unwrap();
    assert_eq!(remove(&at("c"), &[]).unwrap_err().code, "file-unwritable");
}

#[test]
fn a_path_leads_to_the_real_file_whether_it_is_there_or_not() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().canonicalize().unwrap();
    let at = |name: &str| root.join(name);
    fs::create_dir_all(at("dot/claude")).unwrap();
    fs::write(at("dot/claude/s.json"), "{}").unwrap();
    symlink(at("dot/claude"), at("link")).unwrap();
    symlink("link/s.json", at("s.json")).unwrap();
    symlink("nowhere", at("dead")).unwrap();
    for (path, expected) in [
        ("s.json", "dot/claude/s.json"),
        ("link/s.json", "dot/claude/s.json"),
        ("link/new/t.json", "dot/claude/new/t.json"),
        ("other/t.json", "other/t.json"),
    ] {
        assert_eq!(real(&at(path)), Ok(at(expected)), "{path}");
    }
    let failure = real(&at("dead")).unwrap_err();
    let begins = format!("cannot follow {}: ", at("dead").display());
    assert!(failure.exit_code == 2 && failure.message.starts_with(&begins), "{failure}");
}

#[test]
fn settings_are_found_from_the_variables_that_say_something() {
    let (folder, roots) =
        roots(&[("CLAUDE_CONFIG_DIR", "../c"), ("EMPTY", ""), ("PATH", "bin:/abs::relative")]);
    let project = folder.path().join("project");
    assert_eq!(clients::folder(Agent::ClaudeCode, &roots), project.join("../c"));
    let settings = clients::file(Agent::ClaudeCode, &roots, Scope::User);
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
    let at = |name: &str| folder.path().join(name);
    for name in ["one", "two", "one/gate"] {
        fs::create_dir(at(name)).unwrap();
    }
    fs::write(at("two/gate"), "").unwrap();
    let path = format!("{}:{}", at("one").display(), at("two").display());
    let (_home, roots) = roots(&[("PATH", &path)]);
    assert_eq!(roots.in_path("gate"), Some(at("two/gate")));
    assert_eq!(roots.in_path("codex"), None);
}

#[test]
fn without_a_home_there_are_no_settings() {
    let places = Places { folder: PathBuf::from("/"), ..Places::default() };
    let failure = Roots::new(&places).unwrap_err();
    assert_eq!((failure.exit_code, failure.code.as_str()), (2, "home-unknown"));
}
