//! The check `acceptance_criteria`: is everything done that was asked for?
//!
//! It reads the criteria of the settings, and the files that they name: task lists in Markdown,
//! `prd.json`, and beads' JSON lines. If a criterion has a command, that command decides. It comes
//! from the settings or from the baseline's files, never from a text of the agent's. An open item
//! fails. That all others are marked as done is the word of whoever marked them, usually the agent:
//! such a pass is a claim. A file that cannot be read or has no criteria is inconclusive, and so is a
//! command that cannot be run.

use async_trait::async_trait;
use gate_core::decide::checks::CRITERIA;
use gate_core::decide::evidence::{Evidence, Outcome};
use gate_core::decide::policy::CheckPolicy;

use super::acceptance::{
    CommandResult, Criteria, Plan, PlanError, Tally, Verify, named_files, parse_plan,
};
use super::launch::{Collector, Launch, argv};
use crate::baseline::Baseline;
use crate::check::{Check, CheckContext, CheckId};
use crate::report::{self, Reader};
use crate::scripts::scripts_of;
use crate::temporary::Temporary;
use crate::worktree::WorkTree;

/// Looks for criteria that are open or not met.
#[derive(Clone, Debug)]
pub(super) struct AcceptanceCriteria {
    id: CheckId,
    settings: CheckPolicy,
}

impl AcceptanceCriteria {
    /// The check of this name with these settings.
    pub(super) fn new(id: CheckId, policy: &CheckPolicy) -> Self {
        Self { id, settings: policy.clone() }
    }

    /// The criteria of the settings and of all files.
    fn read(&self, cx: &CheckContext) -> Criteria {
        let rules = &self.settings;
        let configured = Criteria::configured(&rules.criteria);
        if rules.files.is_empty() {
            return configured;
        }
        let mut tally = Tally::new(cx.options.about.task.as_deref());
        let mut baseline_plans = Vec::new();
        for entry in &rules.files {
            let files = named_files(&cx.site.project, entry).unwrap_or_else(|error| {
                tally.add_problem(&error);
                Vec::new()
            });
            for file in &files {
                tally.read_file(file, rules);
                let Some(baseline) = &cx.options.baseline else { continue };
                match baseline_plan(cx, baseline, &file.shown, rules) {
                    Ok(plan) => {
                        baseline_plans.extend(plan.map(|plan| (file.shown.clone(), plan)));
                    }
                    Err(error) => tally.add_problem(&error),
                }
            }
        }
        let mut criteria = tally.finish(&baseline_plans);
        criteria.list.splice(0..0, configured.list);
        criteria
    }

    /// Adds to each criterion the scripts that its command runs and the work changed. They may be what was
    /// asked for, or ask for less than before: only a person can tell.
    fn add_edited_scripts(&self, cx: &CheckContext, criteria: &mut Criteria) {
        let Some(baseline) = &cx.options.baseline else { return };
        let Ok(tree) = WorkTree::open(&cx.site) else { return };
        for criterion in &mut criteria.list {
            if let Some(verify) = &criterion.verify {
                criterion.edited_scripts = self.edited_scripts(cx, baseline, &tree, verify);
            }
        }
    }

    fn edited_scripts(
        &self,
        cx: &CheckContext,
        baseline: &Baseline,
        tree: &WorkTree,
        verify: &Verify,
    ) -> Vec<String> {
        let (command, shell) = match verify {
            Verify::Argv(argv) => (argv.clone(), false),
            Verify::Line(line) => (vec![line.clone()], true),
        };
        let settings = CheckPolicy { command, shell, ..self.settings.clone() };
        let scripts = scripts_of(&settings, &cx.site, tree).into_iter();
        let edited = scripts.filter(|path| {
            let old_file = baseline.content(tree, path).ok().flatten();
            old_file.is_some_and(|file| tree.bytes(path).as_ref() != Some(&file.bytes))
        });
        edited.map(|path| path.to_string_lossy().into_owned()).collect()
    }

