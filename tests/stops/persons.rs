//! The tests of a person are the person's: sessions that change tests as asked, and people who
//! change them beside. None of it costs a call of the model, in the session or in the next five.

use std::fs;

use super::talk::*;
use super::*;
use crate::fooled::tools;
use crate::needs::needs;

const CART: &str = "def label(name):\n    return '<' + name + '>'\n\n\ndef total(prices):\n    return sum(prices)\n";

const TESTS: &str = "from cart import label, total\n\n\ndef test_label():\n    assert label('a') == '<a>'\n\n\n\
def test_total():\n    assert total([1, 2]) == 3\n";

const SETTINGS: &str =
    "[checks.tests]\ncommand = [\"python3\", \"-m\", \"pytest\", \"-q\"]\n[checks.integrity]\n";

const IGNORED: &str = "*.jsonl\n__pycache__\n.pytest_cache\n";

const RENAME: &str = "sed -i s/label/tag/g cart.py tests/test_cart.py";

/// A shop whose tests pass.
fn shop() -> Ran {
    let run = gate("prompt").settings(SETTINGS).file(".gitignore", IGNORED);
    let run = run.file("cart.py", CART).file("tests/test_cart.py", TESTS);
    tools(run.file("conftest.py", "").committed()).code(0)
}

/// Somebody else than the agent does this.
fn beside(ran: Ran, script: &str) -> Ran {
    ran.again("prompt").setup(script).code(0)
}

/// The stop is green, without a word of what was before.
#[track_caller]
fn is_green(ran: Ran) -> Ran {
    let ran = tells(ran, "gate: passed: tests");
    assert!(!ran.stdout.contains("changed"), "{}", ran.stdout);
    ran
}

/// Five sessions later nothing is left of it.
#[track_caller]
fn five_more(mut ran: Ran) {
    for session in ["s2", "s3", "s4", "s5", "s6"] {
        let talk = Talk { session, headless: false };
        let comment = format!("sed -i '1i # {session}' cart.py");
        let begun = talk.begins(beside(ran, "git add -A; git commit -qm yes"), "Comment it.");
        ran = is_green(talk.stops(talk.does(begun, &comment), "Done."));
    }
}

/// The agent does as it was asked. The person reads what changed, once.
#[track_caller]
fn as_asked(act: &str, news: &str) {
    if !needs("pytest") {
        return;
    }
    let ran = PERSON.does(PERSON.begins(shop(), "Do it, with its test."), act);
    let ran = tells(PERSON.stops(ran, "Done."), news);
    let ran = PERSON.does(PERSON.prompt(ran, "Comment it."), "sed -i '1i # c' cart.py");
    five_more(is_green(PERSON.stops(ran, "Done.")));
}

#[test]
#[ignore = "minutes: seven sessions"]
fn a_rename_with_its_test_is_news_once() {
    as_asked(RENAME, "passed: tests (2 passed); changed tests: tests/test_cart.py (+3 -3)");
}

#[test]
#[ignore = "minutes: seven sessions"]
fn an_expected_value_is_news_once() {
    let act = "sed -i \"s/'<' + name + '>'/'[' + name + ']'/\" cart.py; sed -i 's/<a>/[a]/' tests/test_cart.py";
    as_asked(act, "passed: tests (2 passed); changed tests: tests/test_cart.py (+1 -1)");
}

#[test]
#[ignore = "minutes: seven sessions"]
fn a_deletion_that_was_asked_for_is_news_once() {
    let act = "git rm -q tests/test_cart.py; printf 'def total(prices):\\n    return sum(prices)\\n' > cart.py; \
               mkdir -p tests; printf 'from cart import total\\n\\n\\ndef test_sum():\\n    assert total([1]) == 1\\n' > tests/test_sum.py";
    as_asked(act, "passed: tests (1 passed); changed tests: tests/test_cart.py (gone)");
}

