//! Reads the values of fields: nothing left, a part of the work, a placeholder, a failure.

use crate::decide::expression::Expression;
use crate::decide::language::{Kind, Language};

/// A value without the marks and symbols around it: bold, code, quotes, emoji,
/// a closing mark.
pub(super) fn undecorated(value: &str) -> &str {
    value
        .trim_start_matches(is_decoration)
        .trim_end_matches(|c| is_decoration(c) || matches!(c, '.' | '!' | ','))
}

fn is_decoration(c: char) -> bool {
    c.is_whitespace() || matches!(c, '*' | '`' | '"' | '\'' | '_') || is_symbol(c)
}

/// An emoji or another pictorial symbol.
fn is_symbol(c: char) -> bool {
    !c.is_ascii() && !c.is_alphanumeric() && !matches!(c, '…' | '‹' | '›' | '«' | '»' | '“' | '”')
}

/// The first word of a value, and what follows it.
pub(super) fn split_word(value: &str) -> (&str, &str) {
    let start = value.len() - value.trim_start_matches(|c: char| !c.is_alphanumeric()).len();
    let value = &value[start..];
    let end = value.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(value.len());
    value.split_at(end)
}

/// A placeholder, or a choice such as `COMPLETE|CONTINUE`.
pub(super) fn is_placeholder(value: &str) -> bool {
    let value = value.trim();
    let is_bracketed = value.starts_with('[') && value.ends_with(']');
    is_bracketed || is_blank_form(value) || CHOICE.is_match(value)
}

/// A form that the agent was to fill in: `{…}`, `<…>`, `[this|that]`, `...`. `[]`, `{}` and
/// lists are values.
pub(super) fn is_blank_form(value: &str) -> bool {
    let value = value.trim().trim_matches(['"', '\'']);
    let is_question = value.contains('|') || FORM_QUESTION.is_match(value);
    is_enclosed(value, '{', '}')
        || is_enclosed(value, '<', '>')
        || (is_enclosed(value, '[', ']') && is_question)
        || matches!(value, "..." | "…")
}

fn is_enclosed(value: &str, open: char, close: char) -> bool {
    value.len() > 2 && value.starts_with(open) && value.ends_with(close)
}

/// A text that says that nothing remains. The text after the "none" must be harmless:
/// if work is named there, work remains.
pub(super) fn is_nothing(language: &Language, value: &str) -> bool {
    let bare_value = undecorated(value.trim_start().trim_start_matches("- "));
    let inner = bare_value.strip_prefix('(').and_then(|text| text.strip_suffix(')'));
    let text = inner.unwrap_or(bare_value);
    // "None implemented" begins with a word for nothing, and says the opposite.
    if language.matches(Kind::Undone, text) {
        return false;
    }
    let head_length = language.head_length(Kind::None, text);
    let comment = &text[head_length..];
    (head_length > 0 || text.is_empty() || matches!(text, "-" | "[]" | "{}"))
        && (comment.trim().is_empty() || language.matches(Kind::Harmless, comment))
}

/// The comment after a value takes back a part of the value.
pub(super) fn is_partial(language: &Language, comment: &str) -> bool {
    let failures = language.without(Kind::Excused, comment);
    if language.matches(Kind::Undone, comment) || language.matches(Kind::Failures, &failures) {
        return true;
    }
    // "No blockers" denies no part of the claim.
    let comment = language.without(Kind::Absence, comment);
    let kinds = [Kind::Negation, Kind::Exception, Kind::Part];
    kinds.iter().any(|kind| language.matches(*kind, &comment)) || has_open_fraction(&comment)
}

/// A fraction such as "3 of 8" or "3/8" leaves something open.
pub(super) fn has_open_fraction(text: &str) -> bool {
    has_digit(text)
        && FRACTION.find_iter(text).any(|fraction| {
            let numbers = text[fraction].split(|c: char| !c.is_ascii_digit());
            let numbers: Vec<u64> = numbers.filter_map(|number| number.parse().ok()).collect();
            matches!(numbers[..], [count, total] if count < total)
        })
}

/// Fractions are looked for in texts with a digit alone: an expression takes long to compile.
pub(super) fn has_digit(text: &str) -> bool {
    text.bytes().any(|byte| byte.is_ascii_digit())
}

