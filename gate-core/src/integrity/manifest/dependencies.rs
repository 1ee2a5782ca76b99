//! The names of the dependencies that a project in Python declares.

use serde_json::Value;

/// The names of the dependencies that a file declares: `pyproject.toml`, or a list
/// of requirements.
pub fn python_dependencies(path: &str, text: &str) -> Vec<String> {
    let name = path.rsplit('/').next().unwrap_or(path);
    if name == "pyproject.toml" {
        return declared(text).unwrap_or_default();
    }
    if name.starts_with("requirements") && name.ends_with(".txt") {
        return text.lines().filter_map(requirement).collect();
    }
    Vec::new()
}

fn declared(text: &str) -> Option<Vec<String>> {
    let table: toml::Table = toml::from_str(text).ok()?;
    let table = serde_json::to_value(table).ok()?;
    let groups = [&table["project"]["optional-dependencies"], &table["dependency-groups"]];
    let groups = groups.into_iter().filter_map(Value::as_object).flat_map(|groups| groups.values());
    let lists = [&table["project"]["dependencies"]].into_iter().chain(groups);
    let lines = lists.filter_map(Value::as_array).flatten().filter_map(Value::as_str);
    let poetry = table["tool"]["poetry"]["dependencies"].as_object();
    let poetry = poetry.into_iter().flatten().map(|(name, _)| normal(name));
    Some(lines.filter_map(requirement).chain(poetry).collect())
}

/// The name in a line of requirements, as a module would be called.
fn requirement(line: &str) -> Option<String> {
    let line = line.trim();
    let name: String =
        line.chars().take_while(|c| c.is_alphanumeric() || matches!(c, '-' | '_' | '.')).collect();
    (!name.is_empty() && !line.starts_with(['-', '.', '#'])).then(|| normal(&name))
}

fn normal(name: &str) -> String {
    name.to_ascii_lowercase().replace(['-', '.'], "_")
}
