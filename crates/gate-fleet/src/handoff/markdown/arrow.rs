//! Arrows, and the words behind them that say what came of a command.

/// Signs between a command and its result.
pub(super) const ARROWS: &[&str] = &["->", "→", "=>"];

/// The words that say what came of something, be they the protocol's or not: what is
/// said in another word has not passed either.
const RESULTS: &str = "pass passed passes passing ok green success succeeded fail failed fails \
                       failing failure failures error errors errored red broken crash crashed \
                       abort aborted timeout skip skipped inconclusive";

/// The arrows of a line, in order: what stands before each, and what behind it.
pub(super) fn arrows(line: &str) -> impl Iterator<Item = (&str, &str)> {
    line.char_indices().filter_map(|(at, _)| {
        let after = ARROWS.iter().find_map(|arrow| line[at..].strip_prefix(arrow))?;
        Some((&line[..at], after))
    })
}

/// The first arrow of a line that a result follows: what stands before the arrow, and what behind.
pub(super) fn deciding_arrow(line: &str) -> Option<(&str, &str)> {
    // Arrows with nothing but marks between them stand before the same word, so the first of them
    // answers for all. A line may be as long as a file, and each part of it is read once.
    let mut word_at = 0;
    arrows(line).find(|(before, after)| {
        if before.len() < word_at {
            return false;
        }
        let word = from_word(after);
        word_at = line.len() - word.len();
        says_result(word)
    })
}

/// A text from its first word on, without the marks before that.
fn from_word(text: &str) -> &str {
    text.trim_start_matches(|c: char| !c.is_alphanumeric())
}

/// True if the word that a line begins with says what came of something. The name of a file,
/// such as `errors.txt`, says nothing.
fn says_result(line: &str) -> bool {
    let (word, rest) = line.split_at(line.find(|c| !is_word(c)).unwrap_or(line.len()));
    let is_file = rest.strip_prefix('.').is_some_and(|rest| rest.starts_with(is_word));
    !is_file && RESULTS.split(' ').any(|result| word.eq_ignore_ascii_case(result))
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

pub(super) fn has_result(text: &str) -> bool {
    deciding_arrow(text).is_some()
}
