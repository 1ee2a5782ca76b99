//! The JSON Schema of a handoff, derived from its types.

use schemars::Schema;
use schemars::generate::SchemaSettings;
use schemars::transform::{RecursiveTransform, Transform};
use serde_json::Value;

use super::model::Handoff;

/// The JSON Schema (draft 2020-12) of a handoff that holds.
///
/// It has all rules but those that no schema can have: the forms of placeholders, and the most
/// bytes of a text. Whatever validates by the rules fits it.
pub fn schema() -> Value {
    let generator = SchemaSettings::draft2020_12().for_serialize().into_generator();
    let mut schema = generator.into_root_schema_for::<Handoff>();
    // A default stands for a missing field, and is no value that holds.
    let mut without_defaults =
        RecursiveTransform(|schema: &mut Schema| drop(schema.remove("default")));
    without_defaults.transform(&mut schema);
    schema.to_value()
}
