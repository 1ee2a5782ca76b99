//! The checks that hooks of a repository run within a commit or a push, by what they print.

use super::command::{CheckKind, label_kind, line_kind};

/// Marks before a command or a hook in the lists of lint-staged and lefthook, with the outcome.
const MARKS: [(&str, bool); 7] = [
    ("[COMPLETED] ", true),
    ("[FAILED] ", false),
    ("✔ ", true),
    ("✔️ ", true),
    ("✓ ", true),
    ("✖ ", false),
    ("🥊 ", false),
];

/// The marks before a command that a package manager runs.
const RUNS: [&str; 2] = ["> ", "$ "];

/// Programs that run hooks, in their own lines.
const FRAMES: [&str; 5] =
    ["husky", "lefthook", "lint-staged", "Running tasks for staged files", "pre-commit hook"];

/// Reads the output of a commit or a push.
#[derive(Debug, Default)]
pub(super) struct Hooks {
    kind: Option<CheckKind>,
    /// At least one hook ran.
    ran: bool,
    has_failed: bool,
    /// git committed or pushed, so no hook has stopped it.
    is_done: bool,
}

impl Hooks {
    pub(super) fn text(&mut self, text: &str) {
        text.lines().for_each(|line| self.line(line.trim()));
    }

    fn line(&mut self, line: &str) {
        if ["remote:", "create mode", "delete mode", "rename "]
            .iter()
            .any(|begin| line.starts_with(begin))
        {
            return;
        }
        let is_commit = line.starts_with('[')
            && line
                .split_once("] ")
                .is_some_and(|(head, _)| head.rsplit(' ').next().is_some_and(is_hash));
        let is_push = line.contains(" -> ") && !line.starts_with('!');
        if is_commit || is_push {
            self.is_done = true;
            return;
        }
        self.ran |= FRAMES.iter().any(|frame| line.contains(frame));
        let kind = if let Some((label, outcome)) = result(line) {
            self.ran = true;
            self.has_failed |= outcome == "Failed";
            (outcome != "Skipped").then(|| label_kind(label)).flatten()
        } else if let Some((mark, passed)) = MARKS.iter().find(|(mark, _)| line.starts_with(mark)) {
            let command = line[mark.len()..].trim();
            let kind = line_kind(command).or_else(|| label_kind(command));
            self.has_failed |= kind.is_some() && !passed;
            kind
        } else {
            RUNS.iter().find_map(|mark| line.strip_prefix(mark)).and_then(line_kind)
        };
        self.kind = [self.kind, kind].into_iter().flatten().min();
    }

    /// True if hooks ran that may have checked the work.
    pub(super) fn may_check(&self) -> bool {
        self.ran && self.kind.is_none()
    }

    /// The check that ran, and if it passed; none if the output does not show it.
    pub(super) fn check(&self) -> Option<(CheckKind, Option<bool>)> {
        let passed = match (self.is_done, self.has_failed) {
            (true, _) => Some(true),
            (false, true) => Some(false),
            (false, false) => None,
        };
        self.kind.map(|kind| (kind, passed))
    }
}

fn is_hash(word: &str) -> bool {
    word.len() >= 7 && word.bytes().all(|byte| byte.is_ascii_hexdigit())
}

/// The name of a hook and its outcome in a line of pre-commit, with dots between.
fn result(line: &str) -> Option<(&str, &str)> {
    let outcome = ["Passed", "Failed", "Skipped"].into_iter().find(|word| line.ends_with(word))?;
    let rest = &line[..line.len() - outcome.len()];
    let rest = rest.split("(no files to check)").next()?;
    let label = rest.trim_end_matches('.');
    (rest.len() >= label.len() + 3).then_some((label, outcome))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(output: &str, expected: Option<(CheckKind, Option<bool>)>) {
        let mut hooks = Hooks::default();
        hooks.text(output);
        assert_eq!(hooks.check(), expected, "{output}");
    }

    #[test]
    fn hooks_are_checks_by_their_names_and_commands() {
        let passed = |kind| Some((kind, Some(true)));
        let committed = "[main 1a2b3c4] Add a flag: all tests passed\n 1 file changed";
        let of = |output: &str| format!("{output}\n{committed}");
        check(&of("Lint......Passed\nTest.........Passed"), passed(CheckKind::Test));
        check(&of("[STARTED] eslint --fix\n[COMPLETED] eslint --fix"), passed(CheckKind::Lint));
        check(&of("> a@1.0.0 check\n> tsc --noEmit"), passed(CheckKind::Build));
        check(&of("✔️ lint (0.5 seconds)"), passed(CheckKind::Lint));
        check("mypy.....Failed\n- hook id: mypy", Some((CheckKind::Build, Some(false))));
        check("$ vitest run", Some((CheckKind::Test, None)));
        check("Lint....Passed\nTo host:a\n   1a2..3b4  main -> main", passed(CheckKind::Lint));
    }

    #[test]
    fn what_git_prints_is_no_check() {
        check("[main 1a2b3c4] ✔ test\n create mode 100644 a_test.py", None);
        check("remote: > npm test\nTo host:a\n   1a2..3b4  main -> main", None);
        check("trim trailing whitespace....Passed\ncheck yaml......Passed", None);
        check("ruff....(no files to check)Skipped\n[main 1a2b3c4] a", None);
    }
}
