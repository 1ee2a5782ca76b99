//! The folder in which the baseline's tests decide.
//!
//! A fresh folder is used if the baseline itself ends there as in the warm workspace, test by
//! test. Both run once per baseline and command. If they differ, tests need something that is
//! no part of the tree, and the warm workspace decides.

use std::collections::{BTreeMap, BTreeSet};

use gate_core::decide::policy::{Deciding, Mode};
use gate_core::text::{MAX_NAMES, some_names};

use super::VerifiedTests;
use super::baseline_run::{BaselineRun, RunKind};
use super::identities::name;
use super::overlay::Overlay;
use super::test_workspace::{Contents, TestWorkspace};
use super::trouble::Trouble;
use crate::check::CheckId;
use crate::report::Status;

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
    /// The folder for this decision. `warm` is the run on the baseline in the warm workspace.
    pub(super) async fn ground(
        &self,
        workspace: &TestWorkspace,
        overlay: &Overlay<'_>,
        warm: Option<&BaselineRun>,
    ) -> Result<Ground, Trouble> {
        if self.settings.deciding == Deciding::Warm {
            return Ok(Ground::warm("`deciding = \"warm\"` in the settings"));
        }
        if self.cx.interactive {
            return Ok(Ground::warm("a stop is let go, and ends no work"));
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
        Ok(difference(warm, &fresh).map_or(Ground::Fresh, Ground::Warm))
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
}

/// The difference between the two runs on the baseline; none if the fresh folder decides.
fn difference(warm: &BaselineRun, fresh: &BaselineRun) -> Option<String> {
    let (before, after) = (statuses(warm), statuses(fresh));
    if before.is_empty() && after.is_empty() {
        let comparable = warm.control.is_none();
        return (!comparable || warm.exit_code != fresh.exit_code)
            .then(|| "the baseline ends otherwise in a fresh folder".to_owned());
    }
    let names: BTreeSet<_> = before.keys().chain(after.keys()).collect();
    let differing = names.into_iter().filter(|name| before.get(*name) != after.get(*name));
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
mod tests {
    use super::*;
    use crate::control::Kinds;
    use crate::report::Test;

    use Status::{Failed, Passed};

    fn run(tests: &[(&str, Status)], exit_code: i32) -> BaselineRun {
        let test = |(id, status): &(&str, Status)| Test { id: (*id).to_owned(), status: *status };
        let tests = tests.iter().map(test).collect();
        BaselineRun { tests, exit_code: Some(exit_code), control: None }
    }

    #[track_caller]
    fn check(warm: &BaselineRun, fresh: &BaselineRun, expected: &str) {
        let told = difference(warm, fresh).unwrap_or_default();
        assert!(told.contains(expected) && told.is_empty() == expected.is_empty(), "{told}");
    }

    #[test]
    fn the_same_tests_have_to_end_in_the_same_way() {
        let green = run(&[("a", Passed), ("b", Passed)], 0);
        let red = run(&[("a", Passed), ("b", Failed)], 1);
        check(&green, &green, "");
        check(&red, &red, "");
        check(&green, &red, "1 test of the baseline ends otherwise in a fresh folder: b;");
        check(&green, &run(&[], 4), "2 tests of the baseline end otherwise");
        check(&green, &BaselineRun { exit_code: Some(2), ..green.clone() }, "the command fails");
    }

    #[test]
    fn without_names_of_tests_the_exit_code_is_compared() {
        check(&run(&[], 0), &run(&[], 0), "");
        check(&run(&[], 1), &run(&[], 1), "");
        check(&run(&[], 0), &run(&[], 2), "ends otherwise");
        let with_control = BaselineRun { control: Some(Kinds::ALL), ..run(&[], 1) };
        check(&with_control, &run(&[], 1), "ends otherwise");
    }
}
