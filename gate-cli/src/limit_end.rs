//! The end of a client's limit, from the number or the words that state it.
//!
//! Sources of the words: Claude Code 1.0 to 2.1.330, Codex 0.169, Gemini CLI 0.61.

use gate_core::decide::iteration_facts::LimitNotice;
use jiff::civil::Date;
use jiff::fmt::strtime::{self, BrokenDownTime};
use jiff::tz::TimeZone;
use jiff::{Span, Timestamp, ToSpan, Zoned};

/// An end that has passed by so many minutes or less is now, not tomorrow: clients round it.
const ROUNDED_MINUTES: i64 = 10;

/// A later end was an earlier year's: the text is old. The longest limits are monthly.
const MAX_DAYS: i64 = 35;

/// The most words of an end, as in `3 days 4 hours 12 minutes`.
const MAX_WORDS: usize = 6;

const DATES: [&str; 7] = ["", "%a ", "%A ", "%b %d ", "%B %d ", "%b %d %Y ", "%B %d %Y "];
const TIMES: [&str; 6] = ["%I%p", "%I:%M%p", "%I %p", "%I:%M %p", "%H:%M", "%H:%M:%S"];

/// Abbreviations of zones that may stand in lower case; each names several zones or one of
/// two offsets.
const ABBREVIATIONS: [&str; 14] = [
    "pst", "pdt", "pt", "mst", "mdt", "cst", "cdt", "est", "edt", "bst", "cet", "cest", "ist",
    "jst",
];

/// The end of the limit: later than now, and in the zone of now if the text names none.
pub(crate) fn limit_end(limit: &LimitNotice, now: &Zoned) -> Option<Timestamp> {
    let end = match limit.resets_at {
        Some(seconds) => Timestamp::from_second(seconds).ok(),
        None => stated_end(&limit.text, now),
    };
    let latest = now.checked_add(MAX_DAYS.days()).ok()?.timestamp();
    end.filter(|end| now.timestamp() < *end && *end < latest)
}

/// The first end in a text: the words after each lead are tried.
fn stated_end(text: &str, now: &Zoned) -> Option<Timestamp> {
    let words: Vec<_> = text.split_whitespace().collect();
    (0..words.len()).find_map(|index| {
        let end_words = after_lead(&words[index..])?;
        match end_words.first()?.to_ascii_lowercase().as_str() {
            "in" | "after" => after_duration(&end_words[1..], now),
            "at" | "on" => moment(&end_words[1..], now),
            _ => moment(end_words, now),
        }
    })
}

/// The words after `resets`, `try again` or `retry`, if the words begin with one of these.
fn after_lead<'w, 't>(words: &'w [&'t str]) -> Option<&'w [&'t str]> {
    match words[0].trim_start_matches('(').to_ascii_lowercase().as_str() {
        "reset" | "resets" | "retry" => Some(&words[1..]),
        "try" if words.get(1)?.eq_ignore_ascii_case("again") => Some(&words[2..]),
        _ => None,
    }
}

/// Now and `2 hours`, `3 days 4 hours` or `13h20m5s`: as many words as are a duration.
fn after_duration(words: &[&str], now: &Zoned) -> Option<Timestamp> {
    prefixes(words).find_map(|Prefix { text, .. }| {
        // `15:30:00` could be a time of the day.
        let span: Span = if text.contains(':') { None } else { text.parse().ok() }?;
        Some(now.checked_add(span).ok()?.timestamp())
    })
}

/// `2am (Europe/Oslo)`, `Mon 9am`, `Oct 6, 2pm` or `Dec 11th, 2026 3:42 PM`: as many words as
/// are a date and a time. Fewer would leave out `pm` if the zone is not known.
fn moment(words: &[&str], now: &Zoned) -> Option<Timestamp> {
    let (stated, words_after) = prefixes(words).find_map(|Prefix { text, words_after }| {
        let mut formats =
            DATES.iter().flat_map(|date| TIMES.iter().map(move |time| format!("{date}{time}")));
        let stated = formats.find_map(|format| strtime::parse(format, &text).ok())?;
        Some((stated, words_after))
    })?;
    next_moment(&stated, &now.with_time_zone(zone(words_after, now)?))
}

