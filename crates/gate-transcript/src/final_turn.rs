//! The final turn and the last word: which of the agent's texts counts.

use std::collections::VecDeque;

use super::blocks::count_breaks;
use super::{Boundary, Event, Role};

/// The longest message that is kept whole, in bytes; of a longer one the end. A signal
/// is at the end of a message, and memory must stay flat.
const MAX_MESSAGE: usize = 256 << 10;

/// Earlier texts of the turn that are kept, and the bytes of each.
const MAX_EARLIER: usize = 8;
const MAX_EARLIER_BYTES: usize = 64 << 10;

/// Answers to task notifications that are kept for the way back to the text before them.
const MAX_ANSWERS: usize = 64;

/// Follows the events of a [`Reader`](super::Reader) and keeps what the main
/// agent wrote after the last thing that could change its mind.
///
/// The *final turn* begins after a real prompt, hook feedback, a new objective
/// or a compaction. Its last text is the *last word*; texts that only answer a
/// task notification give way to the text before them unless they carry a
/// signal of their own, so [`FinalTurn::words`] offers them newest first.
#[derive(Debug, Default)]
pub struct FinalTurn {
    words: Vec<Word>,
    earlier: VecDeque<Word>,
    notified: bool,
}

/// One message of the main agent.
#[derive(Clone, Debug, Default)]
pub struct Word {
    /// The message's text; of one longer than 256 KiB the end.
    pub text: String,
    /// The input's line in which `text` begins.
    pub line: u64,
    /// Line breaks in `text` are line breaks of the input.
    pub multiline: bool,
    /// The beginning was cut off.
    pub clipped: bool,
    /// The message answers a task notification.
    pub answers_notification: bool,
    /// The message began before the tail of a long input.
    pub before_tail: bool,
}

impl Word {
    /// A text that is one whole message, from its first line on.
    pub fn whole(text: &str) -> Self {
        Self {
            text: text.to_owned(),
            line: 1,
            multiline: true,
            clipped: false,
            answers_notification: false,
            before_tail: false,
        }
    }
}

impl FinalTurn {
    /// Takes one event.
    pub fn event(&mut self, event: &Event<'_>) {
        match event {
            Event::Boundary(Boundary::Notification, _) => self.notified = true,
            Event::Boundary(Boundary::Unanswered, _) => self.supersede(),
            Event::Boundary(..) => *self = Self::default(),
            Event::Tail => self.tail(),
            Event::Text(text) if text.role == Role::Assistant => {
                if text.continues
                    && let Some(word) = self.words.last_mut()
                {
                    if word.text.is_empty() {
                        word.line = text.line;
                    }
                    word.push(text.text);
                } else if !text.text.trim().is_empty() {
                    self.begin(text);
                }
            }
            _ => {}
        }
    }

    /// Ends the input: what is kept no longer depends on how it was cut into
    /// pieces.
    pub fn finish(&mut self) {
        for word in &mut self.words {
            word.clip(MAX_MESSAGE);
        }
    }

    /// The texts that may be the last word, newest first: answers to task
    /// notifications, then the last text that answers none.
    pub fn words(&self) -> impl Iterator<Item = &Word> {
        let mut is_past_last_word = false;
        self.words.iter().rev().take_while(move |word| {
            let is_taken = !is_past_last_word;
            is_past_last_word |= !word.answers_notification;
            is_taken
        })
    }

    /// Earlier texts of the turn, newest first: the ends of the last eight.
    /// They are not the last word; what looks like a signal in them is worth
    /// a remark.
    pub fn earlier(&self) -> impl Iterator<Item = &Word> {
        self.earlier.iter().rev()
    }

    /// A task notification came: the next text answers it.
    pub fn is_notified(&self) -> bool {
        self.notified
    }

    /// Of what came before the tail, only the last words count, and of plain text not
    /// even they.
    fn tail(&mut self) {
        self.earlier.clear();
        for word in &mut self.words {
            word.before_tail = true;
            if word.multiline {
                word.text.clear();
                word.clipped = true;
            }
        }
    }

    fn begin(&mut self, text: &super::Text<'_>) {
        let mut word = Word {
            line: text.line,
            multiline: text.multiline,
            answers_notification: self.notified,
            ..Word::default()
        };
        word.push(text.text);
        if !self.notified {
            self.supersede();
        } else if self.words.len() > MAX_ANSWERS {
            // The first one is the text before all notifications, to which the way back leads.
            self.words.remove(1);
        }
        self.words.push(word);
    }

    /// Makes the words so far earlier ones.
    fn supersede(&mut self) {
        for mut word in self.words.drain(..).filter(|word| !word.before_tail) {
            word.clip(MAX_EARLIER_BYTES);
            word.text.shrink_to_fit();
            self.earlier.push_back(word);
        }
        while self.earlier.len() > MAX_EARLIER {
            self.earlier.pop_front();
        }
    }
}

impl Word {
    /// The line of the input that holds the byte at `offset` of the text.
    pub fn line_at(&self, offset: usize) -> u64 {
        let breaks = self.multiline.then(|| count_breaks(&self.text.as_bytes()[..offset]));
        self.line + breaks.unwrap_or(0)
    }

    fn push(&mut self, text: &str) {
        if self.text.len() + text.len() >= 2 * MAX_MESSAGE {
            // More than is kept stays, so that the end alone decides which lines are whole.
            let room = MAX_MESSAGE.saturating_sub(text.len()) + 1;
            self.drop_before(self.text.floor_char_boundary(self.text.len().saturating_sub(room)));
        }
        self.text.push_str(text);
    }

    /// Cuts the text down to its last whole lines within `keep` bytes.
    fn clip(&mut self, keep: usize) {
        if self.text.len() <= keep {
            return;
        }
        let bytes = self.text.as_bytes();
        let start = bytes.len() - keep;
        let line_break = memchr::memchr(b'\n', &bytes[start..]);
        let first_line = line_break.map_or(start, |distance| start + distance + 1);
        self.drop_before(self.text.ceil_char_boundary(first_line));
    }

    fn drop_before(&mut self, end: usize) {
        if self.multiline {
            self.line += count_breaks(&self.text.as_bytes()[..end]);
        }
        self.text.drain(..end);
        self.clipped |= end > 0;
    }
}
