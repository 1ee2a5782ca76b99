//! Transcripts in all formats: the events are the same however the input is cut.
#![no_main]

use gate_fuzz::{choices, long, pieces};
use gate_transcript::{Event, FinalTurn, Forced, Format, Reader, Role, Sink, Wording};
use libfuzzer_sys::fuzz_target;

/// Events as texts. The parts of one text are put together.
#[derive(Default)]
struct Events {
    events: Vec<String>,
    /// The role of the last text, and its index.
    spoke: Option<(Role, usize)>,
    last: FinalTurn,
}

impl Sink for Events {
    fn event(&mut self, event: Event<'_>) {
        self.last.event(&event);
        match &event {
            Event::Text(text) => {
                if let Some((role, index)) = self.spoke
                    && text.continues
                    && role == text.role
                {
                    self.events[index].push_str(text.text);
                    return;
                }
                self.spoke = Some((text.role, self.events.len()));
                let more = if text.continues { "+" } else { "" };
                self.events.push(format!("{} {:?}{more}: {}", text.line, text.role, text.text));
                return;
            }
            Event::Boundary(..) => self.spoke = None,
            Event::Fact(_) | Event::Problem(_) | Event::Tail => {}
        }
        self.events.push(format!("{event:?}"));
    }

    fn has_wording(&self, wording: Wording, text: &str) -> bool {
        let phrases: &[&str] = match wording {
            Wording::Denial => &["permission", "denied", "rejected", "requires approval"],
            Wording::Limit => &["usage limit", "rate limit", "hit your limit", "429"],
            Wording::Notice => &["usage limit reached|", "hit your limit"],
        };
        phrases.iter().any(|phrase| text.contains(phrase))
    }
}

/// The result of reading an input: its format, its events in an order of their own, since
/// facts may come before or after the parts of a text, and the last words.
type Found = (Option<Format>, Vec<String>, Vec<(String, u64)>);

fn read(mut reader: Reader, input: &[&[u8]]) -> Found {
    let mut events = Events::default();
    for piece in input {
        reader.push(piece, &mut events);
    }
    reader.finish(&mut events);
    events.last.finish();
    let words = events.last.words().map(|word| (word.text.clone(), word.line)).collect();
    events.events.sort();
    (reader.format(), events.events, words)
}

/// A format that is found, one of all, or an agent.
fn forced(choice: u8) -> Option<Forced> {
    let names: Vec<_> = Forced::names().collect();
    let name = names.get(usize::from(choice).checked_sub(1)?)?;
    Some(name.parse().expect("a name from the list"))
}

fuzz_target!(|input: &[u8]| {
    let Some(([format, cut], text)) = choices(input) else { return };
    let forced = forced(format);
    let repeated = if cut >= 0xf0 { long(text, cut) } else { Vec::new() };
    let text = if repeated.is_empty() { text } else { &repeated };
    let whole = read(Reader::new(forced), &[text]);
    assert!(whole.0.is_some(), "the end decides on a format");
    if let Some(Forced::Format(format)) = forced {
        assert_eq!(whole.0, Some(format));
    }
    let cut_up = pieces(text, cut);
    assert_eq!(read(Reader::new(forced), &cut_up), whole);

    // A reader of a run that lasts passes on what comes at once. It has seen less when it begins,
    // so a format is found, and the header of a runner passed over, or not.
    let live = read(Reader::live(forced), &[text]);
    let live_cut_up = read(Reader::live(forced), &cut_up);
    let has_header = String::from_utf8_lossy(text).contains("--- RAW OUTPUT ---");
    if matches!(forced, Some(Forced::Format(_))) && !has_header {
        assert_eq!(live_cut_up, live);
    }
});
