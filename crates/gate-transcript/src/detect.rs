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
    /// A format or an agent is forced, and the JSON here has no record of it.
    pub(super) is_foreign_json: bool,
}

impl Head {
    /// Looks at the first [`LOOKAHEAD`] bytes, or at all of a shorter input. The first
    /// mark of a known format decides, be it a record or a header of text.
    pub(super) fn detect(bytes: &[u8], forced: Option<Forced>) -> Self {
        let mut lines = bytes.split(|&byte| byte == b'\n').take(MAX_HEADER);
        let header_end = lines.position(|line| line.trim_ascii_end() == RAW_OUTPUT);
        let header = header_end.map_or(0, |last_line| last_line + 1);
        let findings = Findings::look_at(bytes, forced);
        let format = match forced {
            Some(Forced::Format(format)) => format,
            _ => findings.text_format(bytes, header).unwrap_or_else(|| findings.record_format()),
        };
        let unknown_json = forced.is_none() && findings.is_unknown_json(format);
        let is_foreign_json = forced.is_some()
            && format.is_json()
            && findings.objects > 0
            && findings.first_record.is_none();
        Self { format, start: Start { header: header as u64, unknown_json }, is_foreign_json }
    }
}

/// The findings so far, record by record.
#[derive(Default)]
struct Findings {
    forced: Option<Forced>,
    first_record: Option<FirstRecord>,
    /// The input begins with two objects that are alike, and text follows: they are what the
    /// agent has printed.
    begins_with_example: bool,
    /// The first record is the second one of two that are alike.
    known_by_pair: bool,
    /// A second record of these formats was seen.
    settled: bool,
    in_array: bool,
    /// A Markdown fence is open: JSON in it is an example.
    fenced: bool,
    /// The input begins with JSON, or with text; `None` before anything was seen.
    begins_with_json: Option<bool>,
    /// The first JSON is something that an agent itself answers with.
    begins_with_answer: bool,
    objects: usize,
    /// The first key of the input's first object.
    first_key: Vec<u8>,
    json_bytes: usize,
    text_bytes: usize,
}

/// The first record of a known format.
struct FirstRecord {
    /// The formats that have such records.
    formats: Vec<Format>,
    /// Its line of the input, from 1.
    line: u64,
}

impl Findings {
    fn look_at(bytes: &[u8], forced: Option<Forced>) -> Self {
        let findings = Self { forced, ..Self::default() }.look_through(bytes);
        if forced.is_none() && findings.known_by_pair && findings.text_bytes > 0 {
            return Self { begins_with_example: true, ..Self::default() }.look_through(bytes);
        }
        findings
    }

    fn look_through(mut self, bytes: &[u8]) -> Self {
        let mut frames = Frames::default();
        frames.push(bytes, &mut self);
        let mut is_cut = false;
        if let Some((json, line)) = frames.unfinished() {
            self.look(json, line);
            is_cut = bytes.len() >= LOOKAHEAD;
        }
        // The lines of a string that goes on behind what is looked at are no text.
        if !(is_cut && self.known_by_pair) {
            frames.finish(&mut self);
        }
        self
    }

    fn allows(&self, format: Format) -> bool {
        match self.forced {
            None => true,
            Some(Forced::Format(forced)) => format == forced,
            Some(Forced::Agent(agent)) => format.agent() == agent,
        }
    }

    /// The format that is recognised by the lines before the first record.
    fn text_format(&self, bytes: &[u8], header: usize) -> Option<Format> {
        let record = self.first_record.as_ref();
        let end = record.map_or(usize::MAX, |record| record.line as usize - 1);
        let lines: Vec<&str> = bytes
            .split(|&byte| byte == b'\n')
            .take(end)
            .skip(header)
            .map(|line| std::str::from_utf8(line).unwrap_or_default().trim_end())
            .collect();
        let mut formats = Format::ALL.iter().copied().filter(|format| self.allows(*format));
        formats.find(|format| match format.spec().known_by {
            KnownBy::Lines(is_begun_by) => is_begun_by(&lines),
            KnownBy::Record(_) => false,
        })
    }

    fn record_format(&self) -> Format {
        let record = self.first_record.as_ref();
        let format = record.and_then(|record| record.formats.first().copied());
        format.or_else(|| self.format_of_agent()).unwrap_or(Format::Text)
    }

