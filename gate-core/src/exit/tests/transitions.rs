//! Which phase comes next, and how values are spelled.

use super::*;

#[test]
fn the_next_phase_is_the_tables() {
    use WorkPhase::{
        Blocked, CiPending, Completed, Draft, Implementation, ReadyForMerge, ReadyForReview, Review,
    };
    for (phase, next) in [
        (Draft, Implementation),
        (Implementation, CiPending),
        (CiPending, ReadyForReview),
        (ReadyForReview, Review),
        (Review, ReadyForMerge),
        (ReadyForMerge, Completed),
        (Completed, Completed),
        (Blocked, Blocked),
    ] {
        let next_of = |reason| ExitSignal::new(phase, reason).next_expected_phase();
        assert_eq!(next_of(ExitReason::Completed), next, "{phase}");
        assert_eq!(next_of(ExitReason::Blocked), Blocked, "{phase}");
        assert_eq!(next_of(ExitReason::Error), Blocked, "{phase}");
        assert_eq!(phase.next_phase(), (!phase.is_terminal()).then_some(next), "{phase}");
    }
    let terminal: Vec<_> = WorkPhase::ALL.into_iter().filter(WorkPhase::is_terminal).collect();
    assert_eq!(terminal, [Completed, Blocked]);
}

#[test]
fn names_are_the_same_everywhere() {
    for (phase, name) in WorkPhase::ALL.into_iter().zip(WorkPhase::NAMES) {
        assert_eq!((phase.as_str(), phase.to_string().as_str()), (name, name));
        assert_eq!(serde_json::to_string(&phase).unwrap(), format!("\"{name}\""));
        assert_eq!(serde_json::from_str::<WorkPhase>(&format!("\"{name}\"")).unwrap(), phase);
    }
    for (reason, name) in ExitReason::ALL.into_iter().zip(ExitReason::NAMES) {
        assert_eq!((reason.as_str(), reason.to_string().as_str()), (name, name));
        assert_eq!(serde_json::to_string(&reason).unwrap(), format!("\"{name}\""));
        assert_eq!(reason.is_success(), reason == ExitReason::Completed);
    }
    assert_eq!((EXIT_SIGNAL_PROTOCOL, EXIT_SIGNAL_VERSION), ("apm2_agent_exit", "1.0.0"));
}

#[test]
fn members_have_an_order_and_what_is_not_given_is_left_out() {
    let signal = ExitSignal::new(WorkPhase::Implementation, ExitReason::Completed);
    assert_eq!(serde_json::to_string(&signal).unwrap(), VALID);
    let full = signal
        .with_notes("n")
        .with_evidence_bundle_ref("evidence/W-7/review.yaml")
        .with_pr_url("https://github.com/org/repo/pull/123");
    let tail = ",\"pr_url\":\"https://github.com/org/repo/pull/123\",\
                \"evidence_bundle_ref\":\"evidence/W-7/review.yaml\",\"notes\":\"n\"}";
    let json = serde_json::to_string(&full).unwrap();
    assert_eq!(json, VALID.replace('}', tail));
    assert_eq!(accepts(&json), full);
}
