//! Work of the agent that does not stand in the tree that is judged.

use std::path::{Path, PathBuf};

use gate_checks::CheckSite;
use gate_checks::baseline::Baseline;
use gate_checks::worktree::{
    Globs, OtherWork, Refs, Search, WorkPlace, WorkTree, root_of, work_trees,
};
use gate_core::Scan;
use gate_core::decide::elsewhere::{CheckedElsewhere, WorkElsewhere};
use gate_core::decide::evidence::{Evidence, Outcome, worst_of};
use gate_core::decide::policy::Mode;
use gate_fleet::run::Status;
use gate_platform::RealPath;
use jiff::Timestamp;

use super::{Gate, Judging};
use crate::failure::Failure;
use crate::governance::project_here;
use crate::hook::session;
use crate::memory::{Approvals, PendingDecision};
use crate::request::Request;
use crate::settings::{FILE, Places};
use crate::tool_inputs::ToolInputs;

/// Places beside the judged tree in which an agent may have worked.
pub(crate) struct OtherPlaces<'p> {
    /// The work tree's topmost folder.
    pub(crate) root: &'p Path,
    /// The branches, work trees and stash when the loop, or the turn, began.
    pub(crate) start_refs: &'p Refs,
    /// The agent's calls.
    pub(crate) inputs: &'p ToolInputs,
    /// The agent's session: others are other agents'.
    pub(crate) session: Option<&'p str>,
    /// The work trees in which loops of `gate run` work.
    pub(crate) loops: &'p [PathBuf],
    /// The state folder.
    pub(crate) state: Option<&'p Path>,
    /// The globs of `[tree] branches`.
    pub(crate) branches: &'p [String],
}

impl OtherPlaces<'_> {
    /// The work in these places; `None` if it cannot be found out.
    pub(crate) fn work(&self, tree: &WorkTree) -> Option<Vec<OtherWork>> {
        let search = Search {
            refs_at_start: self.start_refs,
            is_named: &|path| self.inputs.has_path(path),
            is_named_branch: &|branch| self.inputs.has_branch(branch),
            is_others: &|folder| {
                self.loops.iter().any(|loop_folder| loop_folder.starts_with(folder))
                    || session::has_other_session(self.state, folder, self.session)
            },
            branches: &Globs::new(self.branches).ok()?,
        };
        tree.other_work(&search).ok()
    }

    /// The top folders of other repositories with settings of their own in which the agent's calls
    /// name files.
    pub(crate) fn repositories(&self, environment: &[(String, String)]) -> Vec<PathBuf> {
        let trees = work_trees(self.root);
        let mut roots = Vec::new();
        for path in self.inputs.paths(self.root) {
            let folder = path.ancestors().find(|folder| folder.is_dir());
            let Some(folder) = folder.and_then(|folder| folder.real_path().ok()) else {
                continue;
            };
            if folder.starts_with(self.root) {
                continue;
            }
            // Without settings of its own a repository asks for no check.
            if let Ok(Some(root)) = root_of(&folder, environment)
                && root != self.root
                && !trees.contains(&root)
                && !roots.contains(&root)
                && root.join(FILE).is_file()
            {
                roots.push(root);
            }
        }
        roots
    }
}

impl Gate {
    /// The work of a loop elsewhere. If it is in one other work tree, the checks run there, too.
    pub(super) fn work_elsewhere(
        &self,
        judging: &Judging,
        request: &Request,
        scan: &Scan,
        pending: &PendingDecision,
        approvals: &Approvals,
    ) -> Result<Vec<WorkElsewhere>, Failure> {
        let site = &judging.site;
        // Work is what differs from the beginning, so without a baseline there is none to name.
        let Some(baseline) = self.baseline(site, request, Some(pending)).ok().flatten() else {
            return Ok(Vec::new());
        };
        let (Some(start_refs), Ok(tree)) = (baseline.refs(), WorkTree::open(site)) else {
            return Ok(Vec::new());
        };
        let inputs = ToolInputs::read(judging.transcript.as_deref());
        let session = request.asker.session.as_deref().or(scan.transcript.session.as_deref());
        let places = OtherPlaces {
            root: tree.root(),
            start_refs,
            inputs: &inputs,
            session,
            loops: &self.trust_places().map(running_loops).unwrap_or_default(),
            state: site.state.as_deref(),
            branches: &self.policy.tree.branches,
        };
        let Some(work) = places.work(&tree) else { return Ok(Vec::new()) };
        // Checks may take minutes, so they run in no more than one other tree.
        let is_only_work = work.len() == 1;
        let mut shown_works = Vec::new();
        for work in work {
            let mut shown = shown_work(&work, tree.root());
            if let (Some(folder), true) = (tree_of(&work), is_only_work) {
                let project = moved(&site.project, tree.root(), folder);
                let other_site = CheckSite { project, ..site.clone() };
                let checked =
                    self.check_other_tree(&other_site, &baseline, request, pending, approvals)?;
                shown.checked = Some(checked);
            }
            shown_works.push(shown);
        }
        Ok(shown_works)
    }

