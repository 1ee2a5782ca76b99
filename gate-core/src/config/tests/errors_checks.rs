//! Keys of checks, allowances and agents that make no sense where they stand.

use super::{error, project};

/// The error of a text, as one line without the file's name.
#[track_caller]
fn check(text: &str, expected: &str) {
    assert_eq!(error(text).to_string(), format!("gate.toml:{expected}"), "{text}");
}

#[test]
fn the_environment_of_a_check_holds_names_and_no_values() {
    check(
        "[checks.tests]\ncommand = [\"x\"]\nenv = [\"HOME\", \"CI=1\"]\n",
        "3:16: `checks.tests.env[1]`: holds names only, no values, \
         the value is taken from gate's own environment",
    );
    check("[checks.tests]\nenv = [\"\"]\n", "2:8: `checks.tests.env[0]`: is empty");
}

#[test]
fn lists_of_a_check_have_no_blank_entries() {
    for (key, list) in [
        ("needs", "[\"lint\", \" \"]"),
        ("paths", "[\"src/**\", \"\"]"),
        ("env", "[\"HOME\", \"\\t\"]"),
    ] {
        let expected = format!("`checks.tests.{key}[1]`: is empty");
        let text = format!("[checks.tests]\ncommand = [\"x\"]\n{key} = {list}\n");
        assert!(error(&text).to_string().ends_with(&expected), "{}", error(&text));
    }
    check("[checks.tests]\ncwd = \" \"\n", "2:7: `checks.tests.cwd`: is empty");
}

#[test]
fn sizes_and_priorities_are_named() {
    let expected = "expected a size such as \"500MB\", \"4GB\" or \"20GiB\"";
    for (value, found) in [("\"4 gb\"", "string \"4 gb\""), ("4", "integer `4`")] {
        check(
            &format!("[checks.tests]\nmemory = {value}\n"),
            &format!("2:10: `checks.tests.memory`: {expected}, found {found}"),
        );
        check(
            &format!("[checks]\ncopies_max = {value}\n"),
            &format!("2:14: `checks.copies_max`: {expected}, found {found}"),
        );
    }
    check(
        "[checks.tests]\nmemory = 0\n",
        "2:10: `checks.tests.memory`: a check needs memory above 0, leave `memory` out for no limit",
    );
    let wrong = error("[checks.tests]\npriority = \"high\"\n").to_string();
    assert!(wrong.contains("`checks.tests.priority`") && wrong.contains("normal"), "{wrong}");
    assert!(project("[checks]\ncopies_max = 0\n").is_ok());
}

#[test]
fn built_in_checks_have_keys_of_their_own() {
    check(
        "[checks.clean_git]\ncommand = [\"git\", \"status\"]\n",
        "2:11: `checks.clean_git.command`: the check `clean_git` runs no command, \
         a check of another name does",
    );
    check(
        "[checks.handoff]\noptional = [\"Later\"]\n",
        "2:12: `checks.handoff.optional`: only the check `acceptance_criteria` has `optional`",
    );
    check(
        "[checks.acceptance_criteria]\nfiles = [\"\"]\n",
        "2:10: `checks.acceptance_criteria.files[0]`: is empty",
    );
    for text in [
        "[checks.handoff]\nfiles = [\"handoff.md\"]\n",
        "[checks.acceptance_criteria]\nfiles = [\"plan.md\"]\noptional = [\"Later\"]\n",
        "[checks.clean_git]\nignore = [\"*.log\"]\n",
    ] {
        assert!(project(text).is_ok(), "{text}");
    }
}

#[test]
fn ranges_end_where_they_say() {
    for text in [
        "[checks.tests]\nretry = 10\n",
        "[breaker]\noutput_decline = 100\n",
        "[budget]\ncost_usd = 1e9\n",
        "[budget]\ncost_usd = 0\n",
        "[[patterns.custom]]\nid = \"a\"\nregex = \"b\"\nweight = 1000\n",
    ] {
        assert!(project(text).is_ok(), "{text}");
    }
    check(
        "[budget]\ncost_usd = 1000000001\n",
        "2:12: `budget.cost_usd`: a cost in dollars is 0 or more, at most 1e9",
    );
    check(
        "[[patterns.custom]]\nid = \"a\"\nregex = \"b\"\nweight = 1001\n",
        "4:10: `patterns.custom[0].weight`: a weight is a whole number from 1 to 1000, \
         leave the pattern out if it shall count nothing",
    );
}

#[test]
fn an_allowance_does_not_name_nothing() {
    let allow = |more: &str| format!("[[integrity.allow]]\n{more}");
    for (key, column) in [("path", 8), ("test", 8), ("rule", 8)] {
        check(
            &allow(&format!("{key} = \" \"\nreason = \"x\"\n")),
            &format!("2:{column}: `integrity.allow[0].{key}`: is empty"),
        );
    }
    check(
        &allow("rule = \"skip-python\"\nreason = \"\"\n"),
        "3:10: `integrity.allow[0].reason`: is empty",
    );
}

#[test]
fn arguments_of_agents_and_checks_of_ci_are_no_blanks() {
    check(
        "[run.agents.codex]\nargs = [\"--full-auto\", \"\"]\n",
        "2:24: `run.agents.codex.args[1]`: is empty",
    );
    check("[work]\nci = [\" \"]\n", "2:7: `work.ci[0]`: is empty");
}

#[test]
fn a_task_type_is_checked_in_each_of_its_tables() {
    let task = |more: &str| format!("[task_types.docs]\n{more}");
    check(
        &task("breaker.output_decline = 101\n"),
        "2:26: `task_types.docs.breaker.output_decline`: a share in percent is at most 100",
    );
    check(
        &task("budget.cost_usd = -1\n"),
        "2:19: `task_types.docs.budget.cost_usd`: a cost in dollars is 0 or more, at most 1e9",
    );
    check(
        &task("checks.tests.retry = 11\n"),
        "2:22: `task_types.docs.checks.tests.retry`: at most 10 retries",
    );
    check(
        &task("patterns.packs = [\"seed\", \"seed\"]\n"),
        "2:27: `task_types.docs.patterns.packs[1]`: duplicate pack `seed`",
    );
}
