//! New files that can change how tests in other files end.

use gate_core::integrity::{Around, Changed, Examiner, Language, guarded, loaded_by_itself};

/// Words with which a test in Python reaches into a module.
const PYTHON: &[&str] = &["setattr(", "sys.modules", "__dict__", "__builtins__", "builtins."];

/// True if a new file can change how tests in other files end: a runner loads it by itself, its code
/// reaches into other modules, or the check `integrity` has a rule for what it does. It costs a run
/// to find out that it does not.
pub(super) fn can_change_other_tests(path: &str, bytes: &[u8]) -> bool {
    let text = String::from_utf8_lossy(bytes);
    let reaches = match Language::from_path(path) {
        // Each test file is loaded with all others.
        Some(Language::Go) => text.lines().any(is_go_start),
        Some(Language::Python) if !loaded_by_itself(path) => {
            text.lines().any(sets_attribute) || PYTHON.iter().any(|word| text.contains(word))
        }
        _ => loaded_by_itself(path),
    };
    reaches || has_finding(path, bytes)
}

fn has_finding(path: &str, bytes: &[u8]) -> bool {
    let around = Around::default();
    let mut examiner = Examiner::new(&around);
    let now = Some(bytes);
    examiner.file(&Changed { path, guarded: guarded(path), now, ..Changed::default() });
    !examiner.finish().is_empty()
}

/// True for what Go runs before all tests, or in their place.
fn is_go_start(line: &str) -> bool {
    ["func init(", "func TestMain(", "var "].iter().any(|start| line.starts_with(start))
}

/// True for a line that sets an attribute of something while the file is loaded.
fn sets_attribute(line: &str) -> bool {
    let Some((left, right)) = line.split_once('=') else { return false };
    !line.starts_with(char::is_whitespace)
        && !right.starts_with('=')
        && left.contains('.')
        && left.trim_end().chars().all(|c| c.is_alphanumeric() || c == '_' || c == '.')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_loaded_or_reaches_into_others() {
        for (path, text) in [
            ("conftest.py", ""),
            ("tests/__init__.py", ""),
            ("tests/test_0.py", "import calc\ncalc.add = lambda a, b: 4\n"),
            ("tests/test_0.py", "import calc\nsetattr(calc, 'add', None)\n"),
            ("a_test.go", "package a\n\nfunc init() { rate = 3 }\n"),
            ("a_test.go", "package a\n\nvar _ = set()\n"),
            ("jest.setup.js", ""),
            ("tests/test_1.py", "def test_x():\n    os._exit(0)\n"),
        ] {
            assert!(can_change_other_tests(path, text.as_bytes()), "{path}: {text}");
        }
    }

    #[test]
    fn a_plain_test_does_not() {
        for (path, text) in [
            ("tests/test_0.py", "import calc\n\n\ndef test_x():\n    assert calc.add(1, 2) == 3\n"),
            (
                "a_test.go",
                "package a\n\nfunc TestA(t *testing.T) { if Add(1) != 2 { t.Fatal(1) } }\n",
            ),
            ("calc.test.js", "test('adds', () => expect(add(1, 2)).toBe(3));\n"),
            ("tests/it.rs", "#[test]\nfn adds() { assert_eq!(thing::add(1, 2), 3); }\n"),
        ] {
            assert!(!can_change_other_tests(path, text.as_bytes()), "{path}: {text}");
        }
    }
}
