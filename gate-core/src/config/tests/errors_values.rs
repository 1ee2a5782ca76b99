//! Values of the right type that make no sense.

use super::error;
use crate::config::{Layer, Origin, resolve};

/// The error of a text, as one line without the file's name.
fn check(text: &str, expected: &str) {
    assert_eq!(error(text).to_string(), format!("gate.toml:{expected}"), "{text}");
}

#[test]
fn regexes_that_cannot_be_used_name_the_pattern() {
    let custom = |regex: &str| format!("[[patterns.custom]]\nid = \"done\"\nregex = '{regex}'\n");
    let error = |reason: &str| format!("3:9: `patterns.custom[0].regex`: pattern `done`: {reason}");
    check(&custom("all (done"), &error("unclosed group"));
    check(&custom("done|"), &error("matches the empty text, so it would hit everywhere"));
    check(&custom(r"\b"), &error("matches the empty text, so it would hit everywhere"));
    check(
        &custom(r"(a{999}){999}{999}"),
        &error("too large when compiled, more than 67108864 bytes"),
    );
    check(
        "[[signal.custom]]\nregex = \"*\"\nvalue = \"complete\"\n",
        "2:9: `signal.custom[0].regex`: pattern `signal.custom[0]`: \
         repetition operator missing expression",
    );
    check(
        "[[patterns.custom]]\nid = \"done\"\nliteral = \"\"\n",
        "3:11: `patterns.custom[0].literal`: pattern `done`: \
         matches the empty text, so it would hit everywhere",
    );
}

#[test]
fn patterns_that_are_not_whole() {
    check(
        "[[patterns.custom]]\nid = \"a\"\nregex = \"b\"\nliteral = \"c\"\n",
        "4:11: `patterns.custom[0].literal`: both `regex` and `literal` are given, \
         keep one of them",
    );
    check(
        "[[patterns.custom]]\nid = \"a\"\n",
        "1:1: `patterns.custom[0]`: `regex` is missing, write `regex` or `literal`",
    );
    check(
        "[[patterns.custom]]\nregex = \"b\"\n",
        "1:1: `patterns.custom[0]`: `id` is missing, give the pattern a name, such as \"all-done\"",
    );
    check(
        "[[patterns.custom]]\nid = \"all done\"\nregex = \"b\"\n",
        "2:6: `patterns.custom[0].id`: a pattern id is called by letters, digits, `-` and `_`",
    );
    check(
        "[[patterns.custom]]\nid = \"a\"\nregex = \"b\"\nweight = 0\n",
        "4:10: `patterns.custom[0].weight`: a weight is a whole number from 1 to 1000, \
         leave the pattern out if it shall count nothing",
    );
    check(
        "[[signal.custom]]\nliteral = \"b\"\n",
        "1:1: `signal.custom[0]`: `value` is missing, \
         write \"complete\", \"continue\" or \"blocked\"",
    );
}

#[test]
fn rules_of_language() {
    let rule = |keys: &str| format!("[[language.custom]]\n{keys}\n");
    check(
        &rule("id = \"none-pol\"\nenabled = false"),
        "2:6: `language.custom[0].id`: unknown rule `none-pol`, did you mean `none-pl`?",
    );
    check(
        &rule("kind = \"none\"\nregex = \"b\""),
        "1:1: `language.custom[0]`: `id` is missing, a rule of your own needs a name; \
         a near miss shows the shipped rules' names",
    );
    check(
        &rule("id = \"mine\"\nregex = \"b\""),
        "1:1: `language.custom[0]`: `kind` is missing, \
         say which place asks for it, such as \"none\" or \"condition\"",
    );
    check(
        &rule("id = \"mine\"\nkind = \"none\""),
        "1:1: `language.custom[0]`: `regex` is missing, \
         write `regex`, or `enabled = false` to switch a shipped rule off",
    );
    check(
        &rule("id = \"mine\"\nkind = \"none\"\nregex = \"(\""),
        "4:9: `language.custom[0].regex`: pattern `mine`: unclosed group",
    );
}

#[test]
fn the_same_twice() {
    check(
        "[patterns]\ncustom = [{ id = \"a\", regex = \"b\" }, { id = \"a\", regex = \"c\" }]\n",
        "2:38: `patterns.custom[1]`: duplicate pattern id `a`",
    );
    check(
        "[patterns]\npacks = [\"seed\", \"seed\"]\n",
        "2:18: `patterns.packs[1]`: duplicate pack `seed`",
    );
    check(
        "[signal]\naccept = [\"promise\", \"promise\"]\n",
        "2:22: `signal.accept[1]`: duplicate spelling `promise`",
    );
}

