//! A canonical text of a settings file, for the operator's approval.

use serde_json::{Map, Value, json};

use super::layer::Layer;
use crate::ledger::Body;

impl Layer {
    /// All settings of its text, as canonical JSON (RFC 8785): every key and every value.
    /// Comments, layout and the order of keys are no part of it. `None` if the layer was not read
    /// from a text.
    pub fn spelled(&self) -> Option<String> {
        let table: toml::Table = toml::from_str(self.text()?).ok()?;
        let members = table.into_iter().map(|(key, value)| (key, exact(value)));
        let body = Body::new(&members.collect::<Map<_, _>>()).ok()?;
        Some(body.canonical())
    }
}

/// A value as JSON in which no two values look alike: canonical JSON holds
/// numbers in 53 bits, and a budget may be longer.
fn exact(value: toml::Value) -> Value {
    match value {
        toml::Value::String(text) => Value::String(text),
        toml::Value::Boolean(truth) => Value::Bool(truth),
        toml::Value::Array(values) => values.into_iter().map(exact).collect(),
        toml::Value::Table(table) => {
            Value::Object(table.into_iter().map(|(key, value)| (key, exact(value))).collect())
        }
        toml::Value::Integer(_) | toml::Value::Float(_) | toml::Value::Datetime(_) => {
            json!({ "exactly": value.to_string() })
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::config::{Layer, Origin};

    const TEXT: &str = "[checks.tests]\ncommand = [\"cargo\", \"test\"]\ntimeout = \"10m\"\n\
                        [budget]\ntokens = 9007199254740993\n";

    fn spelled(text: &str) -> String {
        Layer::parse(Origin::Project("gate.toml".into()), text).unwrap().spelled().unwrap()
    }

    #[test]
    fn comments_layout_and_order_are_no_part_of_it() {
        let other = "# a comment\nbudget.tokens = 9_007_199_254_740_993 # more\n\n\n\
                     [checks]\ntests = { timeout = '10m', command = [ 'cargo','test', ] }\n";
        assert_eq!(spelled(TEXT), spelled(other));
    }

    #[test]
    fn every_key_and_every_value_is_a_part_of_it() {
        let changes = [
            ("\"test\"", "\"tests\""),
            ("\"10m\"", "\"11m\""),
            ("9007199254740993", "9007199254740992"),
            ("[budget]", "hermetic = true\n[budget]"),
            ("checks.tests", "checks.other"),
            ("timeout = \"10m\"", ""),
        ];
        for (from, to) in changes {
            assert_ne!(spelled(TEXT), spelled(&TEXT.replace(from, to)), "{from} -> {to}");
        }
        assert_ne!(spelled(TEXT), spelled(""));
    }
}
