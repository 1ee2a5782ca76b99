//! Which lines of Codex's session file cannot matter.

use crate::read::far::{ByLine, Few, Line, Sifting, Values, Walk, Wanted, is_blank};

/// Knows nothing but the form.
#[derive(Debug)]
pub(super) struct RolloutSieve;

/// What a line says.
pub(super) enum Says {
    /// What may matter.
    Anything,
    /// The agent's texts.
    Texts(Few),
    Nothing,
}

/// What was seen of a payload.
#[derive(Default)]
struct Payload<'a> {
    kind: &'a [u8],
    role: &'a [u8],
    /// The text of `message`, or those of `content`.
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

    /// A text stands here twice, and which of the two comes second is told by those
    /// before: so each text is read.
    fn comes_to(
        &self,
        seen: &Says,
        values: &Values<'_>,
        _: &dyn Wanted,
        _: &mut Sifting<'_>,
    ) -> Line {
        match seen {
            Says::Anything => Line::Matters,
            Says::Nothing => Line::Silent,
            Says::Texts(texts) if texts.all().all(|text| is_blank(values.get(text))) => {
                Line::Silent
            }
            Says::Texts(_) => Line::Matters,
        }
    }
}

impl Payload<'_> {
    /// What a line of a kind says with this payload.
    fn says(self, kind: &[u8]) -> Says {
        match (kind, self.kind) {
            (b"response_item", b"message") if self.role == b"assistant" => Says::Texts(self.texts),
            (b"event_msg", b"agent_message") => Says::Texts(self.texts),
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
            b"message" => payload.texts.add(walk.text()?)?,
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
