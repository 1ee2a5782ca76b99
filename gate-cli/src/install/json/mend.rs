//! A document without what a client's reader stumbles over.

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
        let mark = text.starts_with('\u{feff}') && !self.mark;
        let mut rest = if mark { text.trim_start_matches('\u{feff}') } else { text };
        let mut mended = Mended { text: String::new(), comma: None };
        while let Some(first) = rest.chars().next() {
            let length = match first {
                '"' => mended.value(&rest[..string(rest)]),
                '/' if rest.starts_with("//") => {
                    let length = rest.find(['\r', '\n']).unwrap_or(rest.len());
                    self.comment(&mut mended, rest, length)
                }
                '/' if rest.starts_with("/*") => {
                    let length = rest.find("*/").map_or(rest.len(), |at| at + 2);
                    self.comment(&mut mended, rest, length)
                }
                ',' => {
                    mended.comma = Some(mended.text.len());
                    mended.push(",")
                }
                '}' | ']' => {
                    if let Some(comma) = mended.comma
                        && !self.commas
                    {
                        mended.text.remove(comma);
                    }
                    mended.value(&rest[..1])
                }
                c if c.is_whitespace() => mended.push(&rest[..c.len_utf8()]),
                c => mended.value(&rest[..c.len_utf8()]),
            };
            rest = &rest[length..];
        }
        mended.text
    }

    /// A comment of this length, and how much of the text is behind then.
    fn comment(self, mended: &mut Mended, rest: &str, length: usize) -> usize {
        if self.comments {
            return mended.push(&rest[..length]);
        }
        let blank = [' ', '\t'];
        let line = mended.text.rfind('\n').map_or(0, |at| at + 1);
        let is_alone = mended.text[line..].chars().all(|c| blank.contains(&c));
        let end = rest[length..].trim_start_matches(blank);
        let newline = ["\r\n", "\n"].into_iter().find(|newline| end.starts_with(newline));
        match newline {
            Some(newline) if is_alone => {
                mended.text.truncate(line);
                rest.len() - end.len() + newline.len()
            }
            _ => {
                let kept = mended.text.trim_end_matches(blank).len();
                if newline.is_some() || end.is_empty() {
                    mended.text.truncate(kept.max(line));
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

    fn value(&mut self, text: &str) -> usize {
        self.comma = None;
        self.push(text)
    }
}

/// The length of the string that a text begins with.
fn string(text: &str) -> usize {
    let mut escaped = false;
    let end = text.char_indices().skip(1).find(|&(_, c)| {
        let ends = c == '"' && !escaped;
        escaped = c == '\\' && !escaped;
        ends
    });
    end.map_or(text.len(), |(at, _)| at + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn mended(text: &str, expected: &str) {
        assert_eq!(Dialect::PLAIN.mended(text), expected);
        assert!(Dialect::PLAIN.unread(expected).is_none(), "{expected}");
        assert_eq!(Dialect::ANY.mended(text), text);
    }

    #[test]
    fn comments_and_trailing_commas_go_and_the_rest_stays() {
        mended("{}", "{}");
        mended("{ // mine\n}\n", "{\n}\n");
        mended("// mine\n{\n\t// why\n\t\"a\": 1\n}", "{\n\t\"a\": 1\n}");
        mended("{\"a\": [1, 2,], /* b */ \"c\": {},\n}", "{\"a\": [1, 2],  \"c\": {}\n}");
        mended("{\r\n  \"a\": 1, // one\r\n}\r\n", "{\r\n  \"a\": 1\r\n}\r\n");
        mended("{\"a\": 1, /* , */\n// }\n}", "{\"a\": 1\n}");
        mended("\u{feff}{}", "{}");
        mended("{} // mine", "{}");
    }

    #[test]
    fn what_stands_in_a_string_is_neither() {
        mended(
            r#"{"u": "http://x/*,]", "q": "\"//,}"}"#,
            r#"{"u": "http://x/*,]", "q": "\"//,}"}"#,
        );
        mended(r#"{"b": "\\", }"#, r#"{"b": "\\" }"#);
    }

    #[test]
    fn what_the_reader_reads_stays() {
        let text = "{ // mine\n\"a\": 1, // why\n}";
        assert_eq!(Dialect::COMMENTED.mended(text), "{ // mine\n\"a\": 1 // why\n}");
        assert_eq!(Dialect::MARKED.mended("\u{feff}{}"), "\u{feff}{}");
    }
}
