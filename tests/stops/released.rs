//! Stops that are let go without an `exit`, and those that are not: the table of the
//! hooks' rules, by what a person or a script meets.

use super::talk::*;
use super::*;

#[test]
fn a_question_about_the_code_costs_nothing() {
    for talk in [PERSON, SCRIPT] {
        let ran = talk.begins(green(""), "What does calc do?");
        let ran = silent(talk.stops(ran, "It adds two numbers."));
        let ran = talk.prompt(last(ran, "continue", Some("not-run")), "Look into it.");
        let ran = silent(talk.stops(talk.does(ran, "cat calc"), "It has one line."));
        let ran = last(ran, "continue", Some("not-run"));
        let (_, types) = types(ran);
        assert_eq!(types.iter().filter(|kind| *kind == "released").count(), 2, "{types:?}");
    }
}

#[test]
fn what_the_person_changes_between_two_questions_is_not_the_agents() {
    let ran = PERSON.begins(green(""), "What does calc do?");
    let ran = silent(PERSON.stops(ran, "It adds."));
    let ran = ran.again("prompt").setup("echo sub > calc").code(0);
    let ran = silent(PERSON.stops(PERSON.prompt(ran, "And now?"), "It subtracts. All done."));
    last(ran, "continue", Some("not-run"));
}

#[test]
fn honest_green_work_is_let_go_without_a_signal() {
    let ran = PERSON.does(PERSON.begins(green(""), "Multiply."), &format!("{MUL}; {FIX}"));
    let ran = tells(PERSON.stops(ran, "It multiplies now."), "passed: tests");
    let ran = last(ran, "continue", Some("green"));
    ran.again("last").code(1).says("RELEASED").says("green");
    let ran = SCRIPT.does(SCRIPT.begins(green(""), "Multiply."), &format!("{MUL}; {FIX}"));
    let ran = silent(SCRIPT.stops(ran, "It multiplies now."));
    last(ran, "continue", Some("green"));
}

#[test]
fn a_red_test_refuses_with_its_own_words_and_the_mended_one_lets_go() {
    for talk in [PERSON, SCRIPT] {
        let ran = talk.does(talk.begins(green(""), "Multiply."), MUL);
        let ran = refuses(talk.stops(ran, "Done, all tests pass."), "tests/mul.sh");
        let ran = talk.stops(talk.does(ran, FIX), "Mended.");
        assert!(!matches!(answer(&ran), Answer::Refused(_)));
        last(ran, "continue", Some("green"));
    }
}

#[test]
#[ignore = "minutes: many sessions"]
fn the_same_failure_refuses_a_person_at_most_twice_and_a_script_to_the_limit() {
    let patient =
        "[breaker]\nrefused = 0\nno_progress = 0\nsame_error = 0\n[hook]\nmax_blocks = 3\n";
    let mut ran = PERSON.does(PERSON.begins(green(patient), "Multiply."), MUL);
    for _ in 0..2 {
        ran = refuses(PERSON.stops(ran, "Done."), "tests failed");
    }
    ran = tells(PERSON.stops(ran, "Done."), "still red after 2 refusals");
    last(ran, "continue", Some("red"));
    let mut ran = SCRIPT.does(SCRIPT.begins(green(patient), "Multiply."), MUL);
    for _ in 0..3 {
        ran = refuses(SCRIPT.stops(ran, "Done."), "tests failed");
    }
    ran = tells(SCRIPT.stops(ran, "Done."), "refused 3 times");
    last(ran, "tripped", None);
}

#[test]
fn a_claim_is_an_exit_for_a_script_and_a_release_for_a_person() {
    let work = format!("{MUL}; {FIX}");
    let ran = PERSON.does(PERSON.begins(green(""), "Multiply."), &work);
    last(tells(PERSON.stops(ran, CLAIM), "passed: tests"), "continue", Some("green"));
    let ran = SCRIPT.does(SCRIPT.begins(green(""), "Multiply."), &work);
    last(silent(SCRIPT.stops(ran, CLAIM)), "exit", None);
    let ran = PERSON.does(PERSON.begins(green(STRICT), "Multiply."), &work);
    last(silent(PERSON.stops(ran, CLAIM)), "exit", None);
}

#[test]
fn going_on_later_is_a_persons_to_allow_and_keeps_a_script_going() {
    let more = "EXIT_STATUS: CONTINUE\nEXIT_REASON: half is there\nREMAINING_WORK: the other half";
    let ran = PERSON.does(PERSON.begins(green(""), "Multiply."), MUL);
    last(silent(PERSON.stops(ran, more)), "continue", Some("not-run"));
    let ran = SCRIPT.does(SCRIPT.begins(green(""), "Multiply."), MUL);
    last(refuses(SCRIPT.stops(ran, more), "work remains"), "continue", None);
}

#[test]
fn a_person_can_be_asked_and_is_told_of_what_is_red() {
    let ran = PERSON.does(PERSON.begins(green(""), "Multiply."), MUL);
    let ran = refuses(PERSON.stops(ran, "Done."), "tests failed");
    tells(PERSON.stops(ran, "Shall I go on?"), "tests/mul.sh is still red");
    let ran = SCRIPT.does(SCRIPT.begins(green(""), "Multiply."), MUL);
    refuses(SCRIPT.stops(ran, "Shall I go on?"), "tests failed");
}

