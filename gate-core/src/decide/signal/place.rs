//! Whether a candidate stands where a signal stands, or is shown as an
//! example, denied, put off, quoted.
//!
//! The same rules hold for every spelling. They look at the line that holds
//! the candidate, at the sentence that introduces it and at what follows; a
//! code fence alone decides nothing.

use std::ops::Range;
use std::sync::LazyLock;

use regex_automata::meta::Regex;

use super::aftermath;
use super::introduction::{Introduction, heads_status_examples};
use super::layout::{Ground, Layout};
use crate::decide::expression::constant;
use crate::decide::indicator::excerpt;
use crate::decide::sentence;

/// How many lines around a candidate belong to it.
const NEARBY: usize = 40;

/// How far above a candidate the heading of its section is looked for.
const SECTION: usize = 400;

/// A candidate's place: the lines it takes, by index.
pub(crate) struct Place<'l, 'w> {
    layout: &'l Layout<'w>,
    lines: Range<usize>,
}

impl<'l, 'w> Place<'l, 'w> {
    /// The place that takes these lines.
    pub(crate) fn new(layout: &'l Layout<'w>, lines: Range<usize>) -> Self {
        Self { layout, lines }
    }

    /// Why what stands here is no signal, if so.
    pub(crate) fn objection(&self) -> Option<String> {
        let fixed = |why: &str| why.to_owned();
        self.ground()
            .map(fixed)
            .or_else(|| self.introduced())
            .or_else(|| self.section().map(fixed))
            .or_else(|| aftermath::objection(self.following()).map(fixed))
            .or_else(|| self.later_iteration().map(fixed))
    }

    /// Whether text about the next work, or about work that is still open,
    /// follows. A whole block is not refused for that: it has said what it
    /// means.
    pub(crate) fn work_follows(&self) -> bool {
        aftermath::is_about_work(self.following())
    }

    fn ground(&self) -> Option<&'static str> {
        let first = self.layout.lines().get(self.lines.start)?;
        match first.ground {
            Ground::Diff => Some("it stands in a diff"),
            Ground::Code => Some("it stands in a code example"),
            Ground::Quote => Some("it is quoted"),
            Ground::Thinking => Some("it is reasoning, not the agent's word"),
            Ground::Fence | Ground::Fenced | Ground::Prose => None,
        }
    }

    /// What the introducing sentence has against it. Where that says nothing
    /// either way, open work around it means that it is not the agent's claim.
    fn introduced(&self) -> Option<String> {
        let sentence = self.introduction()?;
        let why = match Introduction::of(sentence) {
            Introduction::Announces => return None,
            Introduction::Objects(why) => why,
            Introduction::Unclear if self.open_work_around() => "open work stands around it",
            Introduction::Unclear => return None,
        };
        Some(format!("{why} (\"{}\")", excerpt(sentence, 0)))
    }

    fn open_work_around(&self) -> bool {
        let from = self.lines.start.saturating_sub(NEARBY);
        let before = self.layout.lines()[from..self.lines.start].iter().map(|line| line.text);
        before.chain(self.following()).any(aftermath::is_open_work)
    }

    fn section(&self) -> Option<&'static str> {
        let lines = self.layout.lines()[..self.lines.start].iter().rev().take(SECTION);
        let mut headings =
            lines.filter(|line| line.ground == Ground::Prose && line.text.starts_with('#'));
        let heads = heads_status_examples(headings.next()?.text);
        heads.then_some("it stands in a section of examples")
    }

    /// The sentence that introduces what stands here: the end of the line
    /// above, where that is a heading or a label, ends with a colon, or leads
    /// on. An item of a list is introduced by what stands above the list.
    fn introduction(&self) -> Option<&'w str> {
        let lines = &self.layout.lines()[..self.lines.start];
        let item = self.layout.lines().get(self.lines.start).is_some_and(|line| is_item(line.text));
        let above = lines.iter().rev().take(NEARBY).find(|line| {
            let passed =
                line.text.trim().is_empty() || is_rule(line.text) || (item && is_item(line.text));
            line.ground != Ground::Fence && !passed
        })?;
        let label = is_label(above.text.trim());
        let text = above.text.trim_end().trim_end_matches(['*', '_', '`']);
        let leads = label || text.ends_with([':', '：']) || RUNS_ON.is_match(text);
        leads.then(|| sentence::last_sentence(text))
    }

    /// In one log of several iterations, a signal of an earlier one is stale.
    fn later_iteration(&self) -> Option<&'static str> {
        let stale = self.layout.latest_iteration().is_some_and(|begin| self.lines.end <= begin);
        stale.then_some("a later iteration follows it in this log")
    }

    /// The lines of prose after the place.
    fn following(&self) -> impl Iterator<Item = &'w str> {
        let rest = self.layout.lines().get(self.lines.end..).unwrap_or_default();
        let prose = |ground| matches!(ground, Ground::Prose | Ground::Fenced);
        rest.iter()
            .filter(move |line| prose(line.ground))
            .map(|line| line.text.trim())
            .filter(|text| !text.is_empty())
    }
}

