//! Secrets in the values of environment variables.

/// The shortest value that is searched for: a shorter one may be a part of any text.
pub(super) const MIN_VALUE_BYTES: usize = 8;

/// The shortest value of letters in one case, which may be a word.
const MIN_WORD_BYTES: usize = 12;

/// The shortest row of letters and digits that is taken for random.
const MIN_RANDOM_BYTES: usize = 16;

/// A variable of the environment.
#[derive(Clone, Copy, Debug)]
pub struct Variable<'v> {
    /// Its name.
    pub name: &'v str,
    /// Its value.
    pub value: &'v str,
    /// Checks may see the variable. A variable that is hidden from them is masked if its
    /// value looks random, whatever its name.
    pub is_seen: bool,
}

/// Last words of the names of secrets.
const SECRET_WORDS: [&str; 17] = [
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

/// Endings of the names of secrets inside of a word, as in `PGPASSWORD`.
const SECRET_ENDINGS: [&str; 5] = ["TOKEN", "SECRET", "PASSWORD", "PASSWD", "APIKEY"];

/// The parts of a variable's value that are secret.
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

pub(super) fn is_secret_name(name: &str) -> bool {
    let name = name.to_ascii_uppercase();
    if matches!(name.as_str(), "PWD" | "OLDPWD") {
        return false;
    }
    let last_word = name.rsplit(['_', '-', '.']).next().unwrap_or_default();
    SECRET_WORDS.contains(&last_word) || SECRET_ENDINGS.iter().any(|ending| name.ends_with(ending))
}

/// A value that is too long to be in a text by accident.
pub(super) fn is_long(value: &str) -> bool {
    let is_word = value.bytes().all(|byte| byte.is_ascii_lowercase())
        || value.bytes().all(|byte| byte.is_ascii_uppercase());
    value.len() >= if is_word { MIN_WORD_BYTES } else { MIN_VALUE_BYTES }
}

/// A value with a row of digits and of letters in both cases that nobody writes
/// by hand. Digests and UUIDs have one case.
fn is_random(value: &str) -> bool {
    // Each start of gate looks at every variable: most are too short.
    value.len() >= MIN_RANDOM_BYTES
        && value.as_bytes().split(|byte| !byte.is_ascii_alphanumeric()).any(is_random_row)
        && !value.contains(char::is_whitespace)
}

fn is_random_row(row: &[u8]) -> bool {
    row.len() >= MIN_RANDOM_BYTES
        && row.iter().any(u8::is_ascii_lowercase)
        && row.iter().any(u8::is_ascii_uppercase)
        && row.iter().any(u8::is_ascii_digit)
}

/// The password of an address, such as that of a database.
fn password(value: &str) -> Option<&str> {
    memchr::memchr(b'@', value.as_bytes())?;
    let (_, address) = value.split_once("://")?;
    let authority = address.split(['/', '?', '#']).next()?;
    let (user_info, _host) = authority.rsplit_once('@')?;
    let (user, password) = user_info.split_once(':')?;
    (is_long(password) && password != user).then_some(password)
}
