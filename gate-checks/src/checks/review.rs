//! The check `review`: a reviewer command, a model or a person's script, whose
//! verdict is parsed.
//!
//! The verdict is the last line of its standard output that is not empty:
//! `VERDICT: PASS` or `VERDICT: FAIL: reason` (also APPROVE, APPROVED, SHIP,
//! LGTM; REJECT, REJECTED, REVISE, CHANGES_REQUESTED, REQUEST_CHANGES,
//! NEEDS_WORK; in any case), or a JSON object with `verdict` or `approved`. An
//! agent's own JSON, with its text in `result`, is read for that text. Any other
//! line is inconclusive: a reviewer that cannot be understood has not approved. A
//! reviewer that approves after a line that rejects is not understood either: one of the
//! two lines may come from a file that it shows.

use std::collections::VecDeque;

use async_trait::async_trait;
use gate_core::decide::evidence::{Evidence, Outcome};
use gate_core::decide::policy::CheckPolicy;
use serde::Deserialize;

use super::launch::{Collector, Launch, argv};
use crate::check::{Check, CheckContext, CheckId};
use crate::process::Stream;
use gate_core::text::brief;

/// Bytes of the end of the reviewer's output that are read.
const MAX_OUTPUT_BYTES: usize = 256 * 1024;

/// A check by a reviewer.
pub(crate) struct Review {
    id: CheckId,
    settings: CheckPolicy,
}

impl Review {
    pub(crate) fn new(id: CheckId, settings: &CheckPolicy) -> Self {
        Self { id, settings: settings.clone() }
    }
}

#[async_trait]
impl Check for Review {
    fn id(&self) -> &CheckId {
        &self.id
    }

