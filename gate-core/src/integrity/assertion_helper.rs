//! Modules that only assert: tests rest on them, whatever they are called.

use super::language::Language;
use super::lexer::SourceView;
use super::token::{Token, tokens};

/// Words by which a test is failed without an assertion, in Go.
const FAILURES: [&str; 6] = ["Fatal", "Fatalf", "Error", "Errorf", "Fail", "FailNow"];

/// A source in Python, JavaScript, TypeScript or Go that defines functions, asserts at least once a
/// function, and gives nothing back. A product's functions give values back, or do more than they
/// assert.
pub fn is_assertion_helper(path: &str, text: &str) -> bool {
    let Some(language) = Language::from_path(path) else { return false };
    if !matches!(language, Language::Python | Language::Js | Language::Go) {
        return false;
    }
    let view = SourceView::new(text, Some(language));
    let tokens = tokens(&view, language, 0..view.line_count());
    let named_functions = tokens.iter().filter(|token| defines_function(token)).count();
    let arrow_functions =
        tokens.windows(2).filter(|pair| pair[0].text == "=" && pair[1].text == ">").count();
    let functions = named_functions + arrow_functions;
    let assertions = tokens.iter().filter(|token| is_assertion(token, language)).count();
    functions > 0 && assertions >= functions && !gives_back(&tokens)
}

fn defines_function(token: &Token) -> bool {
    matches!(token.text.as_str(), "def" | "function" | "func" | "lambda")
}

fn is_assertion(token: &Token, language: Language) -> bool {
    let word = token.text.as_str();
    word.starts_with("assert")
        || word == "expect"
        || language == Language::Go && (word == "require" || FAILURES.contains(&word))
}

/// A `return` with a value in its line, or a `yield`.
fn gives_back(tokens: &[Token]) -> bool {
    let returns = tokens.windows(2).any(|pair| {
        let [word, next] = pair else { return false };
        word.text == "return" && next.line == word.line && !next.is_layout() && next.text != "}"
    });
    returns || tokens.iter().any(|token| token.text == "yield")
}

#[cfg(test)]
mod tests {
    use super::is_assertion_helper;

    #[test]
    fn modules_that_only_assert() {
        for (path, text) in [
            ("checks.py", "def same(one, other):\n    assert one == other\n"),
            ("lib/checks.js", "exports.same = (one, other) => {\n  expect(one).toBe(other);\n};\n"),
            (
                "checks.ts",
                "export function same(a: number, b: number) {\n  assert.equal(a, b);\n}\n",
            ),
            (
                "check/check.go",
                "package check\n\nfunc Same(t *testing.T, a, b int) {\n\tif a != b {\n\t\tt.Fatal(a)\n\t}\n}\n",
            ),
        ] {
            assert!(is_assertion_helper(path, text), "{path}");
        }
    }

    #[test]
    fn a_product_that_asserts_is_none() {
        for (path, text) in [
            ("calc.py", "def add(a, b):\n    assert a >= 0\n    return a + b\n"),
            (
                "store.py",
                "def put(key):\n    items.append(key)\n\n\ndef check(key):\n    assert key in items\n",
            ),
            ("calc.js", "exports.add = (a, b) => {\n  assert(a);\n  return a + b;\n};\n"),
            ("log.js", "const fs = require('fs');\nfunction log(a) {\n  fs.writeSync(1, a);\n}\n"),
            ("names.py", "A = 1\nassert A\n"),
            ("notes.md", "def same(one, other):\n    assert one == other\n"),
            ("calc.go", "package calc\n\nfunc Add(a, b int) int {\n\treturn a + b\n}\n"),
        ] {
            assert!(!is_assertion_helper(path, text), "{path}");
        }
    }
}
