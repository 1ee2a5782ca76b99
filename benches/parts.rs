//! What a start of gate is made of, each part by itself: settings, patterns,
//! the policy's digest, a short scan, the decision.
//! `benches/README.md` says what these figures are worth.
#![allow(missing_docs, clippy::expect_used, reason = "a benchmark")]

use std::hint::black_box;

use criterion::{Criterion, criterion_group, criterion_main};
use gate_core::config::{Layer, Origin, resolve};
use gate_core::decide::indicator::PatternSet;
use gate_core::{Input, Policy, Scanner, decide};

const SETTINGS: &str = "\
[exit_gate]
indicator_threshold = 2
[checks.tests]
command = [\"cargo\", \"test\"]
timeout = \"10m\"
[breaker]
cooldown = \"30m\"
";

const SAID: &str = "\
I have read the module, and its tests pass.
All acceptance criteria are met, and the branch is ready for review.

EXIT_STATUS: COMPLETE
EXIT_REASON: it is done
REMAINING_WORK: none
";

fn settings(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("settings");
    group.bench_function("none", |bencher| {
        bencher.iter(|| resolve(black_box(&[]), None).expect("the default resolves"));
    });
    group.bench_function("ordinary", |bencher| {
        bencher.iter(|| {
            let layer = Layer::parse(Origin::Project("gate.toml".into()), black_box(SETTINGS));
            resolve(&[layer.expect("the settings are right")], None).expect("they resolve")
        });
    });
    group.finish();
}

fn policy(criterion: &mut Criterion) {
    let policy = Policy::default();
    let mut group = criterion.benchmark_group("policy");
    group.bench_function("patterns", |bencher| {
        bencher.iter(|| PatternSet::new(black_box(&policy.patterns)).expect("they compile"));
    });
    group.bench_function("digest", |bencher| bencher.iter(|| black_box(&policy).digest()));
    group.finish();
}

fn iteration(criterion: &mut Criterion) {
    let policy = Policy::default();
    let patterns = PatternSet::new(&policy.patterns).expect("they compile");
    let scan = || {
        let mut scanner = Scanner::new(&patterns, None);
        scanner.push(black_box(SAID).as_bytes());
        scanner.finish(&policy.signal).without_token()
    };
    let scanned = scan();
    let input = Input::new(scanned.signal, scanned.hits);
    let mut group = criterion.benchmark_group("iteration");
    group.bench_function("scan", |bencher| bencher.iter(scan));
    group.bench_function("decide", |bencher| bencher.iter(|| decide(black_box(&input), &policy)));
    group.finish();
}

criterion_group!(benches, settings, policy, iteration);
criterion_main!(benches);
