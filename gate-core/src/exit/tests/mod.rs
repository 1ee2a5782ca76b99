//! The protocol's contracts and invariants, each under its name.

mod contracts;
mod event;
mod find;
mod laws;
mod limits;
mod session;
mod transitions;

use super::*;

/// The text of a valid signal.
const VALID: &str = r#"{"protocol":"apm2_agent_exit","version":"1.0.0","phase_completed":"IMPLEMENTATION","exit_reason":"completed"}"#;

/// A signal with further members, or other values for those that it has.
fn with(member: &str, value: &str) -> String {
    let mut members: Vec<(&str, String)> = vec![
        ("protocol", "\"apm2_agent_exit\"".to_owned()),
        ("version", "\"1.0.0\"".to_owned()),
        ("phase_completed", "\"IMPLEMENTATION\"".to_owned()),
        ("exit_reason", "\"completed\"".to_owned()),
    ];
    match members.iter_mut().find(|(name, _)| *name == member) {
        Some((_, old)) => value.clone_into(old),
        None => members.push((member, value.to_owned())),
    }
    let members: Vec<_> =
        members.into_iter().map(|(name, value)| format!("\"{name}\":{value}")).collect();
    format!("{{{}}}", members.join(","))
}

#[track_caller]
fn accepts(json: &str) -> ExitSignal {
    ExitSignal::from_json(json).unwrap_or_else(|error| panic!("{json}: {error}"))
}

#[track_caller]
fn refuses(json: &str, text: &str) {
    let error = ExitSignal::from_json(json).expect_err(json).to_string();
    assert_eq!(error, text, "{json}");
}

/// It is refused as JSON, for a reason that names this, with its place.
#[track_caller]
fn is_no_signal(json: &str, part: &str) {
    let error = ExitSignal::from_json(json).expect_err(json);
    let text = error.to_string();
    assert!(matches!(error, ExitSignalError::InvalidJson(_)), "{json}: {text}");
    assert!(text.starts_with("invalid JSON: ") && text.contains(part), "{json}: {text}");
    let place = text.rsplit_once(" at line ").expect(&text).1;
    let (line, column) = place.split_once(" column ").expect(&text);
    assert!(line.parse::<usize>().is_ok() && column.parse::<usize>().is_ok(), "{text}");
}
