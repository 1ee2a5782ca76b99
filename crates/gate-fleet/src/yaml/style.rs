//! Spelling of scalars: plain if possible, else in quotes.

use crate::tree::is_null;

/// A scalar's spelling. With `is_text`, no reader may take it for anything but text.
pub(super) fn spelled(text: &str, is_text: bool) -> String {
    if !is_text && can_stand_plain(text) {
        text.to_owned()
    } else if looks_typed(text) || !is_printable(text) {
        double_quoted(text)
    } else if can_stand_plain(text) {
        text.to_owned()
    } else {
        format!("'{}'", text.replace('\'', "''"))
    }
}

/// A text that a reader would take for another type without its quotes.
fn looks_typed(text: &str) -> bool {
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
    spellings.into_iter().any(|word| {
        let capitalised = word[..1].to_ascii_uppercase() + &word[1..];
        text == word || text == capitalised || text == word.to_ascii_uppercase()
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
    is_number_in_base(&digits).unwrap_or_else(|| digits.parse::<f64>().is_ok())
}

fn begins_number(char: char) -> bool {
    char.is_ascii_digit() || char == '.'
}

/// A number in the base that its prefix names; `None` for a text without such a prefix.
fn is_number_in_base(text: &str) -> Option<bool> {
    let text = text.to_ascii_lowercase();
    let bases = [("0x", 16), ("0o", 8), ("0b", 2)];
    let (digits, base) =
        bases.iter().find_map(|(prefix, base)| Some((text.strip_prefix(prefix)?, *base)))?;
    Some(!digits.is_empty() && digits.chars().all(|char| char.is_digit(base)))
}

fn is_digits(part: &str) -> bool {
    part.bytes().all(|byte| byte.is_ascii_digit())
}

/// Numbers to the base of sixty, as times of day look like.
fn is_sexagesimal(text: &str) -> bool {
    let unsigned = text.strip_prefix(['-', '+']).unwrap_or(text);
    let Some((head, tail)) = unsigned.split_once(':') else { return false };
    let (sixtieths, fraction) = tail.split_once('.').unwrap_or((tail, ""));
    head.starts_with(|char: char| char.is_ascii_digit())
        && is_grouped_digits(head)
        && sixtieths.split(':').all(is_sixtieth)
        && is_grouped_digits(fraction)
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
    let is_date = match date.split('-').collect::<Vec<_>>()[..] {
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
    let Some(first_char) = text.chars().next() else { return false };
    let may_begin = match first_char {
        '#' | ',' | '[' | ']' | '{' | '}' | '&' | '*' | '!' | '|' | '>' | '\'' | '"' | '%'
        | '@' | '`' | ' ' => false,
        '?' | ':' | '-' => !is_before_blank(text),
        _ => true,
    };
    let has_key = text.match_indices(':').any(|(at, _)| is_before_blank(&text[at..]));
    let is_document_mark = text.starts_with("---") || text.starts_with("...");
    let has_comment = text.contains(" #");
    may_begin
        && !is_document_mark
        && !has_key
        && !has_comment
        && !text.ends_with(' ')
        && is_printable(text)
}

/// A text with a blank, or nothing, behind its first character.
fn is_before_blank(text: &str) -> bool {
    text.chars().nth(1).is_none_or(|char| char == ' ')
}

fn is_printable(text: &str) -> bool {
    !text.contains(needs_escape)
}

/// A character that needs an escape. yaml.v3 escapes those beyond 16 bits too.
fn needs_escape(char: char) -> bool {
    let breaks_line = matches!(char, '\u{85}' | '\u{2028}' | '\u{2029}');
    let is_no_character = matches!(char, '\u{feff}' | '\u{fffe}' | '\u{ffff}');
    char.is_control() || breaks_line || is_no_character || char > '\u{ffff}'
}

fn double_quoted(text: &str) -> String {
    let mut quoted = String::from("\"");
    text.chars().for_each(|char| push_escaped(&mut quoted, char));
    quoted.push('"');
    quoted
}

fn push_escaped(quoted: &mut String, char: char) {
    let short_escape = match char {
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
        _ if needs_escape(char) => return quoted.push_str(&numbered_escape(char)),
        _ => return quoted.push(char),
    };
    quoted.push_str(short_escape);
}

fn numbered_escape(char: char) -> String {
    match u32::from(char) {
        code @ ..=0xff => format!("\\x{code:02X}"),
        code @ ..=0xffff => format!("\\u{code:04X}"),
        code => format!("\\U{code:08X}"),
    }
}
