//! A pull request or a push, judged by the settings and the tests of its base.
//!
//! [`service`] reads the CI's event, [`base`] finds the commit to compare with, [`settings`] and
//! [`changes`] compare with it, and [`judge`] runs the checks. Nothing is recorded, and nobody has to
//! approve the settings: those of the base were merged by a reviewer.

mod approval;
mod base;
mod changes;
mod judged;
mod projects;
mod record;
mod service;
mod settings;
mod summary;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::time::Instant;

use gate_checks::baseline::Baseline;
use gate_checks::check::Occasion;
use gate_checks::project::Detected;
use gate_checks::worktree::WorkTree;
use gate_checks::{BASE_UNREAD, CheckSite, Checks, Events, GatherOptions};
use gate_core::Policy;
use gate_core::decide::checks::BUILT_IN;
use gate_core::decide::evidence::Evidence;
use gate_core::decide::policy::{Mode, When};
use gate_core::integrity::{Language, guarded};
use gate_platform::RealPath;
use jiff::Timestamp;

use crate::failure::Failure;
use crate::gate::Gate;
use crate::record::VERSION;
use crate::settings::Places;

pub(crate) use approval::ReviewApproval;
pub(crate) use base::short_name;
use base::{Base, BaseSearch};
use changes::allowances;
pub(crate) use changes::{BaseVersion, ChangedFile, FileChange, Role};
use judged::{CheckResults, JudgedProject, finding_notes, note_base_versions};
use projects::Project;
pub(crate) use record::{CiProblem, CiRecord, CiVerdict, ProblemKind};
use record::{problems_of_check, weaker_problem};
use service::CiChange;
pub(crate) use service::{CiJob, Service};
use settings::{INTEGRITY, JudgingSettings, SettingsFrom, SettingsSearch};
use summary::{next_step, summary};

/// The options of `gate ci`.
#[derive(Clone, Debug)]
pub(crate) struct CiOptions {
    /// The base, if the caller names one.
    pub(crate) base: Option<String>,
    /// `WHO@COMMIT`, who approves changed tests and for which commit.
    pub(crate) approve_tests: Option<String>,
    /// The label that approves changed tests when it is put on.
    pub(crate) approve_label: Option<String>,
    /// The caller's own files, which are no part of the change.
    pub(crate) own_files: Vec<PathBuf>,
    pub(crate) events: Events,
    /// The text of the settings for what a project was found to have.
    pub(crate) detected_settings: fn(&Detected) -> String,
}

/// Judges the change that is checked out.
///
/// # Errors
///
/// Code 2: a change that cannot be compared, or that has no settings. Code 5: a check that cannot be
/// run.
pub(crate) fn judge(
    places: &Places,
    job: &CiJob,
    site: CheckSite,
    options: &CiOptions,
) -> Result<CiRecord, Failure> {
    let began_at = Instant::now();
    let review = Review::open(places, job, site, options)?;
    let files = review.changed_files()?;
    let approval = review.approval()?;
    let mut judged_projects = Vec::new();
    for project in review.projects()? {
        let settings = review.settings(&project)?;
        let results = review.run_checks(&settings, &files, approval.as_ref())?;
        judged_projects.push(JudgedProject { name: project.name, settings, results });
    }
    let mut record = review.record(&judged_projects, files, approval);
    record.summary = summary(&record);
    record.next = next_step(&record, options.approve_label.as_deref());
    record.duration_ms = u64::try_from(began_at.elapsed().as_millis()).unwrap_or(u64::MAX);
    Ok(record)
}

/// A change, and the base that it is compared with.
struct Review<'r> {
    places: &'r Places,
    job: &'r CiJob,
    options: &'r CiOptions,
    site: CheckSite,
    tree: WorkTree,
    /// The commit that is checked out.
    checkout: String,
    /// The newest commit of the change itself: the one that is checked out, or the parent of the
    /// CI's merge.
    head: String,
    base: Base,
    /// The tree of the base; `None` if the change has no base.
    baseline: Option<Baseline>,
}

