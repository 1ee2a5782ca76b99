//! Command lines: what goes together, what needs something else, and what is no value.

use std::time::Duration;

use clap::error::ErrorKind;
use clap::{CommandFactory, Parser};

use super::*;
use crate::agent::Agent;
use crate::commands::breaker::Breaker;
use crate::commands::bus::Bus;
use crate::commands::output_mode;
use crate::commands::run::{Cwd, ExitCodes};
use crate::commands::work::Work;
use crate::runner::Allow;

fn parse(line: &str) -> Result<Command, clap::Error> {
    let words = line.split(' ').filter(|word| !word.is_empty());
    Cli::try_parse_from(["gate"].into_iter().chain(words)).map(|cli| cli.command.expect(line))
}

/// Command lines that are refused, and a part of the message.
#[track_caller]
fn check_refused(kind: ErrorKind, lines: &[(&str, &str)]) {
    for (line, part) in lines {
        let error = parse(line).unwrap_err();
        assert_eq!(error.kind(), kind, "{line}: {error}");
        assert!(error.to_string().contains(part), "{line}: {error}");
    }
}

#[test]
fn no_two_arguments_claim_the_same_name() {
    Cli::command().debug_assert();
}

#[test]
fn what_contradicts_itself_is_refused() {
    check_refused(
        ErrorKind::ArgumentConflict,
        &[
            ("check a.log --json --quiet", "--quiet"),
            ("check a.log --all-checks --no-checks", "--no-checks"),
            ("check a.log --only tests --no-checks", "--no-checks"),
            ("check a.log --no-state --dry-run", "--dry-run"),
            ("bus read a.md --task t1", "--task"),
            ("bus read --all --last 3", "--last"),
            ("fact promote --all FACT-1.md", "--all"),
            ("fact promote --all --name x", "--name"),
            ("run --task t1 --work W-1 --agent codex", "--work"),
            ("run --task t1 --allow all -- make", "--allow"),
            ("run --task t1 --agent codex --actor a", "--actor"),
            ("run --task t1 --agent codex --phase draft", "--phase"),
            ("run --task t1 --agent codex --wait 1h", "--wait"),
            ("breaker status --task t1 --run r1", "--run"),
            ("explain --codes 0195", "DECISION"),
            ("explain --codes --json", "--json"),
            ("ledger show 3 --all", "--all"),
            ("trust --show --revoke", "--revoke"),
            ("baseline --show --forget", "--forget"),
            ("doctor --agent codex --only tests", "--only"),
            ("handoff new --format md --json", "--json"),
        ],
    );
}

#[test]
fn what_needs_something_else_says_so() {
    check_refused(
        ErrorKind::MissingRequiredArgument,
        &[
            ("check", "<FILE>"),
            ("check a.log --force-complete", "--reason <TEXT>"),
            ("check a.log --reason shipped", "--force-complete"),
            ("run", "  --prompt <FILE>\n"),
            ("run", "-- <COMMAND>..."),
            ("run --agent codex", "  --prompt <FILE>\n"),
            ("run --task t1", "  --agent <A>\n"),
            ("run --work", "  --agent <A>\n"),
            ("run --prompt p.md --agent codex --actor a", "--work"),
            ("run --task t1 --agent codex --force-complete", "--reason <TEXT>"),
            ("breaker trip", "--reason <TEXT>"),
            ("work claim W-1", "--actor <A>"),
            ("work renew --actor a", "<ID>"),
            ("fact promote", "<MSG_ID|FILE>"),
            ("hook", "<AGENT>"),
        ],
    );
}

#[test]
fn a_value_that_means_nothing_is_refused() {
    check_refused(
        ErrorKind::ValueValidation,
        &[
            ("check a.log --iteration 0", "0 is not in 1..=1000000000"),
            ("check a.log --iteration two", "invalid digit"),
            ("check a.log --format cluade", "cluade"),
            (
                "run --task t1 --agent nope",
                "unknown agent `nope`: gate can start claude-code, codex, ",
            ),
            ("run --task t1 --agent nope", "; with `-- COMMAND` any format"),
            ("run --task t1 --tests-first --tests-by nope -- x", "unknown agent `nope`: "),
            ("run --task t1 --agent codex --timeout 10", "a length of time such as 90s"),
            ("run --task t1 --agent codex --timeout 0s", "a length of time such as 90s"),
            ("run --task t1 --agent codex --max-iterations 0", "zero"),
            ("off --for ever", "a length of time such as 90s"),
            ("bus post --meta =x", "KEY=VALUE is expected"),
            ("bus post --meta key", "KEY=VALUE is expected"),
            ("log -n 0", "zero"),
            ("ledger verify --head 4", "SEQ:HASH is expected"),
        ],
    );
    let blank = ["gate", "breaker", "reset", "--reason", " \t"];
    let error = Cli::try_parse_from(blank).unwrap_err();
    assert!(error.to_string().contains("words are expected"), "{error}");
    check_refused(
        ErrorKind::InvalidValue,
        &[
            ("install no-such-agent", "claude-code"),
            ("work claim --actor a --phase COMPLETED", "possible values"),
            ("work list --phase NOWHERE", "BLOCKED"),
            ("run --task t1 --agent codex --allow some", "checks"),
            ("replay t --only false", "changed, wrong, near"),
        ],
    );
}

