//! The lines of the agent's last message, with the kind of block that holds each.

use std::cell::{Cell, OnceCell};
use std::cmp::Ordering;
use std::ops::Range;

use memchr::memmem;

use super::text_after::{begins_iteration, iteration_names};
use crate::decide::language::Language;
use gate_transcript::Word;

/// A message. It is cut into lines on first use, because most messages hold nothing that
/// could be a signal.
#[derive(Debug)]
pub(crate) struct Layout<'w> {
    word: &'w Word,
    language: &'w Language,
    lines: OnceCell<Vec<Line<'w>>>,
    iterations: Cell<Iterations>,
}

/// The iterations in a log, searched from its end up to the line that a caller asked
/// about.
#[derive(Clone, Copy, Debug)]
struct Iterations {
    /// The line on which the last one begins.
    latest: Option<usize>,
    /// The lines from this one on have been searched.
    searched_from: usize,
}

/// One line of a message.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Line<'w> {
    /// The line without its break.
    pub(crate) text: &'w str,
    /// The offset of its first byte in the message.
    pub(crate) offset: usize,
    /// The kind of block that holds the line.
    pub(crate) block: BlockKind,
}

/// The kind of block that holds a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum BlockKind {
    /// The message itself.
    Prose,
    /// The opening or closing line of a code fence.
    Fence,
    /// A code fence of no programming language. It proves nothing: a quarter
    /// of real signals stand in one.
    Fenced,
    /// A code fence of a programming language.
    Code,
    /// A code fence of JSON, in which a JSON signal stands and no other.
    Data,
    /// A hunk of a diff.
    Diff,
    /// A quotation (`> `).
    Quote,
    /// A comment of markup (`<!-- … -->`), which nobody is shown.
    Comment,
    /// Reasoning that the model wrote into its message.
    Thinking,
    /// A tool's output, as Claude Code shows it in a terminal (`⎿`).
    Output,
}

impl Line<'_> {
    /// The line has three words or more.
    fn is_sentence(&self) -> bool {
        self.text.split_whitespace().nth(2).is_some()
    }

    /// Each letter and digit of the line is inside one of the spans.
    fn is_covered_by(&self, spans: &[Range<usize>]) -> bool {
        let is_covered = |offset: usize| spans.iter().any(|span| span.contains(&offset));
        let mut letters = self.text.char_indices().filter(|(_, c)| c.is_alphanumeric());
        letters.all(|(offset, _)| is_covered(self.offset + offset))
    }

    fn begins_iteration(&self) -> bool {
        self.block == BlockKind::Prose && begins_iteration(self.text)
    }
}

impl<'w> Layout<'w> {
    /// The layout of a message, which is judged by these rules.
    pub(crate) fn new(word: &'w Word, language: &'w Language) -> Self {
        let iterations = Iterations { latest: None, searched_from: usize::MAX };
        Self { word, language, lines: OnceCell::new(), iterations: Cell::new(iterations) }
    }

