//! Settings of a caller, above gate's own defaults. Neither the machine's, the user's and the project's
//! files nor the environment are read: a million rows on twenty machines are judged by one policy.

use std::path::PathBuf;

use gate_core::Failure;
use gate_core::config::{Layer, Origin, Resolved, resolve};
use pyo3::prelude::*;

use crate::failure::raised;

/// Resolves settings. `origin` names their file in errors; a dict has none, and no lines.
pub(crate) fn resolved(text: &str, origin: Option<&str>) -> Result<Resolved, Failure> {
    let place = Origin::File(PathBuf::from(origin.unwrap_or("config")));
    let resolved = Layer::parse(place, text).and_then(|layer| resolve(&[layer], None));
    resolved.map_err(|error| {
        let failure = Failure::from(error);
        match origin {
            Some(_) => failure,
            None => Failure { line: None, ..failure },
        }
    })
}

/// Settings as TOML, from an object of JSON.
#[pyfunction]
pub(crate) fn settings_from_json(py: Python<'_>, json: &str) -> PyResult<String> {
    toml_text(json).map_err(|failure| raised(py, &failure))
}

fn toml_text(json: &str) -> Result<String, Failure> {
    let invalid = |problem: String| {
        Failure::usage("config-invalid", format!("`config` cannot be settings: {problem}"))
            .hint("give a dict of what gate.toml would hold, such as {\"signal\": {\"accept\": [\"promise\"]}}")
    };
    let table: toml::Table =
        serde_json::from_str(json).map_err(|error| invalid(error.to_string()))?;
    toml::to_string(&table).map_err(|error| invalid(error.to_string()))
}
