//! Control characters in JSON strings: some writers leave line breaks as they are, and no JSON
//! reader takes them.

/// The JSON with an escape for each control character in a string; `None` if there is none.
pub(super) fn escape(json: &str) -> Option<String> {
    let mut escaped = String::new();
    let (mut from, mut in_string, mut after_backslash) = (0, false, false);
    for (at, byte) in json.bytes().enumerate() {
        let is_escape = std::mem::take(&mut after_backslash);
        match byte {
            b'"' if !is_escape => in_string = !in_string,
            b'\\' if in_string && !is_escape => after_backslash = true,
            0..0x20 if in_string => {
                escaped.push_str(&json[from..at]);
                escaped.push_str(match byte {
                    // The backslash stands already.
                    _ if is_escape => "n",
                    b'\n' => "\\n",
                    b'\t' => "\\t",
                    _ => " ",
                });
                from = at + 1;
            }
            _ => {}
        }
    }
    (from > 0).then(|| escaped + &json[from..])
}

#[cfg(test)]
mod tests {
    use super::escape;

    #[test]
    fn control_characters_in_strings_are_escaped() {
        for (json, expected) in [
            ("{\"a\":\"b\n\nc\"}", r#"{"a":"b\n\nc"}"#),
            ("{\n\"a\":\"\\\"\tb\r\n\"\n}", "{\n\"a\":\"\\\"\\tb \\n\"\n}"),
            ("[\"b\\\nc\\\\\n\"]", r#"["b\nc\\\n"]"#),
        ] {
            assert_eq!(escape(json).as_deref(), Some(expected), "{json}");
        }
        for json in ["{\n\t\"a\": 1\n}", r#"{"a":"\n"}"#, ""] {
            assert_eq!(escape(json), None, "{json}");
        }
    }
}
