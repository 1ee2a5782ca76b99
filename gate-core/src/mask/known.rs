//! Secrets that the environment tells: values of variables.

/// The shortest value that is looked for: a shorter one may stand in any text.
pub(super) const SHORTEST: usize = 8;

/// The shortest value of letters in one case alone, which may be a word.
const SHORTEST_WORD: usize = 12;

/// The shortest row of letters and digits that nobody writes by hand.
const RANDOM: usize = 16;

/// A variable of the environment.
#[derive(Clone, Copy, Debug)]
pub struct Variable<'v> {
    /// Its name.
    pub name: &'v str,
    /// Its value.
    pub value: &'v str,
    /// Whether checks may see it: what they may not see is no business of their
    /// output.
    pub is_seen: bool,
}

/// Last words of names whose values are secrets.
const SECRET: [&str; 17] = [
    "TOKEN",
    "TOKENS",
    "SECRET",
    "SECRETS",
    "PASSWORD",
    "PASSWD",
    "PASSPHRASE",
    "PASS",
    "PWD",
    "KEY",
    "KEYS",
    "PAT",
    "CREDENTIAL",
    "CREDENTIALS",
    "AUTH",
    "JWT",
    "COOKIE",
];

/// Endings that say it without a word of their own, as in `PGPASSWORD`.
const ENDINGS: [&str; 5] = ["TOKEN", "SECRET", "PASSWORD", "PASSWD", "APIKEY"];

/// What of a variable is a secret.
pub(super) fn secrets(variable: Variable<'_>) -> Vec<String> {
    let Variable { name, value, is_seen } = variable;
    let value = value.trim();
    let mut secrets = Vec::new();
    if let Some(password) = password(value) {
        secrets.push(password.to_owned());
    }
    let is_path = value.starts_with(['/', '~', '.']) && !is_random(value);
    let is_secret = is_secret_name(name) && is_long(value) && !is_path;
    if is_secret || (!is_seen && is_random(value)) {
        secrets.push(value.to_owned());
        // A value of several lines is printed line by line.
        let lines = value.lines().map(str::trim).filter(|line| line.len() < value.len());
        secrets.extend(lines.filter(|line| is_random(line)).map(str::to_owned));
    }
    secrets
}

fn is_secret_name(name: &str) -> bool {
    let name = name.to_ascii_uppercase();
    if matches!(name.as_str(), "PWD" | "OLDPWD") {
        return false;
    }
    let last = name.rsplit(['_', '-', '.']).next().unwrap_or_default();
    SECRET.contains(&last) || ENDINGS.iter().any(|ending| name.ends_with(ending))
}

/// Whether a value is too long to stand somewhere by accident.
fn is_long(value: &str) -> bool {
    let is_word = value.chars().all(|c| c.is_ascii_lowercase())
        || value.chars().all(|c| c.is_ascii_uppercase());
    value.len() >= if is_word { SHORTEST_WORD } else { SHORTEST }
}

/// Whether a value holds a row of letters in both cases and digits that nobody writes
/// by hand. Digests and UUIDs have one case.
fn is_random(value: &str) -> bool {
    let is_mixed = |row: &[u8]| {
        let has = |is: fn(&u8) -> bool| row.iter().any(is);
        row.len() >= RANDOM
            && has(u8::is_ascii_lowercase)
            && has(u8::is_ascii_uppercase)
            && has(u8::is_ascii_digit)
    };
    // Each start of gate looks at every variable: most are too short.
    value.len() >= RANDOM
        && value.as_bytes().split(|byte| !byte.is_ascii_alphanumeric()).any(is_mixed)
        && !value.contains(char::is_whitespace)
}

/// The password of an address, such as that of a database.
fn password(value: &str) -> Option<&str> {
    memchr::memchr(b'@', value.as_bytes())?;
    let (_, rest) = value.split_once("://")?;
    let authority = rest.split(['/', '?', '#']).next()?;
    let (user, password) = authority.rsplit_once('@')?.0.split_once(':')?;
    (is_long(password) && password != user).then_some(password)
}
