//! Detects the format by the beginning of the input.

use super::frames::{Frame, Frames};
use super::shape::Shape;
use super::spec::{KnownBy, Start};
use super::{Forced, Format, ProblemKind, format::text};

/// Bytes of the input that decide its format.
pub(super) const LOOKAHEAD: usize = 64 << 10;

/// The line that ends a runner's header (ralph-tui 0.x).
const RAW_OUTPUT: &[u8] = b"--- RAW OUTPUT ---";

/// The longest header, in lines.
const MAX_HEADER: usize = 200;

/// The result of a look at the beginning of the input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Head {
    pub(super) format: Format,
    pub(super) start: Start,
}

impl Head {
    /// Findings at the first [`LOOKAHEAD`] bytes, or at all there is. The first
    /// mark of a known format decides, be it a record or a header of text.
    pub(super) fn detect(bytes: &[u8], forced: Option<Forced>) -> Self {
        let mut lines = bytes.split(|&byte| byte == b'\n').take(MAX_HEADER);
        let header = lines.position(|line| line.trim_ascii_end() == RAW_OUTPUT);
        let header = header.map_or(0, |at| at + 1);
        let findings = Findings::look_at(bytes, forced);
        let format = match forced {
            Some(Forced::Format(format)) => format,
            _ => findings.text_format(bytes, header).unwrap_or_else(|| findings.record_format()),
        };
        let unknown_json = forced.is_none() && findings.unknown(format);
        Self { format, start: Start { header: header as u64, unknown_json } }
    }
}

/// The findings so far, record by record.
#[derive(Default)]
struct Findings {
    forced: Option<Forced>,
    /// The first record of a known format: its line, and the formats that
    /// have such records.
    found: Option<(Vec<Format>, u64)>,
    /// True once a second such record was seen.
    settled: bool,
    in_array: bool,
    /// True while a Markdown fence is open: JSON in it is an example.
    fenced: bool,
    /// True if the input begins with JSON; `None` before anything was seen.
    begins: Option<bool>,
    /// True if the first JSON is something that an agent itself answers with.
    answer: bool,
    objects: usize,
    /// Bytes of JSON and of text.
    json: usize,
    text: usize,
}

impl Findings {
    fn look_at(bytes: &[u8], forced: Option<Forced>) -> Self {
        let mut findings = Self { forced, ..Self::default() };
        let mut frames = Frames::default();
        frames.push(bytes, &mut findings);
        if let Some((json, line)) = frames.unfinished() {
            findings.look(json, line);
        }
        frames.finish(&mut findings);
        findings
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
        let mut formats = Format::ALL.iter().copied().filter(|format| self.allowed(*format));
        formats.find(|format| match format.spec().known_by {
            KnownBy::Lines(begins) => begins(&lines),
            KnownBy::Record(_) => false,
        })
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
        if !self.unknown(Format::Text) {
            return None;
        }
        let all = Format::ALL.iter().copied();
        let formats: Vec<_> =
            all.filter(|format| format.agent() == agent && format.is_json()).collect();
        let fits = formats.iter().find(|format| format.name().ends_with(ending));
        fits.or(formats.first()).copied()
    }

    /// JSON from the beginning, and mostly: a text that only begins with some
    /// data is a text.
    fn unknown(&self, format: Format) -> bool {
        let json = self.begins == Some(true) && self.json >= self.text;
        format == Format::Text && json && !self.answer
    }

    fn look(&mut self, json: &[u8], line: u64) {
        let mut shape = Shape::new(json, self.in_array);
        shape.first = self.begins.is_none();
        self.objects += usize::from(!shape.is_empty());
        let is_answer = text::is_answer(json);
        if self.begins.is_none() {
            self.begins = Some(!shape.is_empty());
            self.answer = is_answer;
        }
        // An answer among JSON is the agent's own text.
        let bytes = if is_answer { &mut self.text } else { &mut self.json };
        *bytes += json.len();
        if !self.fenced && !self.settled {
            self.narrow(&shape, line);
        }
    }

    /// Several clients open their streams alike: what the first record leaves
    /// open between their formats, the next one decides.
    fn narrow(&mut self, shape: &Shape<'_>, line: u64) {
        match &mut self.found {
            None => {
                let formats = Format::ALL.iter().filter(|format| self.allowed(**format));
                let formats = formats_with(shape, formats);
                self.found = (!formats.is_empty()).then_some((formats, line));
            }
            Some((formats, _)) => {
                let (first, others) = (formats[0], formats_with(shape, formats.iter()));
                self.settled = !others.is_empty();
                // An agent's own formats share what reads them. Among them only the name is at
                // stake, which the first one keeps if it has such records too.
                let is_same_agent = others.iter().all(|other| other.agent() == first.agent());
                let is_another_agent = others.iter().all(|other| other.agent() != first.agent());
                let is_better = is_another_agent || (is_same_agent && !others.contains(&first));
                if self.settled && is_better {
                    *formats = others;
                }
            }
        }
    }
}

/// Those of the formats that have records of this shape.
fn formats_with<'f>(shape: &Shape<'_>, formats: impl Iterator<Item = &'f Format>) -> Vec<Format> {
    let formats = formats.copied().filter(|format| match format.spec().known_by {
        KnownBy::Record(is_record) => is_record(shape),
        KnownBy::Lines(_) => false,
    });
    formats.collect()
}

impl Frame for Findings {
    fn record(&mut self, json: &[u8], line: u64) -> bool {
        // What follows changes nothing.
        if self.settled {
            return true;
        }
        // Also what is not quite JSON, with a NaN in it, is nobody's words.
        let object = !Shape::new(json, false).is_empty();
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
