//! Sizes of memory and disk: `"500 MB"`, `"4GB"`, `"20GiB"`.

use std::fmt;

use schemars::JsonSchema;
use serde::de::{self, Deserialize, Deserializer, Unexpected, Visitor};
use serde::{Serialize, Serializer};

/// A size in bytes.
///
/// Settings write it as a whole number with a unit, perhaps a space between: `KB`, `MB`,
/// `GB` and `TB` are powers of 1000, `KiB`, `MiB`, `GiB` and `TiB` powers of 1024; or as the
/// number 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, JsonSchema)]
#[schemars(with = "serde_json::Value", description = "", extend("anyOf" = serde_json::json!([
    { "type": "string", "pattern": r"^\d+ ?[KMGT]i?B$" },
    { "const": 0 },
])))]
pub struct ByteSize(pub u64);

/// The largest first, so that a size is written with the largest unit that fits.
const UNITS: [(&str, u64); 8] = [
    ("TiB", 1 << 40),
    ("TB", 1_000_000_000_000),
    ("GiB", 1 << 30),
    ("GB", 1_000_000_000),
    ("MiB", 1 << 20),
    ("MB", 1_000_000),
    ("KiB", 1 << 10),
    ("KB", 1_000),
];

impl ByteSize {
    /// Reads `"4GB"`; `None` if the text is anything else, or more than 2^64 bytes.
    pub fn parse(text: &str) -> Option<Self> {
        let (number, unit) = text.split_at(text.find(|c: char| !c.is_ascii_digit())?);
        let unit = unit.strip_prefix(' ').unwrap_or(unit);
        let (_, bytes) = UNITS.iter().find(|(name, _)| *name == unit)?;
        number.parse::<u64>().ok()?.checked_mul(*bytes).map(Self)
    }
}

impl fmt::Display for ByteSize {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let unit =
            UNITS.iter().find(|(_, bytes)| self.0 >= *bytes && self.0.is_multiple_of(*bytes));
        match unit {
            Some((name, bytes)) => write!(f, "{} {name}", self.0 / bytes),
            None => write!(f, "{} bytes", self.0),
        }
    }
}

impl Serialize for ByteSize {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.0 {
            0 => serializer.serialize_u64(0),
            _ => serializer.collect_str(self),
        }
    }
}

impl<'de> Deserialize<'de> for ByteSize {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(ByteSizeVisitor)
    }
}

struct ByteSizeVisitor;

impl Visitor<'_> for ByteSizeVisitor {
    type Value = ByteSize;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(r#"a size such as "500MB", "4GB" or "20GiB""#)
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<ByteSize, E> {
        ByteSize::parse(text).ok_or_else(|| E::invalid_value(Unexpected::Str(text), &self))
    }

    fn visit_i64<E: de::Error>(self, number: i64) -> Result<ByteSize, E> {
        match number {
            0 => Ok(ByteSize(0)),
            _ => Err(E::invalid_value(Unexpected::Signed(number), &self)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::ByteSize;

    #[test]
    fn a_whole_number_and_a_unit_are_read() {
        for (text, bytes) in [
            ("1KB", 1_000),
            ("500MB", 500_000_000),
            ("4GB", 4_000_000_000),
            ("4 GB", 4_000_000_000),
            ("20GiB", 20 << 30),
            ("2TB", 2_000_000_000_000),
            ("0GB", 0),
        ] {
            assert_eq!(ByteSize::parse(text), Some(ByteSize(bytes)), "{text}");
        }
    }

    #[test]
    fn texts_that_could_be_misread_are_refused() {
        for text in ["", "4", "GB", "4G", "4gb", "4 gb", "1.5GB", "-4GB", "4  GB", " 4GB", "4GB "] {
            assert_eq!(ByteSize::parse(text), None, "{text}");
        }
        assert_eq!(ByteSize::parse("99999999999TB"), None);
    }

    #[test]
    fn a_size_is_written_with_the_largest_unit_that_fits() {
        for text in ["4 GB", "4 GiB", "1500 MB", "1 KB", "2 TB"] {
            assert_eq!(ByteSize::parse(text).map(|size| size.to_string()).as_deref(), Some(text));
        }
        assert_eq!(ByteSize(7).to_string(), "7 bytes");
    }
}
