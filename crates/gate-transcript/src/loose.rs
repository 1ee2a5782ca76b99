//! JSON values that clients write in more than one way. A field of an
//! unexpected type reads as absent, so that it cannot hide the rest of its
//! record.

use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;

use serde::de::value::{MapAccessDeserializer, SeqAccessDeserializer};
use serde::de::{Deserialize, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};

/// A string; anything else reads as the empty string.
#[derive(Debug, Default)]
pub(super) struct Str<'a>(pub(super) Cow<'a, str>);

/// The cause of a failure: a string, or the `message` of an object; anything else
/// reads as the empty string.
#[derive(Debug, Default)]
pub(super) struct Cause<'a>(Cow<'a, str>);

/// A number; anything else reads as `None`.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Num(Option<f64>);

/// `true`; anything else reads as false.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Flag(pub(super) bool);

/// An object or array that reads as `T`; anything else reads as `None`.
#[derive(Debug)]
pub(super) struct Maybe<T>(pub(super) Option<T>);

/// An object that reads as `T`; anything else reads as `None`.
#[derive(Debug)]
pub(super) struct Object<T>(pub(super) Option<T>);

/// An object's entries that are objects themselves; anything else reads as
/// empty.
#[derive(Debug)]
pub(super) struct Entries<'a, T>(pub(super) Vec<(Cow<'a, str>, T)>);

/// An array; anything else reads as empty.
#[derive(Debug)]
pub(super) struct List<T>(pub(super) Vec<T>);

/// An array of `T`, or an object that reads as `U`; anything else reads as an
/// empty array.
#[derive(Debug)]
pub(super) enum Either<T, U> {
    List(Vec<T>),
    Object(U),
}

/// A message's content: a string, or an array of blocks.
#[derive(Debug)]
pub(super) enum Content<'a, T> {
    Text(Cow<'a, str>),
    Blocks(Vec<T>),
}

/// All strings in a value of any shape, in order, and the one that is a
/// command line.
#[derive(Debug, Default)]
pub(super) struct Leaves<'a> {
    pub(super) texts: Vec<Cow<'a, str>>,
    /// The value of `command`, `cmd` or `CommandLine`; the parts of an array are joined.
    pub(super) command: Option<String>,
}

/// The strings in a value of any shape, and those of an object by their keys.
#[derive(Debug, Default)]
pub(super) struct Members<'a> {
    pub(super) leaves: Leaves<'a>,
    /// Keys with strings below them, and the place of the first of these among the leaves.
    keys: Vec<(Cow<'a, str>, usize)>,
}

/// A name, or an object that reads as `T`; anything else reads as neither.
#[derive(Debug)]
pub(super) enum Named<'a, T> {
    Name(Cow<'a, str>),
    Object(T),
}

impl Str<'_> {
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl std::ops::Deref for Str<'_> {
    type Target = str;

    fn deref(&self) -> &str {
        &self.0
    }
}

impl std::ops::Deref for Cause<'_> {
    type Target = str;

    fn deref(&self) -> &str {
        &self.0
    }
}

impl Num {
    /// The next lower whole number; `None` below zero.
    pub(super) fn whole(self) -> Option<u64> {
        self.0.filter(|number| *number >= 0.0).map(|number| number as u64)
    }

    pub(super) fn signed(self) -> Option<i64> {
        self.0.map(|number| number as i64)
    }

    /// The exit code of a command.
    pub(super) fn exit_code(self) -> Option<i32> {
        self.signed()?.try_into().ok()
    }

    /// Dollars as micro-dollars.
    pub(super) fn micro(self) -> Option<u64> {
        self.0.filter(|number| *number >= 0.0).map(|number| (number * 1e6).round() as u64)
    }
}

/// The sum of these counts; `None` if all of them are absent.
pub(super) fn sum<const N: usize>(counts: [Num; N]) -> Option<u64> {
    counts.into_iter().filter_map(Num::whole).reduce(u64::saturating_add)
}

impl<T> Default for Maybe<T> {
    fn default() -> Self {
        Self(None)
    }
}

