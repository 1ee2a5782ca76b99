//! Imports run one way: no circle of more than three files.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use crate::here::files;
use crate::needs::root;
use crate::tidy::CRATES;

/// A module as the segments of its path below the crate.
type Module = Vec<String>;

/// The most files that may import each other in a circle: a parent and what it is made of.
const MAX_CIRCLE: usize = 3;

/// The modules of a crate, their imports and re-exports.
struct Crate {
    name: String,
    files: BTreeMap<Module, PathBuf>,
    imports: BTreeMap<Module, Vec<Vec<String>>>,
    /// Names that a module hands on, each with the path that it takes them from.
    exports: BTreeMap<Module, BTreeMap<String, Vec<String>>>,
}

impl Crate {
    fn read(folder: &Path) -> Self {
        let name = folder.file_name().unwrap().to_string_lossy().replace('-', "_");
        let source = folder.join("src");
        let mut all = Self {
            name,
            files: BTreeMap::new(),
            imports: BTreeMap::new(),
            exports: BTreeMap::new(),
        };
        for path in files(&source) {
            let Some(module) = module(path.strip_prefix(&source).unwrap()) else { continue };
            let code = code(&fs::read_to_string(&path).unwrap());
            for (is_public, tree) in uses(&code) {
                for (path, name) in flat(&tree) {
                    if is_public {
                        all.exports.entry(module.clone()).or_default().insert(name, path);
                    } else {
                        all.imports.entry(module.clone()).or_default().push(path);
                    }
                }
            }
            all.imports.entry(module.clone()).or_default().extend(inline(&code));
            all.files.insert(module, path);
        }
        all
    }

    /// The module that a path in `from` leads to, through re-exports.
    fn target(&self, from: &Module, path: &[String], hops: usize) -> Option<Module> {
        let mut module = from.clone();
        let mut rest = path;
        match rest.first()?.as_str() {
            "crate" => (module, rest) = (Vec::new(), &rest[1..]),
            name if name == self.name => (module, rest) = (Vec::new(), &rest[1..]),
            "self" => rest = &rest[1..],
            "super" => {
                while rest.first().is_some_and(|part| part == "super") {
                    module.pop();
                    rest = &rest[1..];
                }
            }
            child => {
                module.push(child.to_owned());
                if !self.files.contains_key(&module) {
                    return None;
                }
                rest = &rest[1..];
            }
        }
        while let Some(part) = rest.first() {
            let inner: Module = module.iter().chain([part]).cloned().collect();
            if !self.files.contains_key(&inner) {
                break;
            }
            (module, rest) = (inner, &rest[1..]);
        }
        let export = rest.first().and_then(|name| self.exports.get(&module)?.get(name));
        match export {
            Some(export) if hops > 0 => {
                let whole: Vec<_> = export.iter().chain(&rest[1..]).cloned().collect();
                self.target(&module, &whole, hops - 1).or(Some(module))
            }
            _ => Some(module),
        }
    }

    fn arrows(&self) -> BTreeMap<&Module, BTreeSet<Module>> {
        let arrows = self.imports.iter().map(|(from, paths)| {
            let targets = paths.iter().filter_map(|path| self.target(from, path, 6));
            (from, targets.filter(|target| target != from).collect())
        });
        arrows.collect()
    }

    /// The circles of more than [`MAX_CIRCLE`] files: each file's reach is followed, and files
    /// that reach each other stand in one circle.
    fn circles(&self) -> BTreeSet<Vec<String>> {
        let arrows = self.arrows();
        let reach: BTreeMap<_, _> =
            arrows.keys().map(|module| (*module, reach(&arrows, module))).collect();
        let circles = reach.iter().map(|(module, reached)| {
            let mutual = reached.iter().filter(|other| reach[other].contains(*module));
            mutual.map(|other| self.files[other].display().to_string()).collect::<Vec<_>>()
        });
        circles.filter(|circle| circle.len() > MAX_CIRCLE).collect()
    }
}

fn reach(arrows: &BTreeMap<&Module, BTreeSet<Module>>, from: &Module) -> BTreeSet<Module> {
    let mut reached = BTreeSet::new();
    let mut open = vec![from];
    while let Some(module) = open.pop() {
        for next in arrows.get(module).into_iter().flatten() {
            if reached.insert(next.clone()) {
                open.push(next);
            }
        }
    }
    reached
}

