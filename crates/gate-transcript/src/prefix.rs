//! Prefixes that a carrier, a program that passes an agent's output on, puts before each line: the
//! time stamps of GitHub Actions, `docker logs -t`, `ts` and syslog, the names of `docker compose` and
//! `kubectl logs --prefix`, server-sent events. They are taken away before the format is looked for, if
//! they stand before nearly all lines.

/// The bytes that `script` leaves at the beginning of its file if its input is at the end.
const END_OF_INPUT: &[u8] = b"^D\x08\x08";

/// The longest prefix, in bytes.
const MAX_BYTES: usize = 128;

/// A name may stand before a time.
const MAX_PREFIXES: usize = 2;

/// So many bytes of a line show all its prefixes.
const MAX_HELD: usize = MAX_BYTES * MAX_PREFIXES;

/// Of so many lines of text that are not blank, one may be without the prefix.
const LINES_FOR_ONE: usize = 20;

/// So many lines are tried for a prefix: a carrier may begin with a line of its own.
const FIRST_LINES: usize = 3;

/// The prefix of a server-sent event's data.
const DATA: &[u8] = b"data:";

/// Lines of server-sent events beside their data.
const FIELDS: [&[u8]; 4] = [b"event:", b"id:", b"retry:", b":"];

const MONTHS: [&[u8]; 12] = [
    b"Jan", b"Feb", b"Mar", b"Apr", b"May", b"Jun", b"Jul", b"Aug", b"Sep", b"Oct", b"Nov", b"Dec",
];

#[derive(Clone, Debug, PartialEq, Eq)]
enum Prefix {
    /// `[21:00:01] `, `agent-1  | `: the same before all lines, but for the times in it.
    Parts(Vec<Part>),
    /// `data: `
    Data,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Part {
    Time,
    Byte(u8),
}

impl Prefix {
    /// The prefix of a line of text, known by its form: a time, a name before a bar, a path in
    /// brackets.
    fn before_text(line: &[u8]) -> Option<Self> {
        if line.starts_with(b"data: ") || FIELDS[..3].iter().any(|field| line.starts_with(field)) {
            return Some(Self::Data);
        }
        let line = &line[..line.len().min(MAX_BYTES)];
        let length = stamp_length(line).or_else(|| name_length(line));
        length.or_else(|| path_length(line)).map(|length| Self::from_text(&line[..length]))
    }

    /// All that stands before the JSON of a line. A bracket or blanks alone are JSON's own.
    fn before_json(line: &[u8]) -> Option<Self> {
        let at = line.iter().take(MAX_BYTES).position(|byte| *byte == b'{')?;
        let text = &line[..at];
        let is_prefix = text.iter().any(u8::is_ascii_alphanumeric) && !text.contains(&b'"');
        let is_json = line.trim_ascii_end().ends_with(b"}");
        (is_prefix && is_json).then(|| match text.trim_ascii_end() {
            DATA => Self::Data,
            text => Self::from_text(text),
        })
    }

    fn from_text(text: &[u8]) -> Self {
        let mut parts = Vec::new();
        let mut at = 0;
        while let Some(byte) = text.get(at) {
            let is_in_word = at > 0 && text[at - 1].is_ascii_alphanumeric();
            match time_length(&text[at..]) {
                Some(length) if !is_in_word => {
                    parts.push(Part::Time);
                    at += length;
                }
                _ => {
                    parts.push(Part::Byte(*byte));
                    at += 1;
                }
            }
        }
        Self::Parts(parts)
    }

    /// The line without this prefix; `None` if it has another beginning.
    fn strip<'l>(&self, line: &'l [u8]) -> Option<&'l [u8]> {
        let text = match self {
            Self::Parts(parts) => {
                let mut text = line;
                for part in parts {
                    text = match part {
                        Part::Time => &text[time_length(text)?..],
                        Part::Byte(byte) => text.strip_prefix(&[*byte])?,
                    };
                }
                text
            }
            Self::Data if FIELDS.iter().any(|field| line.starts_with(field)) => return Some(b""),
            Self::Data => line.strip_prefix(DATA)?,
        };
        Some(text.strip_prefix(b" ").unwrap_or(text))
    }

    /// A time changes from line to line: one line shows that it is a carrier's.
    fn has_time(&self) -> bool {
        matches!(self, Self::Parts(parts) if parts.contains(&Part::Time))
    }

    /// Nothing but a time, in brackets or without.
    fn is_stamp(&self) -> bool {
        let bare: &[Part] = &[Part::Time];
        let bracketed: &[Part] = &[Part::Byte(b'['), Part::Time, Part::Byte(b']')];
        matches!(self, Self::Parts(parts) if parts == bare || parts == bracketed)
    }
}

