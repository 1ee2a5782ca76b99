//! Keys of earlier versions.

use super::project;
use crate::config::{ConfigWarning, Layer, Origin, Problem, resolve};
use crate::decide::policy::Mode;

const OLD: &str = "\
[exit_gate]
consecutive = 2
[checks.tests]
command = [\"true\"]
fail_to_pass = true
deciding = \"warm\"
[checks.noticed]
runs = 5
[integrity]
budget = 2
nothing_changed = false
protect = [\"docs/**\"]
[task_types.docs]
checks.tests.fail_to_pass = \"auto\"
";

#[test]
fn a_key_of_an_earlier_version_changes_nothing_and_is_named() {
    let resolved = resolve(&[project(OLD).unwrap()], Some("docs")).unwrap();
    assert_eq!(resolved.policy.exit_gate.consecutive.get(), 2);
    assert_eq!(resolved.policy.checks.keys().collect::<Vec<_>>(), ["tests"]);
    assert_eq!(resolved.policy.integrity.protect, ["docs/**"]);
    let said: Vec<_> = resolved.warnings.iter().map(ConfigWarning::to_string).collect();
    assert_eq!(
        said,
        [
            "gate.toml:5: `checks.tests.fail_to_pass` is gone and changes nothing: with `gate run \
             --tests-first` tests have to fail before the work",
            "gate.toml:6: `checks.tests.deciding` is gone and changes nothing: the baseline's tests \
             always decide in a copy of their own",
            "gate.toml:7: `checks.noticed` is gone and changes nothing: a check of your own can \
             run a tool such as `cargo mutants`",
            "gate.toml:10: `integrity.budget` is gone and changes nothing: a linter as a check \
             counts suppressions",
            "gate.toml:11: `integrity.nothing_changed` is gone and changes nothing: work that \
             changed nothing is asked about once",
            "gate.toml:12: `integrity.protect` is `[guarded]` now: write `\"GLOB\" = \"block\"` there",
            "gate.toml:14: `task_types.docs.checks.tests.fail_to_pass` is gone and changes nothing: \
             with `gate run --tests-first` tests have to fail before the work",
        ]
    );
}

#[test]
fn a_lock_of_such_a_key_locks_nothing() {
    let text = "locked = [\"checks.tests.fail_to_pass\", \"checks.noticed_api.mode\"]\n\
                [checks.tests]\nfail_to_pass = true\n\
                [checks.noticed_api]\ncommand = [\"true\"]\nmode = \"require\"\n";
    let layer = Layer::parse(Origin::Machine("/etc/gate/gate.toml".into()), text).unwrap();
    let resolved = resolve(&[layer], None).unwrap();
    assert_eq!(
        resolved.locks.iter().map(|lock| &lock.key).collect::<Vec<_>>(),
        ["checks.noticed_api.mode"]
    );
    assert_eq!(resolved.warnings.len(), 1);
}

#[test]
fn another_error_in_such_a_text_keeps_its_place() {
    let error = project("[checks.tests]\nfail_to_pass = true\ntimeot = \"1m\"\n").unwrap_err();
    assert_eq!((error.line(), error.key()), (Some(3), Some("checks.tests.timeot")));
    let text = "[checks.tests]\nfail_to_pass = true\n\n[[criteria]]\nid = \"a\"\ntxt = 1\n";
    let error = project(text).unwrap_err();
    assert_eq!((error.line(), error.key()), (Some(6), Some("criteria[0].txt")));
    let command = "[checks.noticed]\ncommand = [\"true\"]\nmode = \"warn\"\n\
                   [task_types.release]\nchecks.noticed.mode = \"require\"\n";
    let resolved = resolve(&[project(command).unwrap()], Some("release")).unwrap();
    assert_eq!(resolved.policy.checks["noticed"].mode, Mode::Require);
    assert_eq!(resolved.warnings, []);
    let error = project("[checks.tests]\nfail_to_pas = true\n").unwrap_err();
    assert!(matches!(error.problem(), Problem::UnknownKey(_)), "{error}");
}
