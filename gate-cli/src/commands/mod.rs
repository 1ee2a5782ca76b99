//! The commands, one file each.

mod baseline;
mod breaker;
mod bus;
mod check;
mod config;
mod doctor;
mod entries;
mod exit;
mod explain;
mod fact;
mod handoff;
mod hook;
mod init;
mod install;
mod last;
mod ledger;
mod lines;
mod lock;
mod log;
mod man;
mod prompt;
mod replay;
mod run;
mod scan;
mod status;
mod stop;
mod switch;
mod trust;
mod uninstall;
mod version;
mod work;

use std::ffi::OsString;
use std::io::Write;
use std::path::PathBuf;
use std::time::Duration;

use clap::error::ErrorKind;
use clap::{CommandFactory, Parser};
use gate_checks::process::Supervisor;
use gate_checks::{SLOTS, Site};
use gate_core::Policy;

use crate::args::{Cli, Command, Settings};
use crate::failure::Failure;
use crate::memory::Memory;
use crate::operator::Operator;
use crate::panics::{self, guarded};
use crate::render;
use crate::settings::{Places, Selection};
use crate::trust::Trust;

pub use baseline::BaselineRecord;
pub use exit::{ExitParsed, ExitSubmitted};
pub(crate) use status::Status;
pub(crate) use trust::approve_typed;
pub use trust::{Starts, TrustRecord};
pub use version::VersionRecord;
pub use work::{LeaseRecord, WorkList, WorkRecord};

/// Exit code of a command that did what it was asked.
const DONE: u8 = 0;

/// The command by which gate calls itself to end a check's processes. It is
/// nobody else's, and no command line to be parsed: each check waits for it.
pub(crate) const SUPERVISE: &str = "supervise";

/// The same for the agent of a run. The project that it works on is told behind it, by
/// its folder and its marks: there it is read whose agent calls, whatever that has
/// written since into settings and records.
pub(crate) const ATTEND: &str = "attend";

/// Exit code of a command line that cannot be understood.
const MISUSED: u8 = 2;

/// Runs a command line, and returns the exit code.
pub(crate) fn run(args: &[OsString]) -> u8 {
    if let Some((own, order)) = supervision(args) {
        return gate_checks::process::supervise(own, order);
    }
    panics::keep_all();
    match Cli::try_parse_from(args) {
        Ok(cli) => {
            let asked = Asked::of(&cli.command);
            guarded(|| dispatch(cli)).unwrap_or_else(|failure| render::failure(&failure, asked))
        }
        Err(error) if is_answer(&error) => error.print().map_or(5, |()| DONE),
        Err(error) if is_bare(&error) => error.print().map_or(5, |()| MISUSED),
        Err(error) => misused(&error, args),
    }
}

/// The command line of a supervisor: gate's own part, and its order.
fn supervision(args: &[OsString]) -> Option<(&[OsString], &[OsString])> {
    let command = args.get(1)?;
    let own = if command == SUPERVISE { 2 } else { 4 };
    if own == 2 || command == ATTEND { args.split_at_checked(own) } else { None }
}

/// How a command wants to hear of a failure.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Asked {
    /// As JSON on stdout.
    pub(crate) json: bool,
    /// With "STOP, not done" first on stderr: the caller is a loop.
    pub(crate) stop: bool,
}

