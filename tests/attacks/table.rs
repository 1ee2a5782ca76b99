//! The table as a document: `docs/attacks.md` says what the rows say.

use super::{By, Row, code, findings, gate, git, ground, honest, said, tests, tests_others};
use crate::needs::root;

const AREAS: [(&str, &[Row]); 8] = [
    ("What an agent says", said::ROWS),
    ("What is done to tests in Python", tests::ROWS),
    ("What is done to other tests", tests_others::ROWS),
    ("What attackers found who had read the sources", findings::ROWS),
    ("What is done to what tests rest on", ground::ROWS),
    ("What is done to the product", code::ROWS),
    ("What is done to git", git::ROWS),
    ("What is done to gate", gate::ROWS),
];

const BEGIN: &str = "## What is caught\n";

/// The lines of a table.
pub(super) fn rows(rows: &[Row]) -> String {
    rows.iter().map(line).collect()
}

fn line(row: &Row) -> String {
    let [who, what, says] = row.caught;
    let says = if says.is_empty() { String::new() } else { format!(": {says}") };
    let test = match row.by {
        By::Done(_) => String::new(),
        By::Test(name) => format!("`{}`", name.rsplit('/').next().unwrap()),
    };
    format!("| {} | {} | {who} | {what}{says} | {test} |\n", row.what, row.tool)
}

/// All that the rows say, with the numbers that they come to.
fn generated() -> String {
    let listed: toml::Table = include_str!("../integrity/attacks.toml").parse().unwrap();
    let listed = listed["attack"].as_array().unwrap().len();
    let all: Vec<_> = AREAS.iter().flat_map(|(_, rows)| rows.iter()).collect();
    let here = all.iter().filter(|row| matches!(row.by, By::Done(_))).count();
    let count = all.len() + listed;
    let (both, alone) = honest::count();
    let mut text = format!(
        "{BEGIN}\n{count} of {count} attacks are caught: {here} are done by the test of their table, {} by the \
         test that is\nnamed beside them, {listed} stand in [integrity.md](integrity.md). {} of {} honest changes \
         pass: {both} end a loop under\n`tests` and `integrity` together, {alone} are left alone by `integrity`. \
         The tests fail where one of these does not hold.\n",
        all.len() - here,
        both + alone,
        both + alone,
    );
    for (title, area) in AREAS {
        text += &format!(
            "\n### {title}\n\n| what is done | needs | who sees it | what it comes to | the test |\n"
        );
        text += &format!("| --- | --- | --- | --- | --- |\n{}", rows(area));
    }
    text + "\n## What is honest\n\nUnder both checks, after a repair:\n\n" + &honest::rows()
}

const REWRITE: &str = "docs/attacks.md is stale: rewrite it with \
     `UPDATE=1 cargo test -p gate-cli --test gate -- attacks::table`";

#[test]
fn the_document_says_what_the_rows_say() {
    let file = root().join("docs/attacks.md");
    let document = std::fs::read_to_string(&file).unwrap();
    let (before, _) = document.split_once(BEGIN).unwrap();
    let now = format!("{before}{}", generated());
    if std::env::var_os("UPDATE").is_some() {
        std::fs::write(&file, &now).unwrap();
    }
    let is = std::fs::read_to_string(&file).unwrap();
    assert_eq!(is, now, "{REWRITE}");
}
