//! The test runners that a control can be planted for.

/// A runner of a project's tests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Runner {
    Cargo,
    Nextest,
    Pytest,
    Jest,
    Vitest,
    Node,
    Go,
}

impl Runner {
    /// As people call it.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Cargo => "cargo test",
            Self::Nextest => "nextest",
            Self::Pytest => "pytest",
            Self::Jest => "jest",
            Self::Vitest => "vitest",
            Self::Node => "node --test",
            Self::Go => "go test",
        }
    }
}
