//! Arguments that several commands share.

use std::path::PathBuf;

use clap::Args;
use gate_core::read::Forced;

use crate::settings::Selection;

/// The format of transcripts, and the settings.
#[derive(Debug, Args)]
pub(crate) struct Reading {
    /// The format of the input, or the agent that wrote it, where it should
    /// not be found by itself.
    #[arg(long, value_name = "F")]
    pub(crate) format: Option<Forced>,
    #[command(flatten)]
    pub(crate) settings: Settings,
}

/// The settings to use.
#[derive(Debug, Args)]
pub(crate) struct Settings {
    /// Read settings from this file instead of the project's gate.toml.
    #[arg(long, value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,
    /// Take the settings of [task_types.T].
    #[arg(long, value_name = "T")]
    pub(crate) task_type: Option<String>,
    /// The number of indicators that exit needs.
    #[arg(long, value_name = "N")]
    pub(crate) exit_threshold: Option<u32>,
}

impl Settings {
    pub(crate) fn selection(&self) -> Selection {
        Selection {
            config: self.config.clone(),
            task_type: self.task_type.clone(),
            threshold: self.exit_threshold,
            require_evidence: false,
        }
    }
}

/// A text that says something.
pub(super) fn words(text: &str) -> Result<String, String> {
    if text.trim().is_empty() { Err("words are expected".to_owned()) } else { Ok(text.to_owned()) }
}
