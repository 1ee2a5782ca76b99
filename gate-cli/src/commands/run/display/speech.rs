//! An agent's output for a person: its text and the names of the tools that it calls, out of
//! its client's JSON; other output as it is.

use std::mem;

use anstream::adapter::StripBytes;
use anstyle::Style;
use gate_transcript::{Call, Event, Forced, Reader, Role, Sink};

use crate::render::text::{brief, lines};
use crate::secrets;

/// Follows the output of one run of an agent, in pieces of any size.
pub(super) struct Speech {
    format: Option<Forced>,
    raw: bool,
    plain: Plain,
    reading: Reading,
}

/// The form of the output.
enum Reading {
    /// Nothing was printed yet.
    Unknown,
    /// As it is.
    Text,
    /// Out of the client's JSON.
    Records(Box<ReadRecords>),
}

/// The records of a client, as far as they were read.
struct ReadRecords {
    reader: Reader,
    transcript: Transcript,
}

impl Speech {
    pub(super) fn new(format: Option<Forced>, raw: bool) -> Self {
        Self { format, raw, plain: Plain::default(), reading: Reading::Unknown }
    }

    /// The text to show for the next bytes.
    pub(super) fn text(&mut self, bytes: &[u8]) -> String {
        if matches!(self.reading, Reading::Unknown) {
            self.reading = match bytes.trim_ascii_start().first() {
                None => return String::new(),
                Some(b'{' | b'[') if !self.raw => Reading::Records(Box::new(ReadRecords {
                    reader: Reader::live(self.format),
                    transcript: Transcript::default(),
                })),
                Some(_) => Reading::Text,
            };
        }
        match &mut self.reading {
            Reading::Records(records) => {
                let ReadRecords { reader, transcript } = &mut **records;
                reader.push(bytes, transcript);
                mem::take(&mut transcript.text)
            }
            Reading::Unknown | Reading::Text => self.plain.text(bytes),
        }
    }

    /// The last text to show at the end of the output.
    pub(super) fn end(self) -> String {
        let Reading::Records(records) = self.reading else { return String::new() };
        let ReadRecords { mut reader, mut transcript } = *records;
        reader.finish(&mut transcript);
        transcript.close();
        transcript.text
    }
}

/// Text for a terminal: without control sequences, and without secrets, unless one is cut
/// in two by a read.
#[derive(Default)]
struct Plain {
    escapes: StripBytes,
    /// The beginning of a character whose other bytes are still to come.
    torn_char: Vec<u8>,
}

impl Plain {
    fn text(&mut self, bytes: &[u8]) -> String {
        let mut plain = mem::take(&mut self.torn_char);
        for piece in self.escapes.strip_next(bytes) {
            plain.extend_from_slice(piece);
        }
        // An error without a length is a character that ends too early; others are no UTF-8 at all.
        if let Err(error) = std::str::from_utf8(&plain)
            && error.error_len().is_none()
        {
            self.torn_char = plain.split_off(error.valid_up_to());
        }
        lines(&secrets::masked(&String::from_utf8_lossy(&plain)))
    }
}

/// Collects the text to show.
#[derive(Default)]
struct Transcript {
    text: String,
    /// The last line has no end yet.
    is_line_open: bool,
}

impl Transcript {
    fn close(&mut self) {
        if mem::take(&mut self.is_line_open) {
            self.text.push('\n');
        }
    }
}

impl Sink for Transcript {
    fn event(&mut self, event: Event<'_>) {
        let Event::Text(text) = event else { return };
        if text.role != Role::Assistant {
            return;
        }
        if !text.continues {
            self.close();
        }
        let plain = lines(&secrets::masked(text.text));
        self.is_line_open = !plain.ends_with('\n') && (self.is_line_open || !plain.is_empty());
        self.text.push_str(&plain);
    }

    fn called(&mut self, call: &Call<'_>) {
        self.close();
        let subject = call.about().map(|subject| format!("  {}", brief(&secrets::masked(subject))));
        let dim = Style::new().dimmed();
        let (tool, subject) = (brief(call.tool), subject.unwrap_or_default());
        self.text.push_str(&format!("{dim}  > {tool}{subject}{dim:#}\n"));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const STREAM: &str = concat!(
        r#"{"type":"system","subtype":"init","session_id":"s","tools":["Bash","Edit"],"model":"m"}"#,
        "\n",
        r#"{"type":"assistant","session_id":"s","message":{"id":"m1","content":[{"type":"text","text":"I look first."},{"type":"tool_use","id":"t","name":"Bash","input":{"command":"cargo test"}}]}}"#,
        "\n",
        r#"{"type":"user","session_id":"s","message":{"content":[{"type":"tool_result","tool_use_id":"t","content":"ok"}]}}"#,
        "\n",
        r#"{"type":"assistant","session_id":"s","message":{"id":"m2","content":[{"type":"text","text":"Done."}]}}"#,
        "\n",
    );

    fn shown(raw: bool, pieces: &[&str]) -> String {
        let mut speech = Speech::new(None, raw);
        let text: String = pieces.iter().map(|piece| speech.text(piece.as_bytes())).collect();
        anstream::adapter::strip_str(&(text + &speech.end())).to_string()
    }

    #[test]
    fn a_person_reads_text_and_tools_and_no_json() {
        let expected = "I look first.\n  > Bash  cargo test\nDone.\n";
        assert_eq!(shown(false, &[STREAM]), expected);
        for cut in (0..STREAM.len()).step_by(7) {
            assert_eq!(shown(false, &[&STREAM[..cut], &STREAM[cut..]]), expected, "{cut}");
        }
        assert!(shown(true, &[STREAM]).contains(r#""subtype":"init""#));
    }

    #[test]
    fn a_person_reads_what_the_agent_says_while_it_works() {
        let mut speech = Speech::new(None, false);
        let first = STREAM.lines().take(2).map(|line| format!("{line}\n")).collect::<String>();
        assert!(speech.text(first.as_bytes()).contains("I look first.\n"));
    }

    #[test]
    fn output_that_is_no_json_is_shown_as_it_is() {
        assert_eq!(
            shown(false, &["\n", "Working on it.\nHalf ", "done.\n"]),
            "Working on it.\nHalf done.\n"
        );
    }

    #[test]
    fn a_terminal_is_shown_text_and_nothing_that_it_obeys() {
        let text = "a\u{1b}[2J\u{1b}]52;c;eA==\u{7}b\u{202e}ü\r\n::set-env name=A::b\n".as_bytes();
        let whole = Plain::default().text(text);
        assert_eq!(whole, "abü \n: :set-env name=A::b\n");
        for cut in 0..text.len() {
            let mut shown = Plain::default();
            let parts = shown.text(&text[..cut]) + &shown.text(&text[cut..]);
            assert!(
                !parts.contains(['\u{1b}', '\u{7}', '\u{202e}', '\u{fffd}']),
                "{cut}: {parts:?}"
            );
        }
        let bad = r#"{"type":"assistant","session_id":"s","message":{"id":"m","content":[{"type":"text","text":"a\u001b[2Jb"},{"type":"tool_use","id":"t","name":"B\u0007","input":{"command":"x\u001b[2J"}}]}}"#;
        let text = shown(false, &[&format!("{bad}\n")]);
        assert_eq!(text, "ab\n  > B  x\n");
    }
}
