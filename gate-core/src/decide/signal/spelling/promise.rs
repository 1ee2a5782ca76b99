//! `<promise>COMPLETE</promise>`.
//!
//! The tag stands on a line of its own, after at most list, bold or code
//! marks, or begins its line with other text glued to it, or closes a line
//! whose sentence is over. Anywhere else it is a mention.

use std::ops::Range;

use super::Spelling;
use crate::decide::expression::Expression;
use crate::decide::language::{Kind, Language};
use crate::decide::policy::{SignalPolicy, SignalValue};
use crate::decide::sentence::last_sentence;
use crate::decide::signal::candidate::{
    Candidate, MAX_CANDIDATES, PLACEHOLDER, Reading, Statement,
};
use crate::decide::signal::context::{Context, end_of, start_of};
use crate::decide::signal::layout::Layout;
use crate::decide::signal::marker::Marker;
use crate::decide::signal::objection::Objection;
use crate::decide::signal::text_after::is_about_work;
use crate::decide::signal::text_before::Introduction;
use crate::decide::signal::value::{is_placeholder, undecorated};

/// The longest tag, in bytes: what is longer encloses text, not a phrase.
const MAX_TAG_BYTES: usize = 300;

/// The phrase that always means that the agent cannot go on.
pub(crate) const BLOCKED: &str = "BLOCKED";

/// See [`Spelling::parts`].
pub(super) const PARTS: &[Marker] = &[MARKER];

/// The protocol in a prompt.
pub(super) fn protocol(policy: &SignalPolicy) -> String {
    format!(
        "## Completion Protocol

You are called again and again until the work is done. When everything that was asked for
is there and you have verified it, close your message with this tag on a line of its own,
with one of the phrases in it and without the braces:

<promise>{{{}|BLOCKED}}</promise>

Your word alone does not end the loop; the project's own checks are run as well. Where you
need something that only a person can give, write BLOCKED instead and say what it is. As
long as something is left, write no tag at all.
",
        policy.phrases.join("|")
    )
}

/// All candidates of this spelling in a message.
pub(super) fn candidates(layout: &Layout<'_>, policy: &SignalPolicy) -> Vec<Candidate> {
    let text = &layout.word().text;
    let Some(first) = MARKER.offsets(text).next() else { return Vec::new() };
    let tags = TAG.find_iter(&text[first..]).map(|tag| first + tag.start..first + tag.end);
    let mut tags: Vec<_> = tags.filter(|tag| tag.len() <= MAX_TAG_BYTES).collect();
    let last_tags = tags.split_off(tags.len().saturating_sub(MAX_CANDIDATES));
    last_tags.into_iter().map(|tag| candidate(layout, tag, &policy.phrases)).collect()
}

fn candidate(layout: &Layout<'_>, tag: Range<usize>, phrases: &[String]) -> Candidate {
    let text = &layout.word().text[tag.clone()];
    let content_start = text.find('>').map_or(0, |end| end + 1);
    let content = &text[content_start..text.rfind('<').unwrap_or(text.len())];
    let first = layout.index_of(tag.start);
    let context = Context::new(layout, first..layout.index_of(tag.end) + 1);
    let reading = match value(content, phrases) {
        Err(objection) => Reading::Rejected(objection),
        Ok(value) => match objection(layout, &context, tag.clone()) {
            Some(objection) => Reading::Rejected(objection),
            None => Reading::Signal(Statement::new(value)),
        },
    };
    Candidate {
        spelling: Spelling::Promise,
        line: layout.number(first),
        index: first,
        span: tag,
        text: text.to_owned(),
        texts: vec![text.to_owned()],
        reading,
    }
}

/// The value of a tag's content.
fn value(content: &str, phrases: &[String]) -> Result<SignalValue, Objection> {
    let phrase = undecorated(content);
    if phrase.eq_ignore_ascii_case(BLOCKED) {
        Ok(SignalValue::Blocked)
    } else if phrases.iter().any(|accepted| accepted.eq_ignore_ascii_case(phrase)) {
        Ok(SignalValue::Complete)
    } else if is_placeholder(content) || phrase.is_empty() {
        Err(Objection::example(PLACEHOLDER))
    } else {
        Err(Objection::new(format!("`{phrase}` is not among signal.promise.phrases")))
    }
}

/// The objection to a tag in its context.
pub(super) fn objection(
    layout: &Layout<'_>,
    context: &Context<'_, '_>,
    tag: Range<usize>,
) -> Option<Objection> {
    let (text, language) = (&layout.word().text, layout.language());
    let lines = layout.lines();
    let (first, last) = (lines[layout.index_of(tag.start)], lines[layout.index_of(tag.end)]);
    let preceding = end_of(&text[first.offset..tag.start], MAX_LINE_BYTES);
    let following = start_of(&text[tag.end..last.offset + last.text.len()], MAX_LINE_BYTES);
    let is_before_work =
        || is_about_work(language, [following.trim()].into_iter()) || context.is_before_work();
    context
        .objection()
        .or_else(|| neighbours_objection(language, preceding, following))
        .or_else(|| is_listed(layout, tag.start).then(|| Objection::example(LISTED)))
        .or_else(|| is_before_work().then(|| Objection::new(FOLLOWED)))
}

const LISTED: &str = "it is one of a list of signals";

