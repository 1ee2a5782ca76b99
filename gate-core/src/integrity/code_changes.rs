//! The changes of a source's code, as places that can be taken back one by one.

use std::ops::Range;

use similar::{Algorithm, DiffOp, capture_diff_slices};

use super::language::Language;
use super::lexer::{Part, View};

/// Most unchanged lines between two changes of one place: such changes mostly need each other.
const MAX_GAP_LINES: usize = 3;

/// Two versions of a source, and the places at which their code differs.
#[derive(Clone, Debug)]
pub struct CodeChanges {
    before: Vec<String>,
    now: Vec<String>,
    places: Vec<Place>,
}

/// Lines of both versions, from 0.
#[derive(Clone, Debug)]
struct Place {
    before: Range<usize>,
    now: Range<usize>,
}

impl CodeChanges {
    /// The changes of a source file; `None` if its language is not known, or if only comments and
    /// layout differ. Text that goes on over lines, as documentation in Python does, is no code.
    pub fn new(path: &str, before: &str, now: &str) -> Option<Self> {
        let language = code_language(path)?;
        let [was, is] = [before, now].map(|text| code_lines(text, language));
        let [before, now] = [before, now]
            .map(|text| text.split_inclusive('\n').map(str::to_owned).collect::<Vec<_>>());
        let mut places: Vec<Place> = Vec::new();
        for op in capture_diff_slices(Algorithm::Myers, &before, &now) {
            if matches!(op, DiffOp::Equal { .. }) {
                continue;
            }
            match places.last_mut() {
                Some(last) if op.new_range().start - last.now.end <= MAX_GAP_LINES => {
                    last.before.end = op.old_range().end;
                    last.now.end = op.new_range().end;
                }
                _ => places.push(Place { before: op.old_range(), now: op.new_range() }),
            }
        }
        places.retain(|place| code(&was[place.before.clone()]) != code(&is[place.now.clone()]));
        (!places.is_empty()).then_some(Self { before, now, places })
    }

    /// The lines of each place in the new version, from 1: the first and the last. The last is the
    /// one before the first if lines are only gone.
    pub fn places(&self) -> impl ExactSizeIterator<Item = (u64, u64)> + '_ {
        self.places.iter().map(|place| (place.now.start as u64 + 1, place.now.end as u64))
    }

    /// The new version with these places, by number from 0, as they were before.
    pub fn without(&self, numbers: &[usize]) -> String {
        let (mut text, mut at) = (String::new(), 0);
        for number in numbers {
            let place = &self.places[*number];
            text.extend(self.now[at..place.now.start].iter().map(String::as_str));
            text.extend(self.before[place.before.clone()].iter().map(String::as_str));
            at = place.now.end;
        }
        text.extend(self.now[at..].iter().map(String::as_str));
        text
    }
}

/// True for a file of source code, by its name.
pub fn is_code(path: &str) -> bool {
    code_language(path).is_some()
}

fn code_language(path: &str) -> Option<Language> {
    let language = Language::from_path(path)?;
    (!matches!(language, Language::Make | Language::Yaml)).then_some(language)
}

/// The lines of a text without comments and long strings.
fn code_lines(text: &str, language: Language) -> Vec<String> {
    let view = View::new(text, Some(language));
    let lines = (0..view.len()).map(|index| {
        let line = view.part(index, Part::Text);
        let is_code = |c: char| !c.is_whitespace() && !matches!(c, '"' | '\'' | '`');
        let line = if language.indents() { line.trim_end() } else { line.trim() };
        // Quotes without anything in them are what is left of a long string.
        if line.contains(is_code) { line.to_owned() } else { String::new() }
    });
    lines.collect()
}

/// Lines without the empty ones.
fn code(lines: &[String]) -> Vec<&String> {
    lines.iter().filter(|line| !line.is_empty()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const BEFORE: &str = "def a():\n    return 1\n\n\n\n\ndef b():\n    return 2\n";

    #[track_caller]
    fn check(now: &str, expected: &[(u64, u64)]) -> CodeChanges {
        let changes = CodeChanges::new("a.py", BEFORE, now).unwrap();
        assert_eq!(changes.places().collect::<Vec<_>>(), expected);
        let all: Vec<_> = (0..expected.len()).collect();
        assert_eq!(changes.without(&all), BEFORE);
        assert_eq!(changes.without(&[]), now);
        changes
    }

    #[test]
    fn each_place_can_be_taken_back_alone() {
        let now = BEFORE.replace("return 1", "return 3").replace("return 2", "x = 1\n    return x");
        let changes = check(&now, &[(2, 2), (8, 9)]);
        assert_eq!(changes.without(&[0]), now.replace("return 3", "return 1"));
        assert_eq!(changes.without(&[1]), BEFORE.replace("return 1", "return 3"));
    }

    #[test]
    fn lines_that_are_gone_have_a_place() {
        check("def a():\n\n\n\n\ndef b():\n    return 2\n", &[(2, 1)]);
        check("", &[(1, 0)]);
    }

    #[test]
    fn changes_near_each_other_are_one_place() {
        let now = BEFORE.replace("def a", "def z").replace("return 1\n", "return 1\n    pass\n");
        check(&now, &[(1, 3)]);
    }

    #[test]
    fn comments_and_documents_are_no_code() {
        for (path, before, now) in [
            ("a.py", "x = 1\n", "# why\nx = 1\n"),
            ("a.py", "def a():\n    pass\n", "def a():\n    '''Doc.'''\n    pass\n"),
            ("a.rs", "fn a() {}\n", "/// Doc.\n  fn a() {} // b\n"),
            ("a.md", "a\n", "b\n"),
            ("Makefile", "a:\n", "b:\n"),
        ] {
            assert!(CodeChanges::new(path, before, now).is_none(), "{now}");
        }
        assert!(CodeChanges::new("a.py", "    x = 1\n", "x = 1\n").is_some());
        assert!(CodeChanges::new("a.py", "x = 'a'\n", "x = 'b'\n").is_some());
    }
}
