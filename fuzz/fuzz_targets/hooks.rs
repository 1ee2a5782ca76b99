//! Events of hooks: whatever a client sends, a run has a name without a `#`, and a refusal is one JSON
//! object that holds the reason.
#![no_main]

use gate_cli::read_event;
use gate_fuzz::choices;
use libfuzzer_sys::fuzz_target;
use serde_json::Value;

const REASON: &str = "tests fail: \"total\" is wrong\n\u{1b}[31m";

fuzz_target!(|input: &[u8]| {
    let Some(([choice], json)) = choices(input) else { return };
    let Some((run, refusal)) = read_event(choice, json, REASON) else { return };
    assert!(run.is_none_or(|run| !run.contains('#')));
    let refusal: Value = serde_json::from_str(&refusal).expect("a refusal is JSON");
    let texts = refusal.as_object().expect("a refusal is an object").values();
    assert!(texts.filter_map(Value::as_str).any(|text| text.contains("\"total\" is wrong")), "{refusal}");
});
