//! Control characters in JSON strings: some writers leave line breaks as they are, and no JSON
//! reader takes them.

/// The JSON with an escape for each control character in a string; `None` if there is none.
pub(super) fn escape(json: &str) -> Option<String> {
    let mut escaped = String::new();
    let mut uncopied = 0;
    let mut in_string = false;
    let mut after_backslash = false;
    for (at, byte) in json.bytes().enumerate() {
        let is_escaped = std::mem::take(&mut after_backslash);
        match byte {
            b'"' if !is_escaped => in_string = !in_string,
            b'\\' if in_string && !is_escaped => after_backslash = true,
            0..0x20 if in_string => {
                escaped.push_str(&json[uncopied..at]);
                escaped.push_str(match byte {
                    // The backslash before it was copied already.
                    _ if is_escaped => "n",
                    b'\n' => "\\n",
                    b'\t' => "\\t",
                    _ => " ",
                });
                uncopied = at + 1;
            }
            _ => {}
        }
    }
    (uncopied > 0).then(|| escaped + &json[uncopied..])
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