#[test]
#[ignore = "minutes: many sessions"]
fn a_test_that_the_person_changed_and_committed_is_no_news() {
    if !needs("pytest") {
        return;
    }
    let value = "sed -i 's/sum(prices)/sum(prices) * 2/' cart.py; sed -i 's/== 3/== 6/' tests/test_cart.py; git commit -qam double";
    let ran = PERSON.does(PERSON.begins(shop(), "Comment it."), "sed -i '1i # a' cart.py");
    let ran = beside(is_green(PERSON.stops(ran, "Done.")), value);
    let ran = PERSON.does(PERSON.prompt(ran, "Once more."), "sed -i '1i # b' cart.py");
    let ran = is_green(PERSON.stops(ran, "Done."));
    // While the agent works, too.
    let ran = PERSON.does(PERSON.prompt(ran, "A note."), "echo 'n = 1' > note.py");
    let ran = beside(ran, "sed -i 's/== 6/== 6 * 1/' tests/test_cart.py; git commit -qm one tests");
    is_green(PERSON.stops(ran, "Done."));
}

#[test]
#[ignore = "minutes: many sessions"]
fn a_half_done_edit_of_the_person_is_red_before_the_prompt() {
    if !needs("pytest") {
        return;
    }
    let ran = beside(shop(), "sed -i 's/== 3/== 4/' tests/test_cart.py");
    let ran = PERSON.does(PERSON.begins(ran, "A docstring."), "sed -i '1i # d' cart.py");
    let told = "tests/test_cart.py::test_total was red before the last prompt";
    let ran = tells(PERSON.stops(ran, "Done."), told);
    let ran = tells(PERSON.stops(PERSON.does(ran, "touch new.py"), CLAIM), told);
    let ran = beside(ran, "sed -i 's/== 4/== 3/' tests/test_cart.py");
    let ran = PERSON.does(PERSON.prompt(ran, "Another."), "sed -i '1i # e' cart.py");
    is_green(PERSON.stops(ran, "Done."));
}

#[test]
#[ignore = "minutes: many sessions"]
fn a_branch_that_the_person_pulled_is_not_the_agents() {
    if !needs("pytest") {
        return;
    }
    let branch = "git checkout -qb theirs; sed -i 's/== 3/== 5/' tests/test_cart.py; git commit -qam theirs; git checkout -q -";
    let ran = PERSON.begins(beside(shop(), branch), "A note.");
    let ran = PERSON.does(ran, "echo 'n = 1' > note.py");
    let ran = beside(ran, "git merge -q theirs");
    let told = "tests/test_cart.py::test_total is red by a change that is not this session's";
    let ran = tells(PERSON.stops(ran, "Done."), told);
    // The agent's own commit is its own.
    let ran = beside(ran, "git reset -q --hard HEAD~1");
    let ran = PERSON.prompt(ran, "Triple it.");
    let act = "sed -i 's/sum(prices)/sum(prices) * 3/' cart.py; git commit -qam triple";
    refuses(PERSON.stops(PERSON.does(ran, act), "Done."), "newly-red");
}

#[test]
#[ignore = "minutes: many sessions"]
fn another_python_is_no_tampering() {
    if !needs("pytest") {
        return;
    }
    let ran = tools(shop().again("baseline")).code(0);
    let python = "mkdir -p ../venv/bin; printf '#!/bin/sh\\nexec %s \"$@\"\\n' \"$(command -v python3)\" > ../venv/bin/python3; chmod +x ../venv/bin/python3";
    let ran = PERSON.does(PERSON.begins(beside(ran, python), "Comment it."), "echo '#' >> cart.py");
    let path = format!("{}:{}", ran.path("../venv/bin").display(), std::env::var("PATH").unwrap());
    let event = json!({ "hook_event_name": "Stop", "session_id": "s1", "stop_hook_active": false,
        "cwd": ran.path("").display().to_string(), "last_assistant_message": "Done." });
    let run = ran.again("hook claude-code").env("CLAUDE_CODE_ENTRYPOINT", "cli").env("PATH", path);
    is_green(hooked(tools(run), &event));
}

