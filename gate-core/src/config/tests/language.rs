//! `[[language.custom]]` in settings.

use super::resolved;
use crate::decide::signal::Status;
use crate::scan::scan;

/// The status of a message, and why the first near miss is none.
fn status(settings: &str, message: &str) -> (Status, Option<String>) {
    let signal = scan(message.as_bytes(), &resolved(settings).policy).expect("it compiles").signal;
    (signal.status, signal.near_misses.first().map(|miss| miss.why.clone()))
}

#[test]
fn a_rule_of_a_language_that_gate_does_not_know() {
    let message = "När alla är klara skriver jag:\n\n<promise>COMPLETE</promise>\n";
    assert_eq!(status("", message), (Status::Complete, None));
    let settings = "[[language.custom]]\nid = \"condition-sv\"\nkind = \"put-off\"\n\
                    regex = \"\\\\bn.r alla\\\\b\"\nlanguage = \"sv\"\nreason = \"it is put off\"\n";
    let (status, why) = status(settings, message);
    assert_eq!(status, Status::Absent);
    assert_eq!(
        why.as_deref(),
        Some("it is put off (\"När alla är klara skriver jag:\", rule `condition-sv`)")
    );
}

#[test]
fn a_shipped_rule_that_refuses_too_much_is_switched_off() {
    let message = "The page says:\n\n<promise>COMPLETE</promise>\n";
    let (refused, why) = status("", message);
    assert_eq!(refused, Status::Absent);
    assert!(why.is_some_and(|why| why.contains("rule `speaker-quoted-en`")));
    let settings = "[[language.custom]]\nid = \"speaker-quoted-en\"\nenabled = false\n";
    assert_eq!(status(settings, message), (Status::Complete, None));
}
