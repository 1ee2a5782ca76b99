//! Walks over a line of JSON without building anything.

use memchr::{memchr2, memchr2_iter};

use super::values::{Value, Values};

/// Stands somewhere in a line of JSON. Every step returns nothing where the
/// line is not what was expected; the caller is in doubt then.
pub(in crate::read) struct Walk<'a, 'v> {
    line: &'a [u8],
    rest: &'a [u8],
    /// Whether an object or array was entered by the last step.
    entered: bool,
    values: &'v mut Values<'a>,
}

impl<'a, 'v> Walk<'a, 'v> {
    /// Stands at the beginning of a line.
    pub(in crate::read) fn new(line: &'a [u8], values: &'v mut Values<'a>) -> Self {
        values.begin(line);
        Self { line, rest: line, entered: false, values }
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

    /// Passes a string, and tells which value it is.
    #[inline]
    pub(in crate::read) fn text(&mut self) -> Option<Value> {
        let string = self.string()?;
        let end = self.line.len() - self.rest.len() - 1;
        self.values.add(end - string.len()..end)
    }

    /// Passes a number, and tells which value it is.
    pub(in crate::read) fn number(&mut self) -> Option<Value> {
        let number = self.atom().filter(|atom| atom[0].is_ascii_digit())?;
        let end = self.line.len() - self.rest.len();
        self.values.add(end - number.len()..end)
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
            b'{' | b'[' => self.pass_nested(),
            _ => self.pass_plain(),
        }
    }

    /// Passes an object or an array with all that it holds.
    fn pass_nested(&mut self) -> Option<()> {
        let mut open = Open::default();
        loop {
            match self.peek()? {
                mark @ (b'{' | b'[') => {
                    self.enter(mark)?;
                    open.push(mark)?;
                }
                _ => self.pass_plain()?,
            }
            while !self.more(open.close())? {
                if open.pop() {
                    return Some(());
                }
            }
            if open.close() == b'}' {
                self.string()?;
                self.mark(b':')?;
            }
        }
    }

    /// Passes what is no object or array.
    #[inline]
    fn pass_plain(&mut self) -> Option<()> {
        let (passed, quote) = match self.peek()? {
            b'"' => (self.string()?, 1),
            _ => (self.atom()?, 0),
        };
        let is_word = quote == 0 && passed[0].is_ascii_alphabetic();
        if !is_word {
            let end = self.line.len() - self.rest.len() - quote;
            self.values.add(end - passed.len()..end);
        }
        Some(())
    }

    /// A value that is no string, object or array.
    fn atom(&mut self) -> Option<&'a [u8]> {
        self.peek()?;
        let (atom, rest) = self.rest.split_at(end_of_atom(self.rest)?);
        self.rest = rest;
        Some(atom)
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

/// The objects and arrays that are open: the innermost in the last bit, which is
/// set for an object, behind a first bit that is always set.
struct Open(u128);

impl Default for Open {
    fn default() -> Self {
        Self(1)
    }
}

impl Open {
    /// One more opens. Nothing where there are so many that a reader may give up.
    #[inline]
    fn push(&mut self, mark: u8) -> Option<()> {
        let room = self.0.leading_zeros() > ROOM;
        room.then(|| self.0 = self.0 << 1 | u128::from(mark == b'{'))
    }

    /// What closes the innermost.
    #[inline]
    fn close(&self) -> u8 {
        if self.0 & 1 == 1 { b'}' } else { b']' }
    }