    /// The message.
    pub(crate) fn word(&self) -> &'w Word {
        self.word
    }

    /// The rules of language in force.
    pub(crate) fn language(&self) -> &'w Language {
        self.language
    }

    /// All lines.
    pub(crate) fn lines(&self) -> &[Line<'w>] {
        self.lines.get_or_init(|| lines_of(&self.word.text))
    }

    /// The lines that hold these bytes of the message, which come in order:
    /// each line once.
    pub(crate) fn lines_at(&self, offsets: impl Iterator<Item = usize>) -> Vec<usize> {
        let (mut lines, mut line_end) = (Vec::new(), 0);
        for offset in offsets {
            if offset >= line_end {
                let index = self.index_of(offset);
                line_end = self.lines().get(index + 1).map_or(usize::MAX, |line| line.offset);
                lines.push(index);
            }
        }
        lines
    }

    /// A runner begins another iteration of this log on line `first` or below, and the agent
    /// says something in it.
    pub(crate) fn has_iteration_from(&self, first: usize) -> bool {
        // A log may hold thousands of candidates. Each line is searched for one of them alone.
        let Iterations { latest, searched_from } = self.iterations.get();
        let latest = latest.or_else(|| self.latest_iteration(first..searched_from));
        let searched_from = searched_from.min(first);
        self.iterations.set(Iterations { latest, searched_from });
        latest.is_some_and(|begin| first <= begin)
    }

    /// The last of these lines on which an iteration begins, in which the agent says
    /// something.
    fn latest_iteration(&self, range: Range<usize>) -> Option<usize> {
        let (lines, text) = (self.lines(), &self.word.text);
        let start = lines.get(range.start)?.offset;
        let end = lines.get(range.end).map_or(text.len(), |line| line.offset);
        let searched = text.get(start..end)?;
        let last_sentence =
            lines.iter().rfind(|line| line.is_sentence() && !line.begins_iteration())?;
        let sentence_start = last_sentence.offset.saturating_sub(start).min(searched.len());
        let names = iteration_names(&searched[..sentence_start]).into_iter();
        let named_lines = self.lines_at(names.map(|offset| start + offset));
        named_lines.into_iter().rfind(|index| lines[*index].begins_iteration())
    }

    /// The index of the line that holds a byte of the message, its break included.
    pub(crate) fn index_of(&self, offset: usize) -> usize {
        self.lines().partition_point(|line| line.offset <= offset).saturating_sub(1)
    }

    /// The bytes that some lines take up, without the last line's break.
    pub(crate) fn span(&self, lines: Range<usize>) -> Range<usize> {
        let lines = self.lines().get(lines).unwrap_or_default();
        let start = lines.first().map_or(0, |line| line.offset);
        start..lines.last().map_or(start, |line| line.offset + line.text.len())
    }

    /// The bytes of one line, without its break.
    pub(crate) fn line_span(&self, index: usize) -> Range<usize> {
        let Line { offset, text, .. } = self.lines()[index];
        offset..offset + text.len()
    }

    /// Nothing but markup and these spans stands behind a byte of the message.
    pub(crate) fn ends_with(&self, end: usize, spans: &[Range<usize>]) -> bool {
        let last_line = self.index_of(end.saturating_sub(1));
        let lines = self.lines().get(last_line..).unwrap_or_default();
        let spans: Vec<_> = spans.iter().cloned().chain(std::iter::once(0..end)).collect();
        lines.iter().all(|line| line.block == BlockKind::Fence || line.is_covered_by(&spans))
    }

    /// Nothing but markup is outside of the spans: no letter and no digit, apart from fences,
    /// reasoning and lines that `is_ignored`.
    pub(crate) fn is_covered_by(
        &self,
        spans: &[Range<usize>],
        is_ignored: impl Fn(&str) -> bool,
    ) -> bool {
        !self.word.clipped
            && self.lines().iter().all(|line| {
                matches!(line.block, BlockKind::Fence | BlockKind::Thinking)
                    || is_ignored(line.text)
                    || line.is_covered_by(spans)
            })
    }

    /// The input's number of a line.
    pub(crate) fn number(&self, index: usize) -> u64 {
        self.lines().get(index).map_or(self.word.line, |line| self.word.line_at(line.offset))
    }
}

fn lines_of(text: &str) -> Vec<Line<'_>> {
    let mut blocks = BlockTracker::new(text);
    let ends = memchr::memchr2_iter(b'\n', b'\r', text.as_bytes());
    let (mut lines, mut offset) = (Vec::new(), 0);
    for end in ends.chain((!text.ends_with(['\n', '\r'])).then_some(text.len())) {
        let line = &text[offset..end];
        lines.push(Line { text: line, offset, block: blocks.advance(line) });
        offset = end + 1;
    }
    lines
}

/// Follows fences, hunks and reasoning from line to line.
struct BlockTracker {
    /// A tag of the text closes reasoning.
    has_thinking: bool,
    is_thinking: bool,
    /// A mark of the text closes a comment.
    has_comments: bool,
    is_in_comment: bool,
    fence: Option<OpenFence>,
    hunk: Hunk,
    /// The indentation of the mark before the tool's output that a line may stand in.
    output_indent: Option<usize>,
}

/// The fence around a line.
#[derive(Clone, Copy)]
struct OpenFence {
    mark: FenceMark,
    /// The kind of the lines inside.
    block: BlockKind,
}

#[derive(Clone, Copy)]
struct FenceMark {
    character: char,
    length: usize,
}

/// The lines of the current hunk that are still to come.
#[derive(Clone, Copy, Default)]
struct Hunk {
    old_lines: usize,
    new_lines: usize,
}

impl BlockTracker {
    fn new(text: &str) -> Self {
        let bytes = text.as_bytes();
        // Reasoning that only closes began with the message.
        let opening = memmem::find(bytes, b"<think>").unwrap_or(usize::MAX);
        let first_closing = memmem::find(bytes, b"</think>");
        let closing = first_closing.filter(|offset| !text[..*offset].ends_with('`'));
        Self {
            has_thinking: first_closing.is_some(),
            is_thinking: closing.is_some_and(|closing| closing < opening),
            has_comments: memmem::find(bytes, b"-->").is_some(),
            is_in_comment: false,
            fence: None,
            hunk: Hunk::default(),
            output_indent: None,
        }
    }

