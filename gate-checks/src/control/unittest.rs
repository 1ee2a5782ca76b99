//! A control for Python's unittest.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use gate_core::integrity::{Language, code_alone};

use super::draft::{Draft, Namer};
use super::kind::Kind;
use super::names::Name;
use super::place::Place;
use super::place::{name as name_of, used};
use super::pytest::line_end;

/// A file in the folder where discovery starts, which looks there first; if the command names
/// modules, an addition to the first of them. Also additions to the project's files of tests.
pub(super) fn drafts(place: &Place<'_>, name: Namer<'_>) -> Vec<Draft> {
    let (raise, assertion) = (name(Kind::Raise), name(Kind::Assertion));
    let text = format!(
        "import unittest\n\n\nclass {}(unittest.TestCase):\n    def test_{}(self):\n        \
         raise RuntimeError(\"{}\")\n\n{}",
        raise.camel(),
        raise.snake(),
        raise.got(),
        asserts("assertEqual", &assertion)
    );
    let discovers = place.args.iter().any(|word| word == "discover");
    let words = place.args.iter().filter(|word| !word.starts_with('-') && *word != "discover");
    if let Some(module) = words.clone().next()
        && !discovers
    {
        let Some(file) = module_file(place, module) else { return Vec::new() };
        let main = Draft::new(file.clone(), format!("\n\n{text}"), [raise, assertion]);
        return [main].into_iter().chain(inside(place, &file, name)).collect();
    }
    let start = place.value(&["-s", "--start-directory"]);
    let start =
        start.or_else(|| words.map(String::as_str).find(|folder| place.cwd.join(folder).is_dir()));
    let folder = start.map_or_else(|| place.cwd.to_owned(), |start| place.cwd.join(start));
    let file = folder.join(format!("test_{}.py", raise.snake()));
    let main = Draft::new(file, text, [raise, assertion]);
    [main].into_iter().chain(inside(place, &folder, name)).collect()
}

/// Additions to the files of tests that discovery finds in a folder, or to this one file.
fn inside(place: &Place<'_>, top: &Path, name: Namer<'_>) -> Vec<Draft> {
    place.inside(top, |file, text| {
        let is_test = name_of(file).starts_with("test") && name_of(file).ends_with(".py");
        let folders = file.ancestors().skip(1).take_while(|folder| *folder != top);
        let is_found = file == top
            || is_test && folders.into_iter().all(|folder| folder.join("__init__.py").is_file());
        let base = is_found.then(|| base_class(text)).flatten()?;
        let mut draft = Draft::new(file.to_owned(), line_end(text).to_owned(), []);
        for method in used(&METHODS, |method| text.contains(&format!(".{method}("))) {
            let own = name(Kind::Inside);
            if draft.names.is_empty() {
                let class = own.camel();
                let _ = write!(draft.text, "\n\nclass {class}({base}):\n");
            } else {
                draft.text.push('\n');
            }
            draft.text.push_str(&asserts(method, &own));
            draft.names.push(own);
        }
        Some(draft)
    })
}

/// Assertions of equal values.
const METHODS: [&str; 2] = ["assertEqual", "assertTrue"];

/// A method whose assertion does not hold.
fn asserts(method: &str, name: &Name) -> String {
    let between = if method == "assertTrue" { " ==" } else { "," };
    format!(
        "    def test_{}(self):\n        self.{method}(\"{}\"{between} \"{}\")\n",
        name.snake(),
        name.got(),
        name.wanted()
    )
}

/// The file's own name for the class of test cases; none if it may leave out a class at its end.
fn base_class(text: &str) -> Option<&'static str> {
    let code = code_alone(text, Language::Python);
    let leaves_out = ["load_tests", "SkipTest", "setUpModule"];
    if leaves_out.iter().any(|word| code.contains(word)) {
        return None;
    }
    let import = code.lines().find(|line| line.starts_with("import unittest"));
    if import.is_some_and(|line| line.trim_end() == "import unittest") {
        return Some("unittest.TestCase");
    }
    let named = code.lines().find_map(|line| line.strip_prefix("from unittest import "))?;
    let mut names = named.split(',').map(str::trim);
    names.any(|name| name == "TestCase").then_some("TestCase")
}

/// The file of a module, or a path as it is.
fn module_file(place: &Place<'_>, module: &str) -> Option<PathBuf> {
    let path = place.cwd.join(module);
    let dotted = place.cwd.join(format!("{}.py", module.replace('.', "/")));
    [path, dotted].into_iter().find(|file| file.is_file())
}
