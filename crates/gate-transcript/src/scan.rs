//! Finds the end of a JSON object, byte by byte and without recursion.

use memchr::memchr3;

/// The place in an object that the scan has come to.
#[derive(Debug, Default)]
pub(super) struct Scan {
    depth: usize,
    in_string: bool,
    escaped: bool,
    line_begins: bool,
    /// The bytes of the object before those of the current run.
    bytes_before: usize,
    /// The offset of the first line break inside of a string, which JSON does not allow.
    pub(super) string_break: Option<usize>,
}

/// The result of a [`Scan`] over some bytes.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Progress {
    /// The object goes on.
    More,
    /// The object ends before this offset.
    End(usize),
    /// The bytes before this offset are the beginning of an object that never
    /// ends: another object begins at the beginning of a line, where no formatter puts a
    /// nested one.
    Torn(usize),
}

impl Scan {
    /// Looks at the next bytes of the object.
    pub(super) fn run(&mut self, bytes: &[u8]) -> Progress {
        let mut at = 0;
        while at < bytes.len() {
            let step = match self.in_string {
                true => self.in_string(bytes, at),
                false => self.outside_string(bytes, at),
            };
            match step {
                Ok(next) => at = next,
                Err(end) => return end,
            }
        }
        self.bytes_before += bytes.len();
        Progress::More
    }

    /// A string goes on after a line break: some writers leave breaks as they are. A line that
    /// begins like a record is one, behind a record that was cut off.
    fn in_string(&mut self, bytes: &[u8], mut at: usize) -> Result<usize, Progress> {
        if std::mem::take(&mut self.line_begins) && bytes[at] == b'{' {
            return Err(Progress::Torn(at));
        }
        if std::mem::take(&mut self.escaped) && bytes[at] != b'\n' {
            at += 1;
        }
        let Some(distance) = memchr3(b'"', b'\\', b'\n', &bytes[at..]) else {
            return Ok(bytes.len());
        };
        let mark = at + distance;
        match bytes[mark] {
            b'"' => self.in_string = false,
            b'\\' => self.escaped = true,
            _ => {
                self.line_begins = true;
                self.string_break.get_or_insert(self.bytes_before + mark);
            }
        }
        Ok(mark + 1)
    }

    fn outside_string(&mut self, bytes: &[u8], start: usize) -> Result<usize, Progress> {
        for (at, &byte) in bytes.iter().enumerate().skip(start) {
            let line_begins = std::mem::replace(&mut self.line_begins, byte == b'\n');
            match byte {
                b'"' => {
                    self.in_string = true;
                    return Ok(at + 1);
                }
                b'{' if line_begins => return Err(Progress::Torn(at)),
                b'{' | b'[' => self.depth += 1,
                b'}' | b']' if self.depth <= 1 => return Err(Progress::End(at + 1)),
                b'}' | b']' => self.depth -= 1,
                _ => {}
            }
        }
        Ok(bytes.len())
    }
}

#[cfg(test)]
mod tests {
    use super::{Progress, Scan};

    fn check(input: &str, expected: &Progress) {
        assert_eq!(Scan::default().run(input.as_bytes()), *expected, "{input}");
        let mut scan = Scan::default();
        let mut at = 0;
        let bytewise = input.as_bytes().chunks(1).find_map(|byte| {
            let found = scan.run(byte);
            at += 1;
            (found != Progress::More).then_some(found)
        });
        let bytewise = match bytewise {
            Some(Progress::End(_)) => Progress::End(at),
            Some(Progress::Torn(_)) => Progress::Torn(at - 1),
            _ => Progress::More,
        };
        assert_eq!(bytewise, *expected, "{input}, byte by byte");
    }

    #[test]
    fn ends() {
        check(r#"{"a":[1,{"b":"}"}]} x"#, &Progress::End(19));
        check(r#"{"a":"\\"}"#, &Progress::End(10));
        check(r#"{"a":"\"}"}"#, &Progress::End(11));
        check("{\n  \"a\": {\n  }\n}\n", &Progress::End(16));
        check("{\"a\": 1,\n", &Progress::More);
        check("{\"a\":\"b\n\nc {}\"}", &Progress::End(15));
    }

    #[test]
    fn tears() {
        check("{\"a\":\"b\n{\"c\":1}", &Progress::Torn(8));
        check("{\"a\":\"b\\\n{\"c\":1}", &Progress::Torn(9));
        check("{\"a\":[1,\n{\"c\":1}", &Progress::Torn(9));
    }
}
