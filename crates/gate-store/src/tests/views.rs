//! One project's ledger inside of a transaction, in a database that is made up.

use gate_core::ledger::{Body, Draft, Head};
use serde_json::{Value, json};

use super::super::error::StoreError;
use super::super::sql::{Cell, EmptyStore, Rows, Sql, SqlValue};
use super::super::transaction::Transaction;
use super::super::view::View;
use super::rows::{cells, sealed};

/// A database that gives each statement the next of these answers.
#[derive(Default)]
struct Scripted {
    rows: Vec<Result<Rows, StoreError>>,
    changes: Vec<bool>,
    /// Its tables are from before work items.
    is_old: bool,
}

impl Sql for Scripted {
    fn rows(&mut self, _: &'static str, _: &[SqlValue<'_>]) -> Result<Rows, StoreError> {
        self.rows.remove(0)
    }

    fn change(&mut self, _: &'static str, _: &[SqlValue<'_>]) -> Result<bool, StoreError> {
        Ok(self.changes.remove(0))
    }

    fn commit(self: Box<Self>, _: Option<Head>) -> Result<(), StoreError> {
        Ok(())
    }

    fn has_items(&self) -> bool {
        !self.is_old
    }
}

fn view(sql: impl Sql + 'static) -> View<'static> {
    View::new(Box::new(sql), "shop").unwrap()
}

fn transaction(sql: impl Sql + 'static) -> Transaction<'static> {
    Transaction::new(view(sql), None)
}

fn draft(run: Option<&str>, body: &Value) -> Draft {
    Draft {
        time: "2026-11-02T10:00:00Z".to_owned(),
        kind: "operator_act".to_owned(),
        run: run.map(str::to_owned),
        actor: "gate".to_owned(),
        body: Body::new(body).unwrap(),
    }
}

fn busy() -> StoreError {
    StoreError::Busy { place: "/s".to_owned() }
}

#[test]
fn an_empty_store_has_nothing_and_takes_nothing() {
    let mut view = transaction(EmptyStore);
    assert_eq!(view.head(), Ok(Head::EMPTY));
    assert_eq!(view.entry(1), Ok(None));
    assert_eq!(view.entries(1, 9), Ok(Vec::new()));
    assert_eq!(view.latest_of_loop("nightly"), Ok(None));
    assert_eq!(view.decision_by_id(""), Ok(None));
    assert_eq!(view.policy("blake3:aa"), Ok(None));
    assert_eq!(view.item("W-1"), Ok(None));
    let error = view.append(draft(None, &json!({}))).unwrap_err();
    assert_eq!(error.to_string(), "the ledger: there are no tables");
    assert_eq!(view.commit().err(), Some(error));
}

#[test]
fn a_name_that_cannot_be_kept_is_refused_and_never_found() {
    let unfit = |project: &str| {
        View::new(Box::new(EmptyStore), project).err().map(|error| error.to_string())
    };
    let control = "`project` holds a control character, which cannot be kept";
    assert_eq!(unfit("a\nb").as_deref(), Some(control));
    let long = "x".repeat(1_025);
    assert_eq!(unfit(&long).as_deref(), Some("`project` is longer than 1024 bytes"));
    assert_eq!(unfit(&long[1..]), None);
    let mut view = view(Scripted::default());
    assert_eq!(view.latest_of_loop("a\0b"), Ok(None));
    assert_eq!(view.latest_of_task(&long), Ok(None));
    assert_eq!(view.decision("a\nb", 1), Ok(None));
    assert_eq!(view.item("a\nb"), Ok(None));
    assert_eq!(view.policy("a\nb"), Ok(None));
}

#[test]
fn what_cannot_be_kept_is_refused_before_it_reaches_the_database() {
    let written = |draft: Draft| {
        let rows = vec![Ok(Vec::new())];
        let mut view = transaction(Scripted { rows, ..Scripted::default() });
        view.append(draft).unwrap_err().to_string()
    };
    let control = "holds a control character, which cannot be kept";
    assert_eq!(written(draft(Some("a\tb"), &json!({}))), format!("`run` {control}"));
    let task = json!({ "state": { "task": "a\u{7f}b" } });
    assert_eq!(written(draft(None, &task)), format!("`task` {control}"));
    let actor = Draft { actor: "x".repeat(1_025), ..draft(None, &json!({})) };
    assert_eq!(written(actor), "`actor` is longer than 1024 bytes");
    let mut view = transaction(Scripted::default());
    let error = view.keep_policy("blake3:aa", "{\0}").unwrap_err();
    assert_eq!(error.to_string(), format!("`text` {control}"));
}

#[test]
fn of_several_rows_none_is_the_one() {
    let row = || cells(&sealed());
    let rows = vec![Ok(vec![row(), row()]), Ok(vec![row()]), Ok(vec![row(), row()])];
    let mut view = transaction(Scripted { rows, ..Scripted::default() });
    assert_eq!(view.entry(1), Ok(None));
    assert_eq!(view.entry(1), Ok(Some(sealed())));
    assert_eq!(view.latest_of_loop("nightly"), Ok(None));
}

#[test]
fn the_head_is_looked_at_once_and_moves_with_what_is_appended() {
    let rows = vec![Ok(vec![cells(&sealed())])];
    let mut view = transaction(Scripted { rows, changes: vec![true, true], ..Scripted::default() });
    assert_eq!(view.head(), Ok(sealed().head()));
    let next = view.append(draft(None, &json!({}))).unwrap();
    assert_eq!((next.record.seq, next.record.prev), (2, sealed().hash));
    let last = view.append(draft(None, &json!({}))).unwrap();
    assert_eq!((last.record.seq, last.record.prev), (3, next.hash));
    assert_eq!(view.head(), Ok(last.head()));
    assert!(view.commit().is_ok());
}

#[test]
fn a_row_that_is_there_already_is_the_iterations_or_damage() {
    let refused = |body: &Value, run| {
        let rows = vec![Ok(Vec::new())];
        let mut view = transaction(Scripted { rows, changes: vec![false], ..Scripted::default() });
        let error = view.append(draft(run, body)).unwrap_err();
        assert_eq!(view.commit().err(), Some(error.clone()), "nothing of it is kept");
        error.to_string()
    };
    let decision = json!({ "decision": { "decision_id": "d" }, "state": { "iteration": 3 } });
    let taken = "run `r` has a decision for iteration 3 already";
    assert_eq!(refused(&decision, Some("r")), taken);
    let there = "the ledger: record 1 is there already";
    assert_eq!(refused(&decision, None), there);
    assert_eq!(refused(&json!({ "state": { "iteration": 3 } }), Some("r")), there);
}

#[test]
fn after_the_databases_first_error_nothing_is_kept() {
    let rows = vec![Err(busy()), Err(StoreError::corrupt("later")), Ok(Vec::new())];
    let mut view = transaction(Scripted { rows, changes: vec![true], ..Scripted::default() });
    assert_eq!(view.entry(1), Err(busy()));
    assert!(view.entry(2).is_err());
    assert!(view.append(draft(None, &json!({}))).is_ok(), "the work may go on");
    assert_eq!(view.commit().err(), Some(busy()));
}

#[test]
fn a_policy_that_is_no_text_is_damage() {
    let rows = vec![Ok(vec![vec![Cell::Integer(7)]]), Ok(vec![vec![super::text("{}")]])];
    let mut view = transaction(Scripted { rows, ..Scripted::default() });
    let error = view.policy("blake3:aa").unwrap_err();
    assert_eq!(error.to_string(), "the ledger: the policy blake3:aa is no text");
    assert_eq!(view.policy("blake3:aa"), Ok(Some("{}".to_owned())));
}

#[test]
fn tables_from_before_work_items_have_none() {
    let mut view = view(Scripted { is_old: true, ..Scripted::default() });
    assert_eq!(view.item("W-1"), Ok(None));
    assert_eq!(view.items(0, 9), Ok(Vec::new()));
    assert_eq!(view.claimable_at(super::super::Claimable::default()), Ok(None));
}
