//! `gate notify deliver`: sends a message after a verdict, in a process of its own.

use std::io::Read;

use clap::Subcommand;

use super::common::DONE;
use crate::failure::Failure;
use crate::invocation::Invocation;
use crate::notify::{Notifier, NotifyRecord};
use crate::settings::Selection;
use crate::trust;

/// Exit code if a message was not sent.
const NOT_SENT: u8 = 1;

/// The longest message that `deliver` takes, in bytes.
const MAX_BYTES: u64 = 1 << 20;

#[derive(Debug, Subcommand)]
pub(crate) enum Notify {
    /// Send the message on standard input
    Deliver,
}

pub(super) fn run(invocation: &Invocation, args: &Notify) -> Result<u8, Failure> {
    let (settings, trust) = trust::settings_in_force(&invocation.places, &Selection::default())?;
    let notifier = Notifier::new(invocation, &settings, &trust)?;
    let Notify::Deliver = args;
    let mut text = String::new();
    std::io::stdin()
        .lock()
        .take(MAX_BYTES)
        .read_to_string(&mut text)
        .map_err(|error| Failure::usage("notify-message", error.to_string()))?;
    let message: NotifyRecord = serde_json::from_str(&text)
        .map_err(|error| Failure::usage("notify-message", error.to_string()))?;
    let problems = notifier.map(|notifier| notifier.send(&message)).unwrap_or_default();
    Ok(if problems.is_empty() { DONE } else { NOT_SENT })
}
