//! The tests in a text: their names, lines and code.
//!
//! A test is found by how its framework has it written (a name, an attribute, a
//! call), and ends where its brackets close or its indentation ends. What is
//! made up when the tests run has no name here.

use std::ops::Range;

use super::guarded::{Guarded, guarded};
use super::language::Language;
use super::lexer::{ByteClass, LinePart, SourceView};
use super::token::{joined, tokens};
use crate::decide::expression::Expression;

/// A test, as its source has it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourceTest {
    /// Its name within its file.
    pub name: String,
    /// Its tokens as one text: its code without its layout.
    pub body: String,
}

/// The names of the tests in a file, each within its file; empty if its language is not known.
pub fn test_names(path: &str, bytes: &[u8]) -> Vec<String> {
    let Some(language) = Language::from_path(path) else { return Vec::new() };
    let text = String::from_utf8_lossy(bytes);
    let is_product = !matches!(guarded(path), Some(Guarded::Test | Guarded::Support));
    let suite = Suite::read(&SourceView::new(&text, Some(language)), language, is_product);
    suite.tests.into_iter().map(|placed| placed.test.name).collect()
}

/// The tests of a file in a language that gate knows, wherever they stand in it.
pub fn tests_in_source(path: &str, text: &str) -> Vec<SourceTest> {
    let Some(language) = Language::from_path(path) else { return Vec::new() };
    let suite = Suite::read(&SourceView::new(text, Some(language)), language, false);
    suite.tests.into_iter().map(|placed| placed.test).collect()
}

/// The tests of a text.
#[derive(Debug, Default)]
pub(super) struct Suite {
    tests: Vec<PlacedTest>,
    /// The lines of tests and of what belongs to them; `None`: all lines.
    regions: Option<Vec<Range<usize>>>,
}

#[derive(Debug)]
struct PlacedTest {
    test: SourceTest,
    /// With those of its attributes, from 0.
    lines: Range<usize>,
}

impl Suite {
    /// The suite of a text that holds no tests.
    pub(super) fn empty() -> Self {
        Self { tests: Vec::new(), regions: Some(Vec::new()) }
    }

    /// The tests of a file of tests, or those that stand among a product's code.
    pub(super) fn read(view: &SourceView<'_>, language: Language, is_product: bool) -> Self {
        let mut regions = is_product.then(|| inline_regions(view, language));
        let mut tests: Vec<PlacedTest> = Vec::new();
        for definition in definitions(view, language) {
            let line = definition.line;
            // A test within a test belongs to the outer one.
            if tests.last().is_some_and(|last| line < last.lines.end) {
                continue;
            }
            let lines = first_line(view, line)..end_line(view, language, line).max(line + 1);
            let body = joined(&tokens(view, language, lines.clone()));
            let test = SourceTest { name: definition.name, body };
            tests.push(PlacedTest { test, lines });
        }
        if let Some(regions) = &mut regions {
            regions.extend(tests.iter().map(|test| test.lines.clone()));
        }
        Self { tests, regions }
    }

    /// A line belongs to tests.
    pub(super) fn has_line(&self, line: usize) -> bool {
        let Some(regions) = &self.regions else { return true };
        regions.iter().any(|region| region.contains(&line))
    }
}

/// Rust keeps tests beside what they test: the lines that are compiled for tests alone.
fn inline_regions(view: &SourceView<'_>, language: Language) -> Vec<Range<usize>> {
    static FOR_TESTS: Expression = Expression::new(r"^[ \t]*#\[cfg\((?:all\()?[ \t]*test\b");
    if language != Language::Rust {
        return Vec::new();
    }
    let marked =
        (0..view.line_count()).filter(|line| FOR_TESTS.is_match(&view.part(*line, LinePart::Code)));
    marked.map(|line| line..line_after_bracket(view, view.line_span(line).end, b"{")).collect()
}

/// A test's name, and the line that names it.
#[derive(PartialEq, Eq)]
struct Definition {
    name: String,
    line: usize,
}

