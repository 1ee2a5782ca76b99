//! A text by what its characters are: code, strings, comments.
//!
//! A scanner of a few hundred lines for all languages, and no parser: it knows
//! quotes, comments and raw strings, not grammar. Where a file breaks the rules
//! of its language, or uses a form that is not known here, some of it is taken
//! for something else until the string or the line ends.

use std::ops::Range;

use serde::Deserialize;

use super::language::Language;

/// The class of a byte.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ByteClass {
    /// Code.
    Code,
    /// The beginning or the end of a string.
    Quote,
    /// In a string of one line.
    Text,
    /// In a string that goes on over lines.
    Long,
    /// In a comment.
    Comment,
}

/// A text with spaces in the place of its strings and comments: each byte of code stays where it is.
pub fn code_alone(text: &str, language: Language) -> String {
    let classes = SourceView::new(text, Some(language)).classes;
    let is_kept = |offset: usize, byte: u8| byte == b'\n' || classes[offset] == ByteClass::Code;
    let bytes = text.bytes().enumerate();
    let code =
        bytes.map(|(offset, byte)| if is_kept(offset, byte) { byte } else { b' ' }).collect();
    String::from_utf8(code).unwrap_or_default()
}

/// The part of a line that a rule looks at.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum LinePart {
    /// Code, with the quotes of strings and not what is in them.
    Code,
    /// Code with its strings of one line; within them no quotes.
    Text,
    /// Comments.
    Comment,
    /// The whole line.
    Any,
}

/// A text with the class of each byte.
#[derive(Debug)]
pub(super) struct SourceView<'t> {
    pub(super) text: &'t str,
    /// As many as the text has bytes.
    pub(super) classes: Vec<ByteClass>,
    /// The bytes of each line, without what ends it.
    line_spans: Vec<Range<usize>>,
}

impl<'t> SourceView<'t> {
    /// Classifies a text; one of no known language is code.
    pub(super) fn new(text: &'t str, language: Option<Language>) -> Self {
        let classes = match language {
            Some(language) => Scanner::new(text, language).scan(),
            None => vec![ByteClass::Code; text.len()],
        };
        let mut line_spans = Vec::new();
        let mut start = 0;
        for line in text.split_inclusive('\n') {
            line_spans.push(start..start + line.trim_end_matches(['\n', '\r']).len());
            start += line.len();
        }
        Self { text, classes, line_spans }
    }

    /// The number of lines.
    pub(super) fn line_count(&self) -> usize {
        self.line_spans.len()
    }

    /// A line as it stands, from 0.
    pub(super) fn line(&self, index: usize) -> &'t str {
        &self.text[self.line_span(index)]
    }

    /// The bytes of a line, without what ends it; behind the last line, the end of the text.
    pub(super) fn line_span(&self, index: usize) -> Range<usize> {
        let end = self.text.len();
        self.line_spans.get(index).cloned().unwrap_or(end..end)
    }

    /// The line that a byte stands in, from 0.
    pub(super) fn line_of(&self, offset: usize) -> usize {
        self.line_spans.partition_point(|span| span.start <= offset).saturating_sub(1)
    }

    /// A part of a line, with spaces in the place of the other characters.
    pub(super) fn part(&self, index: usize, part: LinePart) -> String {
        let span = self.line_span(index);
        let characters = self.text[span.clone()].char_indices();
        characters
            .map(|(offset, c)| {
                let class = self.classes[span.start + offset];
                if part.keeps(class, c) { c } else { ' ' }
            })
            .collect()
    }

    pub(super) fn is_code(&self, offset: usize) -> bool {
        self.classes.get(offset) == Some(&ByteClass::Code)
    }
}

impl LinePart {
    fn keeps(self, class: ByteClass, c: char) -> bool {
        match (self, class) {
            (Self::Any, _) | (Self::Code | Self::Text, ByteClass::Code | ByteClass::Quote) => true,
            // A quote of another kind within a string would look like the end of that string.
            (Self::Text, ByteClass::Text) => !matches!(c, '"' | '\'' | '`'),
            (Self::Comment, ByteClass::Comment) => true,
            _ => false,
        }
    }
}

/// Walks over a text once, and gives each byte its class.
struct Scanner<'t> {
    bytes: &'t [u8],
    language: Language,
    /// The classes of the bytes before `offset`.
    classes: Vec<ByteClass>,
    offset: usize,
}

impl<'t> Scanner<'t> {
    fn new(text: &'t str, language: Language) -> Self {
        let bytes = text.as_bytes();
        Self { bytes, language, classes: Vec::with_capacity(bytes.len()), offset: 0 }
    }

    fn scan(mut self) -> Vec<ByteClass> {
        while self.offset < self.bytes.len() {
            if !(self.scan_comment() || self.scan_string()) {
                self.push(1, ByteClass::Code);
            }
        }
        self.classes
    }

