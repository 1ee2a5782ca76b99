//! The tests in a text: their names, lines and code.
//!
//! A test is found by how its framework has it written (a name, an attribute, a
//! call), and ends where its brackets close or its indentation ends. What is
//! made up when the tests run has no name here.

use super::guarded::{Guarded, guarded};
use super::language::Language;
use super::lexer::{Class, Part, View};
use super::token::{joined, tokens};
use crate::decide::expression::Expression;

/// A test.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Test {
    /// Its name within its file.
    pub(super) name: String,
    /// Its first line with its attributes, and the one after its last; from 0.
    pub(super) lines: (usize, usize),
    /// Its tokens as one text.
    pub(super) body: String,
}

/// The names of the tests in a file, each within its file; empty if its language is not known.
pub fn test_names(path: &str, bytes: &[u8]) -> Vec<String> {
    let Some(language) = Language::from_path(path) else { return Vec::new() };
    let text = String::from_utf8_lossy(bytes);
    let is_product = !matches!(guarded(path), Some(Guarded::Test | Guarded::Support));
    let suite = Suite::new(&View::new(&text, Some(language)), language, is_product);
    suite.tests.into_iter().map(|test| test.name).collect()
}

/// The tests of a file in a language that gate knows: their own names, and their code without its
/// layout.
pub fn tests_in_source(path: &str, text: &str) -> Vec<(String, String)> {
    let Some(language) = Language::from_path(path) else { return Vec::new() };
    let suite = Suite::new(&View::new(text, Some(language)), language, false);
    suite.tests.into_iter().map(|test| (test.name, test.body)).collect()
}

/// The tests of a text.
#[derive(Debug, Default)]
pub(super) struct Suite {
    pub(super) tests: Vec<Test>,
    /// The lines of tests and of what belongs to them; `None`: all.
    pub(super) regions: Option<Vec<(usize, usize)>>,
}

impl Suite {
    /// Of a text that holds no tests.
    pub(super) fn none() -> Self {
        Self { tests: Vec::new(), regions: Some(Vec::new()) }
    }

    /// The tests of a file of tests, or those that stand among a product's code.
    pub(super) fn new(view: &View<'_>, language: Language, is_product: bool) -> Self {
        let regions = is_product.then(|| inline(view, language));
        let mut found: Vec<Test> = Vec::new();
        for (name, line) in definitions(view, language) {
            if found.last().is_some_and(|last| line < last.lines.1) {
                continue;
            }
            let lines = (begin(view, line), end(view, language, line).max(line + 1));
            let body = joined(&tokens(view, language, &[lines]));
            found.push(Test { name, lines, body });
        }
        let regions = regions.map(|mut regions| {
            regions.extend(found.iter().map(|test| test.lines));
            regions
        });
        Self { tests: found, regions }
    }

    /// A line belongs to tests.
    pub(super) fn holds(&self, line: usize) -> bool {
        let Some(regions) = &self.regions else { return true };
        regions.iter().any(|(from, to)| (*from..*to).contains(&line))
    }
}

/// Rust keeps tests beside what they test: what is compiled for tests alone.
fn inline(view: &View<'_>, language: Language) -> Vec<(usize, usize)> {
    static FOR_TESTS: Expression = Expression::new(r"^[ \t]*#\[cfg\((?:all\()?[ \t]*test\b");
    if language != Language::Rust {
        return Vec::new();
    }
    let lines = 0..view.len();
    let begins = lines.filter(|line| FOR_TESTS.is_match(&view.part(*line, Part::Code)));
    begins.map(|line| (line, closed(view, view.range(line).1, b"{"))).collect()
}

