//! The outline of a JSON object, for telling formats apart.

use memchr::memchr2;

/// The most keys of an object that are looked at.
const MAX_KEYS: usize = 64;

/// The keys of an object and its values. Made from a beginning of the object too, since the first
/// record may be longer than what is looked at; nested values are passed over until they are
/// needed.
#[derive(Debug, Default)]
pub(super) struct Shape<'a> {
    keys: Vec<(&'a [u8], &'a [u8])>,
    /// True for an element of an array.
    pub(super) in_array: bool,
    /// True if nothing comes before the object in the input.
    pub(super) first: bool,
}

impl<'a> Shape<'a> {
    pub(super) fn new(json: &'a [u8], in_array: bool) -> Self {
        let mut shape = Self { in_array, ..Self::default() };
        let mut rest = json.trim_ascii_start().strip_prefix(b"{").unwrap_or_default();
        while shape.keys.len() < MAX_KEYS
            && let Some((key, value, next)) = entry(rest)
        {
            shape.keys.push((key, value));
            rest = next;
        }
        shape
    }

    pub(super) fn has(&self, key: &str) -> bool {
        self.keys.iter().any(|(name, _)| *name == key.as_bytes())
    }

    /// The key's value if it is a string, still escaped; otherwise "".
    pub(super) fn text(&self, key: &str) -> &'a str {
        let value = self.keys.iter().find(|(name, _)| *name == key.as_bytes());
        let text = value.and_then(|(_, value)| string(value));
        text.and_then(|(text, _)| std::str::from_utf8(text).ok()).unwrap_or_default()
    }

    /// The outline of the key's value, or of its first element if it is an
    /// array.
    pub(super) fn inner(&self, key: &str) -> Self {
        let value = self.keys.iter().find(|(name, _)| *name == key.as_bytes());
        let value = value.map_or(&b""[..], |(_, value)| value);
        Self::new(value.strip_prefix(b"[").unwrap_or(value), value.starts_with(b"["))
    }

    /// True if no key could be read.
    pub(super) fn is_empty(&self) -> bool {
        self.keys.is_empty()
    }
}

type Entry<'a> = (&'a [u8], &'a [u8], &'a [u8]);

fn entry(bytes: &[u8]) -> Option<Entry<'_>> {
    let bytes = trim(bytes, b",");
    let (key, rest) = string(bytes)?;
    let rest = trim(trim(rest, b"").strip_prefix(b":")?, b"");
    let (value, rest) = rest.split_at(value_len(rest));
    Some((key, value, rest))
}

fn trim<'a>(bytes: &'a [u8], also: &[u8]) -> &'a [u8] {
    let at = bytes.iter().position(|byte| !byte.is_ascii_whitespace() && !also.contains(byte));
    &bytes[at.unwrap_or(bytes.len())..]
}

/// A string at the beginning of `bytes`, and what follows it.
fn string(bytes: &[u8]) -> Option<(&[u8], &[u8])> {
    let inner = bytes.strip_prefix(b"\"")?;
    let mut at = 0;
    loop {
        at += memchr2(b'"', b'\\', inner.get(at..)?)?;
        if inner[at] == b'"' {
            return Some((&inner[..at], &inner[at + 1..]));
        }
        at += 2;
    }
}

/// The length of a value, and of blanks after a number.
fn value_len(bytes: &[u8]) -> usize {
    let mut depth = 0_usize;
    let mut at = 0;
    while at < bytes.len() {
        match bytes[at] {
            b'"' => match string(&bytes[at..]) {
                Some((inner, _)) => at += inner.len() + 1,
                None => return bytes.len(),
            },
            b'{' | b'[' => depth += 1,
            b',' | b'}' | b']' if depth == 0 => return at,
            b'}' | b']' => depth -= 1,
            _ => {}
        }
        at += 1;
    }
    at
}

#[cfg(test)]
mod tests {
    use super::Shape;

    #[test]
    fn outlines_whole_and_cut_objects() {
        let json = br#"{"a" : {"b":"}"}, "type":"x\"y","n":[1,{"q":2}],"s":"cut"#;
        let shape = Shape::new(json, false);
        assert!(shape.has("a") && shape.has("n") && !shape.has("b") && !shape.has("q"));
        assert_eq!(shape.text("type"), "x\\\"y");
        assert!(shape.has("s") && shape.inner("a").has("b") && shape.inner("n").is_empty());
        assert_eq!(shape.text("s"), "");
    }

    #[test]
    fn no_object_has_no_keys() {
        for json in ["", "[1]", "{", "{a:1}", "{\"a\""] {
            assert!(Shape::new(json.as_bytes(), false).is_empty(), "{json}");
        }
    }
}
