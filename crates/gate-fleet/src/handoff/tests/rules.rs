//! The rules of the extension for A2A, and texts that say nothing.

use super::super::placeholder::{answers_nothing, is_empty, is_none};
use super::super::*;
use super::{MARKDOWN, whole, wrong};

fn agent() -> Agent {
    Agent { agent_id: "a".to_owned(), provider: "p".to_owned(), model: "m".to_owned() }
}

/// What is told of a whole handoff with this extension.
fn told(change: impl FnOnce(&mut A2a)) -> Vec<String> {
    let mut a2a = A2a {
        protocol_version: PROTOCOL_VERSION.to_owned(),
        sender: agent(),
        receiver: agent(),
        interaction_id: "int-1".to_owned(),
        ..A2a::default()
    };
    change(&mut a2a);
    let handoff = Handoff { a2a: Some(a2a), ..whole() };
    let problems = handoff.problems();
    assert!(problems.iter().all(|problem| problem.rule.is_none()), "{problems:?}");
    problems.iter().map(ToString::to_string).collect()
}

#[test]
fn the_extension_names_two_agents_and_their_interaction() {
    assert_eq!(told(|_| ()), [""; 0]);
    assert_eq!(
        told(|a2a| a2a.protocol_version = "0.4".to_owned()),
        ["a2a.protocol_version: `0.4` does not say it: the string 0.3 is expected"]
    );
    assert_eq!(
        told(|a2a| a2a.protocol_version = String::new()),
        ["a2a.protocol_version: is empty: the string 0.3 is expected"]
    );
    assert_eq!(
        told(|a2a| a2a.receiver = Agent::default()),
        ["a2a.receiver: is missing: agent_id, provider and model are expected"]
    );
    assert_eq!(
        told(|a2a| {
            a2a.sender.model = "...".to_owned();
            a2a.sender.provider = " ".to_owned();
        }),
        [
            "a2a.sender.provider: is empty: name who runs its model",
            "a2a.sender.model: `...` does not say it: name its model",
        ]
    );
    assert_eq!(
        told(|a2a| a2a.interaction_id = "<interaction_id>".to_owned()),
        ["a2a.interaction_id: `<interaction_id>` does not say it: name the interaction"]
    );
}

#[test]
fn what_the_extension_may_leave_out_it_may_not_leave_empty() {
    for (field, set) in [
        ("checkpoint_id", (|a2a, text| a2a.checkpoint_id = text) as fn(&mut A2a, Option<String>)),
        ("agent_card_ref", |a2a, text| a2a.agent_card_ref = text),
        ("handoff_reason", |a2a, text| a2a.handoff_reason = text),
    ] {
        assert_eq!(told(|a2a| set(a2a, Some("x".to_owned()))), [""; 0]);
        let expected = format!("a2a.{field}: `tbd` does not say it: say it, or leave it out");
        assert_eq!(told(|a2a| set(a2a, Some("tbd".to_owned()))), [expected]);
        let expected = format!("a2a.{field}: is empty: say it, or leave it out");
        assert_eq!(told(|a2a| set(a2a, Some(String::new()))), [expected]);
    }
    let texts = |texts: &[&str]| Some(texts.iter().map(|text| (*text).to_owned()).collect());
    assert_eq!(told(|a2a| a2a.capabilities_declared = texts(&[])), [""; 0]);
    assert_eq!(
        told(|a2a| a2a.capabilities_required = texts(&["rust", ""])),
        ["a2a.capabilities_required[1]: is empty: name the capability"]
    );
}

#[test]
fn a_word_of_the_template_is_empty_in_its_own_place_alone() {
    let with = |from: &str, to: &str| wrong(&MARKDOWN.replace(from, to));
    assert_eq!(with("- src/importer.rs", "- /abs/or/repo/path"), ["changed_files[0]"]);
    assert_eq!(with("Old archives are untested", "risk"), ["open_risks[0].risk"]);
    assert_eq!(with("Some may not load", " impact "), ["open_risks[0].impact"]);
    assert_eq!(with(", qa", ", owner"), ["open_risks[0].owner"]);
    assert_eq!(with("Some may not load", "owner"), [""; 0]);
    assert_eq!(with("The importer", "command"), [""; 0]);
}

#[test]
fn texts_that_are_still_to_come_say_nothing() {
    for text in [
        "",
        " \n",
        "...",
        "…",
        "-",
        "—",
        "?",
        "tbd",
        "TBA",
        "`xxx`",
        "**tbd**",
        "\"tbd\"",
        "<objective>",
        "{objective}",
        "<what comes next>",
    ] {
        assert!(is_empty(text), "{text:?}");
    }
    for text in
        ["0", "_ _", "tbd.", "<https://a.b>", "<a@b.c>", "<a> and <b>", "{\"a\": 1}", "none"]
    {
        assert!(!is_empty(text), "{text:?}");
    }
}

#[test]
fn words_for_nothing_are_no_answer() {
    for text in ["none", "N/A", " `not run` ", "Nobody", "skipped", "..."] {
        assert!(is_none(text), "{text:?}");
    }
    for text in ["none yet", "nobody knows", "not run on Windows", "me"] {
        assert!(!is_none(text), "{text:?}");
    }
}

