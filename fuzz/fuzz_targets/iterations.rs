//! Logs of many iterations: the same parts however the log is cut, in order, and nothing that
//! is not in the log.
#![no_main]

use gate_fuzz::{choices, long, pieces};
use gate_transcript::iterations::{Part, Splitter};
use libfuzzer_sys::fuzz_target;

/// Iterations: the line in which each begins, and its bytes.
type Iterations = Vec<(u64, Vec<u8>)>;

fn split(input: &[&[u8]]) -> Iterations {
    let mut iterations = Iterations::new();
    let mut take = |part: Part<'_>| match part {
        Part::Begin(line) => iterations.push((line, Vec::new())),
        Part::Bytes(bytes) => {
            iterations.last_mut().expect("it began").1.extend_from_slice(bytes);
        }
    };
    let mut splitter = Splitter::default();
    for piece in input {
        splitter.push(piece, &mut take);
    }
    splitter.finish(&mut take);
    iterations
}

fuzz_target!(|input: &[u8]| {
    let Some(([cut], text)) = choices(input) else { return };
    let repeated = if cut >= 0xf0 { long(text, cut) } else { Vec::new() };
    let text = if repeated.is_empty() { text } else { &repeated };
    let whole = split(&[text]);
    assert!(split(&pieces(text, cut)) == whole, "cut into pieces, it has other iterations");

    assert!(!whole.is_empty(), "there is always one iteration");
    assert!(whole.is_sorted_by(|one, next| one.0 < next.0), "each begins after the one before");
    let lines: Vec<_> = text.split_inclusive(|byte| *byte == b'\n').collect();
    let mut at = 0;
    for (line, bytes) in &whole {
        at = usize::try_from(*line).expect("a line of this input") - 1;
        // Lines of the runner are left out, so an iteration is a part of the lines from here on.
        let mut rest = lines[at.min(lines.len())..].iter();
        for line in bytes.split_inclusive(|byte| *byte == b'\n') {
            assert!(rest.any(|known| *known == line), "a line that is not in the log");
        }
    }
    assert!(at <= lines.len(), "an iteration begins behind the end of the log");
    if let [(1, bytes)] = &whole[..] {
        assert!(bytes.len() <= text.len());
    }
});