/// The beginning of some words.
struct Prefix<'w, 't> {
    /// Its words without commas, full stops, `at` and the ends of ordinal numbers.
    text: String,
    words_after: &'w [&'t str],
}

/// The beginnings of the words, the longest first.
fn prefixes<'w, 't>(words: &'w [&'t str]) -> impl Iterator<Item = Prefix<'w, 't>> {
    (1..=words.len().min(MAX_WORDS)).rev().map(|count| {
        let bare_words =
            words[..count].iter().map(|word| bare_word(word)).filter(|word| *word != "at");
        Prefix { text: bare_words.collect::<Vec<_>>().join(" "), words_after: &words[count..] }
    })
}

/// A word without punctuation, and a number without its ordinal ending.
fn bare_word(word: &str) -> &str {
    let word = word.trim_end_matches(['.', ',', ';', '!', ')']);
    match word {
        "a.m" | "A.M" => return "am",
        "p.m" | "P.M" => return "pm",
        _ => {}
    }
    let number = word.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    match &word[number.len()..] {
        "st" | "nd" | "rd" | "th" if !number.is_empty() => number,
        _ => word,
    }
}

/// The zone that the words after a time name, else the one of now; `None` if gate does not know the
/// zone.
fn zone(words: &[&str], now: &Zoned) -> Option<TimeZone> {
    let Some(word) = words.first() else { return Some(now.time_zone().clone()) };
    let name = word.trim_matches(['(', ')', '.', ',', ';']);
    let is_offset = name.contains(['+', '-']) && name.contains(|c: char| c.is_ascii_digit());
    // `Pacific Time`
    let is_in_words = words.get(1).is_some_and(|word| bare_word(word).eq_ignore_ascii_case("time"));
    match name.to_ascii_lowercase().as_str() {
        "utc" | "gmt" => Some(TimeZone::UTC),
        _ if word.starts_with('(') || name.contains('/') => TimeZone::get(name).ok(),
        lower_name if ABBREVIATIONS.contains(&lower_name) || is_offset || is_in_words => None,
        // Several zones share an abbreviation such as IST.
        _ if name.len() > 1 && name.chars().all(|c| c.is_ascii_uppercase()) => None,
        _ => Some(now.time_zone().clone()),
    }
}

