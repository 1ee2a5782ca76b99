//! Proving that a command can fail: by a control among its tests, else by
//! sources that are none any more.

use gate_core::decide::checks::{CheckKind, built_in};
use gate_core::decide::evidence::{Evidence, Outcome};

use super::bench::{Bench, Trouble};
use super::finding::{Proof, SelfTestOutcome};
use super::sabotage;
use crate::control::{self, Changed, Control, Names, Place};
use crate::runner::{RunnerCommand, recognise};

/// Proves it for one check.
pub(super) fn prove(bench: &Bench<'_>) -> Result<Proof, Trouble> {
    bench.copy.link_dependencies()?;
    let cwd = bench.cwd();
    let Some(command) = recognise(bench.settings(), &cwd) else {
        return by_sabotage(bench, "");
    };
    let (root, files) = (&bench.copy.root, bench.copy.files.as_slice());
    let place = Place { root, cwd: &cwd, files, args: &command.args, changed: Changed::default() };
    match control::plant(command.runner, &place)? {
        Some(control) => by_control(bench, &command, &control),
        None => {
            let runner = command.runner.name();
            by_sabotage(bench, &format!("there is no place for a control of {runner}; "))
        }
    }
}

fn by_control(
    bench: &Bench<'_>,
    command: &RunnerCommand,
    control: &Control,
) -> Result<Proof, Trouble> {
    let with = bench.run()?;
    let named = named(&with, &control.id);
    if let (Outcome::Fail, Some(test)) = (with.outcome, named) {
        let how = format!("it failed, and named the control test {test}");
        return Ok(bench.proof(SelfTestOutcome::CanFail, how, &with));
    }
    control.remove()?;
    match with.outcome {
        // A command that leaves tests out may have passed without the control for a good reason.
        Outcome::Pass if command.runner.selects(&command.args) => {
            by_sabotage(bench, "it runs a part of the tests, and left the control out; ")
        }
        Outcome::Pass => {
            let how = format!("the control tests did not fail the check: {}", with.summary);
            Ok(bench.proof(SelfTestOutcome::CannotFail, how, &with))
        }
        Outcome::Fail => compared(bench, &with, "control tests"),
        _ => Ok(unclear(bench, &with)),
    }
}

/// The first test of a control that a record names among the failed tests.
fn named(evidence: &Evidence, id: &Names) -> Option<String> {
    // A run with many failures names the first of them alone.
    evidence.failed_tests().iter().find(|name| id.occur_in(name)).map(|name| (*name).to_owned())
}

/// The check failed with something in its way: that is a proof if it passes without.
fn compared(bench: &Bench<'_>, with: &Evidence, what: &str) -> Result<Proof, Trouble> {
    let without = bench.run()?;
    Ok(match without.outcome {
        Outcome::Pass => {
            let how = format!("it failed with {what}, and passed without");
            bench.proof(SelfTestOutcome::CanFail, how, with)
        }
        Outcome::Fail => fails_anyway(bench, &without),
        _ => unclear(bench, &without),
    })
}

/// Breaks sources, after the check has passed without that.
fn by_sabotage(bench: &Bench<'_>, but: &str) -> Result<Proof, Trouble> {
    let before = bench.run()?;
    match before.outcome {
        Outcome::Pass => {}
        Outcome::Fail => return Ok(fails_anyway(bench, &before)),
        _ => return Ok(unclear(bench, &before)),
    }
    let what = match sabotage::sources(&bench.copy.root, &bench.copy.files)? {
        0 => {
            let how = format!("{but}no source file of a known language is there to be broken");
            return Ok(bench.not_shown(how));
        }
        1 => format!("{but}with a syntax error in the only source file it"),
        more => format!("{but}with a syntax error in {more} source files it"),
    };
    let after = bench.run()?;
    match after.outcome {
        Outcome::Fail => {
            let how = format!("{what} failed: {}", after.summary);
            Ok(bench.proof(SelfTestOutcome::CanFail, how, &after))
        }
        Outcome::Pass if !reads_sources(bench.name) => by_ruin(bench, &what),
        Outcome::Pass => {
            let how = format!("{what} passed all the same: {}", after.summary);
            Ok(bench.proof(SelfTestOutcome::CannotFail, how, &after))
        }
        _ => Ok(unclear(bench, &after)),
    }
}

/// True for the checks that are meant to look at sources.
fn reads_sources(check: &str) -> bool {
    built_in(check).is_some_and(|check| check.kind == CheckKind::Command)
}

/// A check of another name may look at something else than sources. If it fails once every file is
/// broken, nothing shows that it cannot fail.
fn by_ruin(bench: &Bench<'_>, what: &str) -> Result<Proof, Trouble> {
    sabotage::everything(&bench.copy.root, &bench.copy.files)?;
    let after = bench.run()?;
    let (standing, came) = match after.outcome {
        Outcome::Pass => (SelfTestOutcome::CannotFail, "and with every file broken too"),
        Outcome::Fail => (
            SelfTestOutcome::NotShown,
            "and failed once every file was broken: it may look at others",
        ),
        _ => return Ok(unclear(bench, &after)),
    };
    let how = format!("{what} passed all the same, {came}: {}", after.summary);
    Ok(bench.proof(standing, how, &after))
}

fn fails_anyway(bench: &Bench<'_>, evidence: &Evidence) -> Proof {
    let how = format!("it fails as it is: {}", evidence.summary);
    bench.does_not_pass(how, evidence)
}

fn unclear(bench: &Bench<'_>, evidence: &Evidence) -> Proof {
    let outcome = match evidence.outcome {
        Outcome::Inconclusive => "was inconclusive",
        Outcome::Tamper => "was tampered with",
        _ => "did not run",
    };
    let how = format!("in a copy of the tree it {outcome}: {}", evidence.summary);
    bench.does_not_pass(how, evidence)
}
