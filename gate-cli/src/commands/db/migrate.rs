//! `gate db migrate`: the tables get what this gate knows.

use crate::commands::common::DONE;
use crate::context::Here;
use crate::failure::Failure;
use crate::memory;
use crate::render::{Mark, Page, print};
use crate::store::{self, Added, Migrated};

/// Exit code if rows contradict an addition.
const NOT_ALL: u8 = 1;

pub(super) fn run(here: &Here) -> Result<u8, Failure> {
    here.operator("gate db migrate")?;
    let mut store = store::upkeep(&memory::place(&here.places)?, store::PATIENCE)?;
    let migrated = store.migrate()?;
    print(&card(&migrated, store.place()))?;
    Ok(if migrated.contradicted.is_empty() { DONE } else { NOT_ALL })
}

fn card(migrated: &Migrated, place: &str) -> String {
    let Migrated { before, version, additions, contradicted } = migrated;
    let mut page = Page::new();
    let is_current = before == version && additions.is_empty();
    let word = if is_current { "CURRENT" } else { "MIGRATED" };
    page.head(Mark::Good, word, place);
    page.blank();
    match before {
        0 => page.row("version", &format!("{version}, a new store")),
        before if before == version => page.row("version", &format!("{version}, as before")),
        before => {
            let text = format!("{before} → {version}: gates that do not know it stop from now on");
            page.row("version", &text);
        }
    }
    if !additions.is_empty() {
        page.row("added", &format!("{}; older gates go on", named(additions)));
    }
    if !contradicted.is_empty() {
        let text = format!("{}: rows contradict it; `gate db check` looks", named(contradicted));
        page.marked(Mark::Bad, "not added", &text);
    }
    page.into_text()
}

fn named(additions: &[Added]) -> String {
    let names: Vec<_> =
        additions.iter().map(|added| format!("{} {}", added.number, added.name)).collect();
    names.join(", ")
}
