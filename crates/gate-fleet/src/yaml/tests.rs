//! What is written is read again as it was.

use proptest::prelude::*;

use super::style::spelled;
use super::*;

#[test]
fn scalars_are_spelled_as_yaml_v3_spells_them() {
    let all = [
        ("", "\"\""),
        ("plain words", "plain words"),
        ("2", "\"2\""),
        ("20260220-1530450000-4121-1", "20260220-1530450000-4121-1"),
        ("2026-02-20T15:30:45.1Z", "\"2026-02-20T15:30:45.1Z\""),
        ("we ird: type", "'we ird: type'"),
        ("it's", "it's"),
        ("'it's'", "'''it''s'''"),
        ("yes", "\"yes\""),
        ("null", "\"null\""),
        ("12:30", "\"12:30\""),
        ("1.5e3", "\"1.5e3\""),
        ("0x1f", "\"0x1f\""),
        ("a #b", "'a #b'"),
        ("a#b:c", "a#b:c"),
        ("- a", "'- a'"),
        ("--flag", "--flag"),
        ("---", "'---'"),
        ("two\nlines", "\"two\\nlines\""),
        ("tab\there", "\"tab\\there\""),
        ("\u{1f600}", "\"\\U0001F600\""),
        ("café", "café"),
        (" lead", "' lead'"),
        ("trail ", "'trail '"),
    ];
    for (text, right) in all {
        assert_eq!(spelled(text, true), right, "{text:?}");
    }
    assert_eq!(spelled("7", false), "7");
    assert_eq!(spelled("2026-02-20T15:30:45.1Z", false), "2026-02-20T15:30:45.1Z");
}

#[test]
fn blocks_are_indented_by_four() {
    let pair = |key: &str, value: &str| Entry::new(key, Node::text(value));
    let inner = Node::Map(vec![pair("k", "v")]);
    let parent = Node::Map(vec![pair("msg_id", "a"), Entry::new("meta", inner.clone())]);
    let all = vec![
        Entry::new("parents", Node::List(vec![parent, Node::text("b")])),
        Entry::new("meta", inner),
        Entry::new("none", Node::List(Vec::new())),
    ];
    assert_eq!(
        text(all),
        "parents:\n    - msg_id: a\n      meta:\n        k: v\n    - b\nmeta:\n    k: v\nnone: []\n"
    );
}

#[test]
fn any_yaml_is_read() {
    let read = mapping("# c\na: [x, 'y']\nb: {k: 1}\nc: |\n  two\n  lines\nd: ~\n").unwrap();
    let of = |key: &str| &read.iter().find(|read| read.key == key).unwrap().value;
    assert!(matches!(of("a"), Node::List(items) if items.len() == 2));
    assert!(matches!(of("b"), Node::Map(entries) if entries[0].value == Node::plain("1")));
    assert_eq!(of("c").as_str(), Some("two\nlines\n"));
    assert_eq!(of("d").as_str(), Some(""));
    assert_eq!(read.iter().map(|read| read.line).collect::<Vec<_>>(), [2, 3, 4, 7]);
    assert_eq!(mapping(""), Ok(Vec::new()));
}

#[test]
fn what_is_no_mapping_is_told_with_its_line() {
    let wrong = [
        ("just words", "line 1: a mapping of keys to values is expected"),
        ("a: 1\na: 2\n", "line 2: a is there twice"),
        ("a: &x 1\nb: *x\n", "line 2: an alias, which is not read here"),
        ("---\na: 1\n---\nb: 2\n", "line 4: a second document"),
    ];
    for (text, right) in wrong {
        assert_eq!(mapping(text).unwrap_err().to_string(), right, "{text}");
    }
    assert!(mapping("a: [1").is_err());
    assert!(mapping(&format!("a: {}", "[".repeat(5000))).is_err());
    assert!(mapping(&"- ".repeat(100_000)).is_err());
    let many = |count: u32| (0..count).map(|it| format!("k{it}: 1\n")).collect::<String>();
    assert!(mapping(&many(1000)).is_ok() && mapping(&many(1001)).is_err());
    assert!(mapping(&format!("a: {}", "x".repeat(256 << 10))).is_err());
}

proptest! {
    #[test]
    fn text_comes_back(key in "[a-z_]{1,8}", value in any::<String>(), other in "[ -~]{0,12}") {
        let meta = Node::Map(vec![Entry::new("m", Node::text(other.clone()))]);
        let all = vec![Entry::new(key.clone(), Node::text(value.clone())), Entry::new("0list", Node::List(vec![meta]))];
        let read = mapping(&text(all)).unwrap();
        prop_assert_eq!(&read[0].key, &key);
        prop_assert_eq!(read[0].value.as_str(), Some(value.as_str()));
        let Node::List(items) = &read[1].value else { panic!("a list") };
        let Node::Map(entries) = &items[0] else { panic!("a map") };
        prop_assert_eq!(entries[0].value.as_str(), Some(other.as_str()));
    }

    #[test]
    fn nothing_panics(text in any::<String>(), odd in "[-:\\[\\]{}&*!|>'\"%@` \n#a1?,]{0,40}") {
        let _ = mapping(&text);
        let _ = mapping(&odd);
    }
}