impl<T> Default for Object<T> {
    fn default() -> Self {
        Self(None)
    }
}

impl<T> Default for Entries<'_, T> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<T, U> Default for Either<T, U> {
    fn default() -> Self {
        Self::List(Vec::new())
    }
}

impl<T> Default for Named<'_, T> {
    fn default() -> Self {
        Self::Name(Cow::Borrowed(""))
    }
}

impl<T> Default for List<T> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

/// A part of a message, which may have a text.
pub(super) trait Piece {
    fn text(&self) -> &str;
}

impl<T> Content<'_, T> {
    pub(super) fn blocks(&self) -> &[T] {
        match self {
            Self::Text(_) => &[],
            Self::Blocks(blocks) => blocks,
        }
    }
}

impl<T: Piece> Content<'_, T> {
    /// The string, or the text of each block.
    pub(super) fn texts(&self) -> impl Iterator<Item = &str> {
        let whole_text = match self {
            Self::Text(text) => Some(&**text),
            Self::Blocks(_) => None,
        };
        whole_text.into_iter().chain(self.blocks().iter().map(T::text))
    }

    /// All texts, each on lines of its own.
    pub(super) fn text(&self) -> Cow<'_, str> {
        match self {
            Self::Text(text) => Cow::Borrowed(text),
            Self::Blocks(blocks) => match &blocks[..] {
                [block] => Cow::Borrowed(block.text()),
                _ => Cow::Owned(self.texts().collect::<Vec<_>>().join("\n")),
            },
        }
    }
}

impl<T> Default for Content<'_, T> {
    fn default() -> Self {
        Self::Blocks(Vec::new())
    }
}

/// The value that each JSON type is read as: the default, unless a reader says otherwise.
trait Read<'de>: Default {
    fn text(_: Cow<'de, str>) -> Self {
        Self::default()
    }
    fn number(_: f64) -> Self {
        Self::default()
    }
    fn flag(_: bool) -> Self {
        Self::default()
    }
    fn array<A: SeqAccess<'de>>(mut array: A) -> Result<Self, A::Error> {
        while array.next_element::<IgnoredAny>()?.is_some() {}
        Ok(Self::default())
    }
    fn object<A: MapAccess<'de>>(mut object: A) -> Result<Self, A::Error> {
        while object.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
        Ok(Self::default())
    }
}

impl<'de: 'a, 'a> Read<'de> for Str<'a> {
    fn text(text: Cow<'de, str>) -> Self {
        Self(text)
    }
}

impl<'de: 'a, 'a> Read<'de> for Cause<'a> {
    fn text(text: Cow<'de, str>) -> Self {
        Self(text)
    }
    fn object<A: MapAccess<'de>>(mut object: A) -> Result<Self, A::Error> {
        let mut cause = Self::default();
        while let Some((key, value)) = object.next_entry::<Cow<'de, str>, Str<'a>>()? {
            if key == "message" {
                cause = Self(value.0);
            }
        }
        Ok(cause)
    }
}

impl Read<'_> for Num {
    fn number(number: f64) -> Self {
        Self(Some(number))
    }
}

impl Read<'_> for Flag {
    fn flag(flag: bool) -> Self {
        Self(flag)
    }
}

impl<'de, T: Deserialize<'de>> Read<'de> for Maybe<T> {
    fn array<A: SeqAccess<'de>>(array: A) -> Result<Self, A::Error> {
        T::deserialize(SeqAccessDeserializer::new(array)).map(|value| Self(Some(value)))
    }
    fn object<A: MapAccess<'de>>(object: A) -> Result<Self, A::Error> {
        T::deserialize(MapAccessDeserializer::new(object)).map(|value| Self(Some(value)))
    }
}

impl<'de, T: Deserialize<'de>> Read<'de> for Object<T> {
    fn object<A: MapAccess<'de>>(object: A) -> Result<Self, A::Error> {
        T::deserialize(MapAccessDeserializer::new(object)).map(|value| Self(Some(value)))
    }
}

