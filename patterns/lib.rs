//! The rule packs of gate, as text: phrases, errors, limits, secrets, rules of integrity. Each rule
//! carries lines that it must hit and lines that it must not.

/// Defines a constant for each pack.
macro_rules! packs {
    ($($name:ident $file:literal,)*) => {
        $(#[doc = concat!("`", $file, "`")]
        pub const $name: &str = include_str!($file);)*

        /// The texts of all packs.
        pub const ALL: &[&str] = &[$($name),*];
    };
}

packs! {
    COMPLETION "completion.toml",
    ERRORS "errors.toml",
    GUARDED "guarded.toml",
    INTEGRITY "integrity.toml",
    LANGUAGE "language.toml",
    LIMITS "limits.toml",
    REPORTS "reports.toml",
    SECRETS "secrets.toml",
    SEED "seed.toml",
}
