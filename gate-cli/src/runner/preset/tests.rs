//! Command lines of agents, and what they may do.

use super::*;

fn policy(checks: &str) -> Policy {
    use gate_core::config::{Layer, Origin, resolve};
    let layer = Layer::parse(Origin::Project("gate.toml".into()), checks).unwrap();
    resolve(&[layer], None).unwrap().policy
}

const CHECKS: &str = "[checks.tests]\ncommand = [\"python3\", \"-m\", \"pytest\", \"-q\"]\n\
    [checks.lint]\ncommand = [\"cargo\", \"clippy\", \"--\", \"-D\", \"warnings\"]\n\
    [checks.odd]\ncommand = [\"sh\", \"-c\", \"test -e fixed\"]\n\
    [checks.script]\nshell = true\ncommand = [\"make ci | tee log\"]\n\
    [checks.clean_git]\n";

fn shown(agent: &str, allow: Allow) -> String {
    let policy = policy(CHECKS);
    let args = ["--model".to_owned(), "x".to_owned()];
    let git = Some(Path::new("/w/.git"));
    let context = PresetContext { policy: &policy, git, args: &args };
    agent_start(agent, allow, &context).unwrap().shell_line()
}

#[test]
fn an_agent_may_edit_commit_and_run_the_projects_checks() {
    assert_eq!(
        shown("claude-code", Allow::Checks),
        "claude -p --output-format stream-json --verbose --permission-mode acceptEdits \
         --allowedTools 'Bash(git add:*)' --allowedTools 'Bash(git commit:*)' \
         --allowedTools 'Bash(cargo clippy:*)' \
         --allowedTools 'Bash(python3 -m pytest:*)' --model x"
    );
    assert_eq!(
        shown("codex", Allow::Checks),
        "codex exec --json --sandbox workspace-write --add-dir /w/.git --model x -"
    );
    let copilot = shown("copilot", Allow::Checks);
    assert!(copilot.contains("'shell(git commit:*)'") && copilot.contains("'shell(cargo:*)'"));
    let opencode = shown("opencode", Allow::Checks);
    assert!(opencode.starts_with("OPENCODE_PERMISSION='{\"bash\":{"), "{opencode}");
    assert!(
        opencode.contains("\"git add*\":\"allow\"") && opencode.ends_with("--model x {prompt}")
    );
}

#[test]
fn what_is_allowed_grows_with_the_level() {
    assert_eq!(shown("gemini", Allow::None), "gemini --output-format stream-json --model x");
    assert!(shown("gemini", Allow::Edits).contains("--skip-trust --approval-mode auto_edit"));
    assert!(!shown("gemini", Allow::Edits).contains("git commit"));
    assert!(shown("gemini", Allow::All).contains("--approval-mode yolo"));
    assert_eq!(
        shown("droid", Allow::Edits),
        "droid exec --output-format stream-json --auto low --model x {prompt}"
    );
}

/// The command that a policy with this one check allows beside git's.
#[track_caller]
fn check_prefix(check: &str, expected: Option<&str>) {
    let policy = policy(&format!("[checks.tests]\n{check}\n"));
    let allowed = allowed_commands(&policy);
    assert_eq!(allowed[..2], GIT_COMMANDS);
    assert_eq!(allowed.get(2).map(String::as_str), expected, "{check}");
}

#[test]
fn a_check_is_allowed_without_its_options_and_an_interpreters_script_alone() {
    check_prefix(r#"command = ["cargo", "test", "--workspace"]"#, Some("cargo test"));
    check_prefix(r#"command = ["cargo", "test"]"#, Some("cargo test"));
    check_prefix(r#"command = ["npm", "run", "test", "--", "--ci"]"#, Some("npm run test"));
    check_prefix(r#"command = ["./run tests.sh", "-x"]"#, None);
    check_prefix(r#"command = ["/usr/bin/make", "-j2", "check"]"#, Some("/usr/bin/make"));
    check_prefix(r#"command = ["/usr/bin/env", "-i", "make"]"#, Some("/usr/bin/env -i make"));
    check_prefix(r#"command = ["bash", "test.sh", "-v"]"#, Some("bash test.sh"));
    check_prefix(r#"command = ["python3", "-m", "pytest", "-q"]"#, Some("python3 -m pytest"));
    check_prefix(r#"command = ["python3", "-m"]"#, Some("python3 -m"));
    check_prefix(r#"command = ["git", "commit", "--dry-run"]"#, None);
}

#[test]
fn what_a_client_could_misread_is_not_allowed_at_all() {
    for word in ["a*b", "a b", "$HOME", "a|b", "a;b", "a&b", "a>b", "(a)", "a,b", "it's", "`a`"] {
        check_prefix(&format!("command = [\"make\", {word:?}]"), None);
    }
    check_prefix("shell = true\ncommand = [\"make all\"]", Some("make all"));
    check_prefix("shell = true\ncommand = [\"make -j 2\"]", Some("make -j 2"));
    check_prefix("shell = true\ncommand = [\"cd x && make\"]", None);
}

#[test]
fn an_agent_that_nobody_knows_has_no_command_line() {
    let policy = policy("");
    let context = PresetContext { policy: &policy, git: None, args: &[] };
    assert_eq!(agent_start("claude", Allow::All, &context), None);
    for agent in preset_agents() {
        assert!(agent_start(agent, Allow::None, &context).is_some(), "{agent}");
    }
}

#[test]
fn without_git_its_folder_and_the_flag_before_it_go() {
    let policy = policy("");
    let context = PresetContext { policy: &policy, git: None, args: &[] };
    let start = agent_start("codex", Allow::Checks, &context).unwrap();
    assert_eq!(start.shell_line(), "codex exec --json --sandbox workspace-write -");
    assert_eq!(start.note, Some("its sandbox allows every command, and none the network"));
}

#[test]
fn a_note_is_about_what_is_neither_nothing_nor_everything() {
    let policy = policy("");
    let context = PresetContext { policy: &policy, git: None, args: &[] };
    let note = |allow| agent_start("goose", allow, &context).unwrap().note;
    assert_eq!([Allow::None, Allow::All].map(note), [None, None]);
    let coarse =
        Some("this client has no permission between none and all: every command is allowed");
    assert_eq!([Allow::Edits, Allow::Checks].map(note), [coarse, coarse]);
    let start = agent_start("goose", Allow::All, &context).unwrap();
    assert_eq!(start.variables, [("GOOSE_MODE".to_owned(), "auto".to_owned())]);
    assert!(agent_start("goose", Allow::None, &context).unwrap().variables.is_empty());
}
