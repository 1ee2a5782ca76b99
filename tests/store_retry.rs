//! A decision whose connection to the database breaks is recorded once.

use std::net::TcpListener;

use serde_json::Value;

use crate::store_postgres::{Cut, proxy};
use crate::support::postgres::Database;
use crate::support::{DONE, judge};

#[test]
fn a_broken_commit_is_tried_again_and_no_decision_stands_twice() {
    for (cut, times) in [(Cut::Before, 1), (Cut::After, 1), (Cut::Before, 3), (Cut::After, 3)] {
        let Some(database) = Database::new() else { return };
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let Some(url) = proxy(&database, listener, (Some(cut), times)) else { return };
        let ran = judge("check out.log --run r --json", DONE)
            .settings("[project]\nid = \"shop\"\n")
            .env("GATE_DATABASE_URL", url)
            .code(0);
        let decision = ran.json();
        let direct = |words: &str| {
            ran.beside(words).env("GATE_DATABASE_URL", &database.url).output().unwrap().stdout
        };
        let export = String::from_utf8(direct("ledger export")).unwrap();
        let records: Vec<Value> =
            export.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        assert_eq!(records.len(), 1, "{export}");
        assert_eq!(records[0]["body"]["decision"]["decision_id"], decision["decision_id"]);
        let place = (&decision["ledger"]["seq"], &decision["ledger"]["hash"]);
        assert_eq!(place, (&1.into(), &records[0]["hash"]));
        assert_eq!(decision["repeated"], false);
    }
}
