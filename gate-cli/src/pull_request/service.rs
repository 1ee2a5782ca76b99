//! The change that is judged, from the variables and the event file of a CI.
//!
//! Sources: GitHub's "Variables" and "Webhook events and payloads", GitLab's "Predefined CI/CD
//! variables", Bitbucket's "Variables and secrets", Jenkins' Branch API and Git plug-ins, all as of
//! November 2026; the sources of pre-commit and prek. Gitea and Forgejo set GitHub's names.

use std::fs;

use serde::Deserialize;

use crate::failure::Failure;
use crate::settings::Places;

/// The change that a CI was started for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct CiJob {
    /// The service; `None` outside of the known ones.
    pub(crate) service: Option<Service>,
    pub(crate) change: CiChange,
    /// The default branch, without `origin/`.
    pub(crate) default_branch: Option<String>,
    /// The newest commit of the change itself, without a merge that the CI made.
    pub(crate) head: Option<String>,
    /// The merge of base and change that the CI checks out, if it makes one.
    pub(crate) merge: Option<String>,
    /// The change comes from another repository, whose author says what its branches are.
    pub(crate) is_fork: bool,
    /// The file of the workflow that runs this job, relative to the repository's root.
    pub(crate) workflow: Option<String>,
    /// The label that was put on the pull request just now, and by whom.
    pub(crate) label: Option<Label>,
    /// The file for a summary in Markdown.
    pub(crate) summary_file: Option<String>,
}

/// A CI.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Service {
    GitHub,
    GitLab,
    Bitbucket,
    Jenkins,
}

/// The kind of a change.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) enum CiChange {
    /// A pull request, merge request or merge queue.
    Request(Target),
    /// A push to a branch.
    Push {
        /// The branch; `None` for a tag, or if it is not known.
        branch: Option<String>,
        /// The branch's commit before the push; `None` if the branch is new.
        previous: Option<String>,
        /// History was rewritten, if the CI says so.
        is_forced: bool,
    },
    /// A commit that is about to be made: what is staged.
    Commit,
    /// Something else, such as a schedule.
    #[default]
    Other,
}

/// The branch that a pull request goes into.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Target {
    /// Its name, without `origin/`.
    pub(crate) branch: Option<String>,
    /// Its commit, as the CI says.
    pub(crate) commit: Option<String>,
}

/// A label of a pull request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Label {
    pub(crate) name: String,
    /// The person who put it on.
    pub(crate) person: String,
}

impl Service {
    /// Its name in JSON.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::GitHub => "github",
            Self::GitLab => "gitlab",
            Self::Bitbucket => "bitbucket",
            Self::Jenkins => "jenkins",
        }
    }

    /// The setting that makes its checkout whole.
    pub(crate) fn full_clone_setting(self) -> &'static str {
        match self {
            Self::GitHub => "actions/checkout with `fetch-depth: 0`",
            Self::GitLab => "`GIT_DEPTH: 0` among the job's variables",
            Self::Bitbucket => "`clone: { depth: full }`",
            Self::Jenkins => "the branch source without \"Shallow clone\"",
        }
    }
}

impl CiChange {
    /// Its name in JSON.
    pub(crate) fn name(&self) -> &'static str {
        match self {
            Self::Request(_) => "pull-request",
            Self::Push { .. } => "push",
            Self::Commit => "commit",
            Self::Other => "other",
        }
    }
}

impl CiJob {
    /// Reads the variables, and GitHub's event file.
    ///
    /// # Errors
    ///
    /// Code 2: an event file that cannot be read; an event under which the code of strangers must
    /// not run.
    pub(crate) fn read(places: &Places) -> Result<Self, Failure> {
        let variable = |name: &str| places.variable(name).map(str::to_owned);
        if variable("GITHUB_ACTIONS").as_deref() == Some("true") {
            return Self::read_github(places);
        }
        if variable("GITLAB_CI").as_deref() == Some("true") {
            return Ok(Self::read_gitlab(&variable));
        }
        if variable("BITBUCKET_BUILD_NUMBER").is_some() {
            return Ok(Self::read_bitbucket(&variable));
        }
        if variable("JENKINS_URL").is_some() {
            return Ok(Self::read_jenkins(&variable));
        }
        if variable("PRE_COMMIT").is_some() {
            return Ok(Self::read_pre_commit(&variable));
        }
        Ok(Self::default())
    }

