//! Halves of characters: JavaScript writes `\\ud83d` alone where it has cut a
//! text within an emoji, and no JSON reader takes it.

/// The JSON with a replacement character for each half without its other half;
/// `None` if there is none.
pub(super) fn mend(json: &str) -> Option<String> {
    let mut mended = String::new();
    let (mut uncopied, mut at) = (0, 0);
    while let Some(distance) = memchr::memchr(b'\\', &json.as_bytes()[at..]) {
        let escape = at + distance;
        at = match half(json, escape) {
            None => escape + 2,
            Some(Half::First) if half(json, escape + 6) == Some(Half::Second) => escape + 12,
            Some(_) => {
                mended.push_str(&json[uncopied..escape]);
                mended.push('\u{fffd}');
                uncopied = escape + 6;
                uncopied
            }
        };
        if at >= json.len() {
            break;
        }
    }
    (uncopied > 0).then(|| mended + &json[uncopied..])
}

#[derive(PartialEq, Eq)]
enum Half {
    First,
    Second,
}

/// The half that the escape at this place stands for, if any.
fn half(json: &str, at: usize) -> Option<Half> {
    let digits = json.get(at..at + 6)?.strip_prefix("\\u")?;
    match u16::from_str_radix(digits, 16).ok()? {
        0xd800..=0xdbff => Some(Half::First),
        0xdc00..=0xdfff => Some(Half::Second),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::mend;

    #[test]
    fn halves_alone_are_replaced() {
        for (json, expected) in [
            (r#""a \ud83d""#, "\"a \u{fffd}\""),
            (r#""\uDE00\uD83Dx""#, "\"\u{fffd}\u{fffd}x\""),
            (r#""\ud83d\ud83d\ude00""#, "\"\u{fffd}\\ud83d\\ude00\""),
        ] {
            assert_eq!(mend(json).as_deref(), Some(expected), "{json}");
        }
        for json in [r#""\ud83d\ude00""#, r#""\\ud83d""#, r#""é \u0041 \ud8""#, "", "\\"] {
            assert_eq!(mend(json), None, "{json}");
        }
    }
}
