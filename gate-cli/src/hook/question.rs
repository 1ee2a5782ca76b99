//! Finds out if an agent waits for the person's answer.

const CLOSING_MARKS: [char; 9] = ['*', '_', '`', '"', '\'', ')', ']', '”', '’'];

/// Looks at the last line. A list of choices after the question does not count, unless a
/// question is in the list.
pub(crate) fn ends_with_question(message: &str) -> bool {
    let mut lines = message.lines().rev().map(str::trim).filter(|line| !line.is_empty());
    lines.find(|line| is_question(line) || !is_choice(line)).is_some_and(is_question)
}

fn is_question(line: &str) -> bool {
    line.trim_end_matches(CLOSING_MARKS).ends_with(['?', '？', '؟'])
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
    use super::ends_with_question;

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
            assert!(ends_with_question(message), "{message}");
        }
    }

    #[test]
    fn a_question_before_the_end_does_not() {
        for message in [
            "",
            "Why did it fail? The path was wrong. It is mended now.",
            "Done: see `a?b=c`, which holds.",
            "- all tests pass",
        ] {
            assert!(!ends_with_question(message), "{message}");
        }
    }
}
