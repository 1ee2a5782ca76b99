//! Texts in a line of Markdown, so that each comes back as it was.
//!
//! A text stands as it is if it is one line that no reader of Markdown takes for anything but text.
//! Any other one (blank, of several lines, with blanks around it, or beginning as a list, a heading
//! or a fence does) stands as a JSON string between double quotes.

/// A text as it stands in a line.
pub(super) fn quote(text: &str) -> String {
    if is_plain(text) { text.to_owned() } else { quoted(text) }
}

/// A text as it stands behind a key.
pub(super) fn quote_value(text: &str) -> String {
    if is_plain_value(text) { text.to_owned() } else { quoted(text) }
}

/// A text between double quotes.
pub(super) fn quoted(text: &str) -> String {
    // A text always has a form in JSON.
    serde_json::to_string(text).unwrap_or_default()
}

/// The text of a line: the content of a JSON string, or the line as it is.
pub(super) fn unquote(line: &str) -> String {
    let line = line.trim();
    let unquoted = line.starts_with('"').then(|| serde_json::from_str(line).ok()).flatten();
    unquoted.unwrap_or_else(|| line.to_owned())
}

/// The JSON string that a line begins with, and the text behind it.
pub(super) fn leading_string(line: &str) -> Option<(String, &str)> {
    let mut strings = serde_json::Deserializer::from_str(line).into_iter::<String>();
    let text = strings.next()?.ok()?;
    Some((text, &line[strings.byte_offset()..]))
}

pub(super) fn is_plain(text: &str) -> bool {
    is_plain_value(text) && !is_numbered(text)
}

fn is_plain_value(text: &str) -> bool {
    let Some(first_char) = text.chars().next() else { return false };
    let begins_as_text = first_char.is_alphanumeric()
        || matches!(first_char, '/' | '.' | '@' | '(' | '$' | '…' | '`');
    begins_as_text && is_line(text) && !text.starts_with("```")
}

pub(super) fn is_line(text: &str) -> bool {
    text.trim() == text && !text.contains(char::is_control)
}

fn is_numbered(text: &str) -> bool {
    let tail = text.trim_start_matches(|char: char| char.is_ascii_digit());
    tail.len() < text.len() && tail.starts_with(['.', ')'])
}
