//! The command on the baseline: which tests there were, how they ended, and in which folder they
//! decide.
//!
//! A fresh folder is used if the baseline itself ends there as in the warm workspace, test by
//! test. Both run once per baseline and command. If they differ, tests need something that is
//! no part of the tree, and the warm workspace decides.

use std::collections::{BTreeMap, BTreeSet};

use gate_core::decide::policy::{Allowance, CheckPolicy, Deciding, Mode};
use gate_core::text::{MAX_NAMES, some_names};
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::VerifiedTests;
use super::control_outcome::{ControlOutcome, without};
use super::identities::{is_allowed, name, names_all};
use super::overlay::Overlay;
use super::test_workspace::{Contents, TestWorkspace};
use super::trouble::Trouble;
use crate::check::CheckId;
use crate::control::{Kinds, RunnerCommand};
use crate::report::{Status, Test, TestReport};

/// A run of the command on the baseline.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct BaselineRun {
    /// Empty if the report does not name every test.
    pub(super) tests: Vec<Test>,
    /// None if a signal ended it. With a control in the run the code says nothing.
    pub(super) exit_code: Option<i32>,
    /// The kinds of tests of the control that failed in that run; none without a control.
    pub(super) control: Option<Kinds>,
}

impl BaselineRun {
    pub(super) fn new(
        report: Option<&TestReport>,
        exit_code: Option<i32>,
        control: Option<ControlOutcome>,
    ) -> Self {
        let named = report.filter(|report| names_all(report));
        let tests = named.map(|report| report.tests.clone()).unwrap_or_default();
        Self { tests, exit_code, control: control.map(|one| Kinds::ALL.without(one.lost())) }
    }

    /// The tests that failed, by name.
    pub(super) fn failed(&self) -> impl Iterator<Item = &str> {
        let failed = self.tests.iter().filter(|test| test.status == Status::Failed);
        failed.map(|test| test.id.as_str())
    }
}

/// The runs on the baseline that are kept.
#[derive(Clone, Copy, Debug, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum RunKind {
    /// In the warm workspace.
    Warm,
    /// The same with a control.
    WithControl,
    /// In a fresh folder.
    Fresh,
    /// In the warm workspace, as a record.
    Record,
}

/// The folder in which the baseline's tests decide.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Ground {
    /// A new one, with a random path.
    Fresh,
    /// The warm workspace, and why.
    Warm(String),
}

impl Ground {
    fn warm(why: &str) -> Self {
        Self::Warm(why.to_owned())
    }
}

