//! What can be put around any check: a timeout, a retry, the cache, its mode.

mod cached;
mod mode;
mod retry;
mod timeout;

pub(crate) use cached::Cached;
pub(crate) use mode::WithMode;
pub(crate) use retry::Retry;
pub(crate) use timeout::Timeout;