impl<'de: 'a, 'a, T: Deserialize<'de>> Read<'de> for Entries<'a, T> {
    fn object<A: MapAccess<'de>>(mut object: A) -> Result<Self, A::Error> {
        let mut entries = Vec::new();
        while let Some((key, value)) = object.next_entry::<Cow<'de, str>, Object<T>>()? {
            entries.extend(value.0.map(|value| (key, value)));
        }
        Ok(Self(entries))
    }
}

impl<'de, T: Deserialize<'de>, U: Deserialize<'de>> Read<'de> for Either<T, U> {
    fn array<A: SeqAccess<'de>>(mut array: A) -> Result<Self, A::Error> {
        let mut elements = Vec::new();
        while let Some(element) = array.next_element::<Object<T>>()? {
            elements.extend(element.0);
        }
        Ok(Self::List(elements))
    }
    fn object<A: MapAccess<'de>>(object: A) -> Result<Self, A::Error> {
        U::deserialize(MapAccessDeserializer::new(object)).map(Self::Object)
    }
}

impl<'de, T: Deserialize<'de>> Read<'de> for List<T> {
    fn array<A: SeqAccess<'de>>(mut array: A) -> Result<Self, A::Error> {
        let mut elements = Vec::new();
        while let Some(element) = array.next_element()? {
            elements.push(element);
        }
        Ok(Self(elements))
    }
}

impl<'de: 'a, 'a, T: Deserialize<'de>> Read<'de> for Content<'a, T> {
    fn text(text: Cow<'de, str>) -> Self {
        Self::Text(text)
    }
    fn array<A: SeqAccess<'de>>(mut array: A) -> Result<Self, A::Error> {
        let mut blocks = Vec::new();
        while let Some(block) = array.next_element::<Maybe<T>>()? {
            blocks.extend(block.0);
        }
        Ok(Self::Blocks(blocks))
    }
}

impl<'de: 'a, 'a> Read<'de> for Leaves<'a> {
    fn text(text: Cow<'de, str>) -> Self {
        Self { texts: vec![text], command: None }
    }
    fn array<A: SeqAccess<'de>>(mut array: A) -> Result<Self, A::Error> {
        let mut leaves = Self::default();
        while let Some(element) = array.next_element::<Self>()? {
            leaves.append(element);
        }
        Ok(leaves)
    }
    fn object<A: MapAccess<'de>>(object: A) -> Result<Self, A::Error> {
        Members::object(object).map(|members| members.leaves)
    }
}

impl<'de: 'a, 'a> Read<'de> for Members<'a> {
    fn text(text: Cow<'de, str>) -> Self {
        Self { leaves: Leaves::text(text), keys: Vec::new() }
    }
    fn array<A: SeqAccess<'de>>(array: A) -> Result<Self, A::Error> {
        Leaves::array(array).map(|leaves| Self { leaves, keys: Vec::new() })
    }
    fn object<A: MapAccess<'de>>(mut object: A) -> Result<Self, A::Error> {
        let Self { mut leaves, mut keys } = Self::default();
        let (mut code, mut is_shell) = (None, false);
        while let Some((key, value)) = object.next_entry::<Cow<'de, str>, Leaves<'a>>()? {
            match &*key {
                "command" | "cmd" | "CommandLine" if !value.texts.is_empty() => {
                    leaves.command = Some(command_line(&value.texts));
                }
                // Tools that run code in several languages: the code is a command line only if the
                // language is a shell's, and the two keys come in any order.
                "code" => code = value.texts.first().map(|code| code.clone().into_owned()),
                "language" => {
                    let shells = ["shell", "bash", "sh", "zsh", "powershell"];
                    is_shell = value.texts.first().is_some_and(|name| shells.contains(&&**name));
                }
                _ => {}
            }
            if !value.texts.is_empty() {
                keys.push((key, leaves.texts.len()));
            }
            leaves.append(value);
        }
        if is_shell && leaves.command.is_none() {
            leaves.command = code;
        }
        Ok(Self { leaves, keys })
    }
}

impl<'de: 'a, 'a, T: Deserialize<'de>> Read<'de> for Named<'a, T> {
    fn text(text: Cow<'de, str>) -> Self {
        Self::Name(text)
    }
    fn object<A: MapAccess<'de>>(object: A) -> Result<Self, A::Error> {
        T::deserialize(MapAccessDeserializer::new(object)).map(Self::Object)
    }
}

