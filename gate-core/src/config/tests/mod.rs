//! The settings, from text to policy.

mod default;
mod errors;
mod errors_checks;
mod errors_cross;
mod errors_values;
mod gone;
mod import;
mod language;
mod layers;
mod locks;
mod packs;
mod show;

use super::{ConfigError, Layer, Origin, Resolved, resolve};

/// The text as the project's gate.toml.
fn project(text: &str) -> Result<Layer, ConfigError> {
    Layer::parse(Origin::Project("gate.toml".into()), text)
}

/// What the text means as the project's only settings.
fn resolved(text: &str) -> Resolved {
    resolve(&[project(text).unwrap()], None).unwrap()
}

/// The error of the text, parsed and resolved.
fn error(text: &str) -> ConfigError {
    project(text).and_then(|layer| resolve(&[layer], None)).expect_err(text)
}
