//! Finds the place for another test in a source in Rust.

use std::path::{Path, PathBuf};

use gate_core::integrity::{Language, code_alone};

use super::place::{name, text};

/// The place of the closing bracket of the first module with `#[cfg(test)]` that takes another
/// test; none if the file has no such module.
pub(super) fn test_module_end(text: &str) -> Option<usize> {
    let code = code_alone(text, Language::Rust);
    if is_limited(&code) {
        return None;
    }
    let mut from = 0;
    while let Some(at) = code[from..].find(MARK).map(|at| from + at) {
        from = at + MARK.len();
        let is_certain = depth(&code[..at]) == Some(0) && !has_attribute(&code[..at]);
        let Some((open, close)) = module(&code, from) else { continue };
        if is_certain && takes_tests(&code[open..close]) {
            return Some(close);
        }
    }
    None
}

const MARK: &str = "#[cfg(test)]";

/// True for a file of tests that takes another one at its end.
pub(super) fn takes_a_test(text: &str) -> bool {
    let code = code_alone(text, Language::Rust);
    !is_limited(&code) && depth(&code) == Some(0) && takes_tests(&code)
}

/// The brackets of the module that begins here, after further attributes.
fn module(code: &str, from: usize) -> Option<(usize, usize)> {
    let mut rest = code[from..].trim_start();
    while rest.starts_with("#[") {
        let attribute = &rest[..=rest.find(']')?];
        if attribute.contains("cfg") || attribute.contains("path") {
            return None;
        }
        rest = rest[attribute.len()..].trim_start();
    }
    let open = code.len() - rest.len() + rest.find(['{', ';'])?;
    let head: Vec<_> = code[code.len() - rest.len()..open].split_whitespace().collect();
    let is_module = matches!(head.as_slice(), [.., "mod", _]) && code[open..].starts_with('{');
    if !is_module {
        return None;
    }
    let mut inner = 0_usize;
    for (at, byte) in code[open..].bytes().enumerate() {
        match byte {
            b'{' => inner += 1,
            b'}' => inner -= 1,
            _ => {}
        }
        if inner == 0 {
            return Some((open, open + at));
        }
    }
    None
}

/// True for code whose `#[test]` is the language's own, and marks a plain function.
fn takes_tests(code: &str) -> bool {
    let other = ["::test;", "::test,", "::test}", "as test;", "{test,", ", test,", ", test}"];
    let spaced = code.split_whitespace().collect::<Vec<_>>().join(" ");
    let is_other = other.iter().any(|word| spaced.contains(word)) || spaced.contains("#![cfg");
    !is_other && spaced.contains("#[test] fn ")
}

/// True for a file that is built under some conditions only, or for which `#[test]` may mean
/// something else.
fn is_limited(code: &str) -> bool {
    ["#![cfg", "use test_log::test", "::test;"].iter().any(|word| code.contains(word))
}

/// The number of open brackets; none if more are closed than were opened.
fn depth(code: &str) -> Option<usize> {
    code.bytes().try_fold(0_usize, |depth, byte| match byte {
        b'{' => Some(depth + 1),
        b'}' => depth.checked_sub(1),
        _ => Some(depth),
    })
}

/// The files of the modules that a file declares without any condition.
pub(super) fn modules(file: &Path, is_root: bool) -> Vec<PathBuf> {
    let source = text(file);
    let code = code_alone(&source, Language::Rust);
    let (Some(folder), false) = (file.parent(), is_limited(&code)) else { return Vec::new() };
    let folder = match name(file) {
        "mod.rs" => folder.to_owned(),
        _ if is_root => folder.to_owned(),
        name => folder.join(name.trim_end_matches(".rs")),
    };
    let mut found = Vec::new();
    let mut at = 0;
    for line in code.split_inclusive('\n') {
        let before = &code[..at];
        at += line.len();
        let words: Vec<_> = line.split_whitespace().collect();
        let module = match words.as_slice() {
            ["mod", module] => module.strip_suffix(';'),
            [public, "mod", module] if public.starts_with("pub") => module.strip_suffix(';'),
            _ => None,
        };
        let Some(module) = module else { continue };
        if depth(before) != Some(0) || has_attribute(before) {
            continue;
        }
        let files = [folder.join(format!("{module}.rs")), folder.join(module).join("mod.rs")];
        found.extend(files.into_iter().find(|file| file.is_file()));
    }
    found
}

