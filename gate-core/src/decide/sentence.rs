//! Guards of a phrase: words around the phrase that deny it, put it under a condition,
//! promise it, ask for it or order it.
//!
//! The rules are words of the language pack, looked for in the clause or sentence
//! that holds the phrase. They err on one side: a phrase whose sentence is in doubt
//! does not count.

use super::expression::Expression;
use super::language::{Kind, Language};
use super::pattern::Guard;

/// A phrase in its line.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Phrase<'a> {
    line: &'a str,
    start: usize,
    end: usize,
}

impl<'a> Phrase<'a> {
    /// The phrase at these byte offsets of a line.
    pub(crate) fn new(line: &'a str, start: usize, end: usize) -> Self {
        Self { line, start, end }
    }

    /// The sentence around the phrase cancels it in this way. `pattern` is the text that the
    /// phrase was looked for by: a guard word in that text is part of the phrase
    /// ("no remaining work").
    pub(crate) fn is_cancelled(self, guard: Guard, pattern: &str, language: &Language) -> bool {
        match guard {
            Guard::Negation => {
                language.matches(Kind::Negation, self.clause_before())
                    || language.matches(Kind::NegatedAfter, self.clause_after())
                    || language.matches(Kind::Exception, self.sentence_after())
                    || self.has_guard_word(language, Kind::Negation, pattern)
                    || self.has_guard_word(language, Kind::Exception, pattern)
            }
            Guard::Condition => {
                language.matches(Kind::Condition, self.sentence_before())
                    || self.has_guard_word(language, Kind::Condition, pattern)
            }
            Guard::Future => {
                language.matches(Kind::Future, self.clause_before())
                    || self.has_guard_word(language, Kind::Future, pattern)
            }
            Guard::Question => self.sentence_after().trim_end().ends_with(['?', '？']),
            Guard::Instruction => language.matches(Kind::Order, self.sentence_before()),
        }
    }

    /// A guard word stands inside the phrase and is not part of the text that found it.
    fn has_guard_word(self, language: &Language, kind: Kind, pattern: &str) -> bool {
        let phrase = &self.line[self.start..self.end];
        language.matches(kind, phrase) && !language.matches(kind, pattern)
    }

    /// The sentence up to the phrase.
    pub(crate) fn sentence_before(self) -> &'a str {
        last_part(&self.line[..self.start], &SENTENCE_END)
    }

    /// The sentence after the phrase, its closing mark included.
    pub(crate) fn sentence_after(self) -> &'a str {
        let following = &self.line[self.end..];
        SENTENCE_END.find(following).map_or(following, |end| &following[..end.end])
    }

    fn clause_before(self) -> &'a str {
        last_part(&self.line[..self.start], &CLAUSE_END)
    }

    fn clause_after(self) -> &'a str {
        let following = &self.line[self.end..];
        CLAUSE_END.find(following).map_or(following, |end| &following[..end.start])
    }
}

/// The text's sentences, and the parts of them that a semicolon divides.
pub(crate) fn sentences(text: &str) -> impl Iterator<Item = &str> {
    let mut start = 0;
    let ends = SENTENCE_END.find_iter(text).map(|end| end.end).chain([text.len()]);
    let sentences = ends.map(move |end| &text[std::mem::replace(&mut start, end)..end]);
    sentences.flat_map(|sentence| sentence.split(';')).filter(|part| !part.trim().is_empty())
}

/// The text's last sentence.
pub(crate) fn last_sentence(text: &str) -> &str {
    let text = text.trim_end();
    let body = text.trim_end_matches(['.', '!', '?', ':', '…', '：']);
    let start = SENTENCE_END.find_iter(body).last().map_or(0, |end| end.end);
    &text[start..]
}

fn last_part<'a>(text: &'a str, part_end: &Expression) -> &'a str {
    part_end.find_iter(text).last().map_or(text, |end| &text[end.end..])
}

// A tick or a party popper ends a sentence as often as a point does in what agents write.
static SENTENCE_END: Expression = Expression::new(r"[.!?…](?:[)\x22'*_`]*\s|\s*$)|[。！？✅🎉]");

static CLAUSE_END: Expression =
    Expression::new(r"[.!?…](?:\s|$)|[;,:()—–。！？，；✅🎉|]|\s-\s|\b(?:but|and|so)\b");

#[cfg(test)]
mod tests {
    use super::*;

    fn guarded(line: &str, phrase: &str, guard: Guard) -> bool {
        let start = line.find(phrase).expect("the phrase stands in the line");
        let phrase_in_line = Phrase::new(line, start, start + phrase.len());
        phrase_in_line.is_cancelled(guard, phrase, &Language::default())
    }

    #[test]
    fn negation_belongs_to_its_clause() {
        let yes = |line| assert!(guarded(line, "ready for review", Guard::Negation), "{line}");
        let no = |line| assert!(!guarded(line, "ready for review", Guard::Negation), "{line}");
        yes("This is not ready for review");
        yes("It isn't ready for review yet");
        yes("ready for review is not the word");
        yes("ready for review, except for the docs");
        no("No errors were found, ready for review");
        no("There are no failures. It is ready for review.");
    }

    #[test]
    fn a_guard_word_inside_the_phrase_counts_unless_it_is_its_own() {
        let line = "all tasks are not completed";
        let language = Language::default();
        let phrase = Phrase::new(line, 0, line.len());
        assert!(phrase.is_cancelled(Guard::Negation, "all tasks.*completed", &language));
        let line = "There is no remaining work";
        let phrase = Phrase::new(line, 9, line.len());
        assert!(!phrase.is_cancelled(Guard::Negation, "no remaining work", &language));
    }

    #[test]
    fn conditions_reach_over_the_sentence() {
        assert!(guarded(
            "When the tests pass, it is ready for review",
            "ready for review",
            Guard::Condition
        ));
        assert!(!guarded(
            "I ran it when asked. It is ready for review",
            "ready for review",
            Guard::Condition
        ));
    }

    #[test]
    fn future_question_and_order() {
        assert!(guarded("It will be ready for review", "ready for review", Guard::Future));
        assert!(guarded("Is it ready for review?", "ready for review", Guard::Question));
        assert!(guarded("3. Confirm no remaining work", "no remaining work", Guard::Instruction));
        assert!(!guarded("Confirmed: no remaining work", "no remaining work", Guard::Instruction));
    }

    #[test]
    fn the_last_sentence_of_a_line() {
        assert_eq!(last_sentence("All is well. Final status:").trim(), "Final status:");
        assert_eq!(last_sentence("One sentence only."), "One sentence only.");
    }
}
