//! The context of a candidate: it is stated as a signal, or shown as an example, denied,
//! put off or quoted.
//!
//! The same rules hold for every spelling. They look at the line that holds
//! the candidate, at the sentence that introduces it and at what follows; a
//! code fence alone decides nothing.

use std::ops::Range;

use super::layout::{BlockKind, Layout, Line};
use super::objection::Objection;
use super::text_after;
use super::text_before::Introduction;
use crate::decide::expression::Expression;
use crate::decide::indicator::excerpt;
use crate::decide::language::Kind;
use crate::decide::sentence;

/// The lines around a candidate that are searched for text about it.
const NEARBY_LINES: usize = 40;

/// The longest part of a line that is searched, in bytes.
const MAX_LINE_BYTES: usize = 2_000;

/// The beginning of a line that tells an order, in bytes.
const MAX_ORDER_BYTES: usize = 40;

/// The fewest orders that make a prompt.
const MIN_ORDERS: usize = 4;

/// The most words of a label.
const MAX_LABEL_WORDS: usize = 6;

/// The lines above a candidate that are searched for the heading of its section.
const MAX_SECTION_LINES: usize = 400;

/// A candidate's context: the message, and the lines of the candidate in it.
pub(crate) struct Context<'l, 'w> {
    layout: &'l Layout<'w>,
    lines: Range<usize>,
    is_json: bool,
    is_denial: bool,
}

impl<'l, 'w> Context<'l, 'w> {
    pub(crate) fn new(layout: &'l Layout<'w>, lines: Range<usize>) -> Self {
        Self { layout, lines, is_json: false, is_denial: false }
    }

    /// The context of a JSON signal, which may stand in a fence of JSON.
    pub(crate) fn for_json(self) -> Self {
        Self { is_json: true, ..self }
    }

    /// The context of a signal that may deny completion.
    pub(crate) fn for_denial(self, is_denial: bool) -> Self {
        Self { is_denial, ..self }
    }

    /// The reason why the candidate is no signal, if there is one.
    pub(crate) fn objection(&self) -> Option<Objection> {
        // Cheap and certain objections first; the reason that is found first is the one
        // that the agent's near miss shows.
        if let Some(objection) = self.block_objection() {
            return Some(objection);
        }
        let language = self.layout.language();
        self.introduction_objection()
            .or_else(|| self.section_objection())
            .or_else(|| self.criteria_objection())
            .or_else(|| self.prompt_objection())
            .or_else(|| text_after::objection(language, self.following_texts()))
            .or_else(|| self.iteration_objection())
    }

    /// Text about the next work, or about open work, follows. A whole status block is not
    /// refused for that: it has said what it means.
    pub(crate) fn is_before_work(&self) -> bool {
        text_after::is_about_work(self.layout.language(), self.following_texts())
    }

    fn block_objection(&self) -> Option<Objection> {
        let first = self.layout.lines().get(self.lines.start)?;
        match first.block {
            // What a message shows is not what its author states: the prompt's own example
            // of a signal, quoted or printed from a file, must never end the loop.
            BlockKind::Diff => Some(Objection::new("it stands in a diff")),
            BlockKind::Data if self.is_json => None,
            BlockKind::Code | BlockKind::Data => {
                Some(Objection::example("it stands in a code example"))
            }
            BlockKind::Quote => Some(Objection::new("it is quoted")),
            BlockKind::Thinking => Some(Objection::new("it is reasoning, not the agent's word")),
            BlockKind::Output => Some(Objection::new("it stands in a tool's output")),
            BlockKind::Comment => Some(Objection::new("it stands in a comment")),
            BlockKind::Fence | BlockKind::Fenced | BlockKind::Prose => {
                objection_to_mark(first.text.trim_start()).map(Objection::new)
            }
        }
    }

    /// The objection of the introducing sentence. If the sentence is unclear, open work
    /// around the candidate means that it is not the agent's claim.
    fn introduction_objection(&self) -> Option<Objection> {
        // A fence with a label inside has two introductions: the line above the candidate
        // and the line above the fence. Either can refuse: "For example:" stands above the
        // fence, "# when done" inside.
        let objection = self.objection_above(self.lines.start);
        objection.or_else(|| self.objection_above(self.fence()?))
    }

    fn objection_above(&self, line: usize) -> Option<Objection> {
        let introduction = self.introduction(line)?;
        let sentence = introduction.sentence;
        match Introduction::classify(self.layout.language(), sentence) {
            Introduction::Objects(rule) => Some(Objection::to_sentence(rule, sentence)),
            Introduction::Unclear if introduction.leads_on && self.has_open_work_around() => {
                let reason = format!("open work stands around it (\"{}\")", excerpt(sentence, 0));
                Some(Objection::new(reason))
            }
            Introduction::Announces | Introduction::Unclear => None,
        }
    }

    /// The opening line of the fence around the candidate. The text above that line
    /// introduces the whole fence.
    fn fence(&self) -> Option<usize> {
        let lines = &self.layout.lines()[..self.lines.start];
        let block = self.layout.lines().get(self.lines.start)?.block;
        if !matches!(block, BlockKind::Fenced | BlockKind::Data) {
            return None;
        }
        lines.iter().rposition(|line| line.block == BlockKind::Fence)
    }

