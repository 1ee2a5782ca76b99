//! Tells the format from how the input begins.

use super::frames::{Frame, Frames};
use super::shape::Shape;
use super::{Forced, Format, ProblemKind, text};

/// How much of the input is looked at, in bytes.
pub(super) const LOOKAHEAD: usize = 64 << 10;

/// What marks the end of a runner's header (ralph-tui 0.x).
const RAW_OUTPUT: &[u8] = b"--- RAW OUTPUT ---";

/// How many lines such a header may have.
const MAX_HEADER: usize = 200;

/// What is known after a look at the beginning of the input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Head {
    pub(super) format: Format,
    /// Lines at the beginning that are a runner's header.
    pub(super) header: u64,
    /// Whether the input is JSON of no known format.
    pub(super) unknown_json: bool,
}

impl Head {
    /// Looks at the first [`LOOKAHEAD`] bytes, or at all there is. The first
    /// mark of a known format decides, be it a record or a header of text.
    pub(super) fn of(bytes: &[u8], forced: Option<Forced>) -> Self {
        let mut lines = bytes.split(|&byte| byte == b'\n').take(MAX_HEADER);
        let header = lines.position(|line| line.trim_ascii_end() == RAW_OUTPUT);
        let header = header.map_or(0, |at| at + 1);
        let looks = Looks::at(bytes, forced);
        let format = match forced {
            Some(Forced::Format(format)) => format,
            _ => looks.text_format(bytes, header).unwrap_or_else(|| looks.record_format()),
        };
        Self {
            format,
            header: header as u64,
            unknown_json: forced.is_none() && looks.unknown(format),
        }
    }
}

/// What the beginning looks like.
#[derive(Default)]
struct Looks {
    forced: Option<Forced>,
    /// The first record of a known format: its line, and the formats that
    /// have such records.
    found: Option<(Vec<Format>, u64)>,
    /// Whether a second such record has been seen.
    settled: bool,
    /// Whether the records are elements of an array.
    in_array: bool,
    /// Whether a Markdown fence is open: what stands in it is an example.
    fenced: bool,
    /// Whether the first thing seen is JSON.
    begins: Option<bool>,
    /// Whether the first JSON is what an agent itself may answer with.
    answer: bool,
    /// How many objects were seen.
    objects: usize,
    /// Bytes of JSON and of text.
    json: usize,
    text: usize,
}

impl Looks {
    fn at(bytes: &[u8], forced: Option<Forced>) -> Self {
        let mut looks = Self { forced, ..Self::default() };
        let mut frames = Frames::default();
        frames.push(bytes, &mut looks);
        if let Some((json, line)) = frames.unfinished() {
            looks.look(json, line);
        }
        frames.finish(&mut looks);
        looks
    }

    fn allowed(&self, format: Format) -> bool {
        match self.forced {
            None => true,
            Some(Forced::Format(only)) => format == only,
            Some(Forced::Agent(agent)) => format.agent() == agent,
        }
    }

    /// The format that is recognised by the lines before the first record.
    fn text_format(&self, bytes: &[u8], header: usize) -> Option<Format> {
        let end = self.found.as_ref().map_or(usize::MAX, |(_, line)| *line as usize - 1);
        let lines = bytes.split(|&byte| byte == b'\n').take(end).skip(header);
        let lines = lines.map(|line| std::str::from_utf8(line).unwrap_or_default().trim_end());
        let lines: Vec<&str> = lines.collect();
        let mut formats = Format::ALL.iter().filter(|format| self.allowed(**format));
        formats.find(|format| (format.spec().lines)(&lines)).copied()
    }

    fn record_format(&self) -> Format {
        let first = self.found.as_ref().and_then(|(formats, _)| formats.first());
        first.copied().or_else(|| self.format_of_agent()).unwrap_or(Format::Text)
    }

    /// JSON that is said to be an agent's, but of which no record is known, is read
    /// as that agent's all the same: its text would be nobody's words.
    fn format_of_agent(&self) -> Option<Format> {
        let Some(Forced::Agent(agent)) = self.forced else { return None };
        let ending = if self.in_array || self.objects < 2 { "-json" } else { "-stream" };
        let of_agent = |format: &&Format| format.agent() == agent && format.is_json();
        let formats: Vec<_> = Format::ALL.iter().filter(of_agent).copied().collect();
        let fits = formats.iter().find(|format| format.name().ends_with(ending));
        fits.or(formats.first()).copied().filter(|_| self.unknown(Format::Text))
    }

    /// JSON from the beginning, and mostly: a text that only begins with some
    /// data is a text.
    fn unknown(&self, format: Format) -> bool {
        let json = self.begins == Some(true) && self.json >= self.text;
        format == Format::Text && json && !self.answer
    }

    fn look(&mut self, json: &[u8], line: u64) {
        let mut shape = Shape::of(json, self.in_array);
        shape.first = self.begins.is_none();
        self.objects += usize::from(!shape.is_empty());
        let is_answer = text::is_answer(json);
        if self.begins.is_none() {
            self.begins = Some(!shape.is_empty());
            self.answer = is_answer;
        }
        // An answer among JSON is the agent's own text.
        let told = if is_answer { &mut self.text } else { &mut self.json };
        *told += json.len();
        if !self.fenced && !self.settled {
            self.narrow(&shape, line);
        }
    }

    /// Several clients open their streams alike: what the first record leaves
    /// open between their formats, the next one tells.
    fn narrow(&mut self, shape: &Shape<'_>, line: u64) {
        let has = |format: &&Format| (format.spec().record)(shape);
        match &mut self.found {
            None => {
                let formats = Format::ALL.iter().filter(|format| self.allowed(**format));
                let formats: Vec<Format> = formats.filter(has).copied().collect();
                self.found = (!formats.is_empty()).then_some((formats, line));
            }
            Some((formats, _)) => {
                let (first, others) = (formats[0], formats.iter().filter(has));
                let others: Vec<Format> = others.copied().collect();
                self.settled = !others.is_empty();
                // An agent's own formats share what reads them.
                if self.settled && others.iter().all(|other| other.agent() != first.agent()) {
                    *formats = others;
                }
            }
        }
    }
}

impl Frame for Looks {
    fn record(&mut self, json: &[u8], line: u64) -> bool {
        // What follows changes nothing.
        if self.settled {
            return true;
        }
        // Also what is not quite JSON, with a NaN in it, is nobody's words.
        let object = !Shape::of(json, false).is_empty();
        if object {
            self.look(json, line);
        }
        object
    }

    fn array(&mut self) {
        self.in_array = true;
    }

    fn noise(&mut self, text: &[u8], _: u64) {
        self.begins.get_or_insert(false);
        self.text += text.len();
        self.fenced = match text {
            _ if text.trim_ascii_end() == RAW_OUTPUT => false,
            _ => self.fenced ^ text.starts_with(b"```"),
        };
    }

    fn flaw(&mut self, _: ProblemKind, _: u64) {}
}
