//! Inline tests are set back, and the product around them stays the tree's.

use proptest::prelude::*;

use super::*;

fn merged(path: &str, baseline: &str, tree: &str) -> Option<String> {
    let text = with_baseline_inline_tests(path, baseline.as_bytes(), tree.as_bytes())?;
    Some(String::from_utf8(text).unwrap())
}

#[track_caller]
fn becomes(baseline: &str, tree: &str, expected: &str) {
    let text = merged("src/lib.rs", baseline, tree).unwrap_or_else(|| tree.to_owned());
    assert_eq!(text, expected);
}

#[track_caller]
fn same(baseline: &str, tree: &str) {
    assert_eq!(merged("src/lib.rs", baseline, tree), None);
}

const SOURCE: &str = "\
pub fn add(a: u8, b: u8) -> u8 {
    a + b
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn adds() {
        assert_eq!(add(1, 2), 3); // }
    }
}
";

#[test]
fn a_product_that_changes_keeps_its_tests() {
    same(SOURCE, &SOURCE.replace("a + b", "b + a"));
    same(
        SOURCE,
        &SOURCE.replace("assert_eq!(add(1, 2), 3); // }", "assert_eq!(\n  add(1, 2), 3);"),
    );
    same(SOURCE, &format!("/// Adds.\n{SOURCE}pub mod more {{ pub fn f() {{}} }}\n"));
    same("fn a() {}\n", "fn b() {}\n");
}

#[test]
fn a_test_that_was_changed_is_put_back_in_its_place() {
    let product = SOURCE.replace("a + b", "b + a");
    becomes(SOURCE, &product.replace(", 3)", ", 4)"), &product);
    becomes(SOURCE, &product.replace("cfg(test)", "cfg(all(test, feature = \"x\"))"), &product);
    becomes(SOURCE, &product.replace("#[cfg(test)]\n", "#[cfg(any())]\n"), &product);
    becomes(SOURCE, &product.replace("    #[test]\n", "    #[test]\n    #[ignore]\n"), &product);
    let more = "    #[test]\n    fn more() {}\n}\n";
    becomes(SOURCE, &format!("{}{more}", product.strip_suffix("}\n").unwrap()), &product);
    let body = product.find(" {\n    use").unwrap();
    becomes(SOURCE, &format!("{};\n", &product[..body]), &product);
}

#[test]
fn a_test_that_is_gone_is_put_back_where_it_stood() {
    let at = SOURCE.find("#[cfg(test)]").unwrap();
    let (product, tests) = SOURCE.split_at(at);
    becomes(SOURCE, product, &format!("{product}\n{}\n", tests.trim_end()));
    let nested = |inner: &str| format!("mod a {{\n    fn b() {{}}\n{inner}}}\nfn c() {{}}\n");
    let test = "    #[test]\n    fn d() {}\n";
    becomes(&nested(test), &nested(""), &nested("\n#[test]\n    fn d() {}\n"));
    becomes("#[cfg(test)]\nmod tests;\n", "", "\n#[cfg(test)]\nmod tests;\n");
}

#[test]
fn a_test_that_is_new_is_taken_out() {
    becomes("fn a() {}\n", "fn a() {}\n#[cfg(test)]\nmod tests { }\n", "fn a() {}\n\n");
    becomes(
        "fn a() {}\n",
        "fn a() {}\n/// Says.\n#[tokio::test]\nasync fn b() {}\n",
        "fn a() {}\n\n",
    );
    // A product of its own for the tests.
    becomes(
        "fn a() {}\n",
        "#[cfg(test)]\nfn a() -> u8 { 3 }\n#[cfg(not(test))]\nfn a() {}\n",
        "\n#[cfg(not(test))]\nfn a() {}\n",
    );
    becomes(
        "impl A {\n}\n",
        "impl A {\n    #[cfg(test)]\n    fn b() {}\n}\n",
        "impl A {\n    \n}\n",
    );
    becomes("", "#[cfg(test)]\nmacro_rules! assert_eq { ($($a:tt)*) => {} }\n", "\n");
}

#[test]
fn what_is_only_named_like_a_test_is_none() {
    for item in [
        "#[cfg(not(test))]\nfn a() {}\n",
        "#[cfg(feature = \"test\")]\nfn a() {}\n",
        "#[cfg_attr(test, derive(Debug))]\nstruct A;\n",
        "const A: &str = \"#[cfg(test)] mod tests {}\";\n",
        "// #[cfg(test)]\nfn b() {}\n",
        "use a::{b, c};\nconst B: [u8; { 2 }] = { [1, 2] };\n",
        "impl A<{ 1 }> { const fn c() {} }\n",
    ] {
        same("fn z() {}\n", &format!("fn z() {{}}\n{item}"));
    }
    let import = "#[cfg(test)]\nuse a::b;\n";
    same(import, "use a::b;\n");
    becomes(
        "const A: u8 = { 1 };\n#[test]\nfn t() { 1 }\n",
        "const A: u8 = { 2 };\n#[test]\nfn t() { 2 }\n",
        "const A: u8 = { 2 };\n#[test]\nfn t() { 1 }\n",
    );
}

#[test]
fn a_source_for_tests_alone_is_the_baseline_s() {
    let source = "#![cfg(test)]\nfn a() {}\n";
    becomes(source, "fn a() { 1 }\n", source);
    same(source, "#![cfg(test)]\n\nfn a() { }\n");
}