impl Asked {
    fn of(command: &Command) -> Self {
        match command {
            Command::Check(check) => Self { json: check.output.json, stop: true },
            Command::Scan(scan) => Self { json: scan.json, stop: false },
            Command::Replay(replay) => Self { json: replay.json, stop: false },
            Command::Doctor(doctor) => Self { json: doctor.json, stop: false },
            Command::Last(last) => Self { json: last.output.json, stop: true },
            Command::Explain(explain) => Self { json: explain.json, stop: false },
            Command::Baseline(baseline) => Self { json: baseline.json, stop: false },
            Command::Breaker(breaker) => Self { json: breaker.of().json, stop: false },
            Command::Ledger(ledger) => Self { json: ledger.json(), stop: false },
            Command::Run(run) => Self { json: run.json, stop: true },
            Command::Status(status) => Self { json: status.json, stop: false },
            Command::Log(log) => Self { json: log.json, stop: false },
            Command::Trust(trust) => Self { json: trust.json, stop: false },
            Command::Lock(lock) => Self { json: lock.json, stop: false },
            Command::Version(version) => Self { json: version.json, stop: false },
            Command::Bus(bus) => Self { json: bus.json(), stop: false },
            Command::Fact(fact) => Self { json: fact.json(), stop: false },
            Command::Exit(exit) => Self { json: exit.json(), stop: false },
            Command::Work(work) => Self { json: work.json(), stop: false },
            Command::Handoff(handoff) => Self { json: handoff.json(), stop: false },
            _ => Self::default(),
        }
    }
}

/// A command line that cannot be understood: nothing was decided.
fn misused(error: &clap::Error, args: &[OsString]) -> u8 {
    let has = |name: &str| args.iter().any(|arg| arg == name);
    let text = error.render().to_string();
    let message = text.trim_start_matches("error: ").trim_end().to_owned();
    let failure = Failure::usage("usage", message);
    render::failure(&failure, Asked { json: has("--json"), stop: !asks_something_else(args) })
}

/// Whether the command line names a command that no loop waits for. Where
/// none can be made out, the caller may well be a loop.
fn asks_something_else(args: &[OsString]) -> bool {
    let commands = Cli::command();
    let named = |arg: &OsString| commands.get_subcommands().find(|known| arg == known.get_name());
    args.iter().skip(1).find_map(named).is_some_and(|command| command.get_name() != "check")
}

fn dispatch(cli: Cli) -> Result<u8, Failure> {
    let here = Here::of_process(cli.dir)?;
    match cli.command {
        Command::Check(args) => check::run(&here, &args),
        Command::Scan(args) => scan::run(&here, &args),
        Command::Replay(args) => replay::run(&here, &args),
        Command::Run(args) => run::run(&here, &args),
        Command::Stop(args) => stop::run(&here, &args),
        Command::Prompt(args) => prompt::run(&here, &args),
        Command::Init(args) => init::run(&here, &args),
        Command::Install(args) => install::run(&here, &args),
        Command::Uninstall(args) => uninstall::run(&here, &args),
        Command::Baseline(args) => baseline::run(&here, &args),
        Command::Config(args) => config::run(&here, &args),
        Command::Doctor(args) => doctor::run(&here, &args),
        Command::Last(args) => last::run(&here, &args),
        Command::Explain(args) => explain::run(&here, &args),
        Command::Hook(args) => hook::run(&here, &args),
        Command::Off(args) => switch::off(&here, &args),
        Command::On(args) => switch::on(&here, &args),
        Command::Status(args) => status::run(&here, &args),
        Command::Breaker(args) => breaker::run(&here, &args),
        Command::Trust(args) => trust::run(&here, &args),
        Command::Lock(args) => lock::run(&here, &args),
        Command::Version(args) => version::run(&args),
        Command::Ledger(args) => ledger::run(&here, &args),
        Command::Log(args) => log::run(&here, &args),
        Command::Bus(args) => bus::run(&here, &args),
        Command::Fact(args) => fact::run(&here, &args),
        Command::Exit(args) => exit::run(&here, &args),
        Command::Work(args) => work::run(&here, &args),
        Command::Handoff(args) => handoff::run(&here, &args),
        Command::Completions { shell } => man::completions(shell),
        Command::Man { command } => man::page(command.as_deref()),
    }
}

/// Where the command runs.
pub(crate) struct Here {
    pub(crate) places: Places,
}

impl Here {
    /// Where checks look, by the settings that decide.
    pub(crate) fn site_under(&self, trust: &Trust) -> Result<Site, Failure> {
        self.site_of(trust.project()?)
    }

