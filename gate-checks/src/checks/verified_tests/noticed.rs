//! `noticed`: changed code that no test notices.
//!
//! Changed places of the product are taken back to what they were at the baseline, all together
//! first, and the tests run. If they pass, no test notices any of the places. If one fails, each
//! half is tried alone, as long as runs are left. Code that does not build without its change was
//! not tried: that says nothing about tests.

use std::collections::{BTreeMap, VecDeque};
use std::path::PathBuf;
use std::time::Instant;

use async_trait::async_trait;
use gate_core::decide::evidence::{Evidence, Outcome};
use gate_core::decide::policy::{CheckPolicy, Mode, Policy};
use gate_core::decide::untested_change::{ChangedPlace, NoticedChanges};
use gate_core::integrity::{CodeChanges, is_code, with_baseline_inline_tests};
use serde_json::json;

use super::overlay::Overlay;
use super::test_workspace::{Contents, TestWorkspace};
use super::trouble::Trouble;
use crate::baseline::{Change, StoredFile, What};
use crate::check::{Check, CheckContext, CheckId};
use crate::check_kind::{CheckKind, with_command};
use crate::checks::command::reads_tests;
use crate::site::CheckSite;
use crate::worktree::{Kind, WorkTree, shown};

/// The checks whose tests gate runs in a copy, with their commands.
pub(crate) fn test_checks(policy: &Policy, site: &CheckSite) -> Vec<(CheckId, CheckPolicy)> {
    let of_phase = policy.checks.values().flat_map(|settings| &settings.tests);
    let tests = policy.checks.iter().chain(of_phase).filter_map(|(name, settings)| {
        let (with_command, _) = with_command(name, settings, site)?;
        let is_test = settings.control
            && reads_tests(name, settings)
            && CheckKind::for_check(name, &with_command) == CheckKind::Command;
        is_test.then(|| (CheckId::new(name), with_command))
    });
    tests.collect()
}

/// The check `noticed`.
pub(in crate::checks) struct Noticed {
    id: CheckId,
    settings: CheckPolicy,
    tests: Vec<(CheckId, CheckPolicy)>,
}

/// A changed source of the product.
struct ChangedSource {
    path: PathBuf,
    kind: Kind,
    changes: CodeChanges,
}

/// A place by the number of its file, and its own in the file.
type PlaceNumber = (usize, usize);

/// Places that are taken back together.
struct Group {
    places: Vec<PlaceNumber>,
    /// True if a test is known to notice one of them.
    is_noticed: bool,
    /// True if the next group is the other half of one that a test notices.
    is_first_half: bool,
}

/// The answer of the tests without a change.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Answer {
    Noticed,
    Unnoticed,
    None,
}

/// The search for places that no test notices.
struct Search<'s> {
    check: &'s Noticed,
    cx: &'s CheckContext,
    tree: &'s WorkTree,
    sources: Vec<ChangedSource>,
    runs_left: usize,
}

impl Noticed {
    pub(in crate::checks) fn new(
        id: CheckId,
        settings: &CheckPolicy,
        tests: Vec<(CheckId, CheckPolicy)>,
    ) -> Self {
        Self { id, settings: settings.clone(), tests }
    }

    async fn look(&self, cx: &CheckContext) -> Result<Evidence, Trouble> {
        if self.tests.is_empty() {
            let summary = "no check of tests is configured whose command gate can run in a copy";
            return Ok(self.evidence(Outcome::Inconclusive, summary));
        }
        let tree = WorkTree::open(&cx.site)?;
        let Some(overlay) = Overlay::new(cx, &tree)? else {
            let summary = "there is no baseline: run `gate baseline` before the work";
            return Ok(self.evidence(Outcome::Inconclusive, summary));
        };
        let mut sources = Vec::new();
        for change in &overlay.changes {
            sources.extend(changed_source(&overlay, &tree, change)?);
        }
        if sources.is_empty() {
            return Ok(self.evidence(Outcome::Pass, "no code of the baseline is changed"));
        }
        let runs_left = self.settings.runs as usize;
        let mut search = Search { check: self, cx, tree: &tree, sources, runs_left };
        let found = search.run().await?;
        Ok(self.judged(&found))
    }

    fn judged(&self, found: &NoticedChanges) -> Evidence {
        let tried = found.noticed + found.unnoticed.len() as u64;
        let mut evidence = if !found.unnoticed.is_empty() {
            self.evidence(Outcome::Fail, format!("no test notices {}", found.named()))
        } else if tried > 0 {
            let summary = format!("changed code noticed {} of {tried}", found.noticed);
            self.evidence(Outcome::Pass, summary)
        } else {
            // Doubt refuses only what a test is required for.
            let required = self.settings.mode == Mode::Require;
            let outcome = if required { Outcome::Inconclusive } else { Outcome::Pass };
            self.evidence(outcome, "not tried: the tests do not run without the changed code")
        };
        evidence.detail = Some(json!({ "noticed": found }));
        evidence
    }
}

#[async_trait]
impl Check for Noticed {
    fn id(&self) -> &CheckId {
        &self.id
    }

    async fn run(&self, cx: &CheckContext) -> Evidence {
        let began = Instant::now();
        let evidence = match self.look(cx).await {
            Ok(evidence) => evidence,
            Err(trouble) => self.evidence(Outcome::Inconclusive, trouble.to_string()),
        };
        evidence.with_duration(began.elapsed())
    }
}

/// True if the work changes code of the product, and not only tests, comments or settings.
pub(super) fn changes_code(overlay: &Overlay<'_>, tree: &WorkTree) -> Result<bool, Trouble> {
    for change in overlay.changes.iter().filter(|change| change.guarded.is_none()) {
        let is_code = match change.what {
            What::Edited => changed_source(overlay, tree, change)?.is_some(),
            What::Added | What::Removed => is_code(&change.path.to_string_lossy()),
        };
        if is_code {
            return Ok(true);
        }
    }
    Ok(false)
}