/// Each test's name and the line that names it.
fn definitions(view: &View<'_>, language: Language) -> Vec<(String, usize)> {
    let lines = 0..view.len();
    let found = lines.filter_map(|line| {
        let code = view.part(line, Part::Code);
        match language {
            Language::Python => function(&code, line, &DEF, &["test"]),
            Language::Go => function(&code, line, &FUNC, &["Test", "Benchmark", "Example", "Fuzz"]),
            Language::Php => function(&code, line, &FUNCTION, &["test"])
                .or_else(|| called(view, &code, line, &CALL)),
            Language::Js => called(view, &code, line, &CALL),
            Language::Shell => called(view, &code, line, &BATS),
            Language::Ruby => {
                function(&code, line, &DEF, &["test"]).or_else(|| called(view, &code, line, &SPEC))
            }
            Language::Rust => marked(view, &code, line, &RUST_MARK, &FN),
            Language::Java => marked(view, &code, line, &JAVA_MARK, &METHOD),
            Language::Kotlin => marked(view, &code, line, &JAVA_MARK, &FUN),
            Language::CSharp => marked(view, &code, line, &CSHARP_MARK, &METHOD),
            Language::C => macro_call(view, &code, line),
            Language::Make | Language::Yaml => None,
        }
    });
    let mut found: Vec<_> = found.collect();
    // Several marks may stand before one.
    found.dedup();
    found
}

static DEF: Expression = Expression::new(r"^[ \t]*(?:async[ \t]+)?def[ \t]+");
static FUNC: Expression = Expression::new(r"^func[ \t]+(?:\([^)]*\)[ \t]*)?");
static FUNCTION: Expression = Expression::new(r"\bfunction[ \t]+");
static CALL: Expression = Expression::new(
    r"(?:^|[^0-9a-z_.$])(?-i:[xf]?(?:it|test|specify)|Deno\.test)(?:\.[a-z]+)*[ \t]*[(`]",
);
static BATS: Expression = Expression::new(r"^[ \t]*@test[ \t]+");
static SPEC: Expression =
    Expression::new(r"^[ \t]*[xf]?(?:it|specify|test|scenario|example)[ \t(]+[\x22\x27]");
static RUST_MARK: Expression = Expression::new(
    r"^[ \t]*#\[(?:[0-9a-z_]+::)*(?:test|rstest|test_case|test_matrix|quickcheck|wasm_bindgen_test)\b",
);
static FN: Expression = Expression::new(r"\bfn[ \t]+");
static JAVA_MARK: Expression = Expression::new(
    r"^[ \t]*@(?-i:Test|ParameterizedTest|RepeatedTest|TestFactory|TestTemplate|Property)\b",
);
static METHOD: Expression = Expression::new(r"^[ \t]*(?:[0-9a-z_<>\[\],.?]+[ \t]+)+");
static FUN: Expression = Expression::new(r"\bfun[ \t]+");
static CSHARP_MARK: Expression = Expression::new(
    r"^[ \t]*\[(?-i:Fact|Theory|Test|TestMethod|TestCase|TestCaseSource|DataTestMethod|Property)\b",
);
static MACRO: Expression = Expression::new(
    r"^[ \t]*(?-i:(?:TYPED_)?TEST(?:_F|_P|_CASE|_CASE_METHOD)?|SCENARIO|BOOST_AUTO_TEST_CASE)[ \t]*\(",
);

fn word(text: &str) -> String {
    text.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect()
}

/// A function whose name begins in one of these ways.
fn function(
    code: &str,
    line: usize,
    head: &Expression,
    begins: &[&str],
) -> Option<(String, usize)> {
    let name = word(&code[head.find(code)?.end..]);
    begins.iter().any(|begin| name.starts_with(begin)).then_some((name, line))
}

/// A call whose first string is the name.
fn called(view: &View<'_>, code: &str, line: usize, head: &Expression) -> Option<(String, usize)> {
    let found = head.find(code)?;
    let from = view.range(line).0 + found.end.saturating_sub(1);
    let to = view.range((line + 3).min(view.len().saturating_sub(1))).1;
    let open = (from..to).find(|at| view.classes[*at] == Class::Quote)?;
    let inside = (open..to).find(|at| view.classes[*at] != Class::Quote)?;
    let close = (inside..to).find(|at| view.classes[*at] == Class::Quote)?;
    Some((view.text[inside..close].to_owned(), line))
}

