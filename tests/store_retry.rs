//! Decisions and steps of work items whose connection to the database breaks are recorded once.

use std::net::TcpListener;

use serde_json::Value;

use crate::store_postgres::{Cut, proxy, proxy_at};
use crate::support::postgres::Database;
use crate::support::{DONE, Ran, judge};

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

/// A project whose store is a database, with work items. Its commands go through a proxy that
/// breaks the line.
struct Cutting {
    database: Database,
    ran: Ran,
}

impl Cutting {
    fn new() -> Option<Self> {
        let database = Database::new()?;
        let ran = judge("work add W-1", "")
            .settings("[project]\nid = \"shop\"\n")
            .env("GATE_DATABASE_URL", &database.url)
            .code(0);
        let cutting = Self { database, ran };
        cutting.direct("work add W-2");
        Some(cutting)
    }

    fn direct(&self, words: &str) -> Vec<Value> {
        self.output(words, &self.database.url)
    }

    /// The same through the proxy.
    fn cut(&self, words: &str, cut: (Cut, &'static str)) -> Vec<Value> {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = proxy_at(&self.database, listener, (Some(cut), 1)).unwrap();
        self.output(words, &url)
    }

    fn output(&self, words: &str, url: &str) -> Vec<Value> {
        let mut command = self.ran.beside(words);
        command.env("GATE_DATABASE_URL", url).env("AGENT_EXIT_PROTOCOL_ENABLED", "true");
        let output = command.output().unwrap();
        let (stdout, stderr) =
            (String::from_utf8(output.stdout).unwrap(), String::from_utf8_lossy(&output.stderr));
        assert!(output.status.success(), "{words}: {stdout}{stderr}");
        // A card is no JSON.
        serde_json::Deserializer::from_str(&stdout).into_iter().map_while(Result::ok).collect()
    }

    /// The types of the project's records, in order.
    fn kinds(&self) -> Vec<String> {
        let records = self.direct("ledger export");
        records.iter().map(|record| record["type"].as_str().unwrap().to_owned()).collect()
    }
}

/// The change of a lease's row.
const LEASES: &str = "UPDATE work SET";

#[test]
fn a_claim_whose_answer_is_lost_gets_one_item() {
    for cut in [Cut::Before, Cut::After] {
        let Some(cutting) = Cutting::new() else { return };
        let lease = &cutting.cut("work claim --actor ann --json", (cut, LEASES))[0];
        assert_eq!(lease["work"], "W-1");
        let next = &cutting.direct("work claim --actor bob --json")[0];
        assert_eq!(next["work"], "W-2");
        let words =
            format!("work renew W-1 --actor ann --lease {} --ttl 2h --json", lease["lease"]);
        let renewed = &cutting.cut(&words.replace('"', ""), (cut, LEASES))[0];
        assert_eq!(renewed["lease"]["lease"], lease["lease"]);
        cutting.cut("work release W-1 --actor ann --json", (cut, LEASES));
        let again = &cutting.direct("work claim --actor cid --json")[0];
        assert_eq!(again["work"], "W-1");
    }
}

#[test]
fn a_request_that_is_made_again_gets_the_same_item() {
    let run = judge("work add W-1", "").settings("[project]\nid = \"shop\"\n").code(0);
    let claim = |words: &str| run.beside(&format!("work claim --json {words}")).output().unwrap();
    run.beside("work add W-2").output().unwrap();
    let first = claim("--actor ann --request r1");
    assert_eq!(claim("--actor ann --request r1").stdout, first.stdout);
    let lease: Value = serde_json::from_slice(&first.stdout).unwrap();
    assert_eq!((&lease["work"], &lease["lease"]), (&"W-1".into(), &"r1".into()));
    let foreign = claim("--actor bob --request r1");
    assert_eq!(foreign.status.code(), Some(2), "{foreign:?}");
    let other: Value = serde_json::from_slice(&claim("--actor bob --request r2").stdout).unwrap();
    assert_eq!(other["work"], "W-2");
    run.beside("work release W-1 --actor ann").output().unwrap();
    let over = claim("--actor ann --request r1");
    assert_eq!(over.status.code(), Some(2), "a request is answered once: {over:?}");
}

#[test]
fn steps_of_items_and_operators_acts_are_recorded_once() {
    for cut in [Cut::Before, Cut::After] {
        let Some(cutting) = Cutting::new() else { return };
        let commit = (cut, "COMMIT\0");
        cutting.cut("work add W-3", commit);
        cutting.direct("work claim W-3 --actor ann");
        let signal = r#"{"protocol":"apm2_agent_exit","version":"1.0.0","phase_completed":"DRAFT","exit_reason":"completed"}"#;
        std::fs::write(cutting.ran.path("signal.json"), signal).unwrap();
        let submitted =
            &cutting.cut("exit submit signal.json --work W-3 --actor ann --json", commit)[0];
        assert_eq!(submitted["next_phase"], "IMPLEMENTATION", "{submitted}");
        cutting.cut("breaker trip --reason test", commit);
        let kinds = cutting.kinds();
        let expected =
            ["work_added", "work_added", "work_added", "AgentSessionCompleted", "operator_act"];
        assert_eq!(kinds, expected);
    }
}
