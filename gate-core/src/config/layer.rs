//! One source of settings, with its origin.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;
use std::sync::LazyLock;

use serde::Deserialize;

use super::error::{ConfigError, Fault, Problem};
use super::gone::RemovedKey;
use super::key::KeyPath;
use super::raw::{RawCheck, RawConfig};
use super::{DEFAULT, gone, locate, lock, schema, serde_message, validate};
use crate::decide::policy::Unverified;
use crate::exit::{AGENT_EXIT_PROTOCOL_ENABLED_ENV, parse_agent_exit_protocol_enabled};

/// Sources of settings, lowest to highest.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Origin {
    /// The embedded default.
    Default,
    /// The calling program.
    Program,
    /// The file for all users and projects of the machine.
    Machine(PathBuf),
    /// The user's file.
    User(PathBuf),
    /// The project's file.
    Project(PathBuf),
    /// A file named with `--config`.
    File(PathBuf),
    /// An environment variable, by name.
    Environment(String),
    /// A flag, by name.
    Flag(String),
}

/// The longest text of settings that is read, in bytes.
pub const MAX_SETTINGS_BYTES: usize = 4 << 20;

/// One source of settings: in itself valid, not yet resolved.
#[derive(Clone, Debug, PartialEq)]
pub struct Layer {
    origin: Origin,
    raw: RawConfig,
    text: Option<Cow<'static, str>>,
    /// The keys of earlier versions in the text.
    pub(super) removed_keys: Vec<RemovedKey>,
    /// Switches the agent exit protocol on. No key of a file does: agents write to the project.
    pub(super) exit_protocol: bool,
}

impl Layer {
    /// Reads the text of a settings file.
    ///
    /// # Errors
    ///
    /// The first fault of the text by itself: syntax, an unknown key,
    /// a wrong type, a value that makes no sense.
    pub fn parse(origin: Origin, text: &str) -> Result<Self, ConfigError> {
        if text.len() > MAX_SETTINGS_BYTES {
            let message = format!("more than {MAX_SETTINGS_BYTES} bytes of settings are not read");
            let fault = Fault::invalid(KeyPath::default(), message);
            return Err(ConfigError::in_value(&origin.to_string(), fault));
        }
        let (kept_text, removed_keys) = gone::remove_old_keys(text).unzip();
        let raw = read::<RawConfig>(&origin.to_string(), kept_text.as_deref().unwrap_or(text))
            .map_err(|error| match kept_text {
                Some(_) => {
                    error.with_place_in(text, |text, path, _| locate::value_span(text, path))
                }
                None => error,
            })
            .map_err(|error| error.with_key_hint(schema::home_of))?;
        let text = Some(Cow::Owned(text.to_owned()));
        let removed_keys = removed_keys.unwrap_or_default();
        Self { text, removed_keys, ..Self::built(origin, raw) }.checked()
    }

    fn built(origin: Origin, raw: RawConfig) -> Self {
        Self { origin, raw, text: None, removed_keys: Vec::new(), exit_protocol: false }
    }

    /// The same settings, as they are found in another place.
    #[must_use]
    pub fn found_in(self, origin: Origin) -> Self {
        Self { origin, ..self }
    }

    /// Takes settings that a program has built.
    ///
    /// # Errors
    ///
    /// A value that makes no sense.
    pub fn new(origin: Origin, raw: RawConfig) -> Result<Self, ConfigError> {
        Self::built(origin, raw).checked()
    }

    /// The settings that flags of the command line give.
    pub fn flags(threshold: Option<u32>) -> Self {
        Self::threshold(Origin::Flag("--exit-threshold".to_owned()), threshold)
    }

    /// The settings of `--require-evidence`.
    pub fn require_evidence() -> Self {
        let mut raw = RawConfig::default();
        raw.exit_gate.get_or_insert_default().unverified = Some(Unverified::Continue);
        Self::built(Origin::Flag("--require-evidence".to_owned()), raw)
    }

