//! Where the work is: in other work trees, on branches, in the stash, in other repositories.

use super::talk::*;
use super::*;

const ADD: &str = "git worktree add -q -b tax ../tax";
const BREAK: &str = "sed -i s/add/sub/ ../tax/calc";
const GROW: &str = "echo more >> ../tax/calc";

fn begun(talk: Talk, more: &str) -> Ran {
    talk.begins(green(more), "Go.")
}

#[test]
fn an_agent_that_went_to_another_work_tree_is_judged_there() {
    for (act, verdict) in [(BREAK, "continue"), (GROW, "exit")] {
        let ran = SCRIPT.does(SCRIPT.does(begun(SCRIPT, ""), ADD), act);
        let ran = SCRIPT.stops_in(ran, "../tax", CLAIM);
        // The main tree has no decision of its own.
        let ran = last(ran, verdict, None);
        let said = ran.again("-C ../tax last").run();
        assert_eq!(said.ended(), Some(i32::from(verdict != "exit")), "{act}");
    }
}

#[test]
fn a_person_hears_of_what_a_turn_broke_in_another_work_tree() {
    let ran = PERSON.does(PERSON.does(begun(PERSON, ""), ADD), BREAK);
    let ran = refuses(PERSON.stops_in(ran, "../tax", "Done."), "tests/add.sh");
    assert!(ran.out().contains("(newly-red)"), "{}", ran.out());
    // Nothing is red by the turn where it was red before, and nothing is said where nothing changed.
    let ran = PERSON.does(PERSON.begins(red_before(""), "Go."), ADD);
    let ran = silent(PERSON.stops_in(ran, "../tax", "Done."));
    let ran = PERSON.does(PERSON.prompt(ran, "Go on."), GROW);
    tells(PERSON.stops_in(ran, "../tax", "Done."), "tests/old.sh was red before");
    let ran = PERSON.does(PERSON.does(begun(PERSON, ""), ADD), GROW);
    tells(PERSON.stops_in(ran, "../tax", "Done."), "passed: tests");
}

#[test]
#[ignore = "minutes: many sessions"]
fn a_work_tree_that_an_agent_made_is_judged_too() {
    for act in [BREAK, "sed -i s/add/sub/ ../tax/calc; git -C ../tax commit -qam tax"] {
        let ran = SCRIPT.does(SCRIPT.does(begun(SCRIPT, ""), ADD), act);
        let ran = SCRIPT.does(ran, "echo '# x' >> README.md");
        let ran = refuses(SCRIPT.stops(ran, CLAIM), "(work-elsewhere)");
        assert!(ran.out().contains("../tax (branch tax)"), "{act}: {}", ran.out());
        last(ran, "continue", None);
        let ran = PERSON.does(PERSON.does(begun(PERSON, ""), ADD), act);
        refuses(PERSON.stops(ran, "Done."), "tests/add.sh");
    }
    let ran = SCRIPT.does(SCRIPT.does(begun(SCRIPT, ""), ADD), GROW);
    let ran = last(silent(SCRIPT.stops(ran, CLAIM)), "exit", None);
    ran.says("DONE  also judged: ../tax (branch tax): 1 file not committed; its checks pass;");
}

#[test]
#[ignore = "minutes: many sessions"]
fn work_on_a_branch_or_in_the_stash_is_not_done_here() {
    let branch = "git checkout -qb tax; echo more >> calc; git commit -qam tax; git checkout -q -";
    for (act, place) in [
        (branch, "branch tax: 1 commit"),
        ("echo more >> calc; git stash -q", "the stash: 1 entry"),
    ] {
        let ran = SCRIPT.does(begun(SCRIPT, ""), act);
        let ran = refuses(SCRIPT.stops(ran, CLAIM), place);
        last(ran, "continue", None).says(&format!("work elsewhere: {place}"));
        let ran = PERSON.does(begun(PERSON, ""), act);
        tells(PERSON.stops(ran, "Done."), &format!("work elsewhere, not judged: {place}"));
    }
    for merge in [
        "git merge -q tax",
        "git merge -q --squash tax; git commit -qm tax",
        "git merge -q --squash tax",
    ] {
        let ran = SCRIPT.does(begun(SCRIPT, ""), &format!("{branch}; {merge}"));
        last(silent(SCRIPT.stops(ran, CLAIM)), "exit", None);
    }
    let ran = SCRIPT.does(begun(SCRIPT, ""), "echo more >> calc; git stash -q; git stash pop -q");
    last(silent(SCRIPT.stops(ran, CLAIM)), "exit", None);
}