/// The length of a time in brackets or without, and of the host and program that syslog names after it.
fn stamp_length(line: &[u8]) -> Option<usize> {
    let bracket = usize::from(line.starts_with(b"["));
    let time_end = bracket + time_length(&line[bracket..])?;
    let end = match (bracket, line.get(time_end)) {
        (1, Some(b']')) => time_end + 1,
        (0, _) => time_end,
        _ => return None,
    };
    let is_syslog = line[0].is_ascii_alphabetic();
    match line.get(end) {
        Some(b' ') if is_syslog => Some(end + origin_length(&line[end..])),
        None | Some(b' ' | b'\r') => Some(end),
        Some(_) => None,
    }
}

/// The length of ` host program[pid]:`, 0 if there is none.
fn origin_length(text: &[u8]) -> usize {
    let mut words = text[1..].split(|byte| *byte == b' ');
    let (Some(host), Some(program)) = (words.next(), words.next()) else { return 0 };
    let is_program = !host.is_empty() && program.len() > 1 && program.ends_with(b":");
    if is_program { 2 + host.len() + program.len() } else { 0 }
}

/// The length of `agent-1  |`.
fn name_length(line: &[u8]) -> Option<usize> {
    let is_in_name = |byte: &u8| byte.is_ascii_alphanumeric() || b"._-".contains(byte);
    let name_end = line.iter().position(|byte| !is_in_name(byte))?;
    let bar = line.iter().skip(name_end).position(|byte| *byte != b' ')? + name_end;
    (name_end > 0 && bar > name_end && line[bar] == b'|').then_some(bar + 1)
}

/// The length of `[pod/name/container]`. Words in brackets without a path may be the agent's: a
/// mark, a level.
fn path_length(line: &[u8]) -> Option<usize> {
    let end = line.iter().take(MAX_BYTES).position(|byte| *byte == b']')?;
    let path = line[..end].strip_prefix(b"[")?;
    let is_in_path = |byte: &u8| byte.is_ascii_alphanumeric() || b"/._-".contains(byte);
    (path.contains(&b'/') && path.iter().all(is_in_path)).then_some(end + 1)
}

/// The length of the time that a text begins with: `2026-11-28T08:00:00.12Z`, also with a blank for
/// the T; `Nov 28 08:00:00`; `08:00:00`; seconds since 1970.
fn time_length(text: &[u8]) -> Option<usize> {
    let date = if has_form(text, b"0000-00-00") && matches!(text.get(10), Some(b'T' | b' ')) {
        11
    } else if MONTHS.iter().any(|month| text.starts_with(month)) {
        // The day has two places.
        let is_day = has_form(&text[3..], b" 00 ") || has_form(&text[3..], b"  0 ");
        if is_day { 7 } else { return None }
    } else {
        0
    };
    let clock = &text[date..];
    let digits = |text: &[u8]| text.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let mut length = match digits(clock) {
        _ if has_form(clock, b"00:00:00") => 8,
        10 if date == 0 => 10,
        _ => return None,
    };
    if matches!(clock.get(length), Some(b'.' | b',')) {
        length += match digits(&clock[length + 1..]) {
            0 => 0,
            places => 1 + places,
        };
    }
    length += match &clock[length..] {
        [b'Z', ..] => 1,
        zone if has_form(zone, b"+00:00") || has_form(zone, b"-00:00") => 6,
        zone if has_form(zone, b"+0000") || has_form(zone, b"-0000") => 5,
        _ => 0,
    };
    let is_end = clock.get(length).is_none_or(|byte| !byte.is_ascii_alphanumeric());
    is_end.then_some(date + length)
}

/// A text that begins with this form, in which 0 stands for any digit.
fn has_form(text: &[u8], form: &[u8]) -> bool {
    let is_form = |(byte, form): (&u8, &u8)| match form {
        b'0' => byte.is_ascii_digit(),
        form => byte == form,
    };
    text.len() >= form.len() && text.iter().zip(form).all(is_form)
}

/// Takes prefixes from the lines of an input, in pieces of any size.
#[derive(Debug, Default)]
pub(super) struct Unprefixed {
    prefixes: Vec<Prefix>,
    /// The beginning of a line, too short so far to show its prefix.
    held: Vec<u8>,
    in_line: bool,
    /// The line is a field of an event beside its data.
    is_dropped: bool,
}

impl Unprefixed {
    /// Finds the prefixes by an input's beginning, and returns the beginning without them.
    pub(super) fn begin(&mut self, head: &[u8]) -> Vec<u8> {
        let head = head.strip_prefix(END_OF_INPUT).unwrap_or(head);
        // The last line may be cut, and does not count.
        let end = memchr::memrchr(b'\n', head).map_or(head.len(), |at| at + 1);
        let mut lines: Vec<&[u8]> = head[..end].split(|byte| *byte == b'\n').collect();
        while self.prefixes.len() < MAX_PREFIXES
            && let Some(prefix) = common_prefix(&lines)
        {
            lines = lines.into_iter().filter_map(|line| prefix.strip(line)).collect();
            self.prefixes.push(prefix);
        }
        if self.prefixes.is_empty() { head.to_vec() } else { self.push(head) }
    }

