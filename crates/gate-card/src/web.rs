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

/// A table that scrolls by itself. Its columns from `numbers` on (2, 3 or 7; see the style) are
/// numbers.
pub fn table(caption: &str, numbers: u8, titles: &[&str], rows: &[Markup]) -> Markup {
    html! {
        div.wide tabindex="0" role="region" aria-label=(caption) {
            table class=(format!("numbers-{numbers}")) {
                caption { (caption) }
                thead { tr { @for title in titles { th scope="col" { (title) } } } }
                tbody { @for row in rows { (row) } }
            }
        }
    }
}

/// A row of a table, whose first cell names it.
pub fn row(class: Option<&str>, name: &dyn Render, cells: &[&dyn Render]) -> Markup {
    html! {
        tr class=[class] {
            th scope="row" { (name) }
            @for cell in cells { td { (cell) } }
        }
    }
}