/// A line without the marks that Markdown and terminals put around a key:
/// list marks, bold, code.
pub(crate) fn unmarked(line: &str) -> String {
    let plain: String = line.chars().filter(|c| !matches!(c, '*' | '`')).collect();
    let plain = plain.trim();
    let item = plain.strip_prefix("- ").or_else(|| plain.strip_prefix("• ")).unwrap_or(plain);
    numbered(item).trim_start().to_owned()
}

/// The text after `1. ` or `1) `.
fn numbered(text: &str) -> &str {
    let rest = text.trim_start_matches(|c: char| c.is_ascii_digit());
    if rest.len() == text.len() {
        return text;
    }
    rest.strip_prefix(". ").or_else(|| rest.strip_prefix(") ")).unwrap_or(text)
}

/// A value without the marks and symbols around it: bold, code, quotes, emoji,
/// a closing mark.
pub(crate) fn undecorated(value: &str) -> &str {
    let leading =
        |c: char| c.is_whitespace() || matches!(c, '*' | '`' | '"' | '\'' | '_') || is_symbol(c);
    value
        .trim_start_matches(leading)
        .trim_end_matches(|c: char| leading(c) || matches!(c, '.' | '!' | ','))
}

/// An emoji or another pictorial symbol.
fn is_symbol(c: char) -> bool {
    !c.is_ascii() && !c.is_alphanumeric() && !matches!(c, '…' | '‹' | '›' | '«' | '»' | '“' | '”')
}

/// Whether a value that decides is a placeholder, or a choice such as
/// `COMPLETE|CONTINUE`.
pub(crate) fn is_placeholder(value: &str) -> bool {
    is_blank_form(value) || CHOICE.is_match(value.trim())
}

/// Whether a text is the form of a value that somebody was to fill in:
/// `{…}`, `<…>`, `[…]`, `...`.
pub(crate) fn is_blank_form(value: &str) -> bool {
    let value = value.trim().trim_matches(['"', '\'']);
    let within = |open, close| value.starts_with(open) && value.ends_with(close);
    within('{', '}') || within('<', '>') || within('[', ']') || matches!(value, "..." | "…")
}

/// A heading, or a line that is bold, in parentheses or a markup tag as a
/// whole.
fn is_label(text: &str) -> bool {
    let whole = |open, close| text.starts_with(open) && text.ends_with(close);
    let bold = text.starts_with("**") && text.trim_end_matches(':').ends_with("**");
    text.starts_with('#') || bold || whole('(', ')') || whole('<', '>')
}

/// An item of a list.
fn is_item(text: &str) -> bool {
    let text = text.trim_start();
    let numbered = text.trim_start_matches(|c: char| c.is_ascii_digit());
    let number =
        numbered.len() < text.len() && (numbered.starts_with(". ") || numbered.starts_with(") "));
    number || text.starts_with("- ") || text.starts_with("* ") || text.starts_with("• ")
}

/// A thematic break, or a line of box drawing.
fn is_rule(text: &str) -> bool {
    text.trim().chars().all(|c| matches!(c, '-' | '=' | '*' | '_' | '─' | '━' | '═' | '`'))
}

/// A line that ends in the middle of a sentence, which leads on to the next.
static RUNS_ON: LazyLock<Regex> = LazyLock::new(|| {
    constant(
        r"(?:[,(\x22“]|\b(?:is|are|with|as|be|says?|prints?|outputs?|emits?|repl(?:y|ies)|writes?|wrote|answers?|contains?|ignores?|equals|until|the|this|line))$",
    )
});

static CHOICE: LazyLock<Regex> =
    LazyLock::new(|| constant(r"^[\x22'{<\[]*[\w-]+\s*(?:\||/|\bor\b)\s*[\w-]+"));
