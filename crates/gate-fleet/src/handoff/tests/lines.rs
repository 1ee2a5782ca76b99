//! Lines that say two things, look like another one, or have more below them than a
//! handoff can hold.

use super::super::*;
use super::{MARKDOWN, read_md, whole};

/// What is told of a handoff with this line as its second verification.
fn told(line: &str) -> (Verification, Vec<String>) {
    let text = MARKDOWN.replace("`npm run lint` -> FAIL", line);
    let read = read_md(&text);
    let told = read.all_problems().iter().map(ToString::to_string).collect();
    (read.handoff.unwrap().verification[1].clone(), told)
}

#[test]
fn the_first_result_counts_and_another_one_is_a_problem() {
    for (line, command, result) in [
        ("cargo test -> FAIL (was -> PASS before)", "cargo test", "FAIL"),
        ("cargo test -> **FAIL**, was -> PASS", "cargo test", "FAIL"),
        ("cargo test -> failed (was → PASS)", "cargo test", "failed"),
        ("cargo test => FAIL. It was -> PASS", "cargo test", "FAIL."),
        ("cargo test -> FAIL->PASS", "cargo test", "FAIL->PASS"),
        ("cargo test -> ❌ FAIL (was -> PASS)", "cargo test", "❌"),
        ("`cargo test` -> FAIL (was -> PASS before)", "cargo test", "FAIL"),
        ("`cargo test` -> PASS -> FAIL", "cargo test", "PASS"),
        ("a -> b -> PASS (was -> FAIL)", "a -> b", "PASS"),
    ] {
        let (one, told) = told(line);
        assert_eq!((one.command.as_str(), one.result.as_str()), (command, result), "{line}");
        let is_told = told.iter().any(|told| told.starts_with("verification[1].result: "));
        assert!(is_told, "{line}: {told:?}");
    }
    for line in [
        "a -> b -> FAIL",
        "make -> errors.txt -> FAIL (c -> d)",
        "`make -> PASS` -> FAIL",
        "`make` -> FAIL (\"was -> PASS\")",
        "\"make -> PASS\" -> FAIL",
    ] {
        assert_eq!(told(line).1, [""; 0], "{line}");
    }
}

#[test]
fn a_line_of_many_arrows_is_read_as_a_short_one_is() {
    for (arrows, result) in [("-> ", "->"), ("→ ✓ => ", "✓")] {
        for count in [2, 100_000] {
            let (one, _) = told(&format!("make {}PASS", arrows.repeat(count)));
            assert_eq!((one.command.as_str(), one.result.as_str()), ("make", result), "{count}");
        }
    }
    for count in [2, 100_000] {
        let (one, _) = told(&format!("make {}-> FAIL", "-> x ".repeat(count)));
        assert_eq!((one.command.len(), one.result), (4 + 5 * count, Outcome::Fail));
    }
}

#[test]
fn many_lines_below_a_key_are_one_value() {
    let (one, _) = told(&format!("command: a\n{}    result: FAIL", "    b\n".repeat(100_000)));
    assert_eq!((one.command.len(), one.result), (1 + 2 * 100_000, Outcome::Fail));
}

#[test]
fn a_command_may_look_like_a_key() {
    for command in ["result: PASS", "command: x", "notes: n", "notes:", "blocker: b"] {
        for line in [format!("`{command}` -> FAIL"), format!("{command:?} -> FAIL (n)")] {
            let (one, told) = told(&line);
            assert_eq!((one.command.as_str(), &one.result), (command, &Outcome::Fail), "{line}");
            assert_eq!(told, [""; 0]);
        }
    }
    for line in ["`command:` make\n    `result:` FAIL", "`command`: `make`\n    `result`: FAIL"] {
        let (one, told) = told(line);
        assert_eq!((one.command.as_str(), &one.result), ("make", &Outcome::Fail), "{line}");
        assert_eq!(told, [""; 0]);
    }
}

#[test]
fn what_stands_below_an_entry_does_not_vanish() {
    for more in [
        "    ```\n    a log\n    ```\n",
        "    > said\n",
        "\n    And a word more.\n",
        "\n    And a word more.\n\n    - notes: x\n",
        "    ***\n",
        "\n    <b>\n",
        "\n    | a |\n    |---|\n",
    ] {
        let rollback = "    - rollback: git revert HEAD\n";
        let risk = "  - Old archives are untested, Some may not load, qa\n";
        let keyed = "  - risk: a\n    - impact: b\n    - owner: qa\n";
        for (field, from, to) in
            [("verification[1]", rollback, rollback), ("open_risks[0]", risk, keyed)]
        {
            let text = MARKDOWN.replace(from, &format!("{to}{more}"));
            let told = read_md(&text).problems;
            let is_told = |it: &Problem| it.field == field && it.message.contains("only a list");
            assert!(told.iter().any(is_told), "{text}: {told:?}");
        }
    }
    // Below a key it belongs to the text.
    let text =
        MARKDOWN.replace("severity: low\n", "severity: low\n\n      ```\n      a log\n      ```\n");
    let read = read_md(&text);
    assert_eq!(read.problems, []);
    let blocker = read.handoff.unwrap().verification[1].blocker.clone().unwrap();
    assert_eq!(blocker.severity, "low\n\n```\na log\n```");
    let text = MARKDOWN.replace(
        "    - severity: low\n    - rollback: git revert HEAD\n",
        "    - blocker:\n      - severity: low\n      - rollback: r\n\n      More.\n",
    );
    assert_eq!(read_md(&text).problems[0].field, "verification[1].blocker");
    assert_eq!(
        read_md(MARKDOWN),
        ParsedHandoff { handoff: Some(whole()), ..ParsedHandoff::default() }
    );
}
