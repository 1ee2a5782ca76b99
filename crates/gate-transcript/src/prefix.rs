//! Prefixes that a carrier puts before each line of an agent's output: the time stamps of GitHub Actions
//! and of `docker logs -t`, the names of `docker compose`, server-sent events. They are taken away
//! before the format is looked for, if they stand before nearly all lines.

/// The bytes that `script` leaves at the beginning of its file if its input is at the end.
const END_OF_INPUT: &[u8] = b"^D\x08\x08";

/// The longest prefix, in bytes.
const MAX_BYTES: usize = 128;

/// Of so many lines that are not blank, one may be without the prefix.
const LINES_FOR_ONE: usize = 20;

/// The prefix of a server-sent event's data.
const DATA: &[u8] = b"data: ";

/// Lines of server-sent events beside their data.
const FIELDS: [&[u8]; 4] = [b"event:", b"id:", b"retry:", b":"];

#[derive(Clone, Debug, PartialEq, Eq)]
enum Prefix {
    /// `2026-11-28T08:00:00.1234567Z `
    Time,
    /// `agent-1  | `, the same before all lines.
    Name(Vec<u8>),
    /// `data: `
    Data,
}

impl Prefix {
    /// The prefix that a line, the first that is not blank, begins with.
    fn detect(line: &[u8]) -> Option<Self> {
        if time_length(line).is_some() {
            return Some(Self::Time);
        }
        if line.starts_with(DATA) || FIELDS[..3].iter().any(|field| line.starts_with(field)) {
            return Some(Self::Data);
        }
        let is_in_name = |byte: &u8| byte.is_ascii_alphanumeric() || b"._-".contains(byte);
        let name_end = line.iter().position(|byte| !is_in_name(byte))?;
        let bar = line.iter().skip(name_end).position(|byte| *byte != b' ')? + name_end;
        let is_name = name_end > 0 && bar > name_end && line[bar] == b'|';
        is_name.then(|| Self::Name(line[..=bar].to_vec()))
    }

    /// The line without this prefix; `None` if it has another beginning.
    fn strip<'l>(&self, line: &'l [u8]) -> Option<&'l [u8]> {
        match self {
            Self::Time => {
                let text = &line[time_length(line)?..];
                Some(text.strip_prefix(b" ").unwrap_or(text))
            }
            Self::Name(name) => {
                let text = line.strip_prefix(&name[..])?;
                Some(text.strip_prefix(b" ").unwrap_or(text))
            }
            Self::Data if FIELDS.iter().any(|field| line.starts_with(field)) => Some(b""),
            Self::Data => line.strip_prefix(DATA),
        }
    }
}

/// The length of the RFC 3339 time that a line begins with, if a blank or the line's end follows.
fn time_length(line: &[u8]) -> Option<usize> {
    const FORM: &[u8] = b"0000-00-00T00:00:00";
    let is_form = |(byte, form): (&u8, &u8)| match form {
        b'0' => byte.is_ascii_digit(),
        form => byte == form,
    };
    if line.len() <= FORM.len() || !line.iter().zip(FORM).all(is_form) {
        return None;
    }
    let mut end = FORM.len();
    if line[end] == b'.' {
        end += 1 + line[end + 1..].iter().take_while(|byte| byte.is_ascii_digit()).count();
    }
    end += match line.get(end)? {
        b'Z' => 1,
        b'+' | b'-' => 6,
        _ => return None,
    };
    matches!(line.get(end), None | Some(b' ' | b'\r'))
        .then_some(end)
        .filter(|end| *end <= line.len())
}

/// Takes prefixes from the lines of an input, in pieces of any size.
#[derive(Debug, Default)]
pub(super) struct Unprefixed {
    prefixes: Vec<Prefix>,
    /// The beginning of a line, too short so far to show its prefix.
    held: Vec<u8>,
    in_line: bool,
}

impl Unprefixed {
    /// Finds the prefixes by an input's beginning, and returns the beginning without them. A name
    /// may stand before a time.
    pub(super) fn begin(&mut self, head: &[u8]) -> Vec<u8> {
        let head = head.strip_prefix(END_OF_INPUT).unwrap_or(head);
        // The last line may be cut, and does not count.
        let end = memchr::memrchr(b'\n', head).map_or(head.len(), |at| at + 1);
        let mut lines: Vec<&[u8]> = head[..end].split(|byte| *byte == b'\n').collect();
        while self.prefixes.len() < 2
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
        let mut text = Vec::with_capacity(bytes.len());
        while !bytes.is_empty() {
            let line_end = memchr::memchr(b'\n', bytes).map(|at| at + 1);
            if self.in_line {
                let (part, remainder) = bytes.split_at(line_end.unwrap_or(bytes.len()));
                text.extend_from_slice(part);
                self.in_line = line_end.is_none();
                bytes = remainder;
                continue;
            }
            let room = MAX_BYTES - self.held.len();
            let (part, remainder) = bytes.split_at(line_end.unwrap_or(bytes.len()).min(room));
            self.held.extend_from_slice(part);
            bytes = remainder;
            let is_line = part.ends_with(b"\n");
            if is_line || self.held.len() == MAX_BYTES {
                self.in_line = !is_line;
                text.extend(self.finish());
            }
        }
        text
    }

    /// The line that is held, without the prefixes.
    pub(super) fn finish(&mut self) -> Vec<u8> {
        let held = std::mem::take(&mut self.held);
        let (line, line_end) = held.split_at(held.len() - usize::from(held.ends_with(b"\n")));
        let mut text = line;
        for prefix in &self.prefixes {
            text = prefix.strip(text).unwrap_or(text);
        }
        [text, line_end].concat()
    }
}

/// The prefix of nearly all lines that are not blank; a name has to stand before two.
fn common_prefix(lines: &[&[u8]]) -> Option<Prefix> {
    let is_written = |line: &&&[u8]| !line.trim_ascii().is_empty();
    let lines: Vec<&[u8]> = lines.iter().filter(is_written).copied().collect();
    let prefix = Prefix::detect(lines.first()?)?;
    let prefixed = lines.iter().filter(|line| prefix.strip(line).is_some()).count();
    let is_enough = match prefix {
        Prefix::Name(_) => prefixed > 1,
        Prefix::Data => lines.iter().any(|line| line.starts_with(DATA)),
        Prefix::Time => true,
    };
    (is_enough && (lines.len() - prefixed) * LINES_FOR_ONE <= prefixed).then_some(prefix)
}
