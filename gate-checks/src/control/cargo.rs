//! A control for `cargo test` and cargo-nextest.

use std::path::PathBuf;

use super::cargo_package::Package;
use super::names::{Kind, Name};
use super::place::{Draft, Namer, Place, used};
use super::pytest::line_end;
use super::rust_source::{takes_a_test, test_module_end};

/// A test file of its own in the package that the command tests; if it tests only some targets, an
/// addition to one of them. Also additions to the modules and files of tests of that package, and
/// of others that were worked on.
pub(super) fn drafts(place: &Place<'_>, name: Namer<'_>) -> Vec<Draft> {
    let Some(package) = Package::tested(place) else { return Vec::new() };
    let main = own(place, &package, name);
    let packages: Vec<_> = package.changed(place).into_iter().chain([package]).collect();
    let sources: Vec<_> = packages.iter().flat_map(|package| package.sources(place)).collect();
    let inside = place.inside(place.root, |file, text| {
        let is_source = sources.iter().any(|source| source == file);
        let is_test = packages.iter().any(|package| package.has_test(place, file));
        let at = if is_source { Some(test_module_end(text)?) } else { None };
        if !(is_source || is_test && takes_a_test(text)) {
            return None;
        }
        let mut draft = Draft { at, ..Draft::new(file.to_owned(), String::new(), []) };
        for assertion in used(&ASSERTIONS, |name| text.contains(&format!("{name}("))) {
            let own = name(Kind::Inside);
            draft.text.push('\n');
            draft.text.push_str(&asserts(assertion, &own));
            draft.names.push(own);
        }
        draft.text = if is_source {
            // On the line of the bracket: no line after it gets another number.
            draft.text.replace('\n', " ")
        } else {
            format!("{}{}", line_end(text), draft.text)
        };
        Some(draft)
    });
    main.into_iter().chain(inside).collect()
}

/// The test that raises and those that assert.
fn own(place: &Place<'_>, package: &Package, name: Namer<'_>) -> Option<Draft> {
    if let Some(test) = place.value(&["--test"]) {
        return addition(package.folder.join("tests").join(format!("{test}.rs")), name);
    }
    if let Some(bin) = place.value(&["--bin"]) {
        let own = package.folder.join("src/bin").join(format!("{bin}.rs"));
        let main = package.folder.join("src/main.rs");
        return addition(if own.is_file() { own } else { main }, name);
    }
    if place.has(&["--bins"]) {
        return addition(package.folder.join("src/main.rs"), name);
    }
    if place.has(&["--lib"]) || !package.autotests {
        return addition(package.library(), name);
    }
    if place.has(&["--doc", "--examples", "--benches"]) {
        return None;
    }
    let names = [name(Kind::Raise), name(Kind::Assertion), name(Kind::Assertion)];
    let file = package.folder.join("tests").join(format!("{}.rs", names[0].snake()));
    Some(Draft::new(file, tests(&names), names))
}

fn tests([raise, equal, holds]: &[Name; 3]) -> String {
    format!(
        "#[test]\nfn {}() {{\n    panic!(\"{}\");\n}}\n\n{}\n{}",
        raise.snake(),
        raise.got(),
        asserts("assert_eq!", equal),
        asserts("assert!", holds)
    )
}

/// Assertions of equal values.
const ASSERTIONS: [&str; 2] = ["assert_eq!", "assert!"];

/// A test whose assertion does not hold.
fn asserts(assertion: &str, name: &Name) -> String {
    let between = if assertion == "assert!" { " ==" } else { "," };
    format!(
        "#[test]\nfn {}() {{\n    {assertion}(\"{}\"{between} \"{}\");\n}}\n",
        name.snake(),
        name.got(),
        name.wanted()
    )
}

fn addition(file: PathBuf, name: Namer<'_>) -> Option<Draft> {
    let names = [name(Kind::Raise), name(Kind::Assertion), name(Kind::Assertion)];
    let text = format!("\n#[cfg(test)]\nmod {} {{\n{}}}\n", names[0].snake(), tests(&names));
    file.is_file().then(|| Draft::new(file, text, names))
}
