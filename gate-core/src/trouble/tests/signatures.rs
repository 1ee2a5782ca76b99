//! Which texts have the same signature, and which have none.

use super::super::Signature;
use super::cases::effort;

fn of(output: &str) -> String {
    Signature::from_outputs([output]).map(String::from).unwrap_or_default()
}

#[test]
fn what_differs_from_one_time_to_the_next_does_not_count() {
    for (one, two) in [
        ("Error: ENOENT /tmp/x1/a.js", "Error: ENOENT /tmp/x2/a.js"),
        ("src/a.rs:12:5: error: expected `;`", "src/a.rs:14:1: error: expected `;`"),
        (
            "thread 'main' (17) panicked at src/a.rs:3:1:",
            "thread 'main' (99) panicked at src/a.rs:7:2:",
        ),
        ("fatal: bad object 1a2b3c4d5e", "fatal: bad object 99887766aa"),
        ("2026-03-01T10:00:00Z ERROR db: lost", "2026-04-02T11:12:13Z ERROR db: lost"),
        ("Error: listen EADDRINUSE 127.0.0.1:3001", "Error: listen EADDRINUSE 127.0.0.1:4800"),
        ("FAIL\texample.com/pkg\t0.012s", "FAIL\texample.com/pkg\t1.5s"),
        ("Error: timeout after 30s", "Error: timeout after 31.2s"),
        ("\u{1b}[31mError\u{1b}[0m: no such table", "Error: no such table"),
    ] {
        assert_eq!(of(one), of(two));
        assert!(!of(one).is_empty(), "{one}");
    }
}

#[test]
fn which_error_it_is_counts() {
    for (one, two) in [
        ("Error: cannot find module './a'", "Error: cannot find module './b'"),
        ("FAILED t.py::test_12 - assert", "FAILED t.py::test_13 - assert"),
        ("error[E0308]: mismatched", "error[E0425]: mismatched"),
        ("a.ts(3,7): error TS2322: x", "a.ts(3,7): error TS2345: x"),
        ("test cart::adds ... FAILED", "test cart::takes ... FAILED"),
        ("Error: story US-007", "Error: story US-008"),
    ] {
        assert_ne!(of(one), of(two));
    }
}

#[test]
fn the_first_five_different_lines_count() {
    let lines = "one two three four two five six".split(' ');
    let output: String = lines.map(|name| format!("Error: no {name}\nnote\n")).collect();
    assert_eq!(
        of(&output),
        "Error: no one | Error: no two | Error: no three | Error: no four | Error: no five"
    );
}

#[test]
fn a_signature_is_short() {
    let long = format!("Error: {}", "ü ".repeat(900));
    assert_eq!(of(&long).chars().count(), 300);
}

#[test]
fn an_output_without_an_error_line_has_its_last_line() {
    assert_eq!(of("building\nit did not work in 3 s\n\n"), "it did not work in <n> s");
    assert_eq!(
        Signature::from_outputs(["first\n", "second\n"]).unwrap().as_str(),
        "first | second"
    );
}

#[test]
fn an_output_that_tells_nothing_has_none() {
    for output in
        ["", "\n \n", "}", "42", "Exit code 1", "0x7f", "File has not been read yet.\nerror: x"]
    {
        assert_eq!(of(output), "", "{output}");
    }
}

#[test]
fn what_an_agent_says_has_error_lines_alone() {
    for text in ["Fixed the error in the parser.", "All done: 0 failed", "It failed."] {
        assert_eq!(effort(text).signature, None, "{text}");
    }
    let text = "I could not build it:\n```\nerror: linker `cc` not found\n```\nNeeds a person.";
    assert_eq!(
        effort(text).signature.as_ref().map(Signature::as_str),
        Some("error: linker `cc` not found")
    );
}
