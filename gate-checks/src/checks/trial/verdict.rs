//! The verdict over a run: the control, the baseline's tests, the tree as it stands.

use gate_core::decide::evidence::{Evidence, Outcome};
use serde_json::{Value, json};

use super::ground::{Ground, Hold};
use super::held::Held;
use super::identities::{self, Renamed, compare, is_allowed, names_all};
use super::known::Known;
use super::since::Since;
use super::trouble::Trouble;
use super::{Control, Trial, Tried, tell};
use crate::check::CheckId;
use crate::control::Found;
use crate::report;

/// Overlaid files that a summary names.
const NAMED: usize = 2;

/// A record that is almost ready.
pub(super) struct Verdict {
    pub(super) evidence: Evidence,
    /// Further members of the evidence's detail.
    pub(super) told: Value,
    pub(super) report: Option<report::TestReport>,
    pub(super) falls_short: bool,
}

/// The meaning of a control that did not fail.
enum Meaning {
    Tamper,
    /// It says nothing, and why.
    Nothing(&'static str),
}

impl Verdict {
    pub(super) fn of(tried: Tried) -> Self {
        let falls_short = tried.falls_short();
        let told = match &tried.control {
            Control::None(why) => json!({ "control": "none", "why_none": why }),
            Control::Held(held) => {
                json!({ "control": held.name(), "exit_code_with_control": tried.code })
            }
        };
        Self { evidence: tried.evidence, told, report: tried.report, falls_short }
    }

    pub(super) fn finished(self) -> Evidence {
        let Self { mut evidence, told, .. } = self;
        tell(&mut evidence, told);
        evidence
    }

    pub(super) fn tell(&mut self, name: &str, value: Value) {
        if let Some(told) = self.told.as_object_mut() {
            told.insert(name.to_owned(), value);
        }
    }

    pub(super) fn becomes(&mut self, outcome: Outcome, summary: String) {
        self.evidence.outcome = outcome;
        self.evidence.summary = summary;
        self.falls_short = false;
    }
}

impl Trial<'_> {
    /// Weighs what a try told: first the control, then the baseline's tests.
    pub(super) async fn weigh(
        &self,
        ground: &mut Ground,
        since: Option<&Since<'_>>,
        found: Option<&Found>,
        tried: Tried,
    ) -> Result<Verdict, Trouble> {
        let tried = self.let_go(ground, tried);
        self.remember(ground, since, found, &tried);
        let Tried { control, code, .. } = &tried;
        let held = match control {
            Control::Held(held) => Some(*held),
            Control::None(_) => None,
        };
        let (report, code, passed) = (tried.report.clone(), *code, tried.passed());
        let mut verdict = Verdict::of(tried);
        if let (Some(held), Some(found)) = (held.filter(|it| *it != Held::Failed), found)
            && (passed || code == Some(0) || held == Held::Passed)
        {
            match self.means(ground, since, found, held).await? {
                Meaning::Tamper => {
                    verdict.becomes(Outcome::Tamper, held.told(code));
                    return Ok(verdict);
                }
                Meaning::Nothing(why) => {
                    verdict.tell("control", json!("none"));
                    verdict.tell("why_none", json!(why));
                }
            }
        }
        let Some(since) = since.filter(|_| passed) else { return Ok(verdict) };
        let planted = found.is_some_and(|found| ground.is_about_tests(found));
        let names_tests = report.as_ref().is_some_and(names_all);
        let known = self.known(ground, since, found, planted).await?;
        let known = known.filter(|known| !known.tests.is_empty());
        match (known, report) {
            (Some(known), Some(report)) if names_tests => {
                self.hold_against(&known, &report, ground, since, &mut verdict);
            }
            (Some(known), _) => {
                let gone = known.tests.len();
                let summary = format!("none of the baseline's {gone} tests is told of any more");
                verdict.becomes(Outcome::Fail, summary);
            }
            (None, _) => {
                verdict.tell("baseline", json!({ "known": false }));
                if names_tests {
                    verdict.evidence.summary.push_str("; the baseline's tests are not known");
                }
            }
        }
        Ok(verdict)
    }

    /// Failing tests that the operator lets go do not count.
    fn let_go(&self, ground: &Ground, tried: Tried) -> Tried {
        let Some(report) = &tried.report else { return tried };
        let may_go = |id: &str| is_allowed(id, &self.cx.allow);
        let failed = || report.named(report::Status::Failed);
        let held = matches!(tried.control, Control::Held(Held::Failed));
        if !held || failed().next().is_none() || !failed().all(may_go) {
            return tried;
        }
        let mut report = report.clone();
        report.failed = report.failed.saturating_sub(failed().count() as u64);
        report.tests.retain(|test| test.status != report::Status::Failed);
        let judged = report::judge(Some(&report), Some(0), ground.settings().report);
        let mut evidence = tried.evidence;
        (evidence.outcome, evidence.summary) = (judged.outcome, judged.summary);
        (evidence.exit_code, evidence.excerpt) = (Some(0), None);
        tell(&mut evidence, judged.detail);
        Tried { evidence, report: Some(report), ..tried }
    }

