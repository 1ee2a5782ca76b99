//! The reference of the JSON that gate prints, from its schemas.

use std::fmt::Write;
use std::fs;
use std::path::Path;

use serde_json::{Map, Value};

use super::Failure;

const HEAD: &str = "\
# JSON

`--json` makes a command print one object. If nothing was decided, it prints `gate.error.v1` instead. Fields are added, never
changed. `gate config schema NAME` prints a schema (`gate config schema decision`), and `schemas/` in gate's repository holds
all of them.

```sh
gate check --json out.log | jq -r '.verdict, .reasons[].message'
```

";

/// A page with a section for each schema but that of the settings, which have a page of their own.
pub(super) fn page(root: &Path) -> Result<String, Failure> {
    let mut files = Vec::new();
    for entry in fs::read_dir(root.join("schemas"))? {
        let file = entry?.path();
        if file.extension().is_some_and(|extension| extension == "json")
            && !file.ends_with("gate.config.v1.json")
        {
            files.push(file);
        }
    }
    files.sort();
    let mut page = HEAD.to_owned();
    for file in files {
        let schema: Value = serde_json::from_str(&fs::read_to_string(&file)?)?;
        let name = file.file_stem().unwrap_or_default().display();
        let _ = write!(page, "## {name}\n\n{}\n\n", described(&schema));
        fields(&schema, &mut page);
        for (name, definition) in members(&schema, "$defs") {
            let values = constants(definition);
            let listed = if values.is_empty() { values } else { format!(" One of {values}.") };
            let _ = write!(page, "**{name}**: {}{listed}\n\n", described(definition));
            fields(definition, &mut page);
        }
    }
    Ok(page)
}

fn members<'v>(value: &'v Value, key: &str) -> Vec<(&'v String, &'v Value)> {
    value.get(key).and_then(Value::as_object).map(Map::iter).into_iter().flatten().collect()
}

/// The description in one line, fit for a cell of a table.
fn described(value: &Value) -> String {
    let text = value.get("description").and_then(Value::as_str).unwrap_or_default();
    let words: Vec<_> = text.split_whitespace().collect();
    words.join(" ").replace('|', "\\|").replace('<', "&lt;")
}

fn fields(object: &Value, page: &mut String) {
    let fields = members(object, "properties");
    if fields.is_empty() {
        return;
    }
    page.push_str("| field | type | meaning |\n| --- | --- | --- |\n");
    for (name, field) in fields {
        let kinds = kinds(field).join(", ");
        let _ = writeln!(page, "| `{name}` | {kinds} | {} |", described(field));
    }
    page.push('\n');
}

/// The values of a definition that lists them, else nothing.
fn constants(definition: &Value) -> String {
    let kinds = kinds(definition);
    let all = kinds.iter().all(|kind| kind.starts_with('`'));
    if all { kinds.join(", ") } else { String::new() }
}

/// The types that a field may have.
fn kinds(field: &Value) -> Vec<String> {
    if let Some(name) = field.get("$ref").and_then(Value::as_str) {
        return vec![name.rsplit('/').next().unwrap_or_default().to_owned()];
    }
    for key in ["anyOf", "oneOf"] {
        if let Some(choices) = field.get(key).and_then(Value::as_array) {
            return choices.iter().flat_map(kinds).collect();
        }
    }
    if let Some(value) = field.get("const") {
        return vec![format!("`{value}`")];
    }
    if let Some(values) = field.get("enum").and_then(Value::as_array) {
        return values.iter().map(|value| format!("`{value}`")).collect();
    }
    let names = match field.get("type") {
        Some(Value::String(name)) => vec![name.clone()],
        Some(Value::Array(names)) => {
            names.iter().filter_map(Value::as_str).map(str::to_owned).collect()
        }
        _ => vec!["any".to_owned()],
    };
    let items = field.get("items").map(|items| kinds(items).join(", "));
    let named = names.into_iter().map(|name| match &items {
        Some(items) if name == "array" => format!("array of {items}"),
        _ => name,
    });
    named.collect()
}
