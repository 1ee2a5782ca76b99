//! Approved changes, for the bytes that a decision showed: in the file that it named, or in a new one
//! in its place, committed or not. Other bytes ask again.

use std::path::{Path, PathBuf};

use gate_checks::baseline::Baseline;
use gate_checks::worktree::{FileList, WorkTree};
use gate_checks::{CheckSite, Gathered, list_files};
use gate_core::Decision;
use gate_core::decide::policy::Allowance;
use gate_core::integrity::guarded;

use super::Gate;
use crate::memory::Approvals;
use crate::record::{ApprovedChange, FileContent, Record};
use crate::test_approval::{literal_glob, named_files};

/// The content of a file that is gone.
const GONE: &str = "gone";

/// The files of a project, with their content.
pub(crate) struct Contents {
    files: FileList,
    root: PathBuf,
    /// The project's folder, relative to the root.
    inside: PathBuf,
}

impl Contents {
    /// `None` if the tree cannot be read.
    pub(crate) fn read(site: &CheckSite) -> Option<Self> {
        let root = WorkTree::open(site).ok()?.root().to_owned();
        let inside = site.project.strip_prefix(&root).unwrap_or(Path::new("")).to_owned();
        Some(Self { files: list_files(site).ok()?, root, inside })
    }

    /// The content of a file, whose name is relative to the project.
    pub(crate) fn content(&self, file: &str) -> String {
        self.files.content(&self.inside.join(file)).unwrap_or_else(|| GONE.to_owned())
    }

    /// The names, relative to the project, of the files that have this content.
    fn files_with(&self, content: &str) -> Vec<String> {
        let files = self.files.with_content(content);
        files.into_iter().filter_map(|file| self.in_project(file)).collect()
    }

    /// The names of all files of the project.
    pub(crate) fn names(&self) -> impl Iterator<Item = String> {
        self.files.paths().filter_map(|file| self.in_project(file))
    }

    fn in_project(&self, file: &Path) -> Option<String> {
        Some(file.strip_prefix(&self.inside).ok()?.to_str()?.to_owned())
    }

    /// The name of a file relative to the project, from that relative to the root.
    pub(crate) fn project_name(&self, file: &str) -> String {
        self.in_project(Path::new(file)).unwrap_or_else(|| file.to_owned())
    }

    /// The project's folder.
    pub(crate) fn project(&self) -> PathBuf {
        self.root.join(&self.inside)
    }
}

impl Gate {
    /// The files that a decision names as changed, with the content that it has judged.
    pub(super) fn judged_contents(&self, decision: &Decision) -> Vec<FileContent> {
        if named_files(decision).next().is_none() {
            return Vec::new();
        }
        let Some(contents) = Contents::read(self.place()) else { return Vec::new() };
        let mut judged: Vec<_> = named_files(decision)
            .map(|named| {
                let file = if named.is_from_root {
                    contents.project_name(&named.file)
                } else {
                    named.file
                };
                let content = contents.content(&file);
                FileContent { file, content }
            })
            .collect();
        judged.sort_by(|left, right| left.file.cmp(&right.file));
        judged.dedup();
        judged
    }
}

impl Gate {
    /// The record with the approved changes that the decision has used, if checks ran.
    pub(super) fn with_approvals(
        &self,
        record: Record,
        approvals: &Approvals,
        site: &CheckSite,
        gathered: &Gathered,
    ) -> Record {
        let mut approved = approvals.in_force(record.baseline.as_deref());
        if record.decision.input.evidence.is_empty() || approved.is_empty() {
            return record;
        }
        let tree = ApprovingTree::new(site, &approved, gathered.baseline.as_ref());
        approved.retain(|change| !tree.allowances(change).is_empty());
        Record { approved, ..record }
    }
}

/// The tree as it is now, in which approved changes may stand.
pub(super) struct ApprovingTree<'b> {
    /// `None` if no change is bound to bytes.
    contents: Option<Contents>,
    tree: Option<WorkTree>,
    baseline: Option<&'b Baseline>,
}

impl<'b> ApprovingTree<'b> {
    pub(super) fn new(
        site: &CheckSite,
        approved: &[ApprovedChange],
        baseline: Option<&'b Baseline>,
    ) -> Self {
        // To hash a tree takes time, and approvals of tests and rules alone do not need it.
        let is_bound = approved.iter().any(|change| change.content.is_some());
        let contents = if is_bound { Contents::read(site) } else { None };
        let tree = if is_bound { WorkTree::open(site).ok() } else { None };
        Self { contents, tree, baseline }
    }

    /// The allowances that an approved change is here.
    pub(super) fn allowances(&self, change: &ApprovedChange) -> Vec<Allowance> {
        match (&change.content, &self.contents) {
            (None, _) => vec![Allowance::from(change.clone())],
            (Some(content), Some(contents)) => {
                self.allowances_for_content(contents, change, content)
            }
            (Some(_), None) => Vec::new(),
        }
    }

    /// The allowances of a change that was approved with this content. The file has it, or a new
    /// file of the same kind in its place. A copy under the name of another old test is not what
    /// was approved.
    fn allowances_for_content(
        &self,
        contents: &Contents,
        change: &ApprovedChange,
        approved_content: &str,
    ) -> Vec<Allowance> {
        let file = change.file.clone().unwrap_or_default();
        let content = contents.content(&file);
        let mut names = Vec::new();
        if content == GONE && approved_content != GONE {
            names = contents.files_with(approved_content);
            names.retain(|name| guarded(name) == guarded(&file) && self.is_new(contents, name));
        }
        if content != approved_content && names.is_empty() {
            return Vec::new();
        }
        names.push(file);
        let allowance = Allowance::from(change.clone());
        // A test is allowed by its own name, wherever its file is.
        if change.test.is_some() {
            return vec![Allowance { path: None, ..allowance }];
        }
        let paths = names.iter().map(|name| Some(literal_glob(name)));
        paths.map(|path| Allowance { path, ..allowance.clone() }).collect()
    }

    /// The baseline does not have this file.
    fn is_new(&self, contents: &Contents, file: &str) -> bool {
        let path = contents.inside.join(file);
        let (Some(tree), Some(baseline)) = (&self.tree, self.baseline) else { return false };
        baseline.content(tree, &path).is_ok_and(|content| content.is_none())
    }
}