    /// Where checks look.
    pub(crate) fn site(&self) -> Result<Site, Failure> {
        self.site_of(self.places.project()?)
    }

    fn site_of(&self, project: PathBuf) -> Result<Site, Failure> {
        let program = std::env::current_exe().ok().filter(|program| program.is_file());
        // Where gate was replaced while it runs, Linux still leads to it.
        let running = || Some(PathBuf::from(format!("/proc/{}/exe", std::process::id())));
        let program = program.or_else(|| running().filter(|program| program.is_file()));
        let gate = |command: &str| {
            let args = vec![command.to_owned()];
            program.clone().map(|program| Supervisor { program, args })
        };
        Ok(Site {
            state: self.places.state.clone(),
            supervisor: gate(SUPERVISE),
            environment: self.places.environment.clone(),
            slots: self.places.state.as_ref().map(|state| state.join(SLOTS)),
            ..Site::new(project)
        })
    }
}

impl Here {
    /// That an operator's command or flag, as it is typed, may be given here.
    fn operator(&self, act: &str) -> Result<Operator, Failure> {
        Operator::admitted(act, &self.places)
    }

    /// That a command that agents may give is not given below a check.
    pub(crate) fn above_checks(&self, act: &str) -> Result<Operator, Failure> {
        Operator::above_checks(act, &self.places)
    }

    /// What decisions under these settings are remembered by.
    pub(crate) fn memory_under(
        &self,
        trust: &Trust,
        policy: &Policy,
        patience: Duration,
    ) -> Result<Memory, Failure> {
        let id = policy.project_id.as_deref();
        Memory::open_under(&trust.look()?, &self.places, id, patience)
    }

    /// What the project's decisions are remembered by.
    fn memory(&self, policy: &Policy) -> Result<Memory, Failure> {
        Memory::open(&self.places, policy.project_id.as_deref())
    }

    fn of_process(dir: Option<PathBuf>) -> Result<Self, Failure> {
        let current = std::env::current_dir().map_err(|error| {
            Failure::internal("folder-unknown", format!("no current folder: {error}"))
        })?;
        let asked = dir.map_or_else(|| current.clone(), |dir| current.join(dir));
        let folder =
            asked.canonicalize().ok().filter(|folder| folder.is_dir()).ok_or_else(|| {
                Failure::usage("usage", format!("-C {}: no such folder", asked.display()))
            })?;
        Ok(Self { places: Places::of_process(folder) })
    }
}

impl Settings {
    pub(crate) fn selection(&self) -> Selection {
        Selection {
            config: self.config.clone(),
            task_type: self.task_type.clone(),
            threshold: self.exit_threshold,
            require_evidence: false,
        }
    }
}

/// That a check of this name, which `--only` asked for, is configured.
fn known_check(policy: &Policy, name: &str) -> Result<(), Failure> {
    if policy.checks.contains_key(name) {
        return Ok(());
    }
    let known: Vec<_> = policy.checks.keys().map(String::as_str).collect();
    let message = format!("--only {name}: no such check is configured");
    let failure = Failure::usage("unknown-check", message);
    let hint = format!("configured are {}", known.join(", "));
    Err(if known.is_empty() { failure } else { failure.hint(hint) })
}

/// Prints a command's answer.
pub(crate) fn print(text: &str) -> Result<(), Failure> {
    let mut out = anstream::stdout().lock();
    out.write_all(text.as_bytes())
        .and_then(|()| out.flush())
        .map_err(|error| Failure::output(&error))
}

/// Whether help or the version was asked for.
fn is_answer(error: &clap::Error) -> bool {
    matches!(error.kind(), ErrorKind::DisplayHelp | ErrorKind::DisplayVersion)
}

/// Whether no command was named at all: the answer is how to use gate.
fn is_bare(error: &clap::Error) -> bool {
    use ErrorKind::{DisplayHelpOnMissingArgumentOrSubcommand, MissingSubcommand};
    matches!(error.kind(), DisplayHelpOnMissingArgumentOrSubcommand | MissingSubcommand)
}
