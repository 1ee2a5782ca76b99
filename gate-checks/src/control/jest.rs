//! A control for jest and vitest.

use std::path::Path;

use super::draft::Draft;
use super::place::{name, text};
use super::{Place, Runner};

/// A file beside one of the project's tests, with the same endings; where it
/// has none, one beside `package.json`.
pub(super) fn draft(runner: Runner, place: &Place<'_>, id: &str) -> Option<Draft> {
    let beside = place.nearest(place.cwd, |file| endings(file).is_some());
    let stem = id.replace('_', "-");
    let Some(beside) = beside else {
        let file = place.cwd.join(format!("{stem}.test.js"));
        return Some(Draft { file, text: source(runner, id, "js", "") });
    };
    let (kind, language) = endings(&beside)?;
    let file = beside.with_file_name(format!("{stem}.{kind}.{language}"));
    Some(Draft { file, text: source(runner, id, language, &text(&beside)) })
}

/// `test` or `spec`, and the language: how the name of a test ends.
fn endings(file: &Path) -> Option<(&'static str, &'static str)> {
    const LANGUAGES: [&str; 8] = ["js", "mjs", "cjs", "jsx", "ts", "mts", "cts", "tsx"];
    let (stem, language) = name(file).rsplit_once('.')?;
    let language = LANGUAGES.into_iter().find(|known| *known == language)?;
    let kind = ["test", "spec"].into_iter().find(|kind| stem.ends_with(&format!(".{kind}")));
    let in_folder = file.components().any(|part| part.as_os_str() == "__tests__");
    kind.or(in_folder.then_some("test")).map(|kind| (kind, language))
}

/// The test. Jest's functions are there without being named, unless the other
/// tests import them; in TypeScript a file without any import is no module.
fn source(runner: Runner, id: &str, language: &str, other: &str) -> String {
    let import = match runner {
        Runner::Vitest => "import { test } from \"vitest\";\n",
        _ if other.contains("from \"@jest/globals\"") || other.contains("from '@jest/globals'") => {
            "import { test } from \"@jest/globals\";\n"
        }
        _ if language.contains("ts") => "export {};\n",
        _ => "",
    };
    format!(
        "{import}test(\"{id}\", () => {{\n  throw new Error(\"gate's control has to fail\");\n}});\n"
    )
}