impl<'r> Review<'r> {
    fn open(
        places: &'r Places,
        job: &'r CiJob,
        site: CheckSite,
        options: &'r CiOptions,
    ) -> Result<Self, Failure> {
        let mut site = CheckSite { callers_files: options.own_files.clone(), ..site };
        let mut tree = WorkTree::open(&site)?;
        // At a commit, files that git does not track are no part of it. Only an open tree shows which
        // those are.
        if job.change == CiChange::Commit {
            site.callers_files.extend(tree.untracked_files()?);
            tree = WorkTree::open(&site)?;
        }
        let Some(checkout) = tree.commit("HEAD")? else {
            let message = "nothing can be compared: this is no git repository with a commit";
            return Err(Failure::usage("ci-no-commit", message)
                .hint("run `gate ci` in a checkout of the change"));
        };
        let is_uncommitted = tree.changed(None)?.is_some_and(|files| !files.is_empty());
        let search = BaseSearch { tree: &tree, job, head: &checkout, is_uncommitted };
        let base = search.base(options.base.as_deref())?;
        let time = Timestamp::now().to_string();
        let baseline = base
            .commit
            .as_deref()
            .map(|commit| Baseline::new_base(&site, commit, &time))
            .transpose()
            .map_err(|error| base::unreadable_base(&error))?;
        let head = search.change_head()?;
        Ok(Self { places, job, options, site, tree, checkout, head, base, baseline })
    }

    /// The folders whose settings judge the change.
    fn projects(&self) -> Result<Vec<Project>, Failure> {
        projects::projects(self.places, &self.tree, self.baseline.as_ref())
    }

    fn settings(&self, project: &Project) -> Result<JudgingSettings, Failure> {
        SettingsSearch {
            places: &project.places,
            tree: &self.tree,
            baseline: self.baseline.as_ref(),
            base_name: &self.base.name,
            detected_settings: self.options.detected_settings,
        }
        .settings()
    }

    fn changed_files(&self) -> Result<Vec<ChangedFile>, Failure> {
        let files = self.baseline.as_ref().map(|base| changes::changed_files(&self.tree, base));
        Ok(files.transpose()?.unwrap_or_default())
    }

    fn approval(&self) -> Result<Option<ReviewApproval>, Failure> {
        let CiOptions { approve_tests, approve_label, .. } = self.options;
        ReviewApproval::find(
            approve_tests.as_deref(),
            approve_label.as_deref(),
            self.job,
            &self.head,
        )
    }

    fn run_checks(
        &self,
        settings: &JudgingSettings,
        files: &[ChangedFile],
        approval: Option<&ReviewApproval>,
    ) -> Result<CheckResults, Failure> {
        let mut resolved = settings.resolved.clone();
        let checks = &mut resolved.policy.checks;
        // These checks ask if an agent's work is over, which no pull request has to be.
        let loop_checks = BUILT_IN.iter().filter(|check| check.ends_a_loop);
        let left_out: Vec<_> = loop_checks
            .map(|check| check.name)
            .filter(|name| checks.remove(*name).is_some())
            .collect();
        if self.baseline.is_none() {
            checks.remove(INTEGRITY);
        }
        let site = CheckSite { project: settings.project.clone(), ..self.site.clone() };
        let gate = Gate::open(resolved, site.clone())?.at(When::Check);
        let policy = gate.policy();
        let mut own_checks = policy.checks.iter().filter(|(name, _)| *name != INTEGRITY);
        if own_checks.all(|(_, check)| check.mode != Mode::Require) {
            let message = "no check is required, so nothing could fail";
            return Err(Failure::usage("ci-no-checks", message)
                .hint("give gate.toml a check that is required: `gate init --merge` finds them"));
        }
        let approval = approval.filter(|approval| approval.counts);
        let mut options = GatherOptions {
            checks: Checks::All,
            fresh: true,
            occasion: Occasion::PullRequest { approved: approval.is_some() },
            baseline: self.baseline.clone(),
            events: self.options.events.clone(),
            ..GatherOptions::default()
        };
        let tests = gate_checks::required_tests(policy, &site);
        if let Some(approval) = approval {
            let full_path = site.project.real_path().unwrap_or_else(|_| site.project.clone());
            let folder = full_path.strip_prefix(self.tree.root()).unwrap_or(Path::new(""));
            options.allow.extend(allowances(files, folder, approval));
        }
        let folders = check_folders(policy, &site, &self.tree);
        let scripts = gate_checks::named_scripts(policy, &site, &self.tree);
        let script_neighbours = self.changed_neighbours(&scripts)?;
        let site = CheckSite { ignore: policy.tree.ignore.clone(), ..site };
        let gathered = gate_checks::gather(policy, site, &options)?;
        let mut evidence = gathered.evidence;
        refuse_unreadable(&evidence)?;
        for record in &mut evidence {
            // As it is configured, without the options that gate adds for a report.
            if let Some(check) = policy.checks.get(&record.check) {
                record.argv.clone_from(&check.command);
            }
            // The log goes with the folder of this run.
            record.log = None;
        }
        let unverified = tests.unverified;
        Ok(CheckResults { evidence, folders, left_out, unverified, script_neighbours })
    }

