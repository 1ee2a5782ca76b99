//! `gate explain`: every code of a reason, a warning or an error is explained.

use std::collections::BTreeSet;
use std::fs;

use gate_core::decide::reason::{ReasonCode, WarningCode};

use crate::here::files;
use crate::needs::root;
use crate::support::{DONE, UNDONE, each, gate, judge};
use crate::tidy::CRATES;

/// The pages of `gate explain` about the codes of errors.
pub(crate) const ERROR_PAGES: &str = "gate-cli/src/failure/codes.toml";

fn codes() -> Vec<String> {
    let reasons = ReasonCode::ALL.iter().map(|code| code.code());
    let decision_codes = reasons.chain(WarningCode::ALL.iter().map(|code| code.code()));
    decision_codes.map(str::to_owned).chain(explained_errors()).collect()
}

fn explained_errors() -> BTreeSet<String> {
    let text = fs::read_to_string(root().join(ERROR_PAGES)).unwrap();
    toml::from_str::<toml::Table>(&text).unwrap().into_iter().map(|(code, _)| code).collect()
}

/// The codes of errors in the program's sources. The error is made where the code stands, or
/// another error gets a code there.
fn errors_in_sources() -> BTreeSet<String> {
    let constructors = [
        "Failure::usage(",
        "Failure::internal(",
        "Failure::file(",
        "Self::usage(",
        "Self::internal(",
        "refused(act,",
        " code: ",
    ];
    let mut codes = BTreeSet::new();
    for file in CRATES.iter().flat_map(|krate| files(&root().join(krate).join("src"))) {
        let is_source = file.extension().is_some_and(|extension| extension == "rs");
        if is_source && !file.components().any(|part| part.as_os_str() == "tests") {
            let text = fs::read_to_string(&file).unwrap();
            let code = text.split("#[cfg(test)]\nmod tests {").next().unwrap();
            codes.extend(constructors.iter().flat_map(|start| quoted_after(code, start)));
        }
    }
    // There a match gives each error its code.
    let tables = [
        "crates/gate-fleet/src/work/error.rs",
        "crates/gate-store/src/error.rs",
        "gate-core/src/config/error.rs",
    ];
    for file in tables {
        let text = fs::read_to_string(root().join(file)).unwrap();
        codes.extend(quoted_after(&text, " => "));
    }
    codes
}

/// The words in lower case that stand in quotes behind `start`.
fn quoted_after(text: &str, start: &str) -> Vec<String> {
    let words = text.split(start).skip(1).filter_map(|tail| {
        let argument = tail.trim_start().trim_start_matches('{').trim_start();
        let word = argument.strip_prefix('"')?.split('"').next()?;
        word.chars().all(|c| c.is_ascii_lowercase() || c == '-').then(|| word.to_owned())
    });
    words.collect()
}

#[test]
fn no_error_has_a_code_that_explain_does_not_know() {
    let (explained, used) = (explained_errors(), errors_in_sources());
    assert!(used.len() > 90, "too few codes are found in the sources: {used:?}");
    let missing: Vec<_> = used.difference(&explained).collect();
    assert!(missing.is_empty(), "add a page to {ERROR_PAGES}: {missing:?}");
}

#[test]
fn no_page_of_an_error_is_left_behind_when_its_code_goes() {
    let sources = CRATES.iter().flat_map(|krate| files(&root().join(krate).join("src")));
    let texts: Vec<_> = sources.filter_map(|file| fs::read_to_string(&file).ok()).collect();
    let is_used = |code: &str| texts.iter().any(|text| text.contains(&format!("\"{code}\"")));
    let made = errors_in_sources();
    let unused: Vec<_> = explained_errors()
        .into_iter()
        .filter(|code| !made.contains(code) && !is_used(code))
        .collect();
    assert!(unused.is_empty(), "remove the page from {ERROR_PAGES}: {unused:?}");
}

#[test]
fn every_code_is_explained() {
    for code in codes() {
        let text = gate(&format!("explain {code}")).code(0).stderr("").stdout;
        let explanation = text.strip_prefix(&format!("{code}\n\n")).expect(&text);
        assert!(explanation.trim_end().ends_with('.'), "{explanation}");
        let labels: Vec<_> =
            explanation.lines().skip(2).filter_map(|line| line.split_whitespace().next()).collect();
        assert_eq!(labels, ["why", "example", "next"], "{explanation}");
    }
}

#[test]
fn codes_are_kebab_case_and_different() {
    let mut codes = codes();
    for code in &codes {
        let kebab = |c: char| c.is_ascii_lowercase() || c == '-';
        assert!(code.chars().all(kebab) && !code.starts_with('-'), "{code}");
    }
    let count = codes.len();
    codes.sort_unstable();
    codes.dedup();
    assert_eq!(codes.len(), count);
}

