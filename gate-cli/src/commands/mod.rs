//! The commands, one file each.

mod approve;
mod arguments;
mod audit;
mod baseline;
mod breaker;
mod bus;
mod check;
mod ci;
mod cli;
mod common;
mod config;
mod demo;
mod doctor;
mod entries;
mod exit;
mod explain;
mod fact;
pub(crate) mod goal;
mod gone;
mod handoff;
mod help;
mod hook;
mod init;
mod install;
mod junit;
mod last;
mod ledger;
mod locked;
mod log;
mod man;
mod notify;
mod overview;
mod plan;
mod prompt;
mod prune;
mod replay;
mod report;
mod run;
mod sarif;
mod scan;
pub mod schema;
mod seal;
mod setup;
mod status;
mod stop;
mod switch;
mod trust;
mod uninstall;
mod work;
mod wrong;

use std::ffi::OsString;
use std::io::IsTerminal;
use std::process::ExitCode;

use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{ArgMatches, CommandFactory, FromArgMatches};
use gate_core::config::nearest_name;
use gate_fleet::handoff::Format;

use crate::failure::Failure;
use crate::invocation::Invocation;
use crate::panics::{self, guarded};
use crate::render::{self, OutputMode};
use crate::supervision::supervision;

use self::cli::{Cli, Command};
use self::common::DONE;

/// Exit code of a command line that cannot be understood.
const MISUSED: u8 = 2;

/// Runs the command line, and returns the program's exit code.
pub fn run(args: impl IntoIterator<Item = OsString>) -> ExitCode {
    ExitCode::from(code_for(&args.into_iter().collect::<Vec<_>>()))
}

fn code_for(args: &[OsString]) -> u8 {
    // The processes that gate starts below itself are gate, too: they read no command line.
    if let Some((gates_words, order)) = supervision(args) {
        return gate_checks::process::supervise(gates_words, order);
    }
    panics::log_all();
    if let [_, help, name] = args
        && help == "help"
        && let Some(text) = name.to_str().and_then(help::topic)
    {
        return render::print_text(text).map_or(5, |()| DONE);
    }
    // Groups and examples are a sixth of a start's work, and only help and errors print them.
    let parsed = Cli::command()
        .try_get_matches_from(args)
        .or_else(|_| help::command().try_get_matches_from(args));
    let mode = parsed.as_ref().map(output_mode).unwrap_or_default();
    match parsed.and_then(|matches| Cli::from_arg_matches(&matches)) {
        Ok(cli) => {
            cli.color.write_global();
            guarded(|| dispatch(cli)).unwrap_or_else(|failure| render::failure(&failure, mode))
        }
        Err(error) if is_answer(&error) => error.print().map_or(5, |()| DONE),
        Err(error) if names_no_subcommand(&error) => error.print().map_or(5, |()| MISUSED),
        Err(error) => misused(&with_nearest_command(error, args), args),
    }
}

/// The form of failures, by the options of the command that was called.
fn output_mode(matches: &ArgMatches) -> OutputMode {
    let mut command = matches;
    let mut names = Vec::new();
    while let Some((name, subcommand)) = command.subcommand() {
        names.push(name);
        command = subcommand;
    }
    let has_json = matches!(command.try_get_one::<bool>("json"), Ok(Some(true)));
    let is_json = match names.as_slice() {
        // A new handoff is JSON unless Markdown is asked for.
        ["handoff", "new"] => {
            let format = command.try_get_one("format").ok().flatten();
            has_json || format != Some(&Format::Markdown)
        }
        _ => has_json,
    };
    OutputMode { json: is_json, stop: matches!(names.first(), Some(&("check" | "last" | "run"))) }
}

/// The error with the command that is fewest edits away, if one is near. clap suggests by
/// common letters, so that `lgo` would be `lock`.
fn with_nearest_command(mut error: clap::Error, args: &[OsString]) -> clap::Error {
    let nearest = match error.get(ContextKind::InvalidSubcommand) {
        Some(ContextValue::String(name)) => {
            let mut cli = Cli::command();
            cli.build();
            // The words before the unknown name lead to the command that does not have it.
            let known_words = args.iter().skip(1).take_while(|word| *word != name.as_str());
            let command = known_words
                .fold(&cli, |command, word| command.find_subcommand(word).unwrap_or(command));
            let names: Vec<_> = command.get_subcommands().map(clap::Command::get_name).collect();
            nearest_name(name, &names).map(str::to_owned)
        }
        _ => None,
    };
    if let Some(name) = nearest {
        error.insert(ContextKind::SuggestedSubcommand, ContextValue::Strings(vec![name]));
    }
    error
}

