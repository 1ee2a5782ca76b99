//! Links that lead to what the snapshot does not hold.

use gate_platform::symlink;

use super::fixture::Fixture;

/// Whether a link at `src/link` with this target leads out.
fn leads_out(target: &str) -> bool {
    let fixture = Fixture::repository();
    fixture.write(".gitignore", "ignored\n");
    fixture.git(&["add", ".gitignore"]);
    fixture.write("ignored/x", "");
    fixture.write("src/__pycache__/b.pyc", "");
    let target = target.replace("ROOT", fixture.path("").to_str().unwrap());
    symlink("../a", fixture.path("src/inner")).unwrap();
    assert!(!fixture.snapshot().has_links_out());
    symlink(target, fixture.path("src/link")).unwrap();
    fixture.snapshot().has_links_out()
}

#[test]
fn a_link_to_what_is_in_the_snapshot_stays_inside() {
    for target in ["b", "./b", "../a", "../src", "..", "inner", "../src/../src/inner", "ROOT/a"] {
        assert!(!leads_out(target), "{target}");
    }
}

#[test]
fn any_other_link_leads_out() {
    for target in [
        "/etc/passwd",
        "../..",
        "../../tree/a",
        "ROOT/../home",
        "../.git",
        "../.git/HEAD",
        "../ignored",
        "../ignored/x",
        "__pycache__/b.pyc",
        "nowhere",
        "inner/x",
        "link",
    ] {
        assert!(leads_out(target), "{target}");
    }
}

#[test]
fn a_way_through_a_link_that_is_ignored_leads_out() {
    let fixture = Fixture::repository();
    fixture.write(".gitignore", "ignored\n");
    fixture.git(&["add", ".gitignore"]);
    symlink("src", fixture.path("ignored")).unwrap();
    symlink("ignored/b", fixture.path("link")).unwrap();
    assert!(fixture.path("link").canonicalize().unwrap().ends_with("src/b"));
    assert!(fixture.snapshot().has_links_out());
}
