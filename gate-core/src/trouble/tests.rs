//! Tests of what went wrong: the packs' samples through the doors that the
//! program uses, wordings, signatures.

mod cases;
mod formats;
mod signatures;

use super::{line, wording};
use crate::config::Pack;
use gate_transcript::Wording;

/// A pack of the breaker, with its samples.
fn read(name: &str) -> Pack {
    Pack::breaker_pack(name).expect("the pack is right").expect("the pack is there")
}

/// The samples of a pack's patterns of one kind: those that match, and those
/// that do not.
fn samples(pack: &Pack, kind: &str) -> (Vec<String>, Vec<String>) {
    let of_kind =
        pack.patterns.iter().filter(|one| one.pattern.id.starts_with(&format!("{kind}-")));
    let both: Vec<_> = of_kind.map(|one| (one.matches.clone(), one.rejects.clone())).collect();
    let (matches, rejects): (Vec<_>, Vec<_>) = both.into_iter().unzip();
    (matches.concat(), rejects.concat())
}

#[track_caller]
fn none(what: &str, wrong: impl Iterator<Item = String>) {
    let wrong: Vec<_> = wrong.collect();
    assert!(wrong.is_empty(), "{what}:\n{}", wrong.join("\n"));
}

fn kinds(pack: &Pack) -> Vec<&str> {
    let mut kinds: Vec<_> =
        pack.patterns.iter().filter_map(|one| one.pattern.id.split('-').next()).collect();
    kinds.dedup();
    kinds
}

#[test]
fn every_pattern_is_of_a_known_kind() {
    assert_eq!(kinds(&read("limits")), ["notice", "mention", "denial", "outage"]);
    assert_eq!(kinds(&read("errors")), ["error", "harmless", "guard"]);
    for one in ["errors", "limits"].iter().flat_map(|name| read(name).patterns) {
        assert!(one.pattern.unless.is_empty(), "{}: nothing asks for guards", one.pattern.id);
    }
}

#[test]
fn the_samples_of_limits_are_what_clients_say() {
    let limits = read("limits");
    for (kind, what) in [
        ("notice", Wording::Notice),
        ("notice", Wording::Limit),
        ("mention", Wording::Limit),
        ("denial", Wording::Denial),
    ] {
        let missed = samples(&limits, kind).0;
        none("is said", missed.into_iter().filter(|text| !wording::has_wording(what, text)));
    }
    for (kind, what) in
        [("notice", Wording::Notice), ("mention", Wording::Limit), ("denial", Wording::Denial)]
    {
        let taken = samples(&limits, kind).1;
        none("is not said", taken.into_iter().filter(|text| wording::has_wording(what, text)));
    }
}

#[test]
fn the_samples_of_outages_are_errors_of_a_service_that_cannot_be_reached() {
    let (matches, rejects) = samples(&read("limits"), "outage");
    none("no outage", matches.into_iter().filter(|text| super::outage_of(text).is_none()));
    none("an outage", rejects.into_iter().filter(|text| super::outage_of(text).is_some()));
}

#[test]
fn an_agents_own_words_about_a_connection_are_no_outage() {
    let of = |text: &str| cases::effort(text).outage;
    assert_eq!(of("API Error: Connection error."), Some("API Error: Connection error.".to_owned()));
    assert_eq!(of("The test shows a connection error.\n"), None);
    assert_eq!(of("Error: connection refused\nI mended it.\nAll tests pass."), None);
}

#[test]
fn a_notice_is_all_that_the_text_is() {
    let prose = "You've hit your limit\nThe page now shows this.\nAll tests pass.";
    let long = format!("You've hit your limit · {}", "resets ".repeat(50));
    for text in [prose, &long, "Rate limiting works. All tasks are complete."] {
        assert!(!wording::has_wording(Wording::Notice, text), "{text}");
    }
    assert!(wording::has_wording(Wording::Notice, "\nYou've hit your limit · resets 5pm\n"));
}

#[test]
fn the_samples_of_errors_are_error_lines() {
    let errors = read("errors");
    let is_error = |text: &str| line::errors(text).next().is_some();
    let (matches, rejects) = samples(&errors, "error");
    none("an error", matches.into_iter().filter(|text| !is_error(text)));
    let harmless = samples(&errors, "harmless").0.into_iter().chain(rejects);
    none("no error", harmless.filter(|text| is_error(text)));
}
