//! A control for jest and vitest.

use std::path::Path;

use super::javascript::Module;
use super::names::{ControlName, FailureKind};
use super::test_tree::{Draft, Namer, TestTree, file_name, read_text, used_assertions};
use crate::runner::Runner;

/// A file beside one of the project's tests, with the same endings; if it has none, one beside
/// `package.json`. Also additions to the project's files of tests.
pub(super) fn drafts(runner: Runner, tree: &TestTree<'_>, new_name: Namer<'_>) -> Vec<Draft> {
    let (raise, assertion) = (new_name(FailureKind::Raise), new_name(FailureKind::Assertion));
    let stem = raise.kebab();
    let sibling = tree.nearest(tree.cwd, |file| Ending::from_file(file).is_some());
    let sibling_text = sibling.as_deref().map(read_text).unwrap_or_default();
    let ending = sibling.as_deref().and_then(Ending::from_file).unwrap_or(DEFAULT_ENDING);
    let name = format!("{stem}.{}.{}", ending.kind, ending.language);
    let file = match sibling {
        Some(sibling) => sibling.with_file_name(name),
        None => tree.cwd.join(name),
    };
    let text = format!(
        "{}test(\"{}\", () => {{\n  throw new Error(\"{}\");\n}});\n\n{}",
        import_statement(runner, ending.language, &sibling_text),
        raise.snake(),
        raise.actual_value(),
        failing_test("test", "expect", "toBe", &assertion)
    );
    let mut drafts = vec![Draft::new(file, text, [raise, assertion])];
    drafts.extend(tree.additions(tree.cwd, |file, text| {
        Ending::from_file(file)?;
        let module = Module::new(text);
        let Functions { test, expect } = functions(runner, &module)?;
        let mut draft = Draft::new(file.to_owned(), module.missing_line_end().to_owned(), []);
        for matcher in used_assertions(&MATCHERS, |matcher| module.calls_method(matcher)) {
            let test_name = new_name(FailureKind::Inside);
            draft.text.push('\n');
            draft.text.push_str(&failing_test(&test, &expect, matcher, &test_name));
            draft.names.push(test_name);
        }
        Some(draft)
    }));
    drafts
}

/// The end of the name of a file of tests, such as `.test.js`.
struct Ending {
    /// `test` or `spec`.
    kind: &'static str,
    language: &'static str,
}

const DEFAULT_ENDING: Ending = Ending { kind: "test", language: "js" };

impl Ending {
    fn from_file(file: &Path) -> Option<Self> {
        const LANGUAGES: [&str; 8] = ["js", "mjs", "cjs", "jsx", "ts", "mts", "cts", "tsx"];
        let (stem, extension) = file_name(file).rsplit_once('.')?;
        let language = LANGUAGES.into_iter().find(|language| *language == extension)?;
        let kind = ["test", "spec"].into_iter().find(|kind| stem.ends_with(&format!(".{kind}")));
        let is_in_test_folder = file.components().any(|part| part.as_os_str() == "__tests__");
        let kind = kind.or(is_in_test_folder.then_some("test"))?;
        Some(Self { kind, language })
    }
}

/// Matchers of equal values.
const MATCHERS: [&str; 3] = ["toBe", "toEqual", "toStrictEqual"];

/// A test whose `expect` does not hold.
fn failing_test(test: &str, expect: &str, matcher: &str, name: &ControlName) -> String {
    format!(
        "{test}(\"{}\", () => {{\n  {expect}(\"{}\").{matcher}(\"{}\");\n}});\n",
        name.snake(),
        name.actual_value(),
        name.expected_value()
    )
}

/// Jest's functions are there without being named, unless the other tests take them from
/// a module; in TypeScript a file without any import is no module.
fn import_statement(runner: Runner, language: &str, sibling_text: &str) -> &'static str {
    match runner {
        Runner::Vitest => "import { expect, test } from \"vitest\";\n",
        _ if takes_globals(sibling_text, "from ") => {
            "import { expect, test } from \"@jest/globals\";\n"
        }
        _ if takes_globals(sibling_text, "require(") => {
            "const { expect, test } = require(\"@jest/globals\");\n"
        }
        _ if language.contains("ts") => "export {};\n",
        _ => "",
    }
}

/// The file takes Jest's functions from their module, with this keyword before its name.
fn takes_globals(text: &str, keyword: &str) -> bool {
    ["'", "\""].iter().any(|quote| text.contains(&format!("{keyword}{quote}@jest/globals{quote}")))
}

/// A file's names for the runner's functions.
struct Functions {
    test: String,
    expect: String,
}

/// The names at the file's end; `None` if it is not certain that both functions are there, or that
/// a test at its end is run.
fn functions(runner: Runner, module: &Module<'_>) -> Option<Functions> {
    if module.selects_tests() {
        return None;
    }
    let source = if runner == Runner::Vitest { "vitest" } else { "@jest/globals" };
    let Some(imported) = module.imported(&[source]) else {
        // Both runners can define them for all files.
        let test = ["test", "it"].into_iter().find(|name| {
            !module.declares(name)
                && (module.begins_with_call(name)
                    || (module.begins_with_call("describe") && module.calls(name)))
        })?;
        let has_expect = !module.declares("expect") && module.calls("expect");
        return has_expect
            .then(|| Functions { test: test.to_owned(), expect: "expect".to_owned() });
    };
    let test = imported.local_name("test").or_else(|| imported.local_name("it"))?;
    let expect = imported.local_name("expect")?;
    Some(Functions { test: test.to_owned(), expect: expect.to_owned() })
}
