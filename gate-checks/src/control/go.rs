//! A control for `go test`.

use std::path::{Path, PathBuf};

use super::names::{Kind, Name};
use super::place::{Draft, Namer, Place, name as name_of, text};
use super::pytest::line_end;

/// A test file in a folder that the command's patterns reach, in the package that is there. Also
/// additions to the files of tests in the packages that were worked on, and in the nearest one.
pub(super) fn drafts(place: &Place<'_>, name: Namer<'_>) -> Vec<Draft> {
    let Some((top, deep)) = top(place) else { return Vec::new() };
    let is_reached = |file: &Path| {
        let folder = file.parent().unwrap_or(file);
        (folder == top || deep) && is_looked_at(folder, &top)
    };
    let source = place.nearest(&top, |file| {
        name_of(file).ends_with(".go") && !name_of(file).ends_with("_test.go") && is_reached(file)
    });
    let main = source.and_then(|source| beside(&source, name));
    let mut packages: Vec<_> = place.changed.edited.iter().chain(place.changed.added).collect();
    packages.retain(|file| name_of(file).ends_with(".go"));
    let mut packages: Vec<_> =
        packages.iter().filter_map(|file| Some(place.root.join(file.parent()?))).collect();
    packages.extend(
        place
            .nearest(&top, |file| name_of(file).ends_with("_test.go") && is_reached(file))
            .and_then(|file| file.parent().map(Path::to_owned)),
    );
    let inside = place.inside(&top, |file, text| {
        let folder = file.parent()?;
        let fits = is_reached(file) && packages.iter().any(|package| package == folder);
        (fits && takes_a_test(file, text)).then(|| {
            let own = name(Kind::Inside);
            let text = format!("{}\n{}", line_end(text), compares(&own));
            Draft::new(file.to_owned(), text, [own])
        })
    });
    main.into_iter().chain(inside).collect()
}

/// A new file beside a source.
fn beside(source: &Path, name: Namer<'_>) -> Option<Draft> {
    let clause = text(source);
    let package = package(&clause)?;
    let (raise, assertion) = (name(Kind::Raise), name(Kind::Assertion));
    let file = source.with_file_name(format!("{}_test.go", raise.snake()));
    let text = format!(
        "package {package}\n\nimport \"testing\"\n\nfunc Test_{}(t *testing.T) {{\n\t\
         t.Fatal(\"{}\")\n}}\n\n{}",
        raise.snake(),
        raise.got(),
        compares(&assertion)
    );
    Some(Draft::new(file, text, [raise, assertion]))
}

/// A test whose comparison does not hold.
fn compares(name: &Name) -> String {
    format!(
        "func Test_{}(t *testing.T) {{\n\tgot, want := \"{}\", \"{}\"\n\tif got != want {{\n\t\t\
         t.Errorf(\"got %q, want %q\", got, want)\n\t}}\n}}\n",
        name.snake(),
        name.got(),
        name.wanted()
    )
}

/// True for a file of tests that is built wherever its package is, and takes a test at its end.
fn takes_a_test(file: &Path, text: &str) -> bool {
    let Some(stem) = name_of(file).strip_suffix("_test.go") else { return false };
    let last = stem.rsplit('_').next().filter(|last| *last != stem);
    let is_limited = last.is_some_and(|last| SYSTEMS.contains(&last))
        || text.contains("//go:build")
        || text.contains("// +build");
    let mut lines = text.lines().map(str::trim);
    let imports = lines.any(|line| matches!(line, "\"testing\"" | "import \"testing\""));
    !is_limited && imports && text.contains("\nfunc Test")
}

/// Endings of names that limit a file to a system or a processor.
const SYSTEMS: [&str; 30] = [
    "aix",
    "android",
    "darwin",
    "dragonfly",
    "freebsd",
    "illumos",
    "ios",
    "js",
    "linux",
    "netbsd",
    "openbsd",
    "plan9",
    "solaris",
    "wasip1",
    "windows",
    "unix",
    "386",
    "amd64",
    "arm",
    "arm64",
    "loong64",
    "mips",
    "mips64",
    "mips64le",
    "mipsle",
    "ppc64",
    "ppc64le",
    "riscv64",
    "s390x",
    "wasm",
];

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
        let name = name_of(folder);
        let hidden = name.starts_with(['.', '_']) || matches!(name, "testdata" | "vendor");
        !hidden && !folder.join("go.mod").is_file()
    })
}

fn package(source: &str) -> Option<&str> {
    let clause = source.lines().find_map(|line| line.trim().strip_prefix("package "))?;
    clause.split_whitespace().next().map(|name| name.trim_end_matches(';'))
}
