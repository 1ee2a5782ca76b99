//! A part of a whole with the interval that so few observations allow.

use std::fmt;

use schemars::JsonSchema;
use serde::Serialize;

/// The 97.5 % quantile of the normal distribution: intervals hold in 95 of 100 cases.
const Z: f64 = 1.959_964;

/// A part of a whole, with its Wilson interval at 95 %.
///
/// Wilson (1927), "Probable inference, the law of succession, and statistical inference".
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Share {
    /// The number of those that count.
    pub part: u64,
    /// The number of all.
    pub whole: u64,
    /// Their ratio, from 0 to 1.
    pub share: f64,
    /// The lower end of the interval.
    pub low: f64,
    /// The upper end of the interval.
    pub high: f64,
}

impl Share {
    /// A share; none of an empty whole.
    pub fn new(part: u64, whole: u64) -> Option<Self> {
        if whole == 0 {
            return None;
        }
        let (n, share) = (whole as f64, part as f64 / whole as f64);
        let spread = Z * Z / n;
        let middle = share + spread / 2.0;
        let half = Z * (share * (1.0 - share) / n + spread / (4.0 * n)).sqrt();
        let end = |value: f64| (value / (1.0 + spread)).clamp(0.0, 1.0);
        Some(Self { part, whole, share, low: end(middle - half), high: end(middle + half) })
    }

    /// The share alone, rounded; 100 % and 0 % only if nothing is missing.
    pub fn percent(&self) -> String {
        let rounded = (self.share * 100.0).round();
        let percent = match (self.part, rounded as u64) {
            (part, 100) if part < self.whole => 99,
            (1.., 0) => 1,
            (_, percent) => percent,
        };
        format!("{percent} %")
    }
}

impl fmt::Display for Share {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (low, high) = (self.low * 100.0, self.high * 100.0);
        write!(f, "{} ({} of {}; {low:.0}–{high:.0} %)", self.percent(), self.part, self.whole)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(part: u64, whole: u64, shown: &str) {
        assert_eq!(Share::new(part, whole).unwrap().to_string(), shown);
    }

    #[test]
    fn the_interval_is_wilsons() {
        check(10, 10, "100 % (10 of 10; 72–100 %)");
        check(0, 10, "0 % (0 of 10; 0–28 %)");
        check(128, 412, "31 % (128 of 412; 27–36 %)");
        check(150, 150, "100 % (150 of 150; 98–100 %)");
        assert_eq!(Share::new(0, 0), None);
    }

    #[test]
    fn all_but_one_is_not_shown_as_all() {
        check(999, 1_000, "99 % (999 of 1000; 99–100 %)");
        check(1, 1_000, "1 % (1 of 1000; 0–1 %)");
    }
}
