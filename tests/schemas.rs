//! The JSON Schemas: committed, and true of what gate prints.
//!
//! `UPDATE=1 cargo test -p gate-cli --features full,schemas --test gate -- schemas::` rewrites them.

use std::fs;

use serde_json::Value;

use crate::handoff::WHOLE;
use crate::needs::root;
use crate::support::json_schema::{flaws, holds, holds_but_for};
use crate::support::{DONE, STUCK, UNDONE, gate, judge};

const REWRITE: &str = "rewrite it with `UPDATE=1 cargo test -p gate-cli --features full,schemas --test gate -- schemas::`";

pub(crate) fn printed(name: &str) -> Value {
    gate(&format!("config schema {name}")).code(0).stderr("").json()
}

fn compare(file: &str, schema: &Value) {
    let file = root().join("schemas").join(file);
    let expected = format!("{schema:#}\n");
    if std::env::var_os("UPDATE").is_some_and(|value| value == "1") {
        fs::write(&file, &expected).unwrap();
    }
    let committed = fs::read_to_string(&file).unwrap_or_default();
    assert!(committed == expected, "{} is stale: {REWRITE}", file.display());
}

#[test]
fn the_committed_schemas_are_those_of_the_types() {
    #[cfg(not(feature = "schemas"))]
    crate::needs::skip("schemas", "no schema is derived: add --features full,schemas");
    #[cfg(feature = "schemas")]
    {
        use clap::ValueEnum as _;
        let names = gate_cli::schema::Name::value_variants().iter();
        let stale = names.filter_map(|name| {
            let (schema, value) = (name.derived(), name.to_possible_value()?);
            let file = format!("gate.{}.v1.json", value.get_name().replace('-', "."));
            compare(&file, &schema);
            (name.text() != format!("{schema:#}\n")).then_some(file)
        });
        assert_eq!(stale.collect::<Vec<_>>(), [""; 0], "embedded as they were: build again");
    }
}

/// Removes the formats of numbers: SchemaStore refuses a format that JSON Schema does not define.
fn drop_formats(schema: &mut Value) {
    if let Some(members) = schema.as_object_mut() {
        if members.get("format").is_some_and(Value::is_string) {
            members.remove("format");
        }
        members.values_mut().for_each(drop_formats);
    } else if let Some(items) = schema.as_array_mut() {
        items.iter_mut().for_each(drop_formats);
    }
}

/// SchemaStore takes draft 7 and an address of its own.
#[test]
fn the_schema_for_schemastore_is_that_of_the_settings() {
    let mut schema = printed("config");
    for keyword in ["$ref", "$defs", "prefixItems", "unevaluatedProperties", "dependentRequired"] {
        assert!(!schema.to_string().contains(&format!("\"{keyword}\":")), "draft 7: {keyword}");
    }
    drop_formats(&mut schema);
    schema["$schema"] = "http://json-schema.org/draft-07/schema#".into();
    schema["$id"] = "https://json.schemastore.org/gate.json".into();
    compare("schemastore/gate.json", &schema);
    let template = fs::read_to_string(root().join("gate-cli/src/templates/gate.toml")).unwrap();
    let settings: toml::Value = toml::from_str(&template).unwrap();
    let mut settings = serde_json::to_value(settings).unwrap();
    holds(&schema, &settings);
    settings["signal"]["acept"] = true.into();
    assert_eq!(flaws(&schema, &schema, &settings, ""), [".signal.acept is not described"]);
}

#[test]
fn the_settings_are_described_where_nothing_is_named() {
    assert_eq!(printed("config"), printed(""));
    gate("config schema decisions").code(2).tells("decision");
}

#[test]
fn a_plugins_schemas_are_printed_together() {
    let both = gate("config schema --plugin").code(0).json();
    assert_eq!(both["request"], printed("check-request"));
    assert_eq!(both["result"], printed("check-result"));
}

#[test]
fn every_decision_is_as_its_schema_says() {
    let checked = "[checks.tests]\ncommand = [\"true-enough\"]\n";
    let miss = format!("The tag <promise>COMPLETE</promise> comes later.\n{DONE}");
    let denied = r#"{"type":"result","subtype":"success","is_error":true,"num_turns":2,"result":"Limit reached","session_id":"s","total_cost_usd":0.25,"usage":{"input_tokens":5,"output_tokens":7},"permission_denials":[{"tool_name":"Bash","tool_use_id":"t"}]}"#;
    let schema = printed("decision");
    for words in [
        "check --json out.log",
        "check --json --all-checks --run a --task b --iteration 3 out.log",
        "check --json --agent-exit-code 9 out.log",
        "check --json --force-complete --reason shipped out.log",
    ] {
        for output in [DONE, UNDONE, STUCK, "", &miss, denied] {
            holds(&schema, &judge(words, output).settings(checked).run().json());
            holds(&schema, &judge(words, output).run().json());
        }
    }
}

