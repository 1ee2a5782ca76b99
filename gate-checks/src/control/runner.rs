//! The test runners that a control can be planted for.

/// A runner of a project's tests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Runner {
    Cargo,
    Nextest,
    Pytest,
    Unittest,
    Jest,
    Vitest,
    Node,
    Go,
    Bats,
    Maven,
    Gradle,
}

impl Runner {
    /// As people call it.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Cargo => "cargo test",
            Self::Nextest => "nextest",
            Self::Pytest => "pytest",
            Self::Unittest => "unittest",
            Self::Jest => "jest",
            Self::Vitest => "vitest",
            Self::Node => "node --test",
            Self::Go => "go test",
            Self::Bats => "bats",
            Self::Maven => "maven",
            Self::Gradle => "gradle",
        }
    }
}
