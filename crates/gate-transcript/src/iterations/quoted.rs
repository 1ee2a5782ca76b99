//! Finds text that an agent shows: text in a code fence, or after a line that introduces
//! some, is not the runner's.
//!
//! A fence that was never closed must not hide all that follows: a fence counts for 32 KiB,
//! and at most two of an iteration may hide headers, because after an open one all that
//! follow are read the wrong way round. Text that a colon introduces ends with the next
//! blank line after a header. If a true header is hidden, two iterations become one.

/// Bytes after which a fence that does not close is ignored.
const MAX_FENCE_BYTES: usize = 32 << 10;

/// Fences of an iteration that may hide headers.
const MAX_HIDING: usize = 2;

/// State after the last line.
#[derive(Debug, Default)]
pub(super) struct Quoted {
    fence: Option<Fence>,
    /// The last line that is not blank ends with a colon.
    introduced: bool,
    /// A header came that a line had introduced, and no blank line since.
    in_introduced_text: bool,
    /// Fences that have hidden a header.
    hiding_fences: usize,
}

/// An open fence.
#[derive(Clone, Copy, Debug)]
struct Fence {
    mark: u8,
    length: usize,
    /// The bytes that may still come before it is ignored.
    bytes_left: usize,
    /// It has hidden a header.
    hides_header: bool,
}

impl Quoted {
    /// Takes a line that is no header.
    pub(super) fn line(&mut self, line: &[u8]) {
        let text = line.trim_ascii();
        if let Some(fence) = self.fence {
            self.fence = match fence.bytes_left.checked_sub(line.len()) {
                Some(bytes_left) if !fence.is_closed_by(text) => {
                    Some(Fence { bytes_left, ..fence })
                }
                _ => None,
            };
            return;
        }
        self.fence = Fence::opened_by(text);
        if text.is_empty() {
            self.in_introduced_text = false;
        } else {
            self.introduced = text.ends_with(b":");
        }
    }

    /// A header that comes now is text that the agent shows.
    pub(super) fn hides_header(&mut self) -> bool {
        self.in_introduced_text |= std::mem::take(&mut self.introduced);
        if let Some(fence) = &mut self.fence {
            self.hiding_fences += usize::from(!std::mem::replace(&mut fence.hides_header, true));
        }
        self.in_introduced_text || (self.fence.is_some() && self.hiding_fences <= MAX_HIDING)
    }
}

impl Fence {
    /// A fence that a line opens, also as an item of a list.
    fn opened_by(text: &[u8]) -> Option<Self> {
        let text = item_content(text);
        let mark = *text.first().filter(|mark| b"`~".contains(mark))?;
        let length = run_length(text, mark);
        // Backticks further on in the line are code within it, and open no fence.
        let is_inline_code = mark == b'`' && text[length..].contains(&mark);
        (length >= 3 && !is_inline_code).then_some(Self {
            mark,
            length,
            bytes_left: MAX_FENCE_BYTES,
            hides_header: false,
        })
    }

    fn is_closed_by(self, text: &[u8]) -> bool {
        let length = run_length(text, self.mark);
        length >= self.length && length == text.len()
    }
}

/// The number of marks that a text begins with.
fn run_length(text: &[u8], mark: u8) -> usize {
    text.iter().take_while(|&&byte| byte == mark).count()
}

/// The text of a list's item without its bullet or number; any other text as it is.
fn item_content(text: &[u8]) -> &[u8] {
    let digits = text.iter().take_while(|byte| byte.is_ascii_digit()).count();
    match &text[digits..] {
        [b'-' | b'*' | b'+', b' ', content @ ..] if digits == 0 => content.trim_ascii_start(),
        [b'.' | b')', b' ', content @ ..] if digits > 0 => content.trim_ascii_start(),
        _ => text,
    }
}