    fn advance(&mut self, line: &str) -> BlockKind {
        let began_thinking = self.is_thinking;
        self.follow_thinking(line);
        if began_thinking || self.is_thinking {
            return BlockKind::Thinking;
        }
        if self.is_comment(line) {
            return BlockKind::Comment;
        }
        if self.hunk.takes(line) {
            return BlockKind::Diff;
        }
        if let Some(hunk) = Hunk::from_head(line) {
            self.hunk = hunk;
            return BlockKind::Diff;
        }
        if self.is_output(line) {
            return BlockKind::Output;
        }
        self.fenced(line)
    }

    /// All lines below the mark that are further to the right than the mark.
    fn is_output(&mut self, line: &str) -> bool {
        let text = line.trim_start();
        let indent = line.len() - text.len();
        if self.fence.is_none() && text.starts_with('⎿') {
            self.output_indent = Some(indent);
        } else if !text.is_empty() {
            self.output_indent = self.output_indent.filter(|mark_indent| indent > *mark_indent);
        }
        self.output_indent.is_some()
    }

    /// A comment begins its line; `<!--` within a sentence is a mention, and
    /// one that is never closed would hide all that follows.
    fn is_comment(&mut self, line: &str) -> bool {
        if !self.has_comments {
            return false;
        }
        let opens = self.fence.is_none() && line.trim_start().starts_with("<!--");
        let is_comment = self.is_in_comment || opens;
        self.is_in_comment = is_comment && !line.contains("-->");
        is_comment
    }

    fn follow_thinking(&mut self, line: &str) {
        if !self.has_thinking {
            return;
        }
        self.is_thinking = match last_tag(line, "<think>").cmp(&last_tag(line, "</think>")) {
            Ordering::Less => false,
            Ordering::Equal => self.is_thinking,
            Ordering::Greater => true,
        };
    }

    fn fenced(&mut self, line: &str) -> BlockKind {
        let trimmed = line.trim_start();
        let mark = FenceMark::read(trimmed);
        match (self.fence, mark) {
            (Some(fence), Some(mark))
                if mark.closes(fence.mark) && trimmed[mark.length..].trim().is_empty() =>
            {
                self.fence = None;
                BlockKind::Fence
            }
            (Some(fence), _) => self.inside(line, fence),
            (None, Some(mark)) => {
                let block = block_of_language(trimmed[mark.length..].trim());
                self.fence = Some(OpenFence { mark, block });
                BlockKind::Fence
            }
            (None, None) if trimmed.starts_with('>') => BlockKind::Quote,
            (None, None) => BlockKind::Prose,
        }
    }

    /// A fence with a shell prompt in it shows a command's output, from the prompt on.
    fn inside(&mut self, line: &str, fence: OpenFence) -> BlockKind {
        let is_prompt = fence.block == BlockKind::Fenced && line.trim_start().starts_with("$ ");
        let block = if is_prompt { BlockKind::Code } else { fence.block };
        self.fence = Some(OpenFence { block, ..fence });
        block
    }
}

impl Hunk {
    /// Reads `@@ -1,4 +1,6 @@`.
    fn from_head(line: &str) -> Option<Self> {
        let (ranges, _) = line.strip_prefix("@@ -")?.split_once(" @@")?;
        let (old_range, new_range) = ranges.split_once(" +")?;
        Some(Self { old_lines: line_count(old_range)?, new_lines: line_count(new_range)? })
    }

    /// Counts a line off if it belongs to this hunk.
    fn takes(&mut self, line: &str) -> bool {
        if self.old_lines == 0 && self.new_lines == 0 {
            return false;
        }
        match line.as_bytes().first() {
            Some(b'+') => self.new_lines = self.new_lines.saturating_sub(1),
            Some(b'-') => self.old_lines = self.old_lines.saturating_sub(1),
            // An empty line of the file may have lost its space.
            Some(b' ') | None => {
                self.old_lines = self.old_lines.saturating_sub(1);
                self.new_lines = self.new_lines.saturating_sub(1);
            }
            // `\ No newline at end of file`.
            Some(b'\\') => {}
            Some(_) => {
                *self = Self::default();
                return false;
            }
        }
        true
    }
}

