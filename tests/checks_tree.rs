//! Checks and the work tree: what is kept from one call to the next, and what
//! a change under a running check means.

use serde_json::{Value, json};

use crate::support::{DONE, Ran, Run, judge};

/// A check that leaves a trace where the tree digest does not look.
fn traced(script: &str, more: &str) -> Run {
    let settings = format!(
        "[tree]\nignore = [\"trace\"]\n[checks.one]\nshell = true\n\
         command = ['echo x >> trace; {script}']\n{more}"
    );
    judge("check --json out.log", DONE).settings(&settings).file("src.txt", "one\n")
}

fn traces(ran: &Ran) -> usize {
    ran.file("trace").lines().count()
}

fn one(ran: &Ran) -> Value {
    ran.json()["evidence"][0].clone()
}

const AGAIN: &str = "check --json out.log";

#[test]
fn a_hermetic_pass_holds_while_nothing_changes() {
    let ran = traced("true", "hermetic = true\n").code(0).again(AGAIN).code(0);
    assert_eq!(traces(&ran), 1);
    assert_eq!((&one(&ran)["outcome"], &one(&ran)["cached"]), (&json!("pass"), &json!(true)));
    let ran = ran.again(AGAIN).file("src.txt", "two\n").code(0);
    assert_eq!((traces(&ran), &one(&ran)["cached"]), (2, &json!(false)));
    let ran = ran.again("check --json --no-cache out.log").code(0);
    assert_eq!(traces(&ran), 3);
    let ran = ran.again("check --json --no-state out.log").code(0);
    assert_eq!(traces(&ran), 4);
}

#[test]
fn a_pass_is_kept_of_hermetic_checks_alone() {
    let ran = traced("true", "").code(0).again(AGAIN).code(0);
    assert_eq!(traces(&ran), 2);
}

#[test]
fn a_failure_holds_while_nothing_changes() {
    let ran = traced("false", "").code(1).again(AGAIN).code(1);
    assert_eq!(traces(&ran), 1);
    assert_eq!(one(&ran)["cached"], json!(true));
    assert!(one(&ran)["summary"].as_str().unwrap().contains("nothing has changed since"));
    let ran = ran.again(AGAIN).file("new.txt", "").code(1);
    assert_eq!(traces(&ran), 2);
}

#[test]
fn a_card_says_once_that_a_check_did_not_run_again() {
    let card = traced("false", "").code(1).again("check out.log").code(1).stdout;
    assert!(card.contains("exit code 1 (not run again: nothing has changed since)\n"), "{card}");
    assert!(!card.contains("as before"), "{card}");
}

#[test]
fn a_failure_is_believed_once() {
    // What was missing may come from outside of the tree.
    let ran = traced("test -e ../home/repaired", "").code(1).again(AGAIN).code(1);
    assert_eq!((traces(&ran), &one(&ran)["cached"]), (1, &json!(true)));
    let ran = ran.again(AGAIN).setup("touch ../home/repaired").code(0);
    assert_eq!(traces(&ran), 2);
}

#[test]
fn a_fresh_record_takes_the_place_of_an_older_one() {
    let ran = traced("test -e ../home/repaired", "").code(1);
    let fresh = "check --json --no-cache out.log";
    let ran = ran.again(fresh).setup("touch ../home/repaired").code(0);
    assert_eq!(traces(&ran.again(AGAIN).code(0)), 3);
    let ran = traced("test ! -e ../home/broken", "hermetic = true\n").code(0);
    let ran = ran.again(fresh).setup("touch ../home/broken").code(1);
    assert_eq!(one(&ran.again(AGAIN).code(1))["outcome"], "fail");
}

#[test]
fn a_pass_that_may_owe_itself_to_a_new_file_is_not_kept() {
    let ran = traced("touch made; test -e made", "hermetic = true\n").code(0);
    let ran = ran.again(AGAIN).setup("rm made").code(0);
    assert_eq!(traces(&ran), 2);
}

