//! A control for `node --test`.

use std::path::{Path, PathBuf};

use super::javascript::Module;
use super::names::{ControlName, FailureKind};
use super::test_tree::{Draft, Namer, TestTree, file_name, read_text, used_assertions};
use crate::worktree::Globs;

/// A file that the runner finds by itself, or in the folder that the command names, or beside what
/// its glob matches; if it names files, an addition to the first of them. Also additions to the
/// project's files of tests.
pub(super) fn drafts(tree: &TestTree<'_>, new_name: Namer<'_>) -> Vec<Draft> {
    let named_paths = tree.named_paths();
    let pattern = tree.args.iter().find(|word| word.contains('*'));
    let globs = pattern.and_then(|pattern| Globs::new(std::slice::from_ref(pattern)).ok());
    let is_matched = |file: &Path| {
        let relative = file.strip_prefix(tree.cwd).unwrap_or(file);
        globs.as_ref().is_some_and(|globs| globs.matches(relative.as_os_str().as_encoded_bytes()))
    };
    let main = if let Some(file) = named_paths.iter().find(|path| path.is_file()) {
        Some(addition(file.clone(), new_name))
    } else if let Some(folder) = named_paths.iter().find(|path| path.is_dir()) {
        Some(own_file(folder, "test.mjs", false, new_name))
    } else if pattern.is_some() {
        tree.nearest(tree.cwd, is_matched).and_then(|sibling| {
            let (_, endings) = file_name(&sibling).split_once('.')?;
            let is_commonjs = endings.ends_with("cjs") || read_text(&sibling).contains("require(");
            let draft = own_file(sibling.parent()?, endings, is_commonjs, new_name);
            is_matched(&draft.file).then_some(draft)
        })
    } else {
        Some(own_file(tree.cwd, "test.mjs", false, new_name))
    };
    let additions = tree.additions(tree.cwd, |file, text| {
        let module = Module::new(text);
        let is_run = if named_paths.is_empty() && pattern.is_none() {
            is_found_by_node(file, tree.cwd)
        } else {
            is_matched(file)
                || named_paths.iter().any(|path| {
                    path == file || path.is_dir() && file.starts_with(path) && is_script(file)
                })
        };
        if !is_run {
            return None;
        }
        let Functions { test, assertions } = functions(&module)?;
        let mut draft = Draft::new(file.to_owned(), module.missing_line_end().to_owned(), []);
        for assertion in assertions {
            let test_name = new_name(FailureKind::Inside);
            draft.text.push('\n');
            draft.text.push_str(&failing_test(&test, &assertion, &test_name));
            draft.names.push(test_name);
        }
        Some(draft)
    });
    main.into_iter().chain(additions).collect()
}

/// Additions to a file that may be a module of ECMAScript or of CommonJS: both can call `import()`.
fn addition(file: PathBuf, new_name: Namer<'_>) -> Draft {
    let (raise, assertion) = (new_name(FailureKind::Raise), new_name(FailureKind::Assertion));
    let text = format!(
        "\nPromise.all([import(\"node:test\"), import(\"node:assert\")])\
         .then(([{{ test }}, {{ strictEqual }}]) => {{\n{}}});\n",
        test_texts("test", "strictEqual", &raise, &assertion)
    );
    Draft::new(file, text, [raise, assertion])
}

/// A new file in a folder.
fn own_file(folder: &Path, endings: &str, is_commonjs: bool, new_name: Namer<'_>) -> Draft {
    let (raise, assertion) = (new_name(FailureKind::Raise), new_name(FailureKind::Assertion));
    let head = if is_commonjs {
        "const assert = require(\"node:assert\");\nconst test = require(\"node:test\");\n"
    } else {
        "import assert from \"node:assert\";\nimport test from \"node:test\";\n"
    };
    let text = format!("{head}\n{}", test_texts("test", "assert.strictEqual", &raise, &assertion));
    Draft::new(folder.join(format!("{}.{endings}", raise.kebab())), text, [raise, assertion])
}

fn test_texts(test: &str, function: &str, raise: &ControlName, assertion: &ControlName) -> String {
    format!(
        "{test}(\"{}\", () => {{\n  throw new Error(\"{}\");\n}});\n\n{}",
        raise.snake(),
        raise.actual_value(),
        failing_test(test, function, assertion)
    )
}

/// A test whose assertion does not hold.
fn failing_test(test: &str, function: &str, name: &ControlName) -> String {
    format!(
        "{test}(\"{}\", () => {{\n  {function}(\"{}\", \"{}\");\n}});\n",
        name.snake(),
        name.actual_value(),
        name.expected_value()
    )
}

/// A file's names for the functions of node.
struct Functions {
    test: String,
    /// The assertions of equal values that the file uses.
    assertions: Vec<String>,
}

/// The file's names; `None` if it is not certain that the functions are there.
fn functions(module: &Module<'_>) -> Option<Functions> {
    const EQUAL: [&str; 4] = ["strictEqual", "equal", "deepStrictEqual", "deepEqual"];
    if module.selects_tests() {
        return None;
    }
    let runner = module.imported(&["node:test"])?;
    let named_test = ["test", "it", "default"].into_iter().find_map(|name| runner.local_name(name));
    // The module as a whole is the function `test`, unless it was taken as a namespace.
    let whole_test = if runner.is_namespace { None } else { runner.whole.as_deref() };
    let test = named_test.or(whole_test)?.to_owned();
    let assert =
        module.imported(&["node:assert", "node:assert/strict", "assert", "assert/strict"])?;
    let object = assert.whole.as_deref();
    let object =
        object.or_else(|| assert.local_name("strict")).or_else(|| assert.local_name("default"));
    let assertions: Vec<_> = match object {
        Some(object) => {
            let used = used_assertions(&EQUAL, |name| module.calls_method(name));
            used.into_iter().map(|name| format!("{object}.{name}")).collect()
        }
        None => {
            let names = EQUAL.into_iter().filter_map(|name| assert.local_name(name));
            names.map(str::to_owned).collect()
        }
    };
    (!assertions.is_empty()).then_some(Functions { test, assertions })
}

fn is_script(file: &Path) -> bool {
    file_name(file)
        .rsplit_once('.')
        .is_some_and(|(_, ending)| matches!(ending, "js" | "mjs" | "cjs"))
}

/// Node finds the file by itself.
fn is_found_by_node(file: &Path, cwd: &Path) -> bool {
    let Some((stem, _)) = file_name(file).rsplit_once('.') else { return false };
    let relative = file.strip_prefix(cwd).unwrap_or(file);
    let is_in_test_folder =
        relative.parent().is_some_and(|folder| folder.iter().any(|part| part == "test"));
    let has_test_suffix = [".test", "-test", "_test"].iter().any(|suffix| stem.ends_with(suffix));
    is_script(file)
        && (is_in_test_folder || has_test_suffix || stem == "test" || stem.starts_with("test-"))
}
