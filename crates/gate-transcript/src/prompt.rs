//! The person's prompt: which text began the work, whatever came after it.

use super::out::clip;
use super::{Boundary, Event, Role};

/// Bytes of a prompt's beginning that are kept to tell a hook's text from a person's.
const MAX_HEAD: usize = 256;

/// Follows the events of a [`Reader`](super::Reader) and keeps the digest of the
/// person's last prompt. Neither hook feedback nor a compaction is one, and nor is
/// what some clients record as a prompt although it is a hook's.
#[derive(Debug)]
pub struct Prompt {
    is_feedback: fn(&str) -> bool,
    open: Option<OpenPrompt>,
    last_digest: Option<String>,
}

/// A prompt whose text has not ended yet.
#[derive(Debug, Default)]
struct OpenPrompt {
    head: String,
    hasher: blake3::Hasher,
}

impl Prompt {
    /// `is_feedback` recognises a hook's text by its beginning.
    pub fn new(is_feedback: fn(&str) -> bool) -> Self {
        Self { is_feedback, open: None, last_digest: None }
    }

    /// Takes one event.
    pub fn event(&mut self, event: &Event<'_>) {
        match event {
            Event::Boundary(Boundary::Prompt, _) => {
                self.end();
                self.open = Some(OpenPrompt::default());
            }
            Event::Boundary(..) => self.end(),
            Event::Text(text) if text.role == Role::User => {
                if let Some(open) = &mut self.open {
                    open.push(text.text);
                }
            }
            Event::Text(text) if text.role != Role::System => self.end(),
            _ => {}
        }
    }

    /// The digest of the last prompt, if there was one.
    pub fn finish(mut self) -> Option<String> {
        self.end();
        self.last_digest
    }

    fn end(&mut self) {
        let Some(open) = self.open.take() else { return };
        if !open.head.is_empty() && !(self.is_feedback)(&open.head) {
            self.last_digest = Some(format!("blake3:{}", open.hasher.finalize().to_hex()));
        }
    }
}

impl OpenPrompt {
    fn push(&mut self, text: &str) {
        // White space around a prompt is its client's.
        let text = if self.head.is_empty() { text.trim_start() } else { text };
        let room = MAX_HEAD.saturating_sub(self.head.len());
        self.head.push_str(clip(text, room));
        self.hasher.update(text.as_bytes());
    }
}

#[cfg(test)]
mod tests {
    use crate::{Forced, Reader, Sink};

    use super::*;

    struct Follows(Prompt);

    impl Sink for Follows {
        fn event(&mut self, event: Event<'_>) {
            self.0.event(&event);
        }
    }

    fn prompt_of(format: &str, input: &str) -> Option<String> {
        let forced: Forced = format.parse().unwrap();
        let mut follows = Follows(Prompt::new(|text| text.starts_with("gate says")));
        let mut reader = Reader::new(Some(forced));
        reader.push(input.as_bytes(), &mut follows);
        reader.finish(&mut follows);
        follows.0.finish()
    }

    fn claude(texts: &[(&str, &str)]) -> Option<String> {
        let line = |(role, text): &(&str, &str)| {
            format!(r#"{{"type":"{role}","message":{{"role":"{role}","content":"{text}"}}}}"#)
        };
        prompt_of("claude-session", &texts.iter().map(line).collect::<Vec<_>>().join("\n"))
    }

    #[test]
    fn what_a_hook_says_is_no_prompt_of_a_person() {
        let asked = claude(&[("user", "Write it"), ("assistant", "Done")]);
        assert!(asked.is_some());
        let refused = [
            ("user", "Write it"),
            ("assistant", "Done"),
            ("user", "Stop hook feedback: tests failed"),
            ("assistant", "Done"),
            ("user", "gate says no"),
            ("assistant", "Done"),
        ];
        assert_eq!(claude(&refused), asked);
        assert_ne!(claude(&[&refused[..], &[("user", "Undo it")]].concat()), asked);
    }

    #[test]
    fn without_a_prompt_there_is_none() {
        assert_eq!(claude(&[("assistant", "Done")]), None);
        assert_eq!(prompt_of("text", "All is done.\n"), None);
    }
}
