//! Loops as they are named, and what their last run went by.

use gate_core::Policy;

use super::turn::load;
use super::{Memory, body, naming};
use crate::failure::Failure;
use crate::store::Reading;

/// A loop, as it is named.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Loop<'a> {
    /// Its name.
    pub(crate) run: Option<&'a str>,
    /// Its task.
    pub(crate) task: Option<&'a str>,
}

/// A loop with the name that it has here.
pub(super) struct NamedLoop {
    name: String,
    task: String,
}

impl Loop<'_> {
    pub(super) fn named(&self, memory: &Memory) -> Result<NamedLoop, Failure> {
        let name = naming::of_loop(self.run, self.task, &memory.tree)?;
        Ok(NamedLoop { name, task: self.task.unwrap_or_default().to_owned() })
    }
}

impl NamedLoop {
    /// The run that goes on, else the next one.
    pub(super) fn next(&self, reading: &mut dyn Reading) -> Result<String, Failure> {
        let loaded = load(reading, &self.task, &self.name)?;
        Ok(loaded.run(&self.name, loaded.is_over()))
    }
}

/// The policy that the last decision of a loop was made by, where it was kept.
pub(super) fn went_by(
    reading: &mut dyn Reading,
    name: &str,
) -> Result<Option<(Policy, String)>, Failure> {
    let Some(sealed) = reading.latest_of_loop(name)? else { return Ok(None) };
    let text = reading.policy(&body::decision_of(&sealed)?.policy_digest)?;
    Ok(text.and_then(|text| Some((serde_json::from_str(&text).ok()?, text))))
}
