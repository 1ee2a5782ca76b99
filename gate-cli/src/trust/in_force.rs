//! The settings together with the approval that they need.

use gate_core::config::{self, Layer, Resolved};

use super::Trust;
use crate::failure::Failure;
use crate::settings::{Places, Selection, layers, layers_with};

/// Reads and resolves all settings as they are written, approved or not.
///
/// # Errors
///
/// A file that cannot be read or resolved.
pub(crate) fn settings_as_written(
    places: &Places,
    selection: &Selection,
) -> Result<(Resolved, Trust), Failure> {
    let layers = layers(places, selection)?;
    let resolved = config::resolve(&layers, selection.task_type.as_deref())?;
    Ok((resolved, Trust::new(places, &layers)))
}

/// Reads and resolves the settings that decide: if the project's differ from those
/// that the operator approved, the approved ones.
///
/// # Errors
///
/// A file that cannot be read or resolved, a `GATE_TRUST` that cannot be understood.
pub(crate) fn settings_in_force(
    places: &Places,
    selection: &Selection,
) -> Result<(Resolved, Trust), Failure> {
    let (resolved, trust) = settings_as_written(places, selection)?;
    let instead = match selection.config {
        Some(_) => None,
        None => trust.replacement()?,
    };
    Ok(approved(places, selection, instead).unwrap_or((resolved, trust)))
}

/// The settings with the approved layer in place of the project's; none if that layer
/// cannot be used any more.
fn approved(
    places: &Places,
    selection: &Selection,
    instead: Option<(Layer, Trust)>,
) -> Option<(Resolved, Trust)> {
    let (layer, trust) = instead?;
    let layers = layers_with(places, selection, Some(layer)).ok()?;
    let resolved = config::resolve(&layers, selection.task_type.as_deref()).ok()?;
    Some((resolved, trust))
}
