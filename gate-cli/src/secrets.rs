//! What masks secrets in words of others, where this process itself writes them: on
//! buses, in records of runs, in errors.

use std::sync::OnceLock;

use gate_checks::Site;
use gate_core::mask::Masker;

/// The masker of this process's environment.
pub(crate) fn masker() -> &'static Masker {
    static MASKER: OnceLock<Masker> = OnceLock::new();
    MASKER
        .get_or_init(|| Site { environment: gate_checks::environment(), ..Site::new("") }.masker())
}

/// A text without secrets.
pub(crate) fn masked(text: &str) -> String {
    masker().text(text)
}
