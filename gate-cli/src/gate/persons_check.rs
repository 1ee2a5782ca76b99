//! A check of what a person wants, beside those of the settings.

use gate_core::Policy;
use gate_core::config::{self, Layer};
use gate_core::decide::checks::persons_check;
use gate_core::decide::policy::{CheckPolicy, Criterion};

use crate::failure::Failure;

/// Adds a required check with criteria of a person, which leaves those of the settings as they are. Returns
/// its name, which is another one if the settings have a check of that name.
///
/// # Errors
///
/// The default settings of a check cannot be used.
pub(super) fn add_check(
    policy: &mut Policy,
    name: &str,
    criteria: Vec<Criterion>,
) -> Result<String, Failure> {
    let name = match policy.checks.contains_key(name) {
        true => persons_check(name),
        false => name.to_owned(),
    };
    let mut defaults = config::resolve(&[Layer::checks([name.as_str()])?], None)?.policy;
    let check = defaults.checks.remove(&name);
    let check = check.map(|check| (name.clone(), CheckPolicy { criteria, ..check }));
    policy.checks.extend(check);
    Ok(name)
}