/// The command line of a program and its arguments, or the line itself.
fn command_line(words: &[Cow<'_, str>]) -> String {
    let [line] = words else {
        let is_plain = |word: &str| {
            word.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_./=:,@+".contains(&byte))
        };
        let quoted = words.iter().map(|word| match &**word {
            word if is_plain(word) => word.to_owned(),
            word => format!("'{}'", word.replace('\'', r"'\''")),
        });
        return quoted.collect::<Vec<_>>().join(" ");
    };
    line.to_string()
}

impl Members<'_> {
    /// The string below this key; empty if there is none.
    pub(super) fn text(&self, key: &str) -> &str {
        let member = self.keys.iter().rfind(|(name, _)| name == key);
        member.and_then(|(_, at)| self.leaves.texts.get(*at)).map_or("", |text| text)
    }
}

impl Leaves<'_> {
    fn append(&mut self, mut leaves: Self) {
        self.texts.append(&mut leaves.texts);
        self.command = self.command.take().or(leaves.command);
    }
}

/// Visits a value of any JSON type, so that none is refused: serde would drop the whole record.
struct AnyValue<T>(PhantomData<T>);

impl<'de, T: Read<'de>> Visitor<'de> for AnyValue<T> {
    type Value = T;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("any value")
    }
    fn visit_borrowed_str<E>(self, text: &'de str) -> Result<T, E> {
        Ok(T::text(Cow::Borrowed(text)))
    }
    fn visit_str<E>(self, text: &str) -> Result<T, E> {
        Ok(T::text(Cow::Owned(text.to_owned())))
    }
    fn visit_string<E>(self, text: String) -> Result<T, E> {
        Ok(T::text(Cow::Owned(text)))
    }
    fn visit_u64<E>(self, number: u64) -> Result<T, E> {
        Ok(T::number(number as f64))
    }
    fn visit_i64<E>(self, number: i64) -> Result<T, E> {
        Ok(T::number(number as f64))
    }
    fn visit_f64<E>(self, number: f64) -> Result<T, E> {
        Ok(T::number(number))
    }
    fn visit_bool<E>(self, flag: bool) -> Result<T, E> {
        Ok(T::flag(flag))
    }
    fn visit_unit<E>(self) -> Result<T, E> {
        Ok(T::default())
    }
    fn visit_seq<A: SeqAccess<'de>>(self, array: A) -> Result<T, A::Error> {
        T::array(array)
    }
    fn visit_map<A: MapAccess<'de>>(self, object: A) -> Result<T, A::Error> {
        T::object(object)
    }
}

macro_rules! deserialize {
    ($(<$de:lifetime $(: $outlives:lifetime)? $(, $rest:tt $(: $bound:path)?)*> $type:ty;)*) => {$(
        impl<$de $(: $outlives)? $(, $rest $(: $bound)?)*> Deserialize<$de> for $type {
            fn deserialize<D: Deserializer<$de>>(deserializer: D) -> Result<Self, D::Error> {
                deserializer.deserialize_any(AnyValue(PhantomData))
            }
        }
    )*};
}

deserialize! {
    <'de: 'a, 'a> Str<'a>;
    <'de: 'a, 'a> Cause<'a>;
    <'de> Num;
    <'de> Flag;
    <'de: 'a, 'a> Leaves<'a>;
    <'de: 'a, 'a> Members<'a>;
    <'de: 'a, 'a, T: Deserialize<'de>> Named<'a, T>;
    <'de, T: Deserialize<'de>> Maybe<T>;
    <'de, T: Deserialize<'de>> Object<T>;
    <'de: 'a, 'a, T: Deserialize<'de>> Entries<'a, T>;
    <'de, T: Deserialize<'de>, U: Deserialize<'de>> Either<T, U>;
    <'de, T: Deserialize<'de>> List<T>;
    <'de: 'a, 'a, T: Deserialize<'de>> Content<'a, T>;
}

#[cfg(test)]
mod tests;