#[test]
#[ignore = "minutes: many sessions"]
fn a_flaky_test_is_named_and_refuses_nobody() {
    if !needs("pytest") {
        return;
    }
    let flaky = "import pathlib\n\n\ndef test_flaky():\n    mark = pathlib.Path('MARK')\n    \
                 there = mark.exists()\n    mark.unlink(missing_ok=True)\n    assert not there\n";
    let ran = shop();
    let mark = ran.path("../mark").display().to_string();
    fs::write(ran.path("tests/test_flaky.py"), flaky.replace("MARK", &mark)).unwrap();
    let ran = PERSON.begins(beside(ran, "git add -A; git commit -qm flaky"), "Comment it.");
    let ran = PERSON.does(ran, &format!("echo '#' >> cart.py; touch {mark}"));
    // On the tree of the prompt it passes, for the mark is gone by then.
    let told = "gate: tests/test_flaky.py::test_flaky is flaky: failed, and passed when run again";
    tells(PERSON.stops(ran, "Done."), told);
}

#[test]
fn settings_that_the_person_broke_before_the_prompt_refuse_nobody() {
    if !needs("pytest") {
        return;
    }
    let ran = shop();
    fs::write(ran.path("gate.toml"), "[checks.tests]\ncommand = 7\n").unwrap();
    let ran = PERSON.does(PERSON.begins(ran, "Comment it."), "echo '#' >> cart.py");
    assert!(!matches!(answer(&PERSON.stops(ran, "Done.")), Answer::Refused(_)));
}

#[test]
fn what_the_agent_left_red_is_red_before_no_prompt() {
    if !needs("pytest") {
        return;
    }
    let ran = PERSON.begins(shop(), "Double it.");
    let ran = PERSON.does(ran, "sed -i 's/sum(prices)/sum(prices) * 2/' cart.py");
    // The person answers, and gate has not looked at anything.
    let ran = PERSON.stops(ran, "Shall I change the test, too?");
    let ran = PERSON.does(PERSON.prompt(ran, "No."), "echo '#' >> cart.py");
    let ran = refuses(PERSON.stops(ran, "Done."), "tests/test_cart.py::test_total");
    let ran = refuses(PERSON.stops(ran, "Done."), "refusal 2 of at most 2");
    let ran = tells(PERSON.stops(ran, "Done."), "is still red after 2 refusals");
    let ran = PERSON.prompt(ran, "What is left?");
    tells(PERSON.stops(ran, "The total."), "test_total is still red from your earlier change");
}

#[test]
#[ignore = "minutes: many sessions"]
fn a_damaged_tree_of_the_prompt_is_told_and_refuses_nobody() {
    if !needs("pytest") {
        return;
    }
    let ran = PERSON.begins(shop(), "Double it.");
    let ran = PERSON.does(ran, "sed -i 's/sum(prices)/sum(prices) * 2/' cart.py");
    let ran = beside(ran, "find .. -path '*/runs/*.json' -exec sh -c 'echo x > {}' \\;");
    let told = "test_total is red; if before, too, is not known (";
    let ran = tells(PERSON.stops(ran, "Done."), told);
    assert!(ran.stdout.contains("the baseline is damaged"), "{}", ran.stdout);
    let ran = PERSON.prompt(ran, "Go on.");
    let ran = PERSON.does(ran, "sed -i 's/ \\* 2/ * 3/' cart.py");
    tells(PERSON.stops(ran, "Done."), "test_total was red before the last prompt");
}

