//! How clients word a rate or usage limit.
//!
//! Sources: Claude Code 1.0 to 2.1.330, Codex 0.169, OpenCode 1.18. Two
//! strengths: [`notice`] must not take an agent's prose about limits for the
//! client's word, [`mentioned`] is asked only about texts that are errors.

/// How a client begins a message that is nothing but a limit notice.
const NOTICES: [&str; 9] = [
    "you've hit your",
    "you've reached your",
    "you're out of extra usage",
    "claude ai usage limit reached",
    "claude usage limit reached",
    "5-hour limit reached",
    "session limit reached",
    "weekly limit reached",
    "api error: request rejected (429)",
];

/// What an error that is a limit contains.
const MENTIONS: [&str; 10] = [
    "rate limit",
    "rate_limit",
    "ratelimit",
    "usage limit",
    "limit reached",
    "hit your",
    "too many requests",
    "overloaded",
    "quota",
    "resets at",
];

/// The longest notice, in bytes; a longer text is somebody's prose.
const MAX_NOTICE: usize = 300;

/// Whether the text is, as a whole, a client's notice of a limit.
pub(super) fn notice(text: &str) -> bool {
    let text = text.trim();
    if text.len() > MAX_NOTICE || text.lines().count() > 2 {
        return false;
    }
    let text = text.to_lowercase().replace('\u{2019}', "'");
    NOTICES.iter().any(|notice| text.starts_with(notice))
}

/// Whether an error's text speaks of a limit.
pub(super) fn mentioned(error: &str) -> bool {
    let error = error.to_lowercase();
    MENTIONS.iter().any(|mention| error.contains(mention))
        || error.split(|c: char| !c.is_alphanumeric()).any(|word| matches!(word, "429" | "529"))
}

/// When the limit ends, where the text says so in seconds or milliseconds
/// since 1970, as in `…limit reached|1755806400`.
pub(super) fn resets_at(text: &str) -> Option<i64> {
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
    use super::*;

    #[test]
    fn a_notice_is_told_from_prose() {
        for notices in [
            "You've hit your limit · resets 5pm (Europe/Berlin)",
            "You\u{2019}ve hit your session limit · resets 3:30pm",
            "Claude AI usage limit reached|1755806400",
            "5-hour limit reached ∙ resets 2am",
        ] {
            assert!(notice(notices), "{notices}");
        }
        for prose in [
            "I added the message \"You've hit your limit\" to the page.",
            "Rate limiting works. All tasks are complete.",
            "You've hit your goal!\nAll tests pass.\nEXIT_SIGNAL: true",
        ] {
            assert!(!notice(prose), "{prose}");
        }
    }

    #[test]
    fn an_error_may_mention_one() {
        assert!(mentioned("exceeded retry limit, last status: 429 Too Many Requests"));
        assert!(mentioned("API Error: 529 Overloaded"));
        assert!(!mentioned("API Error: 400 prompt rejected after 1429 ms"));
    }

    #[test]
    fn reset_times_are_read_in_seconds_and_milliseconds() {
        assert_eq!(resets_at("Claude AI usage limit reached|1755806400"), Some(1_755_806_400));
        assert_eq!(resets_at("limit|1755806400123"), Some(1_755_806_400));
        assert_eq!(resets_at("You've hit your limit · resets 5pm"), None);
    }
}
