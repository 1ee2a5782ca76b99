//! Paths at which hooks may call a program, and the copy that is made of any other.

use gate_platform::{MetadataExt, symlink};

use super::super::tests::roots;
use super::*;

/// Checks if hooks call a program at this path, which leads to `target`, as it is.
#[track_caller]
fn check(path: &str, target: &str, expected: bool) {
    let home_folders = [".local/bin", ".cargo/bin"].map(|folder| Path::new("/home/u").join(folder));
    let folders: Vec<_> =
        home_folders.into_iter().chain(LASTING_FOLDERS.map(PathBuf::from)).collect();
    let is_lasting = is_lasting(Path::new(path), Path::new(target), &folders);
    assert_eq!(is_lasting, expected, "{path} -> {target}");
}

#[test]
fn a_program_that_a_package_manager_keeps_in_place_is_called_where_it_is() {
    for path in ["/usr/bin/gate", "/usr/local/bin/gate", "/home/u/.cargo/bin/gate"] {
        check(path, path, true);
    }
    for (path, target) in [
        ("/opt/homebrew/bin/gate", "/opt/homebrew/Cellar/exit-gate/0.2.0/bin/gate"),
        ("/home/u/.local/bin/gate", "/home/u/.local/share/uv/tools/exit-gate/bin/gate"),
        ("/home/u/.local/bin/gate", "/home/u/.local/share/pipx/venvs/exit-gate/bin/gate"),
        ("/usr/local/bin/gate", "/usr/local/lib/node_modules/exit-gate/bin/gate"),
    ] {
        check(path, target, true);
    }
}

#[test]
fn a_program_that_a_cache_or_an_upgrade_takes_away_is_not_called() {
    for path in [
        "/home/u/.npm/_npx/ab12/node_modules/@exit-gate/linux-x64/bin/gate",
        "/home/u/.cache/uv/archive-v0/Xy/bin/gate",
        "/home/u/.cache/pipx/ab12/bin/gate",
        "/opt/homebrew/Cellar/exit-gate/0.2.0/bin/gate",
        "/home/u/shop/node_modules/.bin/gate",
        "/home/u/shop/.venv/bin/gate",
        "/home/u/gate/target/release/gate",
        "/tmp/gate-0.2.0/gate",
    ] {
        check(path, path, false);
    }
    check("/home/u/.local/bin/gate", "/home/u/.cache/uv/archive-v0/Xy/bin/gate", false);
    // Hooks know gate by its name.
    check("/usr/bin/exit-gate", "/usr/bin/exit-gate", false);
}

#[test]
fn a_hook_into_a_package_managers_folder_is_reported_and_one_of_the_persons_own_is_not() {
    for (path, expected) in [
        ("/home/u/.npm/_npx/ab12/node_modules/exit-gate/bin/gate", true),
        ("/usr/local/Cellar/exit-gate/0.2.0/bin/gate", true),
        ("/home/u/.local/share/pipx/venvs/exit-gate/bin/gate", true),
        ("/opt/gate/gate", false),
        ("/usr/bin/gate", false),
    ] {
        assert_eq!(is_fleeting(Path::new(path)), expected, "{path}");
    }
}

#[test]
fn gate_in_the_path_of_npx_is_not_in_the_persons() {
    let (folder, _roots) = roots(&[]);
    let path = |name: &str| folder.path().join(name);
    let shims = [path("_npx/ab12/node_modules/.bin"), path(".cache/uv/archive-v0/Xy/bin")];
    let check = |folders: &[PathBuf], expected: bool| {
        let joined = std::env::join_paths(folders).unwrap().into_string().unwrap();
        assert_eq!(is_in_path(&roots(&[("PATH", &joined)]).1), expected, "{joined}");
    };
    for bin in shims.iter().chain([&path("bin")]) {
        fs::create_dir_all(bin).unwrap();
        fs::write(bin.join("gate"), "").unwrap();
    }
    check(&[], false);
    check(&shims, false);
    check(&[shims.to_vec(), vec![path("bin")]].concat(), true);
}

#[test]
fn a_link_in_a_folder_of_the_persons_own_is_called_and_nothing_is_copied() {
    let (folder, roots) = roots(&[]);
    let bin = folder.path().join("home/.local/bin");
    fs::create_dir_all(&bin).unwrap();
    symlink(running_program().unwrap(), bin.join("gate")).unwrap();
    let program = HookProgram::new(&roots).unwrap();
    assert_eq!((program.path.clone(), program.is_copy_due()), (bin.join("gate"), false));
    assert!(program.is_this(&program.path, &running_program().unwrap()));
}

#[test]
fn a_program_from_a_build_is_copied_and_a_stale_copy_is_seen() {
    let (folder, roots) = roots(&[("CARGO_HOME", "/nowhere")]);
    let copy = folder.path().join("data/bin/gate");
    let original = folder.path().join("original");
    let second_copy = folder.path().join("second");
    let text = "x".repeat(CHUNK_BYTES + 1);
    fs::write(&original, &text).unwrap();
    let program =
        HookProgram { path: copy.clone(), copy: copy.clone(), original: Some(original.clone()) };
    assert_eq!(HookProgram::new(&roots).unwrap().path, copy);
    assert!(program.is_copy_due() && program.is_copy(&copy_of_gate(&roots)));
    for (bytes, is_due) in [
        (text.clone(), false),
        (format!("{}y", &text[1..]), true),
        (format!("{text}x"), true),
        (String::new(), true),
    ] {
        fs::create_dir_all(copy.parent().unwrap()).unwrap();
        fs::write(&copy, &bytes).unwrap();
        assert_eq!(program.is_copy_due(), is_due, "{} bytes", bytes.len());
    }
    fs::write(&second_copy, "old").unwrap();
    write_program(&original, &second_copy).unwrap();
    assert_eq!(fs::metadata(&second_copy).unwrap().mode() & 0o7777, 0o755);
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 5, "nothing is left beside");
    assert!(has_same_bytes(&second_copy, &running_program().unwrap()).unwrap());
}