    /// Nothing is taken away: the pieces need not pass here.
    pub(super) fn is_empty(&self) -> bool {
        self.prefixes.is_empty()
    }

    /// The next byte begins a line.
    pub(super) fn is_between_lines(&self) -> bool {
        self.held.is_empty() && !self.in_line
    }

    /// The next piece, without the prefixes.
    pub(super) fn push(&mut self, mut bytes: &[u8]) -> Vec<u8> {
        let mut text = Vec::with_capacity(self.held.len() + bytes.len());
        while !bytes.is_empty() {
            let line_end = memchr::memchr(b'\n', bytes).map(|at| at + 1);
            let (line, remainder) = bytes.split_at(line_end.unwrap_or(bytes.len()));
            bytes = remainder;
            let is_whole = line_end.is_some();
            if self.in_line {
                let kept_from =
                    if self.is_dropped { line.len() - usize::from(is_whole) } else { 0 };
                text.extend_from_slice(&line[kept_from..]);
            } else {
                let line = if self.held.is_empty() && (is_whole || line.len() >= MAX_HELD) {
                    line
                } else {
                    self.held.extend_from_slice(line);
                    if !is_whole && self.held.len() < MAX_HELD {
                        break;
                    }
                    &std::mem::take(&mut self.held)
                };
                let line_text = self.strip(line);
                // Of so long a beginning, only a field leaves nothing.
                self.is_dropped = line_text.is_empty();
                text.extend_from_slice(line_text);
            }
            self.in_line = !is_whole;
        }
        text
    }

    /// The line that is held, without the prefixes.
    pub(super) fn finish(&mut self) -> Vec<u8> {
        let held = std::mem::take(&mut self.held);
        self.strip(&held).to_vec()
    }

    fn strip<'l>(&self, line: &'l [u8]) -> &'l [u8] {
        let mut text = line.strip_suffix(b"\n").unwrap_or(line);
        let line_length = text.len();
        for prefix in &self.prefixes {
            text = prefix.strip(text).unwrap_or(text);
        }
        &line[line_length - text.len()..]
    }
}

/// The prefix of nearly all lines that are not blank, from the first line with it to the last line.
fn common_prefix(lines: &[&[u8]]) -> Option<Prefix> {
    let is_written = |line: &&&[u8]| !line.trim_ascii().is_empty();
    let lines: Vec<&[u8]> = lines.iter().filter(is_written).copied().collect();
    (0..lines.len().min(FIRST_LINES)).find_map(|first| {
        let lines = &lines[first..];
        let is_common = |prefix: &Prefix| is_before_all(prefix, lines);
        let json = Prefix::before_json(lines[0]).filter(is_common);
        let json = json.filter(|prefix| is_before_json(prefix, lines));
        json.or_else(|| {
            let text = Prefix::before_text(lines[0]).filter(is_common);
            text.filter(|prefix| is_before_text(prefix, lines))
        })
    })
}

/// A carrier's prefix stands before the last line, too: below a log that is quoted stand the
/// agent's own lines.
fn is_before_all(prefix: &Prefix, lines: &[&[u8]]) -> bool {
    let prefixed = lines.iter().filter(|line| prefix.strip(line).is_some()).count();
    let is_at_end = lines.last().is_some_and(|line| prefix.strip(line).is_some());
    is_at_end && (lines.len() - prefixed) * LINES_FOR_ONE <= prefixed
}

/// Half of the lines may be noise between the records.
fn is_before_json(prefix: &Prefix, lines: &[&[u8]]) -> bool {
    let is_record = |line: &&&[u8]| {
        let object = prefix.strip(line).and_then(|text| text.strip_prefix(b"{"));
        object.is_some_and(|text| matches!(text.trim_ascii_start().first(), Some(b'"' | b'}')))
    };
    let records = lines.iter().filter(is_record).count();
    match records {
        0 => false,
        1 => prefix.is_stamp() && lines.len() <= 2,
        _ if prefix.has_time() => records * 2 >= lines.len(),
        _ => (lines.len() - records) * LINES_FOR_ONE <= records,
    }
}

fn is_before_text(prefix: &Prefix, lines: &[&[u8]]) -> bool {
    let mut texts = lines.iter().filter_map(|line| prefix.strip(line));
    let is_enough = match prefix {
        Prefix::Data => lines.iter().any(|line| line.starts_with(DATA)),
        Prefix::Parts(_) => lines.len() > 1 || prefix.has_time(),
    };
    is_enough && texts.any(|text| !text.trim_ascii().is_empty())
}