/// The module of a source file; none for tests.
fn module(path: &Path) -> Option<Module> {
    let text = path.to_str()?.strip_suffix(".rs")?;
    let mut parts: Module = text.split('/').map(str::to_owned).collect();
    if parts.iter().any(|part| part == "tests") {
        return None;
    }
    if parts.last().is_some_and(|part| ["mod", "lib", "main"].contains(&part.as_str())) {
        parts.pop();
    }
    Some(parts)
}

/// A source without its comments and its tests at the end.
fn code(text: &str) -> String {
    let body = text.split("#[cfg(test)]\nmod tests {").next().unwrap_or_default();
    let lines = body.lines().filter(|line| !line.trim_start().starts_with("//"));
    lines.collect::<Vec<_>>().join("\n")
}

/// The trees of all `use` items, and whether they are re-exports.
fn uses(code: &str) -> Vec<(bool, String)> {
    let mut found = Vec::new();
    for (at, _) in code.match_indices("use ") {
        let line = code[..at].rsplit('\n').next().unwrap_or_default().trim_start();
        let is_public = line.starts_with("pub");
        if !(line.is_empty() || is_public) {
            continue;
        }
        if let Some((tree, _)) = code[at + 4..].split_once(';') {
            found.push((is_public, tree.split_whitespace().collect::<Vec<_>>().join(" ")));
        }
    }
    found
}

/// The paths of a `use` tree, each with the name that it brings.
fn flat(tree: &str) -> Vec<(Vec<String>, String)> {
    let tree = tree.trim();
    let Some((prefix, rest)) = tree.split_once('{') else {
        let (path, name) = tree.split_once(" as ").unwrap_or((tree, ""));
        let mut path: Vec<String> = path.split("::").map(|part| part.trim().to_owned()).collect();
        if path.len() > 1 && path.last().is_some_and(|part| part == "self") {
            path.pop();
        }
        let name = if name.is_empty() { path.last().unwrap().clone() } else { name.to_owned() };
        return vec![(path, name)];
    };
    let inner = rest.rsplit_once('}').map_or(rest, |(inner, _)| inner);
    let mut depth = 0;
    let parts = inner.split(|letter| {
        depth += i32::from(letter == '{') - i32::from(letter == '}');
        letter == ',' && depth == 0
    });
    let parts = parts.filter(|part| !part.trim().is_empty());
    parts.flat_map(|part| flat(&format!("{prefix}{}", part.trim()))).collect()
}

/// The paths from `crate::`, `super::` and `self::` in the code beside its `use` items.
fn inline(code: &str) -> Vec<Vec<String>> {
    let mut found = Vec::new();
    for start in ["crate::", "super::", "self::"] {
        for (at, _) in code.match_indices(start) {
            let before = &code[..at];
            let in_use = before.rsplit(['\n', ';']).next().unwrap_or_default().contains("use ");
            if before.ends_with(|letter: char| letter.is_alphanumeric() || "_:".contains(letter))
                || before.ends_with("in ")
                || in_use
            {
                continue;
            }
            let end = code[at..].find(|c: char| !(c.is_alphanumeric() || "_:".contains(c)));
            let path = &code[at..at + end.unwrap_or(code.len() - at)];
            found.push(
                path.split("::").map(str::to_owned).filter(|part| !part.is_empty()).collect(),
            );
        }
    }
    found
}

#[test]
fn imports_run_one_way() {
    for krate in CRATES {
        let circles = Crate::read(&root().join(krate)).circles();
        assert!(circles.is_empty(), "move what both need into a file below them: {circles:#?}");
    }
}

#[test]
fn circles_are_found_through_re_exports() {
    let folder = tempfile::tempdir().unwrap();
    let source = folder.path().join("src");
    fs::create_dir_all(source.join("low")).unwrap();
    let write = |name: &str, text: &str| fs::write(source.join(name), text).unwrap();
    write("lib.rs", "mod low;\nmod high;\nmod side;\nmod other;\n");
    write("low.rs", "mod inner;\npub(crate) use inner::Thing;\n");
    write("low/inner.rs", "use crate::other::{self, Other};\npub struct Thing;\n");
    write("high.rs", "use crate::low::Thing;\n");
    write("side.rs", "fn side() { crate::high::call() }\n");
    write("other.rs", "use crate::{side, low::Nothing};\n");
    let circles = Crate::read(folder.path()).circles();
    assert_eq!(circles.len(), 1, "{circles:?}");
    assert_eq!(circles.first().unwrap().len(), 4, "{circles:?}");
    write("side.rs", "// crate::high is not called\n");
    assert!(Crate::read(folder.path()).circles().is_empty());
}
