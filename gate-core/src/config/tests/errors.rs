//! What is wrong with one source of settings on its own.

use super::error;
use crate::config::{Layer, Origin, Problem, RawConfig, environment};

/// The error of a text, as one line without the file's name.
fn check(text: &str, expected: &str) {
    assert_eq!(error(text).to_string(), format!("gate.toml:{expected}"), "{text}");
}

#[test]
fn syntax() {
    check("[exit_gate\n", "1:11: unclosed table, expected `]`");
    check("a = 1\na = 2\n", "2:1: duplicate key");
}

#[test]
fn unknown_keys_have_the_nearest_known_one() {
    check(
        "[exit_gate]\nindicator_treshold = 2\n",
        "2:1: unknown key `indicator_treshold` in `exit_gate`, did you mean `indicator_threshold`?",
    );
    check("[exit_gat]\n", "1:2: unknown key `exit_gat`, did you mean `exit_gate`?");
    check(
        "[checks.tests]\ncommand = [\"x\"]\n\n  timeut = \"5m\"\n",
        "4:3: unknown key `timeut` in `checks.tests`, did you mean `timeout`?",
    );
    check(
        "[task_types.research]\nexit_gate.indicator-threshold = 1\n",
        "2:11: unknown key `indicator-threshold` in `task_types.research.exit_gate`, \
         did you mean `indicator_threshold`?",
    );
    check(
        "[[patterns.custom]]\nid = \"a\"\n[[patterns.custom]]\nregx = \"b\"\n",
        "4:1: unknown key `regx` in `patterns.custom[1]`, did you mean `regex`?",
    );
    check(
        "\"\\u001b[2J\" = 1\n[breaker]\n\"a b\" = 1\n",
        "1:1: unknown key `\\u{1b}[2J`, known are `locked`, `exit_gate`, `signal`, `patterns`, `language`, \
         `checks`, `criteria`, `breaker`, `budget`, `hook`, `run`, `notify`, `work`, `tree`, `guarded`, `integrity`, `project`, `task_types`",
    );
    check("[tree]\nzzz = 1\n", "2:1: unknown key `zzz` in `tree`, known are `ignore`, `branches`");
}

#[test]
fn keys_in_the_wrong_table_are_sent_home() {
    check(
        "indicator_threshold = 2\n",
        "1:1: unknown key `indicator_threshold`, it belongs in [exit_gate]",
    );
    check(
        "[exit_gate]\npacks = []\n",
        "2:1: unknown key `packs` in `exit_gate`, it belongs in [patterns]",
    );
}

#[test]
fn a_dot_in_quotes_parts_no_key() {
    let error = Layer::parse(Origin::Project("gate.toml".into()), "\"promise.phrases\" = []\n");
    assert!(!error.unwrap_err().to_string().contains("it belongs in"));
}

#[test]
fn wrong_types_say_what_was_expected() {
    check(
        "[exit_gate]\nindicator_threshold = \"two\"\n",
        "2:23: `exit_gate.indicator_threshold`: expected a whole number from 0 to 4294967295, \
         found string \"two\"",
    );
    check(
        "[exit_gate]\nenabled = 1\n",
        "2:11: `exit_gate.enabled`: expected true or false, found integer `1`",
    );
    check("exit_gate = 1\n", "1:13: `exit_gate`: expected a table, found integer `1`");
    check(
        "[checks.tests]\ncommand = \"cargo test\"\n",
        "2:11: `checks.tests.command`: expected an array, found string \"cargo test\", \
         an array stands in brackets: [\"one\", \"two\"]",
    );
    check(
        "[checks]\ntimeout = \"10m\"\n",
        "2:11: `checks.timeout`: expected a table, found string \"10m\"",
    );
    check(
        "[checks.jobs]\n",
        "1:1: `checks.jobs`: expected a whole number from 1 to 4294967295, found a table",
    );
    check(
        "[budget]\ncost_usd = \"5 USD\"\n",
        "2:12: `budget.cost_usd`: expected a number, found string \"5 USD\"",
    );
    check(
        "[checks.tests]\ncommand = [\"cargo\", 1]\n",
        "2:21: `checks.tests.command[1]`: expected a string, found integer `1`",
    );
}

#[test]
fn numbers_out_of_range() {
    check(
        "[exit_gate]\nindicator_threshold = -1\n",
        "2:23: `exit_gate.indicator_threshold`: expected a whole number from 0 to 4294967295, \
         found integer `-1`",
    );
    check(
        "[exit_gate]\nconsecutive = 0\n",
        "2:15: `exit_gate.consecutive`: expected a whole number from 1 to 4294967295, \
         found integer `0`",
    );
    check(
        "[breaker]\noutput_decline = 101\n",
        "2:18: `breaker.output_decline`: a share in percent is at most 100",
    );
    for cost in ["-0.5", "nan", "inf"] {
        check(
            &format!("[budget]\ncost_usd = {cost}\n"),
            "2:12: `budget.cost_usd`: a cost in dollars is 0 or more, at most 1e9",
        );
    }
    check("[checks.a]\nretry = 11\n", "2:9: `checks.a.retry`: at most 10 retries");
}