/// In the copy it fails for want of the ignored file, which says nothing of the prompt's tree.
#[test]
#[ignore = "minutes: many sessions"]
fn a_failure_that_only_the_copy_has_is_not_called_older() {
    if !needs("pytest") {
        return;
    }
    let test = "import pathlib\n\nfrom cart import total\n\n\ndef test_rate():\n    \
                rate = int(pathlib.Path('.env').read_text())\n    assert total([rate]) == 3\n";
    let ran = shop();
    fs::write(ran.path("tests/test_rate.py"), test).unwrap();
    let ran =
        beside(ran, "echo .env >> .gitignore; echo 3 > .env; git add -A; git commit -qm rate");
    let ran = PERSON.begins(ran, "Double it.");
    let ran = PERSON.does(
        ran,
        "sed -i 's/sum(prices)/sum(prices) * 2/' cart.py; git rm -qf tests/test_cart.py",
    );
    let told =
        "test_rate is red; if before, too, is not known (on the tree of that prompt it fails";
    tells(PERSON.stops(ran, "Done."), told);
}

#[test]
#[ignore = "minutes: many sessions"]
fn a_test_that_fails_because_of_a_new_one_is_not_called_flaky() {
    if !needs("pytest") {
        return;
    }
    let patch = "import cart\n\n\ndef test_first():\n    cart.total = lambda prices: 0\n";
    let ran = shop();
    let later = "import cart\n\n\ndef test_total():\n    assert cart.total([1]) == 1\n";
    fs::write(ran.path("tests/test_later.py"), later).unwrap();
    let ran = PERSON.begins(beside(ran, "git add -A; git commit -qm later"), "Add a test.");
    let act = format!("cat > tests/test_a.py <<'X'\n{patch}X\n");
    refuses(PERSON.stops(PERSON.does(ran, &act), "Done."), "tests/test_later.py::test_total");
}

/// What a refusal hid is told at the next stop that is let go.
#[test]
#[ignore = "minutes: many sessions"]
fn news_of_a_refused_turn_is_told_later() {
    if !needs("pytest") {
        return;
    }
    let ran = PERSON.begins(shop(), "New brackets.");
    let act = "sed -i \"s/'<' + name + '>'/'[' + name + ']'/\" cart.py; sed -i 's/<a>/[a]/' tests/test_cart.py; \
               sed -i 's/sum(prices)/sum(prices) * 2/' cart.py";
    let ran = refuses(PERSON.stops(PERSON.does(ran, act), "Done."), "test_total");
    let ran = PERSON.prompt(ran, "Mend the total.");
    let ran = PERSON.does(ran, "sed -i 's/sum(prices) \\* 2/sum(prices)/' cart.py");
    let ran = tells(PERSON.stops(ran, "Done."), "changed tests: tests/test_cart.py (+1 -1)");
    let ran = PERSON.does(PERSON.prompt(ran, "Settings."), "printf '[pytest]\\n' > pytest.ini");
    tells(
        PERSON.stops(ran, "Done."),
        "passed: tests (2 passed); changed settings: pytest.ini (new)",
    );
}

/// What a person lets an agent commit in a session is the person's act: a blocked task takes it.
#[test]
#[ignore = "minutes: many sessions"]
fn a_commit_in_a_persons_session_ends_what_a_task_remembers() {
    if !needs("pytest") {
        return;
    }
    let said = "printf 'Done.\\n\\nEXIT_STATUS: COMPLETE\\nREMAINING_WORK: none\\n'";
    let relabel = "sed -i \"s/'<' + name + '>'/'[' + name + ']'/\" cart.py; sed -i 's/<a>/[a]/' tests/test_cart.py";
    let agent = format!(
        "#!/bin/sh\ncat >/dev/null\nif [ -e ../did ]; then sed -i '1i # c' cart.py; else touch ../did; {relabel}; fi\n{said}\n"
    );
    let words = "run --prompt P.md --max-iterations 3 -- ./agent.sh";
    let ran = shop().again("prompt").file("P.md", "Rename it.\n").script("agent.sh", &agent);
    let ran = ran.setup("git add -A; git commit -qm task").code(0);
    let ran = tools(ran.again(words)).code(1).says("BLOCKED");
    let ran = PERSON.does(PERSON.begins(ran, "Commit it."), "git commit -qam rename");
    let ran = PERSON.stops(ran, "Committed.");
    tools(ran.again(words)).code(0);
}
