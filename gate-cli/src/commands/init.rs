//! `gate init`: a commented gate.toml for what the project is, or a loop around
//! an agent.

mod measure;
mod merge;
mod story;
mod text;

use std::collections::BTreeMap;
use std::fs::{self, OpenOptions};
use std::io::{ErrorKind, Write};
use std::path::Path;

use clap::{Args, ValueEnum};
use gate_platform::OpenOptionsExt;

use gate_checks::project::{Aim, Detected, Proposal, detect_with_ci};

use super::common::{DONE, no_home};
use crate::agent::Agent;
use crate::approval::approve_written;
use crate::failure::Failure;
use crate::install::{self, Roots};
use crate::invocation::Invocation;
use crate::render::{self, print, print_text};
use crate::test_approval::red_test_notes;
use measure::{Measured, Stopwatch, narrowed};

/// Exit code if a required check cannot pass here.
const PROBLEMS: u8 = 1;

/// The step that is left if no required check runs tests.
pub(super) const NAME_TESTS: &str =
    "name the command that runs your tests in gate.toml, then `gate trust`";

/// The settings' file.
const SETTINGS_FILE: &str = "gate.toml";

#[derive(Debug, Args)]
pub(crate) struct Init {
    /// Write a loop around an agent instead, in this language.
    #[arg(long = "loop", value_name = "LANGUAGE")]
    pub(crate) language: Option<Language>,
    /// Do not run the checks that are found to see how long they take.
    #[arg(long, conflicts_with = "language")]
    pub(crate) no_run: bool,
    /// Add the checks that are found to the gate.toml that is there, in this folder or above.
    #[arg(long, conflicts_with = "language")]
    pub(crate) merge: bool,
}

/// The languages in which `gate init` writes a loop.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum Language {
    /// gate-loop.sh
    Bash,
    /// gate-loop.py
    Python,
    /// gate-loop.mjs
    Ts,
    /// gate-loop.go
    Go,
}

/// A file that `gate init --loop` writes.
struct Template {
    file: &'static str,
    text: &'static str,
    is_executable: bool,
    next: &'static str,
}

impl Language {
    fn template(self) -> Template {
        match self {
            Self::Bash => Template {
                file: "gate-loop.sh",
                text: include_str!("../templates/gate-loop.sh"),
                is_executable: true,
                next: "./gate-loop.sh",
            },
            Self::Python => Template {
                file: "gate-loop.py",
                text: include_str!("../templates/gate-loop.py"),
                is_executable: true,
                next: "./gate-loop.py",
            },
            Self::Ts => Template {
                file: "gate-loop.mjs",
                text: include_str!("../templates/gate-loop.mjs"),
                is_executable: false,
                next: "node gate-loop.mjs",
            },
            Self::Go => Template {
                file: "gate-loop.go",
                text: include_str!("../templates/gate-loop.go"),
                is_executable: false,
                next: "go build gate-loop.go && ./gate-loop",
            },
        }
    }
}

pub(super) fn run(invocation: &Invocation, args: &Init) -> Result<u8, Failure> {
    let Some(language) = args.language else { return write_or_merge(invocation, args) };
    let Template { file, text, is_executable, next } = language.template();
    let file = invocation.places.folder.join(file);
    write(&file, text, is_executable)?;
    print_text(&format!("wrote {}\nnext: {next} PROMPT.md AGENT [ARGS…]\n", file.display()))?;
    Ok(DONE)
}

/// Writes gate.toml, or adds to the one that is there. Looks for the file first, so that no check
/// runs in vain.
fn write_or_merge(invocation: &Invocation, args: &Init) -> Result<u8, Failure> {
    let nearest_file = invocation.places.project_file()?;
    let checks = match &nearest_file {
        Some(file) if args.merge => {
            let detected =
                missing_checks(invocation, detect_with_ci(&invocation.places.folder), file)?;
            let checks = FoundChecks::measure(invocation, file, detected, args.no_run)?;
            merge::add(invocation, file, &checks)?;
            checks
        }
        _ => {
            let checks = write_settings(invocation, args.no_run)?;
            let file = invocation.places.folder.join(SETTINGS_FILE);
            print(&checks.answer(&file, installed_agent(invocation)))?;
            checks
        }
    };
    let runs = checks.runs.values();
    let red_tests: Vec<_> = runs.flat_map(|measured| measured.red_tests.clone()).collect();
    render::notes(&red_test_notes(&red_tests));
    Ok(if checks.failing_here().is_empty() { DONE } else { PROBLEMS })
}

/// The text of a gate.toml for what a project was found to have, without any run of its checks.
pub(super) fn detected_settings(detected: &Detected) -> String {
    text::settings(detected, &BTreeMap::new())
}

/// Writes a gate.toml with the checks that are found in the folder, and approves it.
///
/// # Errors
///
/// The folder has one already, or is a home folder.
pub(super) fn write_settings(
    invocation: &Invocation,
    no_run: bool,
) -> Result<FoundChecks, Failure> {
    let file = invocation.places.folder.join(SETTINGS_FILE);
    if file.symlink_metadata().is_ok() {
        return Err(already_exists(&file).hint(
            "`gate init --merge` adds the checks that it lacks; if a command could not run and can \
             run now, delete gate.toml and run `gate init` again",
        ));
    }
    no_home(&invocation.places, &invocation.places.folder)?;
    let mut detected = detect_with_ci(&invocation.places.folder);
    if let Some(file_above) = invocation.places.project_file()? {
        detected.notes.push(shadowing_note(&file_above));
    }
    let checks = FoundChecks::measure(invocation, &file, detected, no_run)?;
    write(&file, &text::settings(&checks.detected, &checks.runs), false)?;
    // Gate has written every line of this file.
    approve_written(invocation);
    Ok(checks)
}

