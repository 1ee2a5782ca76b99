//! Folders that resist.

use super::*;

fn mode(path: &Path, mode: u32) {
    set_mode(path, mode).unwrap();
}

#[test]
fn a_folder_goes_with_all_in_it_whatever_its_modes() {
    let folder = tempfile::tempdir().unwrap();
    let top = folder.path().join("top");
    let inner = top.join("inner");
    fs::create_dir_all(inner.join("empty")).unwrap();
    fs::write(inner.join("file"), "").unwrap();
    [inner.join("file"), inner.join("empty"), inner, top.clone()]
        .iter()
        .for_each(|path| mode(path, 0));
    remove_all(&top).unwrap();
    assert!(!top.exists());
}

#[test]
fn links_are_removed_and_not_followed() {
    let folder = tempfile::tempdir().unwrap();
    let (outside, top) = (folder.path().join("outside"), folder.path().join("top"));
    for made in [&outside, &top] {
        fs::create_dir(made).unwrap();
    }
    fs::write(outside.join("kept"), "").unwrap();
    gate_platform::symlink(&outside, top.join("link")).unwrap();
    mode(&top, 0o500);
    remove_all(&top).unwrap();
    assert!(outside.join("kept").exists());
}

#[test]
fn a_folder_that_is_gone_is_no_error_and_a_file_is_one() {
    let folder = tempfile::tempdir().unwrap();
    remove_all(&folder.path().join("gone")).unwrap();
    let file = folder.path().join("file");
    fs::write(&file, "").unwrap();
    assert!(remove_all(&file).is_err());
}
