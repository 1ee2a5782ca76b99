//! The store of one machine: its files, its turns, its end.

use std::fs::{self, Permissions};
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::Duration;

use gate_cli::store::{self, Store, StoreError};
use rusqlite::Connection;

use crate::support::shelf::{PATIENCE, Shelf, append, chain, decision, head, names};

fn mode(path: &Path) -> u32 {
    fs::metadata(path).unwrap().permissions().mode() & 0o7777
}

fn set_mode(path: &Path, mode: u32) {
    fs::set_permissions(path, Permissions::from_mode(mode)).unwrap();
}

/// That it cannot be used, which names this path.
#[track_caller]
fn is_unwritable<T: std::fmt::Debug>(result: Result<T, StoreError>, named: &Path) {
    match result {
        Err(StoreError::Unwritable { path, reason }) => {
            assert_eq!(Path::new(&path).file_name(), named.file_name(), "{reason}");
        }
        other => panic!("{other:?}"),
    }
}

#[track_caller]
fn is_corrupt<T: std::fmt::Debug>(result: Result<T, StoreError>) {
    match result {
        Err(StoreError::Corrupt { .. }) => {}
        other => panic!("{other:?}"),
    }
}

#[test]
fn who_only_looks_makes_nothing() {
    let shelf = Shelf::sqlite();
    head(&mut shelf.open_marked()).unwrap();
    assert!(!shelf.state().exists() && !shelf.heads().exists());
}

#[test]
fn what_is_made_is_private() {
    let shelf = Shelf::sqlite();
    let mut store = shelf.open();
    append(&mut store, decision("a", 1)).unwrap();
    assert_eq!(names(&shelf.state()), ["gate.db", "gate.db-shm", "gate.db-wal"]);
    assert_eq!(mode(&shelf.state()), 0o700);
    for name in names(&shelf.state()) {
        assert_eq!(mode(&shelf.state().join(&name)), 0o600, "{name}");
    }
}

#[test]
fn what_others_may_enter_is_closed_to_them() {
    let shelf = Shelf::sqlite();
    fs::create_dir(shelf.state()).unwrap();
    set_mode(&shelf.state(), 0o775);
    append(&mut shelf.open(), decision("a", 1)).unwrap();
    assert_eq!(mode(&shelf.state()), 0o700);
    set_mode(&shelf.state(), 0o755);
    set_mode(&shelf.file(), 0o644);
    assert_eq!(head(&mut shelf.open()).unwrap().seq, 1);
    assert_eq!((mode(&shelf.state()), mode(&shelf.file())), (0o700, 0o600));
}

#[test]
fn a_folder_of_many_is_refused_and_left_as_it_is() {
    let shelf = Shelf::sqlite();
    fs::create_dir(shelf.state()).unwrap();
    set_mode(&shelf.state(), 0o1777);
    is_unwritable(append(&mut shelf.open(), decision("a", 1)), &shelf.state());
    set_mode(&shelf.state(), 0o755);
    fs::write(shelf.state().join("theirs"), "").unwrap();
    is_unwritable(append(&mut shelf.open(), decision("a", 1)), &shelf.state());
    assert_eq!((mode(&shelf.state()), names(&shelf.state())), (0o755, vec!["theirs".to_owned()]));
}

#[test]
fn no_link_is_followed() {
    let shelf = Shelf::sqlite();
    append(&mut shelf.open(), decision("a", 1)).unwrap();
    let elsewhere = shelf.state().with_file_name("elsewhere");
    for name in ["gate.db", "gate.db-wal", "gate.db-shm", "gate.db-journal"] {
        let file = shelf.state().join(name);
        let kept = fs::rename(&file, &elsewhere).is_ok();
        fs::write(&elsewhere, "").unwrap();
        symlink(&elsewhere, &file).unwrap();
        is_unwritable(append(&mut shelf.open(), decision("a", 2)), &file);
        is_unwritable(head(&mut shelf.open()), &file);
        assert_eq!(fs::read(&elsewhere).unwrap(), b"", "{name}");
        fs::remove_file(&file).unwrap();
        if kept {
            fs::rename(&elsewhere, &file).unwrap();
        }
    }
    fs::rename(shelf.state(), &elsewhere).unwrap_or_else(|_| {
        fs::remove_file(&elsewhere).unwrap();
        fs::rename(shelf.state(), &elsewhere).unwrap();
    });
    symlink(&elsewhere, shelf.state()).unwrap();
    is_unwritable(head(&mut shelf.open()), &shelf.state());
}

