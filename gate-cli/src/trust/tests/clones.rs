//! The same settings in other clones and other folders.

use super::super::settings_in_force;
use super::*;

const SEVEN: &str = "breaker.no_exit = 7\n";

const ORIGINS: [&str; 7] = [
    "git@host.example:team/shop.git",
    "git@host.example:team/shop",
    "ssh://git@host.example/team/shop.git",
    "https://host.example/team/shop.git",
    "https://host.example/team/shop",
    "https://me:secret@host.example/team/shop.git",
    "/srv/git/shop.git",
];

/// A clone beside the project, with the same folder for approvals.
fn clone(project: &Project, name: &str, settings: &str) -> Places {
    let folder = project.folder.path().join(name);
    fs::create_dir(&folder).unwrap();
    fs::write(folder.join("gate.toml"), settings).unwrap();
    Places { folder, ..project.places.clone() }
}

/// Makes a repository of a folder, or gives it another origin.
fn set_origin(places: &Places, url: Option<&str>) {
    let git = places.folder.join(".git");
    fs::create_dir_all(git.join("objects")).unwrap();
    fs::write(git.join("HEAD"), "ref: refs/heads/main\n").unwrap();
    let config = url.map(|url| format!("[remote \"origin\"]\n\turl = {url}\n"));
    fs::write(git.join("config"), config.unwrap_or_default()).unwrap();
}

fn digest(places: &Places) -> String {
    trust(places).report().unwrap().digest
}

#[test]
fn a_digest_is_of_the_settings_alone() {
    let project = Project::new(SEVEN);
    let expected = digest(&project.places);
    for url in ORIGINS.map(Some).into_iter().chain([None]) {
        set_origin(&project.places, url);
        assert_eq!(digest(&project.places), expected, "{url:?}");
    }
    let inner = clone(&project, "w/a", SEVEN);
    assert_eq!(digest(&inner), expected);
    assert_eq!(digest(&clone(&project, "clone", SEVEN)), expected);
    project.write("breaker.no_exit = 8\n");
    assert_ne!(digest(&project.places), expected);
}

#[test]
fn an_approval_stays_when_the_origin_changes() {
    let project = Project::new(SEVEN);
    set_origin(&project.places, None);
    project.approve();
    let approved_project = || Trust::approved_project(&project.places).unwrap();
    let identity = approved_project();
    for url in ORIGINS {
        set_origin(&project.places, Some(url));
        assert_eq!(state(&project.places), TrustState::Approved, "{url}");
        assert_eq!(approved_project(), identity, "{url}");
    }
    project.write("breaker.no_exit = 0\n");
    let (resolved, trust) = settings_in_force(&project.places, &Selection::default()).unwrap();
    assert_eq!(resolved.policy.breaker.no_exit, 7);
    let changed = trust.report().unwrap().changed.unwrap();
    assert!(changed.starts_with("gate.toml changed since you approved it. "), "{changed}");
    project.approve();
    assert_ne!(approved_project(), identity);
}

#[test]
fn an_approval_counts_in_no_other_project() {
    let project = Project::new(SEVEN);
    set_origin(&project.places, Some(ORIGINS[0]));
    let digest = project.approve();
    let second = clone(&project, "other", SEVEN);
    set_origin(&second, Some("https://host.example/team/till.git"));
    assert_eq!(state(&second), TrustState::Never);
    assert_eq!(state(&with_digests(&second, &digest)), TrustState::Approved);
    assert_eq!(state(&second), TrustState::Never, "the variable leaves no approval");
    set_origin(&second, Some(ORIGINS[0]));
    assert_eq!(state(&second), TrustState::Approved, "a clone of the same project");
}

#[test]
fn a_shared_text_decides_in_the_folder_of_each_project() {
    let project = Project::new(SEVEN);
    set_origin(&project.places, Some(ORIGINS[0]));
    let digest = project.approve();
    let second = with_digests(&clone(&project, "other", SEVEN), &digest);
    set_origin(&second, Some("https://host.example/team/till.git"));
    for broken in ["breaker.no_exit = 0\n", "[[["] {
        fs::write(second.folder.join("gate.toml"), broken).unwrap();
        let (resolved, trust) = settings_in_force(&second, &Selection::default()).unwrap();
        assert_eq!(resolved.policy.breaker.no_exit, 7, "{broken}");
        assert_eq!(trust.project().unwrap(), second.folder);
        assert_eq!(trust.report().unwrap().file, Some(second.folder.join("gate.toml")));
        assert_eq!(trust.report().unwrap().state, TrustState::Approved);
    }
    // It has not decided in this folder before: the one above it is that of the settings.
    let inner = with_digests(&clone(&project, "other/a", "breaker.no_exit = 0\n"), &digest);
    let (_, trust) = settings_in_force(&inner, &Selection::default()).unwrap();
    assert_eq!(trust.project().unwrap(), second.folder);
    fs::write(inner.folder.join("gate.toml"), SEVEN).unwrap();
    let (_, trust) = settings_in_force(&inner, &Selection::default()).unwrap();
    trust.store_text(&trust.report().unwrap());
    fs::write(inner.folder.join("gate.toml"), "[[[").unwrap();
    let (_, trust) = settings_in_force(&inner, &Selection::default()).unwrap();
    assert_eq!(trust.project().unwrap(), inner.folder);
}

#[test]
fn an_approval_of_an_older_gate_says_what_to_do() {
    let project = Project::new(SEVEN);
    let digest = project.approve();
    let trust_folder = project.folder.path().join("data/trust");
    let is_file = |entry: &fs::DirEntry| entry.path().is_file();
    let mut files = fs::read_dir(&trust_folder).unwrap().map(Result::unwrap).filter(is_file);
    let file = files.next().unwrap().path();
    let older = fs::read_to_string(&file).unwrap().replace(&digest[7..], &"0".repeat(64));
    fs::write(&file, older).unwrap();
    let (_, trust) = settings_in_force(&project.places, &Selection::default()).unwrap();
    let report = trust.report().unwrap();
    assert_eq!(report.state, TrustState::Changed);
    assert!(report.refusal(report.state, &[]).message.contains("`gate trust`"));
    project.approve();
    assert_eq!(state(&project.places), TrustState::Approved);
}