/// A test that an attribute marks: its name stands within the next lines.
fn marked(
    view: &View<'_>,
    code: &str,
    line: usize,
    mark: &Expression,
    head: &Expression,
) -> Option<(String, usize)> {
    const MAX_LINES_TO_NAME: usize = 16;
    mark.find(code)?;
    (line..view.len().min(line + MAX_LINES_TO_NAME)).find_map(|at| {
        let code = view.part(at, Part::Code);
        if code.trim_start().starts_with(['@', '[']) {
            return None;
        }
        let rest = &code[head.find(&code)?.end..];
        let quoted = rest.strip_prefix('`').and_then(|rest| rest.split_once('`'));
        let (name, after) = match quoted {
            Some((name, after)) => (name.to_owned(), after),
            None => {
                let name = word(rest);
                let length = name.len();
                (name, &rest[length..])
            }
        };
        let is_call = after.trim_start().starts_with(['(', '<']);
        (!name.is_empty() && is_call).then_some((name, at))
    })
}

fn macro_call(view: &View<'_>, code: &str, line: usize) -> Option<(String, usize)> {
    let from = view.range(line).0 + MACRO.find(code)?.end;
    let rest = &view.text[from..view.range(line).1];
    let name = rest.split_once(')').map_or(rest, |(name, _)| name);
    Some((name.replace(' ', ""), line))
}

/// The first line of the attributes that stand before a test.
fn begin(view: &View<'_>, line: usize) -> usize {
    let mut first = line;
    while first > 0 {
        let code = view.part(first - 1, Part::Code);
        let code = code.trim();
        let is_mark = ["@", "#[", "["].iter().any(|mark| code.starts_with(mark));
        // The end of one that goes on over lines; an empty list ends so, too.
        let closes = matches!(code, ")" | ")]" | "])" | "]");
        if is_mark {
            first -= 1;
        } else if closes {
            match (first.saturating_sub(40)..first).rev().find(|at| opens_mark(view, *at)) {
                Some(at) => first = at,
                None => break,
            }
        } else {
            break;
        }
    }
    first
}

fn opens_mark(view: &View<'_>, line: usize) -> bool {
    let code = view.part(line, Part::Code);
    ["@", "#["].iter().any(|mark| code.trim_start().starts_with(mark))
}

/// The line after a test's last.
fn end(view: &View<'_>, language: Language, line: usize) -> usize {
    let (from, _) = view.range(line);
    match language {
        Language::Python => by_indentation(view, line),
        Language::Ruby => by_end(view, line),
        Language::Js | Language::Php => {
            let code = view.part(line, Part::Code);
            let is_call = CALL.find(&code).map(|call| call.end - 1);
            match is_call {
                Some(at) => closed(view, from + at, b"("),
                None => closed(view, from, b"{"),
            }
        }
        _ => closed(view, from, b"{"),
    }
}

/// The line after that in which the next bracket of a kind closes; a `;` ends
/// what has none.
fn closed(view: &View<'_>, from: usize, open: &[u8]) -> usize {
    let (bytes, mut depth, mut opened) = (view.text.as_bytes(), 0_usize, false);
    for at in from..bytes.len() {
        if !view.is_code(at) {
            continue;
        }
        match bytes[at] {
            b'(' | b'[' | b'{' => {
                opened |= open.contains(&bytes[at]);
                depth += 1;
            }
            b')' | b']' | b'}' => {
                depth = depth.saturating_sub(1);
                let goes_on = open == b"(" && bytes[at + 1..].trim_ascii_start().starts_with(b"(");
                if depth == 0 && opened && !goes_on {
                    return view.line_of(at) + 1;
                }
            }
            b';' if depth == 0 && !opened => return view.line_of(at) + 1,
            _ => {}
        }
    }
    view.len()
}

fn by_indentation(view: &View<'_>, line: usize) -> usize {
    let (own, mut end, mut depth) = (indentation(view.line(line)), line + 1, 0_usize);
    for at in line..view.len() {
        let (from, to) = view.range(at);
        let code = view.part(at, Part::Code);
        let is_inside = view.classes.get(from) == Some(&Class::Long);
        let is_blank = code.trim().is_empty();
        if at > line && depth == 0 && !is_inside && !is_blank && indentation(view.line(at)) <= own {
            break;
        }
        if !is_blank || is_inside {
            end = at + 1;
        }
        for byte in (from..to).filter(|at| view.is_code(*at)).map(|at| view.text.as_bytes()[at]) {
            match byte {
                b'(' | b'[' | b'{' => depth += 1,
                b')' | b']' | b'}' => depth = depth.saturating_sub(1),
                _ => {}
            }
        }
    }
    end
}

