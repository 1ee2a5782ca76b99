//! Which lines of `codex exec --json` cannot matter.

use crate::read::far::{ByLine, Line, Sifting, Walk, Wanted, is_blank};

/// Knows nothing but the form.
#[derive(Debug)]
pub(super) struct CodexSieve;

impl ByLine for CodexSieve {
    fn line(&self, line: &[u8], wanted: &dyn Wanted, _: &mut Sifting<'_>) -> Line {
        match seen(line) {
            Some((b"item.completed", b"agent_message", text)) => match text {
                _ if wanted.may_stand_in(text) => Line::Matters,
                _ if is_blank(text) => Line::Silent,
                _ => Line::Speaks(0),
            },
            Some((b"item.completed", kind, _)) if kind.contains(&b'\\') => Line::Matters,
            Some((b"item.completed", [_, ..], _) | (b"item.started" | b"item.updated", ..)) => {
                Line::Silent
            }
            _ => Line::Matters,
        }
    }
}

/// The line's kind, its item's, and the item's text.
fn seen(line: &[u8]) -> Option<(&[u8], &[u8], &[u8])> {
    let mut walk = Walk::new(line);
    let (mut kind, mut item, mut text): (&[u8], &[u8], &[u8]) = (b"", b"", b"");
    walk.enter(b'{')?;
    loop {
        match walk.member()? {
            b"" => return walk.is_at_end().then_some((kind, item, text)),
            b"type" => kind = walk.string()?,
            b"thread_id" => return None,
            b"item" => (item, text) = of_item(&mut walk)?,
            _ => walk.pass()?,
        }
    }
}

fn of_item<'a>(walk: &mut Walk<'a>) -> Option<(&'a [u8], &'a [u8])> {
    let (mut kind, mut text): (&[u8], &[u8]) = (b"", b"");
    walk.enter(b'{')?;
    loop {
        match walk.member()? {
            b"" => return Some((kind, text)),
            b"type" => kind = walk.string()?,
            b"text" => text = walk.string()?,
            _ => walk.pass()?,
        }
    }
}
