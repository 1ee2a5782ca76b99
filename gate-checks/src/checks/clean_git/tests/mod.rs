//! `clean_git` in real repositories in temporary folders.

mod forms;
mod lies;
mod situations;
mod submodules;

use std::sync::Arc;

use gate_core::decide::evidence::{Evidence, Outcome};
use gate_core::decide::policy::Policy;
use tokio::runtime::Builder;

use super::CleanGit;
use crate::cancellation::Cancellation;
use crate::check::{Check, CheckContext, CheckId, GatherOptions};
use crate::worktree::Snapshot;
use crate::worktree::tests::fixture::Fixture;

fn run(fixture: &Fixture, tree: Snapshot, cancel: Cancellation, ignore: &[&str]) -> Evidence {
    let ignore = ignore.iter().map(|glob| (*glob).to_owned()).collect();
    let check = CleanGit { id: CheckId::new("clean_git"), ignore };
    let options = GatherOptions { cancel, ..GatherOptions::default() };
    let cx = CheckContext::new(&Policy::default(), &fixture.site, Arc::new(tree), None, options);
    Builder::new_current_thread().enable_all().build().unwrap().block_on(check.run(&cx))
}

fn look(fixture: &Fixture) -> Evidence {
    let tree = Fixture::plain().snapshot();
    run(fixture, tree, Cancellation::default(), &[])
}

/// Whether everything is committed.
#[track_caller]
fn clean(fixture: &Fixture) {
    let evidence = look(fixture);
    assert_eq!(evidence.outcome, Outcome::Pass, "{}", evidence.summary);
}

/// What is not: `staged: a b; untracked: c`.
#[track_caller]
fn dirty(fixture: &Fixture, lists: &str) {
    let evidence = look(fixture);
    assert_eq!(evidence.outcome, Outcome::Fail, "{}", evidence.summary);
    assert_eq!(listed(&evidence), lists, "{}", evidence.summary);
}

fn listed(evidence: &Evidence) -> String {
    let detail = evidence.detail.as_ref().unwrap();
    let list = |name: &str| {
        let names = detail[name].as_array().unwrap();
        let names: Vec<_> = names.iter().map(|name| name.as_str().unwrap()).collect();
        (!names.is_empty()).then(|| format!("{name}: {}", names.join(" ")))
    };
    let lists = ["staged", "unstaged", "untracked"].into_iter().filter_map(list);
    lists.collect::<Vec<_>>().join("; ")
}