/// The reported state of the tests is not a pass.
pub(super) fn is_failing(language: &Language, tests: &str) -> bool {
    let unexcused = language.without(Kind::Excused, tests);
    language.matches(Kind::Failing, tests)
        || language.matches(Kind::Failures, &unexcused)
        || has_open_fraction(&unexcused)
}

pub(super) fn differ<'v>(mut values: impl Iterator<Item = &'v str>) -> bool {
    values.next().is_some_and(|first| values.any(|value| !value.eq_ignore_ascii_case(first)))
}

/// A question in brackets that a form asks.
static FORM_QUESTION: Expression = Expression::new(
    r"^\[(?:why|reason|explanation|explain|describe|description|text|summary|your|one|a|short|brief|what|list)\b[^\]]*\]$",
);

static CHOICE: Expression = Expression::new(r"^[\x22'{<\[]*[\w-]+\s*(?:\||/|\bor\b)\s*[\w-]+");

static FRACTION: Expression = Expression::new(r"\b\d+\s*(?:/|of)\s*\d+\b");

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_remains() {
        for text in [
            "none",
            "None.",
            "N/A",
            "",
            "[]",
            "none (all criteria met)",
            "Nothing - all stories done",
            "None ✅",
            "No work remaining",
            "No further work required",
            "none identified",
            "None at this time",
            "0 stories",
            "0/12",
            "all done",
            "none (only optional ideas)",
            "(none)",
            "none, ready for review",
            "None at all",
            "There is none",
            "None - all items in fix_plan.md are checked off",
            "nothing left to be done",
            "None, everything is implemented and tested",
            "All work is complete",
            "- none",
            "0 tasks",
            "无",
            "no remaining work",
        ] {
            assert!(is_nothing(&Language::default(), text), "{text}");
        }
        for text in [
            "the docs",
            "none, except the docs",
            "none, tests failing",
            "None. US-5 needs the API key",
            "nothing (besides CI)",
            "none of the tests were run",
            "3 tasks",
            "none (US-5 moved)",
            "No acceptance criteria met",
            "Nothing is done",
            "None implemented",
            "zero tests pass",
            "none, only tests",
        ] {
            assert!(!is_nothing(&Language::default(), text), "{text}");
        }
    }

    #[test]
    fn a_part() {
        for text in [
            "(phase 1 of 3)",
            "- 3/8 stories",
            "?",
            "(not verified)",
            "once the tests pass",
            "for this story",
            "(5 tasks remain)",
            "(no tests pass)",
            "(nothing works yet)",
            "(0 of 5 stories)",
            "(3 tests fail)",
        ] {
            assert!(is_partial(&Language::default(), text), "{text}");
        }
        for text in [
            "(no remaining work)",
            "(verification only)",
            ", no blockers",
            "- nothing pending",
            "(0 of 5 remaining)",
            "(fixed 3 failing tests)",
            "(after full verification)",
            "(12/12)",
        ] {
            assert!(!is_partial(&Language::default(), text), "{text}");
        }
    }

    #[test]
    fn failing_tests() {
        for text in [
            "FAILING",
            "FAILING (unrelated)",
            "12 failed, 36 passed",
            "5 of 8 passing",
            "PASSING except e2e",
            "NOT PASSING",
            "309/312 passing",
            "FAILING (3 failed in core, 0 failed in cli)",
            "0/12 passing",
            "0 of 48 passed",
            "No tests pass",
            "PASSING (2 errors)",
            "❌ 3 tests",
            "MIXED",
            "PASSING with 2 known failures",
        ] {
            assert!(is_failing(&Language::default(), text), "{text}");
        }
        for text in [
            "PASSING",
            "NOT_RUN",
            "PASSING (fixed 3 failing tests)",
            "PASSING (0 failed)",
            "48 passing (2 failing pre-existing)",
            "312/312 passing",
            "PASSING (no tests failing)",
            "48 passed, 0 errors",
        ] {
            assert!(!is_failing(&Language::default(), text), "{text}");
        }
    }

    #[test]
    fn placeholders() {
        for value in [
            "COMPLETE|CONTINUE",
            "{COMPLETE}",
            "<status>",
            "[status]",
            "[why]",
            "true | false",
            "...",
        ] {
            assert!(is_placeholder(value), "{value}");
        }
        for form in ["[why]", "[yes|no]", "{one sentence}"] {
            assert!(is_blank_form(form), "{form}");
        }
        for value in ["[]", "{}", "[done]", "[src/a.rs, src/b.rs]"] {
            assert!(!is_blank_form(value), "{value}");
        }
    }
}
