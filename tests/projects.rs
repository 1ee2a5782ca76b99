//! Many projects in one store: their log, their loops, and the view for SQL clients. Each law is
//! asked of both databases.

use gate_cli::store::{Place, Store};
use rusqlite::Connection;
use rusqlite::types::Value as Cell;
use serde_json::json;

use crate::needs::root;
use crate::support::postgres::Database;
use crate::support::shelf::PATIENCE;
use crate::support::{Ran, Run, UNDONE, gate};

/// Each law as two tests: `sqlite::LAW` and `postgres::LAW`.
macro_rules! laws {
    ($($law:ident),* $(,)?) => {
        mod sqlite {
            $(#[test] fn $law() { super::$law(&super::Fleet { database: None }); })*
        }
        mod postgres {
            $(#[test] fn $law() {
                let database = crate::support::postgres::Database::new();
                let fleet = database.map(|database| super::Fleet { database: Some(database) });
                fleet.iter().for_each(super::$law);
            })*
        }
    };
}

laws! {
    the_log_of_all_projects_names_each,
    the_loops_of_all_projects_are_listed,
    a_ledger_that_was_cut_hides_no_other,
    a_row_of_the_view_is_a_decision,
    an_iteration_of_the_view_has_its_own_use,
    a_ledger_that_was_set_aside_is_not_in_the_view,
    the_book_names_every_column,
}

/// The projects of a store.
struct Fleet {
    /// None: the state folder of the run.
    database: Option<Database>,
}

const SHOP: &str = "[project]\nid = \"acme/shop\"\n[breaker]\nno_progress = 0\n";
const TILL: &str = "[project]\nid = \"acme/till\"\n[breaker]\nno_progress = 0\n";

/// The output of Claude Code in a session that has used so much.
fn transcript(text: &str, dollars: f64, tokens: u64) -> String {
    let result = json!({
        "type": "result", "subtype": "success", "is_error": false, "result": text,
        "session_id": "s1", "num_turns": 1, "duration_ms": 1500, "total_cost_usd": dollars,
        "usage": { "input_tokens": tokens, "output_tokens": 0 },
    });
    format!("{result}\n")
}

impl Fleet {
    fn on(&self, run: Run) -> Run {
        match &self.database {
            Some(database) => run.env("GATE_DATABASE_URL", &database.url),
            None => run,
        }
    }

    /// The code of gate with these words, in the same store.
    fn again(&self, ran: Ran, words: &str, code: i32) -> Ran {
        self.on(ran.again(words)).code(code)
    }

    /// Two iterations of a run in one project, and one of a run of the same name in another.
    fn decided(&self) -> Ran {
        let done = "All tasks are completed.\n\nEXIT_STATUS: COMPLETE\nEXIT_REASON: it is mended";
        let run = gate("-C shop check one.log --run nightly --task 7")
            .settings_in("shop", SHOP)
            .settings_in("till", TILL)
            .file("shop/one.log", transcript(UNDONE, 0.25, 100))
            .file("shop/two.log", transcript(done, 0.375, 150))
            .file("till/one.log", UNDONE);
        let ran = self.on(run).code(1);
        let ran = self.again(ran, "-C till check one.log --run nightly", 1);
        self.again(ran, "-C shop check two.log --run nightly --task 7", 0)
    }

    /// The rows that a client of the database sees, their columns with bars between them.
    fn rows(&self, ran: &Ran, columns: &[&str], rest: &str) -> Vec<String> {
        let texts = columns.iter().map(|name| format!("coalesce(CAST({name} AS TEXT), 'NULL')"));
        let row = texts.collect::<Vec<_>>().join(" || '|' || ");
        self.select(ran, &format!("SELECT {row} FROM gate_decisions {rest}"))
    }

