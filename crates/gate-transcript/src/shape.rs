//! The outline of a JSON object, for telling formats apart.

use memchr::memchr2;

/// The most keys of an object that are looked at.
const MAX_KEYS: usize = 64;

/// The keys of an object and its values. Made from a beginning of the object too, since the first
/// record may be longer than what is looked at; nested values are passed over until they are
/// needed.
#[derive(Debug, Default)]
pub(super) struct Shape<'a> {
    members: Vec<Member<'a>>,
    /// The object is an element of an array.
    pub(super) in_array: bool,
    /// Nothing comes before the object in the input.
    pub(super) is_first: bool,
    /// It is the second object of the input, and its first key is that of the first one, which
    /// stands at the very beginning. Two such objects above a text are an example: then neither
    /// is one.
    pub(super) is_second_alike: bool,
}

/// A key with its value, both as the JSON has them.
#[derive(Debug)]
struct Member<'a> {
    key: &'a [u8],
    value: &'a [u8],
}

impl<'a> Shape<'a> {
    pub(super) fn new(json: &'a [u8], in_array: bool) -> Self {
        let mut shape = Self { in_array, ..Self::default() };
        let mut unread = json.trim_ascii_start().strip_prefix(b"{").unwrap_or_default();
        while shape.members.len() < MAX_KEYS
            && let Some((member, after_member)) = split_member(unread)
        {
            shape.members.push(member);
            unread = after_member;
        }
        shape
    }

    pub(super) fn first_key(&self) -> Option<&'a [u8]> {
        self.members.first().map(|member| member.key)
    }

    pub(super) fn has(&self, key: &str) -> bool {
        self.value(key).is_some()
    }

    /// The key's value if it is a string, still escaped; otherwise "".
    pub(super) fn text(&self, key: &str) -> &'a str {
        let text = self.value(key).and_then(split_string);
        text.and_then(|(text, _)| std::str::from_utf8(text).ok()).unwrap_or_default()
    }

    /// The outline of the key's value, or of its first element if it is an
    /// array.
    pub(super) fn inner(&self, key: &str) -> Self {
        let value = self.value(key).unwrap_or_default();
        Self::new(value.strip_prefix(b"[").unwrap_or(value), value.starts_with(b"["))
    }

    /// An object of which no key could be read.
    pub(super) fn is_empty(&self) -> bool {
        self.members.is_empty()
    }

    fn value(&self, key: &str) -> Option<&'a [u8]> {
        let member = self.members.iter().find(|member| member.key == key.as_bytes())?;
        Some(member.value)
    }
}

/// The object's next member, and the bytes after it.
fn split_member(bytes: &[u8]) -> Option<(Member<'_>, &[u8])> {
    let separators = bytes.iter().take_while(|byte| byte.is_ascii_whitespace() || **byte == b',');
    let (key, after_key) = split_string(&bytes[separators.count()..])?;
    let after_colon = after_key.trim_ascii_start().strip_prefix(b":")?.trim_ascii_start();
    let (value, after_value) = after_colon.split_at(value_len(after_colon));
    Some((Member { key, value }, after_value))
}

/// The string that `bytes` begin with, still escaped, and the bytes after it.
fn split_string(bytes: &[u8]) -> Option<(&[u8], &[u8])> {
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
            b'"' => match split_string(&bytes[at..]) {
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