    /// A run on a tree that is its own baseline tells what the baseline's tests are.
    fn remember(
        &self,
        ground: &Ground,
        since: Option<&Since<'_>>,
        found: Option<&Found>,
        tried: &Tried,
    ) {
        let Some(since) = since.filter(|since| since.changes.is_empty()) else { return };
        let planted = found.is_some_and(|found| ground.is_about_tests(found));
        let held = match tried.control {
            Control::Held(held) => Some(held),
            Control::None(_) => None,
        };
        let known = Known::of(tried.report.as_ref(), held.filter(|_| planted));
        // What is not known may only lack something at this moment.
        if !known.tests.is_empty() {
            self.keep(ground, since, planted, &known);
            if let (false, Some(held)) = (planted, held) {
                self.keep(ground, since, true, &Known::of(None, Some(held)));
            }
        }
    }

    /// Finds the meaning of a control that did not fail. A project's own settings may leave it
    /// out: then it did not fail on the baseline either.
    async fn means(
        &self,
        ground: &mut Ground,
        since: Option<&Since<'_>>,
        found: &Found,
        held: Held,
    ) -> Result<Meaning, Trouble> {
        if held == Held::Masked {
            return Ok(Meaning::Tamper);
        }
        let known = match since {
            Some(since) => self.known(ground, since, Some(found), true).await?,
            None => None,
        };
        let part = found.runner.selects(&found.args) || !found.seen;
        Ok(match (known.and_then(|known| known.control), held) {
            (Some(true), _) => Meaning::Tamper,
            (Some(false), _) => Meaning::Nothing("it is left out in the baseline too"),
            (None, Held::NoTest) => Meaning::Nothing("no test is told of"),
            (None, Held::Missing) if part => {
                Meaning::Nothing("the command was not seen to run all tests")
            }
            (None, _) => Meaning::Tamper,
        })
    }

    fn hold_against(
        &self,
        known: &Known,
        report: &report::TestReport,
        ground: &Ground,
        since: &Since<'_>,
        verdict: &mut Verdict,
    ) {
        let cwd = identities::inside(&self.cx.site.folder_of(self.settings), ground.tree().root());
        let renamed = Renamed::of(since, &cwd);
        let compared = compare(&known.tests, report, &renamed, &self.cx.allow);
        verdict.tell("baseline", compared.detail());
        if let Some(wrong) = compared.wrong() {
            let summary = format!("{wrong}; of all tests, {}", verdict.evidence.summary);
            verdict.becomes(Outcome::Fail, summary);
        }
    }

    /// After a run with the baseline's tests: the tree with its own.
    pub(super) async fn as_it_stands(
        &self,
        ground: &mut Ground,
        (since, found): (&Since<'_>, Option<&Found>),
        verdict: &mut Verdict,
    ) -> Result<(), Trouble> {
        let overlaid = &since.names();
        let files = some(overlaid);
        let passed = verdict.evidence.outcome == Outcome::Pass;
        if !passed && !verdict.falls_short {
            if verdict.evidence.outcome == Outcome::Fail {
                let how = format!("; with {files} as in the baseline");
                verdict.evidence.summary.push_str(&how);
            }
            return Ok(());
        }
        if self.cx.cancel.is_cancelled() {
            return Err(Trouble::Ended);
        }
        let own = since.own_tests().filter(|_| passed);
        if own.as_ref().is_some_and(Vec::is_empty) {
            // What is left of its tests has passed.
            return Ok(());
        }
        ground.bring(Hold::Tree)?;
        if let (Some(own), Some(found), Some(report)) = (&own, found, &verdict.report) {
            ground.narrow(found, own, report);
        }
        let log = CheckId::new(format!("{}-as-it-stands", self.id));
        let none = Control::None(String::new());
        let stands = Tried::of(ground.run(&log, None, false).await, ground.settings(), none);
        match (passed, stands.passed()) {
            (true, true) => {}
            (true, false) => {
                verdict.falls_short = stands.falls_short();
                verdict.evidence = stands.evidence;
                verdict.evidence.summary.push_str("; with the baseline's tests it passed");
            }
            (false, true) => {
                let summary = format!(
                    "with {files} as in the baseline: {}; a change that is meant needs `path` in \
                     [[integrity.allow]]",
                    verdict.evidence.summary
                );
                verdict.becomes(Outcome::Fail, summary);
            }
            // It is not what was laid over it.
            (false, false) => {
                verdict.falls_short = stands.falls_short();
                verdict.evidence = stands.evidence;
            }
        }
        Ok(())
    }

    /// Runs the command in the tree itself, if the copy lacks something.
    pub(super) async fn in_tree_instead(&self, mut verdict: Verdict) -> Verdict {
        let none = Control::None(String::new());
        let tried = Tried::of(self.in_tree().await, self.settings, none);
        if tried.passed() {
            let summary = format!(
                "it passes in the work tree alone; in the copy that gate tests: {}; what tests \
                 need and git ignores has to be tracked, or made by the tests (or set `control = \
                 false`)",
                verdict.evidence.summary
            );
            verdict.becomes(Outcome::Inconclusive, summary);
            return verdict;
        }
        verdict.evidence = tried.evidence;
        verdict
    }
}

/// The first of these files, and how many more there are.
fn some(files: &[String]) -> String {
    let first = files.iter().take(NAMED).cloned().collect::<Vec<_>>().join(", ");
    match files.len().saturating_sub(NAMED) {
        0 => first,
        more => format!("{first} and {more} more"),
    }
}