    fn has_open_work_around(&self) -> bool {
        let first = self.lines.start.saturating_sub(NEARBY_LINES);
        let preceding = self.layout.lines()[first..self.lines.start].iter();
        preceding
            .map(|line| start_of(line.text, MAX_LINE_BYTES))
            .chain(self.following_texts())
            .any(|line| text_after::is_open_work(self.layout.language(), line))
    }

    /// A section that shows how a status is reported: nothing but samples and their labels
    /// stands between its heading and the candidate.
    fn section_objection(&self) -> Option<Objection> {
        let mut lines =
            self.layout.lines()[..self.lines.start].iter().rev().take(MAX_SECTION_LINES);
        let heading = lines.find(|line| !is_sample(line))?.text.strip_prefix('#')?;
        self.layout.language().rule_in(Kind::SampleHeading, heading).map(Objection::from_rule)
    }

    /// The heading of a list of what the work has to reach: a prompt's, if no item of the
    /// list is ticked.
    fn criteria_objection(&self) -> Option<Objection> {
        let lines = self.lines_above().iter().rev().take(NEARBY_LINES);
        let mut texts = lines.map(|line| line.text.trim()).filter(|text| !is_rule(text));
        let heading = texts.find(|text| !is_item(text) || TICKED.is_match(text))?;
        let rule = self.layout.language().rule_in(Kind::Criteria, heading)?;
        Some(Objection::to_sentence(rule, heading))
    }

    /// A prompt: most lines above are orders, and nobody speaks of themselves.
    fn prompt_objection(&self) -> Option<Objection> {
        // A report may end with a list of the next steps. If that is in doubt, the work goes on.
        if self.is_denial {
            return None;
        }
        let nearby = self.lines_above().iter().rev().take(NEARBY_LINES);
        let lines: Vec<_> = nearby
            .map(|line| line.text)
            .filter(|text| text.len() <= MAX_LINE_BYTES && text.split_whitespace().nth(2).is_some())
            .collect();
        if lines.iter().any(|line| is_first_person(line)) {
            return None;
        }
        let language = self.layout.language();
        let is_order =
            |line: &&&str| language.matches(Kind::PromptLine, start_of(line, MAX_ORDER_BYTES));
        let orders = lines.iter().filter(is_order).count();
        (orders >= MIN_ORDERS && orders * 2 > lines.len())
            .then(|| Objection::example("the text before it reads as a prompt, not as a report"))
    }

    /// The lines above the candidate, from the opening of its fence on.
    fn lines_above(&self) -> &'l [Line<'w>] {
        let first = self.fence().unwrap_or_default();
        self.layout.lines().get(first..self.lines.start).unwrap_or_default()
    }

    /// A heading stands right above the candidate, or above its fence.
    pub(super) fn is_titled(&self) -> bool {
        let end = self.fence().unwrap_or(self.lines.start);
        let mut texts = self.layout.lines()[..end].iter().rev().map(|line| line.text.trim());
        texts.find(|text| !text.is_empty()).is_some_and(|text| text.starts_with('#'))
    }

    /// The sentence that introduces the candidate, or its fence, which begins on line `end`:
    /// the end of the line above, if that is a heading or a label, ends with a colon, or
    /// breaks off. An item of a list is introduced by the text above the list; a tool's
    /// trace, another fence and a finished statement introduce nothing.
    fn introduction(&self, end: usize) -> Option<IntroducingSentence<'w>> {
        let first = self.layout.lines().get(self.lines.start)?;
        let lines = &self.layout.lines()[..end];
        let is_in_list = is_item(first.text);
        let above = lines.iter().rev().take(NEARBY_LINES).find(|line| {
            let is_skipped = is_rule(line.text) || (is_in_list && is_item(line.text));
            line.block != BlockKind::Fence && !is_skipped
        })?;
        // The last line of a code block or of a tool's output is no sentence of the agent's,
        // even if it ends with a colon.
        if (first.block == BlockKind::Prose && above.block != BlockKind::Prose)
            || TRACE.is_match(above.text)
        {
            return None;
        }
        let text = end_of(above.text.trim_end().trim_end_matches(['*', '_', '`']), MAX_LINE_BYTES);
        let language = self.layout.language();
        let leads_on = text.ends_with([':', '：'])
            || (!is_item(text) && self.breaks_off(text))
            || language.matches(Kind::PromptItem, text);
        let is_finished = text.trim_end_matches(['*', ')']).ends_with(['.', '!']);
        let is_open_label = is_label(above.text.trim()) && !is_finished;
        let sentence = sentence::last_sentence(text);
        (leads_on || is_open_label).then_some(IntroducingSentence { sentence, leads_on })
    }

    /// A line ends in the middle of a sentence, which goes on in the next line.
    fn breaks_off(&self, text: &str) -> bool {
        let opens_quote = text.ends_with('"') && text.matches('"').count() % 2 == 1;
        opens_quote || self.layout.language().matches(Kind::RunsOn, text)
    }

    /// In one log of several iterations, a signal of an earlier one is stale.
    fn iteration_objection(&self) -> Option<Objection> {
        let is_stale = self.layout.has_iteration_from(self.lines.end);
        is_stale.then(|| Objection::new("a later iteration follows it in this log"))
    }

    /// The lines of prose after the candidate.
    fn following_texts(&self) -> impl Iterator<Item = &'w str> {
        let lines = self.layout.lines().get(self.lines.end..).unwrap_or_default();
        lines
            .iter()
            .filter(|line| matches!(line.block, BlockKind::Prose | BlockKind::Fenced))
            .map(|line| start_of(line.text.trim(), MAX_LINE_BYTES))
            .filter(|text| !text.is_empty())
    }
}

