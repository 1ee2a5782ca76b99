//! A control for mocha.

use std::path::Path;

use gate_core::integrity::Language;

use super::javascript::Module;
use super::names::{ControlName, FailureKind};
use super::test_tree::{Draft, Namer, TestTree, file_name, read_text, used_assertions};

/// A file beside one of the project's tests, with the same endings and the same assertions. Also
/// additions to the project's files of tests. Without a report that names these files there is none.
pub(super) fn drafts(tree: &TestTree<'_>, new_name: Namer<'_>) -> Vec<Draft> {
    // Settings of mocha may be a program: which files it runs, only its report says.
    let reported_files = tree.reported_files();
    let is_test = |file: &Path| {
        reported_files.contains(file)
            && Language::from_path(&file.to_string_lossy()) == Some(Language::Js)
    };
    let siblings = tree.files_below(tree.cwd).into_iter().filter(|file| !tree.is_added(file));
    let mut siblings = siblings.filter(|file| is_test(file));
    let own_file = siblings.find_map(|file| own_file(&file, new_name));
    let additions = tree.additions(tree.cwd, |file, text| {
        if !is_test(file) {
            return None;
        }
        let module = Module::new(text);
        let Functions { test, assertions } = Functions::new(&module)?;
        let mut draft = Draft::new(file.to_owned(), module.missing_line_end().to_owned(), []);
        for assertion in &assertions {
            let name = new_name(FailureKind::Inside);
            draft.text.push('\n');
            draft.text.push_str(&assertion.failing_test(&test, &name));
            draft.names.push(name);
        }
        (!assertions.is_empty()).then_some(draft)
    });
    own_file.into_iter().chain(additions).collect()
}

/// A new file beside this one, which takes its assertions from where this one takes them.
fn own_file(sibling: &Path, new_name: Namer<'_>) -> Option<Draft> {
    const MODULES: [&str; 10] = [
        "'assert",
        "\"assert",
        "node:assert",
        "chai",
        "'mocha'",
        "\"mocha\"",
        "'expect",
        "\"expect",
        "'should",
        "\"should",
    ];
    let text = read_text(sibling);
    let module = Module::new(&text);
    let Functions { test, assertions } = Functions::new(&module)?;
    let raise = new_name(FailureKind::Raise);
    let mut statements: Vec<_> = module.statements_with(&MODULES).collect();
    let failure = format!("throw new Error(\"{}\");", raise.actual_value());
    let failing_test = test_text(&test, &raise, &failure);
    statements.push(&failing_test);
    let mut text = statements.join("\n");
    let mut names = vec![raise];
    if let Some(assertion) = assertions.first() {
        let name = new_name(FailureKind::Assertion);
        text.push('\n');
        text.push_str(&assertion.failing_test(&test, &name));
        names.push(name);
    }
    let file = sibling.with_file_name(named_alike(file_name(sibling), &names[0].kebab()));
    Some(Draft::new(file, text, names))
}

/// A name with the end of another by which patterns know a test: `.spec.ts`, `-test.js`.
fn named_alike(file_name: &str, stem: &str) -> String {
    const ENDS: [&str; 12] = [
        ".test", "-test", "_test", "Test", ".tests", "-tests", ".spec", "-spec", "_spec", "Spec",
        ".specs", ".unit",
    ];
    let (old_stem, language) = file_name.rsplit_once('.').unwrap_or((file_name, "js"));
    let end = ENDS.into_iter().find(|end| old_stem.ends_with(end)).unwrap_or_default();
    format!("{stem}{end}.{language}")
}

fn test_text(test: &str, name: &ControlName, statement: &str) -> String {
    format!("{test}(\"{}\", function () {{\n  {statement}\n}});\n", name.snake())
}

/// An assertion of two equal values, up to the first one and between both.
struct Assertion {
    start: String,
    middle: String,
}

impl Assertion {
    /// The assertion that is a function of both values.
    fn with_both(function: &str) -> Self {
        Self { start: format!("{function}("), middle: ", ".to_owned() }
    }

    fn failing_test(&self, test: &str, name: &ControlName) -> String {
        let (actual, expected) = (name.actual_value(), name.expected_value());
        let Self { start, middle } = self;
        test_text(test, name, &format!("{start}\"{actual}\"{middle}\"{expected}\");"))
    }
}

/// A file's names for the functions that it calls.
struct Functions {
    test: String,
    /// The assertions of equal values that the file uses.
    assertions: Vec<Assertion>,
}

impl Functions {
    /// `None` if it is not certain that a test at the file's end is run.
    fn new(module: &Module<'_>) -> Option<Self> {
        if module.selects_tests() {
            return None;
        }
        const TESTS: [&str; 3] = ["it", "test", "specify"];
        let imported = module.imported(&["mocha"]).unwrap_or_default();
        let mut names = TESTS.into_iter().filter_map(|name| imported.local_name(name));
        // mocha defines them for all files.
        let mut defined =
            TESTS.into_iter().filter(|name| !module.declares(name) && module.calls(name));
        let test = names.next().or_else(|| defined.next())?.to_owned();
        let mut assertions = asserted_functions(module);
        assertions.extend(expected_values(module));
        let should = ["equal", "eql"].into_iter().map(|name| format!("should.{name}"));
        let should = should.filter(|name| module.calls_method(name));
        assertions.extend(
            should.map(|name| Assertion { start: "(".to_owned(), middle: format!(").{name}(") }),
        );
        Some(Self { test, assertions })
    }
}

/// Functions of node's `assert` and of chai's.
fn asserted_functions(module: &Module<'_>) -> Vec<Assertion> {
    const EQUAL: [&str; 4] = ["strictEqual", "equal", "deepStrictEqual", "deepEqual"];
    let node = module
        .imported(&["node:assert", "node:assert/strict", "assert", "assert/strict"])
        .unwrap_or_default();
    let chai = module.imported(&["chai"]).unwrap_or_default();
    let imported_object = node.whole.as_deref().or_else(|| node.local_name("strict"));
    let imported_object = imported_object.or_else(|| chai.local_name("assert"));
    let is_used = |object: &str, name: &str| module.calls(&format!("{object}.{name}"));
    let object = imported_object.unwrap_or("assert");
    if imported_object.is_some() || EQUAL.into_iter().any(|name| is_used(object, name)) {
        let used = used_assertions(&EQUAL, |name| is_used(object, name));
        return used
            .into_iter()
            .map(|name| Assertion::with_both(&format!("{object}.{name}")))
            .collect();
    }
    let names = EQUAL.into_iter().filter_map(|name| node.local_name(name));
    names.map(Assertion::with_both).collect()
}

/// `expect(…)` of chai, of jest and of others.
fn expected_values(module: &Module<'_>) -> Vec<Assertion> {
    const CHAINS: [&str; 7] =
        ["to.equal", "to.eql", "to.deep.equal", "to.be", "toBe", "toEqual", "toStrictEqual"];
    if !module.calls("expect") {
        return Vec::new();
    }
    let chains = used_assertions(&CHAINS, |chain| module.calls_method(chain));
    let assertion =
        |chain| Assertion { start: "expect(".to_owned(), middle: format!(").{chain}(") };
    chains.into_iter().map(assertion).collect()
}