    /// The changed sources in the folders of these scripts, which a script may load. Not in the root,
    /// where the whole project may stand.
    fn changed_neighbours(&self, scripts: &BTreeSet<PathBuf>) -> Result<Vec<String>, Failure> {
        let Some(base) = &self.baseline else { return Ok(Vec::new()) };
        let changed = self.tree.changed(Some(base.commit()))?.unwrap_or_default();
        let is_neighbour = |file: &String| {
            let path = Path::new(file);
            let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
            let is_source = Language::from_path(file).is_some() && guarded(file).is_none();
            is_source
                && folder.is_some_and(|folder| {
                    scripts.iter().any(|script| script.parent() == Some(folder) && script != path)
                })
        };
        Ok(changed.into_iter().filter(is_neighbour).collect())
    }

    fn record(
        &self,
        projects: &[JudgedProject],
        mut files: Vec<ChangedFile>,
        approval: Option<ReviewApproval>,
    ) -> CiRecord {
        let is_approved = approval.as_ref().is_some_and(|approval| approval.counts);
        let mut problems = Vec::new();
        let mut checks = Vec::new();
        let mut weaker_settings = Vec::new();
        for project in projects {
            self.add_unlisted(&mut files, &project.results.evidence);
            note_base_versions(&mut files, &project.results);
            let JudgingSettings { file, weaker, .. } = &project.settings;
            if !is_approved && !weaker.is_empty() {
                problems.push(weaker_problem(file, weaker));
            }
            weaker_settings.extend(weaker.iter().cloned());
            if !is_approved {
                problems.extend(project.unverified_files(&files));
            }
            for evidence in &project.results.evidence {
                let folder = project.results.folders.get(&evidence.check).map(String::as_str);
                let check = project.check_name(&evidence.check);
                for problem in problems_of_check(evidence, folder.unwrap_or_default()) {
                    problems.push(CiProblem { check: Some(check.clone()), ..problem });
                }
                let mut named_evidence = evidence.clone();
                named_evidence.check = check;
                checks.push(named_evidence);
            }
        }
        for problem in &mut problems {
            if problem.kind == ProblemKind::ChangedTests {
                self.to_current_line(problem);
            }
        }
        let verdict = if problems.is_empty() { CiVerdict::Pass } else { CiVerdict::Fail };
        CiRecord {
            schema: "gate.ci.v1",
            gate_version: VERSION,
            time: Timestamp::now().to_string(),
            verdict,
            summary: String::new(),
            service: self.job.service.map(Service::name),
            event: self.job.change.name(),
            head: self.head.clone(),
            checkout: self.checkout.clone(),
            base: self.base.commit.clone(),
            base_name: self.base.name.clone(),
            settings: projects.first().map_or(SettingsFrom::Base, |project| project.settings.from),
            weaker_settings,
            notes: self.notes(projects, &files, approval.as_ref()),
            problems,
            changed_workflow: self.changed_workflow(&files),
            changed_files: files,
            approval,
            checks,
            next: None,
            duration_ms: 0,
        }
    }

