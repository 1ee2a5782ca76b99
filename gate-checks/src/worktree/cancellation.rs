//! Ends a scan early, once nobody needs its result.

use tokio_util::sync::CancellationToken;

use super::error::WorktreeError;

/// Asked between files and while git runs; a token that was cancelled ends the
/// work soon.
#[derive(Clone, Debug, Default)]
pub(crate) struct Cancellation(Option<CancellationToken>);

impl Cancellation {
    /// Stops when this token is cancelled.
    pub(crate) fn with(token: CancellationToken) -> Self {
        Self(Some(token))
    }

    /// Never stops.
    pub(crate) fn never() -> Self {
        Self(None)
    }

    pub(crate) fn is_cancelled(&self) -> bool {
        self.0.as_ref().is_some_and(CancellationToken::is_cancelled)
    }

    pub(crate) fn check(&self) -> Result<(), WorktreeError> {
        if self.is_cancelled() { Err(WorktreeError::Cancelled) } else { Ok(()) }
    }
}
