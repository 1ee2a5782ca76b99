//! Adds parts to the text of a document, and takes parts away. The text around them, comments included,
//! keeps its bytes.

use std::ops::Range;

use serde_json::Value;

use super::layout::{Layout, is_blank, line_indent, own_indent};
use super::{Node, NodeKind};

/// The text with one more part at the end of an object (with a name) or of an array (without).
pub(in super::super) fn added(
    text: &str,
    layout: &Layout,
    container: &Node,
    name: Option<&str>,
    value: &Value,
) -> String {
    match container.parts().last() {
        Some(last_part) => {
            let indent = own_indent(text, last_part.start);
            let value_text = match indent {
                Some(indent) => layout.spread(value, indent),
                None => layout.tight(value),
            };
            add_after(text, layout, last_part.end, indent, &part(layout, name, value_text))
        }
        None if layout.is_one_line => {
            let part = part(layout, name, layout.tight(value));
            let closing = container.end - 1;
            let text_before = match is_blank(inner_text(text, container)) {
                true => text[..closing].trim_end(),
                false => &text[..closing],
            };
            format!("{text_before}{part}{}", &text[closing..])
        }
        None => {
            let outer_indent = line_indent(text, container.start).to_owned();
            let inner_indent = layout.deeper(&outer_indent);
            let part = part(layout, name, layout.spread(value, &inner_indent));
            let body = inner_text(text, container).trim_end_matches([' ', '\t', '\r', '\n']);
            let blank = &inner_text(text, container)[body.len()..];
            let newline = layout.newline;
            let line_end = match blank.contains('\n') {
                true => blank.to_owned(),
                false => format!("{newline}{outer_indent}"),
            };
            let opening = &text[..=container.start];
            let closing = &text[container.end - 1..];
            format!("{opening}{body}{newline}{inner_indent}{part}{line_end}{closing}")
        }
    }
}

/// A member of an object (with a name) or an element of an array (without).
fn part(layout: &Layout, name: Option<&str>, value: String) -> String {
    match name {
        Some(name) => layout.member(name, &value),
        None => value,
    }
}

/// The text between the braces or brackets of a container.
fn inner_text<'a>(text: &'a str, container: &Node) -> &'a str {
    &text[container.start + 1..container.end - 1]
}

/// Adds a part behind the last one, which ends at `end`: after its comma, and after the comments that
/// stand beside it. If the last part had a trailing comma, the new one gets one, too.
fn add_after(text: &str, layout: &Layout, end: usize, indent: Option<&str>, part: &str) -> String {
    let trailer = trailer(text, end, indent.is_some());
    let separator = match indent {
        Some(indent) => format!("{}{indent}", layout.newline),
        None => layout.space.to_owned(),
    };
    match trailer.comma {
        Some(_) => {
            format!("{}{separator}{part},{}", &text[..trailer.end], &text[trailer.end..])
        }
        None => {
            let (text_before, comments) = (&text[..end], &text[end..trailer.end]);
            format!("{text_before},{comments}{separator}{part}{}", &text[trailer.end..])
        }
    }
}

/// The text that belongs to a part and follows it.
struct Trailer {
    /// Byte of its comma.
    comma: Option<usize>,
    /// End of the comments in its line.
    end: usize,
}

/// Looks over white space, comments and one comma. If parts have lines of their own, comments in
/// the part's line belong to it.
fn trailer(text: &str, part_end: usize, has_own_line: bool) -> Trailer {
    let bytes = text.as_bytes();
    let mut trailer = Trailer { comma: None, end: part_end };
    let mut index = part_end;
    let mut is_same_line = has_own_line;
    while let Some(&byte) = bytes.get(index) {
        match byte {
            b',' if trailer.comma.is_none() => {
                trailer.comma = Some(index);
                index += 1;
                trailer.end = index;
            }
            b'/' => {
                index = comment_end(text, index);
                let is_block = text[..index].ends_with("*/");
                // A block comment before the comma can only be about this part.
                if is_same_line || (trailer.comma.is_none() && is_block) {
                    trailer.end = index;
                }
            }
            b' ' | b'\t' | b'\r' => index += 1,
            b'\n' => {
                is_same_line = false;
                index += 1;
            }
            _ => break,
        }
        if trailer.comma.is_some() && !is_same_line {
            break;
        }
    }
    let comma_end = trailer.comma.map_or(part_end, |comma| comma + 1);
    Trailer { end: trailer.end.max(comma_end), ..trailer }
}

/// The byte after a comment, without the line break of one that ends with it.
fn comment_end(text: &str, start: usize) -> usize {
    let comment = &text[start..];
    if comment.starts_with("/*") {
        return comment.find("*/").map_or(text.len(), |length| start + length + 2);
    }
    let line = comment.find('\n').map_or(comment, |length| &comment[..length]);
    start + line.trim_end_matches('\r').len()
}

/// The text without one part of an object or an array, and without the comma that it needed.
pub(in super::super) fn removed(text: &str, container: &Node, index: usize) -> String {
    let parts = container.parts();
    let Some(part) = parts.get(index) else { return text.to_owned() };
    let previous = index.checked_sub(1).and_then(|index| parts.get(index));
    let comma = trailer(text, part.end, false).comma;
    let cut_end = comma.map_or(part.end, |comma| comma + 1);
    let mut part_cut = blank_start(text, part.start)..cut_end;
    // The last part has no comma, so the one before it must have none either.
    let previous_comma = match comma {
        Some(_) => None,
        None => previous.and_then(|part| trailer(text, part.end, false).comma),
    };
    let mut comma_cut = previous_comma.map(|comma| comma..comma + 1);
    // Nothing but white space would be left.
    if parts.len() == 1 && comma.is_none() {
        let inner_start = container.start + 1;
        let inner_end = container.end - 1;
        if is_blank(&text[part.end..inner_end]) && is_blank(&text[inner_start..part.start]) {
            (comma_cut, part_cut) = (None, inner_start..inner_end);
        }
    }
    cut(text, &comma_cut.into_iter().chain([part_cut]).collect::<Vec<_>>())
}

/// Start of the white space before a byte; a line comment before it keeps its line break.
fn blank_start(text: &str, byte: usize) -> usize {
    let body = text[..byte].trim_end_matches([' ', '\t', '\r', '\n']);
    let last_line = body.rfind('\n').map_or(body, |newline| &body[newline + 1..]);
    if last_line.contains("//") {
        text[..byte].rfind('\n').map_or(byte, |newline| newline + 1)
    } else {
        body.len()
    }
}

fn cut(text: &str, cuts: &[Range<usize>]) -> String {
    let mut remaining = String::new();
    let mut last_end = 0;
    for cut in cuts {
        remaining.push_str(&text[last_end..cut.start]);
        last_end = cut.end;
    }
    remaining + &text[last_end..]
}

/// The text with another value in the place of this one.
pub(in super::super) fn replaced(
    text: &str,
    layout: &Layout,
    node: &Node,
    value: &Value,
) -> String {
    let is_spread = !matches!(node.kind, NodeKind::Scalar(_)) && !layout.is_one_line;
    let value_text = if is_spread {
        layout.spread(value, line_indent(text, node.start))
    } else {
        layout.tight(value)
    };
    format!("{}{value_text}{}", &text[..node.start], &text[node.end..])
}
