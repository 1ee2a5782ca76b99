//! What is wrong with settings only once they are laid over each other.

use super::{error, project};
use crate::config::{Layer, Origin, resolve};

fn check(text: &str, expected: &str) {
    assert_eq!(error(text).to_string(), format!("gate.toml:{expected}"), "{text}");
}

#[test]
fn something_must_be_left_to_decide() {
    check(
        "[exit_gate]\nenabled = false\nrequire_explicit_signal = false\n",
        "3:27: `exit_gate.require_explicit_signal`: contradicts `exit_gate.enabled = false`: \
         nothing would be left to decide, keep at most one of the two",
    );
    check(
        "[signal]\naccept = [\"custom\"]\n",
        "2:10: `signal.accept`: accepts only custom signals, and there is none, \
         write a [[signal.custom]]",
    );
}

#[test]
fn needs_name_checks() {
    check(
        "[checks.build]\n[checks.tests]\nneeds = [\"biuld\"]\n",
        "3:10: `checks.tests.needs[0]`: unknown check `biuld`, did you mean `build`?",
    );
    check(
        "[work]\nci = [\"tests\"]\n[checks.build]\n",
        "2:7: `work.ci[0]`: unknown check `tests`, known are `build`",
    );
    check("[work]\nci = [\"tests\"]\n", "2:7: `work.ci[0]`: unknown check `tests`");
}

#[test]
fn needs_form_no_cycle() {
    check(
        "[checks.a]\nneeds = [\"b\"]\n[checks.b]\nneeds = [\"c\"]\n[checks.c]\nneeds = [\"a\"]\n",
        "2:9: `checks.a.needs`: checks need each other: a → b → c → a",
    );
    check("[checks.a]\nneeds = [\"a\"]\n", "2:9: `checks.a.needs`: checks need each other: a → a");
    check(
        "[checks.a]\nneeds = [\"b\"]\n[checks.b]\nneeds = [\"c\"]\n[checks.c]\nneeds = [\"b\"]\n",
        "4:9: `checks.b.needs`: checks need each other: b → c → b",
    );
    let diamond =
        "[checks]\na.needs = [\"b\", \"c\"]\nb.needs = [\"d\"]\nc.needs = [\"d\"]\n[checks.d]\n";
    assert!(resolve(&[project(diamond).unwrap()], None).is_ok());
}

#[test]
fn a_script_is_one_string() {
    check(
        "[checks.a]\nshell = true\ncommand = [\"cargo\", \"test\"]\n",
        "3:11: `checks.a.command`: with `shell = true` a command is one script, not 2 words, \
         write [\"one script\"], or leave `shell` out",
    );
}

#[test]
fn a_fault_stands_where_the_last_word_was_said() {
    let user = Layer::parse(Origin::User("config.toml".into()), "[exit_gate]\nenabled = false\n");
    let project = project("\n[exit_gate]\nrequire_explicit_signal = false\n");
    let error = resolve(&[user.unwrap(), project.unwrap()], None).unwrap_err();
    assert_eq!((error.origin(), error.line()), ("gate.toml", Some(3)));
}

#[test]
fn a_fault_of_a_task_type_stands_there() {
    let text = "[checks.tests]\n[task_types.docs]\nchecks.tests.needs = [\"prose\"]\n";
    let error = resolve(&[project(text).unwrap()], Some("docs")).unwrap_err();
    assert_eq!(
        error.to_string(),
        "gate.toml:3:23: `task_types.docs.checks.tests.needs[0]`: unknown check `prose`, \
         known are `tests`"
    );
}

#[test]
fn unknown_task_types_name_the_known_ones() {
    let check = |text: &str, expected: &str| {
        let error = resolve(&[project(text).unwrap()], Some("reserch")).unwrap_err();
        assert_eq!(
            error.to_string(),
            format!("--task-type: unknown task type `reserch`{expected}")
        );
        assert_eq!(error.code(), "config-unknown-name");
    };
    check("[task_types.research]\n[task_types.docs]\n", ", did you mean `research`?");
    check("[task_types.docs]\n[task_types.fix]\n", ", known are `docs`, `fix`");
    check("", ", no file has [task_types.NAME]");
}
