//! The receipts for files that gate changed.

use std::fs;
use std::path::{Path, PathBuf};

use gate_platform::PermissionsExt;
use serde_json::{Value, json};

use super::super::receipt::{Backup, BackupFiles};
use super::super::scope::Scope;
use super::roots;
use crate::agent::Agent;

fn backup(file: &Path, original: Option<&[u8]>) -> Backup {
    Backup::new(Agent::Codex, Scope::User, file, original).with_written(b"written")
}

/// The files of a backup, and the path of its receipt.
fn files(roots: &super::Roots, file: &Path) -> (BackupFiles, PathBuf) {
    let files = BackupFiles::new(roots, Agent::Codex, file, file);
    let receipt = files.backup_file().with_extension("json");
    (files, receipt)
}

#[test]
fn a_backup_comes_back_as_it_was_and_is_this_users_alone() {
    let (_folder, roots) = roots(&[]);
    let file = Path::new("/h/hooks.json");
    let (files, receipt) = files(&roots, file);
    assert_eq!(files.load(), Ok(None));
    let saved = backup(file, Some(b"{\xff}"));
    files.save(&saved).unwrap();
    assert_eq!(files.load(), Ok(Some(saved.clone())));
    assert!(saved.is_written(b"written") && !saved.is_written(b"{}"));
    for private in [&receipt, &files.backup_file()] {
        assert_eq!(private.metadata().unwrap().permissions().mode() & 0o777, 0o600);
    }
    let trust_files = BackupFiles::new(&roots, Agent::Codex, file, Path::new("/h/config.toml"));
    assert_eq!(
        trust_files.load(),
        Ok(None),
        "the trust of these settings has a receipt of its own"
    );
    files.delete();
    assert_eq!(files.load(), Ok(None));
    assert!(!receipt.parent().unwrap().exists());
}

#[test]
fn a_backup_that_does_not_belong_to_its_receipt_is_none() {
    let (_folder, roots) = roots(&[]);
    let file = Path::new("/h/hooks.json");
    let (files, receipt) = files(&roots, file);
    files.save(&backup(file, Some(b"before"))).unwrap();
    fs::write(files.backup_file(), "another").unwrap();
    assert_eq!(files.load(), Ok(None));
    fs::write(files.backup_file(), "before").unwrap();
    assert!(files.load().unwrap().is_some());
    let mut newer: Value = serde_json::from_slice(&fs::read(&receipt).unwrap()).unwrap();
    newer["schema"] = "gate.installed.v2".into();
    fs::write(&receipt, newer.to_string()).unwrap();
    assert_eq!(files.load(), Ok(None));
    fs::write(&receipt, "{").unwrap();
    assert_eq!(files.load(), Ok(None));
}

#[test]
fn an_older_receipt_knows_one_word_of_trust_or_none() {
    let (_folder, roots) = roots(&[]);
    let file = Path::new("/h/hooks.json");
    let (files, receipt) = files(&roots, file);
    files.save(&backup(file, None)).unwrap();
    for (trust, expected) in [
        (json!(null), vec![]),
        (json!("a:stop:0:0"), vec!["a:stop:0:0"]),
        (json!(["a", "b"]), vec!["a", "b"]),
    ] {
        let mut older: Value = serde_json::from_slice(&fs::read(&receipt).unwrap()).unwrap();
        older["trust"] = trust;
        fs::write(&receipt, older.to_string()).unwrap();
        assert_eq!(files.load().unwrap().unwrap().receipt.trust, expected);
    }
}

#[test]
fn folders_that_were_made_for_one_file_are_gates_for_the_next() {
    let (folder, roots) = roots(&[]);
    let home = folder.path().join("home");
    let (files, _) = files(&roots, Path::new("/h/hooks.json"));
    let nested = home.join(".codex/a/hooks.json");
    let folders = [home.join(".codex"), home.join(".codex/a")];
    assert_eq!(files.folders(&nested), Ok(folders.to_vec()));
    fs::create_dir_all(&folders[1]).unwrap();
    assert_eq!(files.folders(&nested), Ok(Vec::new()), "somebody else made them");
    let mut saved = backup(&nested, None);
    saved.receipt.folders = folders.to_vec();
    files.save(&saved).unwrap();
    assert_eq!(files.folders(&nested), Ok(folders.to_vec()));
    assert_eq!(files.folders(&home.join(".codex/b.json")), Ok(folders[..1].to_vec()));
    assert_eq!(files.folders(&home.join("b.json")), Ok(Vec::new()));
}
