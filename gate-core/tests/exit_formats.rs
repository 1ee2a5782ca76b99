//! An exit signal is found in what every agent writes, and only where the agent
//! itself says it.
#![allow(clippy::expect_used, reason = "a test says what it expects")]

use gate_core::exit::{ExitReason, ExitSignal, WorkPhase};
use gate_core::exit_scan::{ExitScan, ExitScanner};
use gate_transcript::Forced;
use proptest::prelude::*;
use proptest::sample::select;
use transcripts::Transcript;

#[path = "../../tests/transcripts.rs"]
mod transcripts;

fn signal() -> ExitSignal {
    ExitSignal::new(WorkPhase::Implementation, ExitReason::Completed)
        .with_notes("a \"quoted\" \\ path, {braces} and ünïcödé")
}

/// What an agent may say that ends with a signal.
fn words() -> Vec<String> {
    let line = serde_json::to_string(&signal()).expect("a signal is JSON");
    let pretty = serde_json::to_string_pretty(&signal()).expect("a signal is JSON");
    let invalid = line.replace("1.0.0", "2.0.0");
    vec![
        line.clone(),
        pretty.clone(),
        format!("The parser reads both layouts.\n\n{line}"),
        format!("Done.\n\n```json\n{pretty}\n```"),
        format!("The settings:\n\n{{\"retries\": 3}}\n\n{pretty}"),
        format!("{line}\n{invalid}"),
    ]
}

fn forced(transcript: &Transcript) -> Forced {
    transcript.format.parse().expect("the name of a format")
}

fn scanned(text: &str, format: Option<Forced>, size: usize) -> ExitScan {
    let mut scanner = ExitScanner::new(format);
    for piece in text.as_bytes().chunks(size) {
        scanner.push(piece);
    }
    scanner.finish()
}

#[test]
fn a_signal_is_found_in_every_format() {
    for transcript in transcripts::all() {
        for word in words() {
            let text = transcript.ending(&word);
            for forced in [None, Some(forced(&transcript))] {
                let scan = scanned(&text, forced, usize::MAX);
                assert_eq!(scan.signal(), Some(&signal()), "{forced:?}:\n{text}");
            }
        }
    }
}

#[test]
fn what_the_agent_said_before_or_only_shows_is_none() {
    let line = serde_json::to_string(&signal()).expect("a signal is JSON");
    for word in [
        format!("For example:\n\n{line}\n"),
        format!("Once the tests pass I will print:\n\n{line}\n"),
        format!("{line}\n\nNow let me start with the next task."),
        line.replace("1.0.0", "2.0.0"),
        line.replacen('{', "{\"zzz\":1,", 1),
        line[..line.len() - 4].to_owned(),
    ] {
        for transcript in transcripts::all() {
            let text = transcript.ending(&word);
            let scan = scanned(&text, Some(forced(&transcript)), usize::MAX);
            assert_eq!(scan.signal(), None, "{}:\n{text}", transcript.format);
            assert!(!scan.sightings.is_empty(), "{}: nothing is told\n{text}", transcript.format);
        }
    }
    for after in ["tool", "user"] {
        let later = format!(
            "{{\"type\":\"assistant\",\"message\":{{\"content\":\"Go on.\"}}}}\n\
             {{\"type\":\"{after}\",\"message\":{{\"content\":{}}}}}",
            serde_json::to_string(&line).expect("a text is JSON")
        );
        let scan = scanned(&later, None, usize::MAX);
        assert_eq!(scan.signal(), None, "{later}");
    }
}

#[test]
fn before_a_record_that_cannot_be_read_nothing_is_a_signal() {
    let line = serde_json::to_string(&signal()).expect("a signal is JSON");
    let transcripts = transcripts::all();
    let stream = transcripts.iter().find(|transcript| transcript.format == "claude-stream");
    let stream = stream.expect("a transcript").ending(&line);
    for (lost, is_told) in [
        ("{\"type\":\"assistant\",\"message\":{\"content\":[{\"type\":\"text\",\"te", true),
        ("not a record at all", false),
    ] {
        let text = format!("{stream}{lost}\n");
        let scan = scanned(&text, None, usize::MAX);
        assert_eq!(scan.signal().is_none(), is_told, "{lost}: {scan:?}");
        let why = scan.sightings[0].found.as_ref().err().map(ToString::to_string);
        assert_eq!(why.is_some_and(|why| why.contains("could not be read")), is_told, "{lost}");
    }
}

proptest! {
    #[test]
    fn the_pieces_of_the_input_do_not_matter(
        transcript in select(transcripts::all()),
        word in select(words()),
        size in 1_usize..200,
    ) {
        let text = transcript.ending(&word);
        let whole = scanned(&text, None, usize::MAX);
        prop_assert_eq!(whole.signal(), Some(&signal()));
        prop_assert_eq!(scanned(&text, None, size), whole);
    }
}