    /// pre-commit and prek name the range at a push. At a commit they have taken away what is not
    /// staged, and left what git does not track.
    fn read_pre_commit(variable: &dyn Fn(&str) -> Option<String>) -> Self {
        let change = match variable("PRE_COMMIT_FROM_REF") {
            Some(previous) => {
                CiChange::Push { branch: None, previous: Some(previous), is_forced: false }
            }
            None => CiChange::Commit,
        };
        Self { change, ..Self::default() }
    }

    fn read_github(places: &Places) -> Result<Self, Failure> {
        let variable = |name: &str| places.variable(name).map(str::to_owned);
        let event = match places.variable("GITHUB_EVENT_PATH") {
            Some(file) => GitHubEvent::read(places, file)?,
            None => GitHubEvent::default(),
        };
        let name = variable("GITHUB_EVENT_NAME").unwrap_or_default();
        let branch = variable("GITHUB_REF")
            .and_then(|reference| Some(reference.strip_prefix("refs/heads/")?.to_owned()));
        let (mut head, mut is_fork) = (None, false);
        let change = match name.as_str() {
            "pull_request_target" => return Err(unsafe_event()),
            "pull_request" | "pull_request_review" => {
                let request = event.pull_request.unwrap_or_default();
                is_fork = request.is_fork();
                head = request.head.sha;
                let target = Target { branch: request.base.name, commit: request.base.sha };
                CiChange::Request(target.with_default_branch(variable("GITHUB_BASE_REF")))
            }
            "merge_group" => {
                let group = event.merge_group.unwrap_or_default();
                head.clone_from(&group.head_sha);
                let branch = group.base_ref.as_deref().map(branch_name);
                CiChange::Request(Target { branch, commit: group.base_sha })
            }
            "push" => CiChange::Push {
                branch,
                previous: event.before.filter(|commit| !is_zeros(commit)),
                is_forced: event.forced,
            },
            _ => CiChange::Other,
        };
        // `owner/repository/.github/workflows/gate.yml@refs/heads/main`
        let workflow = variable("GITHUB_WORKFLOW_REF").and_then(|reference| {
            let path = reference.split('@').next()?.splitn(3, '/').nth(2)?.to_owned();
            Some(path)
        });
        let label = match (event.action.as_deref(), event.label) {
            (Some("labeled"), Some(label)) => {
                Some(Label { name: label.name, person: event.sender.unwrap_or_default().login })
            }
            _ => None,
        };
        // Only for these events GitHub checks out a merge that it made.
        let is_merge = matches!(name.as_str(), "pull_request" | "pull_request_review");
        Ok(Self {
            service: Some(Service::GitHub),
            change,
            default_branch: event.repository.and_then(|repository| repository.default_branch),
            head,
            merge: if is_merge { variable("GITHUB_SHA") } else { None },
            is_fork,
            workflow,
            label,
            summary_file: variable("GITHUB_STEP_SUMMARY"),
        })
    }

    fn read_gitlab(variable: &dyn Fn(&str) -> Option<String>) -> Self {
        let target = Target {
            branch: variable("CI_MERGE_REQUEST_TARGET_BRANCH_NAME"),
            // The first is set where GitLab merges before it runs, and newer than the second.
            commit: variable("CI_MERGE_REQUEST_TARGET_BRANCH_SHA")
                .or_else(|| variable("CI_MERGE_REQUEST_DIFF_BASE_SHA")),
        };
        let change = match variable("CI_MERGE_REQUEST_IID") {
            Some(_) => CiChange::Request(target),
            None if variable("CI_PIPELINE_SOURCE").as_deref() == Some("push") => CiChange::Push {
                branch: variable("CI_COMMIT_BRANCH"),
                previous: variable("CI_COMMIT_BEFORE_SHA").filter(|commit| !is_zeros(commit)),
                is_forced: false,
            },
            None => CiChange::Other,
        };
        let head = variable("CI_MERGE_REQUEST_SOURCE_BRANCH_SHA");
        let workflow = variable("CI_CONFIG_PATH").or(Some(".gitlab-ci.yml".to_owned()));
        Self {
            service: Some(Service::GitLab),
            change,
            default_branch: variable("CI_DEFAULT_BRANCH"),
            head: head.or_else(|| variable("CI_COMMIT_SHA")),
            workflow,
            ..Self::default()
        }
    }