#[test]
#[ignore = "minutes: many sessions"]
fn what_is_no_work_of_the_agent_refuses_nobody() {
    let grown = |ran: Ran| SCRIPT.does(ran, "echo more >> calc");
    // A branch at a commit that was there, a remote's, a work tree in which nothing changed.
    for act in [
        "git branch tax",
        "git update-ref refs/remotes/origin/tax $(git commit-tree HEAD^{tree} -m x)",
        "git worktree add -q -b tax ../tax",
        "git clone -q . ../other; git -C ../other commit -q --allow-empty -m x; git fetch -q ../other HEAD:refs/heads/tax",
    ] {
        let ran = SCRIPT.does(grown(begun(SCRIPT, "")), act);
        last(silent(SCRIPT.stops(ran, CLAIM)), "exit", None);
    }
    // Another session's tree, and a branch that somebody moves in a tree of his.
    let other = Talk { session: "s2", headless: false };
    let ran = grown(begun(SCRIPT, "")).again("man").setup(ADD).code(0);
    let cwd = ran.path("../tax").canonicalize().unwrap();
    let start = json!({ "hook_event_name": "SessionStart", "source": "startup", "cwd": cwd });
    let ran = other.event(ran, start).again("man").setup(BREAK).code(0);
    last(silent(SCRIPT.stops(ran, CLAIM)), "exit", None);
    let ran = green("").again("man").setup(ADD).code(0);
    let ran = grown(SCRIPT.begins(ran, "Go."));
    let ran = ran.again("man").setup("git -C ../tax commit -q --allow-empty -m x").code(0);
    last(silent(SCRIPT.stops(ran, CLAIM)), "exit", None);
}

#[test]
fn an_edit_in_another_repository_is_judged_by_its_own_settings() {
    let red = "printf '[checks.tests]\\ncommand = [\"sh\", \"t.sh\"]\\n' > ../lib/gate.toml; \
               printf 'grep -q add calc\\n' > ../lib/t.sh; echo add > ../lib/calc; \
               git -C ../lib add -A; git -C ../lib commit -qm all";
    let made = || {
        let ran = green("").again("man").setup(&format!("git init -q ../lib; {red}")).code(0);
        ran.again("-C ../lib trust").code(0)
    };
    let ran = SCRIPT.does(SCRIPT.begins(made(), "Go."), "echo more >> calc");
    let lib = ran.path("../lib").canonicalize().unwrap();
    let edit = format!("sed -i s/add/sub/ {}/calc", lib.display());
    let ran = SCRIPT.does(ran, &edit);
    let ran = refuses(SCRIPT.stops(ran, CLAIM), "../lib");
    last(ran, "continue", None);
    let ran = SCRIPT.does(SCRIPT.begins(made(), "Go."), "echo more >> calc");
    let lib = ran.path("../lib").canonicalize().unwrap();
    let ran = SCRIPT.does(ran, &format!("cat {}/calc", lib.display()));
    last(silent(SCRIPT.stops(ran, CLAIM)), "exit", None);
}

#[test]
fn a_helper_is_judged_in_its_own_work_tree() {
    let settings = "[hook]\nsubagents = \"always\"\n";
    for (act, is_refused) in [(BREAK, true), (GROW, false)] {
        let ran = PERSON.does(PERSON.does(begun(PERSON, settings), ADD), act);
        let tax = ran.path("../tax").canonicalize().unwrap();
        let record = json!({ "type": "assistant", "isSidechain": true, "agentId": "a", "cwd": tax,
            "message": { "role": "assistant", "content": [{ "type": "tool_use", "id": "t",
            "name": "Edit", "input": { "file_path": tax.join("calc") } }] } });
        let ran = ran.again("man").file("a.jsonl", format!("{record}\n")).code(0);
        let transcript = ran.path("a.jsonl");
        let stop = json!({ "hook_event_name": "SubagentStop", "agent_id": "a", "agent_type": "x",
            "stop_hook_active": false, "agent_transcript_path": transcript,
            "last_assistant_message": "Done." });
        let ran = PERSON.event(ran, stop);
        assert_eq!(matches!(answer(&ran), Answer::Refused(_)), is_refused, "{}", ran.out());
    }
}