fn by_end(view: &View<'_>, line: usize) -> usize {
    let own = indentation(view.line(line));
    for at in line + 1..view.len() {
        let code = view.part(at, Part::Code);
        if indentation(&code) <= own && code.trim_start().starts_with(['e', '}']) {
            return at + 1;
        }
    }
    view.len()
}

/// The width of the white space that a line begins with, in bytes.
fn indentation(line: &str) -> usize {
    line.len() - line.trim_start().len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(language: Language, text: &str, expected: &[(&str, usize, usize)]) {
        let view = View::new(text, Some(language));
        let suite = Suite::new(&view, language, false);
        let found = suite.tests.iter().map(|test| (test.name.as_str(), test.lines.0, test.lines.1));
        assert_eq!(found.collect::<Vec<_>>(), expected, "{text}");
    }

    #[test]
    fn tests_are_found_as_their_frameworks_have_them_written() {
        check(
            Language::Python,
            "import a\n\n@mark(\n  b\n)\ndef test_a(\n    c,\n):\n    d\n\n    e\nf\nclass A:\n  async def test_b(self):\n    g\n  def h(self): i\n",
            &[("test_a", 2, 11), ("test_b", 13, 15)],
        );
        check(
            Language::Rust,
            "fn a() {}\n#[test]\n#[ignore]\nfn b() {\n  c(\"}\");\n}\n#[tokio::test(flavor = \"x\")]\nasync fn d() { e }\n",
            &[("b", 1, 6), ("d", 6, 8)],
        );
        check(
            Language::Js,
            "describe('a', () => {\n  it('b', () => {\n    c('}')\n  })\n  test.each([1])('d %s', (e) => {\n    f\n  })\n  re.test('g')\n})\n",
            &[("b", 1, 4), ("d %s", 4, 7)],
        );
        check(
            Language::Go,
            "func TestA(t *testing.T) {\n\tb()\n}\nfunc c() {}\n",
            &[("TestA", 0, 3)],
        );
        check(
            Language::Java,
            "class A {\n  @Test\n  @Tag(\"x\")\n  public void b() throws C {\n    d();\n  }\n  void e() {}\n}\n",
            &[("b", 1, 6)],
        );
        check(Language::Kotlin, "@Test\nfun `a b`() = run {\n  c()\n}\n", &[("a b", 0, 4)]);
        check(
            Language::CSharp,
            "[Theory]\n[InlineData(1)]\npublic async Task A(int b)\n{\n  C();\n}\n",
            &[("A", 0, 6)],
        );
        check(
            Language::Ruby,
            "  it \"a\" do\n    b\n  end\n  def test_c\n  end\n",
            &[("a", 0, 3), ("test_c", 3, 5)],
        );
        check(
            Language::Php,
            "public function testA() {\n  b();\n}\nit('c', function () {\n  d();\n});\n",
            &[("testA", 0, 3), ("c", 3, 6)],
        );
        check(Language::Shell, "@test \"a b\" {\n  run c\n}\n", &[("a b", 0, 3)]);
        check(Language::C, "TEST_F(A, b) {\n  c();\n}\n", &[("A,b", 0, 3)]);
    }

    #[test]
    fn what_stands_beside_the_tests_of_a_product_is_the_product() {
        let text = "fn a() { b }\n#[cfg(test)]\nmod tests {\n  use c;\n  #[test]\n  fn d() { e }\n}\nfn f() {}\n";
        let view = View::new(text, Some(Language::Rust));
        let suite = Suite::new(&view, Language::Rust, true);
        let held: Vec<_> = (0..view.len()).filter(|line| suite.holds(*line)).collect();
        assert_eq!(held, [1, 2, 3, 4, 5, 6]);
    }

    #[test]
    fn inline_tests_and_test_files_have_names() {
        let inline = b"fn add() {}\n#[cfg(test)]\nmod tests {\n    #[test]\n    fn adds() {}\n}\n";
        assert_eq!(test_names("src/lib.rs", inline), ["adds"]);
        assert_eq!(test_names("tests/test_a.py", b"def test_a():\n    assert True\n"), ["test_a"]);
        assert!(test_names("README.md", b"def test_a(): pass\n").is_empty());
    }
}
