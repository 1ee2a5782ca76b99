//! What contributors add most: a check, a reason, a format of transcripts, a settings key, a
//! spelling of the signal. Each patch here adds one of them, as CONTRIBUTING says.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use crate::needs::root;

/// The most files that one of them touches by hand.
const MOST_FILES: usize = 6;

/// What `UPDATE=1` writes.
const GENERATED: [&str; 2] = ["schemas/", "integrations/editors/"];

const PATCHES: [&str; 5] = ["check", "reason", "format", "key", "spelling"];

fn patch(name: &str) -> PathBuf {
    root().join(format!("tests/additions/{name}.patch"))
}

/// The files of a patch.
fn patched_files(name: &str) -> BTreeSet<String> {
    let text = fs::read_to_string(patch(name)).unwrap();
    text.lines().filter_map(|line| line.strip_prefix("+++ b/")).map(str::to_owned).collect()
}

fn apply(tree: &Path, name: &str, mode: &[&str]) {
    let patch = patch(name);
    run(tree, &[&["git", "apply", "-C1"], mode, &[patch.to_str().unwrap()]].concat());
}

/// Runs a program that has to succeed, and returns what it prints.
#[track_caller]
fn run(folder: &Path, words: &[&str]) -> String {
    let output = output(folder, words);
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let (stdout, stderr) = (text(&output.stdout), text(&output.stderr));
    assert!(output.status.success(), "{words:?}\n{stdout}\n{stderr}");
    stdout
}

fn output(folder: &Path, words: &[&str]) -> Output {
    Command::new(words[0])
        .args(&words[1..])
        .current_dir(folder)
        .env("CARGO_TARGET_DIR", root().join("target/additions/target"))
        // The tree's own tests run without what is not Rust.
        .env_remove("GATE_CI")
        .stdin(Stdio::null())
        .output()
        .unwrap()
}

#[test]
fn each_addition_fits_and_touches_six_files_at_most() {
    for name in PATCHES {
        let files = patched_files(name);
        assert!((2..=MOST_FILES).contains(&files.len()), "{name}: {files:?}");
        let generated = |file: &&String| GENERATED.iter().any(|place| file.starts_with(place));
        assert_eq!(files.iter().find(generated), None, "{name}");
        apply(root(), name, &["--check"]);
    }
}

/// The tracked files of this tree as a repository of their own, with all patches.
fn tree_with_additions() -> PathBuf {
    let tree = root().join("target/additions/tree");
    if tree.exists() {
        fs::remove_dir_all(&tree).unwrap();
    }
    let listed = run(root(), &["git", "ls-files", "-z"]);
    for file in listed.split_terminator('\0') {
        let (from, to) = (root().join(file), tree.join(file));
        fs::create_dir_all(to.parent().unwrap()).unwrap();
        if from.is_symlink() {
            std::os::unix::fs::symlink(fs::read_link(from).unwrap(), to).unwrap();
        } else if from.is_file() {
            fs::copy(from, to).unwrap();
        }
    }
    run(&tree, &["git", "init", "-q"]);
    run(&tree, &["git", "add", "."]);
    for name in PATCHES {
        apply(&tree, name, &["--index"]);
    }
    run(&tree, &["git", "add", "."]);
    tree
}

/// Builds the tree with all five, lets it write what is generated, and runs the tests that compare
/// lists: a list that none of the five touches would fail there.
#[test]
#[ignore = "builds the workspace with the additions: .ci/full"]
fn the_additions_work_and_need_no_other_file() {
    let tree = tree_with_additions();
    let program = ["cargo", "test", "-q", "-p", "gate-cli", "--features", "full,schemas"];
    let writes = ["--test", "gate", "--", "schemas::", "clients_facts"];
    let update = [&["env", "UPDATE=1"], &program[..], &writes].concat();
    // The first time writes schemas that the program has not embedded yet.
    output(&tree, &update);
    run(&tree, &update);
    let written = run(&tree, &["git", "diff", "--name-only"]);
    let stray = |file: &&str| !GENERATED.iter().any(|place| file.starts_with(place));
    assert_eq!(written.lines().find(stray), None, "written by UPDATE=1");
    let lists = ["tidy", "schemas::", "book::generated", "clients_facts", "scan::", "config::"];
    let lists = [&lists[..], &["checks::", "doctor", "completions"]].concat();
    run(&tree, &[&program[..], &["--test", "gate", "--"], &lists].concat());
    run(&tree, &["cargo", "test", "-q", "--workspace", "--features", "full,schemas", "--lib"]);
    run(&tree, &["cargo", "test", "-q", "-p", "gate-core", "--test", "exit_formats"]);
}