    /// Runs the checks in another work tree of the repository.
    fn check_other_tree(
        &self,
        other_site: &CheckSite,
        baseline: &Baseline,
        request: &Request,
        pending: &PendingDecision,
        approvals: &Approvals,
    ) -> Result<CheckedElsewhere, Failure> {
        let time = Timestamp::now().to_string();
        let other_baseline = baseline.in_other_tree(other_site, &time).ok().flatten();
        let gathered =
            self.gather_at(other_site.clone(), other_baseline, request, Some(pending), approvals)?;
        let required = self.policy.checks.iter().filter(|(_, check)| check.mode == Mode::Require);
        let open_check = required.map(|(name, _)| (name, worst_of(&gathered.evidence, name))).find(
            |(_, evidence)| evidence.is_none_or(|evidence| evidence.outcome != Outcome::Pass),
        );
        Ok(match open_check {
            None => CheckedElsewhere { passed: true, summary: "its checks pass".to_owned() },
            Some((name, evidence)) => CheckedElsewhere {
                passed: false,
                summary: open_check_summary(name, evidence, other_site, &self.site),
            },
        })
    }
}

/// The folders in which loops of `gate run` of a project work now.
pub(crate) fn running_loops(places: &Places) -> Vec<PathBuf> {
    let tasks = project_here(places).and_then(|project| project.tasks()).unwrap_or_default();
    let runs = tasks.iter().flat_map(|task| task.runs().unwrap_or_default());
    let infos = runs.filter_map(|run| run.info().ok());
    let running = infos.filter(|info| info.status == Status::Running);
    running.map(|info| PathBuf::from(info.cwd)).collect()
}

/// A check that did not pass in another work tree, in words.
fn open_check_summary(
    name: &str,
    evidence: Option<&Evidence>,
    other_site: &CheckSite,
    judged_site: &CheckSite,
) -> String {
    let Some(evidence) = evidence else { return format!("{name} did not run there") };
    let missing = missing_dependencies(&other_site.project, &judged_site.project);
    match (evidence.outcome, missing) {
        (Outcome::Fail | Outcome::Inconclusive, Some(folder)) => {
            format!("{name} could not run there: {folder} is missing")
        }
        (Outcome::Fail, None) => format!("{name} failed there: {}", evidence.summary),
        _ => format!("{name} gave no result there: {}", evidence.summary),
    }
}

/// A folder of dependencies that the judged tree has and the other one has not. Git ignores these,
/// so a fresh work tree begins without them, and its red checks say nothing about the work.
fn missing_dependencies(other_tree: &Path, judged_tree: &Path) -> Option<&'static str> {
    ["node_modules", ".venv", "venv", "vendor"]
        .into_iter()
        .find(|folder| judged_tree.join(folder).is_dir() && !other_tree.join(folder).exists())
}

/// The work tree with work; `None` if it stands on a branch alone, or in the stash.
pub(crate) fn tree_of(work: &OtherWork) -> Option<&Path> {
    match &work.place {
        WorkPlace::Tree(folder, _) => Some(folder),
        WorkPlace::Branch(_) | WorkPlace::Stash => None,
    }
}

/// Work elsewhere, in words.
pub(crate) fn shown_work(work: &OtherWork, root: &Path) -> WorkElsewhere {
    let place = match &work.place {
        WorkPlace::Tree(folder, Some(branch)) => {
            format!("{} (branch {branch})", place_name(folder, root))
        }
        WorkPlace::Tree(folder, None) => place_name(folder, root),
        WorkPlace::Branch(branch) => format!("branch {branch}"),
        WorkPlace::Stash => "the stash".to_owned(),
    };
    let counted = |number, singular: &str, plural: &str| match number {
        0 => None,
        1 => Some(format!("1 {singular}")),
        number => Some(format!("{number} {plural}")),
    };
    let commits = match &work.place {
        WorkPlace::Stash => counted(work.commits, "entry", "entries"),
        _ => counted(work.commits, "commit", "commits"),
    };
    let files = counted(work.files, "file not committed", "files not committed");
    let amounts: Vec<_> = commits.into_iter().chain(files).collect();
    WorkElsewhere { place, work: amounts.join(", "), checked: None }
}

/// The place of a folder of one work tree in another one. The same text as git's for the top: names
/// of loops are made from it.
pub(crate) fn moved(folder: &Path, old_root: &Path, new_root: &Path) -> PathBuf {
    match folder.strip_prefix(old_root) {
        Ok(inside) if !inside.as_os_str().is_empty() => new_root.join(inside),
        _ => new_root.to_owned(),
    }
}

/// A folder as it is named from the top of a work tree.
pub(crate) fn place_name(folder: &Path, root: &Path) -> String {
    if let Ok(inside) = folder.strip_prefix(root) {
        return inside.display().to_string();
    }
    match root.parent().and_then(|parent| folder.strip_prefix(parent).ok()) {
        Some(sibling) => format!("../{}", sibling.display()),
        None => folder.display().to_string(),
    }
}
