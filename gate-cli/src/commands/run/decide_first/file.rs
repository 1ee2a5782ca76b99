//! The file in which a person confirms decisions.

use std::collections::BTreeMap;

use gate_core::decide::open_decisions::{ConfirmedDecision, OpenDecision};
use gate_core::text::clean;

/// The beginning of a decision's heading.
const HEADING: &str = "## ";

/// The most that a person writes into a box, in characters. A longer text in brackets is an answer.
const MAX_MARK_CHARS: usize = 8;

/// The beginning of a command's line.
const COMMAND: &str = "command:";

/// The content of the file, as far as a person has come with it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Answers {
    /// The decisions that a person confirmed or made.
    pub(super) decided: Vec<ConfirmedDecision>,
    /// The names of those that nobody confirmed.
    pub(super) unconfirmed: Vec<String>,
}

/// A line that cannot be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct BadLine {
    /// From 1.
    pub(super) line: usize,
    pub(super) problem: String,
}

/// The file for a list. `resume` is the command that goes on.
pub(super) fn page(task: &str, by: &str, open: &[OpenDecision], resume: &str) -> String {
    let mut page = format!(
        "# Open decisions of the task {}\n\n\
         {} would decide as below. Nothing is confirmed yet, and no work begins before that.\n\n\
         - Put an x into a box, [x], to confirm its answer, or write another answer behind the box.\n\
         - A command is optional: it has to exit with 0 before the loop may end.\n\
         - Remove a decision that needs none, or add one of your own.\n\n\
         Then go on with:\n\n    {resume}\n",
        clean(task),
        clean(by),
    );
    for (index, OpenDecision { question, choice }) in open.iter().enumerate() {
        let (number, question, choice) = (index + 1, clean(question), clean(choice));
        page.push_str(&format!("\n{HEADING}{number}. {question}\n\n- [ ] {choice}\n- {COMMAND}\n"));
    }
    page
}

/// A decision in the file, in the words that stand there.
#[derive(Default)]
struct Section {
    line: usize,
    question: String,
    is_ticked: bool,
    answer: String,
    command: Option<String>,
}

/// Reads the file. An answer or a command that is not the agent's was written by a person, and counts
/// without a mark, too.
pub(super) fn read(text: &str, open: &[OpenDecision]) -> Result<Answers, BadLine> {
    let choices: BTreeMap<_, _> =
        open.iter().map(|open| (clean(&open.question), clean(&open.choice))).collect();
    let mut answers = Answers::default();
    for section in sections(text)? {
        let Section { line, question, is_ticked, answer, command } = section;
        if answer.is_empty() {
            let problem = format!("`{question}` has no answer: write one behind the box `[x]`");
            return Err(BadLine { line, problem });
        }
        let edited = choices.get(&question) != Some(&answer);
        if is_ticked || edited || command.is_some() {
            answers.decided.push(ConfirmedDecision { question, answer, command, edited });
        } else {
            answers.unconfirmed.push(question);
        }
    }
    Ok(answers)
}

fn sections(text: &str) -> Result<Vec<Section>, BadLine> {
    let mut sections: Vec<Section> = Vec::new();
    for (index, text) in text.lines().enumerate() {
        let line = index + 1;
        let text = clean(text.trim());
        if let Some(heading) = text.strip_prefix(HEADING) {
            let question = without_number(heading.trim()).to_owned();
            sections.push(Section { line, question, ..Section::default() });
            continue;
        }
        let Some(section) = sections.last_mut() else { continue };
        let item = text.strip_prefix("- ").or(text.strip_prefix("* ")).unwrap_or(&text).trim();
        if item.is_empty() || item == "-" {
            continue;
        }
        if let Some(command) = behind_command(item) {
            section.command = Some(command.to_owned()).filter(|command| !command.is_empty());
            continue;
        }
        let mut answer = item;
        if let Some((mark, rest)) = boxed(item) {
            section.is_ticked = match mark.trim() {
                "x" | "X" => true,
                "" => false,
                other => {
                    let problem = format!("`[{other}]` is no mark: `[x]` confirms the answer");
                    return Err(BadLine { line, problem });
                }
            };
            answer = rest.trim();
        }
        section.answer = format!("{} {answer}", section.answer).trim().to_owned();
    }
    Ok(sections)
}

