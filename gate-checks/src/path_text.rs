//! Paths in JSON. A path that is no text is written as a character that no path contains, and the
//! hexadecimal digits of its bytes.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use gate_platform::{OsStrExt, OsStringExt};
use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// The first character of the text of a path that is no text.
const BYTES: char = '\0';

/// The text of a path.
pub fn text(path: &Path) -> String {
    match path.to_str() {
        Some(text) => text.to_owned(),
        None => {
            let digits = path.as_os_str().as_bytes().iter().map(|byte| format!("{byte:02x}"));
            digits.fold(String::from(BYTES), |text, digits| text + &digits)
        }
    }
}

/// The path of a text; `None` if [`text`] does not write such a text.
pub fn path(text: &str) -> Option<PathBuf> {
    let Some(digits) = text.strip_prefix(BYTES) else { return Some(text.into()) };
    let mut bytes = Vec::with_capacity(digits.len() / 2);
    for pair in digits.as_bytes().chunks(2) {
        bytes.push(u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok()?);
    }
    let path = PathBuf::from(OsString::from_vec(bytes));
    // Each path has one text: digits of a path that is text are refused.
    (self::text(&path) == text).then_some(path)
}

/// Writes a path.
///
/// # Errors
///
/// The serializer's.
pub fn serialize<S: Serializer>(path: &Path, serializer: S) -> Result<S::Ok, S::Error> {
    text(path).serialize(serializer)
}

/// Reads a path.
///
/// # Errors
///
/// The deserializer's, and a text that is of no path.
pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<PathBuf, D::Error> {
    let text = String::deserialize(deserializer)?;
    path(&text).ok_or_else(|| D::Error::custom("no path"))
}

/// A path that may be missing, in JSON.
pub mod optional {
    use super::{Deserialize, Deserializer, Error, Path, PathBuf, Serialize, Serializer};

    /// Writes a path, or null.
    ///
    /// # Errors
    ///
    /// The serializer's.
    pub fn serialize<S: Serializer>(
        path: &Option<PathBuf>,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        path.as_deref().map(|path: &Path| super::text(path)).serialize(serializer)
    }

    /// Reads a path, or null.
    ///
    /// # Errors
    ///
    /// The deserializer's, and a text that is of no path.
    pub fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Option<PathBuf>, D::Error> {
        let text = Option::<String>::deserialize(deserializer)?;
        text.map(|text| super::path(&text).ok_or_else(|| D::Error::custom("no path"))).transpose()
    }
}

/// Several paths in JSON.
pub mod list {
    use super::{Deserialize, Deserializer, Error, PathBuf, Serialize, Serializer};

    /// Writes paths.
    ///
    /// # Errors
    ///
    /// The serializer's.
    pub fn serialize<S: Serializer>(paths: &[PathBuf], serializer: S) -> Result<S::Ok, S::Error> {
        let texts = paths.iter().map(|path| super::text(path)).collect::<Vec<_>>();
        texts.serialize(serializer)
    }

    /// Reads paths.
    ///
    /// # Errors
    ///
    /// The deserializer's, and a text that is of no path.
    pub fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Vec<PathBuf>, D::Error> {
        let texts = Vec::<String>::deserialize(deserializer)?;
        let paths = texts.iter().map(|text| super::path(text));
        paths.collect::<Option<_>>().ok_or_else(|| D::Error::custom("no path"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_path_comes_back_as_it_was() {
        for bytes in [&b"/a/b"[..], b"", b"caf\xc3\xa9", b"caf\xe9/\x01", b"\xff"] {
            let path = PathBuf::from(OsString::from_vec(bytes.to_owned()));
            assert_eq!(super::path(&text(&path)), Some(path));
        }
        assert_eq!(text(Path::new("/a/b")), "/a/b");
    }

    #[test]
    fn digits_that_are_of_no_path_or_of_one_that_is_text_are_refused() {
        for digits in ["", "zz", "f", "fff", "+f", "FF", "61", "ff\u{e9}"] {
            assert_eq!(path(&format!("\0{digits}")), None, "{digits}");
        }
    }
}
