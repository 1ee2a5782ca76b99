//! Places in what runners print: `file:line` and the frames of tracebacks.

use std::path::Path;
use std::sync::LazyLock;

use regex::Regex;

/// A line in a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Place {
    pub(super) file: String,
    /// From 1.
    pub(super) line: u64,
}

/// A frame of a stack.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Frame {
    /// In a file of the project.
    Project(Place),
    /// In a library or the runner, or without a place.
    Foreign,
}

/// Parts of the paths of what is installed or generated.
const FOREIGN_PATHS: &[&str] =
    &["node_modules/", "site-packages/", "dist-packages/", "rustdoctest"];

/// The beginnings of Java's frames that are not the project's.
const FOREIGN_PACKAGES: &[&str] = &[
    "java.",
    "javax.",
    "jdk.",
    "sun.",
    "com.sun.",
    "kotlin.",
    "kotlinx.",
    "org.junit.",
    "junit.",
    "org.opentest4j.",
    "org.testng.",
    "org.assertj.",
    "org.hamcrest.",
    "org.mockito.",
    "org.gradle.",
    "worker.org.gradle.",
    "org.apache.maven.",
];

// Tests ensure that all are regular expressions.
static PLACE: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r#"([^\s:"'`()<>\[\]]+\.[A-Za-z][A-Za-z0-9]{0,5}):([1-9][0-9]*)(?-u:\b)"#).ok()
});
static SHELL: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r"(?:file|at) ([^\s,()]+), line ([1-9][0-9]*)").ok());
static PYTHON: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r#"^(?:E +)?\s*File "([^"]+)", line ([1-9][0-9]*)"#).ok());

impl Place {
    /// The file belongs to the project: it is neither installed nor generated.
    pub(super) fn is_in_project(&self) -> bool {
        let is_outside = self.file.starts_with(['/', '<']) || self.file.starts_with("../");
        !is_outside && !FOREIGN_PATHS.iter().any(|part| self.file.contains(part))
    }

    /// A tool made the file up, and has removed it again.
    pub(super) fn is_generated(&self) -> bool {
        self.file.contains("rustdoctest")
    }
}

/// The first place in a text.
pub(super) fn first_place(text: &str) -> Option<Place> {
    first_match(&PLACE, text).map(|found| found.place)
}

/// The place in a line of bats: `(in test file a.bats, line 3)`.
pub(super) fn bats_place(line: &str) -> Option<Place> {
    if !line.starts_with('(') {
        return None;
    }
    first_match(&SHELL, line).map(|found| found.place)
}

/// The first place in a text that is a file in this folder.
pub(super) fn existing_place(text: &str, cwd: &Path) -> Option<Place> {
    let places = text.lines().filter_map(first_place).filter(Place::is_in_project);
    places.into_iter().find(|place| cwd.join(&place.file).is_file())
}

/// The place at the beginning of a line, behind a mark or without one: `a_test.go:9: …`,
/// `--> src/lib.rs:1:2`.
pub(super) fn leading_place(line: &str) -> Option<Place> {
    let text = line.trim_start();
    let location = text.strip_prefix("--> ").unwrap_or(text);
    let PlaceMatch { place, start: 0 } = first_match(&PLACE, location)? else { return None };
    // A host and its port stand in a sentence: `db.local:5432 refused the connection`.
    let behind = &location[format!("{}:{}", place.file, place.line).len()..];
    (place.file.contains('/') || behind.is_empty() || behind.starts_with(':')).then_some(place)
}

/// From `panicked at` on, without the thread, whose number is another in each run.
pub(super) fn panic_text(text: &str) -> Option<&str> {
    let is_panic = text.starts_with("thread '") || text.starts_with("panicked at ");
    if is_panic { text.find("panicked at ").map(|at| &text[at..]) } else { None }
}

/// A frame of JavaScript or Java: `    at name (file:1:2)`, ` ❯ name file:1:2`.
pub(super) fn call_frame(line: &str) -> Option<Frame> {
    if !line.starts_with([' ', '\t']) {
        return None;
    }
    let text = line.trim_start();
    let frame = text.strip_prefix("at ").or_else(|| text.strip_prefix("❯ "))?;
    let place = first_place(frame);
    if place.is_none() && !frame.ends_with(')') && !frame.contains("node:") {
        return None;
    }
    // Java names a file without its folder: the package shows if it is the project's. A module may
    // stand before it: `java.base/java.util.List.of`.
    let class = frame.rsplit_once('/').map_or(frame, |(_, class)| class);
    let is_foreign = frame.contains("node:")
        || FOREIGN_PACKAGES
            .iter()
            .any(|package| frame.starts_with(package) || class.starts_with(package));
    Some(match place {
        Some(place) if place.is_in_project() && !is_foreign => Frame::Project(place),
        _ => Frame::Foreign,
    })
}

/// A frame of Python's traceback, or of pytest's: `a.py:3: in test_a`.
pub(super) fn python_frame(line: &str) -> Option<Place> {
    if let Some(found) = first_match(&PYTHON, line) {
        return Some(found.place);
    }
    let is_frozen = line.starts_with("<frozen ");
    let place = if is_frozen { frozen_frame(line) } else { leading_place(line) }?;
    let is_python = is_frozen || place.file.ends_with(".py");
    (is_python && !line.starts_with([' ', 'E', '>'])).then_some(place)
}

/// The line that an excerpt of a source marks: `> 2 | …`.
pub(super) fn marked_line(message: &str) -> Option<u64> {
    let mut lines = message.lines().filter_map(|line| line.trim_start().strip_prefix("> "));
    lines.find_map(|line| line.split_once(" |")?.0.trim().parse().ok())
}

/// The path of a file that go names without its package's folder.
pub(super) fn path_in_package(file: &str, test: Option<&str>, cwd: &Path) -> Option<String> {
    if !file.ends_with(".go") || file.contains('/') {
        return None;
    }
    let test = test?;
    let package_end =
        [".Test", ".Example", ".Fuzz"].iter().filter_map(|prefix| test.find(prefix)).min()?;
    let package: Vec<_> = test[..package_end].split('/').collect();
    // The package's path begins with the module's name, which is no folder: the longest end of it
    // that leads to the file is the folder.
    let folders = (0..package.len()).map(|start| package[start..].join("/"));
    folders.map(|folder| format!("{folder}/{file}")).find(|path| cwd.join(path).is_file())
}

/// A frame in the interpreter's own modules: `<frozen importlib._bootstrap>:1204: in …`.
fn frozen_frame(line: &str) -> Option<Place> {
    let (file, position) = line.split_once(">:")?;
    let digits: String = position.chars().take_while(char::is_ascii_digit).collect();
    Some(Place { file: file.to_owned(), line: digits.parse().ok()? })
}

/// A place in a text.
struct PlaceMatch {
    place: Place,
    /// The byte at which the match begins.
    start: usize,
}

fn first_match(regex: &LazyLock<Option<Regex>>, text: &str) -> Option<PlaceMatch> {
    let captures = LazyLock::force(regex).as_ref()?.captures(text)?;
    let path = captures.get(1)?.as_str();
    let file = path.strip_prefix("./").unwrap_or(path).to_owned();
    let line = captures.get(2)?.as_str().parse().ok()?;
    Some(PlaceMatch { place: Place { file, line }, start: captures.get(0)?.start() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_patterns_are_regular_expressions() {
        assert!(PLACE.is_some() && PYTHON.is_some() && SHELL.is_some());
    }
}