const DOCUMENTED: &str = "\
//! A crate.
//!
//! ```
//! assert_eq!(a::add(1, 2), 3);
//! ```

/// Adds.
///
/// ```
/// assert_eq!(a::add(2, 2), 4);
/// ```
pub fn add() {}

/// Says.
pub struct A {
    /// ```
    /// assert!(true);
    /// ```
    pub b: u8,
}
";

#[test]
fn examples_of_documentation_are_set_back() {
    same(DOCUMENTED, &DOCUMENTED.replace("Adds.", "Adds up.").replace("{}", "{ 1 }"));
    same(DOCUMENTED, &DOCUMENTED.replace("/// Says.\n", ""));
    becomes(DOCUMENTED, &DOCUMENTED.replace("4);", "5);"), DOCUMENTED);
    becomes(
        DOCUMENTED,
        &DOCUMENTED.replace("/// ```\n/// assert", "/// ```ignore\n/// assert"),
        DOCUMENTED,
    );
    becomes(DOCUMENTED, &DOCUMENTED.replace("//! ```\n", "//! ```text\n"), DOCUMENTED);
    becomes(DOCUMENTED, &DOCUMENTED.replace("true", "1 == 1"), DOCUMENTED);
    let without =
        DOCUMENTED.replace("///\n/// ```\n/// assert_eq!(a::add(2, 2), 4);\n/// ```\n", "");
    becomes(DOCUMENTED, &without, DOCUMENTED);
    let undocumented = without.replace("/// Adds.\n", "");
    becomes(DOCUMENTED, &undocumented, DOCUMENTED);
    let removed = undocumented.replace("pub fn add() {}\n", "");
    let item = "\n/// Adds.\n/// \n/// ```\n/// assert_eq!(a::add(2, 2), 4);\n/// ```\n#[allow(dead_code)]\nfn documented_before_1() {}\n";
    becomes(DOCUMENTED, &removed, &format!("{removed}{item}"));
    let headless = DOCUMENTED.split_once("\n\n").unwrap().1;
    let head = "//! A crate.\n//!\n//! ```\n//! assert_eq!(a::add(1, 2), 3);\n//! ```\n";
    becomes(DOCUMENTED, headless, &format!("{head}{headless}"));
}

#[test]
fn a_new_example_is_not_run() {
    let tree = "/// Says.\n///\n/// ```rust,should_panic\n/// panic!();\n/// ```\nfn a() {}\n";
    becomes("fn a() {}\n", tree, &tree.replace("rust,should_panic", "text"));
    let block = "/** Says.\n\n```\nassert!(b);\n```\n*/\nfn a() {}\n";
    becomes("fn a() {}\n", block, &block.replacen("```", "```text", 1));
    same("fn a() {}\n", "/// ```sh\n/// rm\n/// ```\n/// ```ignore\n/// x\n/// ```\nfn a() {}\n");
    becomes(block, &block.replace("(b)", "(true)"), block);
    let indented = |code: &str| format!("/// Says.\n///\n///     {code}\nfn a() {{}}\n");
    becomes(&indented("assert!(b)"), &indented("assert!(true)"), &indented("assert!(b)"));
}

#[test]
fn suites_of_vitest_are_set_back() {
    let source = |product: &str, expected: &str| {
        format!(
            "export const a = {product}\nif (import.meta.vitest) {{\n  it('b', () => {{ expect(a).toBe({expected}) }})\n}}\nexport {{}}\n"
        )
    };
    let path = "src/a.ts";
    assert_eq!(merged(path, &source("1", "1"), &source("2", "1")), None);
    assert_eq!(merged(path, &source("1", "1"), &source("2", "2")).unwrap(), source("2", "1"));
    let removed = merged(path, &source("1", "1"), "export const a = 2\n").unwrap();
    assert!(removed.ends_with("expect(a).toBe(1) })\n}\n"), "{removed}");
    assert_eq!(merged(path, "a\n", "a\nif (import.meta.vitest) { b({}) }\n").unwrap(), "a\n\n");
    assert_eq!(merged("a.py", "a", "b"), None);
}

/// Pieces of sources.
const PIECES: [&str; 20] = [
    "#[cfg(test)]\n",
    "mod a {",
    "}",
    "fn b() {}",
    "#[test]",
    "\n",
    "/// ```\n",
    "/// c\n",
    "//! d\n",
    "/** e",
    "*/",
    "#![cfg(test)]",
    "if (import.meta.vitest) {",
    "(",
    ";",
    "\"",
    "é",
    "impl A {",
    "struct B { c: u8 }",
    "'",
];

proptest! {
    #[test]
    fn any_text_is_answered(
        one in prop::collection::vec(prop::sample::select(&PIECES), 0..14),
        other in prop::collection::vec(prop::sample::select(&PIECES), 0..14),
        bytes in prop::collection::vec(any::<u8>(), 0..40),
    ) {
        let (one, other) = (one.concat(), other.concat());
        for path in ["a.rs", "a.ts", "a.py", "a"] {
            with_baseline_inline_tests(path, &bytes, one.as_bytes());
            with_baseline_inline_tests(path, one.as_bytes(), other.as_bytes());
            prop_assert_eq!(with_baseline_inline_tests(path, one.as_bytes(), one.as_bytes()), None);
        }
    }
}
