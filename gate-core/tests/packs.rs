//! Every shipped pattern finds its samples and leaves its counter-samples.
#![allow(clippy::expect_used, reason = "a test says what it expects")]

use gate_core::config::{BREAKER_PACKS, PACKS, Pack, PackPattern, REPORTS, Sample};
use gate_core::decide::indicator::{Counter, PatternSet};
use gate_core::trouble;
use gate_transcript::{Event, Role, Text};

fn is_hit(pattern: &PackPattern, line: &str) -> bool {
    let set =
        PatternSet::new(std::slice::from_ref(&pattern.pattern)).expect("the pattern is right");
    let mut counter = Counter::new(&set);
    let text =
        Text { role: Role::Assistant, text: line, line: 1, multiline: true, continues: false };
    counter.event(&Event::Text(text));
    !counter.finish(|_| true).is_empty()
}

fn packs() -> impl Iterator<Item = Pack> {
    PACKS
        .iter()
        .map(|(name, _)| Pack::named(name).expect("the pack is right").expect("the pack is there"))
}

fn reports() -> Pack {
    let (name, text) = REPORTS;
    Pack::parse(name, name, text).expect("the pack is right")
}

fn breaker_packs() -> impl Iterator<Item = Pack> {
    BREAKER_PACKS.iter().map(|(name, text)| {
        let pack = Pack::parse(name, name, text).expect("the pack is right");
        let named = Pack::breaker_pack(name).expect("the pack is right");
        assert_eq!(named.as_ref(), Some(&pack));
        pack
    })
}

#[test]
fn every_pattern_matches_its_samples_and_rejects_the_others() {
    let mut wrong = Vec::new();
    for pattern in packs().chain(breaker_packs()).chain([reports()]).flat_map(|pack| pack.patterns)
    {
        let id = &pattern.pattern.id;
        let missed = pattern.matches.iter().filter(|line| !is_hit(&pattern, line));
        wrong.extend(missed.map(|line| format!("{id} does not match {line:?}")));
        let taken = pattern.rejects.iter().filter(|line| is_hit(&pattern, line));
        wrong.extend(taken.map(|line| format!("{id} matches {line:?}")));
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn the_kind_of_a_report_is_the_first_word_of_its_id() {
    let patterns = reports().patterns.into_iter().map(|one| one.pattern);
    assert_eq!(patterns.collect::<Vec<_>>(), Pack::reports());
    for pattern in Pack::reports() {
        let kind = pattern.id.split('-').next().unwrap_or_default();
        assert!(["done", "open", "doubt", "order", "plan"].contains(&kind), "{}", pattern.id);
    }
}

#[test]
fn the_completion_pack_holds_the_seed_s_expressions() {
    let sources = |name| {
        let pack = Pack::named(name).expect("the pack is right").expect("the pack is there");
        pack.patterns
            .into_iter()
            .map(|one| (one.pattern.id, one.pattern.matcher))
            .collect::<Vec<_>>()
    };
    let completion = sources("completion");
    for pattern in sources("seed") {
        assert!(completion.contains(&pattern), "{pattern:?}");
    }
    assert_eq!(sources("seed").len(), 6);
}

#[test]
fn every_rule_of_normalisation_holds_for_its_samples() {
    let mut wrong = Vec::new();
    for rule in breaker_packs().flat_map(|pack| pack.rules) {
        assert!(!rule.samples.is_empty(), "{}", rule.id);
        for Sample { from, to, .. } in &rule.samples {
            for text in [from, to] {
                let normal = trouble::normalise(text);
                let is_right = normal == *to;
                wrong.extend((!is_right).then(|| format!("{}: {text}\n -> {normal}", rule.id)));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn packs_of_the_breaker_and_of_audits_are_no_indicators() {
    for (name, _) in BREAKER_PACKS.into_iter().chain([REPORTS]) {
        assert_eq!(Pack::named(name).expect("known packs alone"), None, "{name}");
        let settings = format!("[patterns]\npacks = [\"{name}\"]");
        let error = gate_core::config::Layer::parse(gate_core::config::Origin::Default, &settings)
            .expect_err("no indicators");
        assert!(error.to_string().contains(&format!("unknown pack `{name}`")), "{error}");
    }
}
