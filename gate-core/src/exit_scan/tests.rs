//! Exit signals before a record that cannot be read.

use super::*;

fn found(input: &str) -> Vec<Result<String, NoSignal>> {
    let mut scanner = ExitScanner::new(None);
    input.as_bytes().chunks(7).for_each(|piece| scanner.push(piece));
    let sightings = scanner.finish().sightings.into_iter();
    sightings
        .map(|sighting| sighting.found.map(|signal| signal.phase_completed.to_string()))
        .collect()
}

fn says(phase: &str) -> String {
    let signal = format!(
        r#"{{\"protocol\":\"apm2_agent_exit\",\"version\":\"1.0.0\",\"phase_completed\":\"{phase}\",\"exit_reason\":\"completed\"}}"#
    );
    format!(
        r#"{{"type":"assistant","message":{{"content":[{{"type":"text","text":"{signal}"}}]}},"session_id":"s1"}}"#
    )
}

#[test]
fn before_a_torn_record_nothing_is_a_signal_and_behind_it_all_is() {
    let torn = r#"{"type":"assistant","mess"#;
    let lost = || Err(NoSignal::NotSaid("line 2: what follows it could not be read".to_owned()));
    let review = || Ok("REVIEW".to_owned());
    assert_eq!(found(&says("REVIEW")), [review()]);
    assert_eq!(found(&format!("{}\n{torn}\n{{}}\n", says("REVIEW"))), [lost()]);
    assert_eq!(found(&format!("{}\n{torn}", says("REVIEW"))), [lost()]);
    assert_eq!(found(&format!("{torn}\n{}\n", says("REVIEW"))), [review()]);
    assert_eq!(found(&format!("{}\nnoise\n", says("REVIEW"))), [review()]);
}

#[test]
fn the_last_signal_counts() {
    let text = |phase: &str| {
        format!(
            "{{\"protocol\":\"apm2_agent_exit\",\"version\":\"1.0.0\",\"phase_completed\":\"{phase}\",\"exit_reason\":\"completed\"}}\n"
        )
    };
    let scan = |input: &str| {
        let mut scanner = ExitScanner::new(None);
        scanner.push(input.as_bytes());
        let scan = scanner.finish();
        scan.signal().map(|signal| signal.phase_completed.to_string())
    };
    assert_eq!(scan("All is done.\n"), None);
    assert_eq!(scan(&text("REVIEW")).as_deref(), Some("REVIEW"));
    let torn = "{\"protocol\":\"apm2_agent_exit\",\"version\":\"9\"}\n";
    assert_eq!(scan(&[torn, &text("DRAFT")].join("\n")).as_deref(), Some("DRAFT"));
}
