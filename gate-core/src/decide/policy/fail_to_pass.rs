//! The setting `fail_to_pass` of a check.

use std::borrow::Cow;
use std::fmt;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{Deserializer, Error, Visitor};
use serde::{Deserialize, Serialize, Serializer};

/// The demand that new tests need the work: that one of them fails over what the sources were in
/// the baseline.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum FailToPass {
    /// `false`: it is not tried.
    Off,
    /// `"auto"`: it is tried where a run of the new tests' files alone tells. If none needs the
    /// work, the agent is asked for one once a run.
    #[default]
    Auto,
    /// `true`: the check fails if no new test needs the work.
    Required,
}

/// The word that stands beside `true` and `false`.
const AUTO: &str = "auto";

impl FailToPass {
    /// True if it is not tried.
    pub fn is_off(self) -> bool {
        self == Self::Off
    }

    /// Policies that were recorded before this setting existed have the digest of those that leave
    /// it out.
    #[allow(clippy::trivially_copy_pass_by_ref, reason = "serde's form")]
    pub(super) fn is_default(&self) -> bool {
        *self == Self::default()
    }
}

impl From<bool> for FailToPass {
    fn from(required: bool) -> Self {
        if required { Self::Required } else { Self::Off }
    }
}

impl Serialize for FailToPass {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Off => serializer.serialize_bool(false),
            Self::Auto => serializer.serialize_str(AUTO),
            Self::Required => serializer.serialize_bool(true),
        }
    }
}

impl<'de> Deserialize<'de> for FailToPass {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(FailToPassVisitor)
    }
}

struct FailToPassVisitor;

impl Visitor<'_> for FailToPassVisitor {
    type Value = FailToPass;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("true, false or \"auto\"")
    }

    fn visit_bool<E: Error>(self, required: bool) -> Result<FailToPass, E> {
        Ok(required.into())
    }

    fn visit_str<E: Error>(self, word: &str) -> Result<FailToPass, E> {
        if word == AUTO {
            return Ok(FailToPass::Auto);
        }
        Err(E::invalid_value(serde::de::Unexpected::Str(word), &self))
    }
}

impl JsonSchema for FailToPass {
    fn schema_name() -> Cow<'static, str> {
        "FailToPass".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "enum": [true, false, AUTO] })
    }

    fn inline_schema() -> bool {
        true
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{from_value, json, to_value};

    use super::*;

    #[test]
    fn it_is_written_as_it_is_read() {
        for (written, read) in [
            (json!(true), FailToPass::Required),
            (json!(false), FailToPass::Off),
            (json!("auto"), FailToPass::Auto),
        ] {
            assert_eq!(from_value::<FailToPass>(written.clone()).unwrap(), read);
            assert_eq!(to_value(read).unwrap(), written);
        }
        for wrong in [json!("Auto"), json!(1), json!(null)] {
            let error = from_value::<FailToPass>(wrong).unwrap_err().to_string();
            assert!(error.contains("true, false or \"auto\""), "{error}");
        }
    }

    #[test]
    fn only_false_switches_it_off() {
        assert!(FailToPass::Off.is_off());
        assert!(!FailToPass::Auto.is_off() && !FailToPass::Required.is_off());
    }

    #[test]
    fn its_schema_stands_where_it_is_used() {
        let values = json!({ "enum": [true, false, "auto"] });
        let mut generator = SchemaGenerator::default();
        assert_eq!(generator.subschema_for::<FailToPass>().to_value(), values);
        let title = generator.into_root_schema_for::<FailToPass>().to_value()["title"].clone();
        assert_eq!(title, "FailToPass");
    }
}