/// The offset of the last tag in a line; `None` if a backtick precedes the tag, which only
/// mentions it.
fn last_tag(line: &str, tag: &str) -> Option<usize> {
    line.rfind(tag).filter(|offset| !line[..*offset].ends_with('`'))
}

/// The number of lines in one side of a hunk's head: `12,7` has 7, `12` has 1.
fn line_count(range: &str) -> Option<usize> {
    range.split_once(',').map_or(Some(1), |(_, count)| count.parse().ok())
}

impl FenceMark {
    fn read(line: &str) -> Option<Self> {
        let character = line.chars().next().filter(|c| matches!(c, '`' | '~'))?;
        let length = line.chars().take_while(|c| *c == character).count();
        let info = &line[length..];
        // Backticks around words of a line are code within the line.
        let is_inline = character == '`' && info.contains('`');
        (length >= 3 && !is_inline).then_some(Self { character, length })
    }

    fn closes(self, opening: Self) -> bool {
        self.character == opening.character && self.length >= opening.length
    }
}

/// The kind of block that a fence with this info string opens.
fn block_of_language(info: &str) -> BlockKind {
    const PLAIN: [&str; 19] = [
        "",
        "text",
        "txt",
        "plain",
        "plaintext",
        "md",
        "markdown",
        "yaml",
        "yml",
        "xml",
        "html",
        "log",
        "ralph",
        "ini",
        "output",
        "none",
        "properties",
        "signal",
        "ascii",
    ];
    let name = info.split_whitespace().next().unwrap_or_default().to_ascii_lowercase();
    match name.as_str() {
        "diff" | "patch" => BlockKind::Diff,
        "json" | "jsonc" | "json5" => BlockKind::Data,
        name if PLAIN.contains(&name) || name.contains("status") => BlockKind::Fenced,
        _ => BlockKind::Code,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn blocks(text: &str) -> Vec<BlockKind> {
        let word = Word { text: text.to_owned(), line: 1, multiline: true, ..Word::default() };
        Layout::new(&word, &Language::default()).lines().iter().map(|line| line.block).collect()
    }

    #[test]
    fn fences_close_with_their_own_mark() {
        use BlockKind::{Fence, Fenced, Prose};
        assert_eq!(blocks("a\n```\nb\n~~~\n```\nc"), [Prose, Fence, Fenced, Fenced, Fence, Prose]);
    }

    #[test]
    fn marks_within_a_line_open_no_fence() {
        use BlockKind::{Fence, Fenced, Prose};
        assert_eq!(blocks("~5 tests\n```a```\nb"), [Prose, Prose, Prose]);
        assert_eq!(blocks("~~~ text `a`\nb\n~~~"), [Fence, Fenced, Fence]);
    }

    #[test]
    fn a_language_makes_it_code() {
        use BlockKind::{Code, Fence};
        assert_eq!(blocks("```rust\nb\n```"), [Fence, Code, Fence]);
    }

    #[test]
    fn a_hunk_takes_its_lines_and_no_more() {
        use BlockKind::{Diff, Prose};
        let text = "@@ -1,2 +1,2 @@\n-a\n+b\n c\n<promise>COMPLETE</promise>";
        assert_eq!(blocks(text), [Diff, Diff, Diff, Diff, Prose]);
        assert_eq!(blocks("@@ -1,1 +1,2 @@\n a\n+b\nc"), [Diff, Diff, Diff, Prose]);
    }

    #[test]
    fn a_comment_begins_its_line_and_ends() {
        use BlockKind::{Comment, Prose};
        assert_eq!(blocks("<!-- a\nb -->\nc"), [Comment, Comment, Prose]);
        assert_eq!(blocks("- strips `<!--` marks\nb -->\nc"), [Prose, Prose, Prose]);
        assert_eq!(blocks("<!-- never closed\nb"), [Prose, Prose]);
    }

    #[test]
    fn a_tools_output_is_further_to_the_right_than_its_mark() {
        use BlockKind::{Output, Prose};
        let text = "⏺ Bash(cat a)\n  ⎿  b\n\n     c\n\n  d\n⏺ e";
        assert_eq!(blocks(text), [Prose, Output, Output, Output, Output, Prose, Prose]);
    }

    #[test]
    fn reasoning_that_only_closes_began_at_the_start() {
        use BlockKind::{Prose, Thinking};
        assert_eq!(blocks("done?\n</think>\nyes"), [Thinking, Thinking, Prose]);
        assert_eq!(blocks("a\n<think>b</think>\nc"), [Prose, Prose, Prose]);
    }
}
