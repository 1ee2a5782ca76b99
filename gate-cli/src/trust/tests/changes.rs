//! The settings that decide, whatever stands in the file by now.

use std::collections::BTreeMap;

use gate_checks::CheckSite;
use gate_core::decide::run_state::RunState;

use super::super::{settings_in_force, withdraw};
use super::*;

const HINT: &str = "look at what it starts, and approve it: gate trust";

fn in_force(places: &Places) -> (gate_core::config::Resolved, Trust) {
    settings_in_force(places, &Selection::default()).unwrap()
}

#[test]
fn settings_that_nobody_approved_start_nothing() {
    let project = Project::new(TESTS);
    let (resolved, trust) = settings_as_written(&project.places, &Selection::default()).unwrap();
    assert_eq!(trust.report().unwrap().state, TrustState::Never);
    let site = CheckSite::new(&project.places.folder);
    let failure = trust.admit(&resolved.policy, &site).unwrap_err();
    let expected = format!(
        "{} is not approved yet; it would start tests: [\"cargo\", \"test\"]",
        project.file().display()
    );
    assert_eq!((failure.exit_code, failure.message.as_str()), (2, expected.as_str()));
    assert_eq!(
        (failure.code.as_str(), failure.hint.as_deref()),
        ("config-not-trusted", Some(HINT))
    );
    project.write("breaker.no_exit = 7\n");
    let (resolved, trust) = settings_as_written(&project.places, &Selection::default()).unwrap();
    assert_eq!(trust.admit(&resolved.policy, &site), Ok(()), "they start nothing");
    let failure = trust.admit_words("[run.agents.codex] args").unwrap_err();
    let expected =
        "[run.agents.codex] args would be given to the agent, and the settings are not approved";
    assert_eq!(failure.message, expected);
}

#[test]
fn the_approved_text_decides_instead_of_a_changed_one() {
    let project = Project::new("breaker.no_exit = 7\n");
    let digest = project.approve();
    assert_eq!(state(&project.places), TrustState::Approved);
    project.write("breaker.no_exit = 7 # as before\n");
    assert_eq!(state(&project.places), TrustState::Approved);
    project.write("breaker.no_exit = 0\n");
    assert_eq!(state(&project.places), TrustState::Changed);
    let (resolved, trust) = in_force(&project.places);
    assert_eq!(resolved.policy.breaker.no_exit, 7);
    let report = trust.report().unwrap();
    assert_eq!((report.state, &report.digest), (TrustState::Approved, &digest));
    let line = "gate.toml changed since you approved it. If that was you: `gate trust`. \
                If not: `git diff gate.toml`.";
    assert_eq!(report.changed.as_deref(), Some(line));
    let site = CheckSite::new(&project.places.folder);
    assert_eq!(trust.admit_deciding(&resolved.policy, &site), Ok(()));
    assert_eq!(trust.admit(&resolved.policy, &site).unwrap_err().message, line);
    assert_eq!(trust.admit_words("key"), Ok(()), "it is the approved text's");
    let selection = Selection { config: Some("gate.toml".into()), ..Selection::default() };
    let (resolved, trust) = settings_in_force(&project.places, &selection).unwrap();
    assert_eq!(resolved.policy.breaker.no_exit, 0, "whoever names the file approves it");
    assert_eq!(trust.report().unwrap().state, TrustState::Approved);
}

#[test]
fn settings_that_are_gone_or_torn_do_not_free_anybody() {
    let project = Project::new("breaker.no_exit = 7\n");
    project.approve();
    fs::remove_file(project.file()).unwrap();
    let (resolved, trust) = in_force(&project.places);
    assert_eq!(resolved.policy.breaker.no_exit, 7);
    let changed = trust.report().unwrap().changed.unwrap();
    assert!(changed.starts_with("gate.toml is gone since you approved it. "), "{changed}");
    assert_eq!(trust.project().unwrap(), project.places.folder);
    assert!(Trust::was_approved(&project.places));
    project.write("breaker.no_exit = [\n");
    let (resolved, trust) = in_force(&project.places);
    assert_eq!(resolved.policy.breaker.no_exit, 7);
    let changed = trust.report().unwrap().changed.unwrap();
    assert!(changed.contains("cannot be used (line 1: "), "{changed}");
    fs::remove_dir_all(project.folder.path().join("data/trust/texts")).unwrap();
    assert!(settings_in_force(&project.places, &Selection::default()).is_err());
}

