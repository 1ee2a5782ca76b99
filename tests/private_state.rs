//! What gate keeps is its user's alone, and stands where it seems to stand.
#![cfg(unix)]

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;

use crate::support::{GATE, Ran, Run, UNDONE, judge};

fn mode(path: &Path) -> u32 {
    fs::symlink_metadata(path).unwrap().permissions().mode() & 0o7777
}

/// Everything under a folder is this user's alone.
#[track_caller]
fn private(folder: &Path) {
    assert_eq!(mode(folder), 0o700, "{}", folder.display());
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            private(&path);
        } else {
            assert_eq!(mode(&path), 0o600, "{}", path.display());
        }
    }
}

/// A decision under this umask.
fn under(umask: &str) -> Run {
    let script = "umask \"$2\"; exec \"$1\" check out.log --run r";
    Run::new("sh").args(["-euc", script, "sh", GATE, umask]).file("out.log", UNDONE)
}

#[test]
fn nobody_else_reads_it_whatever_the_umask() {
    for umask in ["000", "022", "077"] {
        let ran = under(umask).code(1);
        private(&ran.state());
        private(&ran.heads());
        let ran = ran.again("check out.log --run r").code(1);
        private(&ran.state());
    }
}

#[test]
fn what_was_opened_to_others_is_closed_again() {
    let ran = under("022").code(1);
    fs::set_permissions(ran.state(), fs::Permissions::from_mode(0o755)).unwrap();
    for name in ["gate.db", "gate.db-wal"] {
        fs::set_permissions(ran.state().join(name), fs::Permissions::from_mode(0o644)).unwrap();
    }
    let ran = ran.again("check out.log --run r").code(1);
    private(&ran.state());
}

/// A file that somebody else holds dear, beside the work.
fn victim(ran: &Ran) -> std::path::PathBuf {
    let victim = ran.path("../victim");
    fs::write(&victim, "dear").unwrap();
    fs::set_permissions(&victim, fs::Permissions::from_mode(0o644)).unwrap();
    victim
}

#[track_caller]
fn untouched(victim: &Path) {
    assert_eq!(fs::read_to_string(victim).unwrap(), "dear");
    assert_eq!(mode(victim), 0o644);
}

#[test]
fn no_link_is_followed_to_a_ledger() {
    for (name, dangles) in [
        ("gate.db", false),
        ("gate.db", true),
        ("gate.db-wal", false),
        ("gate.db-shm", false),
        ("gate.db-journal", false),
    ] {
        let ran = judge("check out.log --run r", UNDONE).code(1);
        let (victim, link) = (victim(&ran), ran.state().join(name));
        let _ = fs::remove_file(&link);
        let target = if dangles { ran.path("../absent") } else { victim.clone() };
        symlink(&target, &link).unwrap();
        for words in
            ["check out.log --run r --json", "last --json", "breaker trip --reason a --json"]
        {
            let told = judge_in(&ran, words);
            assert_eq!(told.0, Some(5), "{name}: {words}: {}", told.1);
            let failure: serde_json::Value = serde_json::from_str(&told.1).unwrap();
            assert_eq!(failure["code"], "state-unwritable", "{name}: {words}");
            let message = failure["message"].as_str().unwrap();
            assert!(message.contains("a file is expected, and no link to one"), "{message}");
        }
        untouched(&victim);
        assert!(!ran.path("../absent").exists());
    }
}

/// The code and the answer of a gate in these folders.
fn judge_in(ran: &Ran, words: &str) -> (Option<i32>, String) {
    let output = ran.beside(words).output().unwrap();
    (output.status.code(), String::from_utf8(output.stdout).unwrap())
}

#[test]
fn no_link_is_followed_to_a_state_folder() {
    let ran = judge("check out.log --run r --no-state", UNDONE).code(1);
    let elsewhere = ran.path("../elsewhere");
    fs::create_dir(&elsewhere).unwrap();
    fs::create_dir_all(ran.state().parent().unwrap()).unwrap();
    symlink(&elsewhere, ran.state()).unwrap();
    let ran = ran.again("check out.log --run r --json").code(5).stops();
    assert_eq!(ran.json()["code"], "state-unwritable");
    let ran = ran.tells("a folder is expected, and no link to one");
    assert_eq!(fs::read_dir(ran.path("../elsewhere")).unwrap().count(), 0);
}

/// A mark is no reason to stop, and no way to write somebody else's file.
#[test]
fn no_link_is_followed_to_a_mark() {
    let ran = judge("check out.log --run r", UNDONE).code(1);
    let (victim, mark) = (victim(&ran), ran.mark());
    fs::remove_file(&mark).unwrap();
    symlink(&victim, &mark).unwrap();
    let _ = judge_in(&ran, "check out.log --run r");
    untouched(&victim);
    fs::remove_file(&mark).unwrap();
    symlink(ran.path("../absent"), &mark).unwrap();
    let _ = judge_in(&ran, "check out.log --run r");
    assert!(!ran.path("../absent").exists());
}

#[test]
fn a_folder_that_many_share_is_refused() {
    let ran = judge("check out.log --run r --no-state", UNDONE).code(1);
    let shared = ran.path("../shared");
    fs::create_dir(&shared).unwrap();
    fs::set_permissions(&shared, fs::Permissions::from_mode(0o1777)).unwrap();
    let ran = ran.again("check out.log --run r").env("GATE_STATE_DIR", &shared).code(5).stops();
    let ran = ran.tells("others may enter it");
    assert_eq!(fs::read_dir(ran.path("../shared")).unwrap().count(), 0);
}
