//! Policies in one place, and as older gates have recorded them.

use serde_json::Value;

use super::*;
use crate::config::{Layer, Origin, resolve};
use crate::decide::language::LanguageChange;

fn policy(settings: &str) -> Policy {
    let layer = Layer::parse(Origin::Project("gate.toml".into()), settings).unwrap();
    resolve(&[layer], None).unwrap().policy
}

const CHECKS: &str = "\
[checks.tests]\ncommand = [\"true\"]
[checks.e2e]\ncommand = [\"true\"]\nneeds = [\"tests\", \"lint\"]\nwhen = [\"run\", \"check\"]
[checks.lint]\ncommand = [\"true\"]\nmode = \"count\"\nwhen = [\"check\"]
[checks.todo_list]\ncommand = [\"true\"]\nmode = \"warn\"\nneeds = [\"lint\"]
";

#[test]
fn in_one_place_a_check_waits_for_no_other_that_runs_elsewhere() {
    let needs = |place| {
        let resolved = policy(CHECKS).at(place);
        let told =
            |(name, check): (&String, &CheckPolicy)| format!("{name}: {}", check.needs.join(" "));
        resolved.checks.iter().map(told).collect::<Vec<_>>()
    };
    assert_eq!(needs(When::Check), ["e2e: tests lint", "lint: ", "tests: ", "todo_list: lint"]);
    assert_eq!(needs(When::Run), ["e2e: tests", "tests: ", "todo_list: "]);
    assert_eq!(needs(When::Hook), ["tests: ", "todo_list: "]);
}

#[test]
fn the_reachable_threshold_follows_the_checks_that_count() {
    let mut policy = policy(CHECKS);
    policy.exit_gate.threshold = Threshold::Reachable;
    for (left, counting, threshold) in [(4, 3, 2), (3, 3, 2), (2, 2, 2), (1, 1, 1), (0, 0, 1)] {
        let names = ["tests", "lint", "e2e", "todo_list"];
        policy.checks.retain(|name, _| names[..left].contains(&name.as_str()));
        assert_eq!(policy.counting_checks(), counting);
        assert_eq!(policy.threshold_in_force(), threshold, "{left}");
        let mut fixed = policy.clone();
        fixed.exit_gate.threshold = Threshold::Fixed(9);
        assert_eq!(fixed.threshold_in_force(), 9);
    }
}

#[test]
fn behaviour_is_required_by_tests_and_by_criteria_with_commands() {
    let requires = |settings: &str| policy(settings).requires_behaviour();
    assert!(requires(CHECKS) && requires("[checks.smoke]\ncommand = [\"true\"]\n"));
    assert!(!requires(""));
    assert!(!requires("[checks.integrity]\nmode = \"require\"\n[checks.clean_git]\n"));
    assert!(!requires("[checks.build]\ncommand = [\"true\"]\n"));
    assert!(!requires("[checks.tests]\ncommand = [\"true\"]\nmode = \"count\"\n"));
    let criterion = "[[criteria]]\nid = \"a\"\ntext = \"b\"\n";
    assert!(!requires(criterion));
    assert!(requires(&format!("{criterion}verify = [\"true\"]\n")));
}

#[test]
fn the_most_indicators_are_those_of_patterns_checks_and_the_signal() {
    let weights = "[[patterns.custom]]\nid = \"a\"\nliteral = \"b\"\nweight = 5\n\
                   [[patterns.custom]]\nid = \"c\"\nliteral = \"d\"\n";
    let text = format!("[patterns]\npacks = []\n{weights}{CHECKS}");
    assert_eq!(policy(&text).most_indicators(), 5 + 1 + 3 + 1);
    let set = policy(&format!("exit_gate.indicator_threshold = 2\n{text}"));
    assert_eq!(set.most_indicators(), 5 + 1 + 3);
}

#[test]
fn a_policy_of_an_older_gate_has_the_digest_that_it_had() {
    let now = policy(CHECKS);
    let written = serde_json::to_value(&now).unwrap();
    for key in ["unverified", "integrity", "machine_jobs", "copies_max_bytes"] {
        assert_eq!(written.get(key), None, "{key}");
    }
    for pointer in [
        "/signal/exit_protocol",
        "/signal/language",
        "/checks/tests/control",
        "/checks/tests/sealed",
        "/checks/tests/reveal",
        "/checks/tests/memory_bytes",
        "/checks/tests/priority",
    ] {
        assert_eq!(written.pointer(pointer), None, "{pointer}");
    }
    let mut old = written;
    // Settings that are gone are passed over.
    old["checks"]["tests"]["fail_to_pass"] = true.into();
    old["checks"]["tests"]["runs"] = 3.into();
    old["checks"]["tests"]["deciding"] = "warm".into();
    old["integrity"] = serde_json::json!({ "protect": [], "budget": 0, "allow": [] });
    let hook = old.get_mut("hook").and_then(Value::as_object_mut).unwrap();
    for key in ["signal", "budget_ms", "subagents"] {
        assert!(hook.remove(key).is_some(), "{key}");
    }
    let read: Policy = serde_json::from_value(old).unwrap();
    assert_eq!((read.digest(), &read.hook), (now.digest(), &now.hook));
    let crowded = Policy { machine_jobs: 7, copies_max_bytes: 7, ..now.clone() };
    assert_eq!(crowded.digest(), now.digest());
    let mut strict = now.clone();
    strict.exit_gate.unverified = Unverified::Continue;
    assert_ne!(strict.digest(), now.digest());
}

/// Settings with a value for each key that a record has.
const WHOLE: &str = r#"
[exit_gate]
indicator_threshold = 3
consecutive = 2
unverified = "continue"
[signal]
token = "required"
custom = [{ regex = "over and out", value = "blocked" }]
[patterns]
packs = []
custom = [{ id = "all-green", literal = "all green", weight = 2, unless = ["negation"] }]
[language]
custom = [{ id = "none-pl", enabled = false }]
[checks]
jobs = 4
[checks.tests]
command = ["cargo", "test"]
cwd = "core"
env = ["CI"]
timeout = "90s"
memory = "4GB"
priority = "normal"
needs = ["lint"]
hermetic = true
control = false
sealed = "../sealed"
reveal = "names"
report = "junit"
retry = 2
when = ["run"]
paths = ["src/**"]
[checks.lint]
[checks.acceptance_criteria]
files = ["plan.md"]
done_marks = ["v"]
[checks.clean_git]
ignore = ["*.log"]
[[criteria]]
id = "a"
text = "b"
verify = ["true"]
[[criteria]]
id = "c"
text = "d"
[breaker]
cooldown = "2h"
[budget]
tokens = 5
cost_usd = 2.5
wall = "8h"
[hook]
judge = "always"
max_blocks = 3
budget = "20s"
on_red = "advise"
[tree]
ignore = ["a"]
branches = ["b"]
[guarded]
".github/**" = "block"
[[integrity.allow]]
path = "tests/**"
reason = "moved"
[project]
id = "acme/shop"
"#;

/// Ledgers name policies by their digests: a new key that changes one needs a form in records that
/// leaves its default out.
#[test]
fn the_digests_of_recorded_policies_stay() {
    for (settings, digest) in [
        ("", "7561b769da4af900234e846f413bc7aeac5b12daa14c444e9cdc81041199b0a1"),
        (CHECKS, "29a237f1fea7a3d2649ac1d9f3bcfa7c85af9d52c11caf2922924bf9c8364f18"),
        (WHOLE, "1f3e0a2f5f7bca5847ca74bb7aceae21affe6ce81cb237fa9c0e7ef84272fdf6"),
    ] {
        let policy = policy(settings);
        assert_eq!(policy.digest(), format!("blake3:{digest}"), "{}", policy.canonical());
        let read: Policy = serde_json::from_str(&policy.canonical()).unwrap();
        assert_eq!(read.digest(), policy.digest());
    }
}

#[test]
fn each_trip_that_rests_on_changes_of_the_tree_has_it_watched() {
    let set = |change: fn(&mut BreakerPolicy)| {
        let mut breaker = policy("").breaker;
        (breaker.no_progress, breaker.permission_denied, breaker.output_decline) = (0, 0, 0);
        change(&mut breaker);
        breaker.watches_tree()
    };
    assert!(!set(|breaker| (breaker.no_exit, breaker.same_error) = (3, 3)));
    assert!(set(|breaker| breaker.no_progress = 1));
    assert!(set(|breaker| breaker.permission_denied = 1));
    assert!(set(|breaker| breaker.output_decline = 1));
}

#[test]
fn a_record_keeps_each_setting_that_is_not_the_default() {
    let bare = policy(&format!("[patterns]\npacks = []\n{CHECKS}"));
    let default = Policy { machine_jobs: 0, copies_max_bytes: 0, ..bare };
    let change = |change: &dyn Fn(&mut Policy)| {
        let mut changed = default.clone();
        change(&mut changed);
        let written = serde_json::to_value(&changed).unwrap();
        let read: Policy = serde_json::from_value(written).unwrap();
        assert_eq!(read, changed);
        assert_ne!((&changed, changed.digest()), (&default, default.digest()));
    };
    let check = |set: fn(&mut CheckPolicy)| {
        change(&|policy| set(policy.checks.get_mut("tests").unwrap()));
    };
    check(|check| check.control = false);
    check(|check| check.reveal = Reveal::Names);
    check(|check| check.priority = Priority::Normal);
    change(&|policy| policy.exit_gate.unverified = Unverified::Continue);
    change(&|policy| policy.integrity.protect = vec!["a".to_owned()]);
    change(&|policy| policy.signal.exit_protocol = true);
    change(&|policy| {
        let off = LanguageChange { id: "none-pl".to_owned(), rule: None };
        policy.signal.language = Language::from(vec![off]);
    });
}

#[test]
fn a_report_format_is_called_as_in_settings_and_records() {
    use ReportFormat as Format;
    for format in [
        Format::Libtest,
        Format::Nextest,
        Format::Pytest,
        Format::Jest,
        Format::Vitest,
        Format::Mocha,
        Format::Node,
        Format::Go,
        Format::Junit,
        Format::Tap,
    ] {
        assert_eq!(serde_json::to_value(format).unwrap(), format.name());
        assert_eq!(format.to_string(), format.name());
    }
}