    /// The first column of the rows that a client of the database sees.
    fn select(&self, ran: &Ran, sql: &str) -> Vec<String> {
        match &self.database {
            Some(database) => database.session().run(sql),
            None => {
                let connection = Connection::open(ran.database()).unwrap();
                let mut statement = connection.prepare(sql).unwrap();
                let text = |row: &rusqlite::Row<'_>| match row.get(0)? {
                    Cell::Text(text) => Ok(text),
                    other => panic!("{other:?}"),
                };
                statement.query_map([], text).unwrap().map(Result::unwrap).collect()
            }
        }
    }
}

fn the_log_of_all_projects_names_each(fleet: &Fleet) {
    let ran = fleet.decided();
    // In a folder that belongs to no project.
    let mut ran = fleet.again(ran, "log --all-projects", 0).stdout(
        "[..]  acme/shop                     1  nightly, 1                continue       [..]\n\
         [..]  acme/till                     1  nightly, 1                continue       [..]\n\
         [..]  acme/shop                     2  nightly, 2                exit           [..]\n",
    );
    for (words, projects) in [
        ("log --all-projects --json", &["acme/shop", "acme/till", "acme/shop"][..]),
        ("log --all-projects --json -n 2", &["acme/till", "acme/shop"]),
        ("log --all-projects --json --since 1h", &["acme/shop", "acme/till", "acme/shop"]),
        ("log --all-projects --json --task 7", &["acme/shop", "acme/shop"]),
        ("log --all-projects --json --verdict continue", &["acme/shop", "acme/till"]),
        ("log --all-projects --json --verdict continue -n 1", &["acme/till"]),
        ("log --all-projects --json --verdict tripped", &[]),
    ] {
        ran = fleet.again(ran, words, 0);
        let lines = ran.json_lines();
        let found: Vec<_> = lines.iter().map(|line| line["project"].as_str().unwrap()).collect();
        assert_eq!(found, projects, "{words}");
    }
    let ran = fleet.again(ran, "log --all-projects --cost", 0);
    let sum = ran.stdout.lines().last().unwrap();
    assert!(sum.starts_with("3 decisions in 2 runs: $0.62, "), "{sum}");
    assert!(sum.ends_with(", 250 tokens"), "{sum}");
    let ran = fleet.again(ran, "-C shop log --json", 0);
    assert!(ran.json_lines().iter().all(|line| line.get("project").is_none()), "{}", ran.stdout);
}

fn the_loops_of_all_projects_are_listed(fleet: &Fleet) {
    let ran = fleet.again(fleet.decided(), "-C shop status --json", 0);
    let json = ran.json();
    let mut runs: Vec<_> = json["loops"]
        .as_array()
        .unwrap()
        .iter()
        .map(|run| (run["project"].as_str().unwrap(), run["state"].as_str().unwrap()))
        .collect();
    runs.sort_unstable();
    assert_eq!(runs, [("acme/shop", "done"), ("acme/till", "open")]);
    let ran = fleet.again(ran, "-C shop status", 0).says("acme/shop").says("acme/till");
    fleet.again(ran, "report --all-projects", 0).says("2 loops: 1 done");
}

fn a_ledger_that_was_cut_hides_no_other(fleet: &Fleet) {
    let ran = fleet.decided();
    // Another record than the marked one stands there.
    for sql in [
        "DELETE FROM ledger WHERE project = 'acme/till'",
        "INSERT INTO ledger SELECT 'acme/till', 1, v, time, type, run, actor, body, prev, hash, task, \
         loop, iteration, decision_id FROM ledger WHERE project = 'acme/shop' AND seq = 1",
    ] {
        match &fleet.database {
            Some(database) => drop(database.session().run(sql)),
            None => Connection::open(ran.database()).unwrap().execute_batch(sql).unwrap(),
        }
    }
    let mut ran = ran;
    for (words, other) in [
        ("-C shop status", "acme/shop"),
        ("log --all-projects", "acme/shop"),
        ("report --all-projects", "DONE  7"),
    ] {
        ran = fleet.again(ran, words, 0).says(other).tells("ledger of `acme/till` is left out");
        assert!(!ran.stdout.contains("acme/till"), "{words}: {}", ran.stdout);
    }
    fleet.again(ran, "-C till log", 5);
}

