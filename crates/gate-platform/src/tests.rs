//! The same of each system.

use std::ffi::{OsStr, OsString};
use std::fs::{self, File};
use std::path::Path;
use std::process::{Command, Stdio};

use super::*;

#[test]
fn two_names_of_a_file_have_one_identity() {
    let folder = std::env::temp_dir().join(format!("gate-platform-{}", std::process::id()));
    fs::create_dir_all(&folder).unwrap();
    let (first, second, other) = (folder.join("a"), folder.join("b"), folder.join("c"));
    fs::write(&first, "1").unwrap();
    fs::hard_link(&first, &second).unwrap();
    fs::write(&other, "1").unwrap();
    let id = identity(&File::open(&first).unwrap()).unwrap();
    let at = |path: &Path| identity_at(path, &fs::metadata(path).unwrap()).unwrap();
    assert_eq!(at(&second), id);
    assert_ne!(at(&other), id);
    assert!(free_bytes(&folder).is_some_and(|bytes| bytes > 0));
    sync_folder(&folder).unwrap();
    check_writable(&folder).unwrap();
    assert!(reserve(&File::create(&other).unwrap(), 4096).unwrap());
    assert_eq!(fs::metadata(&other).unwrap().size(), 4096);
    fs::remove_dir_all(&folder).unwrap();
}

#[test]
fn a_name_is_its_bytes() {
    assert_eq!(OsStr::from_bytes("Größe".as_bytes()), "Größe");
    assert_eq!(OsString::from_vec(b"a b".to_vec()).into_vec(), b"a b");
}

#[test]
fn a_path_has_a_name_for_git() {
    assert_eq!(git_name(&Path::new("a").join("b")).as_ref(), b"a/b");
    let real = std::env::current_dir().unwrap().join(".").real_path().unwrap();
    assert!(real.is_absolute() && !real.to_string_lossy().starts_with(r"\\"), "{real:?}");
}

#[test]
fn a_group_ends_with_its_leader() {
    let program = std::env::current_exe().unwrap();
    // The tests of this program that wait for a line, as a child that waits.
    let mut command = Command::new(program);
    command.args(["--ignored", "--exact", "tests::waits"]);
    command.stdin(Stdio::piped()).stdout(Stdio::null());
    let mut child = lead_group(&mut command).spawn().unwrap();
    assert!(has_group(child.id()));
    end_group(child.id());
    assert!(!child.wait().unwrap().success());
}

#[test]
#[ignore = "the child of another test"]
fn waits() {
    let _ = io::stdin().read_line(&mut String::new());
}