/// A command line that cannot be understood: nothing was decided.
fn misused(error: &clap::Error, args: &[OsString]) -> u8 {
    let json = args.iter().any(|arg| arg == "--json");
    if let Some(message) = gone::advice(args) {
        let failure = Failure::usage("usage", message);
        return render::failure(&failure, OutputMode { json, stop: false });
    }
    let text = error.render().to_string();
    let message = text.trim_start_matches("error: ").trim_end().to_owned();
    let failure = Failure::usage("usage", message);
    // A person who mistypes at a prompt runs no loop.
    let stop = !std::io::stderr().is_terminal() && !asks_something_else(args);
    render::failure(&failure, OutputMode { json, stop })
}

/// The command line names a command that no loop waits for. If no command can be made out, the
/// caller may well be a loop.
fn asks_something_else(args: &[OsString]) -> bool {
    let commands = Cli::command();
    let mut words = args.iter().skip(1);
    let command = words.find_map(|word| commands.find_subcommand(word));
    command.is_some_and(|command| command.get_name() != "check")
}

fn dispatch(cli: Cli) -> Result<u8, Failure> {
    let invocation = Invocation::open(cli.dir)?;
    let Some(command) = cli.command else { return overview::run(&invocation) };
    match command {
        Command::Setup(args) => setup::run(&invocation, &args),
        Command::Demo => demo::run(&invocation),
        Command::Check(args) => check::run(&invocation, &args),
        Command::Ci(args) => ci::run(&invocation, &args),
        Command::Scan(args) => scan::run(&invocation, &args),
        Command::Replay(args) => replay::run(&invocation, &args),
        Command::Goal(args) => goal::run(&invocation, &args),
        Command::Audit(args) => audit::run(&invocation, &args),
        Command::Tune(args) => replay::tune::run(&invocation, &args),
        Command::Run(args) => run::run(&invocation, &args),
        Command::Stop(args) => stop::run(&invocation, &args),
        Command::Prompt(args) => prompt::run(&invocation, &args),
        Command::Init(args) => init::run(&invocation, &args),
        Command::Install(args) => install::run(&invocation, &args),
        Command::Uninstall(args) => uninstall::run(&invocation, &args),
        Command::Baseline(args) => baseline::run(&invocation, &args),
        Command::Config(args) => config::run(&invocation, &args),
        Command::Doctor(args) => doctor::run(&invocation, &args),
        Command::Last(args) => last::run(&invocation, &args),
        Command::Explain(args) => explain::run(&invocation, &args),
        Command::Hook(args) => hook::run(&invocation, &args),
        Command::Off(args) => switch::off(&invocation, &args),
        Command::On(args) => switch::on(&invocation, &args),
        Command::Status(args) => status::run(&invocation, &args),
        Command::Breaker(args) => breaker::run(&invocation, &args),
        Command::Trust(args) => trust::run(&invocation, &args),
        Command::Seal(sealing) => seal::run(&invocation, &sealing),
        Command::Approve(args) => approve::run(&invocation, &args),
        Command::Wrong(args) => wrong::run(&invocation, &args),
        Command::Prune(args) => prune::run(&invocation, &args),
        Command::Notify(args) => notify::run(&invocation, &args),
        Command::Report(args) => report::run(&invocation, &args),
        Command::Ledger(args) => ledger::run(&invocation, &args),
        Command::Log(args) => log::run(&invocation, &args),
        Command::Bus(args) => bus::run(&invocation, &args),
        Command::Fact(args) => fact::run(&invocation, &args),
        Command::Exit(args) => exit::run(&invocation, &args),
        Command::Work(args) => work::run(&invocation, &args),
        Command::Handoff(args) => handoff::run(&invocation, &args),
        Command::Completions { shell } => man::completions(shell),
        Command::Man { command } => man::page(command.as_deref()),
    }
}

fn is_answer(error: &clap::Error) -> bool {
    matches!(error.kind(), ErrorKind::DisplayHelp | ErrorKind::DisplayVersion)
}

/// A command with subcommands was named alone: the answer is its help.
fn names_no_subcommand(error: &clap::Error) -> bool {
    use ErrorKind::{DisplayHelpOnMissingArgumentOrSubcommand, MissingSubcommand};
    matches!(error.kind(), DisplayHelpOnMissingArgumentOrSubcommand | MissingSubcommand)
}
