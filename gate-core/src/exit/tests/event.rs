//! INV-EXIT001: what a valid signal becomes.

use jiff::Timestamp;
use uuid::Uuid;

use super::*;

const ID: Uuid = Uuid::from_u128(0x0190_0000_0000_7000_8000_0000_0000_0001);

fn event(signal: ExitSignal) -> AgentSessionCompleted {
    let time: Timestamp = "2026-01-26T12:00:00Z".parse().unwrap();
    AgentSessionCompleted::new(time, ID, "session-123", "actor-456", signal)
}

#[test]
fn inv_exit001_every_valid_signal_is_an_event() {
    for phase in WorkPhase::ALL {
        for reason in ExitReason::ALL {
            let signal = ExitSignal::new(phase, reason);
            assert_eq!(signal.validate(), Ok(()));
            let event = event(signal.clone());
            assert_eq!((event.phase_completed, event.exit_reason), (phase, reason));
            assert_eq!(event.next_phase, signal.next_expected_phase());
            assert_eq!(event.is_success(), reason == ExitReason::Completed);
        }
    }
}

#[test]
fn it_carries_all_that_the_signal_says() {
    let signal = ExitSignal::new(WorkPhase::Implementation, ExitReason::Completed)
        .with_pr_url("https://github.com/org/repo/pull/123")
        .with_evidence_bundle_ref("evidence/a.yaml")
        .with_notes("n");
    let event = event(signal);
    let json = serde_json::to_string(&event).unwrap();
    assert_eq!(
        json,
        "{\"event_id\":\"01900000-0000-7000-8000-000000000001\",\
         \"event_type\":\"AgentSessionCompleted\",\"timestamp\":\"2026-01-26T12:00:00Z\",\
         \"source\":\"agent_exit_protocol\",\"session_id\":\"session-123\",\
         \"actor_id\":\"actor-456\",\"phase_completed\":\"IMPLEMENTATION\",\
         \"exit_reason\":\"completed\",\"next_phase\":\"CI_PENDING\",\
         \"pr_url\":\"https://github.com/org/repo/pull/123\",\
         \"evidence_bundle_ref\":\"evidence/a.yaml\",\"notes\":\"n\"}"
    );
    assert_eq!(serde_json::from_str::<AgentSessionCompleted>(&json).unwrap(), event);
    // As other libraries write times: with an offset, and to the nanosecond.
    let other = json.replace("12:00:00Z", "12:00:00.000000000+00:00");
    assert_eq!(serde_json::from_str::<AgentSessionCompleted>(&other).unwrap(), event);
}

#[test]
fn ctr_exit006_unknown_fields_of_an_event_are_refused() {
    let json = serde_json::to_string(&event(ExitSignal::new(WorkPhase::Draft, ExitReason::Error)))
        .unwrap();
    assert!(!json.contains("notes"), "{json}");
    let read = |json: &str| {
        serde_json::from_str::<AgentSessionCompleted>(json).map_err(|error| error.to_string())
    };
    assert!(read(&json).is_ok());
    let unknown = json.replacen('{', "{\"zzz\":1,", 1);
    assert!(read(&unknown).unwrap_err().contains("unknown field `zzz`"));
    let twice = json.replacen('{', "{\"source\":\"x\",", 1);
    assert!(read(&twice).unwrap_err().contains("duplicate field `source`"));
    assert!(read("[]").unwrap_err().contains("invalid type: sequence"));
    let null = json.replacen('{', "{\"notes\":null,", 1);
    assert!(read(&null).unwrap_err().contains("expected a string"));
}

#[test]
fn now_and_a_new_id_are_taken_where_nobody_gives_them() {
    let signal = || ExitSignal::new(WorkPhase::Draft, ExitReason::Completed);
    let make = || AgentSessionCompleted::from_exit_signal("s", "a", signal());
    let (first, second) = (make(), make());
    assert_ne!(first.event_id, second.event_id);
    assert!(first.timestamp <= second.timestamp);
    assert_eq!(first.event_type, AgentSessionCompleted::EVENT_TYPE);
    assert_eq!(first.source, AgentSessionCompleted::SOURCE);
}
