//! Laws: what is written comes back, and any text is read.

use proptest::option;
use proptest::prelude::*;
use proptest::sample::Index;
use serde_json::Value;

use super::super::*;
use super::read_md;

/// Texts of all kinds: those that mean something in Markdown, blanks, any at all.
fn text() -> impl Strategy<Value = String> {
    let marks = "[-#>*+`~=_|<>:,.()\\[\\]{}\"'\\\\ \t\n\r1-2aé\u{2028}\u{a0}\u{0}!]{0,12}";
    let usual = "[a-z]{1,8}( [a-z./`-]{1,8}){0,3}";
    let begun = "(- |1\\. |# |> |```|~~~|---|<div>|\\[a\\]: b|key: |\\* |risk: |\")[a-z]{0,4}\n?";
    prop_oneof![marks.boxed(), usual.boxed(), begun.boxed(), any::<String>().boxed()]
}

fn texts() -> impl Strategy<Value = Vec<String>> {
    prop::collection::vec(text(), 0..4)
}

/// Commands: any text, and those that look like a key, a result or an arrow.
fn command() -> impl Strategy<Value = String> {
    let keyed = "(`|\\*\\*|\"| )?(result|Command|notes|blocker|severity|risk)(`|\\*\\*)? ?:(`|\\*\\*)? ?[a-z`:]{0,5}( -> PASS)?";
    let arrows = "[a-z]{0,3} ?(->|=>|→) ?(PASS|fail|x)?( ?-> ?FAIL)?\\)?";
    prop_oneof![2 => text().boxed(), 1 => keyed.boxed(), 1 => arrows.boxed()]
}

prop_compose! {
    fn verification()(
        command in command(), result in text(), pass in 0..3u8, notes in option::of(command()),
        blocker in option::of((text(), text())),
    ) -> Verification {
        let result = match pass {
            0 => Outcome::Pass,
            1 => Outcome::Fail,
            _ => serde_json::from_value(result.into()).unwrap(),
        };
        let blocker = blocker.map(|(severity, rollback)| Blocker { severity, rollback });
        Verification { command, result, notes, blocker }
    }
}

prop_compose! {
    fn a2a()(
        [protocol_version, interaction_id] in [text(), text()], agents in [text(), text(), text(), text(), text(), text()],
        lists in [option::of(texts()), option::of(texts())], more in [option::of(text()), option::of(text()), option::of(text())],
    ) -> A2a {
        let [a, b, c, d, e, f] = agents;
        let [capabilities_declared, capabilities_required] = lists;
        let [checkpoint_id, agent_card_ref, handoff_reason] = more;
        A2a {
            protocol_version, interaction_id,
            sender: Agent { agent_id: a, provider: b, model: c },
            receiver: Agent { agent_id: d, provider: e, model: f },
            capabilities_declared, capabilities_required, checkpoint_id, agent_card_ref, handoff_reason,
        }
    }
}

prop_compose! {
    fn handoff()(
        objective in text(), lists in [texts(), texts(), texts(), texts(), texts()],
        verification in prop::collection::vec(verification(), 0..3),
        risks in prop::collection::vec([text(), text(), text()], 0..3), a2a in option::of(a2a()),
    ) -> Handoff {
        let [in_scope, out_of_scope, changed_files, next_actions, assumptions] = lists;
        let open_risks = risks.into_iter().map(|[risk, impact, owner]| Risk { risk, impact, owner }).collect();
        Handoff { objective, in_scope, out_of_scope, changed_files, verification, open_risks, next_actions, assumptions, a2a }
    }
}

/// The objects in a value, by their pointers.
fn tables_in(value: &Value, at: &str, found: &mut Vec<String>) {
    let members: Vec<_> = match value {
        Value::Object(members) => members.iter().map(|(key, it)| (key.clone(), it)).collect(),
        Value::Array(items) => {
            items.iter().enumerate().map(|(at, it)| (at.to_string(), it)).collect()
        }
        _ => return,
    };
    for (key, inner) in members {
        let at = format!("{at}/{key}");
        if inner.is_object() {
            found.push(at.clone());
        }
        tables_in(inner, &at, found);
    }
}

proptest! {
    #[test]
    fn any_handoff_comes_back_from_markdown(handoff in handoff()) {
        let text = handoff.to_markdown();
        prop_assert_eq!(read_md(&text), ParsedHandoff { handoff: Some(handoff), ..ParsedHandoff::default() }, "{}", text);
    }

    #[test]
    fn any_handoff_comes_back_from_json(handoff in handoff()) {
        let text = handoff.to_json();
        prop_assert_eq!(Format::detect(&text), Format::Json);
        prop_assert_eq!(read(&text, Format::Json), ParsedHandoff { handoff: Some(handoff), ..ParsedHandoff::default() });
    }

    #[test]
    fn any_handoff_comes_back_from_a_message(handoff in handoff()) {
        let text = handoff.to_message();
        prop_assert_eq!(Format::detect(&text), Format::A2a);
        prop_assert_eq!(read(&text, Format::A2a), ParsedHandoff { handoff: Some(handoff), ..ParsedHandoff::default() });
    }

    #[test]
    fn a_key_that_is_not_known_is_named(handoff in handoff(), at in any::<Index>(), key in "[a-z]{3,9}_x") {
        let mut json: Value = serde_json::from_str(&handoff.to_json()).unwrap();
        let mut tables = vec![String::new()];
        tables_in(&json, "", &mut tables);
        let table = at.get(&tables);
        json.pointer_mut(table).unwrap()[&key] = 1.into();
        let read = read(&json.to_string(), Format::Json);
        let field = table.split('/').skip(1).fold(String::new(), |path, part| match part.parse::<usize>() {
            Ok(index) => format!("{path}[{index}]"),
            Err(_) if path.is_empty() => part.to_owned(),
            Err(_) => format!("{path}.{part}"),
        });
        let field = if field.is_empty() { key } else { format!("{field}.{key}") };
        prop_assert_eq!(read.problems.iter().map(|problem| problem.field.as_str()).collect::<Vec<_>>(), [&field]);
        prop_assert_eq!(read.handoff, Some(handoff));
    }

    #[test]
    fn any_text_is_read(text in any::<String>(), marks in "[-#>*`:\" \n\t1.a]{0,60}") {
        for text in [&text, &marks] {
            for format in [Format::Markdown, Format::Json, Format::A2a] {
                let _ = read(text, format).all_problems();
            }
        }
    }
}