    /// Checks without a setting of their own. A program that brings checks puts them below all
    /// other settings.
    ///
    /// # Errors
    ///
    /// A name that a check cannot have.
    pub fn checks<'n>(names: impl IntoIterator<Item = &'n str>) -> Result<Self, ConfigError> {
        let named = names.into_iter().map(|name| (name.to_owned(), RawCheck::default()));
        let mut raw = RawConfig::default();
        raw.checks.get_or_insert_default().named = named.collect();
        Self::new(Origin::Program, raw)
    }

    /// The lowest layer: [`DEFAULT`].
    pub(super) fn embedded() -> Self {
        static EMBEDDED: LazyLock<RawConfig> = LazyLock::new(|| {
            #[allow(clippy::expect_used, reason = "the text is a constant, and a test reads it")]
            toml::from_str(DEFAULT).expect("the default settings are right")
        });
        let text = Some(Cow::Borrowed(DEFAULT));
        Self { text, ..Self::built(Origin::Default, EMBEDDED.clone()) }
    }

    /// A source that sets nothing.
    pub(super) fn is_silent(&self) -> bool {
        !self.exit_protocol && self.raw == RawConfig::default()
    }

    /// Source of the settings.
    pub fn origin(&self) -> &Origin {
        &self.origin
    }

    /// The settings, with absent keys as `None`.
    pub fn raw(&self) -> &RawConfig {
        &self.raw
    }

    /// Its text; `None` if a program has built it.
    pub fn text(&self) -> Option<&str> {
        self.text.as_deref()
    }

    /// The line of each key that it sets, from 1; nothing for the embedded default, whose lines
    /// cannot be edited.
    pub(super) fn lines(&self) -> BTreeMap<KeyPath, usize> {
        match &self.text {
            Some(text) if self.origin != Origin::Default => locate::lines(text),
            _ => BTreeMap::new(),
        }
    }

    /// A fault of this layer, with its place.
    pub(super) fn error(&self, fault: Fault) -> ConfigError {
        error(&self.origin.to_string(), self.text.as_deref(), fault)
    }

    fn threshold(origin: Origin, threshold: Option<u32>) -> Self {
        let mut raw = RawConfig::default();
        if threshold.is_some() {
            raw.exit_gate.get_or_insert_default().indicator_threshold = threshold;
        }
        Self::built(origin, raw)
    }

    fn checked(self) -> Result<Self, ConfigError> {
        let is_machine = matches!(self.origin, Origin::Machine(_));
        match validate::config(&self.raw).and_then(|()| lock::check(&self.raw, is_machine)) {
            Ok(()) => Ok(self),
            Err(fault) => Err(self.error(fault)),
        }
    }
}

impl Origin {
    /// A file or the embedded default, which may set a key for one task type alone.
    pub(super) fn is_file(&self) -> bool {
        !matches!(self, Self::Environment(_) | Self::Flag(_))
    }

    /// The source in words, with a line of it.
    pub(super) fn place(&self, line: Option<usize>) -> String {
        line.map_or_else(|| self.to_string(), |line| format!("{self}:{line}"))
    }
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Default => f.write_str("default"),
            Self::Program => f.write_str("the calling program"),
            Self::Machine(path) | Self::User(path) | Self::Project(path) | Self::File(path) => {
                path.display().fmt(f)
            }
            Self::Environment(name) | Self::Flag(name) => f.write_str(name),
        }
    }
}

/// The variables that set the threshold; the first that is set wins. The second
/// is the seed's name.
const THRESHOLD_VARIABLES: [&str; 2] = ["GATE_EXIT_THRESHOLD", "CUB_EXIT_THRESHOLD"];

/// The settings that environment variables give; `None` if no known one is set. An empty variable is
/// not set. `AGENT_EXIT_PROTOCOL_ENABLED` is the feature flag of the agent exit protocol, which is
/// no setting of a file.
///
/// # Errors
///
/// A threshold that is no whole number; the error names the variable.
pub fn environment(
    variables: impl Iterator<Item = (String, String)>,
) -> Result<Option<Layer>, ConfigError> {
    let mut exit_protocol = false;
    let mut thresholds = [const { None }; THRESHOLD_VARIABLES.len()];
    for (name, value) in variables.filter(|(_, value)| !value.is_empty()) {
        exit_protocol |= name == AGENT_EXIT_PROTOCOL_ENABLED_ENV
            && parse_agent_exit_protocol_enabled(Some(&value));
        if let Some(rank) = THRESHOLD_VARIABLES.iter().position(|variable| *variable == name) {
            // Of two with one name the first counts, as for getenv(3).
            thresholds[rank].get_or_insert(value);
        }
    }
    let mut set_variables = THRESHOLD_VARIABLES.into_iter().zip(thresholds);
    let Some((name, value)) = set_variables.find_map(|(name, value)| Some((name, value?))) else {
        return Ok(exit_protocol.then(|| {
            let origin = Origin::Environment(AGENT_EXIT_PROTOCOL_ENABLED_ENV.to_owned());
            Layer { exit_protocol, ..Layer::threshold(origin, None) }
        }));
    };
    let threshold = value.parse::<u32>().map_err(|_| bad_threshold(name, &value))?;
    let layer = Layer::threshold(Origin::Environment(name.to_owned()), Some(threshold));
    Ok(Some(Layer { exit_protocol, ..layer }))
}

fn bad_threshold(variable: &str, value: &str) -> ConfigError {
    let expected = "a whole number from 0 to 4294967295".to_owned();
    let problem = Problem::WrongType { expected, found: format!("{value:?}") };
    let fault = Fault::new(KeyPath::dotted("exit_gate.indicator_threshold"), problem);
    ConfigError::in_value(variable, fault.hint(format!("unset {variable} or correct it")))
}

/// Reads TOML into a type. Errors have their place.
pub(super) fn read<T: for<'de> Deserialize<'de>>(
    origin: &str,
    text: &str,
) -> Result<T, ConfigError> {
    toml::from_str(text).map_err(|error| {
        let span = error.span().unwrap_or(0..0);
        let fault = serde_message::fault(locate::path_at(text, &span), error.message());
        ConfigError::in_text(origin, text, span, fault)
    })
}

/// A fault in a text, with its place.
pub(super) fn error(origin: &str, text: Option<&str>, fault: Fault) -> ConfigError {
    match text {
        Some(text) => {
            let span = locate::value_span(text, &fault.path);
            ConfigError::in_text(origin, text, span, fault)
        }
        None => ConfigError::in_value(origin, fault),
    }
}
