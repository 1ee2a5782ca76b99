//! Handoffs: what could be read is written in each format and read again without loss.
#![no_main]

use gate_fleet::handoff::{self, Format, LONGEST_TEXT, ParsedHandoff};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: &[u8]| {
    let Ok(text) = str::from_utf8(input) else { return };
    let _ = Format::detect(text);
    for format in [Format::Markdown, Format::Json, Format::A2a] {
        let read = handoff::read(text, format);
        let problems = read.all_problems();
        assert!(read.handoff.is_some() || !problems.is_empty(), "nothing was read, and why?");
        problems.iter().for_each(|problem| assert!(!problem.to_string().is_empty()));
        if text.len() > LONGEST_TEXT {
            continue;
        }
        let Some(handoff) = read.handoff else { continue };
        for to in [Format::Markdown, Format::Json, Format::A2a] {
            let written = handoff.to_text(to);
            let again = handoff::read(&written, to);
            let expected = ParsedHandoff { handoff: Some(handoff.clone()), ..ParsedHandoff::default() };
            assert_eq!(again, expected, "{format:?} to {to:?}: {written}");
            assert_eq!(Format::detect(&written), to);
        }
    }
    // A command line of a handoff has the same words after it was written.
    if let Some(words) = handoff::words(text).filter(|words| !words.is_empty()) {
        let line = handoff::line(&words);
        let shell = words.iter().any(|word| word.starts_with('-') && word.ends_with('c'));
        if !shell && !text.contains('\0') {
            assert_eq!(handoff::words(&line), Some(words), "{line}");
        }
    }
});
