//! `gate receipt verify`: a receipt beside the ledger.

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

use super::intoto::{RECEIPT, STATEMENT};
use super::{ReceiptRecord, Verify};
use crate::commands::common::DONE;
use crate::context::Here;
use crate::failure::Failure;
use crate::memory::Memory;
use crate::render::{self, print, print_text};
use crate::secrets;
use crate::source::Source;

/// Exit code if the receipt does not hold.
const DOES_NOT_HOLD: u8 = 1;

/// `gate receipt verify --json`.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ReceiptCheckRecord {
    /// Always `gate.receipt_check.v1`.
    schema: &'static str,
    /// True if the ledger has this decision, with the same facts and the same hash.
    ok: bool,
    /// The differences, a sentence each.
    problems: Vec<String>,
}

pub(super) fn run(here: &Here, memory: &mut Memory, args: &Verify) -> Result<u8, Failure> {
    let text = Source::named(&args.file, &here.places.folder).text()?;
    let given = parse(&text)?;
    let problems = problems(memory, &given)?;
    let ok = problems.is_empty();
    if args.json {
        let record = ReceiptCheckRecord { schema: "gate.receipt_check.v1", ok, problems };
        print(&render::json(&record)?)?;
    } else if ok {
        print_text("the receipt holds: the ledger has this decision\n")?;
    } else {
        print_text(&format!("the receipt does not hold: {}\n", problems.join("; ")))?;
    }
    Ok(if ok { DONE } else { DOES_NOT_HOLD })
}

/// A receipt as JSON, or in an in-toto statement.
fn parse(text: &str) -> Result<ReceiptRecord, Failure> {
    let bad = |why: String| {
        Failure::usage("receipt-invalid", format!("expected a receipt as JSON: {why}"))
            .hint("`gate receipt --json` and `gate receipt --intoto` print one")
    };
    let mut value: Value = serde_json::from_str(text).map_err(|error| bad(error.to_string()))?;
    if value.get("_type").and_then(Value::as_str) == Some(STATEMENT) {
        let inner = value.pointer_mut(&format!("/predicate/{RECEIPT}")).map(Value::take);
        value = inner.ok_or_else(|| bad(format!("the predicate has no `{RECEIPT}`")))?;
    }
    serde_json::from_value(value).map_err(|error| bad(error.to_string()))
}

fn problems(memory: &mut Memory, given: &ReceiptRecord) -> Result<Vec<String>, Failure> {
    let Some(record) = memory.decision(&given.decision_id)? else {
        return Ok(vec![format!("the ledger has no decision {}", given.decision_id)]);
    };
    let mut problems = Vec::new();
    let own = ReceiptRecord::new(&record, memory.project());
    if let Some(place) = &own.ledger
        && let Some(sealed) = memory.read()?.entry(place.seq)?
        && sealed.record.hash() != sealed.hash
    {
        problems.push(format!("record {} was changed in the ledger", place.seq));
    }
    // A receipt shows no secrets, so they are left out of both.
    let masker = secrets::masker();
    let [mut own, mut given] =
        [own, given.clone()].map(|one| serde_json::to_value(one).unwrap_or_default());
    masker.value(&mut own);
    masker.value(&mut given);
    let fields = own.as_object().into_iter().flatten();
    for (name, value) in fields {
        if given.get(name) != Some(value) {
            problems.push(format!("`{name}` is another one in the ledger"));
        }
    }
    Ok(problems)
}
