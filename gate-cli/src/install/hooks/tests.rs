//! gate's entry comes and goes, and everything else stays.

use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;
use crate::clients::facts;

pub(super) fn claude(command: &str) -> Form {
    // Droid's entry is the plainest: nothing but what all have.
    form(Agent::ClaudeCode, Agent::Droid, command)
}

/// The entry of an agent's stop with another one's facts and this command.
fn form(agent: Agent, facts_agent: Agent, command: &str) -> Form {
    let facts = facts(facts_agent);
    let (event, entry) = (&facts.hook.events.stop, facts.settings.entry.as_ref().unwrap());
    let mut form = Form::new(event, entry, &Commands::unwritten(agent), Moment::Stop);
    form.entry.insert("command".to_owned(), command.into());
    form
}

const COMMAND: &str = "/usr/bin/gate hook claude-code --deadline 540s";

fn merged(text: &str) -> Merged {
    claude(COMMAND).merged(text).unwrap()
}

fn value(text: &str) -> Value {
    parse(text).unwrap().unwrap().value()
}

fn entry() -> Value {
    json!({"type": "command", "command": COMMAND, "timeout": 600})
}

#[test]
fn an_empty_file_becomes_a_whole_one() {
    let expected = r#"{
  "hooks": {
    "Stop": [
      {
        "hooks": [
          {
            "command": "/usr/bin/gate hook claude-code --deadline 540s",
            "timeout": 600,
            "type": "command"
          }
        ]
      }
    ]
  }
}
"#;
    assert_eq!(merged("").text, expected);
    assert_eq!(merged(" \n").text, expected);
    assert_eq!(merged("{}\n").text, expected);
    assert_eq!(merged("").made, ["hooks", "hooks/Stop"]);
    assert_eq!(merged("// mine\n").text, format!("// mine\n{expected}"));
}

#[test]
fn other_hooks_stay_where_they_are() {
    let text = r#"{"hooks": {"Stop": [{"matcher": "*", "hooks": [{"type": "command", "command": "say done"}]}], "PreToolUse": []}}"#;
    let merged = merged(text);
    assert!(merged.made.is_empty());
    let mut expected = value(text);
    expected["hooks"]["Stop"].as_array_mut().unwrap().push(json!({"hooks": [entry()]}));
    assert_eq!(value(&merged.text), expected);
    assert_eq!(claude(COMMAND).without(&merged.text, &[]).unwrap().unwrap(), text);
}

#[test]
fn an_old_entry_is_brought_up_to_date_in_its_place() {
    let old_text = r#"{"hooks":{"Stop":[{"hooks":[{"type":"command","command":"first"},{"type":"command","command":"'/old path/gate' hook claude","timeout":60,"statusMessage":"gate"},{"type":"command","command":"last"}]},{"hooks":[{"type":"command","command":"gate hook claude-code"}]}]}}"#;
    let new_text = r#"{"hooks":{"Stop":[{"hooks":[{"type":"command","command":"first"},{"type":"command","command":"/usr/bin/gate hook claude-code --deadline 540s","timeout":600,"statusMessage":"gate"},{"type":"command","command":"last"}]}]}}"#;
    assert_eq!(merged(old_text).text, new_text);
}

#[test]
fn another_agents_entry_is_not_taken_for_this_ones() {
    let text = r#"{"hooks":{"Stop":[{"hooks":[{"type":"command","command":"gate hook codex"}]}]}}"#;
    assert_eq!(claude(COMMAND).find_entries(text).unwrap(), []);
    assert_eq!(claude(COMMAND).without(text, &[]).unwrap(), None);
}

#[test]
fn a_flat_form_brings_what_the_file_needs() {
    let form = form(Agent::Cursor, Agent::Cursor, "gate hook cursor");
    let merged = form.merged("").unwrap();
    let expected = json!({"version": 1, "hooks": {"stop": [{"command": "gate hook cursor", "loop_limit": 50, "timeout": 600}]}});
    assert_eq!(value(&merged.text), expected);
    assert_eq!(form.without(&merged.text, &merged.made).unwrap().as_deref(), Some("{}\n"));
    let versioned = r#"{"version": 2}"#;
    assert_eq!(value(&form.merged(versioned).unwrap().text)["version"], 2);
}

#[test]
fn a_value_of_another_type_is_reported_with_line_and_key() {
    let flaw = |text: &str| claude(COMMAND).merged(text).unwrap_err();
    let check = |text: &str, line, key: Option<&str>, message: &str| {
        let flaw = flaw(text);
        assert_eq!((flaw.line, flaw.key.as_deref()), (line, key), "{text}");
        assert_eq!(flaw.message, message);
    };
    check("[]", 1, None, "the document is an array, and an object is expected");
    check("{\n\"hooks\": []}", 2, Some("hooks"), "hooks is an array, and an object is expected");
    check(
        "{\"hooks\":\n{\"Stop\":\n{}}}",
        3,
        Some("hooks.Stop"),
        "hooks.Stop is an object, and an array is expected",
    );
    check(
        "{\"hooks\":{\"Stop\":[\n3]}}",
        2,
        Some("hooks.Stop[0]"),
        "hooks.Stop[0] is a number, and an object is expected",
    );
    check(
        "{\"hooks\":{\"Stop\":[{\"hooks\":\"x\"}]}}",
        1,
        Some("hooks.Stop[0].hooks"),
        "hooks.Stop[0].hooks is a string, and an array is expected",
    );
    check(
        "{\"hooks\":{},\n\"hooks\":{}}",
        2,
        Some("hooks"),
        "hooks is there twice; it is expected once",
    );
}

