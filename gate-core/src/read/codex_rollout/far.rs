//! Which lines of Codex's session file cannot matter.

use super::number::{Source, number_of_escaped};
use crate::read::far::{ByLine, Few, Line, Sifting, Value, Values, Walk, Wanted, is_blank};

/// Knows nothing but the form.
#[derive(Debug)]
pub(super) struct RolloutSieve;

/// What a line says.
#[derive(Clone, Copy)]
pub(super) enum Says {
    /// What may matter.
    Anything,
    /// A text of the agent.
    Text(Value, Source),
    Nothing,
}

/// What was seen of a payload.
#[derive(Default)]
struct Payload<'a> {
    kind: &'a [u8],
    role: &'a [u8],
    message: Option<Value>,
    /// The texts of `content`.
    texts: Few,
}

impl ByLine for RolloutSieve {
    type Seen = Says;

    fn see(&self, walk: &mut Walk<'_, '_>) -> Option<Says> {
        let (mut kind, mut payload): (&[u8], _) = (b"", Payload::default());
        walk.enter(b'{')?;
        loop {
            match walk.member()? {
                b"" => return Some(payload.says(kind)),
                b"type" => kind = walk.string()?,
                b"payload" => payload = of_payload(walk)?,
                _ => walk.pass()?,
            }
        }
    }

    fn comes_to(
        &self,
        seen: &Says,
        values: &Values<'_>,
        wanted: &dyn Wanted,
        _: &mut Sifting<'_>,
    ) -> Line {
        match *seen {
            Says::Anything => Line::Matters,
            Says::Nothing => Line::Silent,
            Says::Text(text, source) => match values.get(text) {
                text if is_blank(text) => Line::Silent,
                text if wanted.may_stand_in(text) => Line::Matters,
                text => number_of_escaped(text, source).map_or(Line::Matters, Line::Twice),
            },
        }
    }
}

impl Payload<'_> {
    /// What a line of a kind says with this payload.
    fn says(&self, kind: &[u8]) -> Says {
        let mut texts = self.texts.all();
        match (kind, self.kind) {
            (b"response_item", b"message") if self.role == b"assistant" => {
                match (texts.next(), texts.next()) {
                    (Some(text), None) => Says::Text(text, Source::Model),
                    _ => Says::Anything,
                }
            }
            (b"event_msg", b"agent_message") => match self.message {
                Some(text) => Says::Text(text, Source::Screen),
                None => Says::Anything,
            },
            (
                b"response_item",
                b"reasoning"
                | b"function_call"
                | b"function_call_output"
                | b"custom_tool_call"
                | b"custom_tool_call_output"
                | b"local_shell_call",
            ) => Says::Nothing,
            (
                b"event_msg",
                b"agent_reasoning"
                | b"exec_command_begin"
                | b"exec_command_output_delta"
                | b"exec_command_end",
            ) => Says::Nothing,
            _ => Says::Anything,
        }
    }
}

fn of_payload<'a>(walk: &mut Walk<'a, '_>) -> Option<Payload<'a>> {
    let mut payload = Payload::default();
    walk.enter(b'{')?;
    loop {
        match walk.member()? {
            b"" => return Some(payload),
            b"type" => payload.kind = walk.string()?,
            b"role" => payload.role = walk.string()?,
            b"message" => payload.message = Some(walk.text()?),
            b"content" => of_content(walk, &mut payload.texts)?,
            _ => walk.pass()?,
        }
    }
}

fn of_content(walk: &mut Walk<'_, '_>, texts: &mut Few) -> Option<()> {
    if walk.enter(b'[').is_none() {
        return walk.pass();
    }
    while walk.element()? {
        walk.enter(b'{')?;
        loop {
            match walk.member()? {
                b"" => break,
                b"text" => texts.add(walk.text()?)?,
                _ => walk.pass()?,
            }
        }
    }
    Some(())
}
