//! The table as a document.

use super::{By, Row};

/// The lines of the table.
pub(super) fn rows(rows: &[Row]) -> String {
    rows.iter().map(line).collect()
}

fn line(row: &Row) -> String {
    let [who, what, says] = row.caught;
    let says = if says.is_empty() { String::new() } else { format!(", \"{says}\"") };
    let test = match row.by {
        By::Done(_) => String::new(),
        By::Test(name) => format!("`{}`", name.trim_start_matches("gate-checks/src/checks/")),
    };
    format!("| {} | {} | {who}: {what}{says} | {test} |\n", row.what, row.tool)
}