#[test]
fn an_interrupted_turn_stays_owed_and_is_told_and_not_refused() {
    let ran = PERSON.does(PERSON.begins(green(""), "Multiply."), MUL);
    // The person breaks it off: no stop is reported.
    let ran = PERSON.prompt(ran, "Stop that. What does it do?");
    let ran = tells(PERSON.stops(ran, "It adds."), "tests/mul.sh is still red from your earlier");
    let ran = PERSON.prompt(ran, "Go on.");
    let ran = tells(PERSON.stops(ran, "Anything else."), "still red");
    let ran = PERSON.does(PERSON.prompt(ran, "Mend it."), FIX);
    let ran = tells(PERSON.stops(ran, "Mended."), "passed: tests");
    silent(PERSON.stops(PERSON.prompt(ran, "Thanks."), "You are welcome."));
}

#[test]
fn a_test_that_was_red_before_is_named_and_stops_nobody_for_long() {
    let ran = PERSON.does(PERSON.begins(red_before(""), "Comment it."), "echo '# c' >> calc");
    let ran = tells(PERSON.stops(ran, "Done."), "tests/old.sh was red before");
    let ran = PERSON.does(PERSON.prompt(ran, "Once more."), "echo '# d' >> calc");
    let ran = tells(PERSON.stops(ran, CLAIM), "tests/old.sh was red before the last prompt");
    let ran = PERSON.does(PERSON.prompt(ran, "Multiply."), MUL);
    // A new red test beside an old one is the session's own.
    refuses(PERSON.stops(ran, "Done."), "tests/mul.sh");
    let ran = SCRIPT.does(SCRIPT.begins(red_before(""), "Comment it."), "echo '# c' >> calc");
    let ran = tells(SCRIPT.stops(ran, "Done."), "tests/old.sh was red before");
    refuses(SCRIPT.stops(ran, CLAIM), "tests/old.sh");
}

#[test]
fn another_sessions_red_test_holds_nobody_else() {
    let (one, two) = (Talk { session: "one", ..PERSON }, Talk { session: "two", ..PERSON });
    let ran = two.begins(one.begins(green(""), "One."), "Two.");
    let ran = one.does(ran, "echo '# one' > one; git add -A; git commit -qm one");
    let ran = two.does(ran, MUL);
    let told = "tests/mul.sh is red by a change that is not this session's";
    let ran = tells(one.stops(ran, "Done."), told);
    let ran = last(ran, "continue", Some("red"));
    let ran = refuses(two.stops(ran, "Done."), "tests/mul.sh");
    let ran = tells(two.stops(two.does(ran, FIX), "Mended."), "passed");
    tells(one.stops(one.does(ran, "echo more >> one"), "Done."), "passed");
}

#[test]
fn prose_that_no_check_names_runs_nothing() {
    let write = "echo more >> README.md";
    for talk in [PERSON, SCRIPT] {
        let ran = talk.does(talk.begins(green(""), "Document it."), write);
        last(silent(talk.stops(ran, "Documented.")), "continue", Some("not-run"));
    }
    let ran = SCRIPT.does(SCRIPT.begins(green(""), "Document it."), write);
    last(silent(SCRIPT.stops(ran, CLAIM)), "exit", None);
}

#[test]
fn checks_slower_than_the_budget_let_go_with_one_message_a_session() {
    let slow = "[hook]\nbudget = \"300ms\"\n[checks.slow]\ncommand = [\"sleep\", \"60\"]\n";
    let ran = PERSON.does(PERSON.begins(green(slow), "Go."), "echo '# c' >> calc");
    let ran = tells(PERSON.stops(ran, "Done."), "slow: it takes longer than a hook may");
    let ran = last(ran, "continue", Some("not-run"));
    silent(PERSON.stops(PERSON.does(ran, "echo '# d' >> calc"), "Done."));
    let ran = SCRIPT.does(SCRIPT.begins(green(slow), "Go."), "echo '# c' >> calc");
    last(SCRIPT.stops(ran, CLAIM), "continue", Some("not-run"));
}

#[test]
fn a_required_check_that_runs_elsewhere_makes_no_exit_in_a_hook() {
    let elsewhere = "[checks.slow]\ncommand = [\"true\"]\nwhen = [\"check\"]\n";
    let ran = SCRIPT.does(SCRIPT.begins(green(elsewhere), "Go."), "echo '# c' >> calc");
    last(silent(SCRIPT.stops(ran, CLAIM)), "continue", Some("green"));
}

#[test]
fn without_checks_the_person_is_told_once_a_project() {
    let none = || gate("prompt").settings("[hook]\n").file("calc", "").committed().code(0);
    let ran = PERSON.does(PERSON.begins(none(), "Go."), "echo '# c' >> calc");
    let ran = tells(PERSON.stops(ran, "Done."), "no check is configured");
    silent(PERSON.stops(PERSON.does(ran, "echo '# d' >> calc"), "Done."));
    let ran = SCRIPT.does(SCRIPT.begins(none(), "Go."), "echo '# c' >> calc");
    last(SCRIPT.stops(ran, "Done."), "continue", Some("not-run"));
}

