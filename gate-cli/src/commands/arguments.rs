//! Arguments that several commands share.

use std::ffi::OsStr;
use std::path::PathBuf;

use clap::builder::{PossibleValue, StringValueParser, TypedValueParser};
use clap::{Arg, Args, Command, Error};
use gate_core::decide::checks::BUILT_IN;
use gate_core::decide::reason::{ReasonCode, WarningCode};
use gate_transcript::Forced;

use crate::settings::Selection;

// The format of transcripts, and the settings. No doc: clap would print that as the command's text.
#[derive(Debug, Args)]
pub(crate) struct InputArgs {
    /// Input format or agent [default: detected]
    #[arg(long, value_name = "F", value_parser = FormatName)]
    pub(crate) format: Option<Forced>,
    #[command(flatten)]
    pub(crate) settings: SettingsArgs,
}

// The settings to use.
#[derive(Debug, Args)]
pub(crate) struct SettingsArgs {
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

impl SettingsArgs {
    pub(crate) fn selection(&self) -> Selection {
        Selection {
            config: self.config.clone(),
            task_type: self.task_type.clone(),
            threshold: self.exit_threshold,
            require_evidence: false,
        }
    }
}

/// A text that is not blank.
pub(crate) fn non_empty(text: &str) -> Result<String, String> {
    if text.trim().is_empty() { Err("words are expected".to_owned()) } else { Ok(text.to_owned()) }
}

#[derive(Debug, Default, Args)]
#[group(multiple = false)]
pub(crate) struct Output {
    /// Print one JSON object.
    #[arg(long)]
    pub(crate) json: bool,
    /// Print nothing.
    #[arg(long, short)]
    pub(crate) quiet: bool,
}

/// The value of an option that names a format or an agent. The help lists the names, and
/// shells complete them.
#[derive(Clone)]
pub(crate) struct FormatName;

impl TypedValueParser for FormatName {
    type Value = Forced;

    fn parse_ref(
        &self,
        command: &Command,
        option: Option<&Arg>,
        value: &OsStr,
    ) -> Result<Forced, Error> {
        let parse = |name: &str| name.parse::<Forced>();
        parse.parse_ref(command, option, value)
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        Some(Box::new(Forced::names().map(PossibleValue::new)))
    }
}

/// The value of an option for which shells offer these words; any other text is allowed.
#[derive(Clone)]
pub(crate) struct Suggested(pub(crate) fn() -> Vec<&'static str>);

impl TypedValueParser for Suggested {
    type Value = String;

    fn parse_ref(
        &self,
        command: &Command,
        option: Option<&Arg>,
        value: &OsStr,
    ) -> Result<String, Error> {
        StringValueParser::new().parse_ref(command, option, value)
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        Some(Box::new(self.0().into_iter().map(PossibleValue::new)))
    }
}

/// The codes of reasons and warnings.
pub(crate) fn codes() -> Vec<&'static str> {
    let reasons = ReasonCode::ALL.iter().map(|code| code.code());
    reasons.chain(WarningCode::ALL.iter().map(|code| code.code())).collect()
}

/// The checks that gate has itself.
pub(crate) fn checks() -> Vec<&'static str> {
    BUILT_IN.iter().map(|check| check.name).collect()
}
