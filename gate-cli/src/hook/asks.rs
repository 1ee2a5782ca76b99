//! Whether an agent waits for the person's answer.

/// Whether the last word ends with a question: its last line, lists of choices
/// after it apart.
pub(crate) fn asks(said: &str) -> bool {
    let mut lines = said.lines().rev().map(str::trim).filter(|line| !line.is_empty());
    let last = lines.find(|line| !is_choice(line)).unwrap_or_default();
    let closing = |c: char| matches!(c, '*' | '_' | '`' | '"' | '\'' | ')' | ']' | '”' | '’');
    last.trim_end_matches(closing).ends_with(['?', '？', '؟'])
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
    use super::asks;

    #[test]
    fn a_question_at_the_end_waits_for_an_answer() {
        for said in [
            "Which database should I take?",
            "I found two ways.\n\n**Which one do you prefer?**\n\n1. SQLite\n2. PostgreSQL\n",
            "Shall I go on (y/n)?\n- yes\n- no",
            "どちらにしますか？",
            "Which of these (a or b?)",
        ] {
            assert!(asks(said), "{said}");
        }
    }

    #[test]
    fn a_question_before_the_end_does_not() {
        for said in [
            "",
            "Why did it fail? The path was wrong. It is mended now.",
            "Done: see `a?b=c`, which holds.",
            "- all tests pass",
        ] {
            assert!(!asks(said), "{said}");
        }
    }
}