    fn push(&mut self, count: usize, class: ByteClass) {
        let count = count.min(self.bytes.len() - self.offset);
        self.classes.extend(std::iter::repeat_n(class, count));
        self.offset += count;
    }

    /// The bytes that have no class yet.
    fn remaining(&self) -> &'t [u8] {
        &self.bytes[self.offset..]
    }

    /// The byte in front of the offset; the text begins like a line.
    fn previous_byte(&self) -> u8 {
        self.offset.checked_sub(1).map_or(b'\n', |previous| self.bytes[previous])
    }

    fn bytes_to_line_end(&self) -> usize {
        let remaining = self.remaining();
        remaining.iter().position(|byte| *byte == b'\n').unwrap_or(remaining.len())
    }

    fn scan_comment(&mut self) -> bool {
        let (remaining, language) = (self.remaining(), self.language);
        if language.line_comments().iter().any(|mark| remaining.starts_with(mark.as_bytes())) {
            let begins_word =
                !language.wants_word_start() || self.previous_byte().is_ascii_whitespace();
            // An attribute of PHP begins like a comment, and so does the first line of a justfile's
            // recipe that names its interpreter.
            let is_look_alike = (language == Language::Php && remaining.starts_with(b"#["))
                || (language == Language::Make && remaining.starts_with(b"#!"));
            if begins_word && !is_look_alike {
                self.push(self.bytes_to_line_end(), ByteClass::Comment);
                return true;
            }
        }
        if language.has_block_comments() && remaining.starts_with(b"/*") {
            self.push(self.block_comment_length(), ByteClass::Comment);
            return true;
        }
        if language == Language::Ruby
            && self.previous_byte() == b'\n'
            && remaining.starts_with(b"=begin")
        {
            let end_mark = b"\n=end";
            let end = memchr::memmem::find(remaining, end_mark)
                .map_or(remaining.len(), |start| start + end_mark.len());
            self.push(end, ByteClass::Comment);
            return true;
        }
        false
    }

    /// The length of a comment in `/*` and `*/`.
    fn block_comment_length(&self) -> usize {
        let remaining = self.remaining();
        let (mut depth, mut at) = (0_usize, 0);
        while at < remaining.len() {
            if remaining[at..].starts_with(b"/*")
                && (depth == 0 || self.language.has_nested_comments())
            {
                depth += 1;
                at += 2;
            } else if remaining[at..].starts_with(b"*/") {
                depth -= 1;
                at += 2;
                if depth == 0 {
                    return at;
                }
            } else {
                at += 1;
            }
        }
        remaining.len()
    }

    fn scan_string(&mut self) -> bool {
        let remaining = self.remaining();
        let Some(&quote) = remaining.first() else { return false };
        // Before plain strings: the marks of these hold a quote, or stand in front of one.
        if self.scan_raw_string() || self.scan_heredoc() || self.scan_pattern() {
            return true;
        }
        let is_quote = matches!(quote, b'"' | b'\'')
            || (quote == b'`' && matches!(self.language, Language::Js | Language::Go));
        if !is_quote || self.is_lone_apostrophe(quote) {
            return false;
        }
        let triple_quote = [quote; 3];
        if self.language.has_triple_quotes()
            && quote != b'`'
            && remaining.starts_with(&triple_quote)
        {
            let end = self.end_of_string(&triple_quote, 3, true);
            self.push_string(3, end, &triple_quote, ByteClass::Long);
            return true;
        }
        let has_escapes = match self.language {
            Language::Go => quote != b'`',
            Language::Shell | Language::Yaml => quote != b'\'',
            _ => true,
        };
        let end = self.end_of_string(&[quote], 1, has_escapes);
        let line_end = self.bytes_to_line_end();
        if end > line_end && !self.language.has_multiline_strings(quote) {
            // The string does not end. A quote that was typed by mistake may not hide the code of
            // the lines below, so only the line's remainder is text.
            self.push(1, ByteClass::Quote);
            self.push(line_end.saturating_sub(1), ByteClass::Text);
            return true;
        }
        let class = if end > line_end { ByteClass::Long } else { ByteClass::Text };
        self.push_string(1, end, &[quote], class);
        true
    }

    /// A `'` that is a lifetime, a label or an apostrophe, and begins no string.
    fn is_lone_apostrophe(&self, quote: u8) -> bool {
        let remaining = self.remaining();
        if quote != b'\'' {
            return false;
        }
        match self.language {
            Language::Make => true,
            Language::Yaml => self.previous_byte().is_ascii_alphanumeric(),
            language if language.has_characters() => {
                // A character in UTF-8 has four bytes at most before its closing quote.
                let is_character = remaining.get(1) == Some(&b'\\')
                    || remaining.iter().skip(2).take(4).any(|byte| *byte == b'\'');
                // `'a, 'b` has a quote within reach, and is two lifetimes.
                let is_lifetime = remaining
                    .get(1)
                    .is_some_and(|byte| byte.is_ascii_alphabetic() || *byte == b'_')
                    && remaining.get(2) != Some(&b'\'');
                // C++ groups the digits of a number with it: `1'000`.
                !is_character || is_lifetime || self.previous_byte().is_ascii_digit()
            }
            _ => false,
        }
    }

    /// The end of the closing mark, from `start` on; that of the text if no closing mark follows.
    fn end_of_string(&self, closing: &[u8], start: usize, has_escapes: bool) -> usize {
        let remaining = self.remaining();
        let mut at = start;
        while at < remaining.len() {
            if has_escapes && remaining[at] == b'\\' {
                at += 2;
            } else if remaining[at..].starts_with(closing) {
                return at + closing.len();
            } else {
                at += 1;
            }
        }
        remaining.len()
    }

    /// Pushes a string that ends at `end`, with `opening_length` bytes of quotes in front of its text
    /// and the closing mark behind it, if it is there.
    fn push_string(&mut self, opening_length: usize, end: usize, closing: &[u8], class: ByteClass) {
        let remaining = self.remaining();
        let end = end.min(remaining.len()).max(opening_length);
        let is_closed = remaining[opening_length..end].ends_with(closing);
        let closing_length = if is_closed { closing.len() } else { 0 };
        self.push(opening_length, ByteClass::Quote);
        self.push(end - opening_length - closing_length, class);
        self.push(closing_length, ByteClass::Quote);
    }

    /// Rust's `r#"…"#`, C++'s `R"x(…)x"`, C#'s `@"…"`.
    fn scan_raw_string(&mut self) -> bool {
        let remaining = self.remaining();
        match (self.language, remaining[0]) {
            (Language::Rust, b'r')
                if !is_word(self.previous_byte()) || self.previous_byte() == b'b' =>
            {
                let hashes = remaining[1..].iter().take_while(|byte| **byte == b'#').count();
                if remaining.get(1 + hashes) != Some(&b'"') {
                    return false;
                }
                let opening_length = hashes + 2;
                let closing = [&b"\""[..], &b"#".repeat(hashes)].concat();
                let end = self.end_of_string(&closing, opening_length, false);
                let is_long = end > self.bytes_to_line_end();
                let class = if is_long { ByteClass::Long } else { ByteClass::Text };
                self.push_string(opening_length, end, &closing, class);
                true
            }
            (Language::C, b'R')
                if remaining.get(1) == Some(&b'"') && !is_word(self.previous_byte()) =>
            {
                // The standard allows a delimiter of sixteen characters.
                let Some(parenthesis) = remaining.iter().take(20).position(|byte| *byte == b'(')
                else {
                    return false;
                };
                let closing = [&b")"[..], &remaining[2..parenthesis], b"\""].concat();
                let end = self.end_of_string(&closing, parenthesis + 1, false);
                self.push_string(parenthesis + 1, end, &closing, ByteClass::Long);
                true
            }
            (Language::CSharp, b'@') if remaining.get(1) == Some(&b'"') => {
                let end = self.end_of_string(b"\"", 2, false);
                self.push_string(2, end, b"\"", ByteClass::Long);
                true
            }
            _ => false,
        }
    }

    /// A document within a script: what `<<NAME` begins.
    fn scan_heredoc(&mut self) -> bool {
        let remaining = self.remaining();
        // `<<<` is a string of one word in a shell; its last two signs begin no document.
        if !matches!(self.language, Language::Shell | Language::Ruby | Language::Php)
            || !remaining.starts_with(b"<<")
            || self.previous_byte() == b'<'
        {
            return false;
        }
        let name_start =
            2 + remaining[2..].iter().take_while(|byte| b"<-~'\"\\".contains(byte)).count();
        let name: Vec<u8> =
            remaining[name_start..].iter().copied().take_while(|byte| is_word(*byte)).collect();
        // `a << b` shifts or appends. So a name is in capitals, and outside of a shell it has a sign
        // of its own before it.
        let is_upper = name.first().is_some_and(u8::is_ascii_uppercase);
        if !is_upper || (self.language != Language::Shell && name_start == 2) {
            return false;
        }
        let line_end = self.bytes_to_line_end();
        let lines = remaining[line_end..].split_inclusive(|byte| *byte == b'\n').skip(1);
        let body_length: usize =
            lines.take_while(|line| !line.trim_ascii().starts_with(&name)).map(<[u8]>::len).sum();
        // The line that opens the document is code to its end: a command stands there.
        self.push(line_end, ByteClass::Code);
        self.push(1 + body_length, ByteClass::Long);
        true
    }

    /// A pattern between slashes, where JavaScript expects a value.
    fn scan_pattern(&mut self) -> bool {
        let remaining = self.remaining();
        if self.language != Language::Js || remaining[0] != b'/' {
            return false;
        }
        // After a value a slash divides. The last sign tells nearly always which of the two it is.
        let scanned = self.bytes[..self.offset].trim_ascii_end();
        let is_value_expected = match scanned.last() {
            None => true,
            Some(last) => b"(,=:[!&|?{};+".contains(last) || scanned.ends_with(b"return"),
        };
        let line_end = self.bytes_to_line_end();
        let (mut at, mut is_in_brackets) = (1, false);
        while is_value_expected && at < line_end {
            match remaining[at] {
                b'\\' => at += 1,
                b'[' => is_in_brackets = true,
                b']' => is_in_brackets = false,
                b'/' if !is_in_brackets => {
                    self.push_string(1, at + 1, b"/", ByteClass::Text);
                    return true;
                }
                _ => {}
            }
            at += 1;
        }
        false
    }
}

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(language: Language, text: &str, part: LinePart, expected: &str) {
        let view = SourceView::new(text, Some(language));
        assert_eq!(view.classes.len(), text.len());
        let lines: Vec<_> = (0..view.line_count()).map(|line| view.part(line, part)).collect();
        let squeezed: Vec<_> = lines
            .iter()
            .map(|line| line.split_whitespace().collect::<Vec<_>>().join(" "))
            .collect();
        assert_eq!(squeezed.join("|"), expected, "{text}");
    }

    #[test]
    fn code_stays_where_it_is() {
        let text = "a(\"é}\"); // }\nb /* } */ }";
        let code = code_alone(text, Language::Rust);
        assert_eq!(code, "a(     );     \nb         }");
        assert_eq!((code.len(), code.find('}')), (text.len(), text.rfind('}')));
    }

    #[test]
    fn code_is_neither_comment_nor_string() {
        use Language::{C, CSharp, Go, Js, Kotlin, Make, Php, Python, Ruby, Rust, Shell};
        for (language, text, expected) in [
            (Rust, "a(); // b()\n/* c /* d */ e */ f(\"g\")", "a();|f(\" \")"),
            (Rust, "fn a<'b>(c: &'b str) { '\"'; d }", "fn a<'b>(c: &'b str) { ' '; d }"),
            (Rust, "let a = r#\"b\" c\"#; d", "let a = r#\" \"#; d"),
            (Rust, "let a = \"b\n c\"; d", "let a = \"|\"; d"),
            (Python, "a = 'b' # c\n\"\"\"d\ne\"\"\"\nf", "a = ' '|\"\"\"|\"\"\"|f"),
            (Python, "a = 'it\\'s'; b", "a = ' '; b"),
            (Js, "a(`b\n${c}`); d // e", "a(`|`); d"),
            (Js, "a = /['\"]/; b('c')", "a = / /; b(' ')"),
            (Js, "a / b; c('d')", "a / b; c(' ')"),
            (Go, "a := `b\\`; c", "a := ` `; c"),
            (Kotlin, "val a = \"\"\"b\n\"c\" \"\"\"; d", "val a = \"\"\"|\"\"\"; d"),
            (CSharp, "var a = @\"b\\\"; c", "var a = @\" \"; c"),
            (Ruby, "a = \"b\" # c\n=begin\nd\n=end\ne", "a = \" \"||||e"),
            (Php, "#[A]\n$b = 'c'; # d", "#[A]|$b = ' ';"),
            (Shell, "a 'b' # c\nd#e ${#f}", "a ' '|d#e ${#f}"),
            (Shell, "cat <<EOF > a\nb || true\nEOF\nc", "cat <<EOF > a||EOF|c"),
            (Make, "a: # b\n\tit's c", "a:|it's c"),
            (C, "a = 'b'; c = \"d\\\"e\"; f", "a = ' '; c = \" \"; f"),
        ] {
            check(language, text, LinePart::Code, expected);
        }
    }

    #[test]
    fn a_quote_in_a_string_is_none() {
        check(Language::Python, "a = '\"b\" in c'", LinePart::Text, "a = ' b in c'");
        check(Language::Python, "\"b\" in c", LinePart::Text, "\"b\" in c");
        check(Language::Js, "a('b') // c 'd'", LinePart::Comment, "// c 'd'");
        check(Language::Js, "a('// b')", LinePart::Comment, "");
        check(Language::Rust, "/// a\nb", LinePart::Any, "/// a|b");
    }

    #[test]
    fn a_string_that_does_not_end_ends_with_its_line() {
        check(Language::Js, "a('b\nc()", LinePart::Code, "a('|c()");
        check(Language::Python, "a = \"\"\"b\nc", LinePart::Code, "a = \"\"\"|");
        check(Language::Rust, "/* a", LinePart::Code, "");
    }
}