#[test]
fn a_pass_that_rests_on_what_a_link_leads_to_is_not_kept() {
    let run = traced("grep -q good link", "hermetic = true\n");
    let ran = run.setup("echo good > ../home/far; ln -s ../home/far link").code(0);
    ran.again(AGAIN).setup("echo bad > ../home/far").code(1);
}

#[test]
fn a_commit_is_a_change_for_what_asks_git() {
    let run = traced("git diff --quiet HEAD", "").setup("echo trace > .gitignore").committed();
    let ran = run.file("src.txt", "two\n").code(1);
    let ran = ran.again(AGAIN).setup("git commit -qam two").code(0);
    assert_eq!(traces(&ran), 2);
}

#[test]
fn what_could_not_be_measured_is_not_kept() {
    let ran = traced("sleep 60", "timeout = \"1s\"\n").code(1).again(AGAIN).code(1);
    assert_eq!(traces(&ran), 2);
}

#[test]
fn another_tool_is_another_work() {
    let settings = "[checks.one]\ncommand = [\"judge\"]\nhermetic = true\n[checks.two]\nhermetic = true\n\
                    [checks.three]\nshell = true\ncommand = [\"judge | cat\"]\nhermetic = true\n";
    let tool = "#!/bin/sh\necho '{\"schema\":\"gate.check.result.v1\",\"outcome\":\"pass\"}'\n";
    let place = "mkdir -p ../home/bin; mv tool ../home/bin/judge; cp ../home/bin/judge ../home/bin/gate-check-two";
    let path = |ran: &Ran| {
        format!("{}:{}", ran.path("../home/bin").display(), std::env::var("PATH").unwrap())
    };
    let first = judge("check --json out.log", DONE).settings(settings);
    let first = first.script("tool", tool).setup(place).run();
    let with_path = path(&first);
    let ran = first.again(AGAIN).env("PATH", &with_path).code(0);
    let ran = ran.again(AGAIN).env("PATH", &with_path).code(0);
    assert!(ran.json()["evidence"].as_array().unwrap().iter().all(|item| item["cached"] == true));
    let worse =
        tool.replace("pass", "fail").replace("\n", "; exit 1\n").replacen("; exit 1", "", 1);
    let ran = ran.again(AGAIN).env("PATH", &with_path).script("tool", &worse).setup(place).code(1);
    let records = ran.json();
    assert!(
        records["evidence"].as_array().unwrap().iter().all(|item| item["cached"] == false),
        "{records:#}"
    );
}

#[test]
fn what_a_check_asks_of_the_environment_is_part_of_the_work() {
    let run = traced("true", "hermetic = true\nenv = [\"FLAG\"]\n").env("FLAG", "1");
    let ran = run.code(0).again(AGAIN).env("FLAG", "1").code(0);
    assert_eq!(traces(&ran), 1);
    let ran = ran.again(AGAIN).env("FLAG", "2").code(0);
    assert_eq!(traces(&ran), 2);
}

#[test]
fn a_damaged_record_is_none() {
    let ran = traced("true", "hermetic = true\n").code(0);
    let state = ran.path("../home/.local/state/gate");
    let spoil = format!(
        "find '{}' -path '*evidence*' -name '*.json' -exec sh -c 'echo \"{{\\\"check\" > \"$1\"' _ {{}} \\;",
        state.display()
    );
    let ran = ran.again(AGAIN).setup(&spoil).code(0);
    assert_eq!(traces(&ran), 2);
}

#[test]
fn with_paths_a_check_is_skipped_where_nothing_that_matches_changed() {
    let ran = traced("true", "paths = [\"*.txt\"]\n").code(0);
    let ran = ran.again(AGAIN).file("other.md", "changed").code(0);
    assert_eq!((traces(&ran), &one(&ran)["cached"]), (1, &json!(true)));
    assert!(one(&ran)["summary"].as_str().unwrap().contains("nothing that matches paths"));
    let ran = ran.again(AGAIN).file("src.txt", "two").code(0);
    assert_eq!(traces(&ran), 2);
    let ran = ran.again("check --json --run another out.log").code(0);
    assert_eq!(traces(&ran), 3);
}

