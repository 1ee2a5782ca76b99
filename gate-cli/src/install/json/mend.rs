//! A document without the parts that a client's reader stumbles over.

use super::Dialect;

/// A document on its way through the reader's rules.
struct Mended {
    text: String,
    /// Byte of the last comma, if only white space and comments follow so far.
    comma: Option<usize>,
}

impl Dialect {
    /// The text without the comments, trailing commas and byte order mark that this
    /// reader does not read. A line that held a comment alone goes with it.
    pub(in super::super) fn mended(self, text: &str) -> String {
        let mut unread = match self.byte_order_mark {
            true => text,
            false => text.trim_start_matches('\u{feff}'),
        };
        let mut mended = Mended { text: String::new(), comma: None };
        while let Some(first) = unread.chars().next() {
            let length = match first {
                '"' => mended.push_value(&unread[..string_length(unread)]),
                '/' if unread.starts_with("//") => {
                    let length = unread.find(['\r', '\n']).unwrap_or(unread.len());
                    self.comment(&mut mended, unread, length)
                }
                '/' if unread.starts_with("/*") => {
                    let length = unread.find("*/").map_or(unread.len(), |index| index + 2);
                    self.comment(&mut mended, unread, length)
                }
                ',' => {
                    mended.comma = Some(mended.text.len());
                    mended.push(",")
                }
                '}' | ']' => {
                    if let Some(comma) = mended.comma
                        && !self.trailing_commas
                    {
                        mended.text.remove(comma);
                    }
                    mended.push_value(&unread[..1])
                }
                c if c.is_whitespace() => mended.push(&unread[..c.len_utf8()]),
                c => mended.push_value(&unread[..c.len_utf8()]),
            };
            unread = &unread[length..];
        }
        mended.text
    }

    /// Keeps or drops a comment of this length. Returns the length of the text that is dealt with: a
    /// line that held the comment alone goes with its line break.
    fn comment(self, mended: &mut Mended, unread: &str, length: usize) -> usize {
        if self.comments {
            return mended.push(&unread[..length]);
        }
        let blanks = [' ', '\t'];
        let line_start = mended.text.rfind('\n').map_or(0, |index| index + 1);
        let is_alone = mended.text[line_start..].chars().all(|c| blanks.contains(&c));
        let text_after = unread[length..].trim_start_matches(blanks);
        let newline = ["\r\n", "\n"].into_iter().find(|newline| text_after.starts_with(newline));
        match newline {
            Some(newline) if is_alone => {
                mended.text.truncate(line_start);
                unread.len() - text_after.len() + newline.len()
            }
            _ => {
                // At a line's end, the blanks before the comment would be left.
                if newline.is_some() || text_after.is_empty() {
                    let length_without_blanks = mended.text.trim_end_matches(blanks).len();
                    mended.text.truncate(length_without_blanks.max(line_start));
                }
                length
            }
        }
    }
}

impl Mended {
    fn push(&mut self, text: &str) -> usize {
        self.text.push_str(text);
        text.len()
    }

    fn push_value(&mut self, text: &str) -> usize {
        self.comma = None;
        self.push(text)
    }
}

/// The length of the string that a text begins with.
fn string_length(text: &str) -> usize {
    let mut is_escaped = false;
    let closing_quote = text.char_indices().skip(1).find(|&(_, c)| {
        let is_end = c == '"' && !is_escaped;
        is_escaped = c == '\\' && !is_escaped;
        is_end
    });
    closing_quote.map_or(text.len(), |(index, _)| index + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check_mended(text: &str, expected: &str) {
        assert_eq!(Dialect::PLAIN.mended(text), expected);
        assert!(Dialect::PLAIN.unread(expected).is_none(), "{expected}");
        assert_eq!(Dialect::ANY.mended(text), text);
    }

    #[test]
    fn comments_and_trailing_commas_go_and_the_rest_stays() {
        check_mended("{}", "{}");
        check_mended("{ // mine\n}\n", "{\n}\n");
        check_mended("// mine\n{\n\t// why\n\t\"a\": 1\n}", "{\n\t\"a\": 1\n}");
        check_mended("{\"a\": [1, 2,], /* b */ \"c\": {},\n}", "{\"a\": [1, 2],  \"c\": {}\n}");
        check_mended("{\r\n  \"a\": 1, // one\r\n}\r\n", "{\r\n  \"a\": 1\r\n}\r\n");
        check_mended("{\"a\": 1, /* , */\n// }\n}", "{\"a\": 1\n}");
        check_mended("\u{feff}{}", "{}");
        check_mended("{} // mine", "{}");
    }

    #[test]
    fn what_stands_in_a_string_is_neither() {
        check_mended(
            r#"{"u": "http://x/*,]", "q": "\"//,}"}"#,
            r#"{"u": "http://x/*,]", "q": "\"//,}"}"#,
        );
        check_mended(r#"{"b": "\\", }"#, r#"{"b": "\\" }"#);
    }

    #[test]
    fn what_the_reader_reads_stays() {
        let text = "{ // mine\n\"a\": 1, // why\n}";
        assert_eq!(Dialect::COMMENTED.mended(text), "{ // mine\n\"a\": 1 // why\n}");
        assert_eq!(Dialect::MARKED.mended("\u{feff}{}"), "\u{feff}{}");
    }
}