#[test]
fn a_mistake_in_the_settings_that_is_older_than_the_prompt_is_told_once() {
    let ran = PERSON.begins(green(""), "Go.");
    let ran = ran
        .again("man")
        .setup("echo 'zzz = 1' >> gate.toml; touch -d '1 hour ago' gate.toml")
        .code(0);
    let ran = PERSON.does(PERSON.prompt(ran, "Go."), "echo '# c' >> calc");
    let ran = tells(PERSON.stops(ran, "Done."), "zzz");
    silent(PERSON.stops(ran, "Done."));
}

#[test]
fn a_persons_word_in_a_prompt_is_the_operators() {
    let ran = PERSON.begins(green(""), "gate off --for 1h").says("gate is off until");
    let ran = silent(PERSON.stops(PERSON.does(PERSON.prompt(ran, "Go."), MUL), "Done."));
    let ran = PERSON.prompt(ran.again("status").code(0).says("OFF"), "gate on").says("gate is on");
    refuses(PERSON.stops(PERSON.does(ran, "echo >> calc"), "Done."), "tests/mul.sh");
    let ran = PERSON.begins(green(""), "gate on --session");
    let ran = PERSON.does(PERSON.prompt(ran, "Go."), "echo '# c' >> calc");
    let ran = refuses(PERSON.stops(ran, "Done."), "completion status");
    last(silent(PERSON.stops(ran, CLAIM)), "exit", None);
    let ran = PERSON.begins(green(""), "gate approve 'a > b' new price").says("approved  a > b");
    ran.again("log").code(0).says("a > b: new price");
    // A script has no person who types.
    let ran = SCRIPT.begins(green(""), "gate off").says("Nothing has changed: nobody sits");
    ran.again("status").code(0).says("ON");
}

#[test]
#[ignore = "minutes: many sessions"]
fn each_file_of_a_monorepo_is_judged_by_its_nearest_settings() {
    for repository in [
        "true",
        // `.git` is a file, as in a linked worktree.
        "git init -q --separate-git-dir ../elsewhere",
        "git update-index --index-version 4",
    ] {
        judged_by_nearest_settings(repository);
    }
}

fn judged_by_nearest_settings(repository: &str) {
    let settings = "[checks.tests]\ncommand = [\"sh\", \"check.sh\"]\n";
    let run = gate("prompt").file(".gitignore", "*.jsonl\n");
    let run = ["one", "two"].iter().fold(run, |run, name| {
        run.file(&format!("{name}/gate.toml"), settings)
            .file(&format!("{name}/check.sh"), "test ! -e red\n")
            .file(&format!("{name}/calc"), "add\n")
    });
    let ran = run.committed().code(0).again("man").setup(repository).code(0);
    let ran = ran.again("-C one trust").code(0).again("-C two trust").code(0);
    let ran = PERSON.does(PERSON.begins(ran, "Go."), "touch one/red");
    let ran = refuses(PERSON.stops(ran, "Done."), "tests failed");
    let ran = PERSON.does(ran, "rm one/red; echo '# c' >> one/calc");
    let ran = tells(PERSON.stops(ran, "Done."), "passed: tests");
    let ran = PERSON.does(PERSON.prompt(ran, "Go."), "touch two/red");
    refuses(PERSON.stops(ran, "Done."), "tests failed");
}

#[test]
fn work_that_is_committed_is_judged_where_the_client_reports_no_prompts() {
    let ran = SCRIPT.does(green(""), MUL);
    refuses(SCRIPT.stops(ran, "Done."), "tests/mul.sh");
}

#[test]
fn a_check_without_a_test_report_that_was_red_before_is_named_as_a_whole() {
    for talk in [PERSON, SCRIPT] {
        let ran = talk.does(talk.begins(at_rest(""), "Comment it."), "echo '# c' >> note");
        let ran = tells(talk.stops(ran, "Done."), "tests was red before");
        last(ran, "continue", Some("red"));
    }
}

#[test]
fn a_text_file_that_a_build_reads_is_no_prose() {
    let ran = PERSON.begins(green(""), "Go.");
    let ran = PERSON.does(ran, "echo x > requirements.txt; echo sub > calc");
    refuses(PERSON.stops(ran, "Only texts."), "tests/add.sh");
    let ran = PERSON.does(PERSON.begins(green(""), "Go."), "echo x > requirements.txt");
    last(tells(PERSON.stops(ran, "Done."), "passed: tests"), "continue", Some("green"));
}

#[test]
fn a_client_that_reports_no_prompts_is_compared_with_its_sessions_beginning() {
    let ran = PERSON.begins_silently(green(""));
    let ran = silent(PERSON.stops(PERSON.does(ran, "cat calc"), "It adds."));
    let ran = PERSON.does(ran, "echo more >> README.md");
    last(silent(PERSON.stops(ran, "Documented.")), "continue", Some("not-run"));
}
