//! What is remembered of a tree, and what is not believed.

use std::fs::{self, File};
use std::path::PathBuf;
use std::time::{Duration, SystemTime};

use gate_platform::{PermissionsExt, symlink};

use super::fixture::Fixture;

/// The file of known hashes; there is one tree.
fn kept(fixture: &Fixture) -> PathBuf {
    let trees = fs::read_dir(fixture.beside("state/trees")).unwrap();
    let trees: Vec<_> = trees.map(|tree| tree.unwrap().path()).collect();
    assert_eq!(trees.len(), 1);
    trees[0].join("stat")
}

/// How many files are remembered of the two.
fn remembered(fixture: &Fixture) -> usize {
    let bytes = fs::read(kept(fixture)).unwrap();
    [&b"a"[..], b"src/b"].into_iter().filter(|name| memory_of(&bytes, name)).count()
}

fn memory_of(bytes: &[u8], name: &[u8]) -> bool {
    let length = u32::try_from(name.len()).unwrap().to_le_bytes();
    bytes.windows(84 + name.len()).any(|byte| byte.starts_with(&length) && byte.ends_with(name))
}

/// Waits until the files are old enough to be remembered.
fn settle() {
    std::thread::sleep(Duration::from_millis(2_100));
}

#[test]
fn a_file_that_just_changed_is_not_remembered() {
    let fixture = Fixture::repository().keeping_state();
    let first = fixture.snapshot();
    assert_eq!(remembered(&fixture), 0);
    settle();
    assert_eq!(fixture.snapshot(), first);
    assert_eq!(remembered(&fixture), 2);
    fixture.write("a", "new\n");
    assert_ne!(fixture.snapshot().digest, first.digest);
    assert_eq!(remembered(&fixture), 1);
}

#[test]
fn a_file_that_claims_to_be_old_is_not_remembered() {
    let fixture = Fixture::repository().keeping_state();
    let old = SystemTime::now() - Duration::from_secs(3600);
    File::options().write(true).open(fixture.path("a")).unwrap().set_modified(old).unwrap();
    fixture.snapshot();
    assert_eq!(remembered(&fixture), 0);
}

#[test]
fn an_edit_that_hides_its_time_and_size_is_seen() {
    let fixture = Fixture::repository().keeping_state();
    settle();
    let before = fixture.snapshot();
    assert_eq!(remembered(&fixture), 2);
    fixture.write_in_secret("a", "eno\n");
    assert_eq!(before.changes_to(&fixture.snapshot()).changed, ["a"]);
}

#[test]
fn what_is_remembered_is_what_was_read() {
    let fixture = Fixture::repository().keeping_state();
    fixture.mode("a", 0o755);
    symlink("a", fixture.path("link")).unwrap();
    settle();
    let read = fixture.snapshot();
    assert_eq!(fixture.snapshot(), read);
}

#[test]
fn a_damaged_or_foreign_memory_is_ignored() {
    let fixture = Fixture::repository().keeping_state();
    settle();
    let whole = fixture.snapshot();
    let file = kept(&fixture);
    let good = fs::read(&file).unwrap();
    let mut flipped = good.clone();
    // The last byte of a hash, before the last name.
    let at = good.len() - 32 - "src/b".len() - 1;
    flipped[at] ^= 1;
    for bytes in [&flipped, &good[..good.len() / 2], b"", b"gate stat cache 0\n"] {
        fs::write(&file, bytes).unwrap();
        assert_eq!(fixture.snapshot(), whole);
        assert_eq!(fs::read(&file).unwrap(), good, "it is made again");
    }
}

#[test]
fn the_memory_is_private_and_follows_no_link() {
    let fixture = Fixture::repository().keeping_state();
    fixture.snapshot();
    let file = kept(&fixture);
    let mode = |path: &std::path::Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!((mode(&file), mode(file.parent().unwrap())), (0o600, 0o700));

    let victim = fixture.beside("victim");
    fs::write(&victim, "untouched").unwrap();
    fs::remove_file(&file).unwrap();
    symlink(&victim, &file).unwrap();
    fixture.snapshot();
    assert_eq!(fs::read_to_string(victim).unwrap(), "untouched");
    assert!(!file.symlink_metadata().unwrap().is_symlink());
}

#[test]
fn a_state_that_cannot_be_written_is_no_error() {
    let mut fixture = Fixture::repository();
    let without = fixture.snapshot();
    fixture.site.state = Some(fixture.path("a/state"));
    assert_eq!(fixture.snapshot().digest, without.digest);
    fixture = fixture.keeping_state();
    symlink(fixture.beside("home"), fixture.beside("state/trees")).unwrap();
    assert_eq!(fixture.snapshot().digest, without.digest);
}
