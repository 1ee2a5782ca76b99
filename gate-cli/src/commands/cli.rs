//! The commands by name.

#[cfg(test)]
mod tests;

use std::path::PathBuf;

use clap::{Parser, Subcommand};
use clap_complete::Shell;

use super::{
    approve, audit, baseline, breaker, bus, check, ci, config, demo, doctor, exit, explain, fact,
    goal, handoff, hook, init, install, last, ledger, log, notify, prompt, prune, replay, report,
    run, scan, seal, setup, status, stop, switch, trust, uninstall, work, wrong,
};

/// Decides whether a coding agent's loop may end.
///
/// exit = (indicators >= threshold) AND (explicit exit signal) AND (every
/// required check passes)
#[derive(Debug, Parser)]
#[command(name = "gate", version, max_term_width = 100)]
pub(crate) struct Cli {
    /// Run as if started in this folder.
    #[arg(short = 'C', value_name = "DIR")]
    pub(crate) dir: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) color: colorchoice_clap::Color,
    /// None: what is set up here, and the next step.
    #[command(subcommand)]
    pub(crate) command: Option<Command>,
}

// A start makes the arguments of its own command alone: those of all commands took a third of it.
#[derive(Debug, Subcommand)]
#[command(defer = true)]
pub(crate) enum Command {
    /// Set up a project: its checks, your agents' hooks, one test stop
    ///
    /// Writes gate.toml if there is none, installs the hooks of the agents that are found, lets
    /// each refuse a test stop, and says how to undo it. It can be run again at any time.
    #[command(after_help = setup::CODES)]
    Setup(setup::Setup),
    /// Decide if the loop may end, from the output of one iteration
    #[command(after_help = check::CODES)]
    Check(check::Check),
    /// Judge a pull request or a push by its base
    ///
    /// The base's settings and tests count. It needs no signal of an agent and no approval of settings, and records nothing. It runs in
    /// the checkout of a CI, which has to have the base, too.
    #[command(after_help = ci::CODES)]
    Ci(ci::Ci),
    /// Show the signal and the indicators of transcripts
    ///
    /// Runs no checks and keeps no state.
    Scan(scan::Scan),
    /// Judge past transcripts, and compare with labels
    #[command(after_help = replay::CODES)]
    Replay(replay::Replay),
    /// Give the agent a goal that a command checks
    ///
    /// Until the command passes, a stop that changed something is refused, and no loop ends. To give
    /// and to drop one is for the operator; recorded.
    #[command(override_usage = goal::USAGE)]
    Goal(goal::GoalArgs),
    /// Show what stood behind the claims in past transcripts
    ///
    /// Reads what agents wrote on this machine. Nothing is run, and nothing leaves the machine.
    Audit(audit::Audit),
    /// Propose settings that judge fewer transcripts wrong
    Tune(replay::tune::Tune),
    /// Run an agent until gate says that the work is done
    #[command(after_help = run::CODES, override_usage = run::USAGE)]
    Run(run::Run),
    /// Report loops on one page: why they ended, what they cost
    Report(report::Report),
    /// Send the message on standard input; gate itself calls this
    #[command(subcommand, hide = true)]
    Notify(notify::Notify),
    /// Stop the loops of this project
    Stop(stop::Stop),
    /// Print the completion protocol for an agent's prompt
    Prompt(prompt::Prompt),
    /// Watch gate refuse a false "all done", and let an honest one go
    ///
    /// Takes a few seconds, in a temporary folder: nothing of yours is read or changed.
    #[command(after_help = demo::CODES)]
    Demo,
    /// Write gate.toml, or a loop around an agent
    Init(init::Init),
    /// Install gate's stop hook for an agent
    Install(install::Install),
    /// Remove gate's hooks from an agent's settings
    Uninstall(uninstall::Uninstall),
    /// Record the current tree as the starting point for comparison
    ///
    /// Do that before the agent starts. For the operator; recorded.
    #[command(after_help = baseline::args::CODES)]
    Baseline(baseline::args::Baseline),
    /// Show, describe or import settings
    #[command(subcommand)]
    Config(config::Config),
    /// Find what is missing or wrong; prove that each check can fail
    Doctor(doctor::Doctor),
    /// Show the latest decision and exit with its code
    #[command(after_help = last::CODES)]
    Last(last::Last),
    /// Explain a decision, or the code of a reason
    #[command(after_help = explain::CODES)]
    Explain(explain::Explain),
    /// Answer an agent's hook; its client calls this
    ///
    /// The event is read from stdin, and the reply is written to stdout.
    Hook(hook::Hook),
    /// Switch the stop hooks off here
    ///
    /// For the operator; recorded.
    Off(switch::Off),
    /// Switch the stop hooks on again
    ///
    /// For the operator; recorded.
    On(switch::On),
    /// Show if stops are checked here, and the loops of this machine
    Status(status::StatusArgs),
    /// Show or operate the circuit breaker
    #[command(subcommand)]
    Breaker(breaker::Breaker),
    /// Show what gate.toml starts, and approve it
    ///
    /// For the operator; recorded.
    Trust(trust::Trust),
    /// Approve changed tests, so that the work may be done with them
    ///
    /// The next check goes by it, without another turn of the agent. For the operator;
    /// recorded.
    Approve(approve::Approve),
    /// Seal tests that the agent does not see
    #[command(subcommand)]
    Seal(seal::Sealing),
    /// Mark a decision as a false refusal or a false exit
    ///
    /// `gate replay` takes the mark as a label. For the operator; recorded.
    Wrong(wrong::Wrong),
    /// Verify, show or export gate's records
    #[command(subcommand)]
    Ledger(ledger::Ledger),
    /// Show the latest records, one a line
    Log(log::Log),
    /// Read and write messages between runs and agents
    #[command(subcommand)]
    Bus(bus::Bus),
    /// Record a fact for a task or for the project
    #[command(subcommand)]
    Fact(fact::Fact),
    /// Check or create signals of the agent exit protocol
    #[command(subcommand)]
    Exit(exit::Exit),
    /// Hand out work items: add, claim, list
    #[command(subcommand)]
    Work(work::Work),
    /// Draft, check, convert or verify a handoff between agents
    #[command(subcommand)]
    Handoff(handoff::Handoff),
    /// Free the disk space of copies, build output and old logs
    ///
    /// Removes what gate can make again and no running check uses: copies of work trees, the
    /// build output beside them, folders that killed gates left behind, and logs of checks that
    /// are older than an hour. With `--older` also the folders of runs that ended before.
    /// Decisions and baselines stay. It is safe while other gates run.
    Prune(prune::Prune),
    /// Print completions for a shell
    Completions {
        /// The shell.
        shell: Shell,
    },
    /// Print a manual page, of gate or of a command
    Man {
        /// The command.
        command: Option<String>,
    },
}