#[test]
fn without_its_text_a_changed_approval_only_blocks() {
    let project = Project::new("breaker.no_exit = 7\n");
    project.approve();
    fs::remove_dir_all(project.folder.path().join("data/trust/texts")).unwrap();
    let approved = project.trust();
    let report = approved.report().unwrap();
    approved.store_text(&report);
    project.write("breaker.no_exit = 0\n");
    assert_eq!(in_force(&project.places).0.policy.breaker.no_exit, 7, "it was stored anew");
    fs::remove_dir_all(project.folder.path().join("data/trust/texts")).unwrap();
    let (resolved, trust) = in_force(&project.places);
    assert_eq!(resolved.policy.breaker.no_exit, 0);
    let report = trust.report().unwrap();
    assert_eq!((report.state, report.changed.as_deref()), (TrustState::Changed, None));
    trust.store_text(&report);
    let site = CheckSite::new(&project.places.folder);
    assert!(trust.admit(&resolved.policy, &site).is_err(), "nothing of a changed text is stored");
}

#[test]
fn the_environment_approves_what_its_digests_name() {
    let project = Project::new(TESTS);
    let digest = project.trust().report().unwrap().digest;
    let foreign_digest = format!("blake3:{}", "0".repeat(64));
    assert_eq!(state(&project.with_digests(&digest)), TrustState::Approved);
    assert_eq!(
        state(&project.with_digests(&format!(" {foreign_digest} , {digest}"))),
        TrustState::Approved
    );
    assert_eq!(state(&project.with_digests(&foreign_digest)), TrustState::Changed);
    assert_eq!(state(&project.with_digests("")), TrustState::Never);
    for (value, bad) in [("yes", "yes"), (&format!("{digest},"), ""), ("blake3:AA", "blake3:AA")] {
        let failure = trust(&project.with_digests(value)).report().unwrap_err();
        let expected = format!(
            "GATE_TRUST: {bad:?} is no digest: `blake3:` and 64 hexadecimal digits are expected, \
             several separated by commas"
        );
        assert_eq!((failure.exit_code, failure.message), (2, expected));
    }
}

#[test]
fn an_approval_is_withdrawn_with_the_settings() {
    let project = Project::new(TESTS);
    project.approve();
    assert_eq!(withdraw(&project.places), Ok(true));
    assert_eq!(withdraw(&project.places), Ok(false));
    assert_eq!(state(&project.places), TrustState::Never);
    assert!(!Trust::was_approved(&project.places));
    project.approve();
    fs::remove_file(project.file()).unwrap();
    assert_eq!(state(&project.places), TrustState::Changed);
    let missing = Approved::read(&project.places).unwrap();
    assert_eq!((missing.file.as_deref(), missing.place.as_str()), (None, ""));
    missing.store(&project.places, "gate trust").unwrap();
    assert_eq!(state(&project.places), TrustState::Never);
    let homeless = Places { data: None, ..project.places.clone() };
    assert_eq!(withdraw(&homeless).unwrap_err().code, "trust-unwritable");
}