fn definitions(view: &SourceView<'_>, language: Language) -> Vec<Definition> {
    let definitions = (0..view.line_count()).filter_map(|line| {
        let code = view.part(line, LinePart::Code);
        let function = |head: &Expression, beginnings: &[&str]| {
            let name = function_name(&code, head, beginnings)?;
            Some(Definition { name, line })
        };
        let call = |head: &Expression| {
            let name = first_string(view, &code, line, head)?;
            Some(Definition { name, line })
        };
        let marked = |mark: &Expression, head: &Expression| {
            mark.find(&code)?;
            marked_function(view, line, head)
        };
        match language {
            Language::Python => function(&DEF, &["test"]),
            Language::Go => function(&FUNC, &["Test", "Benchmark", "Example", "Fuzz"]),
            Language::Php => function(&FUNCTION, &["test"]).or_else(|| call(&CALL)),
            Language::Js => call(&CALL),
            Language::Shell => call(&BATS),
            Language::Ruby => function(&DEF, &["test"]).or_else(|| call(&SPEC)),
            Language::Rust => marked(&RUST_MARK, &FN),
            Language::Java => marked(&JAVA_MARK, &METHOD),
            Language::Kotlin => marked(&JAVA_MARK, &FUN),
            Language::CSharp => marked(&CSHARP_MARK, &METHOD),
            Language::C => macro_call(view, &code, line),
            Language::Make | Language::Yaml => None,
        }
    });
    let mut definitions: Vec<_> = definitions.collect();
    // Several marks may stand before one function.
    definitions.dedup();
    definitions
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

fn leading_word(text: &str) -> String {
    text.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect()
}

/// The name of a function that begins like a test's.
fn function_name(code: &str, head: &Expression, beginnings: &[&str]) -> Option<String> {
    let name = leading_word(&code[head.find(code)?.end..]);
    beginnings.iter().any(|beginning| name.starts_with(beginning)).then_some(name)
}

/// The first string of a call, which is its test's name.
fn first_string(
    view: &SourceView<'_>,
    code: &str,
    line: usize,
    head: &Expression,
) -> Option<String> {
    let found = head.find(code)?;
    let start = view.line_span(line).start + found.end.saturating_sub(1);
    // Formatters break a long call, so that the name may stand some lines below.
    let last_line = (line + 3).min(view.line_count().saturating_sub(1));
    let end = view.line_span(last_line).end;
    let is_quote = |offset: &usize| view.classes[*offset] == ByteClass::Quote;
    let opening = (start..end).find(is_quote)?;
    let name_start = (opening..end).find(|offset| !is_quote(offset))?;
    let closing = (name_start..end).find(is_quote)?;
    Some(view.text[name_start..closing].to_owned())
}

/// The function that an attribute in a line marks.
fn marked_function(view: &SourceView<'_>, line: usize, head: &Expression) -> Option<Definition> {
    // More attributes may stand between, each of several lines.
    const MAX_LINES_TO_NAME: usize = 16;
    let end = view.line_count().min(line + MAX_LINES_TO_NAME);
    (line..end).find_map(|line| {
        let code = view.part(line, LinePart::Code);
        if code.trim_start().starts_with(['@', '[']) {
            return None;
        }
        let signature = &code[head.find(&code)?.end..];
        // Kotlin has sentences for names, between backticks.
        let quoted = signature.strip_prefix('`').and_then(|text| text.split_once('`'));
        let (name, after_name) = match quoted {
            Some((name, after_name)) => (name.to_owned(), after_name),
            None => {
                let name = leading_word(signature);
                let length = name.len();
                (name, &signature[length..])
            }
        };
        let has_parameters = after_name.trim_start().starts_with(['(', '<']);
        (!name.is_empty() && has_parameters).then_some(Definition { name, line })
    })
}

/// A macro whose arguments together are the name: `TEST_F(Cart, adds)`.
fn macro_call(view: &SourceView<'_>, code: &str, line: usize) -> Option<Definition> {
    let span = view.line_span(line);
    let start = span.start + MACRO.find(code)?.end;
    let arguments = &view.text[start..span.end];
    let arguments = arguments.split_once(')').map_or(arguments, |(arguments, _)| arguments);
    Some(Definition { name: arguments.replace(' ', ""), line })
}

/// The first line of the attributes that stand before a test.
fn first_line(view: &SourceView<'_>, line: usize) -> usize {
    /// The most lines of one attribute.
    const MAX_ATTRIBUTE_LINES: usize = 40;
    let mut first = line;
    while first > 0 {
        let code = view.part(first - 1, LinePart::Code);
        let code = code.trim();
        let is_mark = ["@", "#[", "["].iter().any(|mark| code.starts_with(mark));
        // The end of an attribute that goes on over lines; an empty list ends so, too.
        let is_mark_end = matches!(code, ")" | ")]" | "])" | "]");
        if is_mark {
            first -= 1;
        } else if is_mark_end {
            let mut lines_above = (first.saturating_sub(MAX_ATTRIBUTE_LINES)..first).rev();
            match lines_above.find(|line| opens_mark(view, *line)) {
                Some(mark_line) => first = mark_line,
                None => break,
            }
        } else {
            break;
        }
    }
    first
}

fn opens_mark(view: &SourceView<'_>, line: usize) -> bool {
    let code = view.part(line, LinePart::Code);
    ["@", "#["].iter().any(|mark| code.trim_start().starts_with(mark))
}

/// The line after a test's last.
fn end_line(view: &SourceView<'_>, language: Language, line: usize) -> usize {
    let start = view.line_span(line).start;
    match language {
        Language::Python => end_by_indentation(view, line),
        Language::Ruby => end_by_keyword(view, line),
        Language::Js | Language::Php => {
            let code = view.part(line, LinePart::Code);
            match CALL.find(&code) {
                Some(call) => line_after_bracket(view, start + call.end - 1, b"("),
                None => line_after_bracket(view, start, b"{"),
            }
        }
        _ => line_after_bracket(view, start, b"{"),
    }
}

/// The line after that in which the next bracket of a kind closes; a `;` ends
/// what has none.
fn line_after_bracket(view: &SourceView<'_>, start: usize, opening: &[u8]) -> usize {
    let (bytes, mut depth, mut is_open) = (view.text.as_bytes(), 0_usize, false);
    for offset in start..bytes.len() {
        if !view.is_code(offset) {
            continue;
        }
        match bytes[offset] {
            b'(' | b'[' | b'{' => {
                is_open |= opening.contains(&bytes[offset]);
                depth += 1;
            }
            b')' | b']' | b'}' => {
                depth = depth.saturating_sub(1);
                // `test.each([1])('name', …)` is a call of what a call returns.
                let is_called_again =
                    opening == b"(" && bytes[offset + 1..].trim_ascii_start().starts_with(b"(");
                if depth == 0 && is_open && !is_called_again {
                    return view.line_of(offset) + 1;
                }
            }
            b';' if depth == 0 && !is_open => return view.line_of(offset) + 1,
            _ => {}
        }
    }
    view.line_count()
}

/// The line after a block of Python.
fn end_by_indentation(view: &SourceView<'_>, first_line: usize) -> usize {
    let block_indent = indentation(view.line(first_line));
    let (mut end, mut depth) = (first_line + 1, 0_usize);
    for line in first_line..view.line_count() {
        let span = view.line_span(line);
        let is_blank = view.part(line, LinePart::Code).trim().is_empty();
        // Lines of a long string and those in brackets may stand further left.
        let is_in_string = view.classes.get(span.start) == Some(&ByteClass::Long);
        let may_end = line > first_line && depth == 0 && !is_in_string && !is_blank;
        if may_end && indentation(view.line(line)) <= block_indent {
            break;
        }
        if !is_blank || is_in_string {
            end = line + 1;
        }
        for offset in span.filter(|offset| view.is_code(*offset)) {
            match view.text.as_bytes()[offset] {
                b'(' | b'[' | b'{' => depth += 1,
                b')' | b']' | b'}' => depth = depth.saturating_sub(1),
                _ => {}
            }
        }
    }
    end
}

/// The line after a block of Ruby: its `end`, or its brace, stands as far left as its head.
fn end_by_keyword(view: &SourceView<'_>, first_line: usize) -> usize {
    let block_indent = indentation(view.line(first_line));
    for line in first_line + 1..view.line_count() {
        let code = view.part(line, LinePart::Code);
        if indentation(&code) <= block_indent && code.trim_start().starts_with(['e', '}']) {
            return line + 1;
        }
    }
    view.line_count()
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
        let view = SourceView::new(text, Some(language));
        let suite = Suite::read(&view, language, false);
        let tests = suite
            .tests
            .iter()
            .map(|placed| (placed.test.name.as_str(), placed.lines.start, placed.lines.end));
        assert_eq!(tests.collect::<Vec<_>>(), expected, "{text}");
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
        let view = SourceView::new(text, Some(Language::Rust));
        let suite = Suite::read(&view, Language::Rust, true);
        let held: Vec<_> = (0..view.line_count()).filter(|line| suite.has_line(*line)).collect();
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
