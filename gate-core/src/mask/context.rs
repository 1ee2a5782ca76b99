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
    let (mut found, mut seen) = (Vec::new(), 0);
    for at in memchr::memchr3_iter(b':', b'=', b' ', text.as_bytes()) {
        match text.as_bytes()[at] {
            b' ' => found.extend(credentials(text, at)),
            b':' if text[at..].starts_with("://") => found.extend(userinfo(text, at + 3)),
            // Inside of a value that has been judged as a whole.
            _ if at < seen => {}
            _ => {
                let Some(range) = assigned(text, at) else { continue };
                seen = range.end;
                found.extend(is_mixed(&text[range.clone()], MIN_VALUE_BYTES).then_some(range));
            }
        }
    }
    found
}

/// The credentials behind `Bearer` or, in a header, `Basic` and `Token`.
fn credentials(text: &str, space: usize) -> Option<Range<usize>> {
    // Most words end in another letter: this test keeps the search fast.
    let last = text.as_bytes()[..space].last()?;
    if !matches!(last | 0x20, b'r' | b'c' | b'n') {
        return None;
    }
    let before = &text[text.floor_char_boundary(space.saturating_sub(NAME_WINDOW_BYTES))..space];
    let scheme = ["bearer", "basic", "token"].into_iter().find(|word| ends_with(before, word))?;
    let is_bearer = scheme == "bearer";
    let head = before[..before.len() - scheme.len()].trim_end_matches([' ', ':', '"', '\'', '=']);
    let in_header = ends_with(head, "authorization");
    if !is_bearer && !in_header {
        return None;
    }
    let range = value(text, space + 1);
    let credentials = &text[range.clone()];
    let is_secret = credentials.len() >= MIN_CREDENTIALS_BYTES
        && (in_header || is_mixed(credentials, MIN_VALUE_BYTES));
    is_secret.then_some(range)
}

/// Bytes before a secret that are searched for its name or scheme.
const NAME_WINDOW_BYTES: usize = 60;

/// The password between a user's name and `@`, a token instead of both, and a token before an
/// `@` in the name.
fn userinfo(text: &str, from: usize) -> Vec<Range<usize>> {
    let to = text.floor_char_boundary((from + MAX_ADDRESS_BYTES).min(text.len()));
    let authority = text[from..to].split(ends_authority).next().unwrap_or_default();
    let Some((user, _)) = authority.rsplit_once('@') else { return Vec::new() };
    match user.split_once(':') {
        Some((_, password)) if is_placeholder(password) => Vec::new(),
        Some((name, _)) => {
            let password = from + name.len() + 1..from + user.len();
            let token = name.rsplit_once('@').and_then(|(user, _)| user_token(user, from));
            [token, Some(password)].into_iter().flatten().collect()
        }
        None => Vec::from_iter(user_token(user, from)),
    }
}

fn user_token(user: &str, from: usize) -> Option<Range<usize>> {
    let is_token = user.len() >= MIN_USER_TOKEN_BYTES && is_mixed(user, MIN_USER_TOKEN_BYTES);
    is_token.then(|| from..from + user.len())
}

fn ends_authority(c: char) -> bool {
    c.is_whitespace() || c.is_control() || "/?#\"'<>`\\|".contains(c)
}

/// The shortest user's name that is taken for a token.
const MIN_USER_TOKEN_BYTES: usize = 20;

/// A word that documents print instead of a password, such as `$PASSWORD` or `XXX`.
fn is_placeholder(password: &str) -> bool {
    is_reference(password)
        || password.chars().all(|c| c.is_ascii_uppercase() || "*x._-".contains(c))
}

/// True for a whole reference: `$NAME`, `${…}`, `{…}`, `%NAME%` or `%s`. A password may begin
/// with any of these marks, and `%23` is a byte of one. `<…>` never comes here: an address ends
/// at `<`.
fn is_reference(password: &str) -> bool {
    if let Some(rest) = password.strip_prefix('%') {
        return rest == "s" || rest.strip_suffix('%').is_some_and(is_variable_name);
    }
    let rest = password.strip_prefix('$');
    let braced = rest.unwrap_or(password);
    rest.is_some_and(is_variable_name) || (braced.starts_with('{') && braced.ends_with('}'))
}

/// True for the name of an environment variable. One with a small letter may be a password, such
/// as `$ecret9`.
fn is_variable_name(name: &str) -> bool {
    name.starts_with(|c: char| c.is_ascii_uppercase() || c == '_')
        && name.chars().all(|c| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_')
}

/// Most bytes between a key and its `:` or `=`.
const MAX_GAP_BYTES: usize = 4;

/// The value of a key whose name says that it is a secret.
fn assigned(text: &str, mark: usize) -> Option<Range<usize>> {
    // The gap may be a quote, a space and the `:` of `:=`.
    let near = &text.as_bytes()[mark.saturating_sub(MAX_GAP_BYTES)..mark];
    let gap = near.iter().rev().take_while(|byte| b"\"' :".contains(byte)).count();
    let end = mark - gap;
    // Most names end in another letter: this test keeps the search fast.
    let last = text.as_bytes()[..end].last()?;
    if !matches!(last | 0x20, b'd' | b'e' | b't' | b'n' | b'y') {
        return None;
    }
    let near = &text[text.floor_char_boundary(end.saturating_sub(NAME_WINDOW_BYTES))..end];
    let name = near
        .rsplit(|c: char| !c.is_ascii_alphanumeric() && !matches!(c, '_' | '-' | '.'))
        .next()
        .unwrap_or_default();
    let mut word = name.replace(['_', '-', '.'], "");
    word.make_ascii_lowercase();
    if !SECRET_NAMES.iter().any(|ending| word.ends_with(ending)) {
        return None;
    }
    let rest = &text[mark + 1..];
    let gap = rest.len() - rest.trim_start_matches(['=', '>', ' ', '"', '\'', '\\']).len();
    Some(value(text, mark + 1 + gap))
}

/// The value that begins here.
fn value(text: &str, from: usize) -> Range<usize> {
    let length = text[from..]
        .find(|c: char| !c.is_ascii_alphanumeric() && !"_-+/=.~".contains(c))
        .unwrap_or(text.len() - from);
    from..from + length
}

/// True for a value with `min_length` letters and digits in a row that are no word.
/// Hexadecimal values are digests and ids.
fn is_mixed(value: &str, min_length: usize) -> bool {
    let is_hex = value.chars().all(|c| c.is_ascii_hexdigit() || c == '-');
    !is_hex
        && value.split(['_', '-', '.', '~']).any(|row| {
            row.len() >= min_length
                && row.contains(|c: char| c.is_ascii_digit())
                && row.contains(|c: char| c.is_ascii_alphabetic())
        })
}

fn ends_with(text: &str, word: &str) -> bool {
    let at = text.len().checked_sub(word.len());
    at.and_then(|at| text.get(at..)).is_some_and(|end| end.eq_ignore_ascii_case(word))
}
