//! A control for `cargo test` and cargo-nextest.

use std::path::PathBuf;

use super::cargo_package::Package;
use super::names::{ControlName, FailureKind};
use super::pytest::missing_line_end;
use super::rust_source::{takes_a_test, test_module_end};
use super::test_tree::{Draft, Namer, TestTree, used_assertions};

/// A test file of its own in the package that the command tests; if it tests only some targets, an
/// addition to one of them. Also additions to the modules and files of tests of that package, and
/// of others that were worked on.
pub(super) fn drafts(tree: &TestTree<'_>, new_name: Namer<'_>) -> Vec<Draft> {
    let Some(package) = Package::tested(tree) else { return Vec::new() };
    let main = own_tests(tree, &package, new_name);
    let packages: Vec<_> = package.changed_siblings(tree).into_iter().chain([package]).collect();
    let sources: Vec<_> = packages.iter().flat_map(|package| package.sources(tree)).collect();
    let additions = tree.additions(tree.root, |file, text| {
        let is_source = sources.iter().any(|source| source == file);
        let is_test = packages.iter().any(|package| package.has_test(tree, file));
        let offset = if is_source { Some(test_module_end(text)?) } else { None };
        if !(is_source || is_test && takes_a_test(text)) {
            return None;
        }
        let mut draft = Draft { offset, ..Draft::new(file.to_owned(), String::new(), []) };
        for assertion in used_assertions(&ASSERTIONS, |name| text.contains(&format!("{name}("))) {
            let test_name = new_name(FailureKind::Inside);
            draft.text.push('\n');
            draft.text.push_str(&failing_assertion(assertion, &test_name));
            draft.names.push(test_name);
        }
        draft.text = if is_source {
            // On the line of the bracket: no line after it gets another number.
            draft.text.replace('\n', " ")
        } else {
            format!("{}{}", missing_line_end(text), draft.text)
        };
        Some(draft)
    });
    main.into_iter().chain(additions).collect()
}

/// The test that raises and those that assert.
fn own_tests(tree: &TestTree<'_>, package: &Package, new_name: Namer<'_>) -> Option<Draft> {
    if let Some(test) = tree.option_value(&["--test"]) {
        return test_module(package.folder.join("tests").join(format!("{test}.rs")), new_name);
    }
    if let Some(bin) = tree.option_value(&["--bin"]) {
        let source = package.folder.join("src/bin").join(format!("{bin}.rs"));
        let main = package.folder.join("src/main.rs");
        return test_module(if source.is_file() { source } else { main }, new_name);
    }
    if tree.has_option(&["--bins"]) {
        return test_module(package.folder.join("src/main.rs"), new_name);
    }
    if tree.has_option(&["--lib"]) || !package.finds_tests {
        return test_module(package.library(), new_name);
    }
    if tree.has_option(&["--doc", "--examples", "--benches"]) {
        return None;
    }
    let names = [
        new_name(FailureKind::Raise),
        new_name(FailureKind::Assertion),
        new_name(FailureKind::Assertion),
    ];
    let file = package.folder.join("tests").join(format!("{}.rs", names[0].snake()));
    Some(Draft::new(file, test_texts(&names), names))
}

fn test_texts([raise, equal, holds]: &[ControlName; 3]) -> String {
    format!(
        "#[test]\nfn {}() {{\n    panic!(\"{}\");\n}}\n\n{}\n{}",
        raise.snake(),
        raise.actual_value(),
        failing_assertion("assert_eq!", equal),
        failing_assertion("assert!", holds)
    )
}

/// Assertions of equal values.
const ASSERTIONS: [&str; 2] = ["assert_eq!", "assert!"];

/// A test whose assertion does not hold.
fn failing_assertion(assertion: &str, name: &ControlName) -> String {
    let operator = if assertion == "assert!" { " ==" } else { "," };
    format!(
        "#[test]\nfn {}() {{\n    {assertion}(\"{}\"{operator} \"{}\");\n}}\n",
        name.snake(),
        name.actual_value(),
        name.expected_value()
    )
}

/// A module of tests at the end of a source.
fn test_module(file: PathBuf, new_name: Namer<'_>) -> Option<Draft> {
    let names = [
        new_name(FailureKind::Raise),
        new_name(FailureKind::Assertion),
        new_name(FailureKind::Assertion),
    ];
    let text = format!("\n#[cfg(test)]\nmod {} {{\n{}}}\n", names[0].snake(), test_texts(&names));
    file.is_file().then(|| Draft::new(file, text, names))
}
