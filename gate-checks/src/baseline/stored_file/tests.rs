//! Names, marks and files as a baseline keeps them.

use gate_platform::PermissionsExt;

use super::*;

#[track_caller]
fn check_name(bytes: &[u8], text: &str) {
    let name = Name(bytes.to_vec());
    assert_eq!(serde_json::to_string(&name).unwrap(), text);
    assert_eq!(serde_json::from_str::<Name>(text).unwrap(), name);
}

#[test]
fn a_name_is_text_where_it_is_some_and_else_its_bytes_in_hex() {
    check_name("src/ü.rs".as_bytes(), "\"src/ü.rs\"");
    check_name(b"00ff", "\"00ff\"");
    check_name(b"a\xff\x00/b", "\"\\u000061ff002f62\"");
}

#[test]
fn hex_digits_that_are_none_are_an_error() {
    for text in ["\"\\u0000f\"", "\"\\u0000fg\"", "\"\\u0000fff\"", "\"\\u0000ü\"", "\"\\u0000+f\""]
    {
        let error = serde_json::from_str::<Name>(text).unwrap_err().to_string();
        assert!(error.starts_with("a name in hex digits was expected"), "{text}: {error}");
    }
}

#[test]
fn a_mark_is_of_the_very_bytes() {
    let file =
        |hash: [u8; 32], kind| Mark { hash: blake3::Hash::from(hash).to_hex().to_string(), kind };
    let mark = file(blake3::hash(b"one\n").into(), Kind::Plain);
    assert!(mark.is_of(b"one\n"));
    assert!(!mark.is_of(b"one") && !mark.is_of(b""));
    assert_eq!(
        serde_json::to_value(&mark).unwrap()["kind"],
        serde_json::json!("plain"),
        "kinds are stored by name"
    );
}

#[test]
fn kinds_that_hold_no_bytes_come_back_as_special_files() {
    for (kind, again) in [
        (Kind::Plain, Kind::Plain),
        (Kind::Executable, Kind::Executable),
        (Kind::Link, Kind::Link),
        (Kind::Special, Kind::Special),
        (Kind::Unreadable, Kind::Special),
    ] {
        let mark = Mark::new(&File::new((*b"a").into(), kind, [0; 32]));
        let text = serde_json::to_string(&mark).unwrap();
        assert_eq!(serde_json::from_str::<Mark>(&text).unwrap().kind, again);
    }
}

#[test]
fn line_breaks_get_the_returns_that_they_lack() {
    let check = |text: &str, expected: &str| {
        assert_eq!(with_returns(text.as_bytes()), expected.as_bytes(), "{text:?}");
    };
    check("", "");
    check("a", "a");
    check("a\nb\n", "a\r\nb\r\n");
    check("a\r\nb\n", "a\r\nb\r\n");
    check("\n\n", "\r\n\r\n");
    check("a\rb\n", "a\rb\r\n");
}

fn stored(bytes: &str, kind: Kind) -> StoredFile {
    StoredFile { bytes: bytes.as_bytes().to_vec(), kind }
}

fn mode(path: &Path) -> u32 {
    path.symlink_metadata().unwrap().permissions().mode() & 0o777
}

#[test]
fn a_file_is_written_with_its_folders_and_its_kind() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a/b/c");
    stored("one", Kind::Executable).write(&path).unwrap();
    assert_eq!((fs::read_to_string(&path).unwrap().as_str(), mode(&path)), ("one", 0o755));
    stored("two", Kind::Plain).write(&path).unwrap();
    assert_eq!((fs::read_to_string(&path).unwrap().as_str(), mode(&path)), ("two", 0o644));
    stored("../elsewhere", Kind::Link).write(&path).unwrap();
    assert_eq!(fs::read_link(&path).unwrap(), Path::new("../elsewhere"));
}

#[test]
fn a_link_that_stands_in_the_way_is_replaced_and_not_followed() {
    let folder = tempfile::tempdir().unwrap();
    let (target, path) = (folder.path().join("target"), folder.path().join("link"));
    fs::write(&target, "kept").unwrap();
    symlink(&target, &path).unwrap();
    stored("new", Kind::Plain).write(&path).unwrap();
    assert_eq!(fs::read_to_string(&target).unwrap(), "kept");
    assert!(path.symlink_metadata().unwrap().is_file());
}

#[test]
fn a_folder_that_stands_in_the_way_is_an_error_that_names_it() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a");
    fs::create_dir(&path).unwrap();
    let error = stored("one", Kind::Plain).write(&path).unwrap_err().to_string();
    assert!(error.starts_with(&path.display().to_string()), "{error}");
    assert!(path.is_dir());
}
