//! The job, as variables say.

use super::*;

fn places(variables: &[(&str, &str)]) -> Places {
    let environment =
        variables.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
    Places { environment, ..Places::default() }
}

fn target(branch: &str, commit: Option<&str>) -> CiChange {
    CiChange::Request(Target { branch: Some(branch.to_owned()), commit: commit.map(str::to_owned) })
}

#[test]
fn an_empty_variable_says_nothing() {
    let variables = [
        ("GITLAB_CI", "true"),
        ("CI_MERGE_REQUEST_IID", "7"),
        ("CI_MERGE_REQUEST_TARGET_BRANCH_NAME", "main"),
        ("CI_MERGE_REQUEST_TARGET_BRANCH_SHA", ""),
        ("CI_MERGE_REQUEST_DIFF_BASE_SHA", "abc"),
    ];
    let job = CiJob::read(&places(&variables)).unwrap();
    assert_eq!(job.change, target("main", Some("abc")));
    assert_eq!(job.workflow.as_deref(), Some(".gitlab-ci.yml"));
}

#[test]
fn a_branch_without_a_commit_before_is_new() {
    let zeros = "0".repeat(40);
    for (previous, expected) in [(zeros.as_str(), None), ("abc", Some("abc"))] {
        let variables = [
            ("GITLAB_CI", "true"),
            ("CI_PIPELINE_SOURCE", "push"),
            ("CI_COMMIT_BRANCH", "work"),
            ("CI_COMMIT_BEFORE_SHA", previous),
        ];
        let job = CiJob::read(&places(&variables)).unwrap();
        let expected = CiChange::Push {
            branch: Some("work".to_owned()),
            previous: expected.map(str::to_owned),
            is_forced: false,
        };
        assert_eq!(job.change, expected);
    }
}

#[test]
fn outside_of_a_ci_nothing_is_known() {
    assert_eq!(CiJob::read(&places(&[])).unwrap(), CiJob::default());
}

#[test]
fn a_schedule_is_no_push() {
    let variables = [("GITHUB_ACTIONS", "true"), ("GITHUB_EVENT_NAME", "schedule")];
    let job = CiJob::read(&places(&variables)).unwrap();
    assert_eq!((job.change, job.service), (CiChange::Other, Some(Service::GitHub)));
}
