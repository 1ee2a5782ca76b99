//! Single files of a tree.

use gate_platform::symlink;

use super::*;

#[test]
fn a_file_is_looked_at_where_every_folder_above_it_is_real() {
    let base = tempfile::tempdir().unwrap();
    let root = base.path().join("tree");
    fs::create_dir_all(root.join("src/deep")).unwrap();
    fs::create_dir(base.path().join("outside")).unwrap();
    for file in ["tree/a", "tree/src/deep/b", "outside/secret"] {
        fs::write(base.path().join(file), "").unwrap();
    }
    symlink(base.path().join("outside"), root.join("link")).unwrap();
    symlink("src", root.join("inner")).unwrap();
    let mut folders = RealFolders::new(&root);
    let mut seen = |path: &str| folders.find_file(path.as_bytes()).map(|file| file.path);
    for path in ["a", "src/deep/b", "link", "inner", "src/deep/b"] {
        assert_eq!(seen(path).as_deref(), Some(path.as_bytes()), "{path}");
    }
    for path in [
        "",
        "src",
        "src/deep",
        "gone",
        "gone/a",
        "a/b",
        "link/secret",
        "inner/deep/b",
        "../outside/secret",
        "src/../a",
        "./../outside/secret",
    ] {
        assert_eq!(seen(path), None, "{path}");
    }
    let whole = root.join("a");
    assert_eq!(seen(whole.to_str().unwrap()), None, "an absolute name leads anywhere");
}

#[test]
fn folders_are_handed_out_until_none_waits_and_none_is_listed() {
    let folder = |prefix: &str| Folder {
        prefix: prefix.as_bytes().to_vec(),
        patterns: Patterns::default(),
        cache: None,
    };
    let queue = Queue::default();
    queue.lock().folders.push(folder(""));
    let mut order = Vec::new();
    while let Some(mut turn) = queue.next() {
        order.push(String::from_utf8(turn.folder.prefix.clone()).unwrap());
        match order.last().map(String::as_str) {
            Some("") => turn.subfolders = vec![folder("b/"), folder("c/"), folder("a/")],
            Some("a/") => turn.subfolders = vec![folder("a/x/")],
            _ => {}
        }
    }
    assert_eq!(order, ["", "a/", "a/x/", "b/", "c/"]);
    assert_eq!(queue.lock().being_listed, 0);
}