#[test]
fn a_path_that_cannot_be_a_store_is_named() {
    let shelf = Shelf::sqlite();
    fs::write(shelf.state(), "a file").unwrap();
    is_unwritable(append(&mut shelf.open(), decision("a", 1)), &shelf.state());
    fs::remove_file(shelf.state()).unwrap();
    fs::create_dir_all(shelf.file()).unwrap();
    set_mode(&shelf.state(), 0o700);
    is_unwritable(append(&mut shelf.open(), decision("a", 1)), &shelf.file());
}

#[test]
fn an_empty_file_is_an_empty_store() {
    let shelf = Shelf::sqlite();
    fs::create_dir(shelf.state()).unwrap();
    fs::write(shelf.file(), "").unwrap();
    let mut store = shelf.open();
    assert_eq!(head(&mut store).unwrap().seq, 0);
    append(&mut store, decision("a", 1)).unwrap();
    // The same file, emptied later, is noticed by its mark.
    append(&mut shelf.open_marked(), decision("a", 2)).unwrap();
    drop(store);
    fs::remove_file(shelf.state().join("gate.db-wal")).unwrap();
    fs::write(shelf.file(), "").unwrap();
    assert!(matches!(head(&mut shelf.open_marked()), Err(StoreError::Lost { .. })));
}

#[test]
fn what_is_no_database_is_damage() {
    let shelf = Shelf::sqlite();
    fs::create_dir(shelf.state()).unwrap();
    fs::write(shelf.file(), "no database, but long enough for one\n".repeat(500)).unwrap();
    is_corrupt(head(&mut shelf.open()));
    is_corrupt(append(&mut shelf.open(), decision("a", 1)));
    // A person may begin anew; the file is kept.
    let mut store = shelf.open();
    store.renew("shop").unwrap();
    append(&mut store, decision("a", 1)).unwrap();
    assert_eq!(names(&shelf.state()).iter().filter(|name| name.contains(".lost-")).count(), 1);
}

#[test]
fn somebody_elses_database_is_damage() {
    let shelf = Shelf::sqlite();
    fs::create_dir(shelf.state()).unwrap();
    shelf.run("CREATE TABLE birds (name TEXT)");
    is_corrupt(head(&mut shelf.open()));
    is_corrupt(append(&mut shelf.open(), decision("a", 1)));
    assert_eq!(shelf.run("SELECT count(*) FROM sqlite_master"), ["1"]);
}

#[test]
fn a_malformed_page_is_damage() {
    let shelf = Shelf::sqlite();
    append(&mut shelf.open(), decision("a", 1)).unwrap();
    shelf.run("PRAGMA wal_checkpoint(TRUNCATE)");
    let mut bytes = fs::read(shelf.file()).unwrap();
    bytes[4096..].fill(0xff);
    fs::write(shelf.file(), bytes).unwrap();
    is_corrupt(head(&mut shelf.open()));
    is_corrupt(append(&mut shelf.open(), decision("a", 2)));
}

#[test]
fn a_value_of_another_kind_is_damage() {
    let shelf = Shelf::sqlite();
    append(&mut shelf.open(), decision("a", 1)).unwrap();
    for (column, value) in [
        ("body", "x'7b7d'"),
        ("actor", "CAST(x'ff' AS TEXT)"),
        ("v", "'one'"),
        ("iteration", "1.5"),
        ("v", "4294967296"),
    ] {
        let before = shelf.run(&format!("SELECT quote({column}) FROM ledger"));
        shelf.tamper(1, column, value);
        is_corrupt(head(&mut shelf.open()));
        shelf.tamper(1, column, &before[0]);
    }
    assert_eq!(chain(&mut shelf.open()).len(), 1);
}

#[test]
fn a_store_that_is_held_is_waited_for_and_then_busy() {
    let shelf = Shelf::sqlite();
    append(&mut shelf.open(), decision("a", 1)).unwrap();
    let holder = Connection::open(shelf.file()).unwrap();
    holder.execute_batch("BEGIN IMMEDIATE").unwrap();
    let hurried = || Store::open(&shelf.place(), None, Duration::from_millis(50)).unwrap();
    let busy = append(&mut hurried(), decision("a", 2));
    assert!(matches!(busy, Err(StoreError::Busy { .. })), "{busy:?}");
    assert_eq!(head(&mut hurried()).unwrap().seq, 1, "whoever looks does not wait");
    thread::scope(|scope| {
        let waiting = scope.spawn(|| append(&mut shelf.open(), decision("a", 2)));
        holder.execute_batch("COMMIT").unwrap();
        waiting.join().unwrap().unwrap();
    });
}

