//! Lines of a body that would end it.

/// Line that ends a header, and a body.
pub(super) const MARK: &str = "---";

/// A body as it is written: a line that is `---`, also one with white space
/// around it, gets a backslash before it, and so does one that has backslashes
/// there already.
pub(super) fn escaped(body: &str) -> String {
    let mut out = String::with_capacity(body.len() + 8);
    for line in body.split_inclusive('\n') {
        out.push_str(if is_mark(line.trim_start_matches('\\')) { "\\" } else { "" });
        out.push_str(line);
    }
    out
}

/// A body as it was meant.
pub(super) fn unescaped(body: &str) -> String {
    let mut out = String::with_capacity(body.len());
    for line in body.split_inclusive('\n') {
        let meant = line.strip_prefix('\\');
        let meant = meant.filter(|rest| is_mark(rest.trim_start_matches('\\')));
        out.push_str(meant.unwrap_or(line));
    }
    out
}

fn is_mark(line: &str) -> bool {
    line.trim() == MARK
}
