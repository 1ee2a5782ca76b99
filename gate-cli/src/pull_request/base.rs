//! The commit that a change is compared with.

use gate_checks::baseline::BaselineError;
use gate_checks::worktree::WorkTree;

use super::service::{CiChange, CiJob, Target};
use crate::failure::Failure;

/// The commit that a change is compared with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Base {
    /// Its full name; `None` if there is nothing before the change: the first push of a repository.
    pub(crate) commit: Option<String>,
    /// Its name for people, such as its branch's.
    pub(crate) name: String,
    /// A sentence, if the base is another than the event leads to expect.
    pub(crate) note: Option<String>,
}

/// Finds the base of a change in a clone.
pub(crate) struct BaseSearch<'s> {
    pub(crate) tree: &'s WorkTree,
    pub(crate) job: &'s CiJob,
    /// The commit that is judged, by its full name.
    pub(crate) head: &'s str,
    /// The tree differs from that commit.
    pub(crate) is_uncommitted: bool,
}

impl BaseSearch<'_> {
    /// The base that the caller names, else that of the CI's event, else of the default branch.
    ///
    /// # Errors
    ///
    /// Code 2: a base that is not in this clone, or that is the commit that is judged. The hint
    /// has the line that mends it.
    pub(crate) fn base(&self, reference: Option<&str>) -> Result<Base, Failure> {
        if let Some(name) = reference.filter(|name| !name.is_empty()) {
            return self.named_base(name);
        }
        match &self.job.change {
            CiChange::Request(target) => self.request_base(target),
            CiChange::Push { branch, previous, is_forced } => {
                self.push_base(branch.as_deref(), previous.as_deref(), *is_forced)
            }
            CiChange::Commit if self.is_uncommitted => self.commit_base(),
            CiChange::Commit | CiChange::Other => self.default_branch_base(None),
        }
    }

    fn named_base(&self, name: &str) -> Result<Base, Failure> {
        let branch = name.strip_prefix("origin/").unwrap_or(name);
        let named_commit = match self.commit(name)? {
            Some(commit) => Some(commit),
            None => self.commit(&format!("refs/remotes/origin/{branch}"))?,
        };
        let merge_base = match named_commit {
            Some(commit) => self.tree.merge_base_with(&commit)?,
            None => None,
        };
        // The hint has a command with the name in it, which must be no option and no range.
        let can_be_branch = !name.contains("..") && !name.starts_with('-') && !name.contains(':');
        let commit = merge_base.ok_or_else(|| match can_be_branch {
            true => self.missing_base(name, Some(branch)),
            false => Failure::usage(
                "ci-no-base",
                format!("--base {name}: no branch, tag or commit has this name"),
            ),
        })?;
        self.with_change(Base { commit: Some(commit), name: name.to_owned(), note: None })
    }

    fn request_base(&self, target: &Target) -> Result<Base, Failure> {
        let name = target
            .branch
            .clone()
            .or_else(|| target.commit.as_deref().map(short_name))
            .unwrap_or_else(|| "the base branch".to_owned());
        if let Some(commit) = self.base_of_merge()? {
            return Ok(Base { commit: Some(commit), name, note: None });
        }
        let event_base = match &target.commit {
            Some(commit) => self.merge_base(commit)?,
            None => None,
        };
        let branch_base = match &target.branch {
            // The author of a fork says what its branches are.
            Some(_) if self.job.is_fork && target.commit.is_some() => None,
            Some(branch) => self.merge_base(&format!("refs/remotes/origin/{branch}"))?,
            None => None,
        };
        // An event keeps the base of the time when it happened. The change may have taken in more
        // of the branch since then.
        let commit = match (event_base, branch_base) {
            (Some(older), Some(newer)) if self.is_ancestor(&older, &newer)? => Some(newer),
            (Some(event_base), _) => Some(event_base),
            (None, branch_base) if target.commit.is_none() => branch_base,
            (None, _) => None,
        };
        let Some(commit) = commit else {
            return Err(self.missing_base(&name, target.branch.as_deref()));
        };
        self.with_change(Base { commit: Some(commit), name, note: None })
    }

    /// The first parent of the merge that the CI itself made of base and change. It needs no more
    /// than two commits of history.
    fn base_of_merge(&self) -> Result<Option<String>, Failure> {
        let is_merge_of_ci = self.job.merge.as_deref() == Some(self.head);
        let merged_commit = self.commit("HEAD^2")?;
        if is_merge_of_ci && merged_commit.is_some() && merged_commit == self.job.head {
            return self.commit("HEAD^1");
        }
        Ok(None)
    }

    fn push_base(
        &self,
        branch: Option<&str>,
        previous: Option<&str>,
        is_forced: bool,
    ) -> Result<Base, Failure> {
        let is_default = branch.is_some() && branch == self.job.default_branch.as_deref();
        let Some(previous) = previous else {
            if is_default && !self.tree.is_shallow() {
                return self.without_base(branch.unwrap_or_default());
            }
            return self.default_branch_base(Some("the branch is new"));
        };
        let name = format!("{} before the push", branch.unwrap_or("the branch"));
        match self.commit(previous)? {
            Some(commit) if commit == self.head => self.default_branch_base(None),
            Some(commit) => match self.tree.merge_base_with(&commit)? {
                Some(merge_base) if merge_base == commit => {
                    Ok(Base { commit: Some(commit), name, note: None })
                }
                Some(merge_base) if is_default => {
                    let note = "a forced push: compared with the commit that old and new history \
                                have in common";
                    Ok(Base { commit: Some(merge_base), name, note: Some(note.to_owned()) })
                }
                _ => self.default_branch_base(Some("a forced push")),
            },
            // A shallow clone may lack a commit that the branch still has. After a forced push no
            // branch leads to it any more.
            None if self.tree.is_shallow() && !is_forced => Err(self.missing_base(&name, branch)),
            None if is_default => Err(self.missing_commit(&name, previous)),
            None => self.default_branch_base(Some("a forced push")),
        }
    }

    /// The commit that a new one goes on top of. What a merge brings was judged on its own branch.
    fn commit_base(&self) -> Result<Base, Failure> {
        let name = "the last commit".to_owned();
        if self.commit("MERGE_HEAD")?.is_some() {
            let note = "a merge: compared with nothing".to_owned();
            return Ok(Base { commit: None, name, note: Some(note) });
        }
        Ok(Base { commit: Some(self.head.to_owned()), name, note: None })
    }

    /// Nothing was on the server before.
    fn without_base(&self, branch: &str) -> Result<Base, Failure> {
        let note = format!("the first push of {branch}: nothing is there to compare with");
        Ok(Base { commit: None, name: branch.to_owned(), note: Some(note) })
    }

    /// The commit at which the change left the default branch; on that branch the commit before.
    /// `cause` says why it is not the event's own base.
    fn default_branch_base(&self, cause: Option<&str>) -> Result<Base, Failure> {
        let (name, commit) = match &self.job.default_branch {
            Some(branch) => {
                let commit = match self.merge_base(&format!("refs/remotes/origin/{branch}"))? {
                    Some(commit) => Some(commit),
                    None => self.merge_base(&format!("refs/heads/{branch}"))?,
                };
                (branch.clone(), commit)
            }
            None => {
                let base = self.tree.merge_base()?;
                let branch = base.as_ref().map_or("the default branch", |base| &base.branch);
                (branch.to_owned(), base.as_ref().map(|base| base.commit.clone()))
            }
        };
        let branch = self.job.default_branch.as_deref();
        let Some(commit) = commit else { return Err(self.missing_base(&name, branch)) };
        if commit != self.head || self.is_uncommitted {
            let note = cause.map(|cause| format!("{cause}: compared with {name}"));
            return Ok(Base { commit: Some(commit), name, note });
        }
        if let Some(commit) = self.commit("HEAD^1")? {
            let note = format!("this is a commit of {name}: compared with the one before it");
            return Ok(Base { commit: Some(commit), name, note: Some(note) });
        }
        match self.tree.is_shallow() {
            true => Err(self.missing_base("the commit before this one", branch)),
            false => self.without_base(&name),
        }
    }

    /// The newest commit of the change itself: the event's if it is checked out, or if the CI has
    /// checked out its own merge of it; else the commit that is checked out.
    pub(crate) fn change_head(&self) -> Result<String, Failure> {
        let Some(head) = &self.job.head else { return Ok(self.head.to_owned()) };
        let is_merge = self.job.merge.as_deref() == Some(self.head)
            && self.commit("HEAD^2")?.as_ref() == Some(head);
        Ok(if is_merge { head.clone() } else { self.head.to_owned() })
    }

    /// Fails if the base is the commit that is judged, and the tree has no other change.
    fn with_change(&self, base: Base) -> Result<Base, Failure> {
        if base.commit.as_deref() != Some(self.head) || self.is_uncommitted {
            return Ok(base);
        }
        let message = format!(
            "nothing can be compared: {} already has the commit that is judged ({})",
            base.name,
            short_name(self.head)
        );
        Err(Failure::usage("ci-no-change", message)
            .hint("check out the change itself, or name another base: `gate ci --base REF`"))
    }

    /// The failure if a base is not in this clone, with the line that brings it.
    fn missing_base(&self, name: &str, branch: Option<&str>) -> Failure {
        let is_shallow = self.tree.is_shallow();
        let unshallow = if is_shallow { " --unshallow" } else { "" };
        let refspec =
            branch.map(|branch| format!(" +refs/heads/{branch}:refs/remotes/origin/{branch}"));
        let command = match (&refspec, is_shallow) {
            (None, false) => "git fetch origin +refs/heads/*:refs/remotes/origin/*".to_owned(),
            _ => format!("git fetch{unshallow} origin{}", refspec.unwrap_or_default()),
        };
        let alternative = match (is_shallow, self.job.service) {
            (true, Some(service)) => format!(", or {}", service.full_clone_setting()),
            _ => String::new(),
        };
        let clone_detail = if is_shallow { ", which has not all of its history" } else { "" };
        let message = format!("nothing can be compared: {name} is not in this clone{clone_detail}");
        Failure::usage("ci-no-base", message).hint(format!("`{command}`{alternative}"))
    }

    /// The failure if a commit is not in this clone that no branch leads to any more.
    fn missing_commit(&self, name: &str, commit: &str) -> Failure {
        let message = format!("nothing can be compared: {name} is not in this clone");
        Failure::usage("ci-no-base", message).hint(format!("`git fetch origin {commit}`"))
    }

    fn commit(&self, name: &str) -> Result<Option<String>, Failure> {
        Ok(self.tree.commit(name)?)
    }

    /// The newest commit that the judged one has in common with another; `None` if that is not in this
    /// clone.
    fn merge_base(&self, name: &str) -> Result<Option<String>, Failure> {
        match self.commit(name)? {
            Some(commit) => Ok(self.tree.merge_base_with(&commit)?),
            None => Ok(None),
        }
    }

    fn is_ancestor(&self, older: &str, newer: &str) -> Result<bool, Failure> {
        Ok(self.tree.merge_base_of(older, newer)?.as_deref() == Some(older))
    }
}

/// The failure if files of the base are not in this clone.
pub(super) fn unreadable_base(error: &BaselineError) -> Failure {
    unreadable_base_because(&error.to_string())
}

/// As [`unreadable_base`], with the cause in words.
pub(super) fn unreadable_base_because(cause: &str) -> Failure {
    Failure::usage("ci-base-unreadable", format!("nothing can be compared: {cause}"))
        .hint("fetch the files of the base, too: `git fetch --refetch --no-filter origin`")
}

/// A commit's name in as many digits as people read.
pub(crate) fn short_name(commit: &str) -> String {
    commit.chars().take(8).collect()
}
