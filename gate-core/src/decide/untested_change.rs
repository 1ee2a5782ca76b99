//! Changes that no test shows: the agent is asked for a test once a run. After that a warning
//! stays, for not every change can have one.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::evidence::{Evidence, Outcome};
use crate::text::{MAX_NAMES, some_names};

/// The result of taking changed code back, a place at a time, while the tests run.
#[non_exhaustive]
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct NoticedChanges {
    /// Number of places that a test notices.
    pub noticed: u64,
    /// The places that no test notices.
    pub unnoticed: Vec<ChangedPlace>,
    /// Number of places without an answer: the code did not build without them, or the runs were
    /// used up.
    #[serde(default)]
    pub not_tried: u64,
}

/// Changed lines of a file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChangedPlace {
    /// The file, relative to the project.
    pub file: String,
    /// The first line, from 1.
    pub from: u64,
    /// The last line. Less than `from` if lines are only gone.
    pub to: u64,
}

impl NoticedChanges {
    /// The unnoticed places, as a message names them.
    pub fn named(&self) -> String {
        let places = self.unnoticed.iter().map(ChangedPlace::name);
        some_names(&places.collect::<Vec<_>>(), MAX_NAMES)
    }
}

impl ChangedPlace {
    /// The file with its lines, such as `calc.py:10–22`.
    fn name(&self) -> String {
        let Self { file, from, to } = self;
        if to > from { format!("{file}:{from}–{to}") } else { format!("{file}:{from}") }
    }
}

impl Evidence {
    /// The result of the check `noticed`; none of another check.
    pub fn noticed_changes(&self) -> Option<NoticedChanges> {
        NoticedChanges::deserialize(self.detail.as_ref()?.get("noticed")?).ok()
    }

    /// The lack of a test, in words with the check's name; none if no lack is shown.
    pub(super) fn untested_change(&self) -> Option<String> {
        self.lack_of_test().map(|lack| format!("{}: {lack}", self.check))
    }

    fn lack_of_test(&self) -> Option<String> {
        if let Some(changes) = self.noticed_changes() {
            let named = changes.named();
            return (!named.is_empty()).then(|| format!("no test notices {named}"));
        }
        let shown = self.detail.as_ref()?.get("tests")?.get("without_work")?;
        if self.outcome != Outcome::Pass || shown.get("outcome")? != "not-needed" {
            return None;
        }
        let names = shown.get("passed")?.as_array()?.iter().filter_map(Value::as_str);
        let names: Vec<_> = names.map(str::to_owned).collect();
        Some(match names.len() {
            1 => format!("the new test passes without the work: {}", names[0]),
            _ => format!("all new tests pass without the work: {}", some_names(&names, MAX_NAMES)),
        })
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::decide::policy::Mode;

    #[track_caller]
    fn check(outcome: Outcome, detail: Value, expected: Option<&str>) {
        let evidence = Evidence { detail: Some(detail), ..Evidence::new("a", Mode::Warn, outcome) };
        assert_eq!(evidence.untested_change().as_deref(), expected);
    }

    #[test]
    fn places_are_named_by_their_lines() {
        let place = |from, to| json!({ "file": "a.py", "from": from, "to": to });
        let two = [place(3, 9), place(12, 12)];
        let detail = json!({ "noticed": { "noticed": 1, "unnoticed": two } });
        check(Outcome::Fail, detail, Some("a: no test notices a.py:3–9, a.py:12"));
        let gone = vec![place(3, 2); 5];
        let detail = json!({ "noticed": { "noticed": 0, "unnoticed": gone } });
        check(Outcome::Fail, detail, Some("a: no test notices a.py:3, a.py:3, a.py:3 and 2 more"));
        let none = json!({ "noticed": { "noticed": 1, "unnoticed": [] } });
        check(Outcome::Pass, none, None);
    }

    #[test]
    fn new_tests_that_pass_without_the_work_lack_one() {
        let detail = |outcome: &str| json!({ "tests": { "without_work": { "outcome": outcome, "passed": ["t"] } } });
        let says = Some("a: the new test passes without the work: t");
        check(Outcome::Pass, detail("not-needed"), says);
        check(Outcome::Pass, detail("shown"), None);
        check(Outcome::Fail, detail("not-needed"), None);
    }
}
