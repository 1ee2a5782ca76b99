//! Files that are no links, read with bounds and written whole.

use std::fs;
use std::path::Path;

use gate_platform::{PermissionsExt, symlink};
use rustix::fs::{CWD, FileType, Mode, mknodat};

use super::super::file::Lock;
use super::super::file::{create, end, folder, names, open_to_append, read, replace};

fn mode(path: &Path) -> u32 {
    path.metadata().unwrap().permissions().mode() & 0o777
}

#[test]
fn what_is_no_file_is_refused_and_blocks_nobody() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    fs::write(at("file"), "secret").unwrap();
    symlink(at("file"), at("link")).unwrap();
    symlink(at("gone"), at("dead")).unwrap();
    fs::create_dir(at("folder")).unwrap();
    mknodat(CWD, at("pipe"), FileType::Fifo, Mode::RUSR | Mode::WUSR, 0).unwrap();
    for name in ["link", "dead", "folder", "pipe"] {
        let failure = read(&at(name)).unwrap_err();
        let expected =
            format!("cannot read {}: a file is expected, and no link to one", at(name).display());
        assert_eq!((failure.exit_code, failure.message), (2, expected));
        assert_eq!(failure.code, "runs-unreadable");
        assert_eq!(end(&at(name)).unwrap_err().code, "runs-unreadable");
    }
    for name in ["link", "dead"] {
        let refused = open_to_append(&at(name)).unwrap_err();
        assert_eq!(refused.to_string(), "a file is expected, and no link to one");
    }
    assert!(!at("gone").exists());
}

#[test]
fn a_file_is_read_as_text_up_to_its_bound() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("a.md");
    assert_eq!(read(&file), Ok(None));
    assert_eq!(end(&file), Ok(String::new()));
    fs::write(&file, b"a\xffb").unwrap();
    assert_eq!(read(&file), Ok(Some("a\u{fffd}b".to_owned())));
    let long = fs::File::options().write(true).open(&file).unwrap();
    long.set_len((64 << 20) + 1).unwrap();
    let failure = read(&file).unwrap_err();
    assert!(failure.message.ends_with("a.md: it is longer than 64 MiB"), "{failure}");
}

#[test]
fn the_end_of_a_file_is_whole_lines() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("stderr.txt");
    let end_of = |text: &str| {
        fs::write(&file, text).unwrap();
        end(&file).unwrap()
    };
    assert_eq!(end_of("one\ntwo"), "one\ntwo");
    let bound = 64 << 10;
    let exact = format!("first\n{}", "x".repeat(bound - 6));
    assert_eq!(end_of(&exact), exact);
    assert_eq!(end_of(&format!("torn first\n{}", &exact[6..])), exact[6..]);
    let one_line = "x".repeat(bound + 10);
    assert_eq!(end_of(&one_line), one_line[10..], "a line of any length is better than none");
}

#[test]
fn a_file_is_written_whole_in_the_place_of_what_was_there() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    replace(&at("runs/1/info"), "new").unwrap();
    assert_eq!(mode(&at("runs/1/info")), 0o644);
    fs::write(at("theirs"), "theirs").unwrap();
    symlink(at("theirs"), at("link")).unwrap();
    replace(&at("link"), "mine").unwrap();
    let texts = ["theirs", "link"].map(|name| fs::read_to_string(at(name)).unwrap());
    assert_eq!(texts, ["theirs", "mine"]);
    fs::create_dir(at("folder")).unwrap();
    assert_eq!(replace(&at("folder"), "x").unwrap_err().code, "runs-unwritable");
    assert_eq!(names(folder.path()).unwrap(), ["folder", "link", "runs", "theirs"]);
}

#[test]
fn a_new_file_takes_nobodys_place() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("FACT-1.md");
    create(&file, "first").unwrap();
    let failure = create(&file, "second").unwrap_err();
    assert_eq!(failure.code, "runs-unwritable");
    assert_eq!(fs::read_to_string(&file).unwrap(), "first");
    assert_eq!(names(folder.path()).unwrap(), ["FACT-1.md"], "no half of it is left");
    assert!(create(&folder.path().join("gone/a.md"), "x").is_err());
}

#[test]
fn folders_are_this_users_alone_and_names_are_in_order() {
    let root = tempfile::tempdir().unwrap();
    let made = root.path().join("a/b");
    folder(&made).unwrap();
    folder(&made).unwrap();
    assert_eq!((mode(&made), mode(&root.path().join("a"))), (0o700, 0o700));
    assert_eq!(names(&root.path().join("gone")), Ok(Vec::new()));
    fs::write(root.path().join("file"), "").unwrap();
    assert_eq!(names(&root.path().join("file")).unwrap_err().code, "runs-unreadable");
    let failure = folder(&root.path().join("file/below")).unwrap_err();
    assert!(failure.message.starts_with("cannot make the folder "), "{failure}");
}

#[test]
fn readers_share_a_lock_that_a_writer_has_alone() {
    let folder = tempfile::tempdir().unwrap();
    let open = || open_to_append(&folder.path().join("bus")).unwrap();
    let (one, other) = (open(), open());
    Lock::Shared.take(&one).unwrap();
    Lock::Shared.take(&other).unwrap();
    let writer = open();
    assert!(writer.try_lock().is_err());
    drop((one, other));
    Lock::Alone.take(&writer).unwrap();
    assert!(open().try_lock_shared().is_err());
}
