//! The frame of a page of HTML that needs no network and no script.

use maud::{DOCTYPE, Markup, PreEscaped, Render, html};

/// The style: light and dark, screen and paper.
const STYLE: &str = include_str!("web.css");

/// A page: its name, one sentence, what it covers, and its main part.
pub fn document(name: &str, headline: &str, covered: &str, main: &Markup) -> String {
    let page = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                title { (name) }
                style { (PreEscaped(STYLE)) }
            }
            body {
                a.skip href="#main" { "Skip to the content" }
                header {
                    p.brand { (name) }
                    h1 { (headline) }
                    p.when { (covered) }
                }
                main id="main" { (main) }
                footer { p { "Made by gate " (gate_core::record::VERSION) ". All times are local." } }
            }
        }
    };
    page.into_string() + "\n"
}

/// A row of a table, whose first cell names it.
#[derive(Debug)]
pub struct Row {
    class: Option<String>,
    /// Its cells, the name first.
    cells: Vec<Markup>,
}

/// A row with its name and its other cells.
pub fn row(class: Option<&str>, name: &dyn Render, cells: &[&dyn Render]) -> Row {
    let all_cells = std::iter::once(name).chain(cells.iter().copied());
    Row { class: class.map(str::to_owned), cells: all_cells.map(Render::render).collect() }
}

/// A table, whose rows stand as lists in a narrow window. Its columns from `first_number_column` on
/// (2 to 7, counted from 1) are numbers. A column whose cells are all empty is left out.
pub fn table(caption: &str, first_number_column: usize, titles: &[&str], rows: &[Row]) -> Markup {
    let has_text = |column: usize| {
        let mut cells = rows.iter().filter_map(|row| row.cells.get(column));
        column == 0 || cells.any(|cell| !cell.0.is_empty())
    };
    let columns: Vec<_> =
        titles.iter().enumerate().filter(|(column, _)| has_text(*column)).collect();
    // The style counts the columns that are left.
    let first_number =
        columns.iter().filter(|(column, _)| column + 1 < first_number_column).count() + 1;
    // In a narrow window the style writes a column's title before each of its cells.
    let labels = columns.iter().zip(1..);
    let labels: String =
        labels.map(|((_, title), number)| format!("--title-{number}:\"{title}: \";")).collect();
    html! {
        div.wide tabindex="0" role="region" aria-label=(caption) {
            table class=(format!("numbers-{first_number}")) style=(labels) {
                caption { (caption) }
                thead { tr { @for (_, title) in &columns { th scope="col" { (title) } } } }
                tbody {
                    @for row in rows {
                        tr class=[&row.class] {
                            @for (column, _) in &columns {
                                @let cell = row.cells.get(*column);
                                @if *column == 0 { th scope="row" { (PreEscaped(html_text(cell))) } }
                                @else { td { (PreEscaped(html_text(cell))) } }
                            }
                        }
                    }
                }
            }
        }
    }
}

fn html_text(cell: Option<&Markup>) -> &str {
    cell.map_or("", |cell| cell.0.as_str())
}
