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
    /// True if everything stands on one line.
    pub(super) on_one_line: bool,
    /// Space between a name and its value, and after a comma on one line.
    pub(super) space: &'static str,
}

impl Layout {
    /// The layout of this text, which holds this value.
    pub(in super::super) fn new(text: &str, root: Option<&Node>) -> Self {
        let newline = text.find('\n').filter(|at| text[..*at].ends_with('\r'));
        let parts = root.map(Node::parts).unwrap_or_default();
        let inside = root.map_or("", |root| &text[root.start..root.end]);
        let first = parts.first().and_then(|(start, _)| own_indent(text, *start));
        let unit = first.filter(|indent| !indent.is_empty()).unwrap_or("  ").to_owned();
        let on_one_line = !parts.is_empty() && !inside.contains('\n');
        let is_tight = on_one_line && !inside.contains(": ");
        Self {
            newline: if newline.is_some() { "\r\n" } else { "\n" },
            unit,
            on_one_line,
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
            Value::Array(items) => items.iter().map(|item| self.spread(item, &inner)).collect(),
            other => return other.to_string(),
        };
        let newline = self.newline;
        let (open, close) = if value.is_array() { ('[', ']') } else { ('{', '}') };
        if parts.is_empty() {
            return format!("{open}{close}");
        }
        let parts = parts.join(&format!(",{newline}{inner}"));
        format!("{open}{newline}{inner}{parts}{newline}{indent}{close}")
    }

    /// A value on one line.
    pub(super) fn tight(&self, value: &Value) -> String {
        let between = format!(",{}", self.space);
        match value {
            Value::Object(members) => {
                let members =
                    members.iter().map(|(name, value)| self.member(name, &self.tight(value)));
                format!("{{{}}}", members.collect::<Vec<_>>().join(&between))
            }
            Value::Array(items) => {
                let items = items.iter().map(|item| self.tight(item));
                format!("[{}]", items.collect::<Vec<_>>().join(&between))
            }
            other => other.to_string(),
        }
    }

    /// A member, whose value is written already.
    pub(super) fn member(&self, name: &str, value: &str) -> String {
        format!("{}:{}{value}", Value::from(name), self.space)
    }
}

/// The white space before a byte, if nothing else stands before it in its line.
pub(super) fn own_indent(text: &str, at: usize) -> Option<&str> {
    let before = text[..at].rfind('\n').map(|newline| &text[newline + 1..at])?;
    is_blank(before).then_some(before)
}

/// The white space that the line of a byte begins with.
pub(super) fn line_indent(text: &str, at: usize) -> &str {
    let begin = text[..at].rfind('\n').map_or(0, |newline| newline + 1);
    let line = &text[begin..];
    &line[..line.len() - line.trim_start_matches([' ', '\t']).len()]
}

pub(super) fn is_blank(text: &str) -> bool {
    text.chars().all(|c| matches!(c, ' ' | '\t' | '\r' | '\n'))
}
