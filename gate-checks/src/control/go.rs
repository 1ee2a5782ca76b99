//! A control for `go test`.

use std::path::{Path, PathBuf};

use super::names::{ControlName, FailureKind};
use super::pytest::missing_line_end;
use super::test_tree::{Draft, Namer, TestTree, file_name, read_text};

/// A test file in a folder that the command's patterns reach, in the package that is there. Also
/// additions to the files of tests in the packages that were worked on, and in the nearest one.
pub(super) fn drafts(tree: &TestTree<'_>, new_name: Namer<'_>) -> Vec<Draft> {
    let Some(FolderPattern { folder: top, is_deep }) = FolderPattern::first_of(tree) else {
        return Vec::new();
    };
    let is_reached = |file: &Path| {
        let folder = file.parent().unwrap_or(file);
        (folder == top || is_deep) && is_visited(folder, &top)
    };
    let source = tree.nearest(&top, |file| {
        file_name(file).ends_with(".go")
            && !file_name(file).ends_with("_test.go")
            && is_reached(file)
    });
    let main = source.and_then(|source| new_file(&source, new_name));
    let changed_files = tree.changed.edited.iter().chain(tree.changed.added);
    let changed_sources = changed_files.filter(|file| file_name(file).ends_with(".go"));
    let mut packages: Vec<_> =
        changed_sources.filter_map(|file| Some(tree.root.join(file.parent()?))).collect();
    packages.extend(
        tree.nearest(&top, |file| file_name(file).ends_with("_test.go") && is_reached(file))
            .and_then(|file| file.parent().map(Path::to_owned)),
    );
    let additions = tree.additions(&top, |file, text| {
        let folder = file.parent()?;
        let is_chosen = is_reached(file) && packages.iter().any(|package| package == folder);
        (is_chosen && takes_a_test(file, text)).then(|| {
            let test_name = new_name(FailureKind::Inside);
            let text = format!("{}\n{}", missing_line_end(text), failing_comparison(&test_name));
            Draft::new(file.to_owned(), text, [test_name])
        })
    });
    main.into_iter().chain(additions).collect()
}

/// A new file beside a source.
fn new_file(source: &Path, new_name: Namer<'_>) -> Option<Draft> {
    let source_text = read_text(source);
    let package = package_name(&source_text)?;
    let (raise, assertion) = (new_name(FailureKind::Raise), new_name(FailureKind::Assertion));
    let file = source.with_file_name(format!("{}_test.go", raise.snake()));
    let text = format!(
        "package {package}\n\nimport \"testing\"\n\nfunc Test_{}(t *testing.T) {{\n\t\
         t.Fatal(\"{}\")\n}}\n\n{}",
        raise.snake(),
        raise.actual_value(),
        failing_comparison(&assertion)
    );
    Some(Draft::new(file, text, [raise, assertion]))
}

/// A test whose comparison does not hold.
fn failing_comparison(name: &ControlName) -> String {
    format!(
        "func Test_{}(t *testing.T) {{\n\tgot, want := \"{}\", \"{}\"\n\tif got != want {{\n\t\t\
         t.Errorf(\"got %q, want %q\", got, want)\n\t}}\n}}\n",
        name.snake(),
        name.actual_value(),
        name.expected_value()
    )
}

/// The file of tests is built wherever its package is, and takes a test at its end.
fn takes_a_test(file: &Path, text: &str) -> bool {
    let Some(stem) = file_name(file).strip_suffix("_test.go") else { return false };
    let ending = stem.rsplit('_').next().filter(|ending| *ending != stem);
    let is_limited = ending.is_some_and(|ending| SYSTEMS.contains(&ending))
        || text.contains("//go:build")
        || text.contains("// +build");
    let mut lines = text.lines().map(str::trim);
    let imports_testing = lines.any(|line| matches!(line, "\"testing\"" | "import \"testing\""));
    !is_limited && imports_testing && text.contains("\nfunc Test")
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

/// The packages that a command names: `./a/...`.
struct FolderPattern {
    folder: PathBuf,
    /// The folders below it are meant, too.
    is_deep: bool,
}

impl FolderPattern {
    /// The first pattern of a command. Only patterns that begin with a dot name folders.
    fn first_of(tree: &TestTree<'_>) -> Option<Self> {
        let patterns = tree.args.iter().filter(|word| !word.starts_with('-'));
        let Some(pattern) = patterns.map(String::as_str).find(|word| word.starts_with('.')) else {
            return Some(Self { folder: tree.cwd.to_owned(), is_deep: false });
        };
        let (path, is_deep) = match pattern.strip_suffix("...") {
            Some(path) => (path, true),
            None => (pattern, false),
        };
        let relative = path.trim_start_matches("./").trim_end_matches(['/', '.']);
        // Joined with an empty path, the folder would end with a slash.
        let folder =
            if relative.is_empty() { tree.cwd.to_owned() } else { tree.cwd.join(relative) };
        folder.is_dir().then_some(Self { folder, is_deep })
    }
}

/// Patterns with `...` reach the folder: no other module, nothing hidden and no test data lies
/// between.
fn is_visited(folder: &Path, top: &Path) -> bool {
    let mut folders_between = folder.ancestors().take_while(|ancestor| *ancestor != top);
    folders_between.all(|folder| {
        let name = file_name(folder);
        let is_hidden = name.starts_with(['.', '_']) || matches!(name, "testdata" | "vendor");
        !is_hidden && !folder.join("go.mod").is_file()
    })
}

fn package_name(source: &str) -> Option<&str> {
    let clause = source.lines().find_map(|line| line.trim().strip_prefix("package "))?;
    clause.split_whitespace().next().map(|name| name.trim_end_matches(';'))
}
