//! Honest work.
