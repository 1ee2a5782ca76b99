//! Reads the names of tests and their folders from a project's settings of pytest.

use std::fs;
use std::path::Path;

use super::pytest::reads_style;

/// pytest's settings, or its defaults.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Settings {
    /// Folders that pytest searches if the command names none, relative to the settings' folder.
    pub(super) paths: Vec<String>,
    /// Patterns of names of files.
    files: Vec<String>,
    /// Beginnings or patterns of names of functions.
    functions: Vec<String>,
    /// A plug-in judges how files of tests are written.
    pub(super) reads_style: bool,
}

/// The files, and the table in each.
const FILES: [(&str, &str); 5] = [
    ("pytest.ini", "pytest"),
    (".pytest.ini", "pytest"),
    ("pyproject.toml", "tool.pytest.ini_options"),
    ("tox.ini", "pytest"),
    ("setup.cfg", "tool:pytest"),
];

impl Settings {
    /// The settings in the first file of a folder that has any.
    pub(super) fn in_folder(folder: &Path) -> Self {
        let settings = FILES.iter().find_map(|(name, table)| {
            let text = fs::read_to_string(folder.join(name)).ok()?;
            if name.ends_with(".toml") { parse_toml(&text, table) } else { parse_ini(&text, table) }
        });
        settings.unwrap_or_default()
    }

    /// The name of a file of tests that contains `id`.
    pub(super) fn file(&self, id: &str) -> String {
        let pattern =
            self.files.iter().find(|pattern| pattern.ends_with(".py") && is_simple(pattern));
        pattern.map_or_else(|| format!("test_{id}.py"), |pattern| pattern.replacen('*', id, 1))
    }

    /// The name of a test that contains `id`.
    pub(super) fn function(&self, id: &str) -> String {
        match self.functions.first() {
            Some(pattern) if is_simple(pattern) => pattern.replacen('*', id, 1),
            Some(prefix) if !prefix.contains(['*', '?', '[']) => format!("{prefix}_{id}"),
            _ => format!("test_{id}"),
        }
    }

    fn assign(&mut self, key: &str, words: Vec<String>) {
        match key {
            "testpaths" => self.paths = words,
            "python_files" => self.files = words,
            "python_functions" => self.functions = words,
            "addopts" => self.reads_style = words.iter().any(|word| reads_style(word)),
            _ => {}
        }
    }
}

/// A pattern with one star and no other sign.
fn is_simple(pattern: &str) -> bool {
    pattern.matches('*').count() == 1 && !pattern.contains(['?', '[', '/'])
}

fn parse_toml(text: &str, table: &str) -> Option<Settings> {
    let document: toml::Table = text.parse().ok()?;
    let mut keys = table.split('.');
    let top_table = document.get(keys.next()?)?;
    let entries = keys.try_fold(top_table, |table, key| table.get(key))?.as_table()?;
    let mut settings = Settings::default();
    for (key, value) in entries {
        let words = match value {
            toml::Value::Array(values) => {
                values.iter().filter_map(toml::Value::as_str).map(str::to_owned).collect()
            }
            value => words(value.as_str().unwrap_or_default()),
        };
        settings.assign(key, words);
    }
    Some(settings)
}

/// A value goes on in the lines below it that are indented.
fn parse_ini(text: &str, table: &str) -> Option<Settings> {
    let header = format!("[{table}]");
    let mut lines = text.lines().skip_while(|line| line.trim() != header);
    lines.next()?;
    let mut assignments: Vec<(String, String)> = Vec::new();
    for line in lines.take_while(|line| !line.starts_with('[')) {
        if line.starts_with([' ', '\t'])
            && let Some((_, value)) = assignments.last_mut()
        {
            value.push(' ');
            value.push_str(line);
        } else if let Some((key, value)) = line.split_once('=') {
            assignments.push((key.trim().to_owned(), value.to_owned()));
        }
    }
    let mut settings = Settings::default();
    for (key, value) in &assignments {
        settings.assign(key, words(value));
    }
    Some(settings)
}

fn words(text: &str) -> Vec<String> {
    text.split_whitespace().map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(file: &str, text: &str, paths: &[&str], named: &str, function: &str) {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join(file), text).unwrap();
        let settings = Settings::in_folder(folder.path());
        let parsed = (settings.paths.as_slice(), settings.file("x"), settings.function("x"));
        let paths: Vec<_> = paths.iter().map(|path| (*path).to_owned()).collect();
        assert_eq!(parsed, (paths.as_slice(), named.to_owned(), function.to_owned()), "{text}");
    }

    #[test]
    fn what_is_set() {
        let ini =
            "[pytest]\naddopts = -q\ntestpaths =\n    unit\n    whole\npython_files = check_*.py\n";
        check("pytest.ini", ini, &["unit", "whole"], "check_x.py", "test_x");
        let toml =
            "[tool.pytest.ini_options]\ntestpaths = [\"a\"]\npython_functions = \"check it_*\"\n";
        check("pyproject.toml", toml, &["a"], "test_x.py", "check_x");
        let cfg = "[metadata]\nname = a\n[tool:pytest]\npython_files = *_spec.py\n[other]\ntestpaths = b\n";
        check("setup.cfg", cfg, &[], "x_spec.py", "test_x");
        check("tox.ini", "[tox]\nenvlist = a\n", &[], "test_x.py", "test_x");
        check("pytest.ini", "[pytest]\npython_files = **/[a]*.py\n", &[], "test_x.py", "test_x");
    }
}
