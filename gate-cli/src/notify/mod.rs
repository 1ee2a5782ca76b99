//! Messages about ends of loops: an event goes to a program or an address of the person's.
//!
//! A message never changes a verdict or its exit code. It is sent after both, and if somebody
//! waits for an answer, by a process of its own.

mod program;
mod webhook;

use std::io::Write;
use std::process::{Command, Stdio};
use std::thread;
use std::time::Duration;

use gate_core::config::{NotifyEvent, NotifySettings, Resolved};
use gate_core::{Decision, Verdict};
use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::failure::Failure;
use crate::invocation::Invocation;
use crate::memory::StoppedBy;
use crate::record::{LatestDecision, Record};
use crate::runner::RunRecord;
use crate::secrets;
use crate::trust::{Trust, TrustState};
use gate_card::next_step;

/// Waits between the attempts to send a message.
const WAITS: [Duration; 2] = [Duration::from_secs(1), Duration::from_secs(4)];

/// The variable that `gate run` sets for its agents.
const IN_LOOP: &str = "JRUN_RUN_FOLDER";

/// The longest attempt.
const TIMEOUT: Duration = Duration::from_secs(10);

/// `gate.notify.v1`: an event, as a program or an address gets it.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct NotifyRecord {
    /// Always `gate.notify.v1`.
    pub(crate) schema: String,
    /// The event.
    pub(crate) event: NotifyEvent,
    /// This is a message of `gate doctor --self-test`.
    pub(crate) test: bool,
    /// One line for a person.
    pub(crate) title: String,
    /// Why, as a sentence.
    pub(crate) why: String,
    /// The one thing to do next.
    pub(crate) next: Option<String>,
    /// The project's folder.
    pub(crate) folder: String,
    /// The run's name.
    pub(crate) run: Option<String>,
    /// The task's id.
    pub(crate) task: Option<String>,
    /// Iterations of the loop.
    pub(crate) iterations: u64,
    #[serde(flatten)]
    pub(crate) latest: LatestDecision,
    /// When it was sent (RFC 3339, UTC).
    pub(crate) time: String,
}

/// The places that messages go to.
#[derive(Clone, Debug)]
pub(crate) struct Notifier {
    settings: NotifySettings,
    folder: std::path::PathBuf,
}

impl Notifier {
    /// The settings' notifier; `None` if there is no place to send to, or if nobody approved the
    /// settings that name one.
    ///
    /// # Errors
    ///
    /// An address, in a build that cannot send to one.
    pub(crate) fn new(
        invocation: &Invocation,
        settings: &Resolved,
        trust: &Trust,
    ) -> Result<Option<Self>, Failure> {
        let settings = settings.notify.clone();
        if !settings.names_a_place() {
            return Ok(None);
        }
        if !settings.webhook.is_empty() {
            webhook::require_feature()?;
        }
        // An agent that writes settings could have gate start a program of its choice. Without a file
        // of the project, the settings are the person's own.
        if trust.report()?.state != TrustState::Approved
            && invocation.places.project_file()?.is_some()
        {
            return Ok(None);
        }
        Ok(Some(Self { settings, folder: invocation.places.project()? }))
    }

    /// The settings ask for messages about this event.
    fn wants(&self, event: NotifyEvent) -> bool {
        self.settings.on.contains(&event)
    }

    /// Sends a message, and returns the problems, a sentence for each place.
    pub(crate) fn send(&self, record: &NotifyRecord) -> Vec<String> {
        let text = secrets::masked(&serde_json::to_string(record).unwrap_or_default());
        let mut problems = Vec::new();
        if let Some((program, args)) = self.settings.command.split_first() {
            let result = retried(|| program::run(program, args, &self.folder, &text));
            problems.extend(result.err().map(|problem| format!("{program}: {problem}")));
        }
        if !self.settings.webhook.is_empty() {
            let result = retried(|| webhook::post(&self.settings.webhook, &text));
            problems.extend(result.err().map(|problem| format!("the webhook: {problem}")));
        }
        problems
    }

    /// The places, for a person.
    pub(crate) fn places(&self) -> String {
        let command = self.settings.command.first().cloned();
        let webhook = if self.settings.webhook.is_empty() { None } else { Some("the webhook") };
        let places: Vec<_> = command.into_iter().chain(webhook.map(str::to_owned)).collect();
        places.join(" and ")
    }
}

/// A failed attempt.
struct Problem {
    message: String,
    /// Another attempt may succeed.
    is_passing: bool,
}

fn retried(mut attempt: impl FnMut() -> Result<(), Problem>) -> Result<(), String> {
    let mut waits = WAITS.iter();
    loop {
        match (attempt(), waits.next()) {
            (Ok(()), _) => return Ok(()),
            (Err(Problem { is_passing: true, .. }), Some(wait)) => thread::sleep(*wait),
            (Err(problem), _) => return Err(problem.message),
        }
    }
}

