//! The replies that each client understands, and the sessions that gate remembers
//! between them.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use serde_json::json;

use super::super::client;
use super::super::prompt::is_older_than_prompt;
use super::super::reply::is_first_undecided;
use super::super::session::{Session, is_new_message, require_exit};
use crate::agent::Agent;

#[test]
fn a_refusal_has_no_other_key_and_cursors_is_the_next_prompt() {
    for agent in Agent::ALL {
        let expected = match agent {
            Agent::Cursor => json!({ "followup_message": "Run the tests." }),
            _ => json!({ "decision": "block", "reason": "Run the tests." }),
        };
        assert_eq!(client(agent).refusal("Run the tests."), expected, "{}", agent.name());
    }
}

#[test]
fn what_cannot_be_decided_is_refused_once_a_session() {
    let state = tempfile::tempdir().unwrap();
    let is_first = |agent, session| is_first_undecided(Some(state.path()), agent, session);
    assert!(is_first(Agent::Codex, Some("a")) && !is_first(Agent::Codex, Some("a")));
    assert!(is_first(Agent::Codex, Some("b")) && is_first(Agent::Qwen, Some("a")));
    assert!(!is_first(Agent::Codex, None), "nobody could tell the second stop from it");
    assert!(!is_first_undecided(None, Agent::Codex, Some("c")));
    let file = state.path().join("file");
    fs::write(&file, "").unwrap();
    assert!(!is_first_undecided(Some(&file), Agent::Codex, Some("c")), "it cannot be remembered");
}

fn open(state: &Path, id: &str) -> Session {
    Session::open(Some(state), Path::new("/w"), Agent::Codex, Some(id)).unwrap()
}

fn seconds_ago(file: &Path, seconds: u64) {
    let time = SystemTime::now() - Duration::from_secs(seconds);
    File::options().write(true).open(file).unwrap().set_modified(time).unwrap();
}

fn only_entry(folder: &Path) -> PathBuf {
    let mut entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let only = entries.next().unwrap();
    assert_eq!(entries.next(), None);
    only
}

#[test]
fn a_mistake_is_the_agents_if_the_file_is_younger_than_the_prompt() {
    let state = tempfile::tempdir().unwrap();
    let settings = state.path().join("gate.toml");
    fs::write(&settings, "[[[").unwrap();
    let mut session = open(state.path(), "a");
    assert!(!is_older_than_prompt(&settings, &session), "no prompt is known");
    let since_1970 = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap();
    let prompted_at = u64::try_from(since_1970.as_millis()).unwrap();
    session.state.prompted_at = Some(prompted_at);
    seconds_ago(&settings, 60);
    assert!(is_older_than_prompt(&settings, &session));
    session.state.prompted_at = Some(prompted_at - 120_000);
    assert!(!is_older_than_prompt(&settings, &session));
    assert!(!is_older_than_prompt(Path::new("/nowhere/gate.toml"), &session));
}

#[test]
fn an_exit_is_asked_of_the_sessions_that_still_go_on() {
    let state = tempfile::tempdir().unwrap();
    open(state.path(), "over").save();
    let folder = only_entry(&state.path().join("sessions"));
    seconds_ago(&only_entry(&folder), 13 * 60 * 60);
    fs::write(folder.join("torn.json"), "{\"in_turn\":").unwrap();
    for id in ["a", "b"] {
        let mut session = open(state.path(), id);
        session.state.in_turn = true;
        session.save();
    }
    assert_eq!(require_exit(Some(state.path()), Path::new("/w"), true), 2);
    let live = open(state.path(), "a").state;
    assert!(live.needs_exit && live.in_turn, "{live:?}");
    assert!(!open(state.path(), "over").state.needs_exit);
    assert_eq!(require_exit(Some(state.path()), Path::new("/v"), true), 0);
    assert_eq!(require_exit(None, Path::new("/w"), true), 0);
    assert_eq!(require_exit(Some(state.path()), Path::new("/w"), false), 2);
    assert!(!open(state.path(), "a").state.needs_exit);
}

#[test]
fn without_a_place_for_state_every_message_is_new_and_no_session_is_kept() {
    let say = || is_new_message(None, Path::new("/w"), "no checks");
    assert!(say() && say());
    assert!(Session::open(None, Path::new("/w"), Agent::Codex, Some("a")).is_none());
    let state = tempfile::tempdir().unwrap();
    assert!(Session::open(Some(state.path()), Path::new("/w"), Agent::Codex, None).is_none());
}

#[test]
fn the_names_of_changed_files_are_bounded() {
    let state = tempfile::tempdir().unwrap();
    let mut session = open(state.path(), "a");
    let files: Vec<_> = (0..5_010).map(|number| format!("f{number:05}").into()).collect();
    session.add_changed(&files);
    session.add_changed(&files[5_000..]);
    assert_eq!(session.state.changed.len(), 5_000);
    assert!(!session.state.changed.contains(Path::new("f00009")));
    assert!(session.state.changed.contains(Path::new("f05009")));
}
