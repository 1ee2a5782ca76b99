//! `gate check`: decides over one iteration.

pub(super) mod args;

use std::io::{self, IsTerminal};
use std::path::{Path, PathBuf};

use gate_checks::{CheckSite, Checks, Events, GatherOptions};
use gate_core::decide::policy::When;
use gate_core::{Policy, Verdict};

pub(crate) use self::args::{CODES, Check};
use super::common::{known_check, write_file};
use super::junit::write_junit;
use super::locked;
use super::plan;
use super::sarif::{failed_tests, write_sarif};
use crate::failure::Failure;
use crate::gate::{Gate, admit_format};
use crate::invocation::Invocation;
use crate::notify::{self, Notifier};
use crate::operator::agent_above;
use crate::record::Record;
use crate::render::{self, CardOptions, print};
use crate::request::{Asker, Request, Turn};
use crate::settings::Selection;
use crate::source::Source;
use crate::trust;

/// With `--while`, the exit code of a loop that may end.
const WHILE_EXIT: u8 = 10;

pub(super) fn run(invocation: &Invocation, args: &Check) -> Result<u8, Failure> {
    match &args.file {
        Some(file) if !args.plan => decide(invocation, args, file),
        _ => plan::run(invocation, args),
    }
}

fn decide(invocation: &Invocation, args: &Check, file: &Path) -> Result<u8, Failure> {
    // The flags that let work pass are for a person, and an agent can call gate, too.
    for (act, _) in acts(args) {
        invocation.operator(&format!("--{}", act.replace('_', "-")))?;
    }
    let selection = args.reading.settings.selection();
    let selection = Selection { require_evidence: args.require_evidence, ..selection };
    // Without checks and state nothing depends on an approval.
    let (settings, trust) = if args.no_state && args.checks.no_checks {
        trust::settings_as_written(&invocation.places, &selection)?
    } else {
        trust::settings_in_force(&invocation.places, &selection)?
    };
    if args.checks.no_checks {
        locked::admit_without_checks(&settings, "--no-checks")?;
    }
    let site = invocation.site_under(&trust)?;
    let site = if args.no_state { CheckSite { state: None, slots: None, ..site } } else { site };
    // A bad place for messages must not prevent a verdict; `gate doctor` reports it.
    let notifier = Notifier::new(invocation, &settings, &trust).ok().flatten();
    let gate = Gate::open(settings, site)?.at(When::Check);
    let gate = if args.no_state {
        gate
    } else {
        let memory = invocation.memory_under(&trust, gate.policy())?;
        gate.remembering(memory)
    };
    let gate = gate.trusting(trust)?;
    if let Some(name) = &args.checks.only {
        known_check(gate.policy(), name)?;
    }
    let source = Source::named(file, &invocation.places.folder);
    let record = gate.check_admitted(&source, &request(invocation, args), |scan| {
        // An agent that failed may print any JSON.
        let has_failed = args.agent_exit_code.is_some_and(|code| code != 0);
        if has_failed { Ok(()) } else { admit_format(&source, scan, args.reading.format) }
    })?;
    if let Some(file) = &args.feedback {
        write_feedback(&invocation.places.folder.join(file), &record)?;
    }
    if let Some(file) = &args.sarif {
        let evidence = &record.decision.input.evidence;
        write_sarif(&invocation.places.folder.join(file), evidence, &failed_tests(evidence))?;
    }
    write_junit(invocation, args.junit.as_deref(), Some(&record))?;
    answer(args, &record, gate.policy())?;
    notify::send_decision(invocation, notifier.as_ref(), &record);
    Ok(exit_code(args, record.decision.verdict))
}

fn request(invocation: &Invocation, args: &Check) -> Request {
    let asker = Asker {
        task: args.task.clone(),
        run: args.run.clone(),
        iteration: args.iteration,
        new_run: args.new_run,
        dry_run: args.dry_run,
        is_agent: agent_above(&invocation.places).is_some(),
        force_reason: args.reason.clone(),
        acts: acts(args),
        ..Asker::default()
    };
    let turn = Turn {
        format: args.reading.format,
        since: args.since,
        agent_exit_code: args.agent_exit_code,
        own_files: own_files(invocation, args),
        ..Turn::default()
    };
    let checking = GatherOptions {
        checks: match &args.checks {
            checks if checks.no_checks => Checks::None,
            checks if checks.all_checks => Checks::All,
            checks => checks.only.clone().map_or(Checks::Lazy, Checks::Only),
        },
        fresh: args.no_cache,
        events: if args.output.quiet { Events::nobody() } else { render::progress() },
        ..GatherOptions::default()
    };
    Request { asker, turn, checking }
}

/// The files that are written after the decision.
fn own_files(invocation: &Invocation, args: &Check) -> Vec<PathBuf> {
    let files = args.feedback.iter().chain(&args.sarif).chain(&args.junit);
    files.map(|file| invocation.places.folder.join(file)).collect()
}

/// The operator's flags, for the record.
fn acts(args: &Check) -> Vec<(&'static str, Option<String>)> {
    let settings = &args.reading.settings;
    let config = settings.config.as_ref().map(|file| file.display().to_string());
    [
        args.force_complete.then(|| ("force_complete", args.reason.clone())),
        args.checks.no_checks.then_some(("no_checks", None)),
        settings.exit_threshold.map(|threshold| ("exit_threshold", Some(threshold.to_string()))),
        config.map(|file| ("config", Some(file))),
    ]
    .into_iter()
    .flatten()
    .collect()
}

fn answer(args: &Check, record: &Record, policy: &Policy) -> Result<(), Failure> {
    // At a terminal, the card already shows a person the same.
    let is_on_card = !args.output.quiet && !args.output.json && io::stdout().is_terminal();
    if !is_on_card {
        render::stop_line(record);
    }
    if args.output.quiet {
        return Ok(());
    }
    if args.output.json {
        print(&render::json(record)?)?;
    } else {
        let verbose = args.verbose;
        print(&render::card(record, CardOptions { verbose, policy: Some(policy) }))?;
    }
    if !is_on_card {
        render::unverified_line(record);
    }
    Ok(())
}

fn exit_code(args: &Check, verdict: Verdict) -> u8 {
    match verdict {
        Verdict::Continue if args.as_while => 0,
        Verdict::Exit if args.as_while => WHILE_EXIT,
        verdict => verdict.exit_code(),
    }
}

/// Writes the feedback to the file that the caller names.
fn write_feedback(file: &Path, record: &Record) -> Result<(), Failure> {
    write_file(file, record.decision.feedback.as_bytes()).map_err(|error| {
        let failure = Failure::file("feedback-unwritable", "write the feedback to", file, &error);
        Failure { exit_code: 5, ..failure }
    })
}
