//! What it costs to scan a transcript, as ratios to reading its lines.
//!
//! The input is made here, from a fixed seed: assistant text with sparse
//! completion phrases, and Claude stream-json in which tool results are most
//! of the bytes. `benches/README.md` says what these figures are worth.
#![allow(missing_docs, clippy::expect_used, reason = "a benchmark")]

use std::hint::black_box;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use gate_core::decide::indicator::PatternSet;
use gate_core::{Policy, Scan, Scanner, config};

const BYTES: usize = 8 << 20;
const BLOCK: usize = 256 << 10;

/// A small generator of pseudo-random numbers (xorshift).
struct Random(u64);

impl Random {
    fn below(&mut self, end: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 % end as u64).expect("below the end")
    }
}

const WORDS: [&str; 16] = [
    "the", "parser", "reads", "a", "file", "and", "returns", "tokens", "which", "tests", "cover",
    "in", "detail", "without", "any", "change",
];

fn sentence(random: &mut Random) -> String {
    let words = (0..6 + random.below(12)).map(|_| WORDS[random.below(WORDS.len())]);
    words.collect::<Vec<_>>().join(" ")
}

fn text() -> String {
    let mut random = Random(42);
    let mut text = String::with_capacity(BYTES);
    while text.len() < BYTES {
        text.push_str(&sentence(&mut random));
        text.push_str(if random.below(200) == 0 { ", but not ready for review\n" } else { ".\n" });
    }
    text + "\nEXIT_STATUS: COMPLETE\n"
}

fn stream() -> String {
    let mut random = Random(43);
    let mut text = String::with_capacity(BYTES);
    while text.len() < BYTES {
        let said = sentence(&mut random);
        let output = (0..40).map(|_| sentence(&mut random)).collect::<Vec<_>>().join("\\n");
        text.push_str(&format!(
            "{{\"type\":\"assistant\",\"message\":{{\"id\":\"m\",\"role\":\"assistant\",\"content\":[{{\"type\":\"text\",\"text\":\"{said}\"}}]}},\"session_id\":\"s\"}}\n\
             {{\"type\":\"user\",\"message\":{{\"role\":\"user\",\"content\":[{{\"tool_use_id\":\"t\",\"type\":\"tool_result\",\"content\":\"{output}\"}}]}},\"session_id\":\"s\"}}\n"
        ));
    }
    text
}

fn scan(bytes: &[u8], patterns: &PatternSet, policy: &Policy) -> Scan {
    let mut scanner = Scanner::new(patterns, None);
    bytes.chunks(BLOCK).for_each(|block| scanner.push(block));
    scanner.finish(&policy.signal).without_token()
}

fn benches(criterion: &mut Criterion) {
    let policy = config::resolve(&[], None).expect("the default is right").policy;
    let patterns = PatternSet::new(&policy.patterns).expect("the patterns are right");
    for (name, input) in [("text", text()), ("claude-stream", stream())] {
        let mut group = criterion.benchmark_group(name);
        group.sample_size(10).throughput(Throughput::Bytes(input.len() as u64));
        group.bench_function("count lines", |bencher| {
            bencher.iter(|| memchr::memchr_iter(b'\n', black_box(input.as_bytes())).count());
        });
        group.bench_function("scan", |bencher| {
            bencher.iter(|| scan(black_box(input.as_bytes()), &patterns, &policy));
        });
        group.finish();
    }
    criterion.bench_function("prepare the patterns", |bencher| {
        bencher
            .iter(|| PatternSet::new(black_box(&policy.patterns)).expect("the patterns are right"));
    });
}

criterion_group!(all, benches);
criterion_main!(all);
