//! Lines of a body that would end it.

/// The line that ends a header, and a body.
pub(super) const MARK: &str = "---";

/// A body as it is written: a line that is `---`, also one with white space
/// around it, gets a backslash before it, and so does one that has backslashes
/// there already.
pub(super) fn escaped(body: &str) -> String {
    let mut escaped = String::with_capacity(body.len() + 8);
    for line in body.split_inclusive('\n') {
        escaped.push_str(if is_mark(line.trim_start_matches('\\')) { "\\" } else { "" });
        escaped.push_str(line);
    }
    escaped
}

/// A body as its author wrote it, out of its written form.
pub(super) fn unescaped(body: &str) -> String {
    let mut unescaped = String::with_capacity(body.len());
    for line in body.split_inclusive('\n') {
        let text = match line.strip_prefix('\\') {
            Some(text) if is_mark(text.trim_start_matches('\\')) => text,
            _ => line,
        };
        unescaped.push_str(text);
    }
    unescaped
}

fn is_mark(line: &str) -> bool {
    line.trim() == MARK
}
