//! Finds the end of a JSON object, byte by byte and without recursion.

use memchr::memchr3;

/// The place in an object that the scan has come to.
#[derive(Debug, Default)]
pub(super) struct Scan {
    depth: usize,
    in_string: bool,
    escaped: bool,
    line_begins: bool,
    /// The bytes before those of the current run.
    seen: usize,
    /// The offset of the first line break inside of a string, which JSON does not allow.
    pub(super) broken: Option<usize>,
}

/// The result of a [`Scan`] over some bytes.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Found {
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
    pub(super) fn run(&mut self, bytes: &[u8]) -> Found {
        let mut at = 0;
        while at < bytes.len() {
            let step =
                if self.in_string { self.string(bytes, at) } else { self.outside(bytes, at) };
            match step {
                Ok(next) => at = next,
                Err(found) => return found,
            }
        }
        self.seen += bytes.len();
        Found::More
    }

    /// A string goes on after a line break: some writers leave breaks as they are. A line that
    /// begins like a record is one, behind a record that was cut off.
    fn string(&mut self, bytes: &[u8], mut at: usize) -> Result<usize, Found> {
        if std::mem::take(&mut self.line_begins) && bytes[at] == b'{' {
            return Err(Found::Torn(at));
        }
        if std::mem::take(&mut self.escaped) && bytes[at] != b'\n' {
            at += 1;
        }
        let Some(found) = memchr3(b'"', b'\\', b'\n', &bytes[at..]) else {
            return Ok(bytes.len());
        };
        match bytes[at + found] {
            b'"' => self.in_string = false,
            b'\\' => self.escaped = true,
            _ => {
                self.line_begins = true;
                self.broken.get_or_insert(self.seen + at + found);
            }
        }
        Ok(at + found + 1)
    }

    fn outside(&mut self, bytes: &[u8], from: usize) -> Result<usize, Found> {
        for (at, &byte) in bytes.iter().enumerate().skip(from) {
            let line_begins = std::mem::replace(&mut self.line_begins, byte == b'\n');
            match byte {
                b'"' => {
                    self.in_string = true;
                    return Ok(at + 1);
                }
                b'{' if line_begins => return Err(Found::Torn(at)),
                b'{' | b'[' => self.depth += 1,
                b'}' | b']' if self.depth <= 1 => return Err(Found::End(at + 1)),
                b'}' | b']' => self.depth -= 1,
                _ => {}
            }
        }
        Ok(bytes.len())
    }
}

#[cfg(test)]
mod tests {
    use super::{Found, Scan};

    fn check(input: &str, expected: &Found) {
        assert_eq!(Scan::default().run(input.as_bytes()), *expected, "{input}");
        let mut scan = Scan::default();
        let mut at = 0;
        let bytewise = input.as_bytes().chunks(1).find_map(|byte| {
            let found = scan.run(byte);
            at += 1;
            (found != Found::More).then_some(found)
        });
        let bytewise = match bytewise {
            Some(Found::End(_)) => Found::End(at),
            Some(Found::Torn(_)) => Found::Torn(at - 1),
            _ => Found::More,
        };
        assert_eq!(bytewise, *expected, "{input}, byte by byte");
    }

    #[test]
    fn ends() {
        check(r#"{"a":[1,{"b":"}"}]} x"#, &Found::End(19));
        check(r#"{"a":"\\"}"#, &Found::End(10));
        check(r#"{"a":"\"}"}"#, &Found::End(11));
        check("{\n  \"a\": {\n  }\n}\n", &Found::End(16));
        check("{\"a\": 1,\n", &Found::More);
        check("{\"a\":\"b\n\nc {}\"}", &Found::End(15));
    }

    #[test]
    fn tears() {
        check("{\"a\":\"b\n{\"c\":1}", &Found::Torn(8));
        check("{\"a\":\"b\\\n{\"c\":1}", &Found::Torn(9));
        check("{\"a\":[1,\n{\"c\":1}", &Found::Torn(9));
    }
}
