//! Which lines of Claude Code's streams and session files cannot matter.
//!
//! Nearly all of a long one is what tools were asked and have answered. A line
//! is passed over only where every member of it that [`Record`](super::Record)
//! reads is known to say nothing.

use super::wakes;
use crate::read::far::{ByLine, Line, Sifting, Walk, Wanted, is_blank};

/// Knows whose lines they are.
#[derive(Debug)]
pub(super) struct ClaudeSieve {
    /// The session's id; a line of another may begin a turn.
    pub(super) session: String,
    /// Whether a model's name was seen: the first one is told.
    pub(super) model_known: bool,
}

/// What was seen of a line.
#[derive(Default)]
struct Seen<'a> {
    kind: &'a [u8],
    /// Whether a sub-agent speaks.
    sub_agent: bool,
    message: Message<'a>,
}

#[derive(Default)]
struct Message<'a> {
    id: &'a [u8],
    model: &'a [u8],
    /// Nothing where it is not told.
    tokens: Option<u64>,
    /// The texts, as they are escaped: at most as many as fit.
    texts: [&'a [u8]; 4],
    count: usize,
    /// Whether a tool's answer is among the blocks.
    answers: bool,
    /// Whether a block is neither text nor thinking, which ends a text.
    calls: bool,
}

impl ByLine for ClaudeSieve {
    fn line(&self, line: &[u8], wanted: &dyn Wanted, kept: &mut Sifting<'_>) -> Line {
        let Some(seen) = self.seen(line) else {
            return Line::Matters;
        };
        match seen.kind {
            b"user" if wakes::may_run_on(line) => Line::Matters,
            b"user" if seen.message.answers && seen.message.count == 0 => {
                kept.part();
                Line::Silent
            }
            b"assistant" if self.model_known => assistant(&seen, wanted, kept),
            b"stream_event" | b"progress" => Line::Silent,
            _ => Line::Matters,
        }
    }
}

fn assistant(seen: &Seen<'_>, wanted: &dyn Wanted, kept: &mut Sifting<'_>) -> Line {
    let Message { id, model, tokens, texts, count, .. } = &seen.message;
    let Some(texts) = texts.get(..*count) else {
        return Line::Matters;
    };
    if id.is_empty() || model.is_empty() || *model == b"<synthetic>" || id.contains(&b'\\') {
        return Line::Matters;
    }
    if !seen.sub_agent && texts.iter().any(|text| wanted.may_stand_in(text)) {
        return Line::Matters;
    }
    let id = super::spent::digest(id);
    if let Some(tokens) = tokens {
        kept.used(id, *tokens);
    }
    if !seen.sub_agent && texts.iter().any(|text| !is_blank(text)) {
        return Line::Speaks(id);
    }
    if seen.message.calls {
        kept.part();
    }
    Line::Silent
}

impl ClaudeSieve {
    fn seen<'a>(&self, line: &'a [u8]) -> Option<Seen<'a>> {
        let mut walk = Walk::new(line);
        let mut seen = Seen::default();
        walk.enter(b'{')?;
        loop {
            match walk.member()? {
                b"" => return walk.is_at_end().then_some(seen),
                b"type" => seen.kind = walk.string()?,
                b"message" => seen.message = message(&mut walk)?,
                b"session_id" | b"sessionId" => {
                    (walk.string()? == self.session.as_bytes()).then_some(())?;
                }
                b"parent_tool_use_id" | b"isSidechain" => {
                    seen.sub_agent |= !walk.says_nothing()?;
                }
                b"isApiErrorMessage"
                | b"is_api_error_message"
                | b"error"
                | b"isMeta"
                | b"isSynthetic"
                | b"isCompactSummary" => {
                    walk.says_nothing()?.then_some(())?;
                }
                _ => walk.pass()?,
            }
        }
    }
}

fn message<'a>(walk: &mut Walk<'a>) -> Option<Message<'a>> {
    let mut message = Message::default();
    walk.enter(b'{')?;
    loop {
        match walk.member()? {
            b"" => return Some(message),
            b"id" => message.id = walk.string()?,
            b"model" => message.model = walk.string()?,
            b"content" => content(walk, &mut message)?,
            b"usage" => message.tokens = Some(tokens(walk)?),
            _ => walk.pass()?,
        }
    }
}

fn content<'a>(walk: &mut Walk<'a>, message: &mut Message<'a>) -> Option<()> {
    walk.enter(b'[')?;
    while walk.element()? {
        block(walk, message)?;
    }
    Some(())
}

fn block<'a>(walk: &mut Walk<'a>, message: &mut Message<'a>) -> Option<()> {
    let (mut kind, mut text): (&[u8], &[u8]) = (b"", b"");
    walk.enter(b'{')?;
    loop {
        match walk.member()? {
            b"" => break,
            b"type" => kind = walk.string()?,
            b"text" => text = walk.string()?,
            _ => walk.pass()?,
        }
    }
    message.calls |= !matches!(kind, b"text" | b"thinking");
    match kind {
        b"tool_result" => message.answers = true,
        b"tool_use" | b"thinking" | b"redacted_thinking" | b"server_tool_use" => {
            // In a user's message it would be read.
            text.is_empty().then_some(())?;
        }
        b"text" => {
            *message.texts.get_mut(message.count)? = text;
            message.count += 1;
        }
        _ => return None,
    }
    Some(())
}

/// What [`Tokens`](super::record::Tokens) adds up.
fn tokens(walk: &mut Walk<'_>) -> Option<u64> {
    let mut total: u64 = 0;
    walk.enter(b'{')?;
    loop {
        match walk.member()? {
            b"" => return Some(total),
            b"input_tokens" | b"cache_creation_input_tokens" | b"output_tokens" => {
                total = total.saturating_add(walk.number()?);
            }
            _ => walk.pass()?,
        }
    }
}