#[test]
fn a_field_that_could_not_be_read_is_not_missed_and_those_beside_it_are() {
    let fields = |text: &str| {
        let problems = read(text, Format::Json).all_problems();
        problems.into_iter().map(|problem| problem.field).collect::<Vec<_>>()
    };
    let json = whole().to_json();
    let with = |from: &str, to: &str| {
        assert!(json.contains(from), "{json}");
        fields(&json.replace(from, to))
    };
    assert_eq!(with("\"qa\"", "7"), ["open_risks[0].owner"]);
    assert_eq!(with("\"The importer\"", "null"), ["in_scope[0]"]);
    assert_eq!(
        with("\"severity\": \"low\"", "\"severity\": []"),
        ["verification[1].blocker.severity"]
    );
    let risks = r#"{"open_risks":"none"}"#;
    let told = fields(risks);
    assert_eq!(told.iter().filter(|field| field.starts_with("open_risks")).count(), 1, "{told:?}");
    let told = fields(r#"{"objectives":"a"}"#);
    assert_eq!(told[..2], ["objectives", "objective"], "a slip does not stand for the key");
}

#[test]
fn json_that_is_no_object_is_told_for_what_it_is() {
    let told = |text: &str, format| {
        let problems = read(text, format).problems;
        problems.iter().map(ToString::to_string).collect::<Vec<_>>().join("; ")
    };
    for format in [Format::Json, Format::A2a] {
        assert_eq!(told(" \n", format), "it is empty: a JSON object is expected");
        assert_eq!(told("\u{feff}", format), "it is empty: a JSON object is expected");
        assert_eq!(told("[]", format), "an object is expected, and this is a list");
        assert_eq!(told("true", format), "an object is expected, and this is true or false");
        assert_eq!(
            told("\n\n{", format),
            "no JSON: EOF while parsing an object at line 3 column 1"
        );
    }
    let marked = format!("\u{feff}{}", whole().to_json());
    assert_eq!(Format::detect(&marked), Format::Json);
    assert_eq!(
        read(&marked, Format::Json),
        ParsedHandoff { handoff: Some(whole()), ..ParsedHandoff::default() }
    );
}

#[test]
fn a_message_has_one_data_part_among_parts_that_are_known() {
    let parts = |parts: &str| {
        let message =
            format!(r#"{{"kind":"message","messageId":"1","role":"agent","parts":{parts}}}"#);
        let read = read(&message, Format::A2a);
        (read.problems.iter().map(ToString::to_string).collect::<Vec<_>>().join("; "), read.handoff)
    };
    for (text, expected) in [
        ("{}", "parts: a list of parts is expected"),
        ("[]", "parts: one data part is expected, and there is none"),
        ("[7]", "parts[0]: an object is expected"),
        (r#"[{"kind":"image"}]"#, "parts[0].kind: text, file or data is expected"),
        (r#"[{"kind":"text"},{"kind":"data"}]"#, "parts[1].data: a handoff is expected"),
        (
            r#"[{"kind":"data","data":{},"kind":"data","data":[]}]"#,
            "parts[0].kind: this key stands here twice; \
             parts[0].data: this key stands here twice",
        ),
    ] {
        let (told, handoff) = parts(text);
        assert_eq!(told, expected, "{text}");
        assert_eq!(handoff.is_some(), text.contains("\"data\":{}"), "{text}");
    }
}

#[test]
fn commands_are_typed_as_a_shell_reads_them() {
    let argv = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>();
    for (words, expected) in [
        (&["make", "test"][..], "make test"),
        (&["grep", "a b", "it's"], "grep 'a b' \"it's\""),
        (&["bash", "-euo", "pipefail", "-c", "cd a && make"], "cd a && make"),
        (&["/bin/sh", "-lc", "make"], "make"),
        (&["bash", "make.sh"], "bash make.sh"),
        (&["fish", "-c", "make"], "fish -c make"),
        (&["bash", "-c"], "bash -c"),
        (&[""], "''"),
        (&["a\0b", "c"], "a\0b c"),
    ] {
        assert_eq!(line(&argv(words)), expected);
    }
    assert_eq!(words("a 'b c' && d"), Some(argv(&["a", "b c", "&&", "d"])));
    assert_eq!(words("a 'b"), None);
}

#[test]
fn that_no_risk_is_open_is_an_answer() {
    let risks = "  - Old archives are untested, some may not load, qa\n";
    let with = |value: &str| {
        let start = MARKDOWN.find("- open_risks:").unwrap();
        let end = start + MARKDOWN[start..].find("- next_actions").unwrap();
        wrong(&format!("{}- open_risks:{value}\n{}", &MARKDOWN[..start], &MARKDOWN[end..]))
    };
    assert_eq!(with(&format!("\n{risks}")), [""; 0]);
    for none in [
        " none",
        " None.",
        "\n  - none",
        " n/a",
        " N/A.",
        " `none`",
        "\n  - No open risks.",
        " nothing",
        " not applicable",
        " none known",
        "\n  - risk: none\n    - impact: n/a\n    - owner: nobody",
    ] {
        assert_eq!(with(none), [""; 0], "{none:?}");
    }
    // What names a risk, or says nothing, needs the rest as before.
    for text in [" none of the old archives load", " tbd", " unknown", " not run", " no tests"] {
        assert!(!with(text).is_empty(), "{text:?}");
    }
    assert_eq!(
        with(&format!("\n  - none\n{risks}")),
        ["open_risks[0].impact", "open_risks[0].owner"]
    );
    for text in ["nobody", "no one", "skipped", "no tests ran"] {
        assert!(!answers_nothing(text), "{text:?}");
    }
}