    /// Adds files that a check names as changed, and that no rule has listed by their names.
    fn add_unlisted(&self, files: &mut Vec<ChangedFile>, evidence: &[Evidence]) {
        for changed in evidence.iter().flat_map(Evidence::changed_tests) {
            if files.iter().all(|file| file.file != changed.file) {
                let text = std::fs::read_to_string(self.tree.root().join(&changed.file));
                files.push(ChangedFile::added(&changed.file, &text.unwrap_or_default()));
            }
        }
    }

    /// A test of the base failed at a line of the base's file: reviewers see the change's.
    fn to_current_line(&self, problem: &mut CiProblem) {
        if let (Some(base), Some(file), Some(line)) = (&self.baseline, &problem.file, problem.line)
        {
            problem.line = changes::current_line(&self.tree, base, file, line);
        }
    }

    /// The workflow that runs gate, if the change edits it.
    fn changed_workflow(&self, files: &[ChangedFile]) -> Option<String> {
        let workflow = self.job.workflow.as_ref()?;
        files.iter().any(|file| file.file == *workflow).then(|| workflow.clone())
    }

    /// Remarks for a reviewer.
    fn notes(
        &self,
        projects: &[JudgedProject],
        files: &[ChangedFile],
        approval: Option<&ReviewApproval>,
    ) -> Vec<String> {
        let mut notes: Vec<_> = self.base.note.iter().cloned().collect();
        if let Some(workflow) = self.changed_workflow(files) {
            notes.push(format!("{workflow} was changed: this workflow runs gate"));
        }
        if let Some(approval) = approval.filter(|approval| !approval.counts) {
            notes.push(format!(
                "{} approved {}, and this is {}: that approval does not count",
                approval.by,
                short_name(&approval.commit),
                short_name(&self.head)
            ));
        }
        for JudgedProject { settings, results, .. } in projects {
            notes.extend(settings.note.clone());
            if settings.is_changed && settings.weaker.is_empty() {
                let (file, base) = (&settings.file, &self.base.name);
                notes.push(format!("{file} was changed; that of {base} judged"));
            }
            notes.extend(finding_notes(&results.evidence, files));
            if !results.left_out.is_empty() {
                let names = results.left_out.join(", ");
                notes.push(format!("about the end of a loop, and not run: {names}"));
            }
        }
        notes
    }
}

/// Fails if the files of the base could not be read: that is no fault of the change.
fn refuse_unreadable(evidence: &[Evidence]) -> Result<(), Failure> {
    let is_unread = |evidence: &&Evidence| {
        evidence.detail.as_ref().is_some_and(|detail| detail.get(BASE_UNREAD).is_some())
    };
    match evidence.iter().find(is_unread) {
        None => Ok(()),
        Some(evidence) => Err(base::unreadable_base_because(&evidence.summary)),
    }
}

/// The folder of each check, relative to the repository's root.
fn check_folders(policy: &Policy, site: &CheckSite, tree: &WorkTree) -> BTreeMap<String, String> {
    let project = site.project.real_path().unwrap_or_else(|_| site.project.clone());
    let folder_in_tree = |cwd: Option<&str>| {
        let folder = cwd.map_or_else(|| project.clone(), |cwd| project.join(cwd));
        let path = folder.strip_prefix(tree.root()).unwrap_or(&folder);
        path.to_string_lossy().trim_matches('/').to_owned()
    };
    let checks = policy.checks.iter();
    checks.map(|(name, check)| (name.clone(), folder_in_tree(check.cwd.as_deref()))).collect()
}