#[test]
fn all_codes_are_listed_once() {
    let text = gate("explain --codes").code(0).stderr("").stdout;
    gate("explain").code(5).stdout("").tells("gate has decided nothing here yet").tells("--codes");
    for code in codes() {
        let rows =
            text.lines().filter(|line| line.split_whitespace().next() == Some(code.as_str()));
        assert_eq!(rows.count(), 1, "{code}\n{text}");
    }
}

#[test]
fn the_rules_of_integrity_are_explained_with_what_allows_them() {
    let codes = codes();
    for rule in gate_core::integrity::rules() {
        assert!(!codes.iter().any(|code| code == rule.id), "{} is a code too", rule.id);
    }
    let ran = gate("explain exec-python").code(0).stderr("");
    let ran =
        ran.says("exec-python\n\nCode in a file that is no source").says("`integrity` fails\n");
    ran.says("next        put the code").says("`rule = \"exec-python\"` and a `reason`");
    gate("explain ci-settings").code(0).says("effect      none: it is only shown\n");
    gate("explain exec-pythn").code(2).tells("did you mean `exec-python`?");
}

#[test]
fn an_unknown_code_is_a_usage_error_with_advice() {
    let misspelled = [
        ("signal-absnt", "signal-absent"),
        ("SIGNAL-ABSENT", "signal-absent"),
        ("file-exist", "file-exists"),
    ];
    for (code, meant) in misspelled {
        let ran = gate(&format!("explain {code}")).code(2).stdout("");
        ran.tells(&format!("did you mean `{meant}`?"));
    }
    for code in ["''", "-"] {
        gate(&format!("explain {code}")).code(2).stdout("").tells("hint: ");
    }
}

#[test]
fn the_page_of_a_code_is_no_json() {
    let ran = gate("explain --json signal-absent").code(2);
    assert_eq!(ran.json()["code"], "usage");
    ran.tells("--json prints a decision; the page of a code is text");
}

#[test]
fn what_a_decision_says_can_be_looked_up() {
    for output in [DONE, UNDONE, ""] {
        let words = "check --json --exit-threshold 900 --agent-exit-code 3 out.log";
        let decision = judge(words, output).code(1).json();
        for list in ["reasons", "warnings"] {
            for code in each(&decision, list, "code") {
                gate(&format!("explain {code}")).code(0);
            }
        }
    }
}

#[test]
fn a_decision_is_explained_with_its_inputs_and_decided_again() {
    let ran = judge("check --task 7 --json out.log", UNDONE).code(1);
    let decision = ran.json();
    let id = decision["decision_id"].as_str().unwrap().to_owned();
    let row = "replay      same decision";
    let ran = ran.again("explain").code(0).says(&id).says("7-").says("blake3:").says(row);
    let ran = ran.again("explain #1").code(0).says(&id);
    let ran = ran.again(&format!("explain {}", &id[..30])).code(0).says(&id);
    let ran = ran.again("explain --json 1").code(0);
    let explained = ran.json();
    assert_eq!(explained["same"], true);
    assert_eq!(explained["decision"]["memory"]["run"]["iteration"], 0);
    assert_eq!(explained["again"]["verdict"], "continue");
    assert_eq!(explained["policy"]["breaker"]["refused"], 5);
    ran.again("explain #2").code(2).tells("no decision, record or code");
}

#[test]
fn a_decision_is_replayed_under_the_settings_that_it_was_made_under() {
    let settings = "[[patterns.custom]]\nid = \"mine\"\nliteral = \"both layouts\"\n";
    let ran = judge("check out.log", DONE).settings(settings).code(0);
    let run = ran.again("explain --json").settings("[exit_gate]\nindicator_threshold = 9\n");
    let explained = run.code(0).json();
    assert_eq!(
        (&explained["same"], &explained["again"]["verdict"]),
        (&true.into(), &"exit".into())
    );
}

#[test]
fn a_decision_as_markdown_says_what_was_claimed_and_what_ran_on_which_tree() {
    let settings = "[checks.tests]\ncommand = [\"sh\", \"-c\", \"test -e fixed || { echo 'a < b & c'; exit 1; }\"]\n\
                    [checks.lint]\ncommand = [\"true\"]\nmode = \"count\"\n";
    let ran = judge("check out.log", DONE).settings(settings).committed().code(1);
    let ran = ran.again("check out.log").file("fixed", "").committed().code(0);
    let ran = ran.again("explain --md").code(0);
    for part in [
        "### gate: done",
        "| `tests` | passed",
        "| `lint` | passed",
        "`sh -c \"test -e fixed \\|\\| { echo 'a < b & c'; exit 1; }\"`",
        "- **Claimed**: complete",
        "- **Tree**: commit `",
        "- **Trust**: T",
        "- **Recorded**: record ",
        "- **Decision**: `",
    ] {
        assert!(ran.stdout.contains(part), "{part}\n{}", ran.stdout);
    }
    ran.again("explain 1 --md").code(0).says("### gate: not done").says("**failed**");
    gate("explain --md").settings("").code(5).tells("gate has decided nothing here yet");
    gate("explain --md signal-absent").code(2).tells("leave `--md` out");
}
