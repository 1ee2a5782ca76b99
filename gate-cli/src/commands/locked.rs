//! Refuses flags against settings that the machine's file locks: the person who types one has to
//! know that it does not count.

use gate_core::config::{Lock, Resolved};

use crate::failure::Failure;

/// The keys of `[checks]` that are no check.
const OF_ALL_CHECKS: [&str; 3] = ["checks.jobs", "checks.machine_jobs", "checks.copies_max"];

/// Fails if this setting, which a flag changes, is locked.
pub(super) fn admit(settings: &Resolved, flag: &str, key: &str) -> Result<(), Failure> {
    settings.lock_of(key).map_or(Ok(()), |lock| Err(refusal(flag, lock)))
}

/// Fails if a flag leaves out checks, and one of them is locked.
pub(super) fn admit_without_checks(settings: &Resolved, flag: &str) -> Result<(), Failure> {
    let is_check = |lock: &&Lock| {
        let key = lock.key.as_str();
        (key == "checks" || key.starts_with("checks.")) && !OF_ALL_CHECKS.contains(&key)
    };
    settings.locks.iter().find(is_check).map_or(Ok(()), |lock| Err(refusal(flag, lock)))
}

fn refusal(flag: &str, lock: &Lock) -> Failure {
    let message = format!("{flag} does not count: {} locks `{}`", lock.place(), lock.key);
    let failure = Failure::usage("config-locked", message).hint(format!("leave out {flag}"));
    Failure {
        file: Some(lock.file.clone()),
        line: Some(lock.line),
        key: Some(lock.key.clone()),
        ..failure
    }
}
