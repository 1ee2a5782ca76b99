//! Walks over a line of JSON without building anything.

use memchr::memchr;

/// Stands somewhere in a line of JSON. Every step returns nothing where the
/// line is not what was expected; the caller is in doubt then.
pub(in crate::read) struct Walk<'a> {
    rest: &'a [u8],
    /// Whether an object or array was entered by the last step.
    entered: bool,
}

impl<'a> Walk<'a> {
    /// Stands at the beginning of a line.
    pub(in crate::read) fn new(line: &'a [u8]) -> Self {
        Self { rest: line, entered: false }
    }

    /// Goes into an object or an array, which opens here.
    #[inline]
    pub(in crate::read) fn enter(&mut self, open: u8) -> Option<()> {
        self.mark(open)?;
        self.entered = true;
        Some(())
    }

    /// Goes to the value of the next member of this object, and tells its key,
    /// as it is escaped; or leaves the object: then the key is empty.
    #[inline]
    pub(in crate::read) fn member(&mut self) -> Option<&'a [u8]> {
        if !self.more(b'}')? {
            return Some(b"");
        }
        let key = self.string().filter(|key| !key.is_empty() && !key.contains(&b'\\'))?;
        self.mark(b':')?;
        Some(key)
    }

    /// Goes to the next element of this array, or leaves it.
    #[inline]
    pub(in crate::read) fn element(&mut self) -> Option<bool> {
        self.more(b']')
    }

    /// Whether another element follows; the comma before it is passed.
    #[inline]
    fn more(&mut self, close: u8) -> Option<bool> {
        let entered = std::mem::replace(&mut self.entered, false);
        match self.peek()? {
            byte if byte == close => {
                self.rest = &self.rest[1..];
                Some(false)
            }
            _ if entered => Some(true),
            b',' => {
                self.rest = &self.rest[1..];
                Some(true)
            }
            _ => None,
        }
    }

    /// Passes a string, and tells it as it is escaped.
    #[inline]
    pub(in crate::read) fn string(&mut self) -> Option<&'a [u8]> {
        self.mark(b'"')?;
        let end = end_of_string(self.rest)?;
        let string = &self.rest[..end];
        self.rest = &self.rest[end + 1..];
        Some(string)
    }

    /// Passes a whole number that is not negative.
    pub(in crate::read) fn number(&mut self) -> Option<u64> {
        let digits = self.atom()?;
        let add = |sum: u64, digit: &u8| {
            let digit = digit.is_ascii_digit().then(|| u64::from(digit - b'0'))?;
            sum.checked_mul(10)?.checked_add(digit)
        };
        digits.iter().try_fold(0, add)
    }

    /// Passes what may be said or not; whether it is not: whether it is `null`,
    /// `false` or an empty string.
    pub(in crate::read) fn says_nothing(&mut self) -> Option<bool> {
        if self.peek()? == b'"' {
            return self.string().map(<[u8]>::is_empty);
        }
        match self.atom()? {
            b"null" | b"false" => Some(true),
            b"true" => Some(false),
            _ => None,
        }
    }

    /// Passes any value.
    #[inline]
    pub(in crate::read) fn pass(&mut self) -> Option<()> {
        match self.peek()? {
            b'"' => self.string().map(drop),
            b'{' | b'[' => self.pass_nested(),
            _ => self.atom().map(drop),
        }
    }

    fn pass_nested(&mut self) -> Option<()> {
        let mut depth = 0_usize;
        loop {
            match self.peek()? {
                b'"' => self.string().map(drop)?,
                mark @ (b'{' | b'[' | b'}' | b']' | b',' | b':') => {
                    self.rest = &self.rest[1..];
                    match mark {
                        b'{' | b'[' => depth += 1,
                        b'}' | b']' if depth == 1 => return Some(()),
                        b'}' | b']' => depth -= 1,
                        _ => {}
                    }
                }
                _ => self.atom().map(drop)?,
            }
        }
    }

    /// A value that is no string, object or array.
    fn atom(&mut self) -> Option<&'a [u8]> {
        self.peek()?;
        let inside = |byte: &u8| byte.is_ascii_alphanumeric() || b"+-.".contains(byte);
        let end = self.rest.iter().position(|byte| !inside(byte))?;
        let (atom, rest) = self.rest.split_at(end);
        self.rest = rest;
        match atom {
            b"null" | b"true" | b"false" | [b'0'] => Some(atom),
            [b'1'..=b'9', digits @ ..] if digits.iter().all(u8::is_ascii_digit) => Some(atom),
            _ => serde_json::from_slice::<f64>(atom).is_ok().then_some(atom),
        }
    }

    /// Whether nothing but white space follows.
    pub(in crate::read) fn is_at_end(&self) -> bool {
        self.rest.iter().all(u8::is_ascii_whitespace)
    }

    /// Passes this byte.
    #[inline]
    fn mark(&mut self, mark: u8) -> Option<()> {
        (self.peek()? == mark).then(|| self.rest = &self.rest[1..])
    }

    /// The next byte that is no white space.
    #[inline]
    fn peek(&mut self) -> Option<u8> {
        loop {
            match self.rest {
                [b' ' | b'\t' | b'\r', rest @ ..] => self.rest = rest,
                [byte, ..] => return Some(*byte),
                [] => return None,
            }
        }
    }
}

