//! Secrets that are known by the text before them: the credentials of an HTTP request,
//! the password of an address, the value of a key named after a secret.

use std::ops::Range;

/// The shortest credentials of a request.
const MIN_CREDENTIALS_BYTES: usize = 8;

/// The shortest secret that only its key's name gives away.
const MIN_VALUE_BYTES: usize = 12;

/// The longest address that is searched for a password.
const MAX_ADDRESS_BYTES: usize = 2_000;

/// Endings of the names of secrets, without marks between their words.
const SECRET_NAMES: [&str; 13] = [
    "password",
    "passwd",
    "passphrase",
    "secret",
    "token",
    "apikey",
    "accesskey",
    "secretkey",
    "privatekey",
    "authkey",
    "accountkey",
    "signingkey",
    "encryptionkey",
];

pub(super) fn find(text: &str) -> Vec<Range<usize>> {
    let mut secrets = Vec::new();
    let mut judged_end = 0;
    for mark in memchr::memchr3_iter(b':', b'=', b' ', text.as_bytes()) {
        match text.as_bytes()[mark] {
            b' ' => secrets.extend(credentials(text, mark)),
            b':' if text[mark..].starts_with("://") => secrets.extend(user_info(text, mark + 3)),
            // Inside of a value that has been judged as a whole.
            _ if mark < judged_end => {}
            _ => {
                let Some(range) = assigned_value(text, mark) else { continue };
                judged_end = range.end;
                secrets.extend(is_mixed(&text[range.clone()], MIN_VALUE_BYTES).then_some(range));
            }
        }
    }
    secrets
}

/// The credentials behind `Bearer` or, in a header, `Basic` and `Token`.
fn credentials(text: &str, space: usize) -> Option<Range<usize>> {
    // Most words end in another letter: this test keeps the search fast.
    let last_byte = text.as_bytes()[..space].last()?;
    if !matches!(last_byte | 0x20, b'r' | b'c' | b'n') {
        return None;
    }
    let window_start = text.floor_char_boundary(space.saturating_sub(NAME_WINDOW_BYTES));
    let window = &text[window_start..space];
    let scheme = ["bearer", "basic", "token"].into_iter().find(|word| ends_with(window, word))?;
    let is_bearer = scheme == "bearer";
    let header = window[..window.len() - scheme.len()].trim_end_matches([' ', ':', '"', '\'', '=']);
    let in_header = ends_with(header, "authorization");
    if !is_bearer && !in_header {
        return None;
    }
    let range = value_range(text, space + 1);
    let credentials = &text[range.clone()];
    let is_secret = credentials.len() >= MIN_CREDENTIALS_BYTES
        && (in_header || is_mixed(credentials, MIN_VALUE_BYTES));
    is_secret.then_some(range)
}

/// Bytes before a secret that are searched for its name or scheme.
const NAME_WINDOW_BYTES: usize = 60;

/// The password between a user's name and `@`, a token instead of both, and a token before an
/// `@` in the name.
fn user_info(text: &str, start: usize) -> Vec<Range<usize>> {
    let end = text.floor_char_boundary((start + MAX_ADDRESS_BYTES).min(text.len()));
    let authority = text[start..end].split(ends_authority).next().unwrap_or_default();
    let Some((user, _)) = authority.rsplit_once('@') else { return Vec::new() };
    match user.split_once(':') {
        Some((_, password)) if is_placeholder(password) => Vec::new(),
        Some((name, _)) => {
            let password = start + name.len() + 1..start + user.len();
            let token = name.rsplit_once('@').and_then(|(user, _)| user_token(user, start));
            [token, Some(password)].into_iter().flatten().collect()
        }
        None => Vec::from_iter(user_token(user, start)),
    }
}

fn user_token(user: &str, start: usize) -> Option<Range<usize>> {
    let is_token = user.len() >= MIN_USER_TOKEN_BYTES && is_mixed(user, MIN_USER_TOKEN_BYTES);
    is_token.then(|| start..start + user.len())
}

