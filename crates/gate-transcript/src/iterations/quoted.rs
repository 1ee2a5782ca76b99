//! Finds text that an agent shows: text in a code fence, or after a line that introduces
//! some, is not the runner's.
//!
//! A fence that was never closed must not hide all that follows: a fence counts for 32 KiB,
//! and at most two of an iteration may hide headers, because after an open one all that
//! follow are read the wrong way round. Text that a colon introduces ends with the next
//! blank line after a header. If a true header is hidden, two iterations become one.

/// Bytes after which a fence that does not close is ignored.
const FENCE: usize = 32 << 10;

/// Fences of an iteration that may hide headers.
const HIDING: usize = 2;

/// State after the last line.
#[derive(Debug, Default)]
pub(super) struct Quoted {
    fence: Option<Fence>,
    /// True if the last line that is not blank ends with a colon.
    introduced: bool,
    /// True if an introduced header was met, and no blank line since.
    inside: bool,
    /// Fences that have hidden a header.
    hiding: usize,
}

/// An open fence.
#[derive(Clone, Copy, Debug)]
struct Fence {
    mark: u8,
    length: usize,
    /// Bytes left until it is ignored.
    left: usize,
    /// True if it has hidden a header.
    hides: bool,
}

impl Quoted {
    /// Takes a line that is no header.
    pub(super) fn line(&mut self, line: &[u8]) {
        let text = line.trim_ascii();
        if let Some(fence) = self.fence {
            self.fence = match fence.left.checked_sub(line.len()) {
                Some(left) if !fence.is_closed_by(text) => Some(Fence { left, ..fence }),
                _ => None,
            };
            return;
        }
        self.fence = Fence::opened_by(text);
        if text.is_empty() {
            self.inside = false;
        } else {
            self.introduced = text.ends_with(b":");
        }
    }

    /// True if a header that comes now is shown.
    pub(super) fn holds(&mut self) -> bool {
        self.inside |= std::mem::take(&mut self.introduced);
        if let Some(fence) = &mut self.fence {
            self.hiding += usize::from(!std::mem::replace(&mut fence.hides, true));
        }
        self.inside || (self.fence.is_some() && self.hiding <= HIDING)
    }
}

impl Fence {
    /// A fence that a line opens, also as an item of a list.
    fn opened_by(text: &[u8]) -> Option<Self> {
        let text = item(text);
        let mark = *text.first().filter(|mark| b"`~".contains(mark))?;
        let length = run(text, mark);
        // Backticks in a line are code in it.
        let code = mark == b'`' && text[length..].contains(&mark);
        (length >= 3 && !code).then_some(Self { mark, length, left: FENCE, hides: false })
    }

    fn is_closed_by(self, text: &[u8]) -> bool {
        let length = run(text, self.mark);
        length >= self.length && length == text.len()
    }
}

/// Number of marks at the beginning.
fn run(text: &[u8], mark: u8) -> usize {
    text.iter().take_while(|&&byte| byte == mark).count()
}

/// Content of a list's item.
fn item(text: &[u8]) -> &[u8] {
    let digits = text.iter().take_while(|byte| byte.is_ascii_digit()).count();
    match &text[digits..] {
        [b'-' | b'*' | b'+', b' ', rest @ ..] if digits == 0 => rest.trim_ascii_start(),
        [b'.' | b')', b' ', rest @ ..] if digits > 0 => rest.trim_ascii_start(),
        _ => text,
    }
}
