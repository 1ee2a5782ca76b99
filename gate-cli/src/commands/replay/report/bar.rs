//! The progress of a replay for a person at a terminal. Elsewhere nothing is shown.

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

/// The bar, on stderr.
pub(crate) struct Bar(ProgressBar);

impl Bar {
    /// A bar for so many bytes.
    pub(crate) fn new(bytes: u64) -> Self {
        let bar = ProgressBar::with_draw_target(Some(bytes), ProgressDrawTarget::stderr());
        let style = "{wide_bar} {percent}%, {msg}, {eta} left";
        if let Ok(style) = ProgressStyle::with_template(style) {
            bar.set_style(style);
        }
        Self(bar)
    }

    /// Moves to so many bytes and files. A file may grow while it is read.
    pub(crate) fn show(&self, bytes: u64, files: usize, all: usize) {
        if bytes > self.0.length().unwrap_or_default() {
            self.0.set_length(bytes);
        }
        self.0.set_message(format!("{files} of {all} files"));
        self.0.set_position(bytes);
    }

    /// Prints something while the bar is hidden.
    pub(crate) fn hidden<T>(&self, print: impl FnOnce() -> T) -> T {
        self.0.suspend(print)
    }

    /// Takes it away.
    pub(crate) fn clear(&self) {
        self.0.finish_and_clear();
    }
}
