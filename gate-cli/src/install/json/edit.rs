//! Adding to, and taking away from, the text of a document. What stands around
//! it, comments included, keeps its bytes.

use serde_json::Value;

use super::layout::{Layout, is_blank, line_indent, own_indent};
use super::{Kind, Node};

/// The text with one more part at the end of an object (with a name) or of an
/// array (without).
pub(in super::super) fn added(
    text: &str,
    layout: &Layout,
    to: &Node,
    name: Option<&str>,
    value: &Value,
) -> String {
    match to.parts().last() {
        Some(&(start, end)) => {
            let indent = own_indent(text, start);
            let value = match indent {
                Some(indent) => layout.spread(value, indent),
                None => layout.tight(value),
            };
            after(text, layout, end, indent, &part(layout, name, value))
        }
        None if layout.on_one_line => {
            let part = part(layout, name, layout.tight(value));
            put(text, to.end - 1, to.end - 1, &part, is_blank(inside(text, to)))
        }
        None => {
            let outer = line_indent(text, to.start).to_owned();
            let inner = layout.deeper(&outer);
            let part = part(layout, name, layout.spread(value, &inner));
            into_empty(text, layout, to, [&outer, &inner], &part)
        }
    }
}

/// A member of an object (with a name) or of an array (without).
fn part(layout: &Layout, name: Option<&str>, value: String) -> String {
    match name {
        Some(name) => layout.member(name, &value),
        None => value,
    }
}

fn inside<'a>(text: &'a str, node: &Node) -> &'a str {
    &text[node.start + 1..node.end - 1]
}

/// Puts something in the place of `from..to`; on one line, white space before
/// it goes.
fn put(text: &str, from: usize, to: usize, part: &str, alone: bool) -> String {
    let before = if alone { text[..from].trim_end() } else { &text[..from] };
    format!("{before}{part}{}", &text[to..])
}

/// Into braces or brackets with nothing, or only comments, between them.
fn into_empty(
    text: &str,
    layout: &Layout,
    node: &Node,
    [outer, inner]: [&str; 2],
    part: &str,
) -> String {
    let body = inside(text, node).trim_end_matches([' ', '\t', '\r', '\n']);
    let rest = &inside(text, node)[body.len()..];
    let newline = layout.newline;
    let close = if rest.contains('\n') { rest.to_owned() } else { format!("{newline}{outer}") };
    let (before, behind) = (&text[..=node.start], &text[node.end - 1..]);
    format!("{before}{body}{newline}{inner}{part}{close}{behind}")
}

/// Behind the last part, which ends at `end`: after its comma, and after the
/// comments that stand beside it.
fn after(text: &str, layout: &Layout, end: usize, indent: Option<&str>, part: &str) -> String {
    let beside = beside(text, end, indent.is_some());
    let between = match indent {
        Some(indent) => format!("{}{indent}", layout.newline),
        None => layout.space.to_owned(),
    };
    match beside.comma {
        Some(_) => {
            format!("{}{between}{part},{}", &text[..beside.end], &text[beside.end..])
        }
        None => {
            let (last, comments) = (&text[..end], &text[end..beside.end]);
            format!("{last},{comments}{between}{part}{}", &text[beside.end..])
        }
    }
}

/// Text beside a part.
struct Beside {
    /// Byte of its comma.
    comma: Option<usize>,
    /// End of the comments in its line.
    end: usize,
}

/// Looks over white space, comments and one comma. If parts have lines of their own, comments in
/// the part's line belong to it.
fn beside(text: &str, end: usize, has_line: bool) -> Beside {
    let bytes = text.as_bytes();
    let mut found = Beside { comma: None, end };
    let (mut at, mut in_line) = (end, has_line);
    while let Some(&byte) = bytes.get(at) {
        match byte {
            b',' if found.comma.is_none() => {
                found.comma = Some(at);
                at += 1;
                found.end = at;
            }
            b'/' => {
                at = comment_end(text, at);
                let is_block = text[..at].ends_with("*/");
                if in_line || (found.comma.is_none() && is_block) {
                    found.end = at;
                }
            }
            b' ' | b'\t' | b'\r' => at += 1,
            b'\n' => {
                in_line = false;
                at += 1;
            }
            _ => break,
        }
        if found.comma.is_some() && !in_line {
            break;
        }
    }
    Beside { end: found.end.max(found.comma.map_or(end, |comma| comma + 1)), ..found }
}

/// The byte after a comment, without the line break of one that ends with it.
fn comment_end(text: &str, at: usize) -> usize {
    let rest = &text[at..];
    if rest.starts_with("/*") {
        return rest.find("*/").map_or(text.len(), |len| at + len + 2);
    }
    let line = rest.find('\n').map_or(rest, |len| &rest[..len]);
    at + line.trim_end_matches('\r').len()
}

/// The text without one part of an object or an array, and without the comma
/// that it needed.
pub(in super::super) fn removed(text: &str, of: &Node, index: usize) -> String {
    let parts = of.parts();
    let Some(&(start, end)) = parts.get(index) else { return text.to_owned() };
    let before = index.checked_sub(1).and_then(|index| parts.get(index));
    let own = beside(text, end, false);
    let mut cuts = vec![(blank_start(text, start), own.comma.map_or(end, |comma| comma + 1))];
    if own.comma.is_none()
        && let Some(comma) = before.and_then(|part| beside(text, part.1, false).comma)
    {
        cuts.insert(0, (comma, comma + 1));
    }
    if parts.len() == 1 && own.comma.is_none() {
        let rest = &text[end..of.end - 1];
        if is_blank(rest) && is_blank(&text[of.start + 1..start]) {
            cuts = vec![(of.start + 1, of.end - 1)];
        }
    }
    cut(text, &cuts)
}

/// Start of the white space before a byte; a line comment before it keeps its line break.
fn blank_start(text: &str, at: usize) -> usize {
    let body = text[..at].trim_end_matches([' ', '\t', '\r', '\n']);
    let line = body.rfind('\n').map_or(body, |newline| &body[newline + 1..]);
    if line.contains("//") {
        text[..at].rfind('\n').map_or(at, |newline| newline + 1)
    } else {
        body.len()
    }
}

fn cut(text: &str, cuts: &[(usize, usize)]) -> String {
    let mut kept = String::new();
    let mut from = 0;
    for &(start, end) in cuts {
        kept.push_str(&text[from..start]);
        from = end;
    }
    kept + &text[from..]
}

/// The text with another value in the place of this one.
pub(in super::super) fn replaced(
    text: &str,
    layout: &Layout,
    node: &Node,
    value: &Value,
) -> String {
    let is_spread = !matches!(node.kind, Kind::Other(_)) && !layout.on_one_line;
    let written = if is_spread {
        layout.spread(value, line_indent(text, node.start))
    } else {
        layout.tight(value)
    };
    format!("{}{written}{}", &text[..node.start], &text[node.end..])
}
