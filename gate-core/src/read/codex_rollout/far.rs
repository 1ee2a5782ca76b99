//! Which lines of Codex's session file cannot matter.

use crate::read::far::{ByLine, Line, Sifting, Walk, Wanted, is_blank};

/// Knows nothing but the form.
#[derive(Debug)]
pub(super) struct RolloutSieve;

/// What was seen of a payload.
#[derive(Default)]
struct Payload<'a> {
    kind: &'a [u8],
    role: &'a [u8],
    /// The text of `message`, or those of `content`: at most as many as fit.
    texts: [&'a [u8]; 4],
    count: usize,
}

impl ByLine for RolloutSieve {
    fn line(&self, line: &[u8], _: &dyn Wanted, _: &mut Sifting<'_>) -> Line {
        let Some((kind, payload)) = seen(line) else {
            return Line::Matters;
        };
        match (kind, payload.kind) {
            (b"response_item", b"message") if payload.role == b"assistant" => speaks(&payload),
            (b"event_msg", b"agent_message") => speaks(&payload),
            (
                b"response_item",
                b"reasoning"
                | b"function_call"
                | b"function_call_output"
                | b"custom_tool_call"
                | b"custom_tool_call_output"
                | b"local_shell_call",
            ) => Line::Silent,
            (
                b"event_msg",
                b"agent_reasoning"
                | b"exec_command_begin"
                | b"exec_command_output_delta"
                | b"exec_command_end",
            ) => Line::Silent,
            _ => Line::Matters,
        }
    }
}

/// A text stands here twice, and which of the two comes second is told by those
/// before: so each text is read.
fn speaks(payload: &Payload<'_>) -> Line {
    match payload.texts.get(..payload.count) {
        Some(texts) if texts.iter().all(|text| is_blank(text)) => Line::Silent,
        _ => Line::Matters,
    }
}

fn seen(line: &[u8]) -> Option<(&[u8], Payload<'_>)> {
    let mut walk = Walk::new(line);
    let mut seen: (&[u8], Payload<'_>) = (b"", Payload::default());
    walk.enter(b'{')?;
    loop {
        match walk.member()? {
            b"" => return walk.is_at_end().then_some(seen),
            b"type" => seen.0 = walk.string()?,
            b"payload" => seen.1 = of_payload(&mut walk)?,
            _ => walk.pass()?,
        }
    }
}

fn of_payload<'a>(walk: &mut Walk<'a>) -> Option<Payload<'a>> {
    let mut payload = Payload::default();
    walk.enter(b'{')?;
    loop {
        match walk.member()? {
            b"" => return Some(payload),
            b"type" => payload.kind = walk.string()?,
            b"role" => payload.role = walk.string()?,
            b"message" => payload.add(walk.string()?)?,
            b"content" => of_content(walk, &mut payload)?,
            _ => walk.pass()?,
        }
    }
}

fn of_content<'a>(walk: &mut Walk<'a>, payload: &mut Payload<'a>) -> Option<()> {
    if walk.enter(b'[').is_none() {
        return walk.pass();
    }
    while walk.element()? {
        walk.enter(b'{')?;
        loop {
            match walk.member()? {
                b"" => break,
                b"text" => payload.add(walk.string()?)?,
                _ => walk.pass()?,
            }
        }
    }
    Some(())
}

impl<'a> Payload<'a> {
    fn add(&mut self, text: &'a [u8]) -> Option<()> {
        *self.texts.get_mut(self.count)? = text;
        self.count += 1;
        Some(())
    }
}
