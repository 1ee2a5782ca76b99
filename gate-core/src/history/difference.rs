//! The first difference of two JSON values.

use serde_json::Value;

/// The first difference of two values, in the order of names and elements.
pub(super) struct Difference<'v> {
    /// A JSON pointer; empty for the whole.
    pub(super) pointer: String,
    /// The member of the first value; `None` if it is absent there.
    pub(super) recorded: Option<&'v Value>,
    /// The member of the second value; `None` if it is absent there.
    pub(super) expected: Option<&'v Value>,
}

impl<'v> Difference<'v> {
    /// The values as wholes if they are the same.
    pub(super) fn new(recorded: &'v Value, expected: &'v Value) -> Self {
        let mut difference =
            Self { pointer: String::new(), recorded: Some(recorded), expected: Some(expected) };
        while let (Some(recorded), Some(expected)) = (difference.recorded, difference.expected) {
            let Some(member) = first_member(recorded, expected) else { break };
            let step = member.name.replace('~', "~0").replace('/', "~1");
            let pointer = format!("{}/{step}", difference.pointer);
            let Member { recorded, expected, .. } = member;
            difference = Self { pointer, recorded, expected };
        }
        difference
    }
}

/// A member of two objects, or an element of two arrays.
struct Member<'v> {
    /// The member's name, or the element's index.
    name: String,
    recorded: Option<&'v Value>,
    expected: Option<&'v Value>,
}

impl Member<'_> {
    fn differs(&self) -> bool {
        self.recorded != self.expected
    }
}

/// The first member or element that differs; `None` if the values themselves do.
fn first_member<'v>(recorded: &'v Value, expected: &'v Value) -> Option<Member<'v>> {
    match (recorded, expected) {
        (Value::Object(recorded), Value::Object(expected)) => {
            let added = expected.keys().filter(|name| !recorded.contains_key(*name));
            let members = recorded.keys().chain(added).map(|name| Member {
                name: name.clone(),
                recorded: recorded.get(name),
                expected: expected.get(name),
            });
            members.into_iter().find(Member::differs)
        }
        (Value::Array(recorded), Value::Array(expected)) => {
            let elements = (0..recorded.len().max(expected.len())).map(|index| Member {
                name: index.to_string(),
                recorded: recorded.get(index),
                expected: expected.get(index),
            });
            elements.into_iter().find(Member::differs)
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn check(one: &Value, other: &Value, at: &str) {
        let found = Difference::new(one, other);
        assert_eq!(found.pointer, at);
        assert_ne!(found.recorded, found.expected);
    }

    #[test]
    fn the_first_difference_is_named_by_its_place() {
        check(&json!(1), &json!(2), "");
        check(&json!({"a": [1, {"b": 2}]}), &json!({"a": [1, {"b": 3}]}), "/a/1/b");
        check(&json!({"a": 1}), &json!({"a": 1, "b/c": null}), "/b~1c");
        check(&json!([1, 2]), &json!([1]), "/1");
        check(&json!({"a": {}}), &json!({"a": []}), "/a");
    }
}