    /// The innermost has closed. Whether it was the last one.
    #[inline]
    fn pop(&mut self) -> bool {
        self.0 >>= 1;
        self.0 == 1
    }
}

/// How many levels below those that are counted are left to what is around: a
/// reader that reads values gives up at the 128th.
const ROOM: u32 = 16;

/// Where a value ends that is no string, object or array.
#[inline]
pub(super) fn end_of_atom(bytes: &[u8]) -> Option<usize> {
    let inside = |byte: &u8| byte.is_ascii_alphanumeric() || b"+-.".contains(byte);
    let digits = bytes.iter().position(|byte| !byte.is_ascii_digit())?;
    if !inside(&bytes[digits]) && (digits == 1 || digits > 1 && bytes[0] != b'0') {
        return Some(digits);
    }
    let end = bytes.iter().position(|byte| !inside(byte))?;
    match &bytes[..end] {
        b"null" | b"true" | b"false" => Some(end),
        atom => serde_json::from_slice::<f64>(atom).is_ok().then_some(end),
    }
}

/// Where the quotation mark stands that ends a string; none where the line ends
/// before it. Where a backslash ends the string it may be missed; then what follows is
/// not what is expected.
#[inline]
pub(super) fn end_of_string(bytes: &[u8]) -> Option<usize> {
    let mut at = short(bytes)?;
    while bytes[at] == b'"' && at > 0 && bytes[at - 1] == b'\\' && is_escaped(&bytes[..at]) {
        at += long(&bytes[at..])?;
    }
    (bytes[at] == b'"').then_some(at)
}

/// The first quotation mark or line break. Keys and names are short: their first bytes
/// are held against both eight by eight, which costs less than to begin a search.
#[inline]
fn short(bytes: &[u8]) -> Option<usize> {
    let eights: Option<&[u8; SHORT]> = bytes.first_chunk();
    for (index, eight) in eights.iter().flat_map(|short| short.as_chunks::<8>().0).enumerate() {
        let eight = u64::from_le_bytes(*eight);
        let found = first_of(eight, b'"') | first_of(eight, b'\n');
        if found != 0 {
            return Some(index * 8 + found.trailing_zeros() as usize / 8);
        }
    }
    match eights {
        Some(_) => Some(SHORT - 1 + long(&bytes[SHORT - 1..])?),
        None => memchr2(b'"', b'\n', bytes),
    }
}

/// The highest bit of the first of eight bytes that is this one; what stands above it
/// tells nothing.
#[inline]
fn first_of(eight: u64, byte: u8) -> u64 {
    let other = eight ^ (EACH * u64::from(byte));
    other.wrapping_sub(EACH) & !other & (EACH << 7)
}

/// The first line break, or quotation mark that does not follow a backslash, behind the
/// first byte.
fn long(bytes: &[u8]) -> Option<usize> {
    let first = 1 + memchr2(b'"', b'\n', bytes.get(1..)?)?;
    if ends(bytes[first - 1], bytes[first]) { Some(first) } else { among_escaped(bytes, first) }
}

/// Whether a search is over at a byte, which follows another.
#[inline]
fn ends(before: u8, byte: u8) -> bool {
    (byte == b'"') & (before != b'\\') | (byte == b'\n')
}

/// The same behind a byte, where a quotation mark was found that follows a backslash.
/// What tools print is full of those; to look at each would cost more than to compare
/// all bytes, which compiles to wide instructions.
fn among_escaped(bytes: &[u8], from: usize) -> Option<usize> {
    let (before, _) = bytes[from..].as_chunks::<WIDE>();
    let (behind, _) = bytes[from + 1..].as_chunks::<WIDE>();
    let block = before.iter().zip(behind).position(|(before, behind)| {
        before.iter().zip(behind).fold(false, |any, (before, byte)| any | ends(*before, *byte))
    });
    let near = from + 1 + block.unwrap_or(behind.len()) * WIDE;
    let mut marks = memchr2_iter(b'"', b'\n', &bytes[near..]).map(|at| near + at);
    marks.find(|&at| ends(bytes[at - 1], bytes[at]))
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
    use super::super::values::Values;
    use super::Walk;

    fn keys(line: &str) -> Option<Vec<String>> {
        let mut values = Values::new();
        let mut walk = Walk::new(line.as_bytes(), &mut values);
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
            "{\"a\":[1 \"b\"]}",
            "{\"a\":[{\"b\":1]}}",
            "{\"a\":{\"b\":[1}]}",
            "{\"a\":[1,,2]}",
            "{\"a\":[1,]}",
            "{\"a\":{\"b\"}}",
            "{\"a\":{\"b\":1,}}",
            "{\"a\":[\"b\":1]}",
            "{\"a\":{1:2}}",
            "{\"a\":{}{}}",
        ] {
            assert_eq!(keys(line), None, "{line}");
        }
    }

    #[test]
    fn it_doubts_what_is_deeper_than_a_reader_goes() {
        let deep = |levels| format!("{{\"a\":{}{}}}", "[".repeat(levels), "]".repeat(levels));
        for levels in [1, 50, 100, 111, 112, 120, 127, 128, 500] {
            let is_read = serde_json::from_str::<serde_json::Value>(&deep(levels)).is_ok();
            assert!(is_read || keys(&deep(levels)).is_none(), "{levels}");
            assert_eq!(keys(&deep(levels)).is_some(), levels < 112, "{levels}");
        }
    }
}
