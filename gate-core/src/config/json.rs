//! JSON with places: a member knows where its name and its value stand.

use std::fmt;
use std::ops::Range;

use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;

use super::error::{ConfigError, Problem};

/// A JSON text under a file's name.
#[derive(Clone, Copy)]
pub(super) struct Document<'a> {
    pub(super) file: &'a str,
    pub(super) text: &'a str,
}

/// A value in the document, with its dotted key.
#[derive(Clone)]
pub(super) struct Node<'a> {
    document: Document<'a>,
    raw: &'a RawValue,
    key: String,
}

/// A member of an object.
pub(super) struct Member<'a> {
    pub(super) name: String,
    place: Range<usize>,
    pub(super) value: Node<'a>,
}

impl<'a> Document<'a> {
    /// The whole document, once it is known to be JSON.
    pub(super) fn root(self) -> Result<Node<'a>, ConfigError> {
        match serde_json::from_str::<&RawValue>(self.text) {
            Ok(raw) => Ok(Node { document: self, raw, key: String::new() }),
            Err(error) => Err(self.syntax(&error)),
        }
    }

    fn syntax(self, error: &serde_json::Error) -> ConfigError {
        let lines = self.text.split_inclusive('\n');
        let before: usize = lines.take(error.line().saturating_sub(1)).map(str::len).sum();
        let at = (before + error.column().saturating_sub(1)).min(self.text.len());
        let at = (0..=at).rev().find(|at| self.text.is_char_boundary(*at)).unwrap_or_default();
        let message = error.to_string();
        let message = message.split(" at line ").next().unwrap_or_default().to_owned();
        self.error(at..at, String::new(), Problem::Syntax(message), None)
    }

    fn error(
        self,
        span: Range<usize>,
        key: String,
        problem: Problem,
        hint: Option<String>,
    ) -> ConfigError {
        ConfigError::in_text(self.file.to_owned(), self.text, span, key, problem, hint)
    }

    /// Byte range of a part of the text, which must be a slice of it.
    fn place(self, part: &str) -> Range<usize> {
        let start = (part.as_ptr() as usize).saturating_sub(self.text.as_ptr() as usize);
        start..start + part.len()
    }
}

impl<'a> Node<'a> {
    /// An error about this value.
    pub(super) fn error(&self, problem: Problem, hint: Option<String>) -> ConfigError {
        let span = self.document.place(self.raw.get());
        self.document.error(span, self.key.clone(), problem, hint)
    }

    /// The value as a type; `expected` says in words what that is.
    pub(super) fn read<T: Deserialize<'a>>(&self, expected: &str) -> Result<T, ConfigError> {
        serde_json::from_str(self.raw.get()).map_err(|_| self.mismatch(expected))
    }

    /// The members of an object; a name that stands twice is an error, because
    /// two readers could disagree on which one counts.
    pub(super) fn members(&self) -> Result<Vec<Member<'a>>, ConfigError> {
        let Members(pairs) = self.read("an object")?;
        let mut members: Vec<Member<'a>> = Vec::with_capacity(pairs.len());
        for (name, raw) in pairs {
            let member = self.member(name, raw)?;
            if members.iter().any(|earlier| earlier.name == member.name) {
                let name = member.name.clone();
                return Err(member.error(Problem::Duplicate { what: "key", name }, None));
            }
            members.push(member);
        }
        Ok(members)
    }

    /// The items of an array.
    pub(super) fn items(&self) -> Result<Vec<Self>, ConfigError> {
        let items = self.read::<Vec<&'a RawValue>>("an array")?.into_iter().enumerate();
        Ok(items.map(|(index, raw)| self.child(raw, format!("{}[{index}]", self.key))).collect())
    }

    fn member(&self, name: &'a RawValue, raw: &'a RawValue) -> Result<Member<'a>, ConfigError> {
        let place = self.document.place(name.get());
        let name = self.child(name, self.key.clone()).read::<String>("a name")?;
        let key = if self.key.is_empty() { name.clone() } else { format!("{}.{name}", self.key) };
        Ok(Member { name, place, value: self.child(raw, key) })
    }

    fn child(&self, raw: &'a RawValue, key: String) -> Self {
        Self { document: self.document, raw, key }
    }

    fn mismatch(&self, expected: &str) -> ConfigError {
        let raw = self.raw.get();
        let found = match raw.as_bytes().first() {
            Some(b'{') => "an object".to_owned(),
            Some(b'[') => "an array".to_owned(),
            Some(b'"') => format!("string {raw}"),
            Some(b't' | b'f') => format!("boolean `{raw}`"),
            Some(b'n') => "null".to_owned(),
            _ => format!("number `{raw}`"),
        };
        self.error(Problem::WrongType { expected: expected.to_owned(), found }, None)
    }
}

impl Member<'_> {
    /// An error about the name.
    pub(super) fn error(&self, problem: Problem, hint: Option<String>) -> ConfigError {
        self.value.document.error(self.place.clone(), self.value.key.clone(), problem, hint)
    }
}

/// Names and values of an object, in order, repeated names included.
struct Members<'a>(Vec<(&'a RawValue, &'a RawValue)>);

impl<'de: 'a, 'a> Deserialize<'de> for Members<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(MembersVisitor).map(Members)
    }
}

struct MembersVisitor;

impl<'de> Visitor<'de> for MembersVisitor {
    type Value = Vec<(&'de RawValue, &'de RawValue)>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut members = Vec::new();
        while let Some(member) = map.next_entry()? {
            members.push(member);
        }
        Ok(members)
    }
}
