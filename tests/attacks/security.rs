//! Threats.