#[test]
fn settings_nearer_to_the_work_do_not_replace_the_approved_ones() {
    let project = Project::new("breaker.no_exit = 7\n");
    fs::create_dir_all(project.places.folder.join(".git")).unwrap();
    fs::write(project.places.folder.join(".git/HEAD"), "ref: refs/heads/main\n").unwrap();
    project.approve();
    let inner = project.places.folder.join("a");
    fs::create_dir(&inner).unwrap();
    let inner_places = Places { folder: inner.clone(), ..project.places.clone() };
    assert_eq!(state(&inner_places), TrustState::Approved);
    fs::write(inner.join("gate.toml"), "breaker.no_exit = 0\n").unwrap();
    let (resolved, trust) = in_force(&inner_places);
    assert_eq!(resolved.policy.breaker.no_exit, 7);
    assert_eq!(trust.project().unwrap(), project.places.folder);
    let changed = trust.report().unwrap().changed.unwrap();
    let expected = "gate.toml stands in the place of ../gate.toml, which you approved. ";
    assert!(changed.starts_with(expected), "{changed}");
    Approved::read(&inner_places).unwrap().store(&inner_places, "gate trust").unwrap();
    assert_eq!(in_force(&inner_places).0.policy.breaker.no_exit, 0);
    assert_eq!(in_force(&project.places).0.policy.breaker.no_exit, 7);
}

#[test]
fn a_lasting_trust_looks_again_at_each_decision() {
    let project = Project::new("breaker.no_exit = 7\n");
    project.approve();
    let lasting = project.trust().lasting();
    let changed = || lasting.report().unwrap().changed;
    assert_eq!(changed(), None);
    project.write("breaker.no_exit = 0\n");
    assert!(changed().unwrap().starts_with("gate.toml changed since you approved it. "));
    assert!(lasting.approved_since().unwrap().is_none());
    project.write("breaker.no_exit = \n");
    let torn = changed().unwrap();
    let beginning = "gate.toml changed since you approved it, and cannot be used (line 1: ";
    assert!(torn.starts_with(beginning) && torn.contains("mend it, then `gate trust`"), "{torn}");
    project.write("breaker.no_exit = 3\n");
    project.approve();
    assert_eq!(changed(), None);
    let (resolved, renewed) = lasting.approved_since().unwrap().unwrap();
    assert_eq!(resolved.policy.breaker.no_exit, 3);
    assert!(renewed.lasting().approved_since().unwrap().is_none());
    assert!(project.trust().approved_since().unwrap().is_none(), "one decision asks once");
}

#[test]
fn the_ledger_remembers_an_approval_that_was_lost() {
    let project = Project::new(TESTS);
    let report = project.trust().report().unwrap();
    let remembered = |place: &str| BTreeMap::from([(place.to_owned(), "blake3:aa".to_owned())]);
    assert_eq!(report.state_with(&BTreeMap::new()), TrustState::Never);
    assert_eq!(report.state_with(&remembered("other/gate.toml")), TrustState::Never);
    assert_eq!(report.state_with(&remembered("gate.toml")), TrustState::Changed);
    project.approve();
    let approved = project.trust().report().unwrap();
    assert_eq!(approved.state_with(&remembered("gate.toml")), TrustState::Approved);
}

#[test]
fn settings_that_change_in_the_middle_of_a_run_are_tampering() {
    let project = Project::new(TESTS);
    let report = project.trust().report().unwrap();
    let run = |settings: Option<&str>| {
        let mut run = RunState::default();
        run.settings = settings.map(str::to_owned);
        run
    };
    let tampered = |run: Option<&RunState>, state| report.tampered(run, state).is_some();
    let (unchanged, changed_run) = (run(Some(&report.digest)), run(Some("blake3:aa")));
    for (run, never, changed) in [
        (None, false, false),
        (Some(&run(None)), false, true),
        (Some(&unchanged), false, true),
        (Some(&changed_run), true, true),
    ] {
        assert_eq!(tampered(run, TrustState::Never), never, "{run:?}");
        assert_eq!(tampered(run, TrustState::Changed), changed, "{run:?}");
        assert!(!tampered(run, TrustState::Approved));
    }
    let message = report.tampered(Some(&changed_run), TrustState::Never).unwrap();
    assert!(
        message.starts_with("in the middle of a run, gate.toml is not what was approved."),
        "{message}"
    );
}
