//! The text of a settings file.

use std::path::Path;

use super::json::Flaw;
use crate::failure::Failure;

pub(super) const BOM: char = '\u{feff}';

/// The text of a file. Fails on bytes that are not UTF-8.
pub(super) fn decode(file: &Path, bytes: Option<&[u8]>) -> Result<Option<String>, Failure> {
    let text = bytes.map(|bytes| String::from_utf8(bytes.to_owned())).transpose();
    text.map_err(|error| {
        let valid = &bytes.unwrap_or_default()[..error.utf8_error().valid_up_to()];
        let line = valid.iter().filter(|&&byte| byte == b'\n').count() + 1;
        let message = "it is not UTF-8".to_owned();
        broken_settings(file, Flaw { line, key: None, message })
    })
}

/// A byte order mark, and the text behind it.
pub(super) fn split_mark(text: &str) -> (&str, &str) {
    text.split_at(if text.starts_with(BOM) { BOM.len_utf8() } else { 0 })
}

/// Settings that the person has to put right first.
pub(super) fn broken_settings(file: &Path, flaw: Flaw) -> Failure {
    let Flaw { line, key, message } = flaw;
    // The file is named in front of a message that has a key.
    let file = file.display().to_string();
    let place = if key.is_some() { format!("line {line}") } else { format!("{file}, line {line}") };
    let message = format!("{place}: {message}; nothing was changed");
    let failure = Failure::usage("settings-broken", message);
    Failure { file: Some(file), line: Some(line), key, ..failure }
}
