//! The end of an agent, as its record has it.

use super::*;
use crate::runner::tests::order;

#[track_caller]
fn check(fate: &Fate, code: i64, shell_code: Option<i32>, error: Option<&str>) {
    let exit = AgentExit::new(fate, &order("codex"));
    assert_eq!((exit.code, exit.shell_code, exit.error.as_deref()), (code, shell_code, error));
}

#[test]
fn an_end_by_a_signal_is_distinguished_from_an_exit_code() {
    check(&Fate::Exited(0), 0, Some(0), None);
    check(&Fate::Exited(137), 137, Some(137), None);
    check(&Fate::Signalled(15), 143, Some(143), None);
    check(&Fate::Signalled(9), -1, Some(137), Some("agent killed (OOM or signal)"));
    check(&Fate::Signalled(11), -1, Some(139), Some("agent ended by signal 11"));
    check(&Fate::Lost, -1, None, Some("nobody knows how the agent ended"));
}

#[test]
fn a_program_that_is_not_in_path_is_reported_as_such() {
    let missing = Fate::NotStarted("No such file or directory (os error 2)".to_owned());
    let error = |program: &str, fate: &Fate| AgentExit::new(fate, &order(program)).error.unwrap();
    let beginning = |program: &str| {
        format!(
            "the agent's program `{program}` could not be started: \
             No such file or directory (os error 2)"
        )
    };
    let hint = ": is it installed, and on PATH?";
    assert_eq!(error("codex", &missing), format!("{}{hint}", beginning("codex")));
    assert_eq!(error("./codex", &missing), beginning("./codex"));
    let refused = Fate::NotStarted("Permission denied (os error 13)".to_owned());
    assert!(error("codex", &refused).ends_with("Permission denied (os error 13)"));
    let exit = AgentExit::new(&missing, &order("codex"));
    assert_eq!((exit.code, exit.shell_code), (-1, None));
}

#[test]
fn a_prompt_that_fits_no_command_line_is_read_from_its_file() {
    let word =
        |prompt: &str| with_prompt("--message={prompt}", prompt, Path::new("/run/prompt.md"));
    assert_eq!(word("Add the export."), "--message=Add the export.");
    assert!(word(&"x".repeat(120 << 10)).ends_with("xx"));
    for prompt in ["x".repeat(LONGEST_WORD), "a\0b".to_owned()] {
        assert_eq!(
            word(&prompt),
            "--message=Read the file /run/prompt.md to its end. It is your prompt."
        );
    }
}

#[test]
fn the_end_of_standard_error_is_a_files_alone() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    let long = format!("begin{}end\u{e9}", "x".repeat(16 << 10));
    fs::write(path("stderr"), &long).unwrap();
    let tail = read_tail(&path("stderr"));
    assert_eq!(tail.len(), 16 << 10);
    assert!(tail.ends_with("endé") && !tail.contains("begin"));
    gate_platform::symlink(path("stderr"), path("link")).unwrap();
    assert_eq!(read_tail(&path("link")), "");
    assert_eq!(read_tail(&path("gone")), "");
    fs::write(path("bytes"), b"a\xff").unwrap();
    assert_eq!(read_tail(&path("bytes")), "a\u{fffd}");
}
