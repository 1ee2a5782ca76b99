//! Layout of a document, so that additions look like the rest.

use serde_json::Value;

use super::Node;

/// The layout of a document.
#[derive(Clone, Debug)]
pub(in super::super) struct Layout {
    /// The line break.
    pub(super) newline: &'static str,
    /// One step of indentation.
    unit: String,
    /// Everything stands on one line.
    pub(super) is_one_line: bool,
    /// Space between a name and its value, and after a comma on one line.
    pub(super) space: &'static str,
}

impl Layout {
    /// The layout of this text, which holds this value.
    pub(in super::super) fn new(text: &str, root: Option<&Node>) -> Self {
        let is_crlf = text.find('\n').is_some_and(|index| text[..index].ends_with('\r'));
        let parts = root.map(Node::parts).unwrap_or_default();
        let value_text = root.map_or("", |root| &text[root.start..root.end]);
        // A document's first part shows one step of indentation; one on a single line shows none.
        let first_indent = parts.first().and_then(|part| own_indent(text, part.start));
        let unit = first_indent.filter(|indent| !indent.is_empty()).unwrap_or("  ").to_owned();
        let is_one_line = !parts.is_empty() && !value_text.contains('\n');
        let is_tight = is_one_line && !value_text.contains(": ");
        Self {
            newline: if is_crlf { "\r\n" } else { "\n" },
            unit,
            is_one_line,
            space: if is_tight { "" } else { " " },
        }
    }

    /// The line break.
    pub(in super::super) fn newline(&self) -> &'static str {
        self.newline
    }

    /// One step further in.
    pub(super) fn deeper(&self, indent: &str) -> String {
        format!("{indent}{}", self.unit)
    }

    /// A value over several lines, of which the first one is indented already.
    pub(super) fn spread(&self, value: &Value, indent: &str) -> String {
        let inner = self.deeper(indent);
        let parts: Vec<String> = match value {
            Value::Object(members) => members
                .iter()
                .map(|(name, value)| self.member(name, &self.spread(value, &inner)))
                .collect(),
            Value::Array(elements) => {
                elements.iter().map(|element| self.spread(element, &inner)).collect()
            }
            scalar => return scalar.to_string(),
        };
        let newline = self.newline;
        let (open, close) = if value.is_array() { ('[', ']') } else { ('{', '}') };
        if parts.is_empty() {
            return format!("{open}{close}");
        }
        let body = parts.join(&format!(",{newline}{inner}"));
        format!("{open}{newline}{inner}{body}{newline}{indent}{close}")
    }

    /// A value on one line.
    pub(super) fn tight(&self, value: &Value) -> String {
        let separator = format!(",{}", self.space);
        match value {
            Value::Object(members) => {
                let members =
                    members.iter().map(|(name, value)| self.member(name, &self.tight(value)));
                format!("{{{}}}", members.collect::<Vec<_>>().join(&separator))
            }
            Value::Array(elements) => {
                let elements = elements.iter().map(|element| self.tight(element));
                format!("[{}]", elements.collect::<Vec<_>>().join(&separator))
            }
            scalar => scalar.to_string(),
        }
    }

    /// A member, whose value is written already.
    pub(super) fn member(&self, name: &str, value: &str) -> String {
        format!("{}:{}{value}", Value::from(name), self.space)
    }
}

/// The white space before a byte, if nothing else stands before it in its line.
pub(super) fn own_indent(text: &str, byte: usize) -> Option<&str> {
    let line_start = text[..byte].rfind('\n').map(|newline| &text[newline + 1..byte])?;
    is_blank(line_start).then_some(line_start)
}

/// The white space that the line of a byte begins with.
pub(super) fn line_indent(text: &str, byte: usize) -> &str {
    let line_start = text[..byte].rfind('\n').map_or(0, |newline| newline + 1);
    let line = &text[line_start..];
    &line[..line.len() - line.trim_start_matches([' ', '\t']).len()]
}

pub(super) fn is_blank(text: &str) -> bool {
    text.chars().all(|c| matches!(c, ' ' | '\t' | '\r' | '\n'))
}
