//! What agents do instead of the work, and what catches it: one table, a file an area.
//! Each row is done here through the built gate, or names the test that does it.

mod code;
mod findings;
mod gate;
mod git;
mod ground;
mod honest;
mod said;
mod security;
mod table;
mod tests;
mod tests_others;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Mutex;

use serde_json::Value;

use crate::needs::{needs, root};
use crate::support::Ran;

/// Who catches it (a check, `reason`, `error`), what that comes to, and words of what
/// is said.
type Caught = [&'static str; 3];

pub(super) struct Row {
    /// In a few words; the name of the row.
    what: &'static str,
    /// A tool that it needs; empty where there is none.
    tool: &'static str,
    caught: Caught,
    by: By,
}

pub(super) enum By {
    /// It is done here, end to end.
    Done(fn() -> Ran),
    /// This test does it.
    Test(&'static str),
}

const fn done(what: &'static str, caught: Caught, act: fn() -> Ran) -> Row {
    Row { what, tool: "", caught, by: By::Done(act) }
}

const fn with(tool: &'static str, what: &'static str, caught: Caught, act: fn() -> Ran) -> Row {
    Row { what, tool, caught, by: By::Done(act) }
}

const fn held(what: &'static str, caught: Caught, test: &'static str) -> Row {
    Row { what, tool: "", caught, by: By::Test(test) }
}

/// All that gate said against an exit.
fn marks(ran: &Ran) -> Vec<[String; 3]> {
    let record = ran.json();
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let list = |key: &str| record[key].as_array().cloned().unwrap_or_default();
    let mut marks = Vec::new();
    if record["verdict"].is_null() {
        marks.push(["error".to_owned(), text(&record["code"]), text(&record["message"])]);
    }
    for reason in list("reasons") {
        marks.push(["reason".to_owned(), text(&reason["code"]), text(&reason["message"])]);
    }
    for one in list("evidence").iter().filter(|one| one["outcome"] != "pass") {
        let mut says = text(&one["summary"]);
        for finding in one["detail"]["findings"].as_array().into_iter().flatten() {
            says += &format!(" [{}]", text(&finding["rule"]));
        }
        marks.push([text(&one["check"]), text(&one["outcome"]), says]);
    }
    marks
}

/// What is wrong with a row, if anything.
fn wrong(row: &Row) -> Option<String> {
    let act = match row.by {
        By::Done(act) => act,
        By::Test(name) => return (!exists(name)).then(|| format!("{}: no test {name}", row.what)),
    };
    let Ok(ran) = catch_unwind(AssertUnwindSafe(act)) else {
        return Some(format!("{}: it could not be done", row.what));
    };
    let marks = marks(&ran);
    let fits = |mark: &[String; 3]| {
        mark[0] == row.caught[0] && mark[1] == row.caught[1] && mark[2].contains(row.caught[2])
    };
    let caught = ran.json()["verdict"] != "exit" && marks.iter().any(fits);
    (!caught).then(|| format!("{}: {} {marks:?}", row.what, ran.json()["verdict"]))
}

/// Each of these on one of two threads; what is wrong.
pub(crate) fn crowd<T: Sync>(all: &[T], each: impl Fn(&T) -> Option<String> + Sync) -> Vec<String> {
    let (queue, found) = (Mutex::new(all.iter()), Mutex::new(Vec::new()));
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                loop {
                    let Some(next) = queue.lock().unwrap().next() else { return };
                    let wrong = each(next);
                    found.lock().unwrap().extend(wrong);
                }
            });
        }
    });
    found.into_inner().unwrap()
}

/// Every row of an area is caught, by what it says; the table.
fn all_caught(rows: &[Row]) -> String {
    let here: Vec<_> = rows.iter().filter(|row| row.tool.is_empty() || needs(row.tool)).collect();
    let wrong = crowd(&here, |row| wrong(row));
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    format!("{}\n{} of {} are caught", table::rows(rows), here.len() - wrong.len(), rows.len())
}

/// Whether there is a test `room::name`: a file of `tests/`, or a path from the root.
fn exists(name: &str) -> bool {
    let (file, test) = name.rsplit_once("::").unwrap();
    let file = if file.ends_with(".rs") { file.to_owned() } else { format!("tests/{file}.rs") };
    let places = [file.clone(), file.replace(".rs", "/mod.rs")];
    let texts = places.iter().filter_map(|file| std::fs::read_to_string(root().join(file)).ok());
    let (begin, case) = (format!("fn {test}("), "#[test]");
    texts.into_iter().any(|text| text.contains(&begin) && text.contains(case))
}

#[test]
#[ignore = "minutes: projects with real test runners"]
fn what_is_said() {
    println!("{}", all_caught(said::ROWS));
}

#[test]
#[ignore = "minutes: projects with real test runners"]
fn what_is_done_to_tests() {
    println!("{}", all_caught(tests::ROWS));
}

#[test]
#[ignore = "minutes: projects with real test runners"]
fn what_is_done_to_other_tests() {
    println!("{}", all_caught(tests_others::ROWS));
}

#[test]
#[ignore = "minutes: projects with real test runners"]
fn what_attackers_found_who_had_read_the_sources() {
    println!("{}", all_caught(findings::ROWS));
}

#[test]
#[ignore = "minutes: projects with real test runners"]
fn what_is_done_to_the_ground_of_tests() {
    println!("{}", all_caught(ground::ROWS));
}

#[test]
#[ignore = "minutes: projects with real test runners"]
fn what_is_done_to_code() {
    println!("{}", all_caught(code::ROWS));
}

#[test]
#[ignore = "minutes: projects with real test runners"]
fn what_is_done_to_git() {
    println!("{}", all_caught(git::ROWS));
}

#[test]
#[ignore = "minutes: projects with real test runners"]
fn what_is_done_to_gate() {
    println!("{}", all_caught(gate::ROWS));
}
