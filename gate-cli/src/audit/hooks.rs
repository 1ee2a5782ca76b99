//! Hooks of a repository that run within a commit or a push, by what they print. They may have
//! checked the work: a transcript does not show which commands they start.

/// Programs that run hooks, and marks of their lists, in their own lines.
const FRAMES: [&str; 7] = [
    "husky",
    "lefthook",
    "lint-staged",
    "Running tasks for staged files",
    "pre-commit hook",
    "[COMPLETED] ",
    "[FAILED] ",
];

/// True if an output of git shows that hooks ran.
pub(super) fn ran(text: &str) -> bool {
    text.lines().map(str::trim).any(|line| {
        let is_result = ["Passed", "Failed"].iter().any(|end| line.ends_with(&format!("...{end}")));
        is_result || FRAMES.iter().any(|frame| line.contains(frame))
    })
}

#[cfg(test)]
mod tests {
    use super::ran;

    #[test]
    fn hooks_are_seen_by_the_lines_of_what_runs_them() {
        for text in ["Lint......Passed", "[COMPLETED] eslint --fix", "lefthook v1\nok"] {
            assert!(ran(text), "{text}");
        }
        assert!(!ran("[main 1a2b3c4] Add a flag: all tests passed\n 1 file changed"));
    }
}
