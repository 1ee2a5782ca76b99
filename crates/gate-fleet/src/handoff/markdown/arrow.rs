//! Arrows, and the words behind them that name the result of a command.

/// Signs between a command and its result.
pub(super) const ARROWS: &[&str] = &["->", "→", "=>"];

/// The words that name a result, be they the protocol's or not: a result in another word is no
/// pass either.
const RESULTS: &str = "pass passed passes passing ok green success succeeded fail failed fails \
                       failing failure failures error errors errored red broken crash crashed \
                       abort aborted timeout skip skipped inconclusive";

/// An arrow of a line.
#[derive(Clone, Copy)]
pub(super) struct Arrow<'l> {
    /// The text before it.
    pub(super) left: &'l str,
    /// The text behind it.
    pub(super) right: &'l str,
}

/// The arrows of a line, in order.
pub(super) fn arrows(line: &str) -> impl Iterator<Item = Arrow<'_>> {
    line.char_indices().filter_map(|(at, _)| {
        let right = ARROWS.iter().find_map(|arrow| line[at..].strip_prefix(arrow))?;
        Some(Arrow { left: &line[..at], right })
    })
}

/// The first arrow of a line that a result follows.
pub(super) fn deciding_arrow(line: &str) -> Option<Arrow<'_>> {
    // Arrows with nothing but marks between them stand before the same word, so the first of them
    // answers for all. A line may be as long as a file, and each part of it is read once.
    let mut word_start = 0;
    arrows(line).find(|arrow| {
        if arrow.left.len() < word_start {
            return false;
        }
        let from_word = arrow.right.trim_start_matches(|char: char| !char.is_alphanumeric());
        word_start = line.len() - from_word.len();
        begins_with_result(from_word)
    })
}

/// A text whose first word names a result. The name of a file, such as `errors.txt`, does not.
fn begins_with_result(text: &str) -> bool {
    let is_in_word = |char: char| char.is_alphanumeric() || char == '_';
    let word_end = text.find(|char| !is_in_word(char)).unwrap_or(text.len());
    let (word, tail) = text.split_at(word_end);
    let is_file = tail.strip_prefix('.').is_some_and(|extension| extension.starts_with(is_in_word));
    !is_file && RESULTS.split(' ').any(|result| word.eq_ignore_ascii_case(result))
}

pub(super) fn has_result(text: &str) -> bool {
    deciding_arrow(text).is_some()
}