/// The checks that were found in a project, with the result of running each once.
pub(super) struct FoundChecks {
    detected: Detected,
    /// The checks that were run, by their names.
    runs: BTreeMap<String, Measured>,
}

impl FoundChecks {
    /// Runs the checks once, unless `no_run` forbids it.
    fn measure(
        invocation: &Invocation,
        file: &Path,
        mut detected: Detected,
        no_run: bool,
    ) -> Result<Self, Failure> {
        let stopwatch = Stopwatch::new(invocation, file)?;
        let runs = match no_run {
            true => BTreeMap::new(),
            false => run_proposals(&mut detected, &stopwatch),
        };
        switch_off_unusable(&mut detected, &runs);
        Ok(Self { detected, runs })
    }

    /// The result of running a proposed check, if it was run.
    fn run_of(&self, proposal: &Proposal) -> Option<&Measured> {
        self.runs.get(&proposal.check)
    }

    /// The required checks that cannot pass until a person installs or changes something.
    fn failing_here(&self) -> Vec<&Proposal> {
        let required = self.detected.proposals.iter().filter(|proposal| !proposal.optional);
        let failing = required.filter(|proposal| {
            self.run_of(proposal).map_or(proposal.is_missing, |measured| {
                measured.cannot_pass() && !measured.is_over_limit
            })
        });
        failing.collect()
    }
}

/// The checks that a settings file lacks, named and placed as they need it.
fn missing_checks(
    invocation: &Invocation,
    detected: Detected,
    file: &Path,
) -> Result<Detected, Failure> {
    let text = fs::read_to_string(file)
        .map_err(|error| Failure::file("file-unreadable", "read", file, &error))?;
    let folder = file.parent().and_then(|top| invocation.places.folder.strip_prefix(top).ok());
    let placed = match folder {
        Some(folder) if folder != Path::new("") => merge::placed_in(detected, folder),
        _ => detected,
    };
    Ok(merge::missing_checks(placed, &text))
}

/// A note that settings above do not count any more.
fn shadowing_note(file_above: &Path) -> String {
    format!(
        "{} no longer counts in this folder, for the nearest gate.toml counts alone; \
         `gate init --merge` adds the checks to it instead",
        file_above.display()
    )
}

/// A suite that has no tests, does not start or does not end, and a linter that cannot run here, are
/// only mentioned: as required checks they would never pass. If CI gives a suite more time, so does
/// gate.
fn switch_off_unusable(detected: &mut Detected, runs: &BTreeMap<String, Measured>) {
    for proposal in &mut detected.proposals {
        let Some(measured) = runs.get(&proposal.check) else { continue };
        let is_extra = matches!(proposal.aim, Aim::Lint | Aim::Typecheck);
        let never_ends = measured.is_over_limit && !text::has_more_time(proposal);
        proposal.optional |= measured.has_no_tests
            || measured.has_no_start
            || never_ends
            || is_extra && measured.cannot_pass();
    }
}

/// The first agent that the user has installed, for an example.
fn installed_agent(invocation: &Invocation) -> Agent {
    let installed = Roots::new(&invocation.places)
        .ok()
        .and_then(|roots| Agent::ALL.into_iter().find(|agent| install::is_here(*agent, &roots)));
    installed.unwrap_or(Agent::ClaudeCode)
}

/// Runs the checks, and returns the results by the check's name. Builds come first, so that the
/// time of tests does not hold that of a first build.
fn run_proposals(detected: &mut Detected, stopwatch: &Stopwatch) -> BTreeMap<String, Measured> {
    let mut runs = BTreeMap::new();
    for aim in [Aim::Build, Aim::Tests, Aim::Lint, Aim::Typecheck] {
        for proposal in detected.proposals.iter_mut().filter(|proposal| proposal.aim == aim) {
            if !proposal.optional
                && let Some(measured) = stopwatch.measure(proposal)
            {
                let measured = narrowed(proposal, measured, |part| stopwatch.measure(part));
                runs.insert(proposal.check.clone(), measured);
            }
        }
    }
    runs
}

/// Writes a new file, and never over one that exists.
fn write(file: &Path, text: &str, is_executable: bool) -> Result<(), Failure> {
    let mode = if is_executable { 0o755 } else { 0o644 };
    // The system refuses an existing file in the same step, so nothing can come between.
    let opened = OpenOptions::new().write(true).create_new(true).mode(mode).open(file);
    opened.and_then(|mut file| file.write_all(text.as_bytes())).map_err(|error| {
        match error.kind() {
            ErrorKind::AlreadyExists => already_exists(file),
            _ => Failure::file("file-unwritable", "write", file, &error),
        }
    })
}

fn already_exists(file: &Path) -> Failure {
    let message = format!("{} exists already; it was not touched", file.display());
    Failure::usage("file-exists", message)
}