#[test]
fn empty_things() {
    check(
        "[signal]\naccept = []\n",
        "2:10: `signal.accept`: the list is empty, at least one is needed, \
         to do without a signal write `exit_gate.require_explicit_signal = false`",
    );
    check(
        "[signal.promise]\nphrases = []\n",
        "2:11: `signal.promise.phrases`: the list is empty, at least one is needed, \
         to refuse promises leave `promise` out of `accept`",
    );
    check(
        "[signal.promise]\nphrases = [\"DONE\", \"blocked\"]\n",
        "2:20: `signal.promise.phrases[1]`: this phrase always means that the agent cannot go on",
    );
    check(
        "[checks.a]\ncommand = []\n",
        "2:11: `checks.a.command`: the list is empty, at least one is needed",
    );
    check("[checks.a]\ncommand = [\" \"]\n", "2:12: `checks.a.command[0]`: is empty");
    check(
        "[checks.a]\nwhen = []\n",
        "2:8: `checks.a.when`: the list is empty, at least one is needed, \
         to keep it from deciding write `mode = \"warn\"`",
    );
    check("[project]\nid = \"\"\n", "2:6: `project.id`: is empty");
    check("[run]\nfolder = \"\"\n", "2:10: `run.folder`: is empty");
    check("[tree]\nignore = [\"\"]\n", "2:11: `tree.ignore[0]`: is empty");
}

#[test]
fn names_and_keys_of_checks() {
    check(
        "[checks.\"my tests\"]\n",
        "1:1: `checks.\"my tests\"`: a check is called by letters, digits, `-` and `_`",
    );
    check(
        "[task_types.\"a.b\"]\n",
        "1:1: `task_types.\"a.b\"`: a task type is called by letters, digits, `-` and `_`",
    );
    check(
        "[checks.tests]\nfiles = [\"plan.md\"]\n",
        "2:9: `checks.tests.files`: only the check `acceptance_criteria` or `handoff` has `files`",
    );
    check(
        "[checks.tests]\nignore = [\"a\"]\n",
        "2:10: `checks.tests.ignore`: only the check `clean_git` has `ignore`",
    );
}

#[test]
fn task_types_are_checked_as_the_rest_is() {
    check(
        "[task_types.research]\nsignal.accept = []\n",
        "2:17: `task_types.research.signal.accept`: the list is empty, at least one is needed, \
         to do without a signal write `exit_gate.require_explicit_signal = false`",
    );
    check(
        "[task_types.research]\nprogress = \"nothing\"\n",
        "2:12: `task_types.research.progress`: unknown value `nothing`, known are `none`, `tree`",
    );
}

#[test]
fn what_would_hit_white_space_is_no_signal() {
    for (key, value) in [("literal", " \\t"), ("regex", "\\\\s+"), ("regex", ".+")] {
        let error = format!(
            "2:{}: `signal.custom[0].{key}`: pattern `signal.custom[0]`: \
             matches white space alone, so it would hit everywhere",
            key.len() + 4
        );
        check(&format!("[[signal.custom]]\n{key} = \"{value}\"\nvalue = \"complete\"\n"), &error);
    }
    for phrase in ["", "  ", "\\t"] {
        let text = format!("[signal.promise]\nphrases = [\"{phrase}\"]\n");
        check(&text, "2:12: `signal.promise.phrases[0]`: is empty");
    }
}

#[test]
fn settings_that_took_minutes_are_refused_with_the_limit() {
    let list = |count: usize, regex: &str| {
        let one = |n| format!("[[patterns.custom]]\nid = \"p{n}\"\nregex = '{regex}{n}'\n");
        (0..count).map(one).collect::<String>()
    };
    let parse = |text: &str| Layer::parse(Origin::Project("gate.toml".into()), text);
    assert!(parse(&list(2_000, "part is done ")).is_ok());
    let many = parse(&list(20_000, "part is done ")).unwrap_err();
    assert!(many.message().contains("20000 patterns, at most 2000"), "{}", many.message());
    assert_eq!(many.line(), Some(6_001));
    let large = parse(&list(100, r"\w{500}")).unwrap_err();
    assert!(large.message().contains("too large together with those before"), "{large}");
    let long = parse(&"# x\n".repeat(2 << 20)).unwrap_err();
    assert!(long.message().contains("more than 4194304 bytes"), "{long}");
    let name = parse(&format!("{} = 1\n", "x".repeat(1 << 20))).unwrap_err();
    assert!(name.message().len() < 500, "{}", name.message().len());
}

/// Each step of a circle was copied for each step, and each check was a beginning.
#[test]
fn four_thousand_checks_that_need_each_other_hung_the_gate() {
    let one = |n: usize| format!("[checks.c{n}]\nneeds = [\"c{}\"]\n", (n + 1) % 4_000);
    let circle = (0..4_000).map(one).collect::<String>();
    let layer = Layer::parse(Origin::Project("gate.toml".into()), &circle).unwrap();
    let error = resolve(&[layer], None).unwrap_err();
    assert!(error.message().ends_with("… (4000 checks)"), "{}", error.message());
    let chain = circle.replacen("needs = [\"c1\"]", "retry = 1", 1);
    let layer = Layer::parse(Origin::Project("gate.toml".into()), &chain).unwrap();
    let resolved = resolve(&[layer], None).unwrap();
    assert_eq!(resolved.policy.checks.len(), 4_000);
    assert!(
        resolved
            .settings()
            .iter()
            .any(|setting| setting.line == Some(7_999) || setting.line == Some(8_000))
    );
}
