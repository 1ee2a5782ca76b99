//! When a limit ends, as clients' texts and records say it in numbers.
//!
//! Sources: Claude Code 1.0 to 2.1.330. Times in words need a clock and a zone.

/// When the limit ends, if the text says so in seconds or milliseconds
/// since 1970, as in `…limit reached|1755806400`.
pub fn resets_at(text: &str) -> Option<i64> {
    let (_, number) = text.trim().rsplit_once('|')?;
    epoch(number.trim().parse().ok()?)
}

/// Seconds since 1970, from seconds or milliseconds.
pub(super) fn epoch(number: i64) -> Option<i64> {
    match number {
        1_000_000_000..=9_999_999_999 => Some(number),
        1_000_000_000_000..=9_999_999_999_999 => Some(number / 1000),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::resets_at;

    #[test]
    fn reset_times_are_read_in_seconds_and_milliseconds() {
        assert_eq!(resets_at("Claude AI usage limit reached|1755806400"), Some(1_755_806_400));
        assert_eq!(resets_at("limit|1755806400123"), Some(1_755_806_400));
        assert_eq!(resets_at("You've hit your limit · resets 5pm"), None);
    }
}
