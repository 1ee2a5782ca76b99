//! JSON with comments, and the place of each value in the text: enough to change a settings file and
//! leave the rest of it, to the byte, as it is.

mod dialect;
mod edit;
mod layout;
mod mend;

use std::ops::Range;

use jsonc_parser::ast::{ObjectProp, Value as Ast};
use jsonc_parser::common::{Range as AstRange, Ranged};
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
    pub(super) kind: NodeKind,
}

#[derive(Clone, Debug)]
pub(super) enum NodeKind {
    Object(Vec<Member>),
    Array(Vec<Node>),
    /// A value without parts.
    Scalar(Value),
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
        allow_trailing_commas: dialect.trailing_commas,
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

/// Reads a document; `None` if it holds no value.
///
/// # Errors
///
/// The first place at which it is not JSON.
pub(super) fn parse(text: &str) -> Result<Option<Node>, Flaw> {
    let document =
        parse_to_ast(text, &CollectOptions::default(), &OPTIONS).map_err(|error| flaw(&error))?;
    document.value.map(|value| node(text, value)).transpose()
}

fn flaw(error: &ParseError) -> Flaw {
    let kind = error.kind().to_string();
    // It follows a place in a sentence.
    let first_letter = kind.chars().next().into_iter().flat_map(char::to_lowercase);
    let message = first_letter.chain(kind.chars().skip(1)).collect();
    Flaw { line: error.line_display(), key: None, message }
}

fn node(text: &str, value: Ast<'_>) -> Result<Node, Flaw> {
    let AstRange { start, end } = value.range();
    let kind = match value {
        Ast::StringLit(string) => NodeKind::Scalar(Value::from(string.value)),
        Ast::NumberLit(digits) => NodeKind::Scalar(number(text, start, digits.value)?),
        Ast::BooleanLit(boolean) => NodeKind::Scalar(Value::from(boolean.value)),
        Ast::NullKeyword(_) => NodeKind::Scalar(Value::Null),
        Ast::Object(object) => {
            let members = object.properties.into_iter().map(|property| member(text, property));
            NodeKind::Object(members.collect::<Result<_, _>>()?)
        }
        Ast::Array(array) => {
            let elements = array.elements.into_iter().map(|element| node(text, element));
            NodeKind::Array(elements.collect::<Result<_, _>>()?)
        }
    };
    Ok(Node { start, end, kind })
}

fn member(text: &str, property: ObjectProp<'_>) -> Result<Member, Flaw> {
    let start = property.range().start;
    let node = node(text, property.value)?;
    Ok(Member { start, name: property.name.into_string(), node })
}

fn number(text: &str, byte: usize, digits: &str) -> Result<Value, Flaw> {
    let number: Result<Number, _> = serde_json::from_str(digits);
    number.map(Value::Number).map_err(|_| Flaw {
        line: line_number(text, byte),
        key: None,
        message: format!("{digits} is no number"),
    })
}

/// The line that a byte stands in, from 1.
pub(super) fn line_number(text: &str, byte: usize) -> usize {
    text.as_bytes().iter().take(byte).filter(|&&letter| letter == b'\n').count() + 1
}

impl Node {
    /// Its value.
    pub(super) fn value(&self) -> Value {
        match &self.kind {
            NodeKind::Object(members) => {
                members.iter().map(|member| (member.name.clone(), member.node.value())).collect()
            }
            NodeKind::Array(elements) => elements.iter().map(Self::value).collect(),
            NodeKind::Scalar(value) => value.clone(),
        }
    }

    /// The members of an object.
    pub(super) fn members(&self) -> Option<&[Member]> {
        if let NodeKind::Object(members) = &self.kind { Some(members) } else { None }
    }

    /// The elements of an array.
    pub(super) fn elements(&self) -> Option<&[Self]> {
        if let NodeKind::Array(elements) = &self.kind { Some(elements) } else { None }
    }

    /// A member's value; the last one of that name, as JSON's readers have it.
    pub(super) fn get(&self, name: &str) -> Option<&Self> {
        self.members()?.iter().rev().find(|member| member.name == name).map(|member| &member.node)
    }

    /// The bytes of each member or element.
    pub(super) fn parts(&self) -> Vec<Range<usize>> {
        match &self.kind {
            NodeKind::Object(members) => {
                members.iter().map(|member| member.start..member.node.end).collect()
            }
            NodeKind::Array(elements) => {
                elements.iter().map(|element| element.start..element.end).collect()
            }
            NodeKind::Scalar(_) => Vec::new(),
        }
    }

    /// Its type, for a person.
    pub(super) fn type_name(&self) -> &'static str {
        match &self.kind {
            NodeKind::Object(_) => "an object",
            NodeKind::Array(_) => "an array",
            NodeKind::Scalar(Value::String(_)) => "a string",
            NodeKind::Scalar(Value::Number(_)) => "a number",
            NodeKind::Scalar(Value::Bool(_)) => "a boolean",
            NodeKind::Scalar(_) => "null",
        }
    }
}

#[cfg(test)]
mod tests;
