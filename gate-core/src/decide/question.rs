//! Questions of an agent that wait for the person's answer.

use super::language::{Kind, Language};

/// Marks that may stand after a sentence's end.
const CLOSING_MARKS: [char; 9] = ['*', '_', '`', '"', '\'', ')', ']', '”', '’'];

/// The longest quotation that is an answer to choose and no text of the product, in characters.
const MAX_WORD_CHARS: usize = 5;

/// The last paragraph of a message asks the person something. Code, a list of choices
/// after the question and a polite closing do not count.
pub fn asks_person(message: &str, language: &Language) -> bool {
    let text = without_quotes(&without_code(message));
    let mut paragraphs = paragraphs(&text);
    // A closing asks nothing, but the paragraph before it may.
    let is_closing = |paragraph: &String| {
        !ends_with_mark(paragraph) && language.matches(Kind::PoliteClosing, paragraph)
    };
    if paragraphs.last().is_some_and(is_closing) {
        paragraphs.pop();
    }
    paragraphs.last().is_some_and(|paragraph| {
        ends_with_question(paragraph)
            || language.matches(Kind::AsksPerson, &without_closing(paragraph, language))
    })
}

/// A paragraph without its sentences that are polite closings.
fn without_closing(paragraph: &str, language: &Language) -> String {
    let sentences = paragraph.split_inclusive(['.', '!', '\n']);
    sentences.filter(|sentence| !language.matches(Kind::PoliteClosing, sentence)).collect()
}

/// The text without fenced blocks.
fn without_code(message: &str) -> String {
    let mut is_code = false;
    let lines = message.lines().filter(|line| {
        let is_fence = line.trim_start().starts_with("```") || line.trim_start().starts_with("~~~");
        is_code ^= is_fence;
        !is_fence && !is_code
    });
    lines.collect::<Vec<_>>().join("\n")
}

/// The text with an ellipsis in the place of each quotation within a line: the product's words. A
/// short quotation is an answer to choose, and loses its marks alone.
fn without_quotes(text: &str) -> String {
    const QUOTATION_MARKS: [(char, char); 6] =
        [('"', '"'), ('“', '”'), ('`', '`'), ('„', '“'), ('«', '»'), ('「', '」')];
    let lines = text.lines().map(|line| {
        let mut unquoted = line.to_owned();
        for (open, close) in QUOTATION_MARKS {
            while let Some(start) = unquoted.find(open)
                && let Some(length) = unquoted[start + open.len_utf8()..].find(close)
            {
                let words_start = start + open.len_utf8();
                let words = unquoted[words_start..words_start + length].to_owned();
                let end = words_start + length + close.len_utf8();
                let is_answer = words.chars().count() <= MAX_WORD_CHARS;
                unquoted.replace_range(start..end, if is_answer { &words } else { "…" });
            }
        }
        unquoted
    });
    lines.collect::<Vec<_>>().join("\n")
}

/// The paragraphs; a list of choices belongs to the paragraph above it.
fn paragraphs(text: &str) -> Vec<String> {
    let mut paragraphs: Vec<String> = Vec::new();
    for paragraph in text.split("\n\n").map(str::trim).filter(|paragraph| !paragraph.is_empty()) {
        let is_list = paragraph.lines().all(|line| is_choice(line.trim()));
        match paragraphs.last_mut() {
            Some(question) if is_list => {
                question.push('\n');
                question.push_str(paragraph);
            }
            _ => paragraphs.push(paragraph.to_owned()),
        }
    }
    paragraphs
}

/// The last line is a question. A list of choices after it does not count, unless a
/// question is in the list.
fn ends_with_question(paragraph: &str) -> bool {
    let mut lines = paragraph.lines().rev().map(str::trim).filter(|line| !line.is_empty());
    lines.find(|line| ends_with_mark(line) || !is_choice(line)).is_some_and(ends_with_mark)
}

fn ends_with_mark(line: &str) -> bool {
    // Pictures stand after the mark, too.
    let is_decoration = |letter: char| {
        CLOSING_MARKS.contains(&letter) || letter.is_whitespace() || is_picture(letter)
    };
    line.trim_end_matches(is_decoration).ends_with(['?', '？', '؟'])
}

