//! Ledgers: a line that is read is written the same, and no byte of a record can be changed
//! unseen.
#![no_main]

use gate_core::ledger::{Body, Chain, Draft, Head, LineError, Sealed};
use gate_fuzz::choices;
use libfuzzer_sys::fuzz_target;
use serde_json::Value;

fn check_line(line: &[u8]) {
    match Sealed::from_line(line) {
        Ok(sealed) => {
            assert_eq!(sealed.to_line().as_bytes(), line);
            let held = Chain::new().push(&sealed).is_ok();
            assert_eq!(Chain::new().push_line(line).is_ok(), held);
            let head = sealed.head();
            let known: Result<Head, _> = head.to_string().parse();
            // The head of an empty ledger is one, though no record holds that says so.
            let is_one = head.seq > 0 || head == Head::EMPTY;
            assert_eq!(known.ok(), is_one.then_some(head));
        }
        Err(LineError::Spelling { column }) => assert!((1..=line.len() + 1).contains(&column)),
        Err(error) => assert!(!error.to_string().is_empty()),
    }
}

/// A record with this body holds, and holds no more with another byte in its line.
fn check_record(text: &str, body: Body, place: usize, change: u8) {
    let draft = Draft {
        time: "2026-11-02T10:00:00Z".to_owned(),
        kind: text.chars().take(20).collect(),
        run: text.chars().nth(20).map(String::from),
        actor: text.chars().rev().take(20).collect(),
        body,
    };
    let sealed = Head::EMPTY.follow(draft);
    let line = sealed.to_line();
    assert_eq!(Sealed::from_line(line.as_bytes()).as_ref(), Ok(&sealed));
    let mut chain = Chain::new().against(sealed.head());
    assert_eq!(chain.push_line(line.as_bytes()).as_ref(), Ok(&sealed));
    assert_eq!(chain.end().map(|intact| intact.head).ok(), Some(sealed.head()));

    let mut changed = line.into_bytes();
    let place = place % changed.len();
    changed[place] ^= change.max(1);
    let mut chain = Chain::new();
    assert!(chain.push_line(&changed).is_err(), "{}", String::from_utf8_lossy(&changed));
    assert!(chain.end().is_err());
}

fuzz_target!(|input: &[u8]| {
    let Some(([high, low, change], text)) = choices(input) else { return };
    let mut chain = Chain::new();
    for line in text.split(|byte| *byte == b'\n') {
        check_line(line);
        let _ = chain.push_line(line);
    }
    let Ok(text) = str::from_utf8(text) else { return };
    let value = serde_json::from_str::<Value>(text);
    let value = value.unwrap_or_else(|_| serde_json::json!({ "text": text }));
    if let Ok(body) = Body::try_from(value) {
        let place = usize::from(high) << 8 | usize::from(low);
        check_record(text, body, place, change);
    }
});
