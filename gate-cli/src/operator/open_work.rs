//! The open work of agents on a project. While there is any, a command of the operator needs a
//! terminal: an agent may have cut off the processes above it.

use std::time::Duration;

use gate_checks::worktree::work_trees;
use gate_core::Verdict;
use jiff::Timestamp;

use crate::governance::project_here;
use crate::hook::session::has_open_session;
use crate::memory::{Memory, RecordSelector};
use crate::settings::{Places, Selection};
use crate::trust;

/// A loop without a decision for so long is over.
const LOOP_TIMEOUT: Duration = Duration::from_secs(12 * 60 * 60);

const STORE_TIMEOUT: Duration = Duration::from_secs(2);

/// The session or loop of the project that is open, in words.
pub(super) fn open_work(places: &Places) -> Option<&'static str> {
    let top = places.top();
    let other_trees = work_trees(&top);
    let mut trees = [top].into_iter().chain(other_trees);
    if trees.any(|tree| has_open_session(places.state.as_deref(), &tree)) {
        return Some("a session of an agent");
    }
    let tasks = project_here(places).and_then(|project| project.tasks()).unwrap_or_default();
    if tasks.iter().any(|task| task.is_running().unwrap_or(false)) {
        return Some("a loop of `gate run`");
    }
    is_loop_open(places).then_some("a loop")
}

/// The latest decision here is young, and a loop goes on after it. A stop of an agent belongs to a
/// session. A state that cannot be read shows no loop.
fn is_loop_open(places: &Places) -> bool {
    let Ok((settings, _)) = trust::settings_in_force(places, &Selection::default()) else {
        return false;
    };
    let id = settings.policy.project.id.as_deref();
    let memory = Memory::open_within(places, id, STORE_TIMEOUT);
    let latest = memory.and_then(|mut memory| memory.latest(&RecordSelector::default()));
    let Ok(Some(latest)) = latest else { return false };
    let age = latest.time.parse::<Timestamp>().map(|time| Timestamp::now().duration_since(time));
    let is_young = age.is_ok_and(|age| age.unsigned_abs() < LOOP_TIMEOUT);
    let is_of_loop = latest.decision.input.observed.stop.is_none();
    is_young && is_of_loop && latest.decision.verdict == Verdict::Continue
}
