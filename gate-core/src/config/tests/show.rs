//! The effective settings, written out.

use super::{project, resolved};
use crate::config::{Layer, resolve, show};

const SETTINGS: &str = "\
[checks.tests]
command = [\"cargo\", \"test\"]
[[patterns.custom]]
id = \"quote\"
regex = 'say \"done\"'
[task_types.research]
progress = \"none\"
checks.tests.mode = \"warn\"
";

#[test]
fn it_means_the_same_again() {
    for text in ["", SETTINGS] {
        let before = resolved(text);
        let after = resolved(&show(&before, false));
        assert_eq!(before.policy, after.policy);
        let again = resolved(&show(&after, true));
        assert_eq!(before.policy, again.policy);
    }
    let research = resolve(&[project(SETTINGS).unwrap()], Some("research")).unwrap();
    assert_eq!(resolved(&show(&research, true)).policy, research.policy);
}

#[test]
fn origins_stand_beside_the_values() {
    let layers = [project(SETTINGS).unwrap(), Layer::flags(Some(4))];
    let text = show(&resolve(&layers, None).unwrap(), true);
    for line in [
        "[checks.tests]",
        "command = [\"cargo\", \"test\"]  # gate.toml:2",
        "timeout = \"10m\"  # default",
        "indicator_threshold = 4  # --exit-threshold",
        "[task_types.research.checks.tests]",
    ] {
        assert!(text.lines().any(|found| found == line), "{line}\n{text}");
    }
}

#[test]
fn a_threshold_that_nobody_set_is_explained() {
    let text = show(&resolved("[checks.a]\n[checks.b]\n"), false);
    assert!(
        text.contains(
            "[exit_gate]\n# indicator_threshold is not set: 2, from the number of checks\n"
        )
    );
}
