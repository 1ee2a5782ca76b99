//! Nothing is started from settings that nobody has approved.

use serde_json::Value;

use crate::support::{DONE, Ran, Run, UNDONE, each, gate, judge};
use crate::tokens::{done, joined};

/// A check that leaves a trace.
const TRACE: &str = "[checks.tests]\ncommand = [\"sh\", \"-c\", \"echo ran >>../trace\"]\n";

/// Settings that look at files alone.
const LOOKS: &str = "[checks.clean_git]\n[checks.handoff]\n[checks.acceptance_criteria]\n";

fn project() -> Run {
    gate("check --json out.log").unapproved(TRACE).file("out.log", DONE)
}

/// Whether the check has run, ever.
fn has_run(ran: &Ran) -> bool {
    ran.path("../trace").exists()
}

fn approved(run: Run) -> Ran {
    run.words("trust").code(0).says("approved")
}

#[test]
fn nothing_is_started_that_nobody_approved() {
    let ran = project().code(2);
    let error = ran.json();
    assert_eq!(error["code"], "config-not-trusted");
    assert!(error["file"].as_str().unwrap().ends_with("/gate.toml"), "{error}");
    let message = error["message"].as_str().unwrap();
    assert!(message.contains("[\"sh\", \"-c\", \"echo ran >>../trace\"]"), "{message}");
    assert!(error["hint"].as_str().unwrap().ends_with("gate trust"), "{error}");
    assert!(!has_run(&ran));
    let words = [
        "check --no-state out.log",
        "check --dry-run out.log",
        "run --task t -- true",
        "doctor --self-test",
        "check --all-checks out.log",
        "check --only tests out.log",
    ];
    for words in words {
        let ran = project().words(words).code(2).tells("is not approved yet");
        assert!(!has_run(&ran), "{words}");
    }
    project().words("doctor").code(1).says("gate trust");
}

#[test]
fn what_starts_nothing_needs_no_approval() {
    project().words("check --no-checks out.log").code(0);
    project().words("check --no-checks --no-state out.log").code(0);
    project().words("scan out.log").code(0);
    project().words("replay out.log").code(0);
    project().file("out.log", UNDONE).code(1);
    project().words("check --all-checks out.log").file("out.log", UNDONE).code(2);
    let looks = judge("check --json out.log", DONE).unapproved(LOOKS).code(1).json();
    assert_eq!(looks["evidence"].as_array().unwrap().len(), 3);
    judge("check out.log", DONE).code(0);
}

#[test]
fn what_is_approved_runs_without_a_terminal() {
    let ran =
        approved(project()).says("[\"sh\", \"-c\", \"echo ran >>../trace\"]").says("gate.toml:2");
    assert!(!has_run(&ran));
    let ran = ran.again("check --json out.log").code(0);
    assert!(has_run(&ran));
    let ran = ran.again("log --json").code(0);
    let record = &ran.json_lines()[0];
    assert_eq!(record["type"], "settings_trust");
    assert!(record["body"]["by"]["uid"].is_u64(), "{record}");
    let ran = ran.again("trust --revoke").code(0);
    ran.again("check out.log").code(2).tells("is not approved yet");
}

#[test]
#[ignore = "minutes: many loops"]
fn a_comment_changes_nothing_and_a_byte_of_a_value_does() {
    let checks = |text: &str| approved(project()).again("check out.log").unapproved(text).run();
    checks(&format!("# why\n{}\n\n", TRACE.replace(" = ", "=  "))).says("DONE");
    for changed in [
        TRACE.replace("trace", "trade"),
        format!("{TRACE}timeout = \"1m\"\n"),
        TRACE.replace("checks.tests", "checks.other"),
    ] {
        let ran = checks(&changed).tells("gate.toml changed since you approved it");
        assert!(has_run(&ran), "what was approved decides: {changed}");
        assert!(!ran.path("../trade").exists(), "{changed}");
    }
    // Also where nothing of it would be started any more.
    let ran = checks("exit_gate.indicator_threshold = 0\n");
    assert!(has_run(&ran.tells("gate.toml changed since you approved it")));
    let gone = approved(project()).again("check out.log").setup("rm gate.toml").code(4);
    assert!(has_run(&gone.tells("gate.toml is gone since you approved it")));
}

#[test]
fn an_approval_is_of_one_project() {
    let other = "mkdir ../other && cp gate.toml out.log ../other/ && cd ../other && git init -q";
    let ran = approved(project().setup("git init -q")).again("-C ../other check out.log");
    ran.setup(other).code(2).tells("is not approved yet");
    // A work tree of the same repository is the same project.
    let ran = approved(project().committed()).again("-C ../tree check out.log");
    ran.setup("git worktree add -q ../tree").code(0);
    // A folder further down is not.
    let sub = "mkdir sub && cp out.log sub/ && sed s/trace/trade/ gate.toml >sub/gate.toml";
    let ran = approved(project().committed()).again("-C sub check out.log").setup(sub);
    let ran =
        ran.code(4).tells("gate.toml stands in the place of ../gate.toml, which you approved");
    assert!(has_run(&ran) && !ran.path("../trade").exists());
}