fn is_picture(letter: char) -> bool {
    matches!(u32::from(letter), 0x2190..=0x2bff | 0xfe0f | 0x200d | 0x1f000..=0x1faff)
}

/// A line of a list: `- this`, `2. that`, `(b) or that`.
fn is_choice(line: &str) -> bool {
    let line = line.trim_start_matches(['*', '_', '(']);
    let mark = line.split_whitespace().next().unwrap_or_default();
    let number = mark.trim_end_matches(['.', ')', ':', '*', '_']);
    let is_short = number.chars().count() <= 2 && number.chars().all(char::is_alphanumeric);
    let is_bullet = matches!(mark, "-" | "*" | "+" | "•") || line.is_empty();
    is_bullet || (mark != number && !number.is_empty() && is_short)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asks(message: &str) -> bool {
        asks_person(message, &Language::default())
    }

    #[test]
    fn a_question_at_the_end_waits_for_an_answer() {
        for message in [
            "Which database should I take?",
            "I found two ways.\n\n**Which one do you prefer?**\n\n1. SQLite\n2. PostgreSQL\n",
            "Shall I go on (y/n)?\n- yes\n- no",
            "どちらにしますか？",
            "Which of these (a or b?)",
            "Two questions before I go on:\n1. Keep the old API?\n2. **Rename the table?**",
            "Ok. Shall I take it back?",
        ] {
            assert!(asks(message), "{message}");
        }
    }

    #[test]
    fn a_question_is_one_in_whatever_form() {
        for message in [
            "I changed the total.\n\nShould I also migrate the old data? (y/n)",
            "Proceed? [Y/n]",
            "Continue (yes/no)",
            "Do you want A or B?\n\nLet me know and I go on.",
            "The tests fail.\n\nPlease confirm that I may drop the table.",
            "Should I drop the table? I recommend to keep it.",
            "I need your decision on the rounding before I go on.",
            "Which of the two should it be? 🤔",
            "Shall I apply this?\n\n```sql\nDROP TABLE a;\n```",
            "Let me know which of the two you want.",
            "I am waiting for your approval.",
            "Would you like me to delete it? It cannot be undone.",
            "Tell me whether the old format has to stay.",
            "It is your call: keep both, or drop the old one.",
            "Bitte bestätige, dass ich die Tabelle löschen darf.",
            "Soll ich die alten Daten löschen? Ich rate davon ab.",
            "Merci de confirmer que je peux supprimer la table.",
            "¿Quieres que borre la tabla? Yo no lo haría.",
            "Which of the two do you prefer: A or B",
            "Tell me how to continue.",
            "I need to know the rate before I can finish.",
            "Reply \"yes\" to continue.",
            "Sag mir bitte, welche Variante du willst.",
            "Dimmi quale preferisci.",
            "请确认是否可以删除该表。",
            "テーブルを削除してもよいか確認してください。",
        ] {
            assert!(asks(message), "{message}");
        }
    }

    #[test]
    fn a_question_before_the_end_and_a_polite_closing_ask_nothing() {
        for message in [
            "",
            "Why did it fail? The path was wrong. It is mended now.",
            "Done: see `a?b=c`, which holds.",
            "- all tests pass",
            "The total is changed. Let me know if you need anything else!",
            "All is done.\n\nFeel free to ask if you have questions.",
            "Should I round? I asked myself that first.\n\nIt rounds now, and the tests pass.",
            "The form asks \"proceed?\" and the answer is saved.\n\nAll tests pass.",
            "The user is asked \"Proceed? (y/n)\" before a table is dropped.",
            "The dialog now shows \"Which of the two?\".",
            "已完成。如有问题请告诉我。",
            "완료했습니다. 궁금한 점이 있으면 알려 주세요.",
            "The dialog has the buttons yes and no, and confirms the order.",
            "I confirmed that the table is gone.",
            "The decision table is in docs/decisions.md.",
            "Wenn du Fragen hast, sag Bescheid. Alles ist fertig.",
        ] {
            assert!(!asks(message), "{message}");
        }
    }
}
