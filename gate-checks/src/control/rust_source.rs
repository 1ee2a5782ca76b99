//! Finds the place for another test in a source in Rust. The code is searched without its strings
//! and comments; what is not certain takes no test.

use std::ops::Range;
use std::path::{Path, PathBuf};

use gate_core::integrity::{Language, code_alone};

use super::test_tree::{file_name, read_text};

/// The byte of the closing bracket of the first module with `#[cfg(test)]` that takes another test;
/// `None` if the file has no such module.
pub(super) fn test_module_end(text: &str) -> Option<usize> {
    let code = code_alone(text, Language::Rust);
    if is_limited(&code) {
        return None;
    }
    let mut searched = 0;
    while let Some(mark) = code[searched..].find(MARK).map(|offset| searched + offset) {
        searched = mark + MARK.len();
        let is_always_built = depth(&code[..mark]) == Some(0) && !is_conditional(&code[..mark]);
        let Some(body) = module_body(&code, searched) else { continue };
        if is_always_built && takes_tests(&code[body.clone()]) {
            return Some(body.end);
        }
    }
    None
}

const MARK: &str = "#[cfg(test)]";

/// The file of tests takes another one at its end.
pub(super) fn takes_a_test(text: &str) -> bool {
    let code = code_alone(text, Language::Rust);
    !is_limited(&code) && depth(&code) == Some(0) && takes_tests(&code)
}

/// The bytes from the opening bracket to the closing one of the module that begins at `start`,
/// after further attributes.
fn module_body(code: &str, start: usize) -> Option<Range<usize>> {
    let mut unread = code[start..].trim_start();
    while unread.starts_with("#[") {
        let attribute = &unread[..=unread.find(']')?];
        if attribute.contains("cfg") || attribute.contains("path") {
            return None;
        }
        unread = unread[attribute.len()..].trim_start();
    }
    let head_start = code.len() - unread.len();
    let open = head_start + unread.find(['{', ';'])?;
    let head: Vec<_> = code[head_start..open].split_whitespace().collect();
    let is_module = matches!(head.as_slice(), [.., "mod", _]) && code[open..].starts_with('{');
    if !is_module {
        return None;
    }
    let mut open_brackets = 0_usize;
    for (offset, byte) in code[open..].bytes().enumerate() {
        match byte {
            b'{' => open_brackets += 1,
            b'}' => open_brackets -= 1,
            _ => {}
        }
        if open_brackets == 0 {
            return Some(open..open + offset);
        }
    }
    None
}

/// Code whose `#[test]` is the language's own, and marks a plain function.
fn takes_tests(code: &str) -> bool {
    let other_macros =
        ["::test;", "::test,", "::test}", "as test;", "{test,", ", test,", ", test}"];
    let spaced = code.split_whitespace().collect::<Vec<_>>().join(" ");
    let is_other = other_macros.iter().any(|word| spaced.contains(word));
    !is_other && !spaced.contains("#![cfg") && spaced.contains("#[test] fn ")
}

/// A file that is built under some conditions only, or for which `#[test]` may mean
/// something else.
fn is_limited(code: &str) -> bool {
    ["#![cfg", "use test_log::test", "::test;"].iter().any(|word| code.contains(word))
}

/// The number of open brackets; `None` if more are closed than were opened.
fn depth(code: &str) -> Option<usize> {
    code.bytes().try_fold(0_usize, |depth, byte| match byte {
        b'{' => Some(depth + 1),
        b'}' => depth.checked_sub(1),
        _ => Some(depth),
    })
}

/// The files of the modules that a file declares without any condition.
pub(super) fn modules(file: &Path, is_root: bool) -> Vec<PathBuf> {
    let source = read_text(file);
    let code = code_alone(&source, Language::Rust);
    let (Some(folder), false) = (file.parent(), is_limited(&code)) else { return Vec::new() };
    let folder = match file_name(file) {
        "mod.rs" => folder.to_owned(),
        _ if is_root => folder.to_owned(),
        name => folder.join(name.trim_end_matches(".rs")),
    };
    let mut modules = Vec::new();
    let mut line_start = 0;
    for line in code.split_inclusive('\n') {
        let code_above = &code[..line_start];
        line_start += line.len();
        let words: Vec<_> = line.split_whitespace().collect();
        let module = match words.as_slice() {
            ["mod", module] => module.strip_suffix(';'),
            [public, "mod", module] if public.starts_with("pub") => module.strip_suffix(';'),
            _ => None,
        };
        let Some(module) = module else { continue };
        if depth(code_above) != Some(0) || is_conditional(code_above) {
            continue;
        }
        let files = [folder.join(format!("{module}.rs")), folder.join(module).join("mod.rs")];
        modules.extend(files.into_iter().find(|file| file.is_file()));
    }
    modules
}

/// The attributes at the end of this code may leave out the item below them, or place it elsewhere.
fn is_conditional(code_above: &str) -> bool {
    let mut unread = code_above.trim_end();
    while unread.ends_with(']') {
        let Some(start) = unread.rfind('#') else { return true };
        let attribute = &unread[start..];
        // An attribute of the whole file; `is_limited` knows those that may leave it out.
        if attribute.starts_with("#![") {
            return false;
        }
        if attribute.contains("cfg") || attribute.contains("path") {
            return true;
        }
        unread = unread[..start].trim_end();
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
