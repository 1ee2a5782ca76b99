//! Rows that contradict themselves, and transactions that fail half-way.

mod rows;
mod views;

use super::sql::Cell;

fn text(text: &str) -> Cell {
    Cell::Text(text.to_owned())
}
