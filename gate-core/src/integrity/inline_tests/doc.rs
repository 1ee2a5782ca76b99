//! A documentation comment in Rust, and the examples in it that rustdoc runs.

/// The text of a documentation comment as it stands in its source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Doc<'t>(pub(super) &'t str);

/// A line of a comment: its text, and whether that is code, a fence, or prose.
#[derive(Debug, PartialEq, Eq)]
enum Line {
    /// A fence that opens an example which is run.
    Opens(String),
    Code(String),
    Other,
}

impl Doc<'_> {
    /// The examples, without layout.
    pub(super) fn tests(self) -> Vec<String> {
        let mut tests: Vec<String> = Vec::new();
        for line in self.lines() {
            match line {
                Line::Opens(info) => tests.push(info),
                Line::Code(code) => {
                    if let Some(last) = tests.last_mut()
                        && !code.trim().is_empty()
                    {
                        last.push('\n');
                        last.push_str(code.trim());
                    }
                }
                Line::Other => {}
            }
        }
        tests
    }

    /// The comment with its examples as plain text.
    pub(super) fn without_tests(self) -> String {
        let lines = self.0.split_inclusive('\n').zip(self.lines()).map(|(text, line)| {
            if !matches!(&line, Line::Opens(info) if !info.starts_with(INDENTED)) {
                return text.to_owned();
            }
            let fence =
                text.find("```").map(|at| (at, '`')).or(text.find("~~~").map(|at| (at, '~')));
            let Some((at, mark)) = fence else { return text.to_owned() };
            let length = text[at..].chars().take_while(|c| *c == mark).count();
            let end = if text.ends_with('\n') { "\n" } else { "" };
            format!("{}text{end}", &text[..at + length])
        });
        lines.collect()
    }

    /// The comment as one that documents what follows, in lines.
    pub(super) fn as_outer(self) -> String {
        let lines = self.0.lines().map(|line| format!("/// {}\n", content(line)));
        lines.collect()
    }

    fn lines(self) -> Vec<Line> {
        let mut fence: Option<(char, usize, bool)> = None;
        let (mut is_after_blank, mut is_indented, mut is_list) = (true, false, false);
        let lines = self.0.lines().map(|line| {
            let text = content(line);
            let own = text.trim();
            let mark = own.chars().next().filter(|c| matches!(c, '`' | '~'));
            let length = mark.map_or(0, |mark| own.chars().take_while(|c| *c == mark).count());
            if let Some((open, count, runs)) = fence {
                let closes = mark == Some(open) && length >= count && own.len() == length;
                if closes {
                    fence = None;
                }
                (is_after_blank, is_indented) = (true, false);
                return if runs && !closes { Line::Code(text.to_owned()) } else { Line::Other };
            }
            if let Some(mark) = mark
                && length >= 3
            {
                let info = own[length..].trim();
                fence = Some((mark, length, runs(info)));
                is_indented = false;
                return if runs(info) { Line::Opens(format!("```{info}")) } else { Line::Other };
            }
            if own.is_empty() {
                is_after_blank = true;
                return if is_indented { Line::Code(String::new()) } else { Line::Other };
            }
            let is_code = text.starts_with("    ") || text.starts_with('\t');
            if is_code && is_indented {
                return Line::Code(own.to_owned());
            }
            if is_code && is_after_blank && !is_list {
                is_indented = true;
                return Line::Opens(format!("{INDENTED}\n{own}"));
            }
            (is_after_blank, is_indented) = (false, false);
            is_list =
                own.starts_with(['-', '*', '+']) || own.starts_with(|c: char| c.is_ascii_digit());
            Line::Other
        });
        lines.collect()
    }
}

/// The beginning of an example that no fence begins.
const INDENTED: &str = "indented";

/// A line of a comment without the marks of the comment.
fn content(line: &str) -> &str {
    let line = line.trim_start();
    let marks = ["///", "//!", "/**", "/*!", "* ", "*"];
    let rest = marks.iter().find_map(|mark| line.strip_prefix(mark)).unwrap_or(line);
    let rest = rest.trim_end().trim_end_matches("*/");
    rest.strip_prefix(' ').unwrap_or(rest)
}

/// Rustdoc compiles an example with these words after its fence.
fn runs(info: &str) -> bool {
    let words: Vec<&str> =
        info.split([',', ' ', '\t', '{', '}', '.']).filter(|word| !word.is_empty()).collect();
    let is_rust = |word: &str| {
        matches!(word, "rust" | "should_panic" | "no_run" | "compile_fail" | "test_harness")
            || matches!(word, "standalone" | "standalone_crate")
            || word.starts_with("edition")
            || (word.len() == 5 && word.starts_with('E'))
    };
    let is_ignored = words.iter().any(|word| word.starts_with("ignore"));
    !is_ignored && (words.contains(&"rust") || words.iter().copied().all(is_rust))
}
