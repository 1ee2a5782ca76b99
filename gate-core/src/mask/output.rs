//! Secrets in the output of a check that only a name near them gives away, such as
//! `export DEPLOY_KEY=…` and "using token …".

use super::variables::{is_long, is_secret_name};

/// The most words between a secret's name and the secret.
const NEAR_WORDS: usize = 6;

/// The shortest word that is taken for random.
const MIN_RANDOM_BYTES: usize = 16;

/// The shortest hexadecimal value that is taken for a secret: a shorter one is an id.
const MIN_HEX_BYTES: usize = 32;

/// Endings of names that are common words, too, as in `--- PASS: TestLogin`.
const COMMON_WORDS: [&str; 6] = ["pass", "pat", "auth", "key", "keys", "cookie"];

/// The values that names in the output call secret.
pub(super) fn named_values(output: &str) -> Vec<String> {
    output.lines().flat_map(named_in_line).map(str::to_owned).collect()
}

fn named_in_line(line: &str) -> Vec<&str> {
    let words: Vec<_> = words(line).collect();
    let names = (0..words.len()).filter(|&index| is_name(words[index].text));
    names.flat_map(|index| secrets_near(line, &words, index)).collect()
}

/// A word of a line.
#[derive(Clone, Copy)]
struct Word<'l> {
    text: &'l str,
    /// Its first byte in the line.
    start: usize,
}

/// The words of a line. The marks of Base64 are parts of a word.
fn words(line: &str) -> impl Iterator<Item = Word<'_>> {
    let is_in_word = |char: char| char.is_ascii_alphanumeric() || "_-.+/~$%".contains(char);
    line.split(move |char| !is_in_word(char)).filter(|text| !text.is_empty()).map(move |text| {
        let start = text.as_ptr().addr() - line.as_ptr().addr();
        Word { text, start }
    })
}

fn is_name(word: &str) -> bool {
    let word = word.trim_matches(['-', '.']);
    is_secret_name(word) && !COMMON_WORDS.iter().any(|common| word.eq_ignore_ascii_case(common))
}

/// The secrets near the name with this index: its value, and random words around it.
fn secrets_near<'l>(line: &'l str, words: &[Word<'l>], index: usize) -> Vec<&'l str> {
    let name = words[index];
    let near_end = words.len().min(index + 1 + NEAR_WORDS);
    let near = &words[index.saturating_sub(NEAR_WORDS)..near_end];
    let mut secrets: Vec<_> =
        near.iter().map(|word| word.text).filter(|word| is_random(word)).collect();
    if let Some(value) = words.get(index + 1) {
        let gap = &line[name.start + name.text.len()..value.start];
        let is_assigned =
            gap.contains(['=', ':']) && gap.chars().all(|char| "\"' :=>\\".contains(char));
        // A name in small letters may be prose, whose next word is no secret.
        let is_variable = !name.text.contains(|char: char| char.is_ascii_lowercase());
        let is_value = is_variable && is_long(value.text) && !is_reference(value.text);
        secrets.extend((is_assigned && (is_hex(value.text) || is_value)).then_some(value.text));
    }
    secrets
}

/// A path, or the name of another variable.
fn is_reference(value: &str) -> bool {
    value.starts_with(['/', '~', '.', '$', '%'])
}

fn is_hex(value: &str) -> bool {
    value.len() >= MIN_HEX_BYTES && value.bytes().all(|byte| byte.is_ascii_hexdigit())
}

/// A word that nobody writes by hand: its letters and digits change more often than
/// those of a name such as `TestOAuth2RefreshFlow`, and it is no digest or id.
fn is_random(word: &str) -> bool {
    let mut rows = word.split(|char: char| !char.is_ascii_alphanumeric());
    !is_reference(word) && rows.any(is_random_row)
}

fn is_random_row(row: &str) -> bool {
    let bytes = row.as_bytes();
    bytes.len() >= MIN_RANDOM_BYTES
        && bytes.iter().any(u8::is_ascii_digit)
        && bytes.iter().any(|byte| matches!(byte, b'g'..=b'z' | b'G'..=b'Z'))
        && bytes.len() < 3 * count_parts(bytes)
}

/// The number of a name's parts: a word with its capital, a row of capitals, a number.
fn count_parts(bytes: &[u8]) -> usize {
    let kind = |byte: u8| (byte.is_ascii_digit(), byte.is_ascii_uppercase());
    let is_edge = |pair: &&[u8]| {
        let is_capital_of_word = pair[0].is_ascii_uppercase() && pair[1].is_ascii_lowercase();
        kind(pair[0]) != kind(pair[1]) && !is_capital_of_word
    };
    1 + bytes.windows(2).filter(is_edge).count()
}
