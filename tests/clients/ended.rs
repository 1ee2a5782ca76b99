//! What came of a client's run.

use serde_json::Value;

use crate::support::Ran;
use crate::support::before::changes;

/// What came of it.
pub(super) struct Ended {
    pub(super) project: Ran,
    /// The client's own exit code.
    pub(super) code: Option<i32>,
    /// What its model was asked, in order.
    pub(super) asked: Vec<Value>,
    /// What it printed.
    pub(super) said: String,
}

impl Ended {
    /// What there is to see where a test fails: the end of each question, and
    /// of what the client printed.
    fn seen(&self) -> String {
        let asked = self.asked.iter().map(|asked| tail(&conversation(asked), 300));
        let asked: Vec<_> = asked.collect();
        format!("asked: {asked:#?}\nprinted: {}", tail(&self.said, 3000))
    }

    /// The program ended with this code.
    #[track_caller]
    pub(super) fn code(self, code: i32) -> Self {
        assert_eq!(self.code, Some(code), "{}", self.seen());
        self
    }

    /// The client ended well, after its model had been asked so many times.
    #[track_caller]
    pub(super) fn asked(self, times: std::ops::RangeInclusive<usize>) -> Self {
        let asked = self.asked.len();
        assert!(times.contains(&asked), "asked {asked} times, not {times:?}:\n{}", self.seen());
        assert_eq!(self.code, Some(0), "{}", self.seen());
        self
    }

    /// In this call, counted from 0, the model read this for the first time.
    #[track_caller]
    pub(super) fn reads(self, call: usize, text: &str) -> Self {
        let first = self.asked.iter().position(|asked| asked.to_string().contains(text));
        assert_eq!(first, Some(call), "{text:?}:\n{}", self.seen());
        self
    }

    /// `gate last` ends with this code in the project: 5 where nothing was
    /// recorded.
    #[track_caller]
    pub(super) fn last(self, code: i32) -> Self {
        let last = self.project.beside("last").output().unwrap();
        let shown = String::from_utf8_lossy(&last.stdout);
        assert_eq!(last.status.code(), Some(code), "{shown}\n{}", self.seen());
        self
    }

    /// The last stop was let go without an `exit`, after this was seen; nothing has
    /// passed.
    #[track_caller]
    pub(super) fn released(self, kind: &str) -> Self {
        let last = self.project.beside("last --json").output().unwrap();
        let shown = String::from_utf8_lossy(&last.stdout);
        let decision: Value = serde_json::from_str(&shown).unwrap_or_default();
        assert_eq!(decision["released"], kind, "{shown}\n{}", self.seen());
        self.last(1).never_passed()
    }

    /// No decision was ever recorded that lets the work count as done.
    #[track_caller]
    pub(super) fn never_passed(self) -> Self {
        let log = self.project.beside("ledger export").output().unwrap();
        let lines = String::from_utf8_lossy(&log.stdout);
        let passed = lines.lines().find(|line| {
            let record: Value = serde_json::from_str(line).unwrap();
            record.pointer("/body/decision/verdict") == Some(&"exit".into())
        });
        assert_eq!(passed, None, "{}", self.seen());
        self
    }

    /// The files that were changed since the session began, as the baseline says that
    /// was taken first of all, and that the last decision names.
    #[track_caller]
    pub(super) fn changed(&self) -> Vec<String> {
        let log = self.project.beside("ledger export").output().unwrap();
        let lines = String::from_utf8_lossy(&log.stdout).into_owned();
        let records: Vec<Value> =
            lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        let began = records.first().filter(|record| record["type"] == "hook_baseline");
        let began = began.unwrap_or_else(|| panic!("{lines}\n{}", self.seen()));
        let decided = records.iter().rfind(|record| record["body"].get("decision").is_some());
        let decision = &decided.unwrap_or_else(|| panic!("{lines}"))["body"]["decision"];
        assert_eq!(decision["baseline"], began["body"]["baseline"], "{lines}");
        changes(&self.project, began["body"]["session"].as_str().unwrap())
    }

    /// A file of the project.
    pub(super) fn file(&self, name: &str) -> String {
        self.project.file(name)
    }
}

/// The part of a question that grows from one to the next.
fn conversation(asked: &Value) -> String {
    let names = ["messages", "input", "contents"];
    let list = names.into_iter().find_map(|name| asked.get(name));
    list.unwrap_or(asked).to_string()
}

/// So many characters of the end.
fn tail(text: &str, length: usize) -> String {
    let skipped = text.chars().count().saturating_sub(length);
    text.chars().skip(skipped).collect()
}
