//! The baseline of a work tree, which gate keeps from before an agent's acts.

use gate_checks::CheckSite;
use gate_checks::baseline::Baseline;
use gate_checks::worktree::WorkTree;

use super::Ran;

/// The baseline that is kept for a run.
pub(crate) fn kept(ran: &Ran, run: &str) -> Option<Baseline> {
    let state = Some(ran.home().join(".local/state/gate"));
    Baseline::kept(&CheckSite { state, ..site(ran) }, Some(run)).unwrap()
}

/// The files that differ from the baseline of a run.
pub(crate) fn changes(ran: &Ran, run: &str) -> Vec<String> {
    let tree = WorkTree::open(&site(ran)).unwrap();
    let changes = kept(ran, run).unwrap().changes(&tree, &tree.snapshot().unwrap()).unwrap();
    changes.iter().map(|change| change.path.display().to_string()).collect()
}

fn site(ran: &Ran) -> CheckSite {
    let environment = vec![("PATH".to_owned(), std::env::var("PATH").unwrap())];
    CheckSite { environment, ..CheckSite::new(ran.path("").canonicalize().unwrap()) }
}