#[test]
fn the_transcript_is_no_part_of_the_work() {
    let ran = traced("true", "hermetic = true\n").code(0);
    let ran = ran.again(AGAIN).file("out.log", format!("{DONE}\n")).code(0);
    assert_eq!(traces(&ran), 1);
    let ran = ran.again("check --json --feedback next.md out.log").file("next.md", "x").code(0);
    assert_eq!(traces(&ran), 1);
}

#[test]
fn neither_is_the_folder_of_transcripts() {
    let run = traced("true", "hermetic = true\n").committed().file("logs/1.log", DONE);
    let ran = run.code(0).again("check --json logs/1.log").code(0);
    let ran = ran.again("check --json logs/2.log").file("logs/2.log", DONE).code(0);
    assert_eq!(traces(&ran), 2);
}

#[test]
fn a_pass_under_which_a_file_changed_is_run_once_more() {
    let ran = traced("[ $(wc -l < trace) -ge 2 ] || echo two > src.txt", "").code(0);
    assert_eq!(traces(&ran), 2);
    let decision = ran.json();
    assert_eq!(decision["tree"]["changed"], json!(["src.txt"]));
    assert_ne!(decision["tree"]["before"], decision["tree"]["after"]);
}

#[test]
fn a_pass_under_which_files_keep_changing_is_inconclusive() {
    for script in ["echo x >> src.txt", "rm -f $(ls *.txt | head -1)"] {
        let ran = traced(script, "").file("a.txt", "").file("b.txt", "").code(1);
        assert_eq!(one(&ran)["outcome"], "inconclusive", "{script}");
        assert!(one(&ran)["summary"].as_str().unwrap().contains(".txt"), "{script}");
        assert_eq!(traces(&ran), 2, "{script}");
    }
}

#[test]
fn a_check_that_fails_on_its_own_leavings_is_inconclusive() {
    let ran = traced("test \"$(cat src.txt)\" = one; echo two > src.txt", "").code(1);
    let summary = one(&ran)["summary"].as_str().unwrap().to_owned();
    assert_eq!((traces(&ran), &one(&ran)["outcome"]), (2, &json!("inconclusive")), "{summary}");
    assert!(summary.contains("it passed, then files changed meanwhile: src.txt, and it fails"));
    assert_eq!(ran.file("src.txt"), "two\n");
}

#[test]
fn a_failure_stays_one_whatever_changed() {
    let ran = traced("echo x >> src.txt; false", "").code(1);
    assert_eq!((traces(&ran), &one(&ran)["outcome"]), (1, &json!("fail")));
}

#[test]
fn files_that_only_appear_are_named() {
    let ran = traced("touch Project.lock", "").code(0);
    assert_eq!(traces(&ran), 1);
    assert_eq!(ran.json()["tree"]["wrote"], json!(["Project.lock"]));
}

#[test]
fn evidence_is_about_one_tree() {
    let settings = "[tree]\nignore = [\"trace\"]\n[checks]\njobs = 1\n\
        [checks.a]\nshell = true\ncommand = ['echo a >> trace']\n\
        [checks.b]\nshell = true\nneeds = [\"a\"]\ncommand = ['echo b >> trace; echo two > src.txt']\n";
    let run = judge("check --json out.log", DONE).settings(settings).file("src.txt", "one\n");
    let ran = run.code(0);
    assert_eq!(ran.file("trace"), "a\nb\na\nb\n");
}

#[test]
fn what_is_kept_is_the_users_alone() {
    use std::os::unix::fs::PermissionsExt;
    let ran = traced("true", "hermetic = true\n").code(0);
    let state = ran.path("../home/.local/state/gate");
    let mut folders = vec![state];
    while let Some(folder) = folders.pop() {
        assert_eq!(
            std::fs::metadata(&folder).unwrap().permissions().mode() & 0o077,
            0,
            "{folder:?}"
        );
        for entry in std::fs::read_dir(&folder).unwrap().map(Result::unwrap) {
            if entry.file_type().unwrap().is_dir() {
                folders.push(entry.path());
            }
        }
    }
}
