//! JSON with comments, and where each value stands: what is needed to change a
//! settings file and leave the rest of it, to the byte, as it is.

mod dialect;
mod edit;
mod layout;
mod mend;

use jsonc_parser::ast::{ObjectProp, Value as Ast};
use jsonc_parser::common::{Range, Ranged};
use jsonc_parser::errors::ParseError;
use jsonc_parser::{CollectOptions, ParseOptions, parse_to_ast};
use serde_json::{Number, Value};

pub(super) use dialect::Dialect;
pub(super) use edit::{added, removed, replaced};
pub(super) use layout::Layout;

/// A value of a document.
#[derive(Clone, Debug)]
pub(super) struct Node {
    /// Its first byte.
    pub(super) start: usize,
    /// The byte after it.
    pub(super) end: usize,
    pub(super) kind: Kind,
}

#[derive(Clone, Debug)]
pub(super) enum Kind {
    Object(Vec<Member>),
    Array(Vec<Node>),
    Other(Value),
}

/// A member of an object.
#[derive(Clone, Debug)]
pub(super) struct Member {
    pub(super) start: usize,
    pub(super) name: String,
    pub(super) node: Node,
}

/// A fault of a document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Flaw {
    /// From 1.
    pub(super) line: usize,
    /// The key, if a value is not what was expected.
    pub(super) key: Option<String>,
    pub(super) message: String,
}

/// JSON with comments and trailing commas, and nothing beyond that.
const OPTIONS: ParseOptions = options(Dialect::ANY);

const fn options(dialect: Dialect) -> ParseOptions {
    ParseOptions {
        allow_comments: dialect.comments,
        allow_trailing_commas: dialect.commas,
        allow_loose_object_property_names: false,
        allow_missing_commas: false,
        allow_single_quoted_strings: false,
        allow_hexadecimal_numbers: false,
        allow_unary_plus_numbers: false,
        allow_bare_decimal_point_numbers: false,
        allow_non_finite_numbers: false,
        allow_extended_string_escapes: false,
    }
}

/// Reads a document; none if it holds no value.
///
/// # Errors
///
/// The first place at which it is not JSON.
pub(super) fn parse(text: &str) -> Result<Option<Node>, Flaw> {
    let parsed = parse_to_ast(text, &CollectOptions::default(), &OPTIONS);
    let parsed = parsed.map_err(|error| flaw(&error))?;
    parsed.value.map(|value| node(text, value)).transpose()
}

fn flaw(error: &ParseError) -> Flaw {
    let kind = error.kind().to_string();
    let first = kind.chars().next().into_iter().flat_map(char::to_lowercase);
    let message = first.chain(kind.chars().skip(1)).collect();
    Flaw { line: error.line_display(), key: None, message }
}

fn node(text: &str, value: Ast<'_>) -> Result<Node, Flaw> {
    let Range { start, end } = value.range();
    let kind = match value {
        Ast::StringLit(string) => Kind::Other(Value::from(string.value)),
        Ast::NumberLit(digits) => Kind::Other(number(text, start, digits.value)?),
        Ast::BooleanLit(boolean) => Kind::Other(Value::from(boolean.value)),
        Ast::NullKeyword(_) => Kind::Other(Value::Null),
        Ast::Object(object) => {
            let members = object.properties.into_iter().map(|property| member(text, property));
            Kind::Object(members.collect::<Result<_, _>>()?)
        }
        Ast::Array(array) => {
            let items = array.elements.into_iter().map(|element| node(text, element));
            Kind::Array(items.collect::<Result<_, _>>()?)
        }
    };
    Ok(Node { start, end, kind })
}

fn member(text: &str, property: ObjectProp<'_>) -> Result<Member, Flaw> {
    let start = property.range().start;
    let node = node(text, property.value)?;
    Ok(Member { start, name: property.name.into_string(), node })
}

fn number(text: &str, at: usize, digits: &str) -> Result<Value, Flaw> {
    let number: Result<Number, _> = serde_json::from_str(digits);
    number.map(Value::Number).map_err(|_| Flaw {
        line: line(text, at),
        key: None,
        message: format!("{digits} is no number"),
    })
}

/// The line that a byte stands in, from 1.
pub(super) fn line(text: &str, at: usize) -> usize {
    text.as_bytes().iter().take(at).filter(|&&byte| byte == b'\n').count() + 1
}

impl Node {
    /// Its value.
    pub(super) fn value(&self) -> Value {
        match &self.kind {
            Kind::Object(members) => {
                members.iter().map(|member| (member.name.clone(), member.node.value())).collect()
            }
            Kind::Array(items) => items.iter().map(Self::value).collect(),
            Kind::Other(value) => value.clone(),
        }
    }

    /// The members of an object.
    pub(super) fn members(&self) -> Option<&[Member]> {
        if let Kind::Object(members) = &self.kind { Some(members) } else { None }
    }

    /// The elements of an array.
    pub(super) fn items(&self) -> Option<&[Self]> {
        if let Kind::Array(items) = &self.kind { Some(items) } else { None }
    }

    /// A member's value; the last one of that name, as JSON's readers have it.
    pub(super) fn get(&self, name: &str) -> Option<&Self> {
        self.members()?.iter().rev().find(|member| member.name == name).map(|member| &member.node)
    }

    /// Start and end of each member or element.
    pub(super) fn parts(&self) -> Vec<(usize, usize)> {
        match &self.kind {
            Kind::Object(members) => {
                members.iter().map(|member| (member.start, member.node.end)).collect()
            }
            Kind::Array(items) => items.iter().map(|item| (item.start, item.end)).collect(),
            Kind::Other(_) => Vec::new(),
        }
    }

    /// Its type, for a person.
    pub(super) fn what(&self) -> &'static str {
        match &self.kind {
            Kind::Object(_) => "an object",
            Kind::Array(_) => "an array",
            Kind::Other(Value::String(_)) => "a string",
            Kind::Other(Value::Number(_)) => "a number",
            Kind::Other(Value::Bool(_)) => "a boolean",
            Kind::Other(_) => "null",
        }
    }
}

#[cfg(test)]
mod tests;
