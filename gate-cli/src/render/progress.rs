//! Progress of checks for a person at a terminal: a line for each that runs, with its time.
//! Elsewhere nothing is shown.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use gate_checks::{Event, Events};
use indicatif::{MultiProgress, ProgressBar, ProgressDrawTarget, ProgressStyle};

use super::text::plain;

/// The time between two updates of a line.
const REFRESH_INTERVAL: Duration = Duration::from_millis(100);

/// A listener that shows progress on stderr; it does nothing if stderr is no terminal.
pub(crate) fn progress() -> Events {
    let progress = Progress::new();
    if progress.lines.is_hidden() {
        return Events::nobody();
    }
    Events::to(move |event| progress.show(&event))
}

/// The lines of the checks that run.
pub(crate) struct Progress {
    lines: MultiProgress,
    running: Mutex<BTreeMap<String, ProgressBar>>,
}

impl Progress {
    pub(crate) fn new() -> Self {
        let lines = MultiProgress::new();
        if !lines.is_hidden() {
            lines.set_draw_target(ProgressDrawTarget::stderr());
        }
        Self { lines, running: Mutex::default() }
    }

    /// Writes other text to the same terminal, without the lines in between.
    pub(crate) fn beside(&self, write: impl FnOnce()) {
        self.lines.suspend(write);
    }

    pub(crate) fn show(&self, event: &Event) {
        let mut running = self.running.lock().unwrap_or_else(PoisonError::into_inner);
        match event {
            Event::Started { check } => match running.get(check.as_str()) {
                Some(line) => {
                    line.reset_elapsed();
                    line.set_message(check.to_string());
                }
                None => {
                    running.insert(check.to_string(), self.line(check.as_str()));
                }
            },
            Event::Waiting { check } => {
                if let Some(line) = running.get(check.as_str()) {
                    line.set_message(format!("{check} waits for a check slot of this machine"));
                }
            }
            Event::Retried { check, .. } => {
                if let Some(line) = running.get(check.as_str()) {
                    line.set_message(format!("{check} failed, once more"));
                }
            }
            Event::Finished { evidence } => {
                if let Some(line) = running.remove(evidence.check.as_str()) {
                    line.finish_and_clear();
                }
            }
            Event::TreeChanged { files } => {
                let file = files.first().map(|file| plain(file)).unwrap_or_default();
                let _ = self.lines.println(format!("{file} changed meanwhile: once more"));
            }
            _ => {}
        }
    }

    fn line(&self, check: &str) -> ProgressBar {
        let line = self.lines.add(ProgressBar::new_spinner());
        if let Ok(style) = ProgressStyle::with_template("  {spinner} {msg} {elapsed}") {
            line.set_style(style);
        }
        line.set_message(check.to_owned());
        line.enable_steady_tick(REFRESH_INTERVAL);
        line
    }
}
