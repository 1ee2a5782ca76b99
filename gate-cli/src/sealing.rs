//! Sealed tests before a loop begins: `gate seal add` and `gate trust` run them once without the work.

use std::fmt::Write as _;
use std::io::IsTerminal;

use gate_checks::{CheckSite, Seal, SealedTrial, note_tried, sealed_checks};
use gate_core::text::{self, MAX_NAMES, counted, some_names};
use schemars::JsonSchema;
use serde::Serialize;

use crate::failure::Failure;
use crate::gate::Gate;
use crate::interrupt::Interrupt;
use crate::invocation::Invocation;
use crate::render;
use crate::settings::Selection;
use crate::trust;

/// The sealed tests of a check, run once without the work: those that fail show whether it is done.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub(crate) struct TrialRecord {
    /// The check.
    pub(crate) check: String,
    /// The tests that fail without the work.
    pub(crate) red: Vec<String>,
    /// The tests that pass without the work, and prove nothing about it.
    pub(crate) green: Vec<String>,
    /// The number of further tests that pass without the work: the command names failing ones alone.
    pub(crate) unnamed_green: u64,
    /// The tests that the runner leaves out.
    pub(crate) skipped: Vec<String>,
    /// The files that do not load or build without the work.
    pub(crate) not_loaded: Vec<String>,
    /// The files that did not run, because others do not load.
    pub(crate) not_run: Vec<String>,
    /// The files that the command does not find.
    pub(crate) not_found: Vec<NotFound>,
    /// The reason why nothing is known of the tests; null if something is.
    pub(crate) obstacle: Option<String>,
}

/// A sealed file that the check's command does not find.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub(crate) struct NotFound {
    /// The file, relative to the sealed folder.
    pub(crate) file: String,
    /// The probable reason.
    pub(crate) reason: String,
}

impl TrialRecord {
    fn new(check: &str, trial: SealedTrial) -> Self {
        let SealedTrial { red, green, unnamed_green, skipped, .. } = trial;
        let not_found = trial.not_found.into_iter().map(|(file, reason)| {
            let file = file.display().to_string();
            NotFound { file, reason }
        });
        let [not_loaded, not_run] = [trial.not_loaded, trial.not_run]
            .map(|files| files.iter().map(|file| file.display().to_string()).collect());
        Self {
            check: check.to_owned(),
            red,
            green,
            unnamed_green,
            skipped,
            not_loaded,
            not_run,
            not_found: not_found.collect(),
            obstacle: trial.obstacle,
        }
    }

    fn without_answer(check: &str, obstacle: &str) -> Self {
        let (check, obstacle) = (check.to_owned(), Some(obstacle.to_owned()));
        Self { check, obstacle, ..Self::default() }
    }

    /// The trial as lines for a person.
    pub(crate) fn card(&self) -> String {
        if let Some(obstacle) = &self.obstacle {
            return format!("  not tried yet: {}\n", text::clean(obstacle));
        }
        let red = self.red.len() + self.not_loaded.len();
        let green = self.green.len() as u64 + self.unnamed_green;
        let mut card = format!("without the work: {red} red, {green} green\n");
        let mut line = |word: &str, names: &[String], note: &str| {
            if !names.is_empty() {
                let names = text::clean(&some_names(names, MAX_NAMES));
                // Writing to a String cannot fail.
                let _ = writeln!(card, "  {word:<9} {names}{note}");
            }
        };
        line("red", &self.red, "");
        line("red", &self.not_loaded, ": does not load without the work");
        line("green", &self.green, ": passes without the work, and proves nothing");
        line("skipped", &self.skipped, "");
        line("not run", &self.not_run, ": others do not load, so that it is not known yet");
        for NotFound { file, reason } in &self.not_found {
            let _ = writeln!(card, "  not found {}: {}", text::clean(file), text::clean(reason));
        }
        if !self.not_found.is_empty() {
            let check = text::clean(&self.check);
            let _ = writeln!(
                card,
                "no work can end as long as a file is not found: give it a path and a name that the \
                 command of {check} finds, or add it to the command, and seal again"
            );
        } else if red == 0 {
            card.push_str("no test is red: as they stand, they refuse no missing work\n");
        }
        card
    }
}

/// Runs the sealed tests of a check once without the work. They stay sealed whatever comes of it.
pub(crate) fn try_sealed(invocation: &Invocation, check: &str) -> Result<TrialRecord, Failure> {
    let (settings, trust) = trust::settings_as_written(&invocation.places, &Selection::default())?;
    let site = CheckSite { ignore: settings.policy.tree.ignore.clone(), ..invocation.site()? };
    let interrupt = Interrupt::listen()?;
    let gate = Gate::open(settings, site.clone())?.trusting(trust)?;
    if !gate.may_start_checks() {
        let obstacle = "the settings are not approved; `gate trust` approves them, and tries them";
        return Ok(TrialRecord::without_answer(check, obstacle));
    }
    if std::io::stderr().is_terminal() {
        render::notes(&["running the sealed tests once without the work; Ctrl-C skips it".into()]);
    }
    let trial = gate.try_sealed(check, &interrupt)?;
    if interrupt.code().is_some() {
        return Ok(TrialRecord::without_answer(check, "interrupted"));
    }
    let ran = [trial.green.as_slice(), &trial.red].concat();
    note_tried(&site, check, &ran)?;
    Ok(TrialRecord::new(check, trial))
}

/// The sealed folders of settings that were approved just now, for a person: those that cannot be used,
/// and a first run of those that were never tried.
pub(crate) fn sealed_after_trust(invocation: &Invocation) -> Result<String, Failure> {
    let (settings, _) = trust::settings_as_written(&invocation.places, &Selection::default())?;
    let mut card = String::new();
    for (check, seal) in sealed_checks(&settings.policy, &invocation.site()?)? {
        match seal {
            Ok(Seal { tried: true, .. }) => {}
            Ok(seal) => {
                card.push_str(&sealed_line(&check, &seal));
                card.push_str(&try_sealed(invocation, &check)?.card());
            }
            Err(error) => {
                let error = text::clean(&error.to_string());
                let check = text::clean(&check);
                let _ = writeln!(card, "sealed tests of {check}: {error}; until then no work ends");
            }
        }
    }
    Ok(card)
}

/// The act of sealing, in words.
pub(crate) fn sealed_line(check: &str, seal: &Seal) -> String {
    let (files, folder) = (counted(seal.files, "file"), seal.folder.display());
    format!("sealed for {check}: {files} in {folder}\n")
}