#[test]
fn only_what_was_made_and_is_empty_goes() {
    let made = merged("{}").made;
    let text = merged("{}").text;
    assert_eq!(claude(COMMAND).without(&text, &made).unwrap().as_deref(), Some("{}"));
    let remaining = claude(COMMAND).without(&text, &[]).unwrap().unwrap();
    assert_eq!(value(&remaining), json!({"hooks": {"Stop": []}}));
    let with_start = text.replacen("\"hooks\": {", "\"hooks\": {\n    \"Start\": [],", 1);
    let remaining = claude(COMMAND).without(&with_start, &made).unwrap().unwrap();
    assert_eq!(value(&remaining), json!({"hooks": {"Start": []}}));
}

/// Any JSON, of modest size.
fn any_json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i32>().prop_map(Value::from),
        r#"[a-z/"\\ {}\[\],:é]{0,8}"#.prop_map(Value::from),
    ];
    leaf.prop_recursive(3, 12, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::btree_map("[a-z]{1,4}", inner, 0..4)
                .prop_map(|map| Value::Object(map.into_iter().collect())),
        ]
    })
}

/// Settings with, perhaps, hooks of others in them.
fn settings() -> impl Strategy<Value = Value> {
    let other_hooks = prop_oneof![
        Just(None),
        Just(Some(json!({}))),
        Just(Some(json!({"Stop": []}))),
        Just(Some(json!({"Start": [], "Stop": [{"hooks": []}]}))),
        any_json().prop_map(|value| Some(
            json!({"Stop": [{"matcher": value, "hooks": [{"command": "x"}]}]})
        )),
    ];
    (prop::collection::btree_map("[a-z]{1,4}", any_json(), 0..4), other_hooks).prop_map(
        |(members, hooks)| {
            let mut settings: Map<String, Value> = members.into_iter().collect();
            settings.extend(hooks.map(|hooks| (HOOKS.to_owned(), hooks)));
            Value::Object(settings)
        },
    )
}

/// One of the ways to write a document.
pub(in super::super) fn document() -> impl Strategy<Value = String> {
    let indents = prop::sample::select(vec![None, Some("  "), Some("    "), Some("\t"), Some("")]);
    let ends = prop::sample::select(vec!["", "\n", "\n\n", "// end", "\n/* end */\n"]);
    (settings(), indents, any::<[bool; 3]>(), ends).prop_map(
        |(value, indent, [crlf, comments, commas], end)| {
            let mut text = match indent {
                None => value.to_string(),
                Some(indent) => pretty(&value, indent),
            };
            if commas {
                text = text.replace("\n}", ",\n}").replace("{,\n", "{\n");
            }
            if comments && indent.is_some() {
                text = text.replace(",\n", ", // why \" {\n").replace("[\n", "[ /* [ */\n");
            }
            let text = text + end;
            if crlf { text.replace('\n', "\r\n") } else { text }
        },
    )
}

fn pretty(value: &Value, indent: &str) -> String {
    let formatter = serde_json::ser::PrettyFormatter::with_indent(indent.as_bytes());
    let mut bytes = Vec::new();
    let mut writer = serde_json::Serializer::with_formatter(&mut bytes, formatter);
    serde::Serialize::serialize(value, &mut writer).unwrap();
    String::from_utf8(bytes).unwrap()
}

/// All characters of one text but white space are in the other, in their order.
fn is_within(part: &str, whole: &str) -> bool {
    let mut whole_chars = whole.chars();
    part.chars().filter(|c| !c.is_whitespace()).all(|c| whole_chars.any(|letter| letter == c))
}

proptest! {
    #[test]
    fn nothing_but_gates_entry_comes_and_goes(text in document()) {
        let original = value(&text);
        let merged = merged(&text);
        prop_assert!(is_within(&text, &merged.text), "{}\n--\n{}", text, merged.text);
        let mut expected = original.clone();
        let hooks = expected.as_object_mut().unwrap().entry(HOOKS).or_insert(json!({}));
        let stop = hooks.as_object_mut().unwrap().entry("Stop").or_insert(json!([]));
        stop.as_array_mut().unwrap().push(json!({"hooks": [entry()]}));
        prop_assert_eq!(value(&merged.text), expected);
        prop_assert_eq!(&claude(COMMAND).merged(&merged.text).unwrap().text, &merged.text);
        let is_crlf = |text: &str| text.contains("\r\n");
        prop_assert!(!is_crlf(&text) || !merged.text.replace("\r\n", "").contains('\n'));
        let remaining = claude(COMMAND).without(&merged.text, &merged.made).unwrap().unwrap();
        prop_assert_eq!(value(&remaining), original);
    }
}