#[test]
fn a_teammate_is_refused_by_its_exit_code() {
    let settings = "[hook]\nsubagents = \"always\"\n";
    for name in ["TaskCompleted", "TeammateIdle"] {
        let ran = PERSON.does(begun(PERSON, settings), "sed -i s/add/sub/ calc");
        let event = json!({ "session_id": "s1", "cwd": ran.path(""), "hook_event_name": name,
            "transcript_path": ran.path("s1.jsonl"), "last_assistant_message": "Done." });
        let run = ran.again("hook claude-code").env("CLAUDE_CODE_ENTRYPOINT", "cli");
        let ran = run.stdin(event.to_string()).code(2).stdout("");
        assert!(ran.stderr.contains("tests/add.sh"), "{name}: {}", ran.stderr);
    }
}

#[test]
#[ignore = "minutes: many sessions"]
fn each_client_is_judged_where_its_agent_is() {
    for agent in agents().filter(|agent| *agent != "opencode") {
        let ran =
            project("").again("prompt").setup("echo >fixed; git add -A; git commit -qm fixed");
        let ran = ran.code(0).again("prompt").setup(&format!("{ADD}; rm ../tax/fixed")).code(0);
        let main = ran.path("");
        let (mut event, transcript) = event(agent, &ran, CHAT);
        let cwd = ran.path("../tax").canonicalize().unwrap();
        for key in ["cwd", "workspace_roots"] {
            if event.get(key).is_some_and(Value::is_string) {
                event[key] = json!(cwd);
            }
        }
        let run = ran.again(&format!("hook {agent}")).file("session.jsonl", transcript);
        let run = match facts(agent)["hook"].get("project_variable").and_then(|name| name.as_str())
        {
            Some(variable) => run.env(variable, main),
            None => run,
        };
        if event.get("cwd").is_none() {
            continue;
        }
        let ran = hooked(run, &event);
        assert!(refused(agent, &ran).is_some(), "{agent}: {} {}", ran.stdout, ran.stderr);
    }
}

#[test]
fn a_loop_of_ones_own_and_of_gate_run_look_elsewhere_too() {
    let branch = "git checkout -qb tax; echo more >> calc; git commit -qam tax; git checkout -q -";
    let begun = |more: &str| green(more).again("baseline").code(0);
    let ran = begun("").again("check --run r out.log").file("out.log", CLAIM).setup(branch);
    ran.code(1).says("NOT DONE  work elsewhere: branch tax: 1 commit");
    let story = "[tree]\nbranches = [\"ta*\"]\n";
    let ran = begun(story).again("check --run r out.log").file("out.log", CLAIM).setup(branch);
    ran.code(0).says("DONE  nothing changed since the loop began;");
    let agent = |act: &str| {
        let script = format!("#!/bin/sh\ncat >/dev/null\n{ADD}\n{act}\ncat ../claim\n");
        let run = green("").again("run --prompt ../prompt.md --max-iterations 1 -- ../agent.sh");
        run.script("../agent.sh", &script).file("../claim", CLAIM).file("../prompt.md", "Go.\n")
    };
    agent(BREAK)
        .code(1)
        .says("work elsewhere: ../tax (branch tax): 1 file not committed; tests failed");
    agent(GROW).code(0).says("DONE");
}

#[test]
fn settings_that_are_approved_in_one_work_tree_are_approved_in_all() {
    let ran = green("").again("man").setup(ADD).code(0).again("-C ../tax trust").code(0);
    let newer = "printf '[hook]\nmax_blocks = 4\n' >> gate.toml; git commit -qam newer";
    let ran = ran.again("trust").setup(newer).code(0);
    let taken = "git -C ../tax reset -q --hard $(git rev-parse HEAD)";
    let ran = ran.again("-C ../tax check ../work/out.log").file("out.log", CLAIM).setup(taken);
    let ran = ran.code(0);
    // What nobody approved counts nowhere.
    let changed = "printf '[budget]\niterations = 9\n' >> ../tax/gate.toml";
    ran.again("-C ../tax check --new-run ../work/out.log").setup(changed).code(4);
}
