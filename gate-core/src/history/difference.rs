//! The first difference of two JSON values.

use serde_json::{Map, Value};

/// The first difference of two values, in the order of names and items.
pub(super) struct Difference<'v> {
    /// A JSON pointer; empty for the whole.
    pub(super) at: String,
    /// The member in the first; `None` if it has none.
    pub(super) recorded: Option<&'v Value>,
    pub(super) expected: Option<&'v Value>,
}

impl<'v> Difference<'v> {
    /// The whole if there is none.
    pub(super) fn new(recorded: &'v Value, expected: &'v Value) -> Self {
        let mut at = String::new();
        let (mut recorded, mut expected) = (Some(recorded), Some(expected));
        while let (Some(one), Some(other)) = (recorded, expected) {
            let Some((step, one, other)) = below(one, other) else { break };
            at.push('/');
            at.push_str(&step.replace('~', "~0").replace('/', "~1"));
            (recorded, expected) = (one, other);
        }
        Self { at, recorded, expected }
    }
}

type Below<'v> = (String, Option<&'v Value>, Option<&'v Value>);

/// The first member or item that differs; none if the values themselves do.
fn below<'v>(one: &'v Value, other: &'v Value) -> Option<Below<'v>> {
    match (one, other) {
        (Value::Object(one), Value::Object(other)) => member(one, other),
        (Value::Array(one), Value::Array(other)) => (0..one.len().max(other.len()))
            .map(|index| (index.to_string(), one.get(index), other.get(index)))
            .find(|(_, one, other)| one != other),
        _ => None,
    }
}

fn member<'v>(one: &'v Map<String, Value>, other: &'v Map<String, Value>) -> Option<Below<'v>> {
    let added = other.keys().filter(|key| !one.contains_key(*key));
    one.keys()
        .chain(added)
        .map(|key| (key.clone(), one.get(key), other.get(key)))
        .find(|(_, one, other)| one != other)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn check(one: &Value, other: &Value, at: &str) {
        let found = Difference::new(one, other);
        assert_eq!(found.at, at);
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
