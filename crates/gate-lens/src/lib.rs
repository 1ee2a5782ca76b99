//! Looks back.