fn a_row_of_the_view_is_a_decision(fleet: &Fleet) {
    let ran = fleet.decided();
    let ran = fleet.again(ran, "-C shop log --json", 0);
    let decision = ran.json_lines()[0]["body"]["decision"].clone();
    let known = ["decision_id", "time", "policy_digest", "gate_version"];
    let expected = known.map(|name| decision[name].as_str().unwrap()).join("|");
    let first = "WHERE project = 'acme/shop' AND seq = 1";
    assert_eq!(fleet.rows(&ran, &known, first), [expected]);

    let columns = ["project", "run", "task", "iteration", "verdict", "released", "signal"];
    assert_eq!(
        fleet.rows(&ran, &columns, "ORDER BY project, seq"),
        [
            "acme/shop|nightly|7|1|continue|NULL|continue",
            "acme/shop|nightly|7|2|exit|NULL|complete",
            "acme/till|nightly|NULL|1|continue|NULL|continue",
        ]
    );
    let columns = ["forced", "verified", "agent", "session", "breaker", "trust", "agent_ms"];
    let rows = fleet.rows(&ran, &columns, "WHERE iteration = 2");
    assert_eq!(rows, ["0|0|claude-json|s1|closed|T0|1500"]);
    let counted = fleet.rows(&ran, &["count(*)"], "WHERE decision_ms IS NULL OR loop IS NULL");
    assert_eq!(counted, ["0"]);

    let all: Vec<_> = decision["reasons"].as_array().unwrap().iter().collect();
    let codes: Vec<_> = all.iter().map(|reason| reason["code"].as_str().unwrap()).collect();
    assert!(codes.len() > 1, "{codes:?}");
    let expected = format!("{}|{}", codes.join(" "), all[0]["message"].as_str().unwrap());
    assert_eq!(fleet.rows(&ran, &["reasons", "why"], first), [expected]);
}

/// The transcript of a session that goes on repeats what was used before.
fn an_iteration_of_the_view_has_its_own_use(fleet: &Fleet) {
    let ran = fleet.decided();
    let rows = fleet.rows(&ran, &["tokens", "cost_micro_usd"], "ORDER BY project, seq");
    assert_eq!(rows, ["100|250000", "50|125000", "NULL|NULL"]);
    let sums = ["sum(tokens)", "sum(cost_micro_usd)"];
    assert_eq!(fleet.rows(&ran, &sums, ""), ["150|375000"]);
}

fn the_book_names_every_column(fleet: &Fleet) {
    let ran = fleet.decided();
    let columns = match fleet.database {
        Some(_) => {
            "SELECT column_name FROM information_schema.columns \
             WHERE table_name = 'gate_decisions' ORDER BY ordinal_position"
        }
        None => "SELECT name FROM pragma_table_info('gate_decisions')",
    };
    let page = std::fs::read_to_string(root().join("docs/book/src/reference/sql.md")).unwrap();
    let rows = page.lines().filter_map(|line| line.strip_prefix("| `")?.split('`').next());
    assert_eq!(fleet.select(&ran, columns), rows.collect::<Vec<_>>());
}

fn a_ledger_that_was_set_aside_is_not_in_the_view(fleet: &Fleet) {
    let ran = fleet.decided();
    let place = match &fleet.database {
        Some(database) => Place::Database(database.url.parse().unwrap()),
        None => Place::Folder(ran.state()),
    };
    Store::open(&place, None, PATIENCE).unwrap().renew("acme/shop").unwrap();
    let rows = fleet.rows(&ran, &["project", "seq"], "ORDER BY project");
    assert_eq!(rows, ["acme/till|1"]);
}
