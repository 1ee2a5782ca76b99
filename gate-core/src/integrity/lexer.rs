//! A text by what its characters are: code, strings, comments.
//!
//! A scanner of a hundred lines for all languages, and no parser: it knows
//! quotes, comments and raw strings, not grammar. Where a file breaks the rules
//! of its language, or uses a form that is not known here, some of it is taken
//! for something else until the string or the line ends.

use serde::Deserialize;

use super::language::Language;

/// The class of a byte.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Class {
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
    let classes = View::new(text, Some(language)).classes;
    let is_kept = |at: usize, byte: u8| byte == b'\n' || classes[at] == Class::Code;
    let bytes = text.bytes().enumerate();
    let code = bytes.map(|(at, byte)| if is_kept(at, byte) { byte } else { b' ' }).collect();
    String::from_utf8(code).unwrap_or_default()
}

/// The part of a line that a rule looks at.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Part {
    /// Code, with the quotes of strings and not what is in them.
    Code,
    /// Code with its strings of one line; within them no quotes.
    Text,
    /// Comments.
    Comment,
    /// All of it.
    Any,
}

/// A text and what its bytes are.
#[derive(Debug)]
pub(super) struct View<'t> {
    pub(super) text: &'t str,
    pub(super) classes: Vec<Class>,
    lines: Vec<(usize, usize)>,
}

impl<'t> View<'t> {
    /// Looks at a text; one of no known language is code.
    pub(super) fn new(text: &'t str, language: Option<Language>) -> Self {
        let classes = match language {
            Some(language) => Scanner::new(text, language).scan(),
            None => vec![Class::Code; text.len()],
        };
        let mut lines = Vec::new();
        let mut at = 0;
        for line in text.split_inclusive('\n') {
            let end = at + line.trim_end_matches(['\n', '\r']).len();
            lines.push((at, end));
            at += line.len();
        }
        Self { text, classes, lines }
    }

    /// The number of lines.
    pub(super) fn len(&self) -> usize {
        self.lines.len()
    }

    /// A line as it stands, from 0.
    pub(super) fn line(&self, index: usize) -> &'t str {
        let (from, to) = self.range(index);
        &self.text[from..to]
    }

    /// The bytes at which a line begins and ends.
    pub(super) fn range(&self, index: usize) -> (usize, usize) {
        self.lines.get(index).copied().unwrap_or((self.text.len(), self.text.len()))
    }

    /// The line that a byte stands in, from 0.
    pub(super) fn line_of(&self, at: usize) -> usize {
        self.lines.partition_point(|(from, _)| *from <= at).saturating_sub(1)
    }

    /// A part of a line, with spaces in the place of the rest.
    pub(super) fn part(&self, index: usize, part: Part) -> String {
        let (from, to) = self.range(index);
        let line = self.text[from..to].char_indices();
        line.map(|(at, c)| if part.keeps(self.classes[from + at], c) { c } else { ' ' }).collect()
    }

    pub(super) fn is_code(&self, at: usize) -> bool {
        self.classes.get(at) == Some(&Class::Code)
    }
}

impl Part {
    fn keeps(self, class: Class, c: char) -> bool {
        match (self, class) {
            (Self::Any, _) | (Self::Code | Self::Text, Class::Code | Class::Quote) => true,
            (Self::Text, Class::Text) => !matches!(c, '"' | '\'' | '`'),
            (Self::Comment, Class::Comment) => true,
            _ => false,
        }
    }
}

struct Scanner<'t> {
    bytes: &'t [u8],
    language: Language,
    classes: Vec<Class>,
    at: usize,
}

impl<'t> Scanner<'t> {
    fn new(text: &'t str, language: Language) -> Self {
        let bytes = text.as_bytes();
        Self { bytes, language, classes: Vec::with_capacity(bytes.len()), at: 0 }
    }

    fn scan(mut self) -> Vec<Class> {
        while self.at < self.bytes.len() {
            if !(self.comment() || self.string()) {
                self.push(1, Class::Code);
            }
        }
        self.classes
    }

    fn push(&mut self, bytes: usize, class: Class) {
        let bytes = bytes.min(self.bytes.len() - self.at);
        self.classes.extend(std::iter::repeat_n(class, bytes));
        self.at += bytes;
    }

