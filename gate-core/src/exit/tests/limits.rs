//! How long values may be, and what addresses and paths may not hold.

use super::*;

fn text(length: usize) -> String {
    "x".repeat(length)
}

#[track_caller]
fn says(signal: &ExitSignal, text: &str) {
    let told = signal.validate().expect_err(text);
    assert_eq!(told.to_string(), text);
    let json = serde_json::to_string(signal).unwrap();
    if json.len() <= MAX_EXIT_SIGNAL {
        assert_eq!(ExitSignal::from_json(&json), Err(told));
    }
}

fn signal() -> ExitSignal {
    ExitSignal::new(WorkPhase::Review, ExitReason::Completed)
}

#[test]
fn a_signal_has_at_most_64_kib() {
    let padded = |length: usize| format!("{VALID}{}", " ".repeat(length - VALID.len()));
    accepts(&padded(65_536));
    refuses(&padded(65_537), "input too large: 65537 bytes > 65536 bytes maximum");
    refuses(&text(1 << 20), "input too large: 1048576 bytes > 65536 bytes maximum");
    let long = with("notes", &format!("\"{}\"", text(1 << 20)));
    let error = ExitSignal::from_json(&long).unwrap_err();
    assert!(matches!(error, ExitSignalError::InputTooLarge { max: 65_536, .. }), "{error}");
}

#[test]
fn notes_have_at_most_10_240_bytes() {
    assert_eq!(signal().with_notes(text(10_240)).validate(), Ok(()));
    says(
        &signal().with_notes(text(10_241)),
        "notes exceeds maximum length: 10241 bytes > 10240 bytes",
    );
    says(
        &signal().with_notes("é".repeat(5_121)),
        "notes exceeds maximum length: 10242 bytes > 10240 bytes",
    );
    says(
        &signal().with_notes(text(1 << 20)),
        "notes exceeds maximum length: 1048576 bytes > 10240 bytes",
    );
}

#[test]
fn a_pull_request_is_an_address_of_https() {
    let url = |url: &str| signal().with_pr_url(url);
    assert_eq!(url("https://github.com/org/repo/pull/123").validate(), Ok(()));
    assert_eq!(url(&format!("https://{}", text(2_040))).validate(), Ok(()));
    says(
        &url(&format!("https://{}", text(2_041))),
        "pr_url exceeds maximum length: 2049 bytes > 2048 bytes",
    );
    for wrong in ["http://github.com/a", "", "javascript:alert(1)", "HTTPS://x", " https://x"] {
        says(&url(wrong), &format!("pr_url must start with 'https://': got '{wrong}'"));
    }
    let long = format!("ftp://{}", "é".repeat(60));
    says(
        &url(&long),
        &format!("pr_url must start with 'https://': got 'ftp://{}...'", "é".repeat(44)),
    );
    for (char, shown) in [(';', ";"), ('|', "|"), ('`', "`"), ('$', "$"), (' ', " "), ('\n', "\\n")]
    {
        says(
            &url(&format!("https://x/{char}y$")),
            &format!("pr_url contains potentially dangerous character: '{shown}'"),
        );
    }
}

#[test]
fn evidence_stands_at_a_relative_path() {
    let path = |path: &str| signal().with_evidence_bundle_ref(path);
    assert_eq!(path("evidence/W-7/parser.yaml").validate(), Ok(()));
    assert_eq!(path(&text(2_048)).validate(), Ok(()));
    says(
        &path(&text(2_049)),
        "evidence_bundle_ref exceeds maximum length: 2049 bytes > 2048 bytes",
    );
    for wrong in ["../x", "a/../b", "..", "/etc/passwd", "a..b", "\\\\host\\x", "C:\\x"] {
        says(
            &path(wrong),
            "path traversal detected in evidence_bundle_ref: \
             paths cannot contain '..' or start with '/'",
        );
    }
}