/// The source with its changes; none for tests, settings and new files, which the baseline's code
/// does not need, and if only comments changed.
fn changed_source(
    overlay: &Overlay<'_>,
    tree: &WorkTree,
    change: &Change,
) -> Result<Option<ChangedSource>, Trouble> {
    if change.guarded.is_some() || change.what != What::Edited {
        return Ok(None);
    }
    // A link's bytes are no source.
    if tree.root().join(&change.path).is_symlink() {
        return Ok(None);
    }
    let name = change.path.to_string_lossy();
    let (Some(before), Some(now)) =
        (overlay.baseline.content(tree, &change.path)?, tree.bytes(&change.path))
    else {
        return Ok(None);
    };
    // Tests in the source stay: they are to notice the change.
    let with_tests = with_baseline_inline_tests(&name, &now, &before.bytes);
    let before_text = with_tests.unwrap_or(before.bytes);
    let texts = (String::from_utf8(before_text), String::from_utf8(now));
    let (Ok(before_text), Ok(now)) = texts else { return Ok(None) };
    let changes = CodeChanges::new(&name, &before_text, &now);
    Ok(changes.map(|changes| {
        let path = change.path.clone();
        ChangedSource { path, kind: before.kind, changes }
    }))
}

impl Search<'_> {
    async fn run(&mut self) -> Result<NoticedChanges, Trouble> {
        let mut found = NoticedChanges::default();
        let all = self.sources.iter().enumerate().flat_map(|(file, source)| {
            (0..source.changes.places().len()).map(move |place| (file, place))
        });
        let whole = Group { places: all.collect(), is_noticed: false, is_first_half: false };
        let mut groups = VecDeque::from([whole]);
        while let Some(group) = groups.pop_front() {
            let answer = match group.is_noticed {
                true => Answer::Noticed,
                false => self.answer(&group.places).await?,
            };
            if answer == Answer::Unnoticed {
                found.unnoticed.extend(group.places.iter().map(|place| self.shown(*place)));
                if let Some(other) = groups.front_mut().filter(|_other| group.is_first_half) {
                    other.is_noticed = true;
                }
            } else if group.places.len() > 1 && self.runs_left >= self.check.tests.len() {
                let second = group.places[self.middle(&group.places)..].to_vec();
                let first = group.places[..group.places.len() - second.len()].to_vec();
                let is_first_half = answer == Answer::Noticed;
                groups.push_back(Group { places: first, is_noticed: false, is_first_half });
                groups.push_back(Group { places: second, is_noticed: false, is_first_half: false });
            } else {
                let noticed = u64::from(answer == Answer::Noticed);
                found.noticed += noticed;
                found.not_tried += group.places.len() as u64 - noticed;
            }
        }
        found.unnoticed.sort_by(|a, b| (&a.file, a.from).cmp(&(&b.file, b.from)));
        Ok(found)
    }

    /// The number of places in the first half: it ends with a file if there are several.
    fn middle(&self, places: &[PlaceNumber]) -> usize {
        let half = places.len() / 2;
        let starts_file = |at: &usize| places[*at].0 != places[at - 1].0;
        let ends = (1..places.len()).filter(starts_file);
        ends.min_by_key(|at| at.abs_diff(half)).unwrap_or(half)
    }

    /// Runs the tests without these places.
    async fn answer(&mut self, places: &[PlaceNumber]) -> Result<Answer, Trouble> {
        if self.runs_left < self.check.tests.len() {
            return Ok(Answer::None);
        }
        let mut files = BTreeMap::new();
        for (number, source) in self.sources.iter().enumerate() {
            let own = places.iter().filter(|(file, _)| *file == number).map(|(_, place)| *place);
            let own: Vec<_> = own.collect();
            if !own.is_empty() {
                let bytes = source.changes.without(&own).into_bytes();
                let file = StoredFile { bytes, kind: source.kind };
                files.insert(source.path.clone(), file);
            }
        }
        for (id, settings) in &self.check.tests {
            self.runs_left -= 1;
            // Without its change a loop may not end.
            let timeout_ms = settings.timeout_ms.min(self.check.settings.timeout_ms);
            let settings = CheckPolicy { timeout_ms, ..settings.clone() };
            let mut workspace = TestWorkspace::open(self.tree, &settings, self.cx).await?;
            workspace.sync(Contents::Laid(&files))?;
            let log = CheckId::new(format!("{id}-noticed"));
            let ran = workspace.run(&log, None, false).await;
            if self.cx.cancel.is_cancelled() {
                return Err(Trouble::Ended);
            }
            let Ok(ran) = ran else { return Ok(Answer::None) };
            let Some(report) = ran.report.filter(|report| {
                report.executed() > 0 && report.errors.is_empty() && report.problems.is_empty()
            }) else {
                return Ok(Answer::None);
            };
            if report.failed > 0 {
                return Ok(Answer::Noticed);
            }
            if ran.launched.exit_code != Some(0) {
                return Ok(Answer::None);
            }
        }
        Ok(Answer::Unnoticed)
    }

    fn shown(&self, (file, place): PlaceNumber) -> ChangedPlace {
        use std::os::unix::ffi::OsStrExt;

        let source = &self.sources[file];
        let bytes = source.path.as_os_str().as_bytes();
        let file = shown(self.tree.in_project(bytes).unwrap_or(bytes));
        let (from, to) = source.changes.places().nth(place).unwrap_or_default();
        ChangedPlace { file, from, to }
    }
}
