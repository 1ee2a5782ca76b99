//! A control for `node --test`.

use std::path::Path;

use super::draft::Draft;
use super::place::Place;
use super::place::{name, text};
use crate::worktree::Globs;

/// A file that the runner finds by itself, or in the folder that the command
/// names, or beside what its glob matches; where it names files, an addition
/// to the first of them.
pub(super) fn draft(place: &Place<'_>, id: &str) -> Option<Draft> {
    let named = place.paths();
    if let Some(file) = named.iter().find(|path| path.is_file()) {
        let text = format!(
            "\nimport(\"node:test\").then(({{ test }}) => test(\"{id}\", () => {{\n  {FAILS}\n}}));\n"
        );
        return Some(Draft { file: file.clone(), text });
    }
    let stem = id.replace('_', "-");
    if let Some(folder) = named.iter().find(|path| path.is_dir()) {
        return Some(Draft { file: folder.join(format!("{stem}.test.mjs")), text: source(id) });
    }
    match place.args.iter().find(|word| word.contains('*')) {
        Some(glob) => matched(place, glob, &stem, id),
        None => {
            let file = place.cwd.join(format!("{stem}.test.mjs"));
            Some(Draft { file, text: source(id) })
        }
    }
}

const FAILS: &str = "throw new Error(\"gate's control has to fail\");";

fn source(id: &str) -> String {
    format!("import test from \"node:test\";\ntest(\"{id}\", () => {{\n  {FAILS}\n}});\n")
}

/// A file beside one that a glob matches, with the same endings.
fn matched(place: &Place<'_>, glob: &str, stem: &str, id: &str) -> Option<Draft> {
    let globs = Globs::new(&[glob.to_owned()]).ok()?;
    let fits = |file: &Path| {
        let inside = file.strip_prefix(place.cwd).unwrap_or(file);
        globs.matches(inside.as_os_str().as_encoded_bytes())
    };
    let beside = place.nearest(place.cwd, fits)?;
    let (_, endings) = name(&beside).split_once('.')?;
    let file = beside.with_file_name(format!("{stem}.{endings}"));
    let requires = endings.ends_with("cjs") || text(&beside).contains("require(");
    let text = if requires {
        source(id).replacen(
            "import test from \"node:test\"",
            "const test = require(\"node:test\")",
            1,
        )
    } else {
        source(id)
    };
    fits(&file).then_some(Draft { file, text })
}
