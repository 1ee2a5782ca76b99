//! Secrets that are known by what stands before them: the credentials of an HTTP
//! request, the password of an address, the value of a key that says what it is.

use std::ops::Range;

/// The shortest credentials of a request.
const CREDENTIALS: usize = 8;

/// The shortest value that is taken for a secret because of its key's name.
const VALUE: usize = 12;

/// The longest name or address that is looked at, in bytes.
const LONGEST: usize = 2_000;

/// How names end whose values are secrets, without marks between their words.
const NAMES: [&str; 13] = [
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

/// Where such secrets stand.
pub(super) fn find(text: &str) -> Vec<Range<usize>> {
    let (mut found, mut seen) = (Vec::new(), 0);
    for at in memchr::memchr3_iter(b':', b'=', b' ', text.as_bytes()) {
        match text.as_bytes()[at] {
            b' ' => found.extend(credentials(text, at)),
            b':' if text[at..].starts_with("://") => found.extend(userinfo(text, at + 3)),
            // A part of a value that was looked at is no more of a secret than all of it.
            _ if at < seen => {}
            _ => {
                let Some(range) = assigned(text, at) else { continue };
                seen = range.end;
                found.extend(is_mixed(&text[range.clone()], VALUE).then_some(range));
            }
        }
    }
    found
}

/// What follows `Bearer` or, in a header, `Basic` and `Token`.
fn credentials(text: &str, space: usize) -> Option<Range<usize>> {
    // Most words end otherwise.
    let last = text.as_bytes()[..space].last()?;
    if !matches!(last | 0x20, b'r' | b'c' | b'n') {
        return None;
    }
    let before = &text[text.floor_char_boundary(space.saturating_sub(LINE))..space];
    let has = |word: &str| ends_with(before, word);
    let is_bearer = has("bearer");
    let scheme = [("bearer", is_bearer), ("basic", has("basic")), ("token", has("token"))];
    let (scheme, _) = scheme.into_iter().find(|(_, is)| *is)?;
    let head = before[..before.len() - scheme.len()].trim_end_matches([' ', ':', '"', '\'', '=']);
    let in_header = ends_with(head, "authorization");
    if !is_bearer && !in_header {
        return None;
    }
    let range = value(text, space + 1);
    let said = &text[range.clone()];
    let is_secret = said.len() >= CREDENTIALS && (in_header || is_mixed(said, VALUE));
    is_secret.then_some(range)
}

/// How much of a line before a secret is looked at, in bytes.
const LINE: usize = 60;

/// The password between a user's name and `@`, or a token in the place of both.
fn userinfo(text: &str, from: usize) -> Option<Range<usize>> {
    let to = text.floor_char_boundary((from + LONGEST).min(text.len()));
    let ends = |c: char| c.is_whitespace() || c.is_control() || "/?#\"'<>`\\|".contains(c);
    let authority = &text[from..from + text[from..to].find(ends).unwrap_or(to - from)];
    let (user, _) = authority.rsplit_once('@')?;
    match user.split_once(':') {
        Some((name, password)) if !is_placeholder(password) => {
            Some(from + name.len() + 1..from + user.len())
        }
        None if user.len() >= TOKEN && is_mixed(user, TOKEN) => Some(from..from + user.len()),
        _ => None,
    }
}

/// The shortest user's name that is taken for a token.
const TOKEN: usize = 20;

/// What documents write in a password's place.
fn is_placeholder(password: &str) -> bool {
    let is_mark = |c: char| c.is_ascii_uppercase() || "*x._-".contains(c);
    password.starts_with(['$', '{', '<', '%']) || password.chars().all(is_mark)
}

/// How much may stand between a key and the mark behind it, in bytes.
const BETWEEN: usize = 4;

/// The value of a key whose name says that it is a secret.
fn assigned(text: &str, mark: usize) -> Option<Range<usize>> {
    // A quote, a space and the `:` of `:=` may stand between.
    let between = |byte: &&u8| matches!(byte, b'"' | b'\'' | b' ' | b':');
    let between = text.as_bytes()[..mark].iter().rev().take(BETWEEN).take_while(between).count();
    let end = mark - between;
    // Most names end otherwise.
    let last = text.as_bytes()[..end].last()?;
    if !matches!(last | 0x20, b'd' | b'e' | b't' | b'n' | b'y') {
        return None;
    }
    let is_letter = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.');
    let near = &text[text.floor_char_boundary(end.saturating_sub(LINE))..end];
    let word = near.rsplit(|c: char| !is_letter(c)).next().unwrap_or_default();
    let plain = |c: &char| c.is_ascii_alphanumeric();
    let word: String = word.chars().filter(plain).map(|c| c.to_ascii_lowercase()).collect();
    if !NAMES.iter().any(|ending| word.ends_with(ending)) {
        return None;
    }
    let rest = &text[mark + 1..];
    let gap = rest.len() - rest.trim_start_matches(['=', '>', ' ', '"', '\'', '\\']).len();
    Some(value(text, mark + 1 + gap))
}

/// The value that begins here.
fn value(text: &str, from: usize) -> Range<usize> {
    let is_value = |c: char| c.is_ascii_alphanumeric() || "_-+/=.~".contains(c);
    from..from + text[from..].find(|c: char| !is_value(c)).unwrap_or(text.len() - from)
}

/// Whether a value has a row of letters and digits that is no word, and is no digest
/// or id: those are of hexadecimal digits alone.
fn is_mixed(value: &str, least: usize) -> bool {
    let is_hex = value.chars().all(|c| c.is_ascii_hexdigit() || c == '-');
    let row = |row: &str| {
        row.len() >= least
            && row.contains(|c: char| c.is_ascii_digit())
            && row.contains(|c: char| c.is_ascii_alphabetic())
    };
    !is_hex && value.split(['_', '-', '.', '~']).any(row)
}

fn ends_with(text: &str, word: &str) -> bool {
    let at = text.len().checked_sub(word.len());
    at.and_then(|at| text.get(at..)).is_some_and(|end| end.eq_ignore_ascii_case(word))
}