#[test]
fn names_are_read_in_every_spelling_that_is_documented() {
    for (alias, agent) in [
        ("claude", Agent::ClaudeCode),
        ("codex-cli", Agent::Codex),
        ("gemini-cli", Agent::Gemini),
        ("copilot-cli", Agent::Copilot),
        ("goose", Agent::Goose),
    ] {
        let Command::Hook(hook) = parse(&format!("hook {alias}")).unwrap() else { panic!() };
        assert_eq!((hook.agent, hook.deadline), (agent, None));
    }
    let Command::Work(Work::List(list)) = parse("work list --phase ci_pending").unwrap() else {
        panic!()
    };
    assert_eq!(list.phase, Some(gate_core::exit::WorkPhase::CiPending));
    let read = "bus read --since MSG-1 --filter FACT --type INFO --tail 3";
    let Command::Bus(Bus::Read(read)) = parse(read).unwrap() else { panic!() };
    assert_eq!(read.filter.since_id.as_deref(), Some("MSG-1"));
    assert_eq!((read.filter.kinds, read.last), (vec!["FACT".into(), "INFO".into()], Some(3)));
    let Command::Breaker(Breaker::Status(status)) = parse("breaker status --session s").unwrap()
    else {
        panic!()
    };
    assert_eq!(status.run.as_deref(), Some("s"));
}

#[test]
fn a_text_may_begin_with_a_dash_and_a_pair_hold_another_sign() {
    let words =
        ["gate", "bus", "post", "--body", "- done", "--meta", " a =b=c", "--meta", "d=", "--meta"];
    let cli = Cli::try_parse_from(words.into_iter().chain(["é=ü"])).unwrap();
    let Some(Command::Bus(Bus::Post(post))) = cli.command else { panic!() };
    assert_eq!(post.body.as_deref(), Some("- done"));
    let pair = |key: &str, value: &str| (key.to_owned(), value.to_owned());
    assert_eq!(post.meta, [pair("a", "b=c"), pair("d", ""), pair("é", "ü")]);
    assert_eq!((post.kind.as_str(), post.run), ("INFO", None));
    let Command::Check(check) = parse("check - --agent-exit-code -9").unwrap() else { panic!() };
    assert_eq!(check.agent_exit_code, Some(-9));
}

#[test]
fn a_loop_has_bounds_and_rights_that_nobody_has_to_name() {
    let Command::Run(run) = parse("run --task t1 --agent codex").unwrap() else { panic!() };
    assert_eq!((run.max_iterations.get(), run.allow), (100, Allow::Checks));
    assert_eq!((run.cwd, run.exit_codes), (Cwd::Tree, ExitCodes::Run));
    let minute = Duration::from_secs(60);
    assert_eq!((run.children_timeout, run.ttl), (5 * minute, 30 * minute));
    assert_eq!((run.timeout, run.budget_wall, run.wait), (None, None, None));
    let line = "run --work --agent codex --phase draft --budget-wall 1h30m";
    let Command::Run(run) = parse(line).unwrap() else { panic!() };
    assert_eq!((run.work, run.budget_wall), (Some(None), Some(90 * minute)));
    let Command::Run(run) = parse("run --work W-1 -- make --task x").unwrap() else { panic!() };
    assert_eq!(run.work, Some(Some("W-1".to_owned())));
    assert_eq!(run.command, ["make", "--task", "x"], "what follows is the agent's");
}

#[test]
fn failures_are_json_where_the_answer_would_be() {
    for (line, expected) in [
        ("work show W-1 --json", true),
        ("work renew W-1 --actor a", false),
        ("exit emit --phase REVIEW --reason completed --json", true),
        ("handoff new", false),
        ("handoff new --format json", true),
        ("handoff check a.md --format json", false),
        ("scan a.log", false),
        ("check a.log --json", true),
    ] {
        let words = ["gate"].into_iter().chain(line.split(' '));
        let mode = output_mode(&Cli::command().try_get_matches_from(words).unwrap());
        assert_eq!(mode.json, expected, "{line}");
        assert_eq!(mode.stop, line.starts_with("check"), "{line}");
    }
}

#[test]
fn a_person_finds_the_names_of_formats_in_the_help() {
    for (command, names) in [
        ("scan", "text, claude-json, claude-session"),
        ("check", "text, claude-json, claude-session"),
        ("replay", "text, claude-json, claude-session"),
        ("run", "[possible values: claude-code, codex, "),
    ] {
        let help = Cli::try_parse_from(["gate", command, "--help"]).unwrap_err().to_string();
        let help = help.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(help.contains(names), "{command}: {help}");
        assert!(command != "run" || !help.contains("claude-json"), "{help}");
    }
    // With a command, the name of a format says what the command prints.
    let Command::Run(run) = parse("run --task t1 --agent claude-stream -- x").unwrap() else {
        panic!()
    };
    assert!(run.agent.is_some());
}