/// A sentence above a candidate.
struct IntroducingSentence<'w> {
    sentence: &'w str,
    /// The sentence goes on with the candidate; a mere label stands above it.
    leads_on: bool,
}

/// The objection to a line that begins with the mark of a diff, or of a quotation.
fn objection_to_mark(line: &str) -> Option<&'static str> {
    // `- EXIT_STATUS` is an item of a list, `-EXIT_STATUS` a line that a diff removes.
    let removed = line.strip_prefix('-').unwrap_or_default();
    if line.starts_with('+') || removed.starts_with(|c: char| c.is_ascii_alphabetic() || c == '<') {
        Some("it stands in a diff")
    } else {
        line.starts_with('>').then_some("it is quoted")
    }
}

/// A line that may stand between a heading and a sample: all but plain prose.
fn is_sample(line: &Line<'_>) -> bool {
    let text = line.text.trim();
    let is_plain = line.block == BlockKind::Prose && !is_rule(text);
    !is_plain || (is_label(text) && !text.starts_with('#'))
}

/// The first `max_bytes` of a text, cut between characters.
pub(super) fn start_of(text: &str, max_bytes: usize) -> &str {
    &text[..text.floor_char_boundary(max_bytes)]
}

/// The last `max_bytes` of a text, cut between characters.
pub(super) fn end_of(text: &str, max_bytes: usize) -> &str {
    &text[text.ceil_char_boundary(text.len().saturating_sub(max_bytes))..]
}

/// A line without the marks that Markdown and terminals put around a key:
/// list marks, bold, code.
pub(crate) fn unmarked(line: &str) -> String {
    let plain: String = line.chars().filter(|c| !matches!(c, '*' | '`')).collect();
    let plain = plain.trim();
    let item = plain.strip_prefix("- ").or_else(|| plain.strip_prefix("• ")).unwrap_or(plain);
    without_number(item).trim_start().to_owned()
}

/// The text after `1. ` or `1) `.
fn without_number(text: &str) -> &str {
    let unnumbered = text.trim_start_matches(|c: char| c.is_ascii_digit());
    if unnumbered.len() == text.len() {
        return text;
    }
    unnumbered.strip_prefix(". ").or_else(|| unnumbered.strip_prefix(") ")).unwrap_or(text)
}

/// A heading, a markup tag, or a few words that are bold or in parentheses as a whole.
fn is_label(text: &str) -> bool {
    let is_bold = text.starts_with("**") && text.trim_end_matches(':').ends_with("**");
    let is_short = text.split_whitespace().nth(MAX_LABEL_WORDS).is_none();
    text.starts_with('#')
        || (is_short && (is_bold || (text.starts_with('(') && text.ends_with(')'))))
        || (text.starts_with('<') && text.find('>') == Some(text.len() - 1))
}

/// Somebody speaks of themselves.
fn is_first_person(line: &str) -> bool {
    const WORDS: [&str; 8] = ["I", "I'm", "I've", "I’ve", "I'll", "We", "my", "My"];
    line.split([' ', ',', '.']).any(|word| WORDS.contains(&word))
}

/// An item of a list.
fn is_item(text: &str) -> bool {
    let text = text.trim_start();
    without_number(text) != text
        || text.starts_with("- ")
        || text.starts_with("* ")
        || text.starts_with("• ")
}

/// A thematic break, a line of box drawing, or a blank line.
fn is_rule(text: &str) -> bool {
    text.trim().chars().all(|c| matches!(c, '-' | '=' | '*' | '_' | '─' | '━' | '═' | '`'))
}

/// An item that is ticked, or said to be reached.
static TICKED: Expression = Expression::new(
    r"^\W*\[x\]|[✅✓✔☑]|(?:[:(—–-]\s*)(?:done|met|verified|pass(?:ed|es)?|tested|completed?|yes|ok)\W*$|[:(—–-]\s*(?:covered|tested|verified|checked) (?:by|with|in)\b",
);

/// The beginning of a tool's trace: `[Bash] …`, `⚡ [Edit]`, `⏺ Bash(…)`.
static TRACE: Expression =
    Expression::new(r"^[^a-z0-9]*\[[a-z][a-z]+\]|^\s*[⚡⏺●]|^\s*\|\s+[a-z][a-z]+\s{2,}");