#[test]
fn a_file_that_was_replaced_under_an_open_store_is_noticed() {
    let shelf = Shelf::sqlite();
    let mut store = shelf.open_marked();
    append(&mut store, decision("a", 1)).unwrap();
    fs::remove_dir_all(shelf.state()).unwrap();
    assert!(matches!(append(&mut store, decision("a", 2)), Err(StoreError::Lost { .. })));
    let mut unmarked = shelf.open();
    append(&mut unmarked, decision("a", 2)).unwrap();
    fs::remove_dir_all(shelf.state()).unwrap();
    append(&mut unmarked, decision("a", 3)).unwrap();
    assert_eq!(chain(&mut shelf.open()).len(), 1);
}

/// A process that appends decisions of a run to the store in a folder: this
/// test program, with a test that does so.
fn writer(shelf: &Shelf, run: &str, count: u64) -> Command {
    let mut writer = Command::new("bash");
    // A file that may not grow further is what a full disk is.
    writer.args(["-c", "trap '' XFSZ; ulimit -f ${LIMIT:-unlimited}; exec \"$@\"", "bash"]);
    writer.arg(std::env::current_exe().unwrap());
    writer.args([
        "--exact",
        "store_sqlite::appends_where_it_is_told_to",
        "--ignored",
        "--nocapture",
    ]);
    writer.env("GATE_TEST_WRITER", format!("{run} {count}"));
    writer.env("GATE_TEST_STATE", shelf.state()).env("GATE_TEST_HEADS", shelf.heads());
    writer.stdout(Stdio::null()).stderr(Stdio::piped());
    writer
}

#[test]
#[ignore = "other tests start it as a process of its own"]
fn appends_where_it_is_told_to() {
    let Ok(told) = std::env::var("GATE_TEST_WRITER") else { return };
    let (run, count) = told.split_once(' ').unwrap();
    let place = store::Place::Folder(std::env::var_os("GATE_TEST_STATE").unwrap().into());
    let heads = std::env::var_os("GATE_TEST_HEADS").map(Into::into);
    let mut store = Store::open(&place, heads, PATIENCE).unwrap();
    for iteration in 1..=count.parse().unwrap() {
        append(&mut store, decision(run, iteration)).unwrap();
    }
}

#[test]
fn of_64_processes_at_once_each_gets_its_turn() {
    let shelf = Shelf::sqlite();
    let spawn = |number| writer(&shelf, &format!("w{number}"), 2).spawn().unwrap();
    let writers: Vec<Child> = (0..64).map(spawn).collect();
    for writer in writers {
        let ended = writer.wait_with_output().unwrap();
        assert!(ended.status.success(), "{}", String::from_utf8_lossy(&ended.stderr));
    }
    assert_eq!(chain(&mut shelf.open_marked()).len(), 128);
}

#[test]
fn who_is_killed_leaves_whole_records() {
    let shelf = Shelf::sqlite();
    for round in 0..20 {
        let mut victim = writer(&shelf, &format!("w{round}"), u64::MAX).spawn().unwrap();
        let mut store = shelf.open();
        let before = head(&mut store).unwrap().seq;
        let wanted = if round % 4 == 0 { before } else { before + round };
        while head(&mut store).unwrap().seq < wanted {
            assert!(victim.try_wait().unwrap().is_none(), "it ended by itself");
        }
        victim.kill().unwrap();
        victim.wait().unwrap();
        chain(&mut shelf.open_marked());
    }
    append(&mut shelf.open_marked(), decision("last", 1)).unwrap();
}

#[test]
fn a_full_disk_keeps_what_was_there() {
    let shelf = Shelf::sqlite();
    append(&mut shelf.open_marked(), decision("a", 1)).unwrap();
    let ended = writer(&shelf, "b", 1000).env("LIMIT", "160").output().unwrap();
    let told = String::from_utf8_lossy(&ended.stderr);
    assert!(!ended.status.success() && told.contains("Unwritable"), "{told}");
    let kept = chain(&mut shelf.open_marked());
    assert!((2..1000).contains(&kept.len()), "{}", kept.len());
    append(&mut shelf.open_marked(), decision("a", 2)).unwrap();
    assert_eq!(chain(&mut shelf.open_marked()).len(), kept.len() + 1);
}
