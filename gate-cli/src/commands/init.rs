//! `gate init`: a commented gate.toml for what the project is, or a loop around
//! an agent.

mod measure;
mod merge;
mod story;
mod text;

use std::collections::BTreeMap;
use std::fs::{self, OpenOptions};
use std::io::{ErrorKind, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use clap::{Args, ValueEnum};

use gate_checks::project::{Aim, Detected, Proposal, detect_with_ci};

use super::common::{DONE, no_home};
use crate::agent::Agent;
use crate::approval::approve_written;
use crate::context::Here;
use crate::failure::Failure;
use crate::install::{self, Roots};
use crate::render::{self, print, print_text};
use crate::test_approval::red_before;
use measure::{Measured, Stopwatch};

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
    /// gate-loop.mts
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
                file: "gate-loop.mts",
                text: include_str!("../templates/gate-loop.mts"),
                is_executable: false,
                next: "node gate-loop.mts",
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

pub(super) fn run(here: &Here, args: &Init) -> Result<u8, Failure> {
    let Some(language) = args.language else { return settings(here, args) };
    let Template { file, text, is_executable, next } = language.template();
    let file = here.places.folder.join(file);
    write(&file, text, is_executable)?;
    print_text(&format!("wrote {}\nnext: {next} PROMPT.md AGENT [ARGS…]\n", file.display()))?;
    Ok(DONE)
}

/// Writes gate.toml, or adds to the one that is there. Looks for the file first, so that no check
/// runs in vain.
fn settings(here: &Here, args: &Init) -> Result<u8, Failure> {
    let nearest = here.places.project_file()?;
    let found = match &nearest {
        Some(nearest) if args.merge => {
            let detected = lacking(here, detect_with_ci(&here.places.folder), nearest)?;
            let found = FoundChecks::measured(here, nearest, detected, args.no_run)?;
            merge::add(here, nearest, &found)?;
            found
        }
        _ => {
            let found = write_settings(here, args.no_run)?;
            let file = here.places.folder.join(SETTINGS_FILE);
            print(&found.answer(&file, agent(here)))?;
            found
        }
    };
    let red: Vec<_> = found.times.values().flat_map(|measured| measured.red.clone()).collect();
    render::notes(&red_before(&red));
    Ok(if found.cannot_pass().is_empty() { DONE } else { PROBLEMS })
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
pub(super) fn write_settings(here: &Here, no_run: bool) -> Result<FoundChecks, Failure> {
    let file = here.places.folder.join(SETTINGS_FILE);
    if file.symlink_metadata().is_ok() {
        return Err(exists(&file).hint(
            "`gate init --merge` adds the checks that it lacks; if a command could not run and can \
             run now, delete gate.toml and run `gate init` again",
        ));
    }
    no_home(&here.places, &here.places.folder)?;
    let mut detected = detect_with_ci(&here.places.folder);
    if let Some(shadowed) = here.places.project_file()? {
        detected.notes.push(shadows(&shadowed));
    }
    let found = FoundChecks::measured(here, &file, detected, no_run)?;
    write(&file, &text::settings(&found.detected, &found.times), false)?;
    approve_written(here);
    Ok(found)
}

/// The checks that were found in a project, with the result of running each once.
pub(super) struct FoundChecks {
    detected: Detected,
    times: BTreeMap<String, Measured>,
}

impl FoundChecks {
    /// Runs the checks once, unless that is not wanted.
    fn measured(
        here: &Here,
        file: &Path,
        mut detected: Detected,
        no_run: bool,
    ) -> Result<Self, Failure> {
        let stopwatch = Stopwatch::new(here, file, &detected)?;
        let times = match no_run {
            true => BTreeMap::new(),
            false => timed(&detected, &|proposal| stopwatch.measure(proposal)),
        };
        require_what_can_pass(&mut detected, &times);
        Ok(Self { detected, times })
    }

    /// The result of running a proposed check, if it was run.
    fn measured_as(&self, proposal: &Proposal) -> Option<&Measured> {
        self.times.get(&proposal.check)
    }

    /// The required checks that cannot pass until a person installs or changes something.
    fn cannot_pass(&self) -> Vec<&Proposal> {
        let required = self.detected.proposals.iter().filter(|proposal| !proposal.optional);
        let cannot_pass = required.filter(|proposal| {
            self.measured_as(proposal).map_or(proposal.is_missing, Measured::cannot_pass)
        });
        cannot_pass.collect()
    }
}

/// The checks that the nearest settings lack, named and placed as they need it.
fn lacking(here: &Here, detected: Detected, nearest: &Path) -> Result<Detected, Failure> {
    let text = fs::read_to_string(nearest)
        .map_err(|error| Failure::file("file-unreadable", "read", nearest, &error))?;
    let folder = nearest.parent().and_then(|top| here.places.folder.strip_prefix(top).ok());
    let moved = match folder {
        Some(folder) if folder != Path::new("") => merge::below(detected, folder),
        _ => detected,
    };
    Ok(merge::lacking(moved, &text))
}

/// A note that settings above do not count any more.
fn shadows(nearest: &Path) -> String {
    format!(
        "{} no longer counts in this folder, for the nearest gate.toml counts alone; \
         `gate init --merge` adds the checks to it instead",
        nearest.display()
    )
}

/// A suite that has no tests or does not start, and a linter that cannot run here, are only
/// mentioned: as required checks they would never pass.
fn require_what_can_pass(detected: &mut Detected, times: &BTreeMap<String, Measured>) {
    for proposal in &mut detected.proposals {
        let Some(measured) = times.get(&proposal.check) else { continue };
        let is_extra = matches!(proposal.aim, Aim::Lint | Aim::Typecheck);
        proposal.optional |=
            measured.has_no_tests || measured.has_no_start || is_extra && measured.cannot_pass();
    }
}

/// The first agent that the user has installed, for an example.
fn agent(here: &Here) -> Agent {
    let installed = Roots::new(&here.places)
        .ok()
        .and_then(|roots| Agent::ALL.into_iter().find(|agent| install::is_here(*agent, &roots)));
    installed.unwrap_or(Agent::ClaudeCode)
}

/// The times of the checks, by the check's name. Builds come first, so that the time of tests is
/// less that of a first build.
fn timed(
    detected: &Detected,
    measure: &dyn Fn(&Proposal) -> Option<Measured>,
) -> BTreeMap<String, Measured> {
    let mut times = BTreeMap::new();
    for aim in [Aim::Build, Aim::Tests, Aim::Lint, Aim::Typecheck] {
        for proposal in detected.proposals.iter().filter(|other| other.aim == aim) {
            if !proposal.optional
                && let Some(measured) = measure(proposal)
            {
                times.insert(proposal.check.clone(), measured);
            }
        }
    }
    times
}

/// Writes a new file, and never over one that exists.
fn write(file: &Path, text: &str, is_executable: bool) -> Result<(), Failure> {
    let mode = if is_executable { 0o755 } else { 0o644 };
    let opened = OpenOptions::new().write(true).create_new(true).mode(mode).open(file);
    let written = opened.and_then(|mut file| file.write_all(text.as_bytes()));
    written.map_err(|error| match error.kind() {
        ErrorKind::AlreadyExists => exists(file),
        _ => Failure::file("file-unwritable", "write", file, &error),
    })
}

fn exists(file: &Path) -> Failure {
    let message = format!("{} exists already; it was not touched", file.display());
    Failure::usage("file-exists", message)
}
