//! Which lines of `codex exec --json` cannot matter.

use crate::read::far::{ByLine, Line, Sifting, Value, Values, Walk, Wanted, is_blank};

/// Knows nothing but the form.
#[derive(Debug)]
pub(super) struct CodexSieve;

/// What a line says.
#[derive(Clone, Copy)]
pub(super) enum Says {
    /// What may matter.
    Anything,
    /// The agent's text.
    Text(Option<Value>),
    Nothing,
}

impl ByLine for CodexSieve {
    type Seen = Says;

    fn see(&self, walk: &mut Walk<'_, '_>) -> Option<Says> {
        let (mut kind, mut item): (&[u8], _) = (b"", Item::default());
        walk.enter(b'{')?;
        loop {
            match walk.member()? {
                b"" => break,
                b"type" => kind = walk.string()?,
                b"thread_id" => return None,
                b"item" => item = of_item(walk)?,
                _ => walk.pass()?,
            }
        }
        Some(match (kind, item.kind) {
            (b"item.completed", b"agent_message") => Says::Text(item.text),
            (b"item.completed", kind) if kind.contains(&b'\\') => Says::Anything,
            (b"item.completed", [_, ..]) | (b"item.started" | b"item.updated", _) => Says::Nothing,
            _ => Says::Anything,
        })
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
            Says::Text(text) => match text.map_or(&b""[..], |text| values.get(text)) {
                text if wanted.may_stand_in(text) => Line::Matters,
                text if is_blank(text) => Line::Silent,
                _ => Line::Speaks(0),
            },
        }
    }
}

/// What was seen of an item.
#[derive(Default)]
struct Item<'a> {
    kind: &'a [u8],
    text: Option<Value>,
}

fn of_item<'a>(walk: &mut Walk<'a, '_>) -> Option<Item<'a>> {
    let mut item = Item::default();
    walk.enter(b'{')?;
    loop {
        match walk.member()? {
            b"" => return Some(item),
            b"type" => item.kind = walk.string()?,
            b"text" => item.text = Some(walk.text()?),
            _ => walk.pass()?,
        }
    }
}
