//! The reference of the settings, from the text of their defaults.

use std::fmt::Write;

/// A line of the defaults.
enum Line<'t> {
    Section(&'t str),
    Comment(&'t str),
    Table { name: &'t str },
    Key { name: &'t str, value: &'t str, example: bool },
    Blank,
}

fn classify(line: &str) -> Line<'_> {
    if line.is_empty() {
        return Line::Blank;
    }
    if let Some(title) = line.strip_prefix("# ── ") {
        return Line::Section(title.trim_end_matches(['─', ' ']));
    }
    if let Some(comment) = line.strip_prefix("# ") {
        return Line::Comment(comment);
    }
    let setting = line.trim_start_matches('#');
    match setting.split_once(" = ") {
        _ if setting.is_empty() => Line::Comment(""),
        Some((name, value)) if !setting.starts_with('[') => {
            Line::Key { name, value, example: line.starts_with('#') }
        }
        _ => Line::Table { name: setting },
    }
}

/// Fit for a cell of a table.
fn cell(text: &str) -> String {
    text.replace('|', "\\|").replace('<', "&lt;")
}

/// The lines of a comment as paragraphs; takes them.
fn prose(comment: &mut Vec<&str>) -> String {
    let lines = std::mem::take(comment);
    let paragraphs = lines.split(|line| line.is_empty()).filter(|lines| !lines.is_empty());
    paragraphs.map(|lines| format!("{}\n\n", cell(&lines.join(" ")))).collect()
}

/// The reference as a page: a heading a section, a table of keys for each table.
pub(super) fn page(defaults: &str) -> String {
    let mut page = "# Settings\n\n".to_owned();
    let mut comment: Vec<&str> = Vec::new();
    let mut in_rows = false;
    for line in defaults.lines() {
        if in_rows && !matches!(classify(line), Line::Comment(_) | Line::Key { .. }) {
            page.push('\n');
            in_rows = false;
        }
        match classify(line) {
            Line::Section(title) => {
                page.push_str(&prose(&mut comment));
                let _ = write!(page, "## {title}\n\n");
            }
            Line::Comment(text) => comment.push(text),
            Line::Table { name } => {
                let _ = write!(page, "### `{name}`\n\n");
                page.push_str(&prose(&mut comment));
            }
            Line::Key { name, value, example } => {
                if !in_rows {
                    page.push_str("| key | default | meaning |\n| --- | --- | --- |\n");
                    in_rows = true;
                }
                let value = if example { format!("e.g. `{value}`") } else { format!("`{value}`") };
                let meaning = cell(&comment.join(" "));
                let _ = writeln!(page, "| `{name}` | {} | {meaning} |", value.replace('|', "\\|"));
                comment.clear();
            }
            Line::Blank => page.push_str(&prose(&mut comment)),
        }
    }
    page
}

#[test]
fn tables_and_keys_become_headings_and_rows() {
    let defaults = "\
# All of it.
#
# And more.

# ── What an exit needs ───────

[exit_gate]
# Whether it
# counts.
enabled = true
#threshold = 2

# Your own.
#[[signal.custom]]
#regex = \"a|b\"
";
    let expected = "\
# Settings

All of it.

And more.

## What an exit needs

### `[exit_gate]`

| key | default | meaning |
| --- | --- | --- |
| `enabled` | `true` | Whether it counts. |
| `threshold` | e.g. `2` |  |

### `[[signal.custom]]`

Your own.

| key | default | meaning |
| --- | --- | --- |
| `regex` | e.g. `\"a\\|b\"` |  |
";
    assert_eq!(page(defaults), expected);
}
