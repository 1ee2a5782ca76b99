//! What a signal does to its session.

use jiff::Timestamp;
use uuid::Uuid;

use super::*;

fn session(active_phase: Option<WorkPhase>) -> Session {
    Session { session_id: "session-123".to_owned(), actor_id: "actor-456".to_owned(), active_phase }
}

fn exit(session: &Session, json: &str) -> Result<ExitHandlerResult, ExitHandlerError> {
    session.exit(json, &AgentExitConfig::enabled(), Timestamp::UNIX_EPOCH, Uuid::nil())
}

#[test]
fn inv_exit001_a_valid_signal_has_its_event() {
    let result = exit(&session(Some(WorkPhase::Implementation)), VALID).unwrap();
    assert_eq!(result.next_phase, WorkPhase::CiPending);
    assert_eq!(result.event.next_phase, WorkPhase::CiPending);
    assert_eq!((&*result.event.session_id, &*result.event.actor_id), ("session-123", "actor-456"));
    assert_eq!(result.exit_signal, accepts(VALID));
}

#[test]
fn inv_exit002_an_invalid_signal_has_none() {
    let active = session(Some(WorkPhase::Implementation));
    let deep = "[".repeat(30_000);
    for json in [
        with("protocol", "\"x\""),
        with("version", "\"2.0.0\""),
        with("zzz", "1"),
        with("notes", "null"),
        with("exit_reason", "\"done\""),
        "not valid json".to_owned(),
        String::new(),
        deep,
    ] {
        let before = active.clone();
        assert!(matches!(exit(&active, &json), Err(ExitHandlerError::Invalid(_))), "{json}");
        assert_eq!(active, before);
    }
    let error = exit(&active, &with("version", "\"2.0.0\"")).unwrap_err();
    assert_eq!(
        error.to_string(),
        "exit signal validation failed: unsupported version: expected '1.x', got '2.0.0'"
    );
}

#[test]
fn a_signal_is_about_the_sessions_phase() {
    let error = exit(&session(Some(WorkPhase::Review)), VALID).unwrap_err();
    assert_eq!(
        error.to_string(),
        "phase mismatch: exit signal claims 'IMPLEMENTATION' but session is in 'REVIEW'"
    );
}

#[test]
fn ctr_exit001_a_session_ends_once() {
    let mut session = session(Some(WorkPhase::Implementation));
    assert!(exit(&session, VALID).is_ok());
    session.active_phase = None;
    let error = exit(&session, VALID).unwrap_err();
    assert_eq!(error.to_string(), "session has no active work phase");
}

#[test]
fn with_the_flag_off_nothing_is_accepted() {
    let session = session(Some(WorkPhase::Implementation));
    let off = AgentExitConfig::disabled();
    let error = session.exit(VALID, &off, Timestamp::UNIX_EPOCH, Uuid::nil()).unwrap_err();
    assert_eq!(error, ExitHandlerError::Invalid(ExitSignalError::ValidationDisabled));
}

#[test]
fn a_signal_that_was_made_by_hand_is_validated() {
    let session = session(Some(WorkPhase::Draft));
    let mut signal = ExitSignal::new(WorkPhase::Draft, ExitReason::Completed);
    signal.version = "2.0.0".to_owned();
    let result = session.accept(signal, Timestamp::UNIX_EPOCH, Uuid::nil());
    assert!(matches!(result, Err(ExitHandlerError::Invalid(_))));
}