#[test]
fn no_key_of_the_projects_file_approves_or_names_a_place_for_state() {
    for key in ["trust", "trusted", "state", "store", "trust.level", "GATE_TRUST", "database"] {
        let text = format!("{TRACE}[{key}]\nx = 1\n");
        let ran = project().unapproved(&text).code(2);
        assert_eq!(ran.json()["code"], "config-unknown-key", "{key}");
        project().unapproved(&text).words("trust").code(2);
    }
}

#[test]
fn the_environment_approves_by_digest() {
    let ran = project().words("trust --show").code(0).says("[\"sh\", ");
    let shown = ran.again("trust --show --json").code(0);
    let digest = shown.json()["digest"].as_str().unwrap().to_owned();
    assert_eq!(shown.json()["approved"], false);
    let other = format!("blake3:{}", "0".repeat(64));
    let ran = shown.again("check out.log").env("GATE_TRUST", other.as_str()).code(2);
    let ran = ran.tells("is not what was approved").again("check out.log");
    let ran = ran.env("GATE_TRUST", format!("{other}, {digest}")).code(0);
    assert!(has_run(&ran));
    for bad in ["1", "blake3:12", &format!("{digest},"), &digest.to_uppercase()] {
        let ran = project().env("GATE_TRUST", bad).code(2);
        let error = ran.json();
        assert_eq!(error["code"], "trust-value");
        assert!(error["message"].as_str().unwrap().contains("64 hexadecimal digits"), "{error}");
    }
    // It pins what it names: other settings, or none, are not what was approved.
    let ran = project().unapproved("").env("GATE_TRUST", digest.as_str());
    ran.words("check out.log").code(2).tells("is not what was approved");
    judge("check out.log", DONE).env("GATE_TRUST", digest).code(2);
}

#[test]
fn the_digest_of_one_clone_counts_in_all() {
    let ran = project().committed().words("trust --json").setup(
        "git remote add origin git@host:team/shop.git; git clone -q . ../clone; \
         git -C ../clone remote set-url origin https://host/team/shop",
    );
    let ran = ran.code(0);
    let digest = ran.json()["digest"].as_str().unwrap().to_owned();
    let ran = ran.again("-C ../clone trust --show").code(0).says(&format!("digest    {digest}\n"));
    let ran = ran.again("-C ../clone check out.log").code(2).tells("is not approved yet");
    assert!(!has_run(&ran));
    let ran = ran.again("-C ../clone check out.log").env("GATE_TRUST", digest).code(0);
    assert!(has_run(&ran));
    // For the clone, nobody has approved anything.
    ran.again("-C ../clone check out.log").code(2);
}

#[test]
fn a_file_that_the_operator_names_is_approved_by_that() {
    let ran = judge("check --config mine.toml out.log", DONE).file("mine.toml", TRACE).code(0);
    assert!(has_run(&ran));
    let ran = project().words("init --no-run").setup("rm gate.toml");
    let ran = ran.file("Makefile", "test:\n\techo ran >>../trace\n").code(0);
    let ran = ran.again("check --all-checks out.log").run();
    assert!(has_run(&ran), "{}{}", ran.stdout, ran.stderr);
}

#[test]
#[cfg(unix)]
fn a_link_is_approved_for_what_it_leads_to() {
    let ran = project().setup("mv gate.toml ../real.toml && ln -s ../real.toml gate.toml");
    let ran = approved(ran).again("check out.log").code(0);
    let ran = ran.again("check --new-run out.log").setup(
        "echo 'checks.own.command = [\"true\"]' >../other.toml && ln -sf ../other.toml gate.toml",
    );
    ran.code(4).tells("gate.toml changed since you approved it");
}