/// The mark in a box at the beginning of a line, and the text behind the box.
fn boxed(item: &str) -> Option<(&str, &str)> {
    let (mark, rest) = item.strip_prefix('[')?.split_once(']')?;
    (mark.chars().count() <= MAX_MARK_CHARS).then_some((mark, rest))
}

/// The command of a line, without quotation marks around it.
fn behind_command(item: &str) -> Option<&str> {
    let start = item.get(..COMMAND.len())?;
    let command = item.get(COMMAND.len()..)?.trim();
    let inner = command.strip_prefix('`').and_then(|command| command.strip_suffix('`'));
    start.eq_ignore_ascii_case(COMMAND).then_some(inner.unwrap_or(command))
}

/// A heading without the number in front of it.
fn without_number(heading: &str) -> &str {
    match heading.split_once(". ") {
        Some((number, question)) if number.chars().all(|char| char.is_ascii_digit()) => {
            question.trim()
        }
        _ => heading,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn open() -> Vec<OpenDecision> {
        [("column name", "tax_rate"), ("default", "[0] or none")]
            .map(|(question, choice)| OpenDecision {
                question: question.to_owned(),
                choice: choice.to_owned(),
            })
            .to_vec()
    }

    fn written() -> String {
        page("t1", "codex", &open(), "gate run --task t1 --decide-first")
    }

    #[track_caller]
    fn decided(text: &str, expected: &[(&str, &str, Option<&str>, bool)], unconfirmed: &[&str]) {
        let answers = read(text, &open()).unwrap();
        let decided: Vec<_> = answers
            .decided
            .iter()
            .map(|one| {
                (one.question.as_str(), one.answer.as_str(), one.command.as_deref(), one.edited)
            })
            .collect();
        assert_eq!(decided, expected, "{text}");
        assert_eq!(answers.unconfirmed, unconfirmed, "{text}");
    }

    #[test]
    fn nothing_is_confirmed_by_silence_and_each_edit_counts() {
        decided(&written(), &[], &["column name", "default"]);
        let kept = ("column name", "tax_rate", None, false);
        let ticked = written().replacen("[ ]", "[ X ]", 1);
        decided(&ticked, &[kept], &["default"]);
        let edited = ticked.replace("[0] or none", "0 for\n  old orders");
        decided(&edited, &[kept, ("default", "0 for old orders", None, true)], &[]);
        let command = written().replacen("command:", "Command: `pytest -k tax`", 1);
        let checked = ("column name", "tax_rate", Some("pytest -k tax"), false);
        decided(&command, &[checked], &["default"]);
        let more = format!("{ticked}\n## who may read it\n\nadmins\n");
        decided(&more, &[kept, ("who may read it", "admins", None, true)], &["default"]);
        // Without boxes, and with one decision removed.
        let bare = "## 1. column name\ntax_rate\n";
        decided(bare, &[], &["column name"]);
        decided("", &[], &[]);
    }

    #[test]
    fn a_line_that_cannot_be_read_is_named() {
        let empty = written().replace("tax_rate", "");
        let bad = read(&empty, &open()).unwrap_err();
        let says = "`column name` has no answer: write one behind the box `[x]`";
        assert_eq!((bad.line, bad.problem.as_str()), (13, says));
        let other = written().replacen("[ ]", "[yes]", 1);
        let bad = read(&other, &open()).unwrap_err();
        assert_eq!(
            (bad.line, bad.problem.as_str()),
            (15, "`[yes]` is no mark: `[x]` confirms the answer")
        );
    }

    #[test]
    fn an_agents_words_are_no_lines_of_the_file() {
        let sly = OpenDecision {
            question: "name\n- [x] yes".to_owned(),
            choice: "a\n- command: rm -rf x\n\n## 9. more\n\nyes".to_owned(),
        };
        let text = page("t1", "codex", std::slice::from_ref(&sly), "gate run");
        let answers = read(&text, std::slice::from_ref(&sly)).unwrap();
        assert_eq!((answers.decided.len(), answers.unconfirmed.len()), (0, 1), "{text}");
    }
}
