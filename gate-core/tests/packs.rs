//! Every shipped pattern finds its samples and leaves its counter-samples.
#![allow(clippy::expect_used, reason = "a test says what it expects")]

use gate_core::config::{PACKS, Pack, PackPattern};
use gate_core::decide::indicator::{Counter, PatternSet};
use gate_core::read::{Event, Role, Text};

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

#[test]
fn every_pattern_matches_its_samples_and_rejects_the_others() {
    for pattern in packs().flat_map(|pack| pack.patterns) {
        let id = &pattern.pattern.id;
        for line in &pattern.matches {
            assert!(is_hit(&pattern, line), "{id} does not match {line:?}");
        }
        for line in &pattern.rejects {
            assert!(!is_hit(&pattern, line), "{id} matches {line:?}");
        }
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