/// True if the last attributes before an item may leave it out, or place it elsewhere.
fn has_attribute(before: &str) -> bool {
    let mut rest = before.trim_end();
    while rest.ends_with(']') {
        let Some(at) = rest.rfind('#') else { return true };
        // An attribute of the whole file; `is_limited` knows those that may leave it out.
        if rest[at..].starts_with("#![") {
            return false;
        }
        if rest[at..].contains("cfg") || rest[at..].contains("path") {
            return true;
        }
        rest = rest[..at].trim_end();
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: bool) {
        let end = test_module_end(text);
        assert_eq!(end.is_some(), expected, "{text}");
        if let Some(end) = end {
            assert!(text[end..].starts_with("} // here"), "{text}: {}", &text[end..]);
        }
    }

    #[test]
    fn the_end_of_a_module_of_tests() {
        check("#[cfg(test)]\nmod tests {\n #[test]\n fn a() { \"}\"; }\n} // here\n", true);
        check("#[cfg(test)]\n#[allow(a)]\npub(crate) mod t { #[test] fn a() {} } // here", true);
        check("#[cfg(test)]\nmod tests { /* } */ #[test]\nfn a() { '}' } r#\"}\"# } // here", true);
        check(
            "#[cfg(test)]\nuse a;\n#[cfg(test)]\nmod t { #[test] fn a() {} } // here\nfn b() {}",
            true,
        );
        check("#[cfg(test)]\nmod tests;\n", false);
        check("#[cfg(test)]\nmod tests { use tokio::test; #[test] async fn a() {} }", false);
        check("#[cfg(test)]\nmod tests { #[tokio::test] async fn a() {} }", false);
        check("#[cfg(test)]\n#[cfg(unix)]\nmod tests { #[test] fn a() {} }", false);
        check("#[cfg(unix)]\n#[cfg(test)]\nmod tests { #[test] fn a() {} }", false);
        check("#[cfg(all(test, unix))]\nmod tests { #[test] fn a() {} }", false);
        check("#![cfg(unix)]\n#[cfg(test)]\nmod tests { #[test] fn a() {} }", false);
        check("mod a { #[cfg(test)]\nmod tests { #[test] fn a() {} } }", false);
        check("macro_rules! a { () => { #[cfg(test)]\nmod t { #[test] fn a() {} } } }", false);
        check("// #[cfg(test)]\n// mod tests { #[test] fn a() {} }", false);
    }

    #[test]
    fn a_file_of_tests_that_takes_another_one() {
        assert!(takes_a_test("use a;\n#[test]\nfn b() {}\n"));
        assert!(takes_a_test("#[test]\nfn b() {}\n#[tokio::test]\nasync fn c() {}\n"));
        assert!(!takes_a_test("use tokio::test;\n#[test]\nasync fn b() {}\n"));
        assert!(!takes_a_test("#![cfg(unix)]\n#[test]\nfn b() {}\n"));
        assert!(!takes_a_test("fn main() {}\n"));
    }

    #[test]
    fn modules_that_are_always_built() {
        let folder = tempfile::tempdir().unwrap();
        let file = |name: &str| folder.path().join(name);
        for name in ["src/lib.rs", "src/a.rs", "src/b/mod.rs", "src/a/c.rs", "src/d.rs"] {
            std::fs::create_dir_all(file(name).parent().unwrap()).unwrap();
            std::fs::write(file(name), "mod c;\n").unwrap();
        }
        let lib = "mod a;\n#[doc(hidden)]\npub mod b;\n#[cfg(unix)]\nmod d;\nmod e { mod d; }\n";
        std::fs::write(file("src/lib.rs"), lib).unwrap();
        assert_eq!(modules(&file("src/lib.rs"), true), [file("src/a.rs"), file("src/b/mod.rs")]);
        assert_eq!(modules(&file("src/a.rs"), false), [file("src/a/c.rs")]);
    }
}
