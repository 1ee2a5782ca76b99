//! Values of the types that clients write, and of those that they do not.

use super::*;

#[derive(serde::Deserialize)]
#[serde(default)]
#[derive(Default)]
struct Sample<'a> {
    #[serde(borrow)]
    text: Str<'a>,
    number: Num,
    flag: Flag,
    #[serde(borrow)]
    content: Content<'a, Leaves<'a>>,
}

#[test]
fn fields_of_other_types_read_as_absent() {
    let json = r#"{"text":{"a":[1]},"number":"7","flag":1,"content":7}"#;
    let sample: Sample<'_> = serde_json::from_str(json).unwrap();
    assert!(sample.text.is_empty() && sample.number.whole().is_none() && !sample.flag.0);
    assert!(matches!(sample.content, Content::Blocks(blocks) if blocks.is_empty()));
}

#[test]
fn plain_strings_are_borrowed() {
    let sample: Sample<'_> = serde_json::from_str(r#"{"text":"a","content":"b"}"#).unwrap();
    assert!(matches!(sample.text.0, Cow::Borrowed("a")));
    assert!(matches!(sample.content, Content::Text(Cow::Borrowed("b"))));
}

#[test]
fn leaves_of_any_depth_are_collected() {
    let json = r#"{"a":["x",{"b":"y"}],"c":1,"command":["git","status"]}"#;
    let leaves: Leaves<'_> = serde_json::from_str(json).unwrap();
    assert_eq!(leaves.texts, ["x", "y", "git", "status"]);
    assert_eq!(leaves.command.as_deref(), Some("git status"));
}

#[test]
fn members_are_found_by_their_keys() {
    let json = r#"{"a":["x","y"],"n":1,"b":{"a":"z"},"command":"make"}"#;
    let members: Members<'_> = read(json);
    assert_eq!(["a", "b", "n", "command"].map(|key| members.text(key)), ["x", "z", "", "make"]);
    assert_eq!(members.leaves.texts, ["x", "y", "z", "make"]);
    assert_eq!(members.leaves.command.as_deref(), Some("make"));
    assert_eq!(read::<Members<'_>>("\"x\"").leaves.texts, ["x"]);
}

fn read<'a, T: Deserialize<'a>>(json: &'a str) -> T {
    serde_json::from_str(json).unwrap()
}

#[test]
fn numbers_are_rounded_down_and_below_zero_are_no_counts() {
    for (json, whole, signed, micro) in [
        ("7", Some(7), Some(7), Some(7_000_000)),
        ("7.9", Some(7), Some(7), Some(7_900_000)),
        ("0.0000016", Some(0), Some(0), Some(2)),
        ("-2.5", None, Some(-2), None),
        ("1e300", Some(u64::MAX), Some(i64::MAX), Some(u64::MAX)),
        ("\"7\"", None, None, None),
        ("null", None, None, None),
        ("[7]", None, None, None),
    ] {
        let number: Num = read(json);
        assert_eq!((number.whole(), number.signed(), number.micro()), (whole, signed, micro));
    }
}

#[test]
fn a_sum_leaves_out_what_is_not_known_and_never_overflows() {
    let of = |all: &str| sum::<3>(read::<List<Num>>(all).0.try_into().unwrap());
    assert_eq!(of("[1, null, 2.9]"), Some(3));
    assert_eq!(of("[null, \"1\", -4]"), None);
    assert_eq!(of("[1e300, 1e300, 1]"), Some(u64::MAX));
}

#[test]
fn a_cause_is_a_text_or_the_message_of_an_object() {
    for (json, expected) in [
        (r#""no key""#, "no key"),
        (r#"{"type":"E","message":"no key","code":1}"#, "no key"),
        (r#"{"message":{"message":"no key"}}"#, ""),
        (r#"{"Message":"no key"}"#, ""),
        (r#"["no key"]"#, ""),
        ("true", ""),
    ] {
        assert_eq!(&*read::<Cause<'_>>(json), expected, "{json}");
    }
}

#[test]
fn a_flag_is_true_alone() {
    for (json, expected) in [("true", true), ("false", false), ("1", false), (r#""true""#, false)] {
        assert_eq!(read::<Flag>(json).0, expected, "{json}");
    }
}

#[test]
fn other_types_in_a_list_do_not_hide_what_is_beside_them() {
    let texts = |all: Vec<Leaves<'_>>| -> Vec<String> {
        all.into_iter().map(|leaves| leaves.texts.join("+")).collect()
    };
    let json = r#"[{"a":"x"},7,"y",null,["z"],{"b":"w"}]"#;
    let Content::Blocks(blocks) = read::<Content<'_, Leaves<'_>>>(json) else { panic!("a list") };
    assert_eq!(texts(blocks), ["x", "z", "w"]);
    let Either::List(objects) = read::<Either<Leaves<'_>, Leaves<'_>>>(json) else {
        panic!("a list")
    };
    assert_eq!(texts(objects), ["x", "w"]);
    let items: List<Object<Leaves<'_>>> = read(json);
    let objects = items.0.into_iter().filter_map(|item| item.0).collect();
    assert_eq!(texts(objects), ["x", "w"]);
    assert!(read::<List<Str<'_>>>("{}").0.is_empty());
}

#[test]
fn either_reads_an_object_in_its_own_way_and_nothing_else() {
    let Either::Object(object) = read::<Either<Num, Leaves<'_>>>(r#"{"a":"x"}"#) else {
        panic!("an object")
    };
    assert_eq!(object.texts, ["x"]);
    for other in ["7", r#""x""#, "null", "[]"] {
        let list = read::<Either<Leaves<'_>, Leaves<'_>>>(other);
        assert!(matches!(list, Either::List(list) if list.is_empty()), "{other}");
    }
}

#[test]
fn entries_are_those_that_are_objects_in_their_order() {
    let json = r#"{"b":{"x":"1"},"id":"c","a":{"x":"2"},"list":[{}],"b":{"x":"3"}}"#;
    let entries: Entries<'_, Leaves<'_>> = read(json);
    let told: Vec<_> =
        entries.0.iter().map(|(key, leaves)| format!("{key}={}", leaves.texts[0])).collect();
    assert_eq!(told, ["b=1", "a=2", "b=3"]);
    assert!(read::<Entries<'_, Leaves<'_>>>("[{}]").0.is_empty());
}

#[test]
fn the_first_command_of_a_value_is_its_command_line() {
    for (json, expected) in [
        (r#"{"cmd":"make","command":"lint"}"#, Some("lint")),
        (r#"{"a":{"command":"make"},"b":{"command":"lint"}}"#, Some("make")),
        (r#"{"command":[],"a":"x"}"#, None),
        (r#"{"command":7}"#, None),
        (r#"[{"cmd":["git","status"]}]"#, Some("git status")),
        (r#""make""#, None),
    ] {
        assert_eq!(read::<Leaves<'_>>(json).command.as_deref(), expected, "{json}");
    }
}

#[test]
fn escapes_are_read_and_odd_json_fails_as_a_whole() {
    assert_eq!(&*read::<Str<'_>>(r#""a\n\u00fc""#), "a\nü");
    for broken in ["{\"a\":}", "[1,,2]", "\"a", "[\"a\"}"] {
        assert!(serde_json::from_str::<Leaves<'_>>(broken).is_err(), "{broken}");
        assert!(serde_json::from_str::<Str<'_>>(broken).is_err(), "{broken}");
    }
}