    /// JSON that is said to be an agent's, but of which no record is known, is read
    /// as that agent's all the same: its text would be nobody's words.
    fn format_of_agent(&self) -> Option<Format> {
        let Some(Forced::Agent(agent)) = self.forced else { return None };
        if !self.is_unknown_json(Format::Text) {
            return None;
        }
        let is_json_of_agent = |format: &&Format| format.agent() == agent && format.is_json();
        let formats: Vec<&Format> = Format::ALL.iter().filter(is_json_of_agent).collect();
        // One object is what an agent prints at its end; several are a stream.
        let suffix = if self.in_array || self.objects < 2 { "-json" } else { "-stream" };
        let format = formats.iter().find(|format| format.name().ends_with(suffix));
        format.or(formats.first()).copied().copied()
    }

    /// JSON from the beginning, and mostly: a text that only begins with some
    /// data is a text.
    fn is_unknown_json(&self, format: Format) -> bool {
        let is_json = self.begins_with_json == Some(true) && self.json_bytes >= self.text_bytes;
        let is_agents = self.begins_with_answer || self.begins_with_example;
        format == Format::Text && is_json && !is_agents
    }

    fn look(&mut self, json: &[u8], line: u64) {
        let mut shape = Shape::new(json, self.in_array);
        shape.is_first = self.begins_with_json.is_none();
        let is_second = self.objects == 1 && self.text_bytes == 0 && !self.begins_with_example;
        shape.is_second_alike = is_second && shape.first_key() == Some(&*self.first_key);
        if self.objects == 0 {
            self.first_key = shape.first_key().unwrap_or_default().to_vec();
        }
        self.objects += usize::from(!shape.is_empty());
        let is_answer = text::is_answer(json);
        if self.begins_with_json.is_none() {
            self.begins_with_json = Some(!shape.is_empty());
            self.begins_with_answer = is_answer;
        }
        // An answer among JSON is the agent's own text.
        let bytes = if is_answer { &mut self.text_bytes } else { &mut self.json_bytes };
        *bytes += json.len();
        if !self.fenced && !self.settled {
            let had_record = self.first_record.is_some();
            self.narrow(&shape, line);
            self.known_by_pair |=
                shape.is_second_alike && !had_record && self.first_record.is_some();
        }
    }

    /// Several clients open their streams alike: what the first record leaves
    /// open between their formats, the next one decides.
    fn narrow(&mut self, shape: &Shape<'_>, line: u64) {
        match &mut self.first_record {
            None => {
                let allowed = Format::ALL.iter().filter(|format| self.allows(**format));
                let formats = formats_with(shape, allowed);
                self.first_record = (!formats.is_empty()).then_some(FirstRecord { formats, line });
            }
            Some(FirstRecord { formats, .. }) => {
                let first = formats[0];
                let narrowed = formats_with(shape, formats.iter());
                self.settled = !narrowed.is_empty();
                // An agent's own formats share what reads them. Among them only the name is at
                // stake, which the first one keeps if it has such records too.
                let is_same_agent = narrowed.iter().all(|format| format.agent() == first.agent());
                let is_other_agent = narrowed.iter().all(|format| format.agent() != first.agent());
                let is_better = is_other_agent || (is_same_agent && !narrowed.contains(&first));
                if self.settled && is_better {
                    *formats = narrowed;
                }
            }
        }
    }
}

/// Those of the formats that have records of this shape.
fn formats_with<'f>(shape: &Shape<'_>, formats: impl Iterator<Item = &'f Format>) -> Vec<Format> {
    let is_format = |format: &&Format| match format.spec().known_by {
        KnownBy::Record(is_record) => is_record(shape),
        KnownBy::Lines(_) => false,
    };
    formats.filter(is_format).copied().collect()
}

impl Frame for Findings {
    fn record(&mut self, json: &[u8], line: u64) -> bool {
        // What follows changes nothing but for the agent's own text.
        if self.settled {
            self.text_bytes += if text::is_answer(json) { json.len() } else { 0 };
            return true;
        }
        // Also what is not quite JSON, with a NaN in it, is nobody's words.
        let is_object = !Shape::new(json, false).is_empty();
        if is_object {
            self.look(json, line);
        }
        is_object
    }

    fn array(&mut self) {
        self.in_array = true;
    }

    fn noise(&mut self, text: &[u8], _: u64) {
        self.begins_with_json.get_or_insert(false);
        self.text_bytes += text.len();
        self.fenced = match text {
            _ if text.trim_ascii_end() == RAW_OUTPUT => false,
            _ => self.fenced ^ text.starts_with(b"```"),
        };
    }

    fn flaw(&mut self, _: ProblemKind, _: u64) {}
}