/// The line is an item with a label, and so is a line beside it that shows another tag: a
/// prompt lists its signals that way.
fn is_listed(layout: &Layout<'_>, offset: usize) -> bool {
    let index = layout.index_of(offset);
    is_signal_item(layout, index)
        && (is_signal_item(layout, index + 1)
            || index.checked_sub(1).is_some_and(|above| is_signal_item(layout, above)))
}

fn is_signal_item(layout: &Layout<'_>, index: usize) -> bool {
    let line = layout.lines().get(index);
    line.is_some_and(|line| SIGNAL_ITEM.is_match(start_of(line.text, MAX_LINE_BYTES)))
}

/// The part of a tag's line that can refuse it, in bytes on either side.
const MAX_LINE_BYTES: usize = 2_000;

pub(crate) const FOLLOWED: &str = "text about the next work follows it";

/// The objection of the text on the tag's own line.
pub(crate) fn neighbours_objection(
    language: &Language,
    preceding: &str,
    following: &str,
) -> Option<Objection> {
    if preceding.trim_start().starts_with('+') {
        return Some(Objection::new("it stands in a diff"));
    }
    if !preceding.is_empty() && LISTING.is_match(preceding) {
        return Some(Objection::new("it stands in a listing of a file"));
    }
    if !following.is_empty() && COMMENT.is_match(following) {
        return Some(Objection::example("a comment explains it"));
    }
    let unmarked = preceding.trim_matches(MARKS);
    let before_bracket = unmarked.strip_suffix(['(', '[']);
    let after_bracket = following.trim_start().strip_prefix([')', ']']);
    // A tag in parentheses is judged by the text around them.
    let (preceding, following) = match (before_bracket, after_bracket) {
        (Some(preceding), Some(following)) => (preceding.trim_end(), following),
        _ => (unmarked, following),
    };
    let is_quoted = preceding.ends_with(['"', '\'', '“'])
        || following.trim_start_matches(['*', '_']).starts_with(['"', '\'', '”']);
    // Agents talk about the tag far more often than they give it: "I will output
    // <promise>…" must not end the loop. So the tag has to begin its line or follow a
    // finished sentence, and nothing may go on after it.
    let begins_line = preceding.is_empty() || is_bracketed(preceding);
    let is_stated =
        begins_line || ends_a_sentence(preceding) || language.matches(Kind::Claim, preceding);
    if is_quoted {
        return Some(Objection::new("it is quoted"));
    }
    if let Some(rule) = language.rule_in(Kind::PromptItem, preceding) {
        return Some(Objection::to_sentence(rule, preceding));
    }
    let sentence = last_sentence(preceding);
    if !begins_line && let Introduction::Objects(rule) = Introduction::classify(language, sentence)
    {
        return Some(Objection::to_sentence(rule, sentence));
    }
    if let Some(rule) = language.first_in(&[Kind::ConditionalMention, Kind::Mention], preceding) {
        return Some(Objection::from_rule(rule));
    }
    if !is_stated {
        return Some(Objection::new("it is mentioned in a sentence, not stated"));
    }
    continues_sentence(following).then(|| Objection::new("the sentence goes on after it"))
}

/// Marks around a signal that say nothing.
pub(crate) const MARKS: [char; 11] = [' ', '\t', '*', '_', '`', '#', '-', '•', '>', '|', '─'];

/// An item's id in brackets: `[US-7]`.
fn is_bracketed(text: &str) -> bool {
    let id = text.strip_prefix('[').and_then(|text| text.strip_suffix(']')).unwrap_or_default();
    !id.is_empty()
        && id.len() <= 20
        && id.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '.' | '_' | '#'))
        && id.contains(|c: char| c.is_ascii_digit())
}

fn ends_a_sentence(text: &str) -> bool {
    let last_sign = text.trim_end().chars().next_back();
    last_sign.is_none_or(|c| {
        matches!(c, '.' | '!' | ':' | '…' | '。' | '！' | '：' | ')')
            || !c.is_ascii() && !c.is_alphanumeric()
    })
}

/// The sentence goes on after the tag: the text begins in lower case, or with a mark that
/// closes a quotation or continues a clause.
fn continues_sentence(following: &str) -> bool {
    let text = following.trim_start_matches(MARKS);
    text.chars().next().is_some_and(|c| {
        c.is_lowercase() || matches!(c, ',' | ';' | ')' | ':' | '?' | '/' | '|' | '=')
    })
}

/// The beginning of each tag.
const MARKER: Marker = Marker::new("<prom", 0);

/// The tag, with its phrase on the same or on neighbouring lines.
static TAG: Expression = Expression::new(r"<promise>[^<>]*</promise>");

/// A tag behind the line number of a listing.
static LISTING: Expression = Expression::new(r"^\s*(?:[\w./-]+:)?\d+(?:[:→|]|\t)\s*$");

/// An item of a list with a label and a tag in code: `- Blocked: `<story-blocked>…``.
static SIGNAL_ITEM: Expression =
    Expression::new(r"^\s*(?:[-*•]|\d+[.)])\s+[^:`<]{1,80}:[*_]*\s*`<[a-z]");

/// A comment behind a tag, as documents explain one: `<promise>…</promise>  # all done`.
static COMMENT: Expression = Expression::new(r"^\s*(?:#|//|<!--|←|<-)\s*[^\s#]");
