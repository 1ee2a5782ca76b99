//! Spellings of other loops, which no setting accepts by default: each is a near miss that
//! says how to accept it.

use super::candidate::NearMiss;
use super::layout::{BlockKind, Layout};
use super::spelling::promise::MARKS;

/// The most near misses that are named.
const MAX_NAMED: usize = 3;

/// The longest word of completion, in bytes.
const MAX_WORD_BYTES: usize = 40;

/// The last spellings of other loops in a message.
pub(super) fn near_misses(layout: &Layout<'_>) -> Vec<NearMiss> {
    let text = &layout.word().text;
    if !["COMPLETE", "DONE", "EXIT_SIGNAL", "RALPH_STATUS"].iter().any(|word| text.contains(word)) {
        return Vec::new();
    }
    let lines = layout.lines().iter().enumerate().rev();
    let near_misses = lines.filter_map(|(index, line)| {
        let text = line.text.trim();
        let advice = match line.block {
            BlockKind::Comment if text.starts_with("<!--") && text.contains("RALPH_STATUS") => {
                "it stands in a comment of markup; written as text, ---RALPH_STATUS--- with \
                 EXIT_SIGNAL: true is read"
                    .to_owned()
            }
            BlockKind::Prose | BlockKind::Fenced => advice(text.trim_matches(is_mark))?,
            _ => return None,
        };
        Some(NearMiss { text: text.to_owned(), line: layout.number(index), why: advice })
    });
    near_misses.take(MAX_NAMED).collect()
}

fn is_mark(c: char) -> bool {
    MARKS.contains(&c) || matches!(c, '.' | '!' | ',') || (!c.is_ascii() && !c.is_alphanumeric())
}

/// The setting that accepts a line of this text, if it is a word of completion.
fn advice(text: &str) -> Option<String> {
    if text == "EXIT_SIGNAL" {
        return Some(
            "it has no value, and stands in no block; ---RALPH_STATUS--- with EXIT_SIGNAL: true \
             is read"
                .to_owned(),
        );
    }
    let (word, value) = text.split_once(':').unwrap_or((text, "true"));
    let is_word = word.len() <= MAX_WORD_BYTES
        && word.chars().all(|c| c.is_ascii_uppercase() || c == '_')
        && ["COMPLETE", "COMPLETED", "DONE"].iter().any(|end| is_or_ends(word, end));
    (is_word && value.trim() == "true").then(|| {
        let regex = text.replace(": ", ":\\s*");
        format!(
            "no accepted spelling; [[signal.custom]] with regex = '^{regex}$' and value = \
             'complete' accepts it"
        )
    })
}

/// `COMPLETE` itself, or `STORY_COMPLETE`.
fn is_or_ends(word: &str, end: &str) -> bool {
    word.strip_suffix(end).is_some_and(|prefix| prefix.is_empty() || prefix.ends_with('_'))
}
