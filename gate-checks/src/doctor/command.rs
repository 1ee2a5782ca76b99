//! Proving that a command can fail: by a control among its tests, else by broken sources.

use gate_core::decide::checks::{CheckKind, built_in};
use gate_core::decide::evidence::{Evidence, Outcome};

use super::bench::{Bench, Trouble};
use super::finding::{Proof, SelfTestOutcome};
use super::sabotage;
use crate::control::{self, ChangedFiles, Control, ControlNames, TestTree};
use crate::runner::{RunnerCommand, recognise};

/// Proves that the check can fail, by the surest means that its command allows.
pub(super) fn prove(bench: &Bench<'_>) -> Result<Proof, Trouble> {
    bench.copy.link_dependencies()?;
    let cwd = bench.cwd();
    let Some(command) = recognise(bench.settings(), &cwd) else {
        return prove_by_sabotage(bench, "");
    };
    let (root, files) = (&bench.copy.root, bench.copy.files.as_slice());
    let (args, changed) = (command.args.as_slice(), ChangedFiles::default());
    let place = TestTree { root, cwd: &cwd, files, args, reported: &[], changed };
    match control::plant(command.runner, &place)? {
        Some(control) => prove_by_control(bench, &command, &control),
        None => {
            let runner = command.runner.name();
            prove_by_sabotage(bench, &format!("there is no place for a control of {runner}; "))
        }
    }
}

fn prove_by_control(
    bench: &Bench<'_>,
    command: &RunnerCommand,
    control: &Control,
) -> Result<Proof, Trouble> {
    let evidence = bench.run()?;
    let failed_control = failed_control(&evidence, &control.names);
    if let (Outcome::Fail, Some(test)) = (evidence.outcome, failed_control) {
        let account = format!("it failed, and named the control test {test}");
        return Ok(bench.proof(SelfTestOutcome::CanFail, account, &evidence));
    }
    control.remove()?;
    match evidence.outcome {
        // A command that leaves tests out may have passed without the control for a good reason.
        Outcome::Pass if command.runner.selects_tests(&command.args) => {
            prove_by_sabotage(bench, "it runs a part of the tests, and left the control out; ")
        }
        Outcome::Pass => {
            let account = format!("the control tests did not fail the check: {}", evidence.summary);
            Ok(bench.proof(SelfTestOutcome::CannotFail, account, &evidence))
        }
        Outcome::Fail => compare_without_control(bench, &evidence),
        _ => Ok(unclear(bench, &evidence)),
    }
}

/// The first test of a control that a record names among the failed tests.
fn failed_control(evidence: &Evidence, names: &ControlNames) -> Option<String> {
    // A run with many failures names the first of them alone.
    evidence.failed_tests().iter().find(|test| names.occur_in(test)).map(|test| (*test).to_owned())
}

/// The check failed with a control, which its record does not name. That is a proof if it passes
/// without the control.
fn compare_without_control(
    bench: &Bench<'_>,
    evidence_with_control: &Evidence,
) -> Result<Proof, Trouble> {
    let evidence = bench.run()?;
    Ok(match evidence.outcome {
        Outcome::Pass => {
            let account = "it failed with control tests, and passed without".to_owned();
            bench.proof(SelfTestOutcome::CanFail, account, evidence_with_control)
        }
        Outcome::Fail => fails_unchanged(bench, &evidence),
        _ => unclear(bench, &evidence),
    })
}

/// Breaks sources, after the check has passed on the intact ones. `reservation` is the reason why no
/// control was used.
fn prove_by_sabotage(bench: &Bench<'_>, reservation: &str) -> Result<Proof, Trouble> {
    let intact = bench.run()?;
    match intact.outcome {
        Outcome::Pass => {}
        Outcome::Fail => return Ok(fails_unchanged(bench, &intact)),
        _ => return Ok(unclear(bench, &intact)),
    }
    let sabotage = match sabotage::break_sources(&bench.copy.root, &bench.copy.files)? {
        0 => {
            let account =
                format!("{reservation}no source file of a known language is there to be broken");
            return Ok(bench.not_shown(account));
        }
        1 => format!("{reservation}with a syntax error in the only source file it"),
        count => format!("{reservation}with a syntax error in {count} source files it"),
    };
    let broken = bench.run()?;
    match broken.outcome {
        Outcome::Fail => {
            let account = format!("{sabotage} failed: {}", broken.summary);
            Ok(bench.proof(SelfTestOutcome::CanFail, account, &broken))
        }
        Outcome::Pass if !reads_sources(bench.name) => break_all_files(bench, &sabotage),
        Outcome::Pass => {
            let account = format!("{sabotage} passed all the same: {}", broken.summary);
            Ok(bench.proof(SelfTestOutcome::CannotFail, account, &broken))
        }
        _ => Ok(unclear(bench, &broken)),
    }
}

/// A check that is meant to look at sources.
fn reads_sources(check: &str) -> bool {
    built_in(check).is_some_and(|check| check.kind == CheckKind::Command)
}

/// A check of another name may look at other files than sources. If it fails once every file is
/// broken, nothing shows that it cannot fail.
fn break_all_files(bench: &Bench<'_>, sabotage: &str) -> Result<Proof, Trouble> {
    sabotage::break_all(&bench.copy.root, &bench.copy.files)?;
    let evidence = bench.run()?;
    let (outcome, result) = match evidence.outcome {
        Outcome::Pass => (SelfTestOutcome::CannotFail, "and with every file broken too"),
        Outcome::Fail => (
            SelfTestOutcome::NotShown,
            "and failed once every file was broken: it may look at others",
        ),
        _ => return Ok(unclear(bench, &evidence)),
    };
    let account = format!("{sabotage} passed all the same, {result}: {}", evidence.summary);
    Ok(bench.proof(outcome, account, &evidence))
}

fn fails_unchanged(bench: &Bench<'_>, evidence: &Evidence) -> Proof {
    let account = format!("it fails as it is: {}", evidence.summary);
    bench.does_not_pass(account, evidence)
}

fn unclear(bench: &Bench<'_>, evidence: &Evidence) -> Proof {
    let outcome = match evidence.outcome {
        Outcome::Inconclusive => "was inconclusive",
        Outcome::Tamper => "was tampered with",
        _ => "did not run",
    };
    let account = format!("in a copy of the tree it {outcome}: {}", evidence.summary);
    bench.does_not_pass(account, evidence)
}