    fn rest(&self) -> &'t [u8] {
        &self.bytes[self.at..]
    }

    fn before(&self) -> u8 {
        self.at.checked_sub(1).map_or(b'\n', |at| self.bytes[at])
    }

    fn to_line_end(&self) -> usize {
        let rest = self.rest();
        rest.iter().position(|byte| *byte == b'\n').unwrap_or(rest.len())
    }

    fn comment(&mut self) -> bool {
        let (rest, language) = (self.rest(), self.language);
        if language.line_comments().iter().any(|mark| rest.starts_with(mark.as_bytes())) {
            let whole = !language.words() || self.before().is_ascii_whitespace();
            // A PHP attribute and a Rust one are none; nor is `://`.
            let is_other = (language == Language::Php && rest.starts_with(b"#["))
                || (language == Language::Make && rest.starts_with(b"#!"));
            if whole && !is_other {
                self.push(self.to_line_end(), Class::Comment);
                return true;
            }
        }
        if language.has_blocks() && rest.starts_with(b"/*") {
            self.push(self.block(), Class::Comment);
            return true;
        }
        if language == Language::Ruby && self.before() == b'\n' && rest.starts_with(b"=begin") {
            let end = find(rest, b"\n=end").map_or(rest.len(), |at| at + 5);
            self.push(end, Class::Comment);
            return true;
        }
        false
    }

    /// The length of a comment in `/*` and `*/`.
    fn block(&self) -> usize {
        let rest = self.rest();
        let (mut depth, mut at) = (0_usize, 0);
        while at < rest.len() {
            if rest[at..].starts_with(b"/*") && (depth == 0 || self.language.nests()) {
                depth += 1;
                at += 2;
            } else if rest[at..].starts_with(b"*/") {
                depth -= 1;
                at += 2;
                if depth == 0 {
                    return at;
                }
            } else {
                at += 1;
            }
        }
        rest.len()
    }

    fn string(&mut self) -> bool {
        let rest = self.rest();
        let Some(&quote) = rest.first() else { return false };
        if self.raw() || self.heredoc() || self.pattern() {
            return true;
        }
        let is_quote = matches!(quote, b'"' | b'\'')
            || (quote == b'`' && matches!(self.language, Language::Js | Language::Go));
        if !is_quote || self.is_no_string(quote) {
            return false;
        }
        let triple = [quote; 3];
        if self.language.triples() && quote != b'`' && rest.starts_with(&triple) {
            let end = self.until(&triple, 3, true);
            self.whole(3, end, &triple, Class::Long);
            return true;
        }
        let escapes = match self.language {
            Language::Go => quote != b'`',
            Language::Shell | Language::Yaml => quote != b'\'',
            _ => true,
        };
        let end = self.until(&[quote], 1, escapes);
        let line = self.to_line_end();
        let goes_on = self.language.goes_on(quote);
        if end > line && !goes_on {
            // It does not end: the rest of the line.
            self.push(1, Class::Quote);
            self.push(line.saturating_sub(1), Class::Text);
            return true;
        }
        let class = if end > line { Class::Long } else { Class::Text };
        self.whole(1, end, &[quote], class);
        true
    }

    /// A `'` that is a lifetime, a label or an apostrophe.
    fn is_no_string(&self, quote: u8) -> bool {
        let rest = self.rest();
        if quote != b'\'' {
            return false;
        }
        match self.language {
            Language::Make => true,
            Language::Yaml => self.before().is_ascii_alphanumeric(),
            language if language.has_characters() => {
                let is_one = rest.get(1) == Some(&b'\\')
                    || rest.iter().skip(2).take(4).any(|byte| *byte == b'\'');
                let is_name =
                    rest.get(1).is_some_and(|byte| byte.is_ascii_alphabetic() || *byte == b'_')
                        && rest.get(2) != Some(&b'\'');
                !is_one || is_name || self.before().is_ascii_digit()
            }
            _ => false,
        }
    }

    /// The end of the next occurrence of these bytes, from a place on.
    fn until(&self, end: &[u8], from: usize, escapes: bool) -> usize {
        let rest = self.rest();
        let mut at = from;
        while at < rest.len() {
            if escapes && rest[at] == b'\\' {
                at += 2;
            } else if rest[at..].starts_with(end) {
                return at + end.len();
            } else {
                at += 1;
            }
        }
        rest.len()
    }

    /// A string with its quotes: so many bytes before it, these after it.
    fn whole(&mut self, open: usize, end: usize, close: &[u8], class: Class) {
        let end = end.min(self.rest().len()).max(open);
        let close = if self.rest()[open..end].ends_with(close) { close.len() } else { 0 };
        self.push(open, Class::Quote);
        self.push(end - open - close, class);
        self.push(close, Class::Quote);
    }

    /// Rust's `r#"…"#`, C++'s `R"x(…)x"`, C#'s `@"…"`.
    fn raw(&mut self) -> bool {
        let rest = self.rest();
        match (self.language, rest[0]) {
            (Language::Rust, b'r') if !is_word(self.before()) || self.before() == b'b' => {
                let marks = rest[1..].iter().take_while(|byte| **byte == b'#').count();
                if rest.get(1 + marks) != Some(&b'"') {
                    return false;
                }
                let close = [&b"\""[..], &b"#".repeat(marks)].concat();
                let end = self.until(&close, marks + 2, false);
                let class = if end > self.to_line_end() { Class::Long } else { Class::Text };
                self.whole(marks + 2, end, &close, class);
                true
            }
            (Language::C, b'R') if rest.get(1) == Some(&b'"') && !is_word(self.before()) => {
                let Some(open) = rest.iter().take(20).position(|byte| *byte == b'(') else {
                    return false;
                };
                let close = [&b")"[..], &rest[2..open], b"\""].concat();
                let end = self.until(&close, open + 1, false);
                self.whole(open + 1, end, &close, Class::Long);
                true
            }
            (Language::CSharp, b'@') if rest.get(1) == Some(&b'"') => {
                let end = self.until(b"\"", 2, false);
                self.whole(2, end, b"\"", Class::Long);
                true
            }
            _ => false,
        }
    }

    /// A document in a shell's script: what `<<NAME` begins.
    fn heredoc(&mut self) -> bool {
        let rest = self.rest();
        if !matches!(self.language, Language::Shell | Language::Ruby | Language::Php)
            || !rest.starts_with(b"<<")
            || self.before() == b'<'
        {
            return false;
        }
        let from = 2 + rest[2..].iter().take_while(|byte| b"<-~'\"\\".contains(byte)).count();
        let name: Vec<u8> =
            rest[from..].iter().copied().take_while(|byte| is_word(*byte)).collect();
        let upper = name.first().is_some_and(u8::is_ascii_uppercase);
        if !upper || (self.language != Language::Shell && from == 2) {
            return false;
        }
        let line = self.to_line_end();
        let mut end = line;
        let mut lines = rest[line..].split_inclusive(|byte| *byte == b'\n').skip(1);
        let body: usize = lines
            .by_ref()
            .take_while(|line| !line.trim_ascii().starts_with(&name))
            .map(<[u8]>::len)
            .sum();
        self.push(line, Class::Code);
        end = (end + 1 + body).min(rest.len()) - line;
        self.push(end, Class::Long);
        true
    }

    /// A pattern between slashes, where JavaScript expects a value.
    fn pattern(&mut self) -> bool {
        let rest = self.rest();
        if self.language != Language::Js || rest[0] != b'/' {
            return false;
        }
        let done = self.bytes[..self.at].trim_ascii_end();
        let expects = match done.last() {
            None => true,
            Some(last) => b"(,=:[!&|?{};+".contains(last) || done.ends_with(b"return"),
        };
        let line = self.to_line_end();
        let (mut at, mut class) = (1, false);
        while expects && at < line {
            match rest[at] {
                b'\\' => at += 1,
                b'[' => class = true,
                b']' => class = false,
                b'/' if !class => {
                    self.whole(1, at + 1, b"/", Class::Text);
                    return true;
                }
                _ => {}
            }
            at += 1;
        }
        false
    }
}

fn find(text: &[u8], what: &[u8]) -> Option<usize> {
    memchr::memmem::find(text, what)
}

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(language: Language, text: &str, part: Part, expected: &str) {
        let view = View::new(text, Some(language));
        assert_eq!(view.classes.len(), text.len());
        let lines: Vec<_> = (0..view.len()).map(|at| view.part(at, part)).collect();
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
            check(language, text, Part::Code, expected);
        }
    }

    #[test]
    fn a_quote_in_a_string_is_none() {
        check(Language::Python, "a = '\"b\" in c'", Part::Text, "a = ' b in c'");
        check(Language::Python, "\"b\" in c", Part::Text, "\"b\" in c");
        check(Language::Js, "a('b') // c 'd'", Part::Comment, "// c 'd'");
        check(Language::Js, "a('// b')", Part::Comment, "");
        check(Language::Rust, "/// a\nb", Part::Any, "/// a|b");
    }

    #[test]
    fn a_string_that_does_not_end_ends_with_its_line() {
        check(Language::Js, "a('b\nc()", Part::Code, "a('|c()");
        check(Language::Python, "a = \"\"\"b\nc", Part::Code, "a = \"\"\"|");
        check(Language::Rust, "/* a", Part::Code, "");
    }
}
