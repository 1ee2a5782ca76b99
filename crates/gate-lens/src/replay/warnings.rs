//! Warnings about settings that are valid.

use gate_core::Policy;
use gate_core::config::{ConfigWarning, Resolved};
use gate_core::decide::policy::When;
use gate_core::decide::reason::{Warning, WarningCode};
use gate_core::mask::Masker;

/// The warnings that each decision under these settings has, without secrets.
pub fn about_settings(settings: &Resolved, masker: &Masker) -> Vec<Warning> {
    let warning = |warning: &ConfigWarning| {
        let code = match warning {
            ConfigWarning::Locked(_) => WarningCode::SettingLocked,
            ConfigWarning::Gone { .. } => WarningCode::SettingGone,
            _ => WarningCode::ThresholdFromEnvironment,
        };
        Warning::new(code, masker.text(&warning.to_string()))
    };
    settings.warnings.iter().map(warning).collect()
}

/// The warning that some checks do not run in this place; `None` if all do.
pub fn about_place(policy: &Policy, place: When) -> Option<Warning> {
    let checks = policy.checks.iter();
    let dropped_checks: Vec<_> = checks
        .filter(|(_, check)| !check.when.contains(&place))
        .map(|(name, _)| name.as_str())
        .collect();
    (!dropped_checks.is_empty()).then(|| {
        let names = dropped_checks.join(", ");
        let message = format!("run elsewhere only, as `when` says: {names}");
        Warning::new(WarningCode::CheckElsewhere, message)
    })
}