    async fn run(&self, cx: &CheckContext) -> Evidence {
        if self.settings.command.is_empty() {
            let summary = "it has no command: write the reviewer's as `command`";
            return self.evidence(Outcome::Inconclusive, summary);
        }
        let collector = Collector::<LastLines>::default();
        let argv = argv(&self.settings.command, self.settings.shell);
        let launch = Launch {
            reader: Some(collector.reader(LastLines::take)),
            explains: false,
            ..Launch::new(&self.id, &self.settings, argv)
        };
        let launched = match launch.run(cx).await {
            Ok(launched) => launched,
            Err(evidence) => return *evidence,
        };
        let (outcome, summary) = weigh(verdict(&collector.take().text()), launched.exit_code);
        launched.into_evidence(outcome, &summary, None)
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Verdict {
    approves: bool,
    reason: String,
    /// An earlier line says the contrary.
    is_disputed: bool,
}

fn weigh(verdict: Option<Verdict>, exit_code: Option<i32>) -> (Outcome, String) {
    let code = exit_code.map_or("a signal".to_owned(), |code| format!("code {code}"));
    match verdict {
        Some(Verdict { approves: false, reason, .. }) => {
            let reason = if reason.is_empty() { "no reason given".to_owned() } else { reason };
            (Outcome::Fail, format!("the reviewer rejects: {reason}"))
        }
        Some(Verdict { is_disputed: true, .. }) => (
            Outcome::Inconclusive,
            "two verdicts that disagree: an earlier line rejects, the last one approves".to_owned(),
        ),
        Some(_) if exit_code == Some(0) => (Outcome::Pass, "the reviewer approves".to_owned()),
        Some(_) => (
            Outcome::Inconclusive,
            format!("the reviewer approves, and its command ended with {code}"),
        ),
        None => (
            Outcome::Inconclusive,
            format!("no verdict: the last line is not `VERDICT: PASS` or `VERDICT: FAIL` ({code})"),
        ),
    }
}

/// The verdict in a reviewer's output.
fn verdict(text: &str) -> Option<Verdict> {
    if let Some(verdict) = parse_json(text.trim()) {
        return Some(verdict);
    }
    let mut lines = text.lines().map(str::trim).filter(|line| !is_fence_or_empty(line));
    let last_line = lines.next_back()?;
    let verdict = parse_json(last_line).or_else(|| parse_line(last_line))?;
    let is_disputed = verdict.approves && lines.any(is_rejection);
    Some(Verdict { is_disputed, ..verdict })
}

/// A line that is a verdict against the work, and not the template of one.
fn is_rejection(line: &str) -> bool {
    let Some(verdict) = parse_line(line) else { return false };
    let reason = verdict.reason.trim_matches(|char: char| !char.is_alphabetic());
    let is_template =
        verdict.reason.starts_with(['<', '{', '…', '.']) || reason.eq_ignore_ascii_case("reason");
    !verdict.approves && !is_template
}

fn is_fence_or_empty(line: &str) -> bool {
    line.trim_matches(['`', '~']).is_empty()
}

/// `VERDICT: WORD`, and the reason behind it.
fn parse_line(line: &str) -> Option<Verdict> {
    let (key, marked_value) = line.trim_matches(['*', '`', '_', '#', ' ']).split_once(':')?;
    if !key.trim_matches(['*', ' ']).eq_ignore_ascii_case("verdict") {
        return None;
    }
    let value = marked_value.trim_matches(['*', ' ', '.']);
    let word_end =
        value.find(|char: char| !(char.is_ascii_alphabetic() || matches!(char, '_' | '-')));
    let (word, after_word) = value.split_at(word_end.unwrap_or(value.len()));
    let reason = after_word.trim_start_matches([':', '-', '–', '—', '*', ',', '.', ' ']);
    let verdict = parse_word(word, reason)?;
    // "PASS | FAIL" is the template of a verdict, and "PASS once …" is none yet.
    let is_template = after_word.trim_start().starts_with(['|', '/']) || reason.starts_with("or ");
    let is_conditional = verdict.approves && !reason.is_empty();
    (!is_template && !is_conditional).then_some(verdict)
}

fn parse_word(word: &str, reason: &str) -> Option<Verdict> {
    let approves = match word.to_ascii_uppercase().replace('-', "_").as_str() {
        "PASS" | "PASSED" | "APPROVE" | "APPROVED" | "SHIP" | "LGTM" => true,
        "FAIL" | "FAILED" | "REJECT" | "REJECTED" | "REVISE" | "CHANGES_REQUESTED"
        | "REQUEST_CHANGES" | "NEEDS_WORK" => false,
        _ => return None,
    };
    Some(Verdict { approves, reason: brief(reason, 300), is_disputed: false })
}

/// A reviewer's JSON. A key that stands in it twice is an error, as everywhere.
#[derive(Deserialize)]
struct Answer {
    verdict: Option<String>,
    approved: Option<bool>,
    reason: Option<String>,
    summary: Option<String>,
    result: Option<String>,
}

fn parse_json(text: &str) -> Option<Verdict> {
    let answer: Answer = serde_json::from_str(text).ok()?;
    let reason = answer.reason.or(answer.summary).unwrap_or_default();
    let by_word = answer.verdict.map(|word| parse_word(&word, &reason));
    match (by_word, answer.approved) {
        (Some(verdict), Some(approved)) => verdict.filter(|verdict| verdict.approves == approved),
        (Some(verdict), None) => verdict,
        (None, Some(approves)) => {
            Some(Verdict { approves, reason: brief(&reason, 300), is_disputed: false })
        }
        (None, None) => verdict(&answer.result?),
    }
}

/// The last lines of a standard output.
#[derive(Default)]
struct LastLines {
    lines: VecDeque<String>,
    bytes: usize,
}

impl LastLines {
    fn take(&mut self, stream: Stream, line: &str) {
        if stream != Stream::Stdout {
            return;
        }
        self.bytes += line.len() + 1;
        self.lines.push_back(line.to_owned());
        while self.bytes > MAX_OUTPUT_BYTES && self.lines.len() > 1 {
            self.bytes -= self.lines.pop_front().map_or(0, |line| line.len() + 1);
        }
    }

    fn text(&self) -> String {
        self.lines.iter().map(String::as_str).collect::<Vec<_>>().join("\n")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn approves(text: &str) -> Option<bool> {
        verdict(text).map(|verdict| verdict.approves)
    }

    #[test]
    fn the_last_line_is_the_verdict() {
        for text in [
            "VERDICT: PASS",
            "VERDICT: PASS.",
            "ok\n```\nVERDICT: PASS\n```\n",
            "All good.\n\n**Verdict:** approved\n\n",
            "End with\nVERDICT: PASS\nor\nVERDICT: FAIL: <reason>\n\nVERDICT: SHIP",
            "{\"verdict\": \"pass\"}",
            "noise\n{\"approved\": true, \"reason\": \"fine\"}",
            "{\"type\":\"result\",\"result\":\"Reviewed.\\nVERDICT: PASS\"}",
        ] {
            assert_eq!(approves(text), Some(true), "{text}");
        }
        for text in [
            "VERDICT: FAIL: no test for the empty list",
            "verdict: changes-requested",
            "VERDICT: PASS\nVERDICT: REVISE",
            "{\"verdict\": \"reject\", \"reason\": \"no\"}",
            "{\"approved\": false}",
        ] {
            assert_eq!(approves(text), Some(false), "{text}");
        }
    }

    #[test]
    fn an_approval_behind_a_rejection_is_disputed() {
        for (text, expected) in [
            ("VERDICT: FAIL: at first\nlooked again\nVERDICT: PASS", Outcome::Inconclusive),
            ("{\"result\":\"VERDICT: FAIL: a\\nVERDICT: PASS\"}", Outcome::Inconclusive),
            ("VERDICT: PASS\nVERDICT: PASS", Outcome::Pass),
            ("VERDICT: PASS\nVERDICT: FAIL: no test", Outcome::Fail),
        ] {
            let (outcome, summary) = weigh(verdict(text), Some(0));
            assert_eq!(outcome, expected, "{text}: {summary}");
        }
    }

    #[test]
    fn what_is_no_verdict_is_none() {
        for text in [
            "",
            "PASS",
            "It passes.",
            "VERDICT: PASS or FAIL",
            "VERDICT: PASS | FAIL",
            "VERDICT: maybe",
            "VERDICT: PASS\nbut wait, there is more to look at",
            "VERDICT: PASS is not possible, three tests fail",
            "VERDICT: PASS? No. FAIL",
            "VERDICT: PASS once the tests are fixed",
            "{\"verdict\": \"fail\", \"verdict\": \"pass\"}",
            "{\"approved\": false, \"approved\": true}",
            "{\"verdict\": \"pass\", \"approved\": false}",
            "{\"verdict\": 1}",
            "The verdict will be: PASS",
        ] {
            assert_eq!(approves(text), None, "{text}");
        }
    }

    #[test]
    fn a_reviewer_that_ends_badly_has_not_approved() {
        let approval = verdict("VERDICT: PASS");
        assert_eq!(weigh(approval.clone(), Some(0)).0, Outcome::Pass);
        assert_eq!(weigh(approval.clone(), Some(3)).0, Outcome::Inconclusive);
        assert_eq!(weigh(approval, None).0, Outcome::Inconclusive);
        assert_eq!(weigh(verdict("VERDICT: FAIL: x"), Some(3)).0, Outcome::Fail);
        assert_eq!(weigh(None, Some(0)).0, Outcome::Inconclusive);
    }

    #[test]
    fn the_reason_is_told() {
        let rejected = weigh(verdict("VERDICT: FAIL - the list may be empty"), Some(0));
        assert_eq!(rejected.1, "the reviewer rejects: the list may be empty");
    }
}
