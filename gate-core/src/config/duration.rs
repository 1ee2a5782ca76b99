//! Lengths of time: `"30s"`, `"10m"`, `"1h30m"`.

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

const UNITS: [(&str, u64); 5] =
    [("d", 86_400_000), ("h", 3_600_000), ("m", 60_000), ("s", 1_000), ("ms", 1)];

impl Millis {
    /// Reads `"1h30m"`; none where the text is anything else.
    pub fn parse(text: &str) -> Option<Self> {
        let (mut rest, mut units, mut total) = (text, UNITS.as_slice(), 0_u64);
        while !rest.is_empty() || units.len() == UNITS.len() {
            let (number, after) = rest.split_at(rest.find(|c: char| !c.is_ascii_digit())?);
            let (unit, after) =
                after.split_at(after.find(|c: char| c.is_ascii_digit()).unwrap_or(after.len()));
            let at = units.iter().position(|(name, _)| *name == unit)?;
            total = total.checked_add(number.parse::<u64>().ok()?.checked_mul(units[at].1)?)?;
            (rest, units) = (after, &units[at + 1..]);
        }
        Some(Self(total))
    }
}

impl fmt::Display for Millis {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut rest = self.0;
        for (unit, length) in UNITS {
            if rest >= length {
                write!(f, "{}{unit}", rest / length)?;
                rest %= length;
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

impl<'de> Deserialize<'de> for Millis {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(MillisVisitor)
    }
}

struct MillisVisitor;

impl Visitor<'_> for MillisVisitor {
    type Value = Millis;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(r#"a length of time such as "30s", "10m" or "1h30m""#)
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<Millis, E> {
        Millis::parse(text).ok_or_else(|| E::invalid_value(Unexpected::Str(text), &self))
    }

    fn visit_i64<E: de::Error>(self, number: i64) -> Result<Millis, E> {
        match number {
            0 => Ok(Millis(0)),
            _ => Err(E::invalid_value(Unexpected::Signed(number), &self)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Millis;

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
}
