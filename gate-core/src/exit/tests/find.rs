//! Which parts of a text may be signals.

use super::*;

fn found(text: &str) -> Vec<&str> {
    find(text).into_iter().map(|place| &text[place]).collect()
}

#[test]
fn the_outermost_value_is_found() {
    assert_eq!(found(&format!("a {VALID} b")), [VALID]);
    assert_eq!(found(&format!("{VALID}\n{VALID}")), [VALID, VALID]);
    let outer = format!("{{\"a\": [{VALID}]}}");
    assert_eq!(found(&outer), [&*outer]);
    let array = format!("[ {VALID} ]");
    assert_eq!(found(&array), [&*array]);
    assert_eq!(found("{\"a\": 1} apm2_agent_exit {\"b\": 2}"), [""; 0]);
    assert_eq!(found("nothing"), [""; 0]);
}

#[test]
fn what_cannot_be_read_is_found_up_to_the_end_of_its_line() {
    let mention = "I will emit {\"protocol\":\"apm2_agent_exit\", ...} at the end\nx";
    assert_eq!(found(mention), ["{\"protocol\":\"apm2_agent_exit\", ...} at the end"]);
    assert_eq!(found("{protocol: 'apm2_agent_exit'}"), ["{protocol: 'apm2_agent_exit'}"]);
    let torn = &VALID[..VALID.len() - 9];
    assert_eq!(found(torn), [torn]);
    let after = format!("{{\"open\": \n{{ braces }} [\"x\n{VALID}");
    assert_eq!(found(&after).last(), Some(&VALID));
}

#[test]
fn a_hostile_text_is_gone_over_once() {
    let end = "\nx apm2_agent_exit";
    for part in ["{\"a\":", "[[", "{\"a\":[{\"b\":", "[{\"", "{\"a\" {", "{\"é\":", "{\n\"", "[\n"]
    {
        let text = part.repeat((256 << 10) / part.len()) + "?" + end;
        // Quadratic time would be minutes for each.
        assert!(found(&text).len() <= 1, "{part}");
    }
}
