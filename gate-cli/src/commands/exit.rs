//! `gate exit`: the agent exit protocol.

mod args;

use std::path::Path;

use gate_fleet::exit::{
    AGENT_EXIT_PROTOCOL_ENABLED_ENV, ExitParsed, ExitSignal, ExitSignalError, ExitSubmitted,
    SignalReader, parse_agent_exit_protocol_enabled,
};
use gate_transcript::Forced;

pub(crate) use self::args::{Emit, Exit, Parse, Submit, phase};
use super::common::DONE;
use super::log;
use crate::failure::Failure;
use crate::invocation::Invocation;
use crate::memory::LeaseRef;
use crate::render::{self, print, print_text};
use crate::source::Source;

/// Exit code if there is no valid signal.
const INVALID: u8 = 1;

pub(super) fn run(invocation: &Invocation, args: &Exit) -> Result<u8, Failure> {
    match args {
        Exit::Parse(args) => parse(invocation, args),
        Exit::Submit(args) => submit(invocation, args),
        Exit::Emit(args) => emit(args),
    }
}

fn parse(invocation: &Invocation, args: &Parse) -> Result<u8, Failure> {
    let signal = read_signal(invocation, &args.file, args.format)?;
    let code = if signal.is_ok() { DONE } else { INVALID };
    let parsed = ExitParsed::new(signal);
    if args.json { print(&render::json(&parsed)?) } else { print_text(&parsed.line()) }?;
    Ok(code)
}

/// An agent ends its phase of a work item. An invalid signal, or one from an actor without the
/// lease, changes nothing: that is an answer. A store that does not answer is a failure.
fn submit(invocation: &Invocation, args: &Submit) -> Result<u8, Failure> {
    let (code, submitted) = match read_signal(invocation, &args.file, args.format)? {
        Err(error) => (INVALID, ExitSubmitted::refused(error)),
        Ok(signal) => {
            let lease =
                LeaseRef { work: &args.work, lease: args.lease.as_deref(), actor: &args.actor };
            match log::open_ledger(invocation)?.submit(lease, &signal) {
                Ok(submitted) => (DONE, ExitSubmitted::accepted(submitted.item, submitted.signal)),
                Err(failure) if failure.exit_code == 2 => {
                    (INVALID, ExitSubmitted::refused(failure.message))
                }
                Err(failure) => return Err(failure),
            }
        }
    };
    print(&if args.json { render::json(&submitted)? } else { submitted.line() })?;
    Ok(code)
}

/// The signal that a file is or contains, or the reason why no signal in it is valid. If the protocol
/// is switched off, nothing is read.
fn read_signal(
    invocation: &Invocation,
    file: &Path,
    format: Option<Forced>,
) -> Result<Result<ExitSignal, String>, Failure> {
    let flag = invocation.places.variable(AGENT_EXIT_PROTOCOL_ENABLED_ENV);
    if !parse_agent_exit_protocol_enabled(flag) {
        return Ok(Err(ExitSignalError::ValidationDisabled.to_string()));
    }
    let mut reader = SignalReader::new(format);
    Source::named(file, &invocation.places.folder).feed(&mut |bytes| reader.push(bytes))?;
    let input = reader.finish();
    let signal = input.signal();
    if signal.is_ok() {
        render::notes(&input.invalid_signals());
    }
    Ok(signal)
}

/// Prints a valid signal, for an agent's output. The feature flag does not matter here: it is for
/// those that read signals.
fn emit(args: &Emit) -> Result<u8, Failure> {
    let signal = ExitSignal {
        pr_url: args.pr_url.clone(),
        evidence_bundle_ref: args.evidence_bundle_ref.clone(),
        notes: args.notes.clone(),
        ..ExitSignal::new(args.phase, args.reason)
    };
    let line = render::json_line(&signal)?;
    // The signal is read again before it is printed, so that it passes all of the reader's checks.
    ExitSignal::from_json(&line)
        .map_err(|error| Failure::usage("exit-signal-invalid", error.to_string()))?;
    print(&line)?;
    Ok(DONE)
}
