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
    let begins = |program: &str| {
        format!(
            "the agent's program `{program}` could not be started: \
             No such file or directory (os error 2)"
        )
    };
    let hint = ": is it installed, and on PATH?";
    assert_eq!(error("codex", &missing), format!("{}{hint}", begins("codex")));
    assert_eq!(error("./codex", &missing), begins("./codex"));
    let refused = Fate::NotStarted("Permission denied (os error 13)".to_owned());
    assert!(error("codex", &refused).ends_with("Permission denied (os error 13)"));
    let exit = AgentExit::new(&missing, &order("codex"));
    assert_eq!((exit.code, exit.shell_code), (-1, None));
}

#[test]
fn a_prompt_that_fits_no_command_line_is_read_from_its_file() {
    let word = |prompt: &str| prompted("--message={prompt}", prompt, Path::new("/run/prompt.md"));
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
    let at = |name: &str| folder.path().join(name);
    let long = format!("begin{}end\u{e9}", "x".repeat(16 << 10));
    fs::write(at("stderr"), &long).unwrap();
    let tail = read_tail(&at("stderr"));
    assert_eq!(tail.len(), 16 << 10);
    assert!(tail.ends_with("endé") && !tail.contains("begin"));
    std::os::unix::fs::symlink(at("stderr"), at("link")).unwrap();
    assert_eq!(read_tail(&at("link")), "");
    assert_eq!(read_tail(&at("gone")), "");
    fs::write(at("bytes"), b"a\xff").unwrap();
    assert_eq!(read_tail(&at("bytes")), "a\u{fffd}");
}
