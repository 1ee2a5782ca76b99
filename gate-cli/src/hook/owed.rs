//! Changes of a session that no green run has followed.

use std::path::Path;

use gate_core::Decision;
use gate_core::Verdict;
use gate_core::decide::evidence::Outcome;
use gate_core::decide::situation::{Released, Work};

use super::session::Session;

/// Updates the debt of a session in a project. A released stop leaves one: the tests that it left
/// red, or an empty list if they did not run. The debt outlives the turn, so an agent cannot get rid
/// of a red test by a turn that changes nothing. Only a green run or an `exit` clears it, or a run
/// that shows that the red tests are not the session's.
pub(super) fn update(session: &mut Session, project: &Path, decision: &Decision) {
    let owed = &mut session.state.owed;
    let is_green = decision.released == Some(Released::Green);
    let red_names = red_names(decision);
    if is_green || decision.verdict == Verdict::Exit || red_names.is_none() {
        owed.remove(project);
    } else if let Some(names) = red_names.filter(|names| !names.is_empty()) {
        owed.insert(project.to_owned(), names);
    } else if !decision.input.evidence.is_empty()
        || decision.situation().is_some_and(|situation| situation.work == Work::Changed)
    {
        // Nothing was found out, so an older debt stays as it is.
        owed.entry(project.to_owned()).or_default();
    }
}

/// The agent's own failed tests, or the failed checks if no tests are known. `None` if all red tests
/// are of other people; empty if their owners are not known.
fn red_names(decision: &Decision) -> Option<Vec<String>> {
    let failures = decision.situation().map(|situation| situation.failures.as_slice());
    let failures = failures.unwrap_or_default();
    let own_tests: Vec<_> = failures.iter().flat_map(|failure| &failure.own).cloned().collect();
    if !failures.is_empty() {
        let has_known_owners = failures.iter().all(|failure| failure.unknown.is_empty());
        return (!own_tests.is_empty() || !has_known_owners).then_some(own_tests);
    }
    let failed =
        decision.input.evidence.iter().filter(|evidence| evidence.outcome == Outcome::Fail);
    Some(failed.map(|evidence| evidence.check.clone()).collect())
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::agent::Agent;
    use crate::tests::decision;

    /// A decision about a stop whose checks failed, with the failures' owners.
    fn red(failures: &Value) -> Decision {
        decision(&json!({
            "released": "red",
            "evidence": [
                { "check": "tests", "mode": "require", "outcome": "fail" },
                { "check": "lint", "mode": "require", "outcome": "pass" },
                { "check": "build", "mode": "require", "outcome": "fail" },
            ],
            "observed": { "stop": { "agent": "codex", "situation": { "failures": failures } } },
        }))
    }

    fn owned_names(names: &[&str]) -> Option<Vec<String>> {
        Some(names.iter().map(|name| (*name).to_owned()).collect())
    }

    #[test]
    fn the_agents_own_tests_are_owed_and_else_the_failed_checks() {
        let failures = json!([
            { "check": "tests", "own": ["a", "b"], "before": ["c"], "others": ["d"] },
            { "check": "build", "own": ["build"] },
        ]);
        assert_eq!(red_names(&red(&failures)), owned_names(&["a", "b", "build"]));
        let old_failures = json!([{ "check": "tests", "before": ["c"] }]);
        assert_eq!(red_names(&red(&old_failures)), None, "nothing of it is the session's");
        let ownerless = json!([{ "check": "tests", "unknown": ["c"] }]);
        assert_eq!(red_names(&red(&ownerless)), owned_names(&[]));
        assert_eq!(red_names(&red(&json!([]))), owned_names(&["tests", "build"]));
    }

    /// Compares the checks that `/w` owes after this decision, if it owed a red `old` before.
    #[track_caller]
    fn check_owed(decision: &Decision, expected: Option<&[&str]>) {
        let state = tempfile::tempdir().unwrap();
        let mut session =
            Session::open(Some(state.path()), Path::new("/w"), Agent::Codex, Some("a")).unwrap();
        session.state.owed.insert("/w".into(), vec!["old".to_owned()]);
        session.state.owed.insert("/v".into(), Vec::new());
        update(&mut session, Path::new("/w"), decision);
        let owed = session.state.owed.get(Path::new("/w"));
        let owed = owed.map(|names| names.iter().map(String::as_str).collect::<Vec<_>>());
        assert_eq!(owed.as_deref(), expected);
        assert!(session.state.owed.contains_key(Path::new("/v")), "that is another project");
    }

    #[test]
    fn a_debt_ends_with_green_checks_or_an_exit_alone() {
        let passed = json!([{ "check": "tests", "mode": "require", "outcome": "pass" }]);
        let exit = json!({ "verdict": "exit", "exit_code": 0, "evidence": passed });
        check_owed(&decision(&exit), None);
        check_owed(&decision(&json!({ "released": "green", "evidence": passed })), None);
        check_owed(&red(&json!([{ "own": ["a"] }])), Some(&["a"]));
        // A look that was cut short has found nothing red, and nothing green.
        check_owed(
            &decision(&json!({ "released": "not-run", "evidence": passed })),
            Some(&["old"]),
        );
        // Without a look the older debt stays, whatever the turn changed.
        check_owed(&decision(&json!({ "released": "not-run" })), Some(&["old"]));
        let situation = json!({ "work": "changed" });
        let stop = json!({ "stop": { "agent": "codex", "situation": situation } });
        check_owed(&decision(&json!({ "observed": stop })), Some(&["old"]));
    }

    #[test]
    fn changed_work_that_nobody_looked_at_is_owed() {
        let state = tempfile::tempdir().unwrap();
        for (work, expected) in [("changed", Some(Vec::new())), ("prose", None), ("none", None)] {
            let mut session =
                Session::open(Some(state.path()), Path::new("/w"), Agent::Codex, Some(work))
                    .unwrap();
            let situation = json!({ "stop": { "agent": "codex", "situation": { "work": work } } });
            let unchecked = decision(&json!({ "released": "not-run", "observed": situation }));
            update(&mut session, Path::new("/w"), &unchecked);
            assert_eq!(session.state.owed.get(Path::new("/w")), expected.as_ref(), "{work}");
        }
    }
}
