//! The arguments of `gate init`.

use clap::{Args, ValueEnum};

#[derive(Debug, Args)]
pub(crate) struct Init {
    /// Write a loop around an agent instead, in this language.
    #[arg(long = "loop", value_name = "LANGUAGE")]
    pub(crate) language: Option<Language>,
    /// Do not run the checks that are found to see how long they take.
    #[arg(long, conflicts_with = "language")]
    pub(crate) no_run: bool,
    /// Add the checks that are found to the gate.toml that is there, in this folder or above.
    #[arg(long, conflicts_with = "language")]
    pub(crate) merge: bool,
}

/// The languages in which `gate init` writes a loop.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum Language {
    /// gate-loop.sh
    Bash,
    /// gate-loop.py
    Python,
    /// gate-loop.mts
    Ts,
    /// gate-loop.go
    Go,
}