/// The next moment with the stated date and time, in the zone of now.
fn next_moment(stated: &BrokenDownTime, now: &Zoned) -> Option<Timestamp> {
    let time = stated.to_time().ok()?;
    let earliest = now.checked_sub(ROUNDED_MINUTES.minutes()).ok()?;
    let first_date = earliest.date();
    let moment = |date: Date| date.to_datetime(time).to_zoned(now.time_zone().clone()).ok();
    let is_next = |moment: &Zoned| *moment >= earliest;
    let end = match (stated.month(), stated.day(), stated.weekday()) {
        (Some(month), Some(day), _) => {
            let years = match stated.year() {
                Some(year) => year..=year,
                None => first_date.year()..=first_date.year() + 1,
            };
            let dates = years.filter_map(|year| Date::new(year, month, day).ok());
            dates.filter_map(moment).find(is_next)
        }
        (_, _, weekday) => {
            // On the first day the time may have passed, so a week is not enough.
            let next_days = first_date.series(1.day()).take(9);
            let dates = next_days.filter(|date| weekday.is_none_or(|day| date.weekday() == day));
            dates.filter_map(moment).find(is_next)
        }
    };
    Some(end?.timestamp())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The end that a text states on Saturday the 28th, at 16:30 in Berlin.
    fn end(text: &str) -> Option<String> {
        let now: Zoned = "2026-11-28T16:30:00[Europe/Berlin]".parse().expect("a moment");
        let limit = LimitNotice { text: text.to_owned(), resets_at: None };
        limit_end(&limit, &now).map(|end| end.to_string())
    }

    #[track_caller]
    fn check(text: &str, expected: &str) {
        assert_eq!(end(text).as_deref(), Some(expected), "{text}");
    }

    #[test]
    fn the_next_moment_of_a_time() {
        check("You've hit your limit · resets 2am (America/Sao_Paulo)", "2026-11-29T05:00:00Z");
        check("You've hit your session limit · resets 5:45pm", "2026-11-28T16:45:00Z");
        check("5-hour limit reached ∙ resets 2am", "2026-11-29T01:00:00Z");
        check("Your limit will reset at 7pm.", "2026-11-28T18:00:00Z");
        check("resets at 17:00 (UTC)", "2026-11-28T17:00:00Z");
        check("Access resets at 5:00 PM UTC.", "2026-11-28T17:00:00Z");
        check("You've hit your usage limit. Try again at 3:42 PM.", "2026-11-29T14:42:00Z");
        check("resets 12am", "2026-11-28T23:00:00Z");
        check("resets 5:00 p.m.", "2026-11-28T16:00:00Z");
        check("(it resets at 5:00 pm)", "2026-11-28T16:00:00Z");
        check("5-hour limit reached (resets 5pm)", "2026-11-28T16:00:00Z");
        check("resets 17:00:00 utc", "2026-11-28T17:00:00Z");
        check("resets 5:00 PM America/New_York", "2026-11-28T22:00:00Z");
    }

    #[test]
    fn the_next_moment_of_a_day() {
        check("Weekly limit reached · resets Mon 9am", "2026-11-30T08:00:00Z");
        check("resets Sat 9am", "2026-12-05T08:00:00Z");
        check("Opus weekly limit reached ∙ resets Dec 6, 2pm", "2026-12-06T13:00:00Z");
        check("resets December 30 at 9am (UTC)", "2026-12-30T09:00:00Z");
        check("resets Monday 9am", "2026-11-30T08:00:00Z");
        check("Try again at Dec 11th, 2026 3:42 PM.", "2026-12-11T14:42:00Z");
    }

    #[test]
    fn a_duration_from_now() {
        check("Upgrade to continue, or try again in 2 hours.", "2026-11-28T17:30:00Z");
        check("try again in 3 days 4 hours 12 minutes.", "2026-12-01T19:42:00Z");
        check("Your quota will reset after 13h20m5s.", "2026-11-29T04:50:05Z");
        check("Please retry in 45s", "2026-11-28T15:30:45Z");
    }

    #[test]
    fn texts_without_an_end_that_is_known_and_to_come() {
        for text in [
            "You have reached your limit. Try again later.",
            "resets soon",
            "resets 5",
            "resets 2am (Middle/Earth)",
            "resets at 5:00 pm (Middle/Earth)",
            "Access resets at 5:00 PM PST",
            "resets 5:00 pm pst",
            "resets 5:00 PM GMT+2",
            "resets 5:00 PM Pacific Time",
            "try again after 15:30:00",
            "resets Oct 6, 2pm",
            "resets 4:25pm",
            "resets Oct 6, 2025 2pm",
            "resets at 25:00",
            "try again in 99999999999999999999 hours",
            "retry",
            "try",
        ] {
            assert_eq!(end(text), None, "{text}");
        }
    }

    #[test]
    fn an_end_that_has_just_passed_is_not_the_next_days_or_years() {
        for (now, text) in [
            ("2026-11-28T00:00:20[Europe/Berlin]", "resets 11:59pm"),
            ("2026-11-28T00:05:00[Europe/Berlin]", "resets 11:58pm"),
            ("2027-01-01T00:00:20[Europe/Berlin]", "resets Dec 31, 11:59pm"),
            ("2026-11-28T02:00:20[Europe/Berlin]", "resets 2am"),
        ] {
            let limit = LimitNotice { text: text.to_owned(), resets_at: None };
            let now: Zoned = now.parse().expect("a moment");
            assert_eq!(limit_end(&limit, &now), None, "{text}");
        }
    }

    #[test]
    fn a_number_comes_first_and_has_to_be_later_than_now() {
        let now = Timestamp::from_second(1_755_800_000).expect("a time").to_zoned(TimeZone::UTC);
        let limit = |seconds| LimitNotice {
            text: "limit, resets 2am".to_owned(),
            resets_at: Some(seconds),
        };
        let end = limit_end(&limit(1_755_806_400), &now).map(Timestamp::as_second);
        assert_eq!(end, Some(1_755_806_400));
        assert_eq!(limit_end(&limit(1_755_700_000), &now), None);
    }
}
