//! The embedded default is the documentation of every key.

use std::collections::BTreeSet;

use toml::{Table, Value};

use super::resolved;
use crate::config::schema::{embedded, keys};
use crate::config::{DEFAULT, Layer, Origin, resolve};

/// The default with its examples switched on.
fn uncommented() -> String {
    let example = |line: &str| line.starts_with('#') && !line.starts_with("# ") && line.len() > 1;
    let lines = DEFAULT.lines().map(|line| if example(line) { &line[1..] } else { line });
    lines.collect::<Vec<_>>().join("\n")
}

/// Every key of a table, dotted, with `NAME` for names of one's own.
fn mentioned(table: &Table, at: &str, found: &mut BTreeSet<String>) {
    for (name, value) in table {
        let named = matches!(at, "task_types" | "run.agents");
        let own = named || at == "guarded" || at.ends_with("checks") && value.is_table();
        let name = if own { "NAME" } else { name };
        let path = if at.is_empty() { name.to_owned() } else { format!("{at}.{name}") };
        match value {
            Value::Table(inner) => mentioned(inner, &path, found),
            Value::Array(items) if items.iter().any(Value::is_table) => {
                items
                    .iter()
                    .filter_map(Value::as_table)
                    .for_each(|item| mentioned(item, &path, found));
            }
            _ => drop(found.insert(path)),
        }
    }
}

#[test]
fn it_means_what_nothing_means() {
    let nothing = resolve(&[], None).unwrap();
    assert_eq!(resolved(DEFAULT).policy, nothing.policy);
    assert_eq!(resolved("").policy, nothing.policy);
}

#[test]
fn it_mentions_every_key() {
    let mut found = BTreeSet::new();
    mentioned(&uncommented().parse::<Table>().unwrap(), "", &mut found);
    let inner = |key: &str| key.starts_with("task_types.") && key != "task_types.NAME.progress";
    for key in keys().iter().filter(|key| !inner(key)) {
        assert!(found.contains(key), "`{key}` is not mentioned in default.toml");
    }
    for section in ["exit_gate", "signal", "patterns", "checks", "breaker", "budget"] {
        let section = format!("task_types.NAME.{section}.");
        assert!(found.iter().any(|key| key.starts_with(&section)), "{section}");
    }
}

#[test]
fn its_examples_hold() {
    // Only the machine's settings have all keys.
    let origin = Origin::Machine("/etc/gate/gate.toml".into());
    let layer = Layer::parse(origin, &uncommented()).unwrap();
    let plain = resolve(std::slice::from_ref(&layer), None).unwrap();
    assert!(resolve(&[layer], Some("research")).is_ok());
    // The values shown for a check are those that a check has by default.
    let shown = &plain.policy.checks["tests"];
    let bare = &plain.policy.checks["build"];
    assert_eq!(
        (shown.timeout_ms, shown.mode, shown.retry),
        (bare.timeout_ms, bare.mode, bare.retry)
    );
    assert_eq!((shown.shell, shown.hermetic, &shown.when), (bare.shell, bare.hermetic, &bare.when));
}

#[test]
fn its_lines_fit() {
    for line in DEFAULT.lines() {
        assert!(line.chars().count() <= 88 && line.trim_end() == line, "{line}");
    }
}

#[test]
fn the_schema_knows_names_types_and_texts() {
    let schema = embedded();
    assert_eq!(schema["$id"], "gate.config.v1");
    let gate = &schema["properties"]["exit_gate"];
    assert_eq!(gate["type"], "object");
    assert_eq!(gate["additionalProperties"], false);
    let consecutive = &gate["properties"]["consecutive"];
    assert_eq!(
        (consecutive["type"].as_str(), consecutive["minimum"].as_u64()),
        (Some("integer"), Some(1))
    );
    assert!(consecutive["description"].as_str().is_some_and(|text| text.contains("in a row")));
    let check = &schema["properties"]["checks"]["additionalProperties"]["properties"];
    assert!(check["mode"].to_string().contains("require"));
    assert!(!schema.to_string().contains("null"), "TOML has no null");
}

#[test]
fn every_key_of_the_schema_has_a_description() {
    fn check(schema: &Value, at: &str) {
        for (name, inner) in
            schema.get("properties").and_then(Value::as_table).into_iter().flatten()
        {
            assert!(inner.get("description").is_some(), "{at}.{name}");
            check(inner, &format!("{at}.{name}"));
        }
    }
    check(&Value::try_from(embedded()).unwrap(), "");
}

#[test]
fn the_listing_is_complete() {
    let keys = keys();
    for key in [
        "exit_gate.indicator_threshold",
        "signal.promise.phrases",
        "signal.custom.value",
        "patterns.custom.unless",
        "checks.jobs",
        "checks.NAME.hermetic",
        "checks.NAME.control",
        "checks.NAME.sealed",
        "checks.NAME.reveal",
        "checks.NAME.memory",
        "checks.NAME.priority",
        "checks.copies_max",
        "integrity.allow.reason",
        "breaker.cooldown",
        "budget.cost_usd",
        "hook.max_blocks",
        "task_types.NAME.progress",
        "task_types.NAME.checks.NAME.mode",
    ] {
        assert!(keys.iter().any(|known| known == key), "{key}");
    }
}
