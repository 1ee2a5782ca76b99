//! Additions and removals leave the rest of a file as it is.

use serde_json::json;

use super::*;

/// Adds a member `"new"` at the end of the document's object.
#[track_caller]
fn check_added(text: &str, expected: &str) {
    let root = parse(text).unwrap().unwrap();
    let layout = Layout::new(text, Some(&root));
    assert_eq!(added(text, &layout, &root, Some("new"), &json!([1])), expected);
}

/// Takes the part at this index away from the document's object or array.
#[track_caller]
fn check_removed(text: &str, index: usize, expected: &str) {
    let root = parse(text).unwrap().unwrap();
    assert_eq!(removed(text, &root, index), expected);
}

#[test]
fn what_is_added_looks_like_the_rest() {
    check_added("{}", "{\n  \"new\": [\n    1\n  ]\n}");
    check_added("{\n}\n", "{\n  \"new\": [\n    1\n  ]\n}\n");
    check_added("{\r\n}", "{\r\n  \"new\": [\r\n    1\r\n  ]\r\n}");
    check_added("{\"a\":1}", "{\"a\":1,\"new\":[1]}");
    check_added("{ \"a\": 1 }\n", "{ \"a\": 1, \"new\": [1] }\n");
    check_added("{\n\t\"a\": 1\n}\n", "{\n\t\"a\": 1,\n\t\"new\": [\n\t\t1\n\t]\n}\n");
    check_added("{\n    \"a\": 1}", "{\n    \"a\": 1,\n    \"new\": [\n        1\n    ]}");
}

#[test]
fn comments_stay_beside_what_they_are_about() {
    check_added("{\n  \"a\": 1 // one\n}", "{\n  \"a\": 1, // one\n  \"new\": [\n    1\n  ]\n}");
    check_added("{\n  \"a\": 1, // one\n}", "{\n  \"a\": 1, // one\n  \"new\": [\n    1\n  ],\n}");
    check_added(
        "{\n  \"a\": 1\n  // the end\n}",
        "{\n  \"a\": 1,\n  \"new\": [\n    1\n  ]\n  // the end\n}",
    );
    check_added("{ // begin\n}", "{ // begin\n  \"new\": [\n    1\n  ]\n}");
    check_added("{/* x */}", "{/* x */\n  \"new\": [\n    1\n  ]\n}");
    check_added("{\"a\":1/* x */}", "{\"a\":1,/* x */\"new\":[1]}");
    check_added(
        "{\n  \"a\": 1 // one\n  ,\n}",
        "{\n  \"a\": 1 // one\n  ,\n  \"new\": [\n    1\n  ],\n}",
    );
}

#[test]
fn what_is_removed_takes_its_comma_along() {
    check_removed("[1, 2, 3]", 0, "[ 2, 3]");
    check_removed("[1, 2, 3]", 1, "[1, 3]");
    check_removed("[1, 2, 3]", 2, "[1, 2]");
    check_removed("[1,]", 0, "[]");
    check_removed("[ 1 ]", 0, "[]");
    check_removed("{\n  \"a\": 1,\n  \"b\": 2\n}", 1, "{\n  \"a\": 1\n}");
    check_removed("{\n  \"a\": 1,\n  \"b\": 2,\n}", 1, "{\n  \"a\": 1,\n}");
    check_removed("{\n  \"a\": 1, // one\n  \"b\": 2\n}", 1, "{\n  \"a\": 1 // one\n\n}");
    check_removed("{\n  // all\n  \"b\": 2\n}", 0, "{\n  // all\n\n}");
}

#[test]
fn text_that_is_no_json_is_reported_with_its_line() {
    let flaw = |text: &str| parse(text).unwrap_err();
    assert_eq!(flaw("{\n  \"a\": 1\n  \"b\": 2\n}").line, 2);
    assert_eq!(flaw("{\n\n  a: 1}").line, 3);
    assert!(!flaw("{\"a\": }").message.is_empty());
    for text in ["{", "[1", "{'a': 1}", "{\"a\": 0x1}", "{\"a\": NaN}", "{} {}", "\"\n"] {
        parse(text).unwrap_err();
    }
    assert!(parse(" // nothing\n").unwrap().is_none());
}

#[test]
fn of_members_with_one_name_the_last_holds() {
    let root = parse(r#"{"a": 1, "a": 2, "b": [true, null, "x\n", -1.5e3]}"#).unwrap().unwrap();
    assert_eq!(root.get("a").unwrap().value(), json!(2));
    assert_eq!(root.value(), json!({"a": 2, "b": [true, null, "x\n", -1500.0]}));
}
