//! The files that a command line names.

use std::fs;
use std::path::{Path, PathBuf};

use rustix::fs::{CWD, FileType, Mode, mknodat};
use tempfile::TempDir;

use super::super::given::Labels;
use super::super::inputs::{Input, Inputs, find};

fn folder(files: &[&str]) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    for file in files {
        let file = folder.path().join(file);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(&file, "text\n").unwrap();
    }
    folder
}

fn inputs(folder: &Path, paths: &[&str]) -> Inputs {
    find(folder, &paths.iter().map(PathBuf::from).collect::<Vec<_>>(), false, &Labels::default())
        .unwrap()
}

/// The names of the files that these paths lead to, and the number of others.
#[track_caller]
fn check(folder: &TempDir, paths: &[&str], expected: &[&str], other: u64) {
    let found = inputs(folder.path(), paths);
    let shown: Vec<_> = found.all.iter().map(|input| input.shown.as_str()).collect();
    assert_eq!((shown.as_slice(), found.other), (expected, other), "{paths:?}");
}

#[test]
fn the_extension_shows_a_transcript_in_a_folder_and_not_one_that_is_named() {
    let folder = folder(&["t/a.LOG", "t/b.rs", "t/c", "t/d.tar.gz", "t/e.ndjson", "t/.f.log"]);
    check(&folder, &["t"], &["t/a.LOG", "t/c", "t/e.ndjson"], 2);
    check(&folder, &["t/b.rs", "t/.f.log"], &["t/b.rs", "t/.f.log"], 0);
    check(&folder, &["."], &["t/a.LOG", "t/c", "t/e.ndjson"], 2);
}

#[test]
fn a_glob_finds_hidden_files_where_it_names_them() {
    let folder = folder(&["t/a.log", "t/.b.log", ".h/c.log", "t/u/d.log"]);
    check(&folder, &["t/*.log"], &["t/a.log"], 0);
    check(&folder, &["t/.*.log"], &["t/.b.log"], 0);
    check(&folder, &["./.h/*"], &["./.h/c.log"], 0);
    check(&folder, &["*.log"], &["*.log"], 0);
    check(&folder, &["**/?.log"], &["t/a.log", "t/u/d.log"], 0);
}

fn error(input: &Input) -> (u8, String) {
    let failure = input.error.as_ref().unwrap();
    assert_eq!(failure.code, "input-unreadable");
    (failure.exit_code, failure.message.clone())
}

#[test]
fn what_leads_nowhere_is_an_input_with_its_error() {
    let folder = folder(&["a.log"]);
    let found = inputs(folder.path(), &["[a", "x/*.log", "a.log/b", "a.log"]).all;
    let [torn_glob, no_match, below_file, there] = found.as_slice() else { panic!("{found:?}") };
    let missing = "cannot read [a: No such file or directory (os error 2)";
    assert_eq!(error(torn_glob), (2, missing.to_owned()));
    assert_eq!(error(no_match), (2, "nothing matches".to_owned()));
    let within = "cannot read a.log/b: Not a directory (os error 20)";
    assert_eq!(error(below_file), (2, within.to_owned()));
    for input in [torn_glob, no_match, below_file] {
        assert!(input.wanted && input.id.is_none());
        assert_eq!((input.size, input.iteration), (0, 1));
    }
    assert!(there.error.is_none() && there.wanted && there.id.is_some());
    assert_eq!((there.size, there.path.as_path()), (5, &*folder.path().join("a.log")));
}

#[test]
fn a_glob_whose_files_were_named_before_has_matched() {
    let folder = folder(&["t/a.log", "t/b.rs"]);
    check(&folder, &["t/a.log", "t/*.log"], &["t/a.log", "t/*.log"], 0);
    check(&folder, &["t/*.log", "t", "t/a.log"], &["t/a.log"], 1);
}

#[test]
fn a_pipe_is_read_where_it_is_named_and_each_time() {
    let folder = folder(&["t/a.log"]);
    let pipe = folder.path().join("t/pipe");
    mknodat(CWD, &pipe, FileType::Fifo, Mode::RUSR | Mode::WUSR, 0).unwrap();
    check(&folder, &["t"], &["t/a.log"], 1);
    check(&folder, &["t/pipe", "t/pipe"], &["t/pipe", "t/pipe"], 0);
}