/// Sends a message about the end of a loop of `gate run`, and warns on stderr if that failed.
pub(crate) fn send_loop_end(notifier: &Notifier, run: &RunRecord<'_>) {
    let stopped_by = run.end.stopped_by;
    let last_record = run.end.last_record.as_ref();
    let decision = last_record.map(|record| &record.decision);
    let event = match stopped_by {
        _ if run.success => NotifyEvent::Done,
        StoppedBy::Blocked if run.end.waits_for_decisions() => NotifyEvent::NeedsPerson,
        StoppedBy::Blocked => decision.and_then(event_of).unwrap_or(NotifyEvent::Blocked),
        _ => NotifyEvent::Stopped,
    };
    if !notifier.wants(event) {
        return;
    }
    let way_out = run.end.way_out.clone();
    let next = if run.success { None } else { way_out.or_else(|| decision.and_then(next_step)) };
    let record = NotifyRecord {
        title: title(event, Some(run.task), run.latest.cost_usd),
        why: run.message.clone(),
        next,
        run: last_record.and_then(|record| record.run.clone()),
        task: Some(run.task.to_owned()),
        iterations: run.iterations as u64,
        latest: run.latest.clone(),
        ..empty_record(event, notifier)
    };
    for problem in notifier.send(&record) {
        crate::render::notes(&[format!("nobody was notified: {problem}")]);
    }
}

/// Sends a message about a decision that ends a loop, in a process of its own: the caller does
/// not wait. Nothing is sent inside of `gate run`, which sends a message about its own end.
pub(crate) fn send_decision(invocation: &Invocation, notifier: Option<&Notifier>, record: &Record) {
    let (Some(notifier), Some(event)) = (notifier, event_of(&record.decision)) else { return };
    let is_news = !record.repeated && record.ledger.is_some();
    if !is_news || !notifier.wants(event) || invocation.places.variable(IN_LOOP).is_some() {
        return;
    }
    let decision = &record.decision;
    let latest = LatestDecision::new(Some(record));
    let name = record.task.as_deref().or(record.run.as_deref());
    let message = NotifyRecord {
        title: title(event, name, latest.cost_usd),
        why: decision.cause(),
        next: if event == NotifyEvent::Done { None } else { next_step(decision) },
        run: record.run.clone(),
        task: record.task.clone(),
        iterations: record.iteration.unwrap_or_default(),
        latest,
        ..empty_record(event, notifier)
    };
    // If the process cannot be started, no message is sent; the verdict stands all the same.
    let _ = detach(notifier, &message);
}

/// The event that a decision is; `None` if the loop goes on.
fn event_of(decision: &Decision) -> Option<NotifyEvent> {
    if decision.waits_for_settings() || decision.waits_for_tests() {
        return Some(NotifyEvent::NeedsPerson);
    }
    match decision.verdict {
        Verdict::Exit => Some(NotifyEvent::Done),
        Verdict::Tripped => Some(NotifyEvent::Stopped),
        Verdict::Blocked => Some(NotifyEvent::Blocked),
        Verdict::Continue => None,
    }
}

/// A message of `gate doctor --self-test`.
pub(crate) fn sample(notifier: &Notifier) -> NotifyRecord {
    NotifyRecord {
        test: true,
        title: title(NotifyEvent::Done, Some("test"), None),
        why: "this is a test of `gate doctor --self-test`".to_owned(),
        task: Some("test".to_owned()),
        ..empty_record(NotifyEvent::Done, notifier)
    }
}

fn empty_record(event: NotifyEvent, notifier: &Notifier) -> NotifyRecord {
    NotifyRecord {
        schema: "gate.notify.v1".to_owned(),
        event,
        test: false,
        title: String::new(),
        why: String::new(),
        next: None,
        folder: notifier.folder.display().to_string(),
        run: None,
        task: None,
        iterations: 0,
        latest: LatestDecision::default(),
        time: Timestamp::now().to_string(),
    }
}

fn title(event: NotifyEvent, name: Option<&str>, cost_usd: Option<f64>) -> String {
    let word = match event {
        NotifyEvent::Done => "DONE",
        NotifyEvent::Stopped => "STOPPED",
        NotifyEvent::Blocked => "BLOCKED",
        NotifyEvent::NeedsPerson => "NEEDS YOU",
    };
    let cost = cost_usd.map(|dollars| format!(" (${dollars:.2})")).unwrap_or_default();
    format!("gate: {word} {}{cost}", name.unwrap_or("a loop"))
}

/// Starts `gate notify deliver` in a process group of its own, with the message on its input.
fn detach(notifier: &Notifier, message: &NotifyRecord) -> std::io::Result<()> {
    let mut command = Command::new(std::env::current_exe()?);
    command.arg("-C").arg(&notifier.folder).args(["notify", "deliver"]);
    command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
    // Ctrl-C, and an end of the caller's process group, must not reach it.
    let mut child = gate_platform::lead_group(&mut command).spawn()?;
    let text = serde_json::to_string(message).unwrap_or_default();
    match child.stdin.take() {
        Some(mut stdin) => stdin.write_all(text.as_bytes()),
        None => Ok(()),
    }
}
