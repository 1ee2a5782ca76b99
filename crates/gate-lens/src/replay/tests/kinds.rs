//! The folders of runs, and the files that are no transcripts by their first bytes.

use std::fs;

use tempfile::TempDir;

use super::super::inputs::{Passed, look};
use super::super::run_folder::RunFolders;

fn folder(files: &[(&str, &str)]) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (file, text) in files {
        let file = folder.path().join(file);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(&file, text).unwrap();
    }
    folder
}

/// The transcripts among these files of a folder.
#[track_caller]
fn check(folder: &TempDir, files: &[&str], expected: &[&str]) {
    let mut runs = RunFolders::default();
    let is_transcript = |file: &&&str| runs.is_transcript(&folder.path().join(file));
    let found: Vec<_> = files.iter().filter(is_transcript).copied().collect();
    assert_eq!(found, expected);
}

#[test]
fn of_a_run_the_first_output_that_is_not_empty_counts() {
    let runs = folder(&[
        ("1/run-info.yaml", ""),
        ("1/agent-stdout.txt", ""),
        ("1/output.md", "Done."),
        ("2/run-info.yaml", ""),
        ("2/agent-stdout.txt", ""),
        ("2/output.md", ""),
        ("3/run-info.yaml", ""),
        ("3/output.md", ""),
        ("3/agent-stderr.txt", "error"),
        ("4/agent-stdout.txt", ""),
        ("4/output.md", "Done."),
    ]);
    check(&runs, &["1/agent-stdout.txt", "1/output.md"], &["1/output.md"]);
    check(&runs, &["2/agent-stdout.txt", "2/output.md"], &["2/agent-stdout.txt"]);
    check(&runs, &["3/agent-stderr.txt", "3/output.md"], &["3/output.md"]);
    let plain = ["4/agent-stdout.txt", "4/output.md"];
    check(&runs, &plain, &plain);
}

#[test]
fn a_tasks_own_files_and_its_buses_are_none() {
    let task = folder(&[("t/runs/1/run-info.yaml", ""), ("u/runs/1/prompt.md", "")]);
    check(&task, &["t/TASK.md", "u/TASK.md"], &["u/TASK.md"]);
    let names = ["TASK-MESSAGE-BUS.md", "PROJECT-FACTS.md", "FACT-1.md", "MY-FACT-1.md", "a.md"];
    check(&task, &names, &names[3..]);
}

#[test]
fn runs_are_numbered_in_the_order_of_their_names() {
    let task = folder(&[
        ("runs/20260102-b/run-info.yaml", ""),
        ("runs/20260101-z/run-info.yaml", ""),
        ("runs/20260101-a/notes.md", "no run"),
        ("runs/20260103-a/run-info.yaml", ""),
    ]);
    let mut runs = RunFolders::default();
    let mut number = |file: &str| runs.iteration(&task.path().join("runs").join(file));
    assert_eq!(number("20260103-a/agent-stdout.txt"), 3);
    assert_eq!(number("20260101-z/prompt.md"), 1);
    assert_eq!(number("20260102-b/output.md"), 2);
    assert_eq!(number("20260101-a/notes.md"), 1);
}

#[track_caller]
fn check_look(bytes: &[u8], expected: Option<Passed>) {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("file");
    fs::write(&file, bytes).unwrap();
    assert_eq!(
        look(&file),
        expected,
        "{:?}",
        String::from_utf8_lossy(&bytes[..bytes.len().min(80)])
    );
}

#[test]
fn what_is_no_text_or_other_json_is_passed_over() {
    check_look(b"", None);
    check_look(b"All is done.\n", None);
    check_look(b"\x7fELF\0\0", Some(Passed::Binary));
    check_look(b"{\"a\": 1, \"b\": \"\0\"}", Some(Passed::Binary));
    check_look(b"{\n  \"name\": \"x\",\n  \"version\": \"1\"\n}\n", Some(Passed::UnknownJson));
    check_look(b" \n[{\"a\": 1}, {\"b\": 2}]\n", Some(Passed::UnknownJson));
    check_look(b"{not json at all}\nAll is done.\n", None);
    let claude = br#"{"type":"result","subtype":"success","is_error":false,"result":"Done.","session_id":"s"}"#;
    check_look(claude, None);
    assert_eq!(look(std::path::Path::new("/nowhere/a.json")), None, "it is told when it is read");
}

#[test]
fn a_format_may_show_behind_the_first_glance() {
    let long = |length: usize| {
        let noise = format!("{{\"level\":\"info\",\"text\":\"{}\"}}\n", "x".repeat(length));
        let record = r#"{"type":"result","subtype":"success","is_error":false,"result":"Done.","session_id":"s"}"#;
        format!("{noise}{record}\n").into_bytes()
    };
    check_look(&long(9_000), None);
    check_look(&long(70_000), Some(Passed::UnknownJson));
    let text = [b"word ".repeat(2_000).as_slice(), b"\0"].concat();
    check_look(&text, None);
}