#[test]
fn every_scan_is_as_its_schema_says() {
    let run = gate("scan --json a b c d").file("a", DONE).file("b", UNDONE).file("c", "");
    for record in
        run.file("d", [b"\xff\xfe<promise>", STUCK.as_bytes()].concat()).code(0).json_lines()
    {
        holds(&printed("scan"), &record);
    }
}

#[test]
fn every_replay_is_as_its_schema_says() {
    let labels = "{\"file\":\"a\",\"label\":\"exit\"}\n{\"file\":\"d\",\"label\":\"blocked\"}\n";
    let old =
        "{\"schema\":\"gate.replay.v1\",\"file\":\"b\",\"iteration\":1,\"verdict\":\"exit\"}\n";
    for (words, schema) in
        [("", "replay"), ("--group folder", "replay-group"), ("--by agent", "replay")]
    {
        let words = format!("replay --json {words} --labels l --compare o a b c d");
        let run = gate(&words).file("a", DONE).file("b", UNDONE).file("d", STUCK);
        let mut records = run.file("l", labels).file("o", old).code(2).json_lines();
        if words.contains("--by") {
            holds(&printed("replay-summary"), &records.pop().unwrap());
        }
        for record in records {
            holds(&printed(schema), &record);
        }
    }
}

#[test]
fn every_handoff_is_as_its_schema_says() {
    let text = gate("handoff convert -").stdin(WHOLE).code(0).stdout;
    let handoff: Value = serde_json::from_str(&text).unwrap();
    holds(&printed("handoff"), &handoff);
    for (at, value) in [
        ("/a2a/protocol_version", "0.3.0".into()),
        ("/verification/0/result", "SKIPPED".into()),
        ("/open_risks/0/owner", Value::Null),
    ] {
        let mut wrong = handoff.clone();
        *wrong.pointer_mut(at).unwrap() = value;
        assert_eq!(flaws(&printed("handoff"), &printed("handoff"), &wrong, "").len(), 1, "{at}");
    }
}

#[test]
fn every_error_is_as_its_schema_says() {
    for words in ["check --json", "check --json missing", "check --json --config bad.toml out.log"]
    {
        let run = judge(words, DONE).file("bad.toml", "[exit_gate]\nenable = true\n");
        holds(&printed("error"), &run.code(2).json());
    }
}

#[test]
fn every_exit_signal_is_as_its_schema_says() {
    let emit = "exit emit --phase REVIEW --reason blocked";
    for more in [&[][..], &["--notes", "x", "--pr-url", "https://x", "--evidence-bundle-ref", "y"]]
    {
        let signal = gate(emit).args(more).code(0);
        holds_but_for(&printed("exit-signal"), &signal.json());
        for flag in ["true", "false"] {
            let run = gate("exit parse --json").env("AGENT_EXIT_PROTOCOL_ENABLED", flag);
            holds_but_for(&printed("exit-parse"), &run.stdin(signal.out()).run().json());
        }
    }
}

#[test]
fn every_examination_is_as_its_schema_says() {
    let settings = "[checks.clean_git]\n[checks.one]\ncommand = [\"no-such-tool\"]\n";
    for words in ["doctor --json", "doctor --json --self-test"] {
        holds(&printed("doctor"), &gate(words).settings(settings).committed().code(1).json());
    }
}

#[test]
fn every_look_at_an_agent_is_as_its_schema_says() {
    let schema = printed("doctor-agent");
    let ran = gate("doctor --agent codex --json").code(1);
    holds(&schema, &ran.json());
    let ran = ran.again("install codex --shared").without_gate_in_path().code(0);
    holds(&schema, &ran.again("doctor --agent codex --json").without_gate_in_path().run().json());
    let ran = gate("install claude-code").with_gate_in_path().code(0);
    holds(&schema, &ran.again("doctor --agent claude-code --json").run().json());
}

#[test]
fn the_settings_in_force_are_as_their_schema_says() {
    let settings = "[checks.tests]\ncommand = [\"cargo\", \"test\"]\nretry = 1\n\
                    [[signal.custom]]\nliteral = \"SHIPPED\"\nvalue = \"complete\"\n";
    for settings in ["", settings] {
        let shown = gate("config show").settings(settings).code(0).stdout;
        let shown: toml::Value = toml::from_str(&shown).expect(&shown);
        holds(&printed("config"), &serde_json::to_value(shown).unwrap());
    }
}

#[test]
fn this_check_finds_what_is_wrong() {
    let schema = printed("error");
    let error = judge("check --json", "").code(2).json();
    let with = |name: &str, value: Value| {
        let mut changed = error.clone();
        changed[name] = value;
        flaws(&schema, &schema, &changed, "")
    };
    assert_eq!(with("line", Value::Null), [""; 0]);
    assert_eq!(with("line", "3".into()).len(), 1);
    assert_eq!(with("message", Value::Null).len(), 1);
    assert_eq!(with("new", 1.into()).len(), 1);
}
