//! The power goes while gate writes: no decision and no work item that was printed is lost.
//!
//! Real processes are recorded, with each write and each sync. Then a disk is made as it could be
//! after an outage at any of these calls, and gate goes on with it.
#![cfg(target_os = "linux")]

mod disk;
mod folder;
mod story;
mod trace;

use std::thread;

use self::disk::Outage;
use self::story::{Act, Story};
use crate::needs::needs;
use crate::support::dice::Dice;
use crate::support::stride;

/// How many outages the long test makes.
const OUTAGES: u64 = 2_000;

/// A seed in this variable makes the tests repeat one outage.
const SEED: &str = "GATE_POWER_SEED";

/// From the first use of an empty folder on, until the log was folded into the file.
const LONG: [Act; 24] = [
    Act::gate("check out.log --run r --json"),
    Act::gate("work add W-1 --json"),
    Act::gate("work add W-2 --json"),
    Act::gate("trust --json"),
    Act::gate("work claim W-1 --actor a --ttl 24h --json"),
    Act::gate("check out.log --run r --json"),
    Act::submit("exit submit - --work W-1 --actor a --json"),
    Act::gate("breaker trip --reason lunch --json"),
    Act::gate("check out.log --run r --json"),
    Act::gate("breaker reset --reason back --json"),
    Act::gate("trust --revoke --json"),
    Act::gate("prompt"),
    Act::gate("work claim W-1 --actor b --ttl 24h --json"),
    Act::gate("check out.log --run r --json"),
    Act::gate("trust --json"),
    Act::gate("check out.log --run s --json"),
    Act::gate("check done.log --run r --json"),
    Act::gate("work release W-1 --actor b --json"),
    Act::gate("check out.log --run s --json"),
    Act::gate("work claim W-2 --actor b --ttl 24h --json"),
    Act::gate("check out.log --run s --json"),
    Act::gate("check out.log --run s --json"),
    Act::submit("exit submit - --work W-2 --actor b --json"),
    Act::at_once("check out.log --run s --json", 3),
];

/// The first use, and something of each kind after it.
const SHORT: [Act; 6] = [
    Act::gate("trust --json"),
    Act::gate("work add W-1 --json"),
    Act::gate("work claim W-1 --actor a --ttl 24h --json"),
    Act::gate("check out.log --run r --json"),
    Act::submit("exit submit - --work W-1 --actor a --json"),
    Act::gate("breaker reset --reason back --json"),
];

/// A ledger is lost, which its mark knows, and an operator begins a new one.
const RESET: [Act; 5] = [
    Act::gate("check out.log --run r --json"),
    Act::gate("check out.log --run r --json"),
    Act::script(
        "cd ~/.local && rm state/gate/gate.db* && sync state/gate share/gate/heads/* && echo gone",
    ),
    Act::gate("breaker reset --reason back --json"),
    Act::gate("check out.log --run r --json"),
];

/// The seeds of a test, or the one that is asked for.
fn seeds(count: u64) -> Vec<u64> {
    match std::env::var(SEED) {
        Ok(seed) => vec![seed.parse().expect(SEED)],
        Err(_) => (0..count).collect(),
    }
}

/// What was lost in the outage of a seed: of the disk, and of what was promised.
fn outage(story: &Story, seed: u64, syncs: bool) -> (usize, Vec<String>) {
    let mut dice = Dice::new(seed);
    let calls = story.moment(&mut dice);
    let kept = [0, 0, 10, 50, 90, 100][dice.below(6) as usize];
    let lost = story.disk.lose_power(&Outage { calls, syncs, kept }, &mut dice);
    (lost, story.broken(calls, seed))
}

/// Outages on a disk that does as it says. Nothing may be missing after any.
fn nothing_is_lost(story: &Story, seeds: &[u64]) {
    let mut incomplete = 0;
    for seed in seeds {
        let (lost, broken) = outage(story, *seed, true);
        assert!(broken.is_empty(), "{SEED}={seed}: {}", broken.join("\n  "));
        incomplete += usize::from(lost > 0);
    }
    assert!(seeds.len() < 2 || incomplete * 4 > seeds.len(), "hardly anything was left to lose");
}

/// Outages on a disk that syncs nothing, so that the others prove something. How many lost what
/// was promised.
fn losses(story: &Story, seeds: &[u64]) -> usize {
    seeds.iter().filter(|seed| !outage(story, **seed, false).1.is_empty()).count()
}

#[test]
fn a_short_story_survives_the_loss_of_power() {
    if needs("strace") {
        let story = Story::of(&SHORT);
        nothing_is_lost(&story, &seeds(40));
        assert!(losses(&story, &seeds(8)) > 1, "a disk that syncs nothing loses nothing");
    }
}

#[test]
fn a_reset_survives_the_loss_of_power() {
    if needs("strace") {
        nothing_is_lost(&Story::of(&RESET), &seeds(10));
    }
}

#[test]
#[ignore = "minutes: thousands of outages"]
fn a_long_story_survives_the_loss_of_power() {
    if !needs("strace") {
        return;
    }
    let seeds = seeds(OUTAGES / stride() as u64);
    // Each thread has a disk of its own: what is kept in a folder depends on the folder's path.
    thread::scope(|scope| {
        for part in seeds.chunks(seeds.len().div_ceil(2)) {
            scope.spawn(|| {
                nothing_is_lost(&Story::of(&RESET), &part[..part.len().div_ceil(8)]);
                let story = Story::of(&LONG);
                nothing_is_lost(&story, part);
                let few = &part[..part.len().min(50)];
                assert!(losses(&story, few) * 3 > few.len(), "a disk that syncs nothing");
            });
        }
    });
}
