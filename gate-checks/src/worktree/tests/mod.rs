//! The tree of real repositories in temporary folders.

mod belongs;
mod cache;
pub(crate) mod fixture;
mod hardened;
mod kinds;
mod links;
mod nested;
mod since;
mod tools;