#[test]
fn lengths_of_time() {
    let expected = r#"expected a length of time such as "30s", "10m" or "1h30m""#;
    check(
        "[breaker]\ncooldown = \"30 min\"\n",
        &format!("2:12: `breaker.cooldown`: {expected}, found string \"30 min\""),
    );
    check(
        "[breaker]\ncooldown = 30\n",
        &format!("2:12: `breaker.cooldown`: {expected}, found integer `30`"),
    );
    check("[checks.a]\ntimeout = 0\n", "2:11: `checks.a.timeout`: a check needs a timeout above 0");
}

#[test]
fn unknown_values_have_the_nearest_known_one() {
    check(
        "[checks.tests]\nmode = \"requird\"\n",
        "2:8: `checks.tests.mode`: unknown value `requird`, did you mean `require`?",
    );
    check(
        "[[patterns.custom]]\nid = \"a\"\nregex = \"b\"\nunless = [\"negatoin\"]\n",
        "4:11: `patterns.custom[0].unless[0]`: unknown value `negatoin`, did you mean `negation`?",
    );
    check(
        "[patterns]\npacks = [\"seed\", \"completoin\"]\n",
        "2:18: `patterns.packs[1]`: unknown pack `completoin`, did you mean `completion`?",
    );
    check(
        "[signal]\naccept = [\"exit-status\"]\n",
        "2:11: `signal.accept[0]`: unknown value `exit-status`, did you mean `exit_status`?",
    );
    check(
        "[hook]\njudge = \"sometimes\"\n",
        "2:9: `hook.judge`: unknown value `sometimes`, known are `auto`, `always`, `never`",
    );
}

#[test]
fn columns_count_characters_and_parts_are_kept() {
    let text = "[project]\nid = \"größe\"  # ä\n[exit_gate]\r\n\"enabled\" = \"ü\"\r\n";
    let error = error(text);
    assert_eq!((error.line(), error.column()), (Some(4), Some(13)));
    assert_eq!(error.key(), Some("exit_gate.enabled"));
    assert_eq!(error.code(), "config-wrong-type");
    assert_eq!(error.origin(), "gate.toml");
    assert_eq!(error.hint(), None);
    let excerpt = error.excerpt().unwrap();
    assert_eq!(&excerpt.text[excerpt.span.clone()], "\"ü\"");
    assert!(matches!(error.problem(), Problem::WrongType { .. }));
}

#[test]
fn bad_variables_are_named() {
    let check = |name: &str, value: &str| {
        let error = environment([(name.to_owned(), value.to_owned())].into_iter()).unwrap_err();
        let expected = format!(
            "{name}: `exit_gate.indicator_threshold`: expected a whole number from 0 to \
             4294967295, found {value:?}, unset {name} or correct it"
        );
        assert_eq!(error.to_string(), expected);
        assert_eq!((error.line(), error.excerpt()), (None, None));
    };
    check("GATE_EXIT_THRESHOLD", "two");
    check("GATE_EXIT_THRESHOLD", "-1");
    check("CUB_EXIT_THRESHOLD", "1.5");
    check("CUB_EXIT_THRESHOLD", " 1");
}

#[test]
fn a_number_that_toml_cannot_hold_is_no_panic() {
    let budget = crate::config::RawBudget { tokens: Some(u64::MAX), ..Default::default() };
    let raw = RawConfig { budget: Some(budget), ..RawConfig::default() };
    let layer = Layer::new(Origin::Flag("--tokens".to_owned()), raw).unwrap();
    let error = crate::config::resolve(&[layer], None).unwrap_err();
    assert!(error.to_string().starts_with("--tokens: "), "{error}");
}

#[test]
fn settings_of_a_program_are_checked_too() {
    let signal = crate::config::RawSignal { accept: Some(vec![]), ..Default::default() };
    let raw = RawConfig { signal: Some(signal), ..RawConfig::default() };
    let error = Layer::new(Origin::Flag("--accept".to_owned()), raw).unwrap_err();
    assert!(error.to_string().starts_with("--accept: `signal.accept`: the list is empty"));
}

#[test]
fn an_allowance_says_what_and_why() {
    let rule = "[[integrity.allow]]\n";
    check(
        &format!("{rule}reason = \"x\"\n"),
        "1:1: `integrity.allow[0]`: `path` is missing, say what is allowed: `path`, `test` or `rule`",
    );
    check(
        &format!("{rule}path = \"tests/a.py\"\n"),
        "1:1: `integrity.allow[0]`: `reason` is missing, say why it is allowed; the reason is recorded",
    );
}