/// Where the quotation mark stands that ends a string. Where a backslash ends the
/// string it may be missed; then what follows is not what is expected.
#[inline]
fn end_of_string(bytes: &[u8]) -> Option<usize> {
    let mut at = short(bytes)?;
    while at > 0 && bytes[at - 1] == b'\\' && is_escaped(&bytes[..at]) {
        at += long(&bytes[at..])?;
    }
    Some(at)
}

/// The first quotation mark. Keys and names are short: their first bytes are held
/// against it eight by eight, which costs less than to begin a search.
#[inline]
fn short(bytes: &[u8]) -> Option<usize> {
    let eights: Option<&[u8; SHORT]> = bytes.first_chunk();
    for (index, eight) in eights.iter().flat_map(|short| short.as_chunks::<8>().0).enumerate() {
        let other = u64::from_le_bytes(*eight) ^ (EACH * b'"' as u64);
        let zero = other.wrapping_sub(EACH) & !other & (EACH << 7);
        if zero != 0 {
            return Some(index * 8 + zero.trailing_zeros() as usize / 8);
        }
    }
    match eights {
        Some(_) => Some(SHORT - 1 + long(&bytes[SHORT - 1..])?),
        None => memchr(b'"', bytes),
    }
}

/// The first quotation mark behind the first byte that does not follow a
/// backslash. What tools print is full of those that do; to look at each would
/// cost more than to compare all bytes, which compiles to wide instructions.
fn long(bytes: &[u8]) -> Option<usize> {
    let ends = |before: &u8, byte: &u8| (*byte == b'"') & (*before != b'\\');
    let behind = bytes.get(1..)?;
    let mut blocks = bytes.chunks(WIDE).zip(behind.chunks(WIDE));
    let block = blocks.position(|(before, behind)| {
        before.iter().zip(behind).fold(false, |any, (before, byte)| any | ends(before, byte))
    })?;
    let from = block * WIDE;
    let mut pairs = bytes[from..].iter().zip(&behind[from..]);
    Some(from + 1 + pairs.position(|(before, byte)| ends(before, byte))?)
}

/// How many bytes of a string are looked at before a search begins.
const SHORT: usize = 32;

/// How many bytes are compared at once.
const WIDE: usize = 128;

/// A one in each of eight bytes.
const EACH: u64 = u64::from_le_bytes([1; 8]);

/// Whether what follows these bytes of a string is escaped.
fn is_escaped(before: &[u8]) -> bool {
    before.iter().rev().take_while(|byte| **byte == b'\\').count() % 2 == 1
}

#[cfg(test)]
mod tests {
    use super::Walk;

    fn keys(line: &str) -> Option<Vec<String>> {
        let mut walk = Walk::new(line.as_bytes());
        walk.enter(b'{')?;
        let mut keys = Vec::new();
        loop {
            match walk.member()? {
                b"" => return walk.is_at_end().then_some(keys),
                key => keys.push(String::from_utf8_lossy(key).into_owned()),
            }
            walk.pass()?;
        }
    }

    #[test]
    fn it_passes_values_of_all_kinds() {
        let line = r#"{"a":"x\"}","b" : [1,{"c":"]\\"},null],"d":-1.5e3,"e":{},"f":true} "#;
        assert_eq!(keys(line).unwrap(), ["a", "b", "d", "e", "f"]);
        assert_eq!(keys("{}").unwrap(), [""; 0]);
    }

    #[test]
    fn it_doubts_what_is_no_whole_object() {
        for line in [
            "",
            "x",
            "{",
            "{\"a\":1",
            "{\"a\":\"b}",
            "{\"a\" 1}",
            "{\"a\":1}{\"b\":2}",
            "{\"\":1}",
            "{\"a\":1\"b\":2}",
            "{\"a\":[1\n]}",
        ] {
            assert_eq!(keys(line), None, "{line}");
        }
    }
}
