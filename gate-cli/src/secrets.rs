//! Masks secrets in texts that this process writes itself: on buses, in records of runs, in errors.

use std::sync::OnceLock;

use gate_checks::CheckSite;
use gate_core::mask::Masker;

/// The masker of this process's environment.
pub(crate) fn masker() -> &'static Masker {
    static MASKER: OnceLock<Masker> = OnceLock::new();
    MASKER.get_or_init(|| {
        CheckSite { environment: gate_checks::environment(), ..CheckSite::new("") }.masker()
    })
}

/// A text without secrets.
pub(crate) fn masked(text: &str) -> String {
    masker().text(text)
}
