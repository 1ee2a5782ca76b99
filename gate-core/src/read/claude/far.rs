//! Which lines of Claude Code's streams and session files cannot matter.
//!
//! Nearly all of a long one is what tools were asked and have answered. A line
//! is passed over only where every member of it that [`Record`](super::Record)
//! reads is known to say nothing.

use super::wakes;
use crate::read::far::{ByLine, Few, Line, Sifting, Value, Values, Walk, Wanted, is_blank};

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
pub(super) struct Seen {
    kind: Kind,
    /// Whether a sub-agent speaks.
    sub_agent: bool,
    message: Message,
}

/// Whose line it is.
#[derive(Clone, Copy, Default)]
enum Kind {
    #[default]
    Other,
    User,
    Assistant,
    /// It repeats what other lines say.
    Progress,
}

#[derive(Default)]
struct Message {
    id: Option<Value>,
    /// Whether a model speaks.
    of_model: bool,
    /// Nothing where they are not told.
    tokens: Option<Few>,
    texts: Few,
    /// Whether a tool's answer is among the blocks.
    answers: bool,
    /// Whether a block is neither text nor thinking, which ends a text.
    calls: bool,
}

impl ByLine for ClaudeSieve {
    type Seen = Seen;

    fn see(&self, walk: &mut Walk<'_, '_>) -> Option<Seen> {
        let mut seen = Seen::default();
        walk.enter(b'{')?;
        loop {
            match walk.member()? {
                b"" => return Some(seen),
                b"type" => seen.kind = Kind::of(walk.string()?),
                b"message" => seen.message = message(walk)?,
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

    fn comes_to(
        &self,
        seen: &Seen,
        values: &Values<'_>,
        wanted: &dyn Wanted,
        kept: &mut Sifting<'_>,
    ) -> Line {
        let Message { texts, answers, .. } = &seen.message;
        match seen.kind {
            Kind::User if *answers && texts.is_empty() && !may_run_on(values) => {
                kept.part();
                Line::Silent
            }
            Kind::Assistant if self.model_known => {
                assistant(seen, values, wanted, kept).unwrap_or(Line::Matters)
            }
            Kind::Progress => Line::Silent,
            _ => Line::Matters,
        }
    }
}

impl Kind {
    fn of(kind: &[u8]) -> Self {
        match kind {
            b"user" => Self::User,
            b"assistant" => Self::Assistant,
            b"stream_event" | b"progress" => Self::Progress,
            _ => Self::Other,
        }
    }
}

/// Whether a line may hold the answer of a tool whose task runs on.
fn may_run_on(values: &Values<'_>) -> bool {
    values.are_more() || values.all().any(wakes::may_run_on)
}

/// What a line of the agent comes to; nothing where it is in doubt.
fn assistant(
    seen: &Seen,
    values: &Values<'_>,
    wanted: &dyn Wanted,
    kept: &mut Sifting<'_>,
) -> Option<Line> {
    let Message { id, of_model, tokens, texts, calls, .. } = &seen.message;
    let id = values.get((*id)?);
    if id.is_empty() || id.contains(&b'\\') || !of_model {
        return None;
    }
    let add = |sum: u64, tokens| Some(sum.saturating_add(values.number(tokens)?));
    let tokens = tokens.as_ref().map(|tokens| tokens.all().try_fold(0, add));
    let mut texts = texts.all().map(|text| values.get(text)).filter(|_| !seen.sub_agent);
    if texts.clone().any(|text| wanted.may_stand_in(text)) {
        return None;
    }
    let id = super::spent::digest(id);
    if let Some(tokens) = tokens {
        kept.used(id, tokens?);
    }
    if texts.any(|text| !is_blank(text)) {
        return Some(Line::Speaks(id));
    }
    if *calls {
        kept.part();
    }
    Some(Line::Silent)
}

fn message(walk: &mut Walk<'_, '_>) -> Option<Message> {
    let mut message = Message::default();
    walk.enter(b'{')?;
    loop {
        match walk.member()? {
            b"" => return Some(message),
            b"id" => message.id = Some(walk.text()?),
            b"model" => message.of_model = !matches!(walk.string()?, b"" | b"<synthetic>"),
            b"content" => content(walk, &mut message)?,
            b"usage" => message.tokens = Some(tokens(walk)?),
            _ => walk.pass()?,
        }
    }
}

fn content(walk: &mut Walk<'_, '_>, message: &mut Message) -> Option<()> {
    walk.enter(b'[')?;
    while walk.element()? {
        block(walk, message)?;
    }
    Some(())
}

fn block(walk: &mut Walk<'_, '_>, message: &mut Message) -> Option<()> {
    let (mut kind, mut text): (&[u8], _) = (b"", None);
    walk.enter(b'{')?;
    loop {
        match walk.member()? {
            b"" => break,
            b"type" => kind = walk.string()?,
            b"text" => text = Some(walk.text()?),
            _ => walk.pass()?,
        }
    }
    message.calls |= !matches!(kind, b"text" | b"thinking");
    match (kind, text) {
        (b"tool_result", _) => message.answers = true,
        // In a user's message a text beside it would be read.
        (b"tool_use" | b"thinking" | b"redacted_thinking" | b"server_tool_use", None) => {}
        (b"text", Some(text)) => message.texts.add(text)?,
        _ => return None,
    }
    Some(())
}

/// What [`Tokens`](super::record::Tokens) adds up.
fn tokens(walk: &mut Walk<'_, '_>) -> Option<Few> {
    let mut tokens = Few::default();
    walk.enter(b'{')?;
    loop {
        match walk.member()? {
            b"" => return Some(tokens),
            b"input_tokens" | b"cache_creation_input_tokens" | b"output_tokens" => {
                tokens.add(walk.number()?)?;
            }
            _ => walk.pass()?,
        }
    }
}
