//! A control for jest and vitest.

use std::path::Path;

use super::javascript::Module;
use super::names::{Kind, Name};
use super::place::{Draft, Namer, Place, name as name_of, text, used};
use crate::runner::Runner;

/// A file beside one of the project's tests, with the same endings; if it has none, one beside
/// `package.json`. Also additions to the project's files of tests.
pub(super) fn drafts(runner: Runner, place: &Place<'_>, name: Namer<'_>) -> Vec<Draft> {
    let (raise, assertion) = (name(Kind::Raise), name(Kind::Assertion));
    let stem = raise.kebab();
    let beside = place.nearest(place.cwd, |file| endings(file).is_some());
    let (file, language, other) =
        match beside.as_deref().and_then(|file| Some((file, endings(file)?))) {
            Some((beside, (kind, language))) => {
                let file = beside.with_file_name(format!("{stem}.{kind}.{language}"));
                (file, language, text(beside))
            }
            None => (place.cwd.join(format!("{stem}.test.js")), "js", String::new()),
        };
    let text = format!(
        "{}test(\"{}\", () => {{\n  throw new Error(\"{}\");\n}});\n\n{}",
        import(runner, language, &other),
        raise.snake(),
        raise.got(),
        asserts("test", "expect", "toBe", &assertion)
    );
    let mut drafts = vec![Draft::new(file, text, [raise, assertion])];
    drafts.extend(place.inside(place.cwd, |file, text| {
        endings(file)?;
        let module = Module::new(text);
        let (test, expect) = functions(runner, &module)?;
        let mut draft = Draft::new(file.to_owned(), module.line_end().to_owned(), []);
        for matcher in used(&MATCHERS, |matcher| module.calls_method(matcher)) {
            let own = name(Kind::Inside);
            draft.text.push('\n');
            draft.text.push_str(&asserts(&test, &expect, matcher, &own));
            draft.names.push(own);
        }
        Some(draft)
    }));
    drafts
}

/// `test` or `spec`, and the language: how the name of a test ends.
fn endings(file: &Path) -> Option<(&'static str, &'static str)> {
    const LANGUAGES: [&str; 8] = ["js", "mjs", "cjs", "jsx", "ts", "mts", "cts", "tsx"];
    let (stem, language) = name_of(file).rsplit_once('.')?;
    let language = LANGUAGES.into_iter().find(|known| *known == language)?;
    let kind = ["test", "spec"].into_iter().find(|kind| stem.ends_with(&format!(".{kind}")));
    let in_folder = file.components().any(|part| part.as_os_str() == "__tests__");
    kind.or(in_folder.then_some("test")).map(|kind| (kind, language))
}

/// Matchers of equal values.
const MATCHERS: [&str; 3] = ["toBe", "toEqual", "toStrictEqual"];

/// A test whose `expect` does not hold.
fn asserts(test: &str, expect: &str, matcher: &str, name: &Name) -> String {
    format!(
        "{test}(\"{}\", () => {{\n  {expect}(\"{}\").{matcher}(\"{}\");\n}});\n",
        name.snake(),
        name.got(),
        name.wanted()
    )
}

/// Jest's functions are there without being named, unless the other tests take them from
/// a module; in TypeScript a file without any import is no module.
fn import(runner: Runner, language: &str, other: &str) -> &'static str {
    match runner {
        Runner::Vitest => "import { expect, test } from \"vitest\";\n",
        _ if takes_globals(other, "from ") => "import { expect, test } from \"@jest/globals\";\n",
        _ if takes_globals(other, "require(") => {
            "const { expect, test } = require(\"@jest/globals\");\n"
        }
        _ if language.contains("ts") => "export {};\n",
        _ => "",
    }
}

/// True if a file takes Jest's functions from their module, with this keyword before its name.
fn takes_globals(text: &str, keyword: &str) -> bool {
    ["'", "\""].iter().any(|quote| text.contains(&format!("{keyword}{quote}@jest/globals{quote}")))
}

/// The file's names for `test` and `expect` at its end; none if it is not certain that both are
/// there, or that a test at its end is run.
fn functions(runner: Runner, module: &Module<'_>) -> Option<(String, String)> {
    if module.selects() {
        return None;
    }
    let home = if runner == Runner::Vitest { "vitest" } else { "@jest/globals" };
    let Some(imported) = module.imported(&[home]) else {
        // They are there for all files.
        let test = ["test", "it"].into_iter().find(|name| {
            !module.declares(name)
                && (module.begins_with_call(name)
                    || (module.begins_with_call("describe") && module.calls(name)))
        })?;
        let has_expect = !module.declares("expect") && module.calls("expect");
        return has_expect.then(|| (test.to_owned(), "expect".to_owned()));
    };
    let test = imported.part("test").or_else(|| imported.part("it"))?;
    Some((test.to_owned(), imported.part("expect")?.to_owned()))
}