impl VerifiedTests<'_> {
    /// The run on the baseline in the warm workspace, and the folder in which its tests decide.
    pub(super) async fn calibrated_baseline(
        &self,
        workspace: &mut TestWorkspace,
        overlay: &Overlay<'_>,
        (runner, planted): (Option<&RunnerCommand>, bool),
    ) -> Result<(Option<BaselineRun>, Ground), Trouble> {
        let run = self.baseline_run(workspace, overlay, (runner, planted)).await?;
        let ground = self.ground(workspace, overlay, run.as_ref()).await?;
        Ok((run, ground))
    }

    /// The run on the baseline in the warm workspace. gate runs it if no earlier run is stored.
    /// None if the command gives no answer: the next time it may.
    pub(super) async fn baseline_run(
        &self,
        workspace: &mut TestWorkspace,
        overlay: &Overlay<'_>,
        (runner, planted): (Option<&RunnerCommand>, bool),
    ) -> Result<Option<BaselineRun>, Trouble> {
        let kind = if planted { RunKind::WithControl } else { RunKind::Warm };
        if let Some(run) = self.kept(workspace, overlay, kind) {
            return Ok(Some(run));
        }
        workspace.sync(Contents::Baseline(overlay))?;
        let control = match runner {
            Some(runner) if planted => workspace.plant(runner)?,
            _ => None,
        };
        let log = CheckId::new(format!("{}-baseline", self.id));
        let Ok(ran) = workspace.run(&log, control.as_ref(), true).await else {
            return if self.cx.cancel.is_cancelled() { Err(Trouble::Ended) } else { Ok(None) };
        };
        let exit_code = ran.launched.exit_code;
        let outcome = control.as_ref().map(|control| {
            ControlOutcome::from_report(ran.report.as_ref(), exit_code, &control.id)
        });
        let report = match &control {
            Some(control) => ran.report.map(|report| without(report, &control.id)),
            None => ran.report,
        };
        let run = BaselineRun::new(report.as_ref(), exit_code, outcome);
        self.keep(workspace, overlay, kind, &run);
        Ok(Some(run))
    }

    /// The folder for this decision. `warm` is the run on the baseline in the warm workspace.
    async fn ground(
        &self,
        workspace: &TestWorkspace,
        overlay: &Overlay<'_>,
        warm: Option<&BaselineRun>,
    ) -> Result<Ground, Trouble> {
        if self.settings.deciding == Deciding::Warm {
            return Ok(Ground::warm("`deciding = \"warm\"` in the settings"));
        }
        if self.settings.mode != Mode::Require {
            return Ok(Ground::warm("the check is not required"));
        }
        let Some(warm) = warm else {
            return Ok(Ground::warm("the command gave no answer on the baseline"));
        };
        let fresh = match self.kept(workspace, overlay, RunKind::Fresh) {
            Some(run) => run,
            None => match self.fresh_baseline_run(workspace, overlay).await? {
                Ok(run) => run,
                Err(why) => return Ok(Ground::Warm(why)),
            },
        };
        Ok(difference(warm, &fresh, &self.cx.allow).map_or(Ground::Fresh, Ground::Warm))
    }

    /// Runs the command on the baseline in a fresh folder; the reason if it gives no answer.
    async fn fresh_baseline_run(
        &self,
        workspace: &TestWorkspace,
        overlay: &Overlay<'_>,
    ) -> Result<Result<BaselineRun, String>, Trouble> {
        let contents = Contents::Baseline(overlay);
        let check = (self.id, self.settings);
        let fresh = workspace.fresh(check, contents, &BTreeSet::new(), false)?;
        let log = CheckId::new(format!("{}-baseline-fresh", self.id));
        let ran = match fresh.prepare(self.id).await {
            Ok(()) => fresh.run(&log, None, true).await,
            Err(evidence) => Err(evidence),
        };
        if self.cx.cancel.is_cancelled() {
            return Err(Trouble::Ended);
        }
        let ran = match ran {
            Ok(ran) => ran,
            Err(evidence) => return Ok(Err(format!("in a fresh folder, {}", evidence.summary))),
        };
        fresh.keep_builds(self.id);
        let run = BaselineRun::new(ran.report.as_ref(), ran.launched.exit_code, None);
        self.keep(workspace, overlay, RunKind::Fresh, &run);
        Ok(Ok(run))
    }

    /// A run on the baseline from before.
    pub(super) fn kept(
        &self,
        workspace: &TestWorkspace,
        overlay: &Overlay<'_>,
        kind: RunKind,
    ) -> Option<BaselineRun> {
        overlay.baseline.result(&self.cx.site, workspace.tree(), &self.key(kind))
    }

    pub(super) fn keep(
        &self,
        workspace: &TestWorkspace,
        overlay: &Overlay<'_>,
        kind: RunKind,
        run: &BaselineRun,
    ) {
        // What is not kept is found out again.
        let _ = overlay.baseline.keep_result(&self.cx.site, workspace.tree(), &self.key(kind), run);
    }

    /// The check, its command, and all else that a run on the baseline depends on.
    pub(super) fn key(&self, kind: RunKind) -> String {
        let CheckPolicy { command, shell, cwd, env, report, prepare, .. } = self.settings;
        let version = env!("CARGO_PKG_VERSION");
        json!([kind, version, self.id.as_str(), command, shell, cwd, env, report, prepare])
            .to_string()
    }
}

/// The difference between the two runs on the baseline; none if the fresh folder decides. Tests
/// that a person leaves out make none.
fn difference(warm: &BaselineRun, fresh: &BaselineRun, allow: &[Allowance]) -> Option<String> {
    let (before, after) = (statuses(warm), statuses(fresh));
    if before.is_empty() && after.is_empty() {
        let comparable = warm.control.is_none();
        return (!comparable || warm.exit_code != fresh.exit_code)
            .then(|| "the baseline ends otherwise in a fresh folder".to_owned());
    }
    let names: BTreeSet<_> = before.keys().chain(after.keys()).collect();
    let differing = names
        .into_iter()
        .filter(|name| before.get(*name) != after.get(*name) && !is_allowed(name.as_str(), allow));
    let differing: Vec<_> = differing.cloned().collect();
    if !differing.is_empty() {
        let count = differing.len();
        let tests =
            if count == 1 { "1 test of the baseline ends" } else { "tests of the baseline end" };
        let count = if count == 1 { String::new() } else { format!("{count} ") };
        return Some(format!(
            "{count}{tests} otherwise in a fresh folder: {}; make what is missing there with \
             `prepare`",
            some_names(&differing, MAX_NAMES)
        ));
    }
    let is_explained = fresh.exit_code == Some(0) || fresh.failed().next().is_some();
    (!is_explained)
        .then(|| "the baseline's tests pass in a fresh folder, and the command fails".to_owned())
}

/// The ends of each test; a name may stand for several.
fn statuses(run: &BaselineRun) -> BTreeMap<String, BTreeSet<Status>> {
    let mut statuses: BTreeMap<_, BTreeSet<_>> = BTreeMap::new();
    for test in &run.tests {
        statuses.entry(name(&test.id)).or_default().insert(test.status);
    }
    statuses
}

#[cfg(test)]
mod tests;
