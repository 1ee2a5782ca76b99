//! The words of messages about settings.

use std::path::Path;

use gate_checks::Program;

use super::super::message::{mistake, programs};
use crate::failure::Failure;

fn program(check: &str, argv: &[&str]) -> Program {
    Program {
        check: check.to_owned(),
        argv: argv.iter().map(|word| (*word).to_owned()).collect(),
        shell: false,
        cwd: None,
        found: None,
    }
}

#[test]
fn five_programs_are_named_and_more_are_counted() {
    assert_eq!(programs(&[]), "");
    let five: Vec<_> = ["a", "b", "c", "d", "e"].map(|name| program(name, &["make", name])).into();
    let list = "; it would start a: [\"make\", \"a\"], b: [\"make\", \"b\"], c: [\"make\", \"c\"], \
                 d: [\"make\", \"d\"], e: [\"make\", \"e\"]";
    assert_eq!(programs(&five), list);
    let seven = [five, vec![program("f", &[]), program("g", &[])]].concat();
    assert_eq!(programs(&seven), format!("{list}, 2 more"));
    let dirty = program("a\u{1b}[2Jb", &["sh", "-c", "echo \u{1b}[2J\"x\""]);
    assert_eq!(programs(&[dirty]), r#"; it would start ab: ["sh", "-c", "echo \u{1b}[2J\"x\""]"#);
}

#[test]
fn a_mistake_in_changed_settings_is_reported_in_short() {
    let person_folder = Path::new("/w/a");
    let failure = Failure::usage("config-syntax", format!("expected{}", " x".repeat(200)));
    let message =
        mistake(Path::new("/w/gate.toml"), person_folder, &Failure { line: Some(3), ..failure });
    let beginning =
        "../gate.toml changed since you approved it, and cannot be used (line 3: expected x";
    assert!(message.starts_with(beginning), "{message}");
    let end = "…). If that was you: mend it, then `gate trust`. If not: `git diff ../gate.toml`.";
    assert!(message.ends_with(end) && message.chars().count() < 350, "{message}");
    let short_message =
        mistake(Path::new("/w/a/gate.toml"), person_folder, &Failure::usage("x", "no number"));
    assert!(
        short_message
            .contains("gate.toml changed since you approved it, and cannot be used (no number)")
    );
}
