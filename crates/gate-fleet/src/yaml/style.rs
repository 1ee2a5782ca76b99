//! Spelling of scalars: plain if possible, else in quotes.

use crate::tree::is_null;

/// A scalar's spelling. `is_text`: it must not be taken for anything but text.
pub(super) fn spelled(text: &str, is_text: bool) -> String {
    if !is_text && can_stand_plain(text) {
        text.to_owned()
    } else if is_something_else(text) || !is_printable(text) {
        double(text)
    } else if can_stand_plain(text) {
        text.to_owned()
    } else {
        format!("'{}'", text.replace('\'', "''"))
    }
}

fn is_something_else(text: &str) -> bool {
    is_null(text)
        || text == "<<"
        || is_bool(text)
        || is_number(text)
        || is_sexagesimal(text)
        || is_moment(text)
}

/// True and false, in the spellings of all versions of YAML.
fn is_bool(text: &str) -> bool {
    let spellings = ["y", "yes", "on", "true", "n", "no", "off", "false"];
    spellings.into_iter().any(|lower| {
        let capital = lower[..1].to_ascii_uppercase() + &lower[1..];
        text == lower || text == capital || text == lower.to_ascii_uppercase()
    })
}

fn is_number(text: &str) -> bool {
    let unsigned = text.strip_prefix(['-', '+']).unwrap_or(text);
    if matches!(unsigned, ".inf" | ".Inf" | ".INF") || matches!(text, ".nan" | ".NaN" | ".NAN") {
        return true;
    }
    let digits = unsigned.replace('_', "");
    if !unsigned.starts_with(begins_number) {
        return false;
    }
    based(&digits).unwrap_or_else(|| digits.parse::<f64>().is_ok())
}

fn begins_number(c: char) -> bool {
    c.is_ascii_digit() || c == '.'
}

/// True if a text with a prefix for its base is a number in it.
fn based(digits: &str) -> Option<bool> {
    let lower = digits.to_ascii_lowercase();
    let bases = [("0x", 16), ("0o", 8), ("0b", 2)];
    let (rest, base) =
        bases.iter().find_map(|(prefix, base)| Some((lower.strip_prefix(prefix)?, *base)))?;
    Some(!rest.is_empty() && rest.chars().all(|c| c.is_digit(base)))
}

fn is_digits(part: &str) -> bool {
    part.bytes().all(|byte| byte.is_ascii_digit())
}

/// Numbers to the base of sixty, as times of day look like.
fn is_sexagesimal(text: &str) -> bool {
    let unsigned = text.strip_prefix(['-', '+']).unwrap_or(text);
    let Some((head, rest)) = unsigned.split_once(':') else { return false };
    let (rest, part) = rest.split_once('.').unwrap_or((rest, ""));
    head.starts_with(|c: char| c.is_ascii_digit())
        && is_grouped_digits(head)
        && rest.split(':').all(is_sixtieth)
        && is_grouped_digits(part)
}

/// A digit, or a number below sixty with two.
fn is_sixtieth(part: &str) -> bool {
    is_digits(part) && (part.len() == 1 || matches!(part.as_bytes(), [b'0'..=b'5', _]))
}

fn is_grouped_digits(part: &str) -> bool {
    part.bytes().all(|byte| byte.is_ascii_digit() || byte == b'_')
}

/// A date, alone or with a time: a cautious guess, for one too many quoted text
/// is no harm.
fn is_moment(text: &str) -> bool {
    let (date, clock) = text.split_once(['T', 't', ' ']).unwrap_or((text, "0:0:0"));
    let date: Vec<_> = date.split('-').collect();
    let is_date = match date[..] {
        [year, month, day] => {
            year.len() == 4
                && matches!((month.len(), day.len()), (1..=2, 1..=2))
                && [year, month, day].into_iter().all(is_digits)
        }
        _ => false,
    };
    let is_clock = clock.split(':').count() >= 3 || clock == "0:0:0";
    is_date && is_clock && clock.trim().bytes().all(in_clock)
}

fn in_clock(byte: u8) -> bool {
    byte.is_ascii_digit() || b":.+-Zz".contains(&byte)
}

fn can_stand_plain(text: &str) -> bool {
    let Some(first) = text.chars().next() else { return false };
    let opens = match first {
        '#' | ',' | '[' | ']' | '{' | '}' | '&' | '*' | '!' | '|' | '>' | '\'' | '"' | '%'
        | '@' | '`' | ' ' => false,
        '?' | ':' | '-' => !is_before_blank(text),
        _ => true,
    };
    let colon = text.match_indices(':').any(|(at, _)| is_before_blank(&text[at..]));
    let marks = text.starts_with("---") || text.starts_with("...");
    opens && !marks && !colon && !text.contains(" #") && !text.ends_with(' ') && is_printable(text)
}

/// True if a blank or nothing follows the first character.
fn is_before_blank(text: &str) -> bool {
    text.chars().nth(1).is_none_or(|c| c == ' ')
}

fn is_printable(text: &str) -> bool {
    text.chars().all(|c| !needs_escape(c))
}

/// True for a character that needs an escape. yaml.v3 escapes those beyond 16 bits too.
fn needs_escape(c: char) -> bool {
    let breaks = matches!(c, '\u{85}' | '\u{2028}' | '\u{2029}');
    let none = matches!(c, '\u{feff}' | '\u{fffe}' | '\u{ffff}');
    c.is_control() || breaks || none || c > '\u{ffff}'
}

fn double(text: &str) -> String {
    let mut out = String::from("\"");
    text.chars().for_each(|c| escaped(&mut out, c));
    out.push('"');
    out
}

fn escaped(out: &mut String, c: char) {
    let short = match c {
        '\0' => "\\0",
        '\u{7}' => "\\a",
        '\u{8}' => "\\b",
        '\t' => "\\t",
        '\n' => "\\n",
        '\u{b}' => "\\v",
        '\u{c}' => "\\f",
        '\r' => "\\r",
        '\u{1b}' => "\\e",
        '"' => "\\\"",
        '\\' => "\\\\",
        '\u{85}' => "\\N",
        '\u{2028}' => "\\L",
        '\u{2029}' => "\\P",
        _ if needs_escape(c) => return out.push_str(&numbered(c)),
        _ => return out.push(c),
    };
    out.push_str(short);
}

fn numbered(c: char) -> String {
    match u32::from(c) {
        code @ ..=0xff => format!("\\x{code:02X}"),
        code @ ..=0xffff => format!("\\u{code:04X}"),
        code => format!("\\U{code:08X}"),
    }
}