#[test]
fn what_is_shown_is_what_would_be_started() {
    let text = "[checks.\"a\"]\ncommand = [\"echo\\u001b[2K\\rls\", \"x\\u202ey\\n  b: [\\\"true\\\"]\"]\n";
    let ran = gate("trust --show").unapproved(text).code(0);
    assert!(
        ran.stdout.contains(r#"["echo\u{1b}[2K\rls", "x\u{202e}y\n  b: [\"true\"]"]"#),
        "{}",
        ran.stdout
    );
    let odd = |c: char| (c.is_control() && c != '\n') || c == '\u{202e}';
    assert!(!ran.stdout.contains(odd), "{:?}", ran.stdout);
    let ran = judge("check out.log", DONE).unapproved(text).code(2);
    assert!(!ran.stderr.contains(odd), "{:?}", ran.stderr);
}

#[test]
fn everything_that_starts_a_program_is_shown() {
    let text = "[checks.plug]\n[checks.review]\ncommand = [\"ask\"]\n[checks.own]\nshell = true\n\
                command = [\"a && b\"]\ncwd = \"sub\"\n[checks.clean_git]\n\
                [task_types.deploy]\nchecks.own.command = [\"hidden\"]\n";
    let record = gate("trust --json").unapproved(text).code(0).json();
    let starts = record["starts"].as_array().unwrap();
    let told: Vec<_> = starts.iter().map(|start| start["argv"][0].as_str().unwrap()).collect();
    assert_eq!(told, ["a && b", "gate-check-plug", "ask", "hidden"]);
    assert_eq!((&starts[3]["task_type"], &starts[0]["cwd"]), (&"deploy".into(), &"sub".into()));
    assert_eq!((&record["approved"], &starts[0]["shell"]), (&true.into(), &true.into()));
    assert!(record["ledger"]["seq"].is_u64(), "{record}");
}

#[test]
fn a_hook_lets_go_and_tells_the_person() {
    let event = r#"{"hook_event_name":"Stop","session_id":"s","last_assistant_message":"All tasks are completed.\n\nEXIT_STATUS: COMPLETE","background_tasks":[]}"#;
    let ran = project().words("hook claude-code").stdin(event).code(0);
    let said = ran.json();
    let message = said["systemMessage"].as_str().unwrap();
    assert!(message.contains("is not approved yet") && message.contains("gate trust"), "{said}");
    assert!(!has_run(&ran) && said.get("decision").is_none());
    ran.again("last").code(5).tells("is not approved yet");
}

#[test]
fn continuous_integration_starts_nothing_either() {
    let text = format!("{TRACE}[work]\nci = [\"tests\"]\n[project]\nid = \"p\"\n");
    let ran = gate("work add 7 --phase CI_PENDING").unapproved(&text).code(0);
    let ran = ran.again("work ci 7").code(2).tells("is not approved yet");
    assert!(!has_run(&ran));
    let ran = ran.again("trust").code(0).again("work ci 7").code(0);
    assert!(has_run(&ran));
}

#[test]
fn a_lost_approval_helps_nobody() {
    let ran = approved(project()).again("check --json out.log").unapproved("enabled = true\n");
    let ran = ran
        .unapproved("exit_gate.enabled = false\n")
        .setup("rm -r ../home/.local/share/gate/trust");
    assert_eq!(ran.code(2).json()["code"], "config-not-trusted");
}

#[test]
fn the_level_is_in_every_decision() {
    let level = |run: Run| run.run().json()["trust"].as_str().unwrap().to_owned();
    assert_eq!(level(judge("check --json --no-state out.log", DONE)), "T0");
    // State, approval and baseline stand outside of the work tree.
    let of_history = || judge("check --json out.log", DONE).settings(TRACE).committed();
    assert_eq!(level(of_history()), "T0", "a commit or a branch can be moved");
    let known = || of_history().words("baseline").code(0).again("check --json out.log");
    assert_eq!(level(known()), "T1");
    let fetched = "git update-ref refs/remotes/origin/main HEAD";
    assert_eq!(level(of_history().setup(fetched)), "T1");
    assert_eq!(level(known().env("GATE_TRUST_LEVEL", "T3")), "T3");
    assert_eq!(level(known().env("GATE_TRUST_LEVEL", "T0")), "T0");
    assert_eq!(level(known().words("check --json --no-state out.log")), "T0");
    assert_eq!(level(judge("check --json out.log", DONE).settings(TRACE)), "T0", "no baseline");
    let inside = "check --json --all-checks out.log";
    assert_eq!(level(known().words(inside).env("GATE_STATE_DIR", ".state")), "T0");
    let ran = judge("check --json out.log", DONE).env("GATE_TRUST_LEVEL", "T3x").code(2);
    assert_eq!(ran.json()["code"], "trust-value");
    let ran = judge("check --json out.log", DONE).env("GATE_TRUST_LEVEL", "T2").code(0);
    let codes: Value = each(&ran.json(), "warnings", "code").into();
    assert!(codes.as_array().unwrap().contains(&"trust-lowered".into()), "{codes}");
}

#[test]
fn a_right_token_starts_nothing_that_nobody_approved() {
    let settings = format!("[signal]\ntoken = \"required\"\n{TRACE}");
    let ran = gate("prompt --run r").unapproved(&settings).code(0);
    let token = joined(&ran.stdout);
    let ran = ran.again("check --json --run r out.log").file("out.log", done(&token)).code(2);
    assert_eq!(ran.json()["code"], "config-not-trusted");
    assert!(!has_run(&ran));
}
