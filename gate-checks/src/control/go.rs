//! A control for `go test`.

use std::path::{Path, PathBuf};

use super::draft::Draft;
use super::place::Place;
use super::place::{name, text};

/// A test file in a folder that the command's patterns reach, in the package
/// that is there.
pub(super) fn draft(place: &Place<'_>, id: &str) -> Option<Draft> {
    let (top, deep) = top(place)?;
    let source = place.nearest(&top, |file| {
        let folder = file.parent().unwrap_or(file);
        name(file).ends_with(".go")
            && !name(file).ends_with("_test.go")
            && (folder == top || deep)
            && is_looked_at(folder, &top)
    })?;
    let clause = text(&source);
    let package = package(&clause)?;
    let file = source.with_file_name(format!("{id}_test.go"));
    let text = format!(
        "package {package}\n\nimport \"testing\"\n\nfunc Test_{id}(t *testing.T) {{\n\t\
         t.Fatal(\"gate's control has to fail\")\n}}\n"
    );
    Some(Draft { file, text })
}

/// The folder that the first pattern names, and whether those below it are
/// meant too. Only patterns that begin with a dot name folders.
fn top(place: &Place<'_>) -> Option<(PathBuf, bool)> {
    let patterns = place.args.iter().filter(|word| !word.starts_with('-'));
    let Some(pattern) = patterns.map(String::as_str).find(|word| word.starts_with('.')) else {
        return Some((place.cwd.to_owned(), false));
    };
    let (folder, deep) = match pattern.strip_suffix("...") {
        Some(folder) => (folder, true),
        None => (pattern, false),
    };
    let folder = folder.trim_start_matches("./").trim_end_matches(['/', '.']);
    let top = if folder.is_empty() { place.cwd.to_owned() } else { place.cwd.join(folder) };
    top.is_dir().then_some((top, deep))
}

/// True for folders that patterns with `...` reach: no other module, nothing hidden, no test data.
fn is_looked_at(folder: &Path, top: &Path) -> bool {
    let between = folder.ancestors().take_while(|folder| *folder != top);
    between.into_iter().all(|folder| {
        let name = name(folder);
        let hidden = name.starts_with(['.', '_']) || matches!(name, "testdata" | "vendor");
        !hidden && !folder.join("go.mod").is_file()
    })
}

fn package(source: &str) -> Option<&str> {
    let clause = source.lines().find_map(|line| line.trim().strip_prefix("package "))?;
    clause.split_whitespace().next().map(|name| name.trim_end_matches(';'))
}
