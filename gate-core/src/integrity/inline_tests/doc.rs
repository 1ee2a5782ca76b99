//! A documentation comment in Rust, and the examples in it that rustdoc runs.

/// The text of a documentation comment as it stands in its source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct DocComment<'t> {
    pub(super) text: &'t str,
}

/// A line of a comment.
#[derive(Debug, PartialEq, Eq)]
enum DocLine {
    /// The first line of an example that is run: its fence, or [`INDENTED`] and the line's code.
    ExampleStart(String),
    /// A further line of an example that is run.
    Code(String),
    /// Prose, or what is not run.
    Prose,
}

/// The fence that opened a block of code.
struct Fence {
    mark: char,
    length: usize,
    /// Rustdoc runs the block.
    is_run: bool,
}

impl DocComment<'_> {
    /// The examples, without layout.
    pub(super) fn examples(self) -> Vec<String> {
        let mut examples: Vec<String> = Vec::new();
        for line in self.lines() {
            match line {
                DocLine::ExampleStart(text) => examples.push(text),
                DocLine::Code(code) => {
                    if let Some(example) = examples.last_mut()
                        && !code.trim().is_empty()
                    {
                        example.push('\n');
                        example.push_str(code.trim());
                    }
                }
                DocLine::Prose => {}
            }
        }
        examples
    }

    /// The comment with its fenced examples as plain text.
    pub(super) fn without_examples(self) -> String {
        let lines = self.text.split_inclusive('\n').zip(self.lines()).map(|(text, line)| {
            if !matches!(&line, DocLine::ExampleStart(start) if !start.starts_with(INDENTED)) {
                return text.to_owned();
            }
            let backticks = text.find("```").map(|offset| (offset, '`'));
            let fence = backticks.or(text.find("~~~").map(|offset| (offset, '~')));
            let Some((offset, mark)) = fence else { return text.to_owned() };
            let length = text[offset..].chars().take_while(|c| *c == mark).count();
            let line_end = if text.ends_with('\n') { "\n" } else { "" };
            // The word `text` behind a fence keeps rustdoc from running its block.
            format!("{}text{line_end}", &text[..offset + length])
        });
        lines.collect()
    }

    /// The comment as one that documents what follows, in lines.
    pub(super) fn as_outer(self) -> String {
        let lines = self.text.lines().map(|line| format!("/// {}\n", without_marks(line)));
        lines.collect()
    }

    /// Each line by the rules of Markdown, as far as they tell code from prose.
    fn lines(self) -> Vec<DocLine> {
        let mut open_fence: Option<Fence> = None;
        let (mut is_after_blank, mut is_in_indented, mut is_in_list) = (true, false, false);
        let lines = self.text.lines().map(|line| {
            let content = without_marks(line);
            let text = content.trim();
            let fence_mark = text.chars().next().filter(|c| matches!(c, '`' | '~'));
            let fence_length =
                fence_mark.map_or(0, |mark| text.chars().take_while(|c| *c == mark).count());
            if let Some(fence) = &open_fence {
                let is_closing = fence_mark == Some(fence.mark)
                    && fence_length >= fence.length
                    && text.len() == fence_length;
                let is_run = fence.is_run;
                if is_closing {
                    open_fence = None;
                }
                (is_after_blank, is_in_indented) = (true, false);
                let is_code = is_run && !is_closing;
                return if is_code { DocLine::Code(content.to_owned()) } else { DocLine::Prose };
            }
            if let Some(mark) = fence_mark
                && fence_length >= 3
            {
                let info = text[fence_length..].trim();
                let is_run = runs_in_rustdoc(info);
                open_fence = Some(Fence { mark, length: fence_length, is_run });
                is_in_indented = false;
                let start = format!("```{info}");
                return if is_run { DocLine::ExampleStart(start) } else { DocLine::Prose };
            }
            if text.is_empty() {
                is_after_blank = true;
                let code = DocLine::Code(String::new());
                return if is_in_indented { code } else { DocLine::Prose };
            }
            let is_indented = content.starts_with("    ") || content.starts_with('\t');
            if is_indented && is_in_indented {
                return DocLine::Code(text.to_owned());
            }
            // Indentation continues a paragraph or an entry of a list. Only after a blank line, and
            // outside of a list, it begins code.
            if is_indented && is_after_blank && !is_in_list {
                is_in_indented = true;
                return DocLine::ExampleStart(format!("{INDENTED}\n{text}"));
            }
            (is_after_blank, is_in_indented) = (false, false);
            is_in_list =
                text.starts_with(['-', '*', '+']) || text.starts_with(|c: char| c.is_ascii_digit());
            DocLine::Prose
        });
        lines.collect()
    }
}

/// The beginning of an example that no fence begins.
const INDENTED: &str = "indented";

/// A line of a comment without the marks of the comment.
fn without_marks(line: &str) -> &str {
    const MARKS: [&str; 6] = ["///", "//!", "/**", "/*!", "* ", "*"];
    let line = line.trim_start();
    let content = MARKS.iter().find_map(|mark| line.strip_prefix(mark)).unwrap_or(line);
    let content = content.trim_end().trim_end_matches("*/");
    content.strip_prefix(' ').unwrap_or(content)
}

/// Rustdoc compiles an example with these words after its fence.
fn runs_in_rustdoc(info: &str) -> bool {
    let words: Vec<&str> =
        info.split([',', ' ', '\t', '{', '}', '.']).filter(|word| !word.is_empty()).collect();
    let is_rust_word = |word: &str| {
        matches!(word, "rust" | "should_panic" | "no_run" | "compile_fail" | "test_harness")
            || matches!(word, "standalone" | "standalone_crate")
            || word.starts_with("edition")
            || (word.len() == 5 && word.starts_with('E'))
    };
    let is_ignored = words.iter().any(|word| word.starts_with("ignore"));
    !is_ignored && (words.contains(&"rust") || words.iter().copied().all(is_rust_word))
}
