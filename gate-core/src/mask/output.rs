//! Secrets in the output of a check that only a name beside them gives away, such as
//! `export DEPLOY_KEY=…` and "using token …".

use super::variables::{is_long, is_secret_name};

/// Most words between a secret's name and the secret.
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
    let names = (0..words.len()).filter(|&at| is_name(words[at].1));
    names.flat_map(|at| beside(line, &words, at)).collect()
}

/// Words with the places where they begin. The marks of Base64 are parts of a word.
fn words(line: &str) -> impl Iterator<Item = (usize, &str)> {
    let is_inside = |c: char| c.is_ascii_alphanumeric() || "_-.+/~$%".contains(c);
    line.split(move |c| !is_inside(c))
        .filter(|word| !word.is_empty())
        .map(move |word| (word.as_ptr().addr() - line.as_ptr().addr(), word))
}

fn is_name(word: &str) -> bool {
    let word = word.trim_matches(['-', '.']);
    is_secret_name(word) && !COMMON_WORDS.iter().any(|common| word.eq_ignore_ascii_case(common))
}

/// The secrets beside the name at `at`: its value, and random words near it.
fn beside<'l>(line: &'l str, words: &[(usize, &'l str)], at: usize) -> Vec<&'l str> {
    let (start, name) = words[at];
    let near = &words[at.saturating_sub(NEAR_WORDS)..words.len().min(at + 1 + NEAR_WORDS)];
    let mut secrets: Vec<_> =
        near.iter().map(|(_, word)| *word).filter(|word| is_random(word)).collect();
    if let Some((value_start, value)) = words.get(at + 1) {
        let gap = &line[start + name.len()..*value_start];
        let is_assigned = gap.contains(['=', ':']) && gap.chars().all(|c| "\"' :=>\\".contains(c));
        let is_of_variable = !name.contains(|c: char| c.is_ascii_lowercase());
        let is_secret = is_hex(value) || (is_of_variable && is_long(value) && !is_reference(value));
        secrets.extend((is_assigned && is_secret).then_some(*value));
    }
    secrets
}

/// True for a path, and for the name of another variable.
fn is_reference(value: &str) -> bool {
    value.starts_with(['/', '~', '.', '$', '%'])
}

fn is_hex(value: &str) -> bool {
    value.len() >= MIN_HEX_BYTES && value.bytes().all(|byte| byte.is_ascii_hexdigit())
}

/// True for a word that nobody writes by hand: its letters and digits change more often than
/// those of a name such as `TestOAuth2RefreshFlow`, and it is no digest or id.
fn is_random(word: &str) -> bool {
    let rows = || word.split(|c: char| !c.is_ascii_alphanumeric());
    !is_reference(word) && rows().any(is_random_row)
}

fn is_random_row(row: &str) -> bool {
    let bytes = row.as_bytes();
    bytes.len() >= MIN_RANDOM_BYTES
        && bytes.iter().any(u8::is_ascii_digit)
        && bytes.iter().any(|byte| matches!(byte, b'g'..=b'z' | b'G'..=b'Z'))
        && bytes.len() < 3 * parts(bytes)
}

/// The parts of a name: a word with its capital, a row of capitals, a number.
fn parts(bytes: &[u8]) -> usize {
    let kind = |byte: u8| (byte.is_ascii_digit(), byte.is_ascii_uppercase());
    let is_edge = |pair: &&[u8]| {
        let is_capital_of_word = pair[0].is_ascii_uppercase() && pair[1].is_ascii_lowercase();
        kind(pair[0]) != kind(pair[1]) && !is_capital_of_word
    };
    1 + bytes.windows(2).filter(is_edge).count()
}