fn ends_authority(char: char) -> bool {
    char.is_whitespace() || char.is_control() || "/?#\"'<>`\\|".contains(char)
}

/// The shortest user's name that is taken for a token.
const MIN_USER_TOKEN_BYTES: usize = 20;

/// A word that documents print instead of a password, such as `$PASSWORD` or `XXX`.
fn is_placeholder(password: &str) -> bool {
    is_reference(password)
        || password.chars().all(|char| char.is_ascii_uppercase() || "*x._-".contains(char))
}

/// A whole reference: `$NAME`, `${…}`, `{…}`, `%NAME%` or `%s`. A password may begin
/// with any of these marks, and `%23` is a byte of one. `<…>` never comes here: an address ends
/// at `<`.
fn is_reference(password: &str) -> bool {
    if let Some(name) = password.strip_prefix('%') {
        return name == "s" || name.strip_suffix('%').is_some_and(is_variable_name);
    }
    let name = password.strip_prefix('$');
    let braced = name.unwrap_or(password);
    name.is_some_and(is_variable_name) || (braced.starts_with('{') && braced.ends_with('}'))
}

/// The name of an environment variable. A name with a small letter may be a password, such
/// as `$ecret9`.
fn is_variable_name(name: &str) -> bool {
    let is_in_name = |byte: u8| byte.is_ascii_uppercase() || byte.is_ascii_digit() || byte == b'_';
    name.starts_with(|char: char| !char.is_ascii_digit()) && name.bytes().all(is_in_name)
}

/// The most bytes between a key and its `:` or `=`.
const MAX_GAP_BYTES: usize = 4;

/// The value of a key that is named after a secret.
fn assigned_value(text: &str, mark: usize) -> Option<Range<usize>> {
    // The gap may be a quote, a space and the `:` of `:=`.
    let gap_window = &text.as_bytes()[mark.saturating_sub(MAX_GAP_BYTES)..mark];
    let gap = gap_window.iter().rev().take_while(|byte| b"\"' :".contains(byte)).count();
    let end = mark - gap;
    // Most names end in another letter: this test keeps the search fast.
    let last_byte = text.as_bytes()[..end].last()?;
    if !matches!(last_byte | 0x20, b'd' | b'e' | b't' | b'n' | b'y') {
        return None;
    }
    let name_window = &text[text.floor_char_boundary(end.saturating_sub(NAME_WINDOW_BYTES))..end];
    let name = name_window
        .rsplit(|char: char| !char.is_ascii_alphanumeric() && !matches!(char, '_' | '-' | '.'))
        .next()
        .unwrap_or_default();
    let joined_name = name.replace(['_', '-', '.'], "").to_ascii_lowercase();
    if !SECRET_NAMES.iter().any(|ending| joined_name.ends_with(ending)) {
        return None;
    }
    let assigned = &text[mark + 1..];
    let gap = assigned.len() - assigned.trim_start_matches(['=', '>', ' ', '"', '\'', '\\']).len();
    Some(value_range(text, mark + 1 + gap))
}

/// The value that begins at this byte.
fn value_range(text: &str, start: usize) -> Range<usize> {
    let length = text[start..]
        .find(|char: char| !char.is_ascii_alphanumeric() && !"_-+/=.~".contains(char))
        .unwrap_or(text.len() - start);
    start..start + length
}

/// A value with `min_length` letters and digits in a row that are no word.
/// Hexadecimal values are digests and ids.
fn is_mixed(value: &str, min_length: usize) -> bool {
    let is_hex = value.bytes().all(|byte| byte.is_ascii_hexdigit() || byte == b'-');
    !is_hex
        && value.split(['_', '-', '.', '~']).any(|row| {
            row.len() >= min_length
                && row.contains(|char: char| char.is_ascii_digit())
                && row.contains(|char: char| char.is_ascii_alphabetic())
        })
}

fn ends_with(text: &str, word: &str) -> bool {
    let start = text.len().checked_sub(word.len());
    let ending = start.and_then(|start| text.get(start..));
    ending.is_some_and(|ending| ending.eq_ignore_ascii_case(word))
}
