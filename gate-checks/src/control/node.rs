//! A control for `node --test`.

use std::path::{Path, PathBuf};

use super::javascript::Module;
use super::names::{Kind, Name};
use super::place::{Draft, Namer, Place, name as name_of, text, used};
use crate::worktree::Globs;

/// A file that the runner finds by itself, or in the folder that the command names, or beside what
/// its glob matches; if it names files, an addition to the first of them. Also additions to the
/// project's files of tests.
pub(super) fn drafts(place: &Place<'_>, name: Namer<'_>) -> Vec<Draft> {
    let named = place.paths();
    let glob = place.args.iter().find(|word| word.contains('*'));
    let glob = glob.and_then(|glob| Globs::new(std::slice::from_ref(glob)).ok());
    let fits = |file: &Path| {
        let inside = file.strip_prefix(place.cwd).unwrap_or(file);
        glob.as_ref().is_some_and(|glob| glob.matches(inside.as_os_str().as_encoded_bytes()))
    };
    let has_glob = place.args.iter().any(|word| word.contains('*'));
    let main = if let Some(file) = named.iter().find(|path| path.is_file()) {
        Some(addition(file.clone(), name))
    } else if let Some(folder) = named.iter().find(|path| path.is_dir()) {
        Some(own_file(folder, "test.mjs", false, name))
    } else if has_glob {
        place.nearest(place.cwd, fits).and_then(|beside| {
            let (_, endings) = name_of(&beside).split_once('.')?;
            let requires = endings.ends_with("cjs") || text(&beside).contains("require(");
            let draft = own_file(beside.parent()?, endings, requires, name);
            fits(&draft.file).then_some(draft)
        })
    } else {
        Some(own_file(place.cwd, "test.mjs", false, name))
    };
    let inside = place.inside(place.cwd, |file, text| {
        let module = Module::new(text);
        let is_run = if named.is_empty() && !has_glob {
            is_found(file, place.cwd)
        } else {
            fits(file)
                || named.iter().any(|path| {
                    path == file || path.is_dir() && file.starts_with(path) && is_script(file)
                })
        };
        if !is_run {
            return None;
        }
        let (test, asserts) = functions(&module)?;
        let mut draft = Draft::new(file.to_owned(), module.line_end().to_owned(), []);
        for assert in asserts {
            let own = name(Kind::Inside);
            draft.text.push('\n');
            draft.text.push_str(&fails(&test, &assert, &own));
            draft.names.push(own);
        }
        Some(draft)
    });
    main.into_iter().chain(inside).collect()
}

/// Additions to a file that may be of either kind of module.
fn addition(file: PathBuf, name: Namer<'_>) -> Draft {
    let (raise, assertion) = (name(Kind::Raise), name(Kind::Assertion));
    let text = format!(
        "\nPromise.all([import(\"node:test\"), import(\"node:assert\")])\
         .then(([{{ test }}, {{ strictEqual }}]) => {{\n{}}});\n",
        tests("test", "strictEqual", &raise, &assertion)
    );
    Draft::new(file, text, [raise, assertion])
}

/// A new file in a folder.
fn own_file(folder: &Path, endings: &str, requires: bool, name: Namer<'_>) -> Draft {
    let (raise, assertion) = (name(Kind::Raise), name(Kind::Assertion));
    let head = if requires {
        "const assert = require(\"node:assert\");\nconst test = require(\"node:test\");\n"
    } else {
        "import assert from \"node:assert\";\nimport test from \"node:test\";\n"
    };
    let text = format!("{head}\n{}", tests("test", "assert.strictEqual", &raise, &assertion));
    Draft::new(folder.join(format!("{}.{endings}", raise.kebab())), text, [raise, assertion])
}

fn tests(test: &str, assert: &str, raise: &Name, assertion: &Name) -> String {
    format!(
        "{test}(\"{}\", () => {{\n  throw new Error(\"{}\");\n}});\n\n{}",
        raise.snake(),
        raise.got(),
        fails(test, assert, assertion)
    )
}

/// A test whose assertion does not hold.
fn fails(test: &str, assert: &str, name: &Name) -> String {
    format!(
        "{test}(\"{}\", () => {{\n  {assert}(\"{}\", \"{}\");\n}});\n",
        name.snake(),
        name.got(),
        name.wanted()
    )
}

/// The file's names for `test` and for the assertions of equal values that it uses; none if it is
/// not certain that they are there.
fn functions(module: &Module<'_>) -> Option<(String, Vec<String>)> {
    const EQUAL: [&str; 4] = ["strictEqual", "equal", "deepStrictEqual", "deepEqual"];
    if module.selects() {
        return None;
    }
    let tests = module.imported(&["node:test"])?;
    let test = ["test", "it", "default"].into_iter().find_map(|name| tests.part(name));
    let whole = if tests.is_namespace { None } else { tests.whole.as_deref() };
    let test = test.or(whole)?;
    let home =
        module.imported(&["node:assert", "node:assert/strict", "assert", "assert/strict"])?;
    let whole = home.whole.as_deref();
    let whole = whole.or_else(|| home.part("strict")).or_else(|| home.part("default"));
    let asserts: Vec<_> = match whole {
        Some(whole) => {
            let used = used(&EQUAL, |name| module.calls_method(name));
            used.into_iter().map(|name| format!("{whole}.{name}")).collect()
        }
        None => EQUAL.into_iter().filter_map(|name| home.part(name)).map(str::to_owned).collect(),
    };
    (!asserts.is_empty()).then(|| (test.to_owned(), asserts))
}

fn is_script(file: &Path) -> bool {
    name_of(file).rsplit_once('.').is_some_and(|(_, ending)| matches!(ending, "js" | "mjs" | "cjs"))
}

/// True for a file that the runner finds by itself.
fn is_found(file: &Path, cwd: &Path) -> bool {
    let Some((stem, _)) = name_of(file).rsplit_once('.') else { return false };
    let inside = file.strip_prefix(cwd).unwrap_or(file);
    let in_folder = inside.parent().is_some_and(|folder| folder.iter().any(|part| part == "test"));
    let ends = [".test", "-test", "_test"].iter().any(|end| stem.ends_with(end));
    is_script(file) && (in_folder || ends || stem == "test" || stem.starts_with("test-"))
}
