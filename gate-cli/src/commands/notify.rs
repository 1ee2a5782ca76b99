//! `gate notify test`: sends a message now, to see that it arrives.

use std::io::Read;

use clap::{Args, Subcommand, ValueEnum};
use gate_core::config::NotifyEvent;
use schemars::JsonSchema;
use serde::Serialize;

use super::common::DONE;
use crate::context::Here;
use crate::failure::Failure;
use crate::notify::{self, Notifier, NotifyRecord};
use crate::render::{self, print, print_text};
use crate::settings::Selection;
use crate::trust;

pub(crate) const CODES: &str = "\
Exit codes: 0 sent, 1 not sent, 2 there is no place to send to";

/// Exit code if a message was not sent.
const NOT_SENT: u8 = 1;

/// The longest message that `deliver` takes, in bytes.
const MAX_BYTES: u64 = 1 << 20;

#[derive(Debug, Subcommand)]
pub(crate) enum Notify {
    /// Send a test message to the command and the webhook of [notify]
    #[command(after_help = CODES)]
    Test(Test),
    /// Send the message on standard input
    #[command(hide = true)]
    Deliver,
}

#[derive(Debug, Args)]
pub(crate) struct Test {
    /// The event that the message is about.
    #[arg(long, value_name = "EVENT", default_value = "done")]
    pub(crate) event: EventName,
    /// Print one JSON object.
    #[arg(long)]
    pub(crate) json: bool,
}

/// An event's name.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum EventName {
    Done,
    Stopped,
    Blocked,
    NeedsPerson,
}

impl From<EventName> for NotifyEvent {
    fn from(name: EventName) -> Self {
        match name {
            EventName::Done => Self::Done,
            EventName::Stopped => Self::Stopped,
            EventName::Blocked => Self::Blocked,
            EventName::NeedsPerson => Self::NeedsPerson,
        }
    }
}

impl Notify {
    pub(super) fn json(&self) -> bool {
        matches!(self, Self::Test(Test { json: true, .. }))
    }
}

/// `gate notify test --json`.
#[derive(Debug, Serialize, JsonSchema)]
pub struct NotifyTestRecord {
    /// Always `gate.notify_test.v1`.
    schema: &'static str,
    /// True if the message was sent to each place.
    ok: bool,
    /// The problems, a sentence for each place.
    problems: Vec<String>,
    /// The message.
    message: NotifyRecord,
}

pub(super) fn run(here: &Here, args: &Notify) -> Result<u8, Failure> {
    let (settings, trust) = trust::settings_in_force(&here.places, &Selection::default())?;
    let notifier = Notifier::new(here, &settings, &trust)?;
    match args {
        Notify::Test(args) => {
            test(notifier.as_ref().ok_or_else(|| no_place(&settings.notify))?, args)
        }
        Notify::Deliver => {
            let mut text = String::new();
            let read = std::io::stdin().lock().take(MAX_BYTES).read_to_string(&mut text);
            read.map_err(|error| Failure::usage("notify-message", error.to_string()))?;
            let message: NotifyRecord = serde_json::from_str(&text)
                .map_err(|error| Failure::usage("notify-message", error.to_string()))?;
            let problems = notifier.map(|notifier| notifier.send(&message)).unwrap_or_default();
            Ok(if problems.is_empty() { DONE } else { NOT_SENT })
        }
    }
}

fn no_place(settings: &gate_core::config::NotifySettings) -> Failure {
    if settings.command.is_empty() && settings.webhook.is_empty() {
        Failure::usage("notify-nowhere", "[notify] names no command and no webhook")
            .hint("set `command = [\"notify-send\", \"gate\"]` in [notify] of gate.toml")
    } else {
        Failure::usage("config-not-trusted", "nobody approved the settings that name the place")
            .hint("gate trust")
    }
}

fn test(notifier: &Notifier, args: &Test) -> Result<u8, Failure> {
    let message = notify::sample(notifier, args.event.into());
    let problems = notifier.send(&message);
    let ok = problems.is_empty();
    if args.json {
        let record = NotifyTestRecord { schema: "gate.notify_test.v1", ok, problems, message };
        print(&render::json(&record)?)?;
    } else if ok {
        print_text(&format!("sent to {}\n", notifier.places()))?;
    } else {
        print_text(&format!("not sent: {}\n", problems.join("; ")))?;
    }
    Ok(if ok { DONE } else { NOT_SENT })
}
