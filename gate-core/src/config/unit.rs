//! Values with a unit: lengths of time (`"1h30m"`), sizes (`"4GB"`), amounts of money.

use std::fmt;

use schemars::JsonSchema;
use serde::de::{self, Deserialize, Deserializer, Unexpected, Visitor};
use serde::{Serialize, Serializer};

/// A length of time in milliseconds.
///
/// Settings write it as whole numbers with the units `d`, `h`, `m`, `s` and
/// `ms`, the largest first, each at most once; or as the number 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, JsonSchema)]
#[schemars(with = "serde_json::Value", description = "", extend("anyOf" = serde_json::json!([
    { "type": "string", "pattern": r"^(?=\d)(\d+d)?(\d+h)?(\d+m)?(\d+s)?(\d+ms)?$" },
    { "const": 0 },
])))]
pub struct Millis(pub u64);

const TIMES: [(&str, u64); 5] =
    [("d", 86_400_000), ("h", 3_600_000), ("m", 60_000), ("s", 1_000), ("ms", 1)];

impl Millis {
    /// Reads `"1h30m"`; `None` for any other text.
    pub fn parse(text: &str) -> Option<Self> {
        let mut unread = text;
        let mut units = TIMES.as_slice();
        let mut total = 0_u64;
        while !unread.is_empty() || units.len() == TIMES.len() {
            let unit_start = unread.find(|char: char| !char.is_ascii_digit())?;
            let (number, from_unit) = unread.split_at(unit_start);
            let unit_end = from_unit.find(|char: char| char.is_ascii_digit());
            let (unit, tail) = from_unit.split_at(unit_end.unwrap_or(from_unit.len()));
            let rank = units.iter().position(|(name, _)| *name == unit)?;
            let (_, length) = units[rank];
            total = total.checked_add(number.parse::<u64>().ok()?.checked_mul(length)?)?;
            unread = tail;
            // Only smaller units may follow.
            units = &units[rank + 1..];
        }
        Some(Self(total))
    }
}

impl From<Millis> for u64 {
    fn from(millis: Millis) -> Self {
        millis.0
    }
}

impl fmt::Display for Millis {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut unread = self.0;
        for (unit, length) in TIMES {
            if unread >= length {
                write!(f, "{}{unit}", unread / length)?;
                unread %= length;
            }
        }
        if self.0 == 0 { f.write_str("0s") } else { Ok(()) }
    }
}

impl Serialize for Millis {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

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
const SIZES: [(&str, u64); 8] = [
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
    /// Reads `"4GB"`; `None` for any other text, and for more than 2^64 bytes.
    pub fn parse(text: &str) -> Option<Self> {
        let (number, unit) = text.split_at(text.find(|char: char| !char.is_ascii_digit())?);
        let unit = unit.strip_prefix(' ').unwrap_or(unit);
        let (_, bytes) = SIZES.iter().find(|(name, _)| *name == unit)?;
        number.parse::<u64>().ok()?.checked_mul(*bytes).map(Self)
    }
}

impl From<ByteSize> for Option<u64> {
    fn from(size: ByteSize) -> Self {
        Some(size.0)
    }
}

impl fmt::Display for ByteSize {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let unit =
            SIZES.iter().find(|(_, bytes)| self.0 >= *bytes && self.0.is_multiple_of(*bytes));
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

/// Reads a text with a unit, or the number 0.
struct WithUnit<T> {
    expected: &'static str,
    parse: fn(&str) -> Option<T>,
    zero: T,
}

impl<T> Visitor<'_> for WithUnit<T> {
    type Value = T;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.expected)
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<T, E> {
        (self.parse)(text).ok_or_else(|| E::invalid_value(Unexpected::Str(text), &self))
    }

    fn visit_i64<E: de::Error>(self, number: i64) -> Result<T, E> {
        match number {
            0 => Ok(self.zero),
            _ => Err(E::invalid_value(Unexpected::Signed(number), &self)),
        }
    }
}

impl<'de> Deserialize<'de> for Millis {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let expected = r#"a length of time such as "30s", "10m" or "1h30m""#;
        deserializer.deserialize_any(WithUnit { expected, parse: Self::parse, zero: Self(0) })
    }
}

impl<'de> Deserialize<'de> for ByteSize {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let expected = r#"a size such as "500MB", "4GB" or "20GiB""#;
        deserializer.deserialize_any(WithUnit { expected, parse: Self::parse, zero: Self(0) })
    }
}

/// An amount of US dollars.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, serde::Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct Dollars(pub f64);

impl From<Dollars> for u64 {
    /// Micro-dollars.
    fn from(amount: Dollars) -> Self {
        (amount.0 * 1e6).round() as Self
    }
}

#[cfg(test)]
mod tests {
    use super::{ByteSize, Millis};

    fn check(text: &str, expected: Option<u64>) {
        assert_eq!(Millis::parse(text).map(|millis| millis.0), expected, "{text:?}");
    }

    #[test]
    fn reads_whole_units_in_order() {
        check("30s", Some(30_000));
        check("10m", Some(600_000));
        check("1h30m", Some(5_400_000));
        check("1d2h3m4s5ms", Some(93_784_005));
        check("250ms", Some(250));
        check("0s", Some(0));
    }

    #[test]
    fn refuses_what_could_be_misread() {
        for text in [
            "",
            "10",
            "m",
            "10 m",
            "-5m",
            "1.5h",
            "30m1h",
            "5m5m",
            "10min",
            "1h30",
            "１m",
            " 5m",
            "5M",
            "99999999999999999999s",
            "18446744073709551615d",
        ] {
            check(text, None);
        }
    }

    #[test]
    fn writes_what_it_reads() {
        for text in ["30s", "10m", "1h30m", "1d2h3m4s5ms", "250ms", "0s"] {
            assert_eq!(Millis::parse(text).map(|m| m.to_string()).as_deref(), Some(text));
        }
        assert_eq!(Millis(90_000).to_string(), "1m30s");
    }

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
