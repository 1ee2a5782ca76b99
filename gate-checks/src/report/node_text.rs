//! `node --test` behind something else: the totals at the end of what it
//! prints for people.
//!
//! With `#` instead of `ℹ` they stand below the Test Anything Protocol, whose
//! reader counts the tests: there only a failure is told.

use super::{Format, Reader, Status, Stream, Tally, TestReport, file};

/// Reads node's totals.
pub(super) struct NodeText {
    tally: Tally,
    seen: bool,
    /// The mark of the totals that are being read.
    mark: Option<char>,
    /// How many tests these totals announce, and how many they told.
    announced: u64,
    told: u64,
}

impl NodeText {
    pub(super) fn new() -> Self {
        let tally = Tally::new(Format::Node);
        Self { tally, seen: false, mark: None, announced: 0, told: 0 }
    }

    fn take(&mut self, line: &str) {
        if let Some((mark, "tests", number)) = total(line) {
            self.close();
            (self.mark, self.announced, self.told) = (Some(mark), number, 0);
            self.seen |= mark == 'ℹ';
        } else if let (Some(mark), Some((same, word, number))) = (self.mark, total(line))
            && mark == same
        {
            self.number(mark, word, number);
        } else if is_end(line) {
            self.close();
        } else if let Some(name) = line.strip_prefix("✔ ").and_then(|it| it.split(" (").next())
            && file::is_script(name)
            && line.ends_with("ms)")
        {
            self.tally.problem(format!("{name} ended without reporting a test"));
        }
    }

    fn number(&mut self, mark: char, word: &str, number: u64) {
        let status = match word {
            "pass" => Status::Passed,
            "fail" | "cancelled" => Status::Failed,
            "skipped" | "todo" => Status::Skipped,
            _ => return,
        };
        if mark == 'ℹ' {
            self.told = self.told.saturating_add(number);
            self.tally.count(status, number);
        } else if status == Status::Failed && number > 0 {
            self.seen = true;
            self.tally.error(format!("node counts {number} tests: {word}"));
        }
    }

    /// The totals are over.
    fn close(&mut self) {
        if self.mark.take() == Some('ℹ') && self.told != self.announced {
            let (announced, told) = (self.announced, self.told);
            self.tally.problem(format!("node counts {announced} tests and sums {told} up"));
        }
    }
}

/// `ℹ pass 3` or `# pass 3`.
fn total(line: &str) -> Option<(char, &str, u64)> {
    let mark = line.chars().next().filter(|mark| matches!(mark, 'ℹ' | '#'))?;
    let (word, number) = line[mark.len_utf8()..].strip_prefix(' ')?.split_once(' ')?;
    let words = ["tests", "suites", "pass", "fail", "cancelled", "skipped", "todo"];
    Some((mark, word, number.parse().ok().filter(|_| words.contains(&word))?))
}

fn is_end(line: &str) -> bool {
    line.starts_with("ℹ duration_ms ") || line.starts_with("# duration_ms ")
}

impl Reader for NodeText {
    fn line(&mut self, _stream: Stream, line: &str) {
        if line.len() <= 2_000 {
            self.take(line);
        }
    }

    fn finish(mut self: Box<Self>) -> Option<TestReport> {
        self.close();
        self.seen.then(|| self.tally.finish())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::tests::{comes_to, report};

    #[track_caller]
    fn check(text: &str, expected: &str) {
        comes_to(NodeText::new(), text, expected);
    }

    #[test]
    fn node_wrote() {
        check(include_str!("fixtures/text/node.txt"), "Pass: 5 passed, 2 skipped");
        let fail = "Fail: 1 of 3 failed, although the command ended with code 0";
        check(include_str!("fixtures/text/node-fail.txt"), fail);
        let alone = "Inconclusive: exit code 0, but the report is incomplete: ";
        check(include_str!("fixtures/text/node-empty.txt"), alone);
        let tap = "# tests 3\n# suites 0\n# pass 2\n# fail 1\n# cancelled 0\n";
        check(tap, "Fail: there was an error outside of tests: node counts 1 tests: fail");
        check("ℹ tests 0\nℹ pass 0\nℹ fail 0", "Fail: no test was executed");
        check("ℹ tests 3\nℹ pass 2", "Inconclusive");
    }

    #[test]
    fn what_only_looks_like_node_is_none() {
        let tap = "# tests 3\n# pass 3\n# fail 0\n# duration_ms 3";
        for text in [tap, "ℹ fail 3", "# fail 3", "ℹ tests are fine", "# tests\n# fail", "✔ a"]
        {
            assert_eq!(report(NodeText::new(), text), None, "{text}");
        }
    }
}
