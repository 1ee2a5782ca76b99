//! Many projects in one store: their log and their loops. Each law is asked of both databases.

use serde_json::json;

use crate::support::postgres::Database;
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
    assert!(sum.starts_with("3 decisions in 2 runs: $0.38, "), "{sum}");
    assert!(sum.ends_with(", 150 tokens"), "{sum}");
    let ran = fleet.again(ran, "-C shop log --json", 0);
    assert!(ran.json_lines().iter().all(|line| line.get("project").is_none()), "{}", ran.stdout);
}

fn the_loops_of_all_projects_are_listed(fleet: &Fleet) {
    let ran = fleet.again(fleet.decided(), "runs --json", 0);
    let json = ran.json();
    let mut runs: Vec<_> = json["runs"]
        .as_array()
        .unwrap()
        .iter()
        .map(|run| (run["project"].as_str().unwrap(), run["state"].as_str().unwrap()))
        .collect();
    runs.sort_unstable();
    assert_eq!(runs, [("acme/shop", "done"), ("acme/till", "open")]);
    let ran = fleet.again(ran, "runs", 0).says("acme/shop").says("acme/till");
    let ran = fleet.again(ran, "report --all-projects", 0).says("2 loops: 1 done");
    fleet.again(ran, "metrics", 0).says("project=\"acme/till\"");
}