    fn read_bitbucket(variable: &dyn Fn(&str) -> Option<String>) -> Self {
        let target = Target {
            branch: variable("BITBUCKET_PR_DESTINATION_BRANCH"),
            commit: variable("BITBUCKET_PR_DESTINATION_COMMIT"),
        };
        let change = match variable("BITBUCKET_PR_ID") {
            Some(_) => CiChange::Request(target),
            None => CiChange::Other,
        };
        Self {
            service: Some(Service::Bitbucket),
            change,
            head: variable("BITBUCKET_COMMIT"),
            workflow: Some("bitbucket-pipelines.yml".to_owned()),
            ..Self::default()
        }
    }

    fn read_jenkins(variable: &dyn Fn(&str) -> Option<String>) -> Self {
        let branch = variable("BRANCH_NAME");
        let change = match (variable("CHANGE_ID"), variable("CHANGE_TARGET")) {
            (Some(_), target) => CiChange::Request(Target { branch: target, commit: None }),
            (None, _) => match variable("GIT_PREVIOUS_SUCCESSFUL_COMMIT") {
                Some(previous) => CiChange::Push {
                    branch: branch.clone(),
                    previous: Some(previous),
                    is_forced: false,
                },
                // Nothing was built of this branch, or nothing of it passed.
                None => CiChange::Other,
            },
        };
        let is_primary = variable("BRANCH_IS_PRIMARY").as_deref() == Some("true");
        Self {
            service: Some(Service::Jenkins),
            change,
            default_branch: if is_primary { branch } else { None },
            workflow: Some("Jenkinsfile".to_owned()),
            ..Self::default()
        }
    }
}

impl Target {
    fn with_default_branch(self, branch: Option<String>) -> Self {
        Self { branch: self.branch.or(branch), ..self }
    }
}

/// The commit of a branch that does not exist yet, or not any more.
fn is_zeros(commit: &str) -> bool {
    commit.bytes().all(|digit| digit == b'0')
}

/// A branch without what git puts before it.
fn branch_name(reference: &str) -> String {
    reference.strip_prefix("refs/heads/").unwrap_or(reference).to_owned()
}

fn unsafe_event() -> Failure {
    let message = "this workflow runs on `pull_request_target`, with the repository's secrets and \
                   a token that can write; gate would run the pull request's code with them";
    Failure::usage("ci-unsafe-event", message)
        .hint("run it on `pull_request`: `on: [pull_request]`")
}

/// The parts of GitHub's event that count here.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct GitHubEvent {
    action: Option<String>,
    pull_request: Option<GitHubRequest>,
    merge_group: Option<GitHubGroup>,
    before: Option<String>,
    forced: bool,
    repository: Option<GitHubRepository>,
    label: Option<GitHubLabel>,
    sender: Option<GitHubUser>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct GitHubRequest {
    base: GitHubBranch,
    head: GitHubBranch,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct GitHubBranch {
    #[serde(rename = "ref")]
    name: Option<String>,
    sha: Option<String>,
    /// Null if the fork is gone.
    repo: Option<GitHubRepository>,
}

impl GitHubRequest {
    fn is_fork(&self) -> bool {
        let repository =
            |branch: &GitHubBranch| branch.repo.as_ref().map(|repo| repo.full_name.clone());
        repository(&self.head) != repository(&self.base)
    }
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct GitHubGroup {
    base_sha: Option<String>,
    base_ref: Option<String>,
    head_sha: Option<String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct GitHubRepository {
    default_branch: Option<String>,
    full_name: Option<String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct GitHubLabel {
    name: String,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct GitHubUser {
    login: String,
}

impl GitHubEvent {
    fn read(places: &Places, file: &str) -> Result<Self, Failure> {
        let path = places.folder.join(file);
        let text = fs::read_to_string(&path).map_err(|error| {
            Failure::file("ci-event", "read the event (GITHUB_EVENT_PATH)", &path, &error)
        })?;
        serde_json::from_str(&text).map_err(|error| {
            let message = format!("{file} is not what GitHub writes: {error}");
            let failure = Failure::usage("ci-event", message);
            Failure { file: Some(path.display().to_string()), line: Some(error.line()), ..failure }
        })
    }
}

#[cfg(test)]
mod tests;