    /// Reads what test runners print. The command and its output stay as they are. Of several commands on
    /// a line, another one may show what was asked for.
    fn output_reader(&self, cx: &CheckContext, verify: &Verify) -> Option<Box<dyn Reader>> {
        if matches!(verify, Verify::Line(line) if line.contains([';', '&', '|', '\n'])) {
            return None;
        }
        let folder = Temporary::new("report").ok()?;
        let prepared = report::prepare(&report::Request {
            argv: &[],
            shell: true,
            demanded: None,
            folder: folder.path(),
            cwd: &cx.site.folder_of(&self.settings),
            keep_going: false,
        });
        Some(prepared.reader)
    }

    /// Runs the command of a criterion.
    async fn verify(&self, cx: &CheckContext, verify: &Verify) -> CommandResult {
        let argv = match verify {
            Verify::Argv(command) => argv(command, false),
            Verify::Line(line) => argv(std::slice::from_ref(line), true),
        };
        let collector = Collector::new(self.output_reader(cx, verify));
        let launch = Launch {
            reader: Some(collector.reader(|reader, stream, line| {
                if let Some(reader) = reader {
                    reader.line(stream, line);
                }
            })),
            ..Launch::new(&self.id, &self.settings, argv)
        };
        let launched = match launch.run(cx).await {
            Ok(launched) => launched,
            Err(evidence) => {
                let reason = evidence.summary.clone();
                return CommandResult { outcome: Outcome::Inconclusive, reason, excerpt: None };
            }
        };
        let (outcome, _) = launched.outcome();
        let report = collector.take().and_then(|reader| reader.finish());
        // Names that no test has, or tests that are all skipped, show nothing.
        if outcome == Outcome::Pass && report.is_some_and(|report| report.executed() == 0) {
            let (outcome, reason) = (Outcome::Inconclusive, "no test ran".to_owned());
            return CommandResult { outcome, reason, excerpt: None };
        }
        let reason = launched.cause();
        let excerpt = launched.into_evidence(outcome, "", None).excerpt;
        CommandResult { outcome, reason, excerpt }
    }
}

/// The criteria of a file as the baseline has it; `None` if it has no such file.
fn baseline_plan(
    cx: &CheckContext,
    baseline: &Baseline,
    file: &str,
    rules: &CheckPolicy,
) -> Result<Option<Plan>, PlanError> {
    let unreadable = |cause: String| PlanError::Unreadable { file: file.to_owned(), cause };
    let tree = WorkTree::open(&cx.site).map_err(|error| unreadable(error.to_string()))?;
    let absolute_path = cx.site.project.join(file);
    let Ok(path) = absolute_path.strip_prefix(tree.root()) else { return Ok(None) };
    let stored = baseline.content(&tree, path).map_err(|error| unreadable(error.to_string()))?;
    let Some(stored_file) = stored else { return Ok(None) };
    let text = String::from_utf8_lossy(&stored_file.bytes);
    // A file that was broken in the baseline gave no criterion a command.
    Ok(parse_plan(path, file, &text, rules).ok())
}

#[async_trait]
impl Check for AcceptanceCriteria {
    fn id(&self) -> &CheckId {
        &self.id
    }

    async fn run(&self, cx: &CheckContext) -> Evidence {
        if self.settings.files.is_empty() && self.settings.criteria.is_empty() {
            let missing = format!(
                "no criteria are named: write [[criteria]], or files = [\"…\"] in [checks.{}]",
                self.id
            );
            return self.evidence(Outcome::Inconclusive, missing);
        }
        let (check, read_cx) = (self.clone(), cx.clone());
        // Files are read beside the processes of other checks, not between them.
        let reading = tokio::task::spawn_blocking(move || check.read(&read_cx));
        let mut criteria = match reading.await {
            Ok(criteria) => criteria,
            Err(error) => {
                let summary = format!("reading the files ended early: {error}");
                return self.evidence(Outcome::Inconclusive, summary);
            }
        };
        for criterion in &mut criteria.list {
            if cx.cancel.is_cancelled() {
                return self.evidence(Outcome::Inconclusive, "cancelled");
            }
            if let Some(verify) = &criterion.verify {
                criterion.result = Some(self.verify(cx, verify).await);
            }
        }
        self.add_edited_scripts(cx, &mut criteria);
        match self.id.as_str() == CRITERIA {
            true => criteria.verdict(&self.id),
            false => criteria.goal_verdict(&self.id),
        }
    }
}
