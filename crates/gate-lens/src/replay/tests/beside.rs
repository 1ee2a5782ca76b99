//! What a person gives beside the transcripts: labels, and an earlier replay.

use std::collections::HashSet;
use std::fs;
use std::path::Path;

use tempfile::TempDir;

use super::super::given::{EarlierReplay, Idle, Labelled, Labels};
use super::super::inputs::FileId;
use crate::replay::{Changed, Label, ReplayRecord, ReplayVerdict};
use gate_core::Failure;

/// A folder with these files, each with its own name in it.
fn folder(files: &[&str]) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    for file in files {
        fs::write(folder.path().join(file), file).unwrap();
    }
    folder
}

fn labels(folder: &Path, text: &str) -> Result<Labels, Failure> {
    let file = folder.join("labels.jsonl");
    fs::write(&file, text).unwrap();
    Labels::read(&file)
}

fn id(folder: &Path, file: &str) -> FileId {
    let path = folder.join(file);
    FileId::new(&path, &fs::metadata(&path).unwrap()).unwrap()
}

fn label(label: Label) -> Option<Labelled> {
    Some(Labelled { label, ambiguous: false })
}

#[test]
fn an_iterations_own_label_goes_before_that_of_its_file() {
    let folder = folder(&["a", "b"]);
    let lines = r#"{"file":"a","label":"exit","iteration":null}
{"file":"a","label":"blocked","iteration":3,"ambiguous":true}
{"file":"a","label":"continue","iteration":1}
"#;
    let labels = labels(folder.path(), lines).unwrap();
    let get = |iteration, last| labels.get(id(folder.path(), "a"), iteration, last);
    assert_eq!(get(1, false), label(Label::Continue));
    assert_eq!(get(2, false), None);
    assert_eq!(get(2, true), label(Label::Exit));
    assert_eq!(get(3, true), Some(Labelled { label: Label::Blocked, ambiguous: true }));
    assert!(labels.has(id(folder.path(), "a")) && !labels.has(id(folder.path(), "b")));
    assert_eq!(labels.get(id(folder.path(), "b"), 1, true), None);
}

#[test]
fn a_label_of_no_iteration_is_idle_once_its_file_was_read() {
    let folder = folder(&["a", "b"]);
    let lines = r#"{"file":"b","label":"exit","iteration":9}
{"file":"a","label":"exit","iteration":7}
{"file":"a","label":"exit","iteration":2}
{"file":"gone","label":"exit"}
{"file":".","label":"exit"}
{"file":"gone too","label":null}
"#;
    let labels = labels(folder.path(), lines).unwrap();
    let [a, b] = ["a", "b"].map(|file| id(folder.path(), file));
    assert_eq!(labels.get(a, 2, false), label(Label::Exit));
    let idle = |read: &[FileId]| {
        let idle = labels.idle(&read.iter().copied().collect::<HashSet<_>>());
        idle.into_iter().map(|Idle { line, why }| format!("{line}: {why}")).collect::<Vec<_>>()
    };
    let missing = ["4: gone is not there", "5: . is a folder"];
    assert_eq!(idle(&[]), missing);
    assert_eq!(idle(&[a]), ["2: a has no iteration 7", missing[0], missing[1]]);
    assert_eq!(idle(&[a, b])[0], "1: b has no iteration 9");
}

#[test]
fn a_file_with_two_names_has_one_label() {
    let folder = folder(&["a"]);
    gate_platform::symlink("a", folder.path().join("link")).unwrap();
    let same = "{\"file\":\"a\",\"label\":\"exit\"}\n\n{\"file\":\"link\",\"label\":\"exit\"}\r\n";
    assert!(labels(folder.path(), same).is_ok());
    let doubtful = "{\"file\":\"link\",\"label\":\"exit\",\"ambiguous\":true}\n";
    let failure = labels(folder.path(), &format!("{same}{doubtful}")).unwrap_err();
    assert_eq!(failure.message, "line 4: `file` link has another label in line 3");
    assert_eq!((failure.line, failure.key.as_deref()), (Some(4), Some("file")));
}

#[test]
fn text_that_cannot_be_read_as_lines_is_reported() {
    let folder = folder(&["a"]);
    let failure = Labels::read(&folder.path().join("none.jsonl")).unwrap_err();
    assert_eq!((failure.exit_code, failure.code.as_str()), (2, "input-unreadable"));
    assert!(failure.message.starts_with("cannot read the labels "), "{failure}");
    let file = folder.path().join("bytes.jsonl");
    fs::write(&file, b"{\"file\":\"a\",\"label\":null}\n\xff\n").unwrap();
    let failure = Labels::read(&file).unwrap_err();
    assert!(failure.message.ends_with("stream did not contain valid UTF-8"), "{failure}");
    let long = format!("{{\"file\":\"a\",\"label\":[\"{}\"]}}", "x".repeat(200));
    let failure = labels(folder.path(), &long).unwrap_err();
    assert!(failure.message.len() < 200 && failure.message.contains('…'), "{failure}");
}

fn earlier(rows: &[(&str, u64, &str)]) -> EarlierReplay {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("old.jsonl");
    let row = |(file, iteration, verdict): &(&str, u64, &str)| {
        format!(
            "{{\"schema\":\"gate.replay.v1\",\"file\":\"{file}\",\"iteration\":{iteration},\
             \"verdict\":{verdict},\"signal\":null}}\n"
        )
    };
    fs::write(&file, rows.iter().map(row).collect::<String>()).unwrap();
    EarlierReplay::read(&file).unwrap()
}

fn row(file: &str, iteration: u64, verdict: Option<ReplayVerdict>) -> ReplayRecord {
    ReplayRecord {
        schema: crate::replay::ROW,
        file: file.to_owned(),
        iteration,
        first_line: 1,
        verdict,
        ..ReplayRecord::default()
    }
}

#[test]
fn a_row_is_compared_with_the_one_of_its_file_and_iteration() {
    let old = [
        ("a", 1, "\"exit\""),
        ("a", 2, "\"exit-if-checks-pass\""),
        ("b", 1, "null"),
        ("c", 1, "\"blocked\""),
        ("c", 1, "\"tripped\""),
    ];
    let mut earlier = earlier(&old);
    let exit = Some(ReplayVerdict::Exit);
    let mut changed = |file, iteration, to| {
        let changed = earlier.compare(&row(file, iteration, to));
        changed.map(|Changed { from, to }| (from, to))
    };
    assert_eq!(changed("a", 1, exit), None);
    assert_eq!(changed("a", 2, exit), Some((Some(ReplayVerdict::ExitIfChecksPass), exit)));
    assert_eq!(changed("b", 1, None), None);
    assert_eq!(changed("new", 1, exit), Some((None, exit)));
    assert_eq!(changed("a", 1, exit), Some((None, exit)), "each row is compared once");
    assert_eq!(changed("c", 1, None), Some((Some(ReplayVerdict::Tripped), None)));
    assert_eq!(earlier.gone(), 0);
}

#[test]
fn rows_without_a_counterpart_are_counted() {
    let mut earlier = earlier(&[("a", 1, "null"), ("a", 2, "\"exit\""), ("b", 1, "\"exit\"")]);
    earlier.compare(&row("a", 1, None));
    assert_eq!(earlier.gone(), 2);
}
