//! Most of a long input is read for what it says, not for what it shows.
//!
//! Of its end, the last [`NEAR`] bytes, everything is read. Of what stands
//! before, which is *far*, only what can still matter: what the main agent
//! wrote, as far as something in it is looked for, what begins turns, and what
//! was used. A [`Sieve`] knows a format's records well enough to tell, without
//! reading them, which lines cannot matter; in any doubt a line matters. Those
//! that do are read as all others are, so that there is one reading of each
//! format, and a sieve can only save time.

mod form;
mod held;
mod sifted;
mod values;
mod walk;

use std::sync::Arc;

pub(super) use held::{Held, Released};
pub use sifted::Sifted;
pub(super) use sifted::{Kept, Sifting};
pub(super) use values::{Few, Value, Values};
pub(super) use walk::Walk;

use form::Forms;

/// How much of the input's end is read whole, in bytes: the last lines that
/// together are as long.
pub const NEAR: usize = 256 << 10;

/// What is looked for in what the main agent wrote.
pub trait Wanted: Send + Sync {
    /// Whether something may stand in a text, given as it is escaped in JSON.
    /// In any doubt it may, and always where a character is escaped that need not
    /// be, or in another way than the shortest, or where one is that has no such
    /// way: all that is told not to be worth reading is written in one way.
    fn may_stand_in(&self, escaped: &[u8]) -> bool;

    /// The place from which on something may stand in plain text, at or after
    /// a byte: in its line, or in a later one.
    fn next(&self, plain: &[u8], from: usize) -> Option<usize>;
}

/// Looks at far lines, beside a reader and beside others.
#[derive(Clone)]
pub struct Far {
    pub(super) sieve: Arc<dyn Sieve>,
    pub(super) wanted: Arc<dyn Wanted>,
    pub(super) epoch: u64,
}

impl Far {
    /// Sifts whole lines.
    pub fn sift(&self, lines: &[u8], into: &mut Sifted) {
        let mut kept = Sifting::new(into, self.epoch);
        self.sieve.sift(lines, &*self.wanted, &mut kept);
    }
}

/// The first of the lines, of so many bytes or a few more.
pub(super) fn first_lines(lines: &[u8], length: usize) -> &[u8] {
    let from = length.saturating_sub(1).min(lines.len());
    memchr::memchr(b'\n', &lines[from..]).map_or(lines, |at| &lines[..=from + at])
}

/// The lines without the first ones.
pub(super) fn after_lines(lines: &[u8], count: u64) -> &[u8] {
    let nth = usize::try_from(count).unwrap_or(usize::MAX).checked_sub(1);
    let end = nth.and_then(|nth| memchr::memchr_iter(b'\n', lines).nth(nth));
    match (nth, end) {
        (None, _) => lines,
        (_, Some(at)) => &lines[at + 1..],
        (_, None) => &[],
    }
}

/// Tells which lines of a format cannot matter.
pub(crate) trait Sieve: Send + Sync {
    /// Looks at whole lines. Those that may matter are kept.
    fn sift(&self, lines: &[u8], wanted: &dyn Wanted, kept: &mut Sifting<'_>);
}

/// What a line comes to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Line {
    /// It may matter.
    Matters,
    /// The main agent speaks, and nothing that is looked for stands in it. It
    /// matters only where it is the last one before a line that matters, or the
    /// one that goes on with the same message: of this id, unless it is 0.
    Speaks(u64),
    /// The same where what is said stands in another line too. Both texts have this
    /// number, but for its last bit.
    Twice(u64),
    /// It does not matter.
    Silent,
}

/// Whether a text, as it is escaped in JSON, is nothing but white space, which is
/// no message; or may be.
pub(super) fn is_blank(mut escaped: &[u8]) -> bool {
    loop {
        escaped = match escaped {
            [] => return true,
            [b'\\', b'n' | b'r' | b't' | b'u' | b'f', rest @ ..] => rest,
            [byte, rest @ ..] if byte.is_ascii() => {
                if !char::from(*byte).is_whitespace() {
                    return false;
                }
                rest
            }
            other => return may_be_blank(other),
        };
    }
}

/// The same where the text goes on with what is not ASCII.
fn may_be_blank(escaped: &[u8]) -> bool {
    let text = String::from_utf8_lossy(escaped);
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        let blank = if c == '\\' {
            matches!(chars.next(), Some('n' | 'r' | 't' | 'u' | 'f'))
        } else {
            c.is_whitespace()
        };
        if !blank {
            return false;
        }
    }
    true
}

/// A sieve that looks at each line by itself.
pub(super) trait ByLine: Send + Sync {
    /// What is seen of a line, but for its values.
    type Seen;

    /// Walks over a line of JSON, without its line break.
    fn see(&self, walk: &mut Walk<'_, '_>) -> Option<Self::Seen>;

    /// What a line comes to of which this was seen.
    fn comes_to(
        &self,
        seen: &Self::Seen,
        values: &Values<'_>,
        wanted: &dyn Wanted,
        kept: &mut Sifting<'_>,
    ) -> Line;
}

impl<T: ByLine> Sieve for T {
    fn sift(&self, lines: &[u8], wanted: &dyn Wanted, kept: &mut Sifting<'_>) {
        let (mut forms, mut values, mut rest) = (Forms::new(), Values::new(), lines);
        while let Some((end, seen)) = forms.see(rest, &mut values, |walk| self.see(walk)) {
            let (line, behind) = rest.split_at(end + 1);
            match seen.map_or(Line::Matters, |seen| self.comes_to(seen, &values, wanted, kept)) {
                Line::Matters => kept.matters(line),
                Line::Speaks(id) => kept.speaks(line, id),
                Line::Twice(number) => kept.twice(line, number),
                Line::Silent => {}
            }
            kept.pass_over(1);
            rest = behind;
        }
    }
}
