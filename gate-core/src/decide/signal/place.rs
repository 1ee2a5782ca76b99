//! Whether a candidate stands where a signal stands, or is shown as an
//! example, denied, put off, quoted.
//!
//! The same rules hold for every spelling. They look at the line that holds
//! the candidate, at the sentence that introduces it and at what follows; a
//! code fence alone decides nothing.

use std::ops::Range;
use std::sync::LazyLock;

use regex_automata::meta::Regex;

use super::super::{expression::constant, sentence};
use super::layout::{Ground, Layout};

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
    pub(crate) fn objection(&self) -> Option<&'static str> {
        self.ground_objection()
            .or_else(|| self.introduction_objection())
            .or_else(|| self.section_objection())
            .or_else(|| self.retraction())
    }

    fn ground_objection(&self) -> Option<&'static str> {
        let first = self.layout.lines().get(self.lines.start)?;
        match first.ground {
            Ground::Diff => Some("it stands in a diff"),
            Ground::Code => Some("it stands in a code example"),
            Ground::Quote => Some("it is quoted"),
            Ground::Thinking => Some("it is reasoning, not the agent's word"),
            Ground::Fence | Ground::Fenced | Ground::Prose => None,
        }
    }

    fn introduction_objection(&self) -> Option<&'static str> {
        let sentence = self.introduction()?;
        if DENIAL.is_match(sentence) {
            Some("the sentence before it denies it")
        } else if PUT_OFF.is_match(sentence) {
            Some("the sentence before it puts it off or under a condition")
        } else if EXAMPLE.is_match(sentence) || sentence::starts_with_order(sentence) {
            Some("the sentence before it introduces an example")
        } else {
            None
        }
    }

    /// A section that shows how a status is reported holds examples, however
    /// each of them is labelled. A section that shows how to use the work
    /// ("Usage example") may well be followed by the agent's own status.
    fn section_objection(&self) -> Option<&'static str> {
        let lines = self.layout.lines()[..self.lines.start].iter().rev();
        let mut headings =
            lines.filter(|line| line.ground == Ground::Prose && line.text.starts_with('#'));
        let heading = headings.next()?;
        STATUS_EXAMPLES.is_match(heading.text).then_some("it stands in a section of examples")
    }

    /// The sentence that introduces what stands here: the end of the line
    /// before, where that is a heading, ends with a colon, or runs on into it.
    fn introduction(&self) -> Option<&'w str> {
        let lines = &self.layout.lines()[..self.lines.start];
        let above = lines.iter().rev().find(|line| {
            line.ground != Ground::Fence && !line.text.trim().is_empty() && !is_rule(line.text)
        })?;
        let adjacent = lines.last().is_some_and(|line| !line.text.trim().is_empty());
        let heading = is_heading(above.text.trim());
        let text = above.text.trim_end().trim_end_matches(['*', '_', '`']);
        let leads = text.ends_with([':', '：']) || (adjacent && runs_on(text));
        (heading || leads).then(|| sentence::last_sentence(text))
    }

    /// Whether the agent takes back what it has just said.
    fn retraction(&self) -> Option<&'static str> {
        let following = self.following().take(3);
        for text in following {
            if OTHERWISE.is_match(text) {
                return Some("the text after it shows that it is an example");
            }
            if RETRACTION.is_match(text) {
                return Some("the agent takes it back in the text after it");
            }
        }
        None
    }

    /// Whether text about the next work follows. Only a bare tag is refused
    /// for that: a whole block has said what it means.
    pub(crate) fn next_work_follows(&self) -> bool {
        self.following().any(|text| NEXT_WORK.is_match(text) && !SUMMARY.is_match(text))
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

/// Whether text glued to a bare tag, or following it on its line, is about
/// the next work.
pub(crate) fn is_next_work(text: &str) -> bool {
    NEXT_WORK.is_match(text) && !SUMMARY.is_match(text)
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

/// A heading, or a line that is bold as a whole.
fn is_heading(text: &str) -> bool {
    text.starts_with('#') || (text.starts_with("**") && text.trim_end_matches(':').ends_with("**"))
}

/// A thematic break, or a line of box drawing.
fn is_rule(text: &str) -> bool {
    text.trim().chars().all(|c| matches!(c, '-' | '=' | '*' | '_' | '─' | '━' | '═' | '`'))
}

/// Whether a line ends in the middle of a sentence that leads on to the next.
fn runs_on(text: &str) -> bool {
    RUNS_ON.is_match(text)
}

static RUNS_ON: LazyLock<Regex> = LazyLock::new(|| {
    constant(
        r"(?:[,(\x22“]|\b(?:is|are|with|as|be|say|says|print|prints|output|outputs|emit|emits|reply|write|writes|the|this|line))$",
    )
});

static DENIAL: LazyLock<Regex> = LazyLock::new(|| {
    constant(
        r"\b(?:not|never|cannot|can.?t|won.?t|shouldn.?t|don.?t|doesn.?t|didn.?t)\b[^,;.]{0,40}\b(?:output|print|emit|signal|send|write|say|reply|respond|give|declare|claim|promise|exit|stop|finish|done|complete)|\bnot yet\b|\binstead of\b",
    )
});

static CHOICE: LazyLock<Regex> =
    LazyLock::new(|| constant(r"^[\x22'{<\[]*[\w-]+\s*(?:\||/|\bor\b)\s*[\w-]+"));

static EXAMPLE: LazyLock<Regex> = LazyLock::new(|| {
    constant(
        r"\b(?:protocol|template|reminder|remember|examples?|e\.g|for instance|such as|format|syntax|placeholder|fixture|stop condition|exit condition|completion condition|looks? like|(?:reply|respond|answer|end|finish|exit) with|(?:must|should|has to|have to|needs? to|expected to|supposed to|told to|asked to|instructed to|told me to|asked me to) (?:\w+ ){0,2}(?:output|print|emit|reply|respond|write|say|contain|include|end)|says|said|reads|quot(?:e|es|ed|ing)|the prompt|instructions?|wait(?:s|ing)? for|looks? for|match(?:es)?|detects?|parses?|regex|(?:wrote|written|writing|saved?|saving|added|adding|updated|updating|appended|appending|created|creating|inserted|put)\b[^:]*\.\w{1,5}\b|contents? of|(?:in|of|to|from) [\w./~-]+\.(?:md|txt|sh|py|json|ya?ml|toml|rs|ts|js)|\bcat |\becho )",
    )
});

static STATUS_EXAMPLES: LazyLock<Regex> = LazyLock::new(|| {
    constant(
        r"\b(?:status|signal|exit|completion|promise|report\w*)\b.*\b(?:examples?|templates?|samples?)\b|\b(?:examples?|templates?|samples?)\b.*\b(?:status|signal|exit|completion|promise|report\w*)\b",
    )
});

static PUT_OFF: LazyLock<Regex> = LazyLock::new(|| {
    constant(
        r"\b(?:if|when|whenever|once|until|unless|as soon as|whether|in case|later|eventually|afterwards?|in the future|next (?:time|iteration|loop|turn)|would|at the end|then i will|then i'll)\b|,\s*(?:then )?(?:please )?(?:output|print|emit|reply|respond|say|write|return|end|finish)\b",
    )
});

static OTHERWISE: LazyLock<Regex> = LazyLock::new(|| {
    constant(
        r"^[\W\d]*(?:otherwise|or else|replace |where \W*\w+\W* is |if (?:not|any|work|tasks?|there)\b)",
    )
});

static RETRACTION: LazyLock<Regex> = LazyLock::new(|| {
    constant(
        r"\b(?:should(?: not|n.t) have|(?:ignore|disregard|retract|withdraw|scratch|strike) (?:that|this|the (?:signal|promise|status|block|above))|(?:signal|promise|status|that) was premature|i take (?:it|that) back|(?:that|this|above) (?:is|was) (?:just |only )?an? (?:example|template|placeholder|illustration))\b",
    )
});

static NEXT_WORK: LazyLock<Regex> = LazyLock::new(|| {
    constant(
        r"^[\W\d]*(?:(?:ok(?:ay)?|great|good|perfect|alright|wait|hmm|actually|now|next|then|first|but|however|so)\b[\s,.!:—-]*)*(?:(?:now|next)[\s,]+(?:i |let me |let's |to )|next up\b|let me (?:now |also |quickly |first |next )?\w|let's (?:now |also |start|move|continue)|i(?:'ll| will| am going to|'m going to| need to| still need| still have| have to| must) \w|moving on\b|continuing (?:with|on|to)\b|starting (?:with |on |the |task|story|phase)|proceeding (?:to|with)\b|on to the next|there (?:is|are) still\b|still (?:to do|open|missing|remaining)|remaining (?:work|tasks?|items?|stories)\W*:\s*\w)|[.!] (?:now let me|next,? i|i(?:'ll| will) now|moving on to)\b",
    )
});

static SUMMARY: LazyLock<Regex> = LazyLock::new(|| {
    constant(
        r"\b(?:let me|i(?:'ll| will| need to)|let's)\b.{0,20}\b(?:summar|provide|recap|outline|explain|list|give|present|share|describe|wrap|conclude|highlight|note|report|know)|remaining\W.{0,20}:\s*\W*(?:none|nothing|no |0\b|n/a)",
    )
});
