//! Proposed checks.

/// Purpose of a check.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Aim {
    /// It runs the tests.
    Tests,
    /// It builds.
    Build,
    /// It looks for bad style and likely faults.
    Lint,
    /// It looks for types that do not fit.
    Typecheck,
}

impl Aim {
    /// All aims, in the order in which they are proposed.
    pub(super) const ALL: [Self; 4] = [Self::Tests, Self::Build, Self::Lint, Self::Typecheck];

    /// The name of the check that has this aim.
    pub fn check_name(self) -> &'static str {
        match self {
            Self::Tests => "tests",
            Self::Build => "build",
            Self::Lint => "lint",
            Self::Typecheck => "typecheck",
        }
    }
}

/// A check that a project could have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Proposal {
    /// The check's name, different for each proposal of a project: `tests`,
    /// `tests-node`, `tests-frontend`.
    pub check: String,
    /// Purpose of the check.
    pub aim: Aim,
    /// The tool that it runs, by the name that people use.
    pub tool: &'static str,
    /// The program and its arguments.
    pub command: Vec<String>,
    /// The evidence for it, such as `scripts.test in package.json`.
    pub evidence: String,
    /// The program that it needs: a name to look for in PATH.
    pub needs_tool: String,
    /// The working folder, relative to the project; `None` for the project's own.
    pub cwd: Option<String>,
    /// Only mentioned: nothing shows that this project wants it, so a person should choose it.
    pub optional: bool,
    /// The program that it needs is not there.
    pub is_missing: bool,
    /// The minutes that CI gives it; `None` if CI does not say.
    pub ci_minutes: Option<u64>,
    /// A quick part of it that the project itself names.
    pub quick: Option<QuickPart>,
}

/// A part of a suite that the project itself knows as quick.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QuickPart {
    /// The program and its arguments.
    pub command: Vec<String>,
    /// The evidence for it, such as `the marker slow in pytest.ini`.
    pub evidence: String,
}

impl Proposal {
    /// A check of this aim that runs this command.
    pub(super) fn new(
        aim: Aim,
        tool: &'static str,
        command: &[&str],
        evidence: impl Into<String>,
    ) -> Self {
        Self {
            check: aim.check_name().to_owned(),
            aim,
            tool,
            command: command.iter().map(|&word| word.to_owned()).collect(),
            evidence: evidence.into(),
            needs_tool: command.first().copied().unwrap_or_default().to_owned(),
            cwd: None,
            optional: false,
            is_missing: false,
            ci_minutes: None,
            quick: None,
        }
    }

    /// The same, only mentioned.
    pub(super) fn optional(self) -> Self {
        Self { optional: true, ..self }
    }

    /// The same, needing another program than the one that it starts.
    pub(super) fn needs(self, program: &str) -> Self {
        Self { needs_tool: program.to_owned(), ..self }
    }
}

/// Detected checks of a project.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Detected {
    /// The checks that it could have; their names differ.
    pub proposals: Vec<Proposal>,
    /// Notes for a person: a file that could not be read, a tool that was skipped.
    pub notes: Vec<String>,
    /// The project is in a git repository.
    pub repository: bool,
    /// Files that hold acceptance criteria, as `files` of the check
    /// `acceptance_criteria` names them.
    pub criteria: Vec<String>,
}

/// The findings of a look at a folder.
#[derive(Debug, Default)]
pub(super) struct Findings {
    pub(super) proposals: Vec<Proposal>,
    pub(super) notes: Vec<String>,
}

impl Findings {
    pub(super) fn propose(&mut self, proposal: Proposal) {
        self.proposals.push(proposal);
    }

    pub(super) fn note(&mut self, note: impl Into<String>) {
        self.notes.push(note.into());
    }

    /// A check of this aim is proposed outright.
    pub(super) fn aims_at(&self, aim: Aim) -> bool {
        self.proposals.iter().any(|proposal| proposal.aim == aim && !proposal.optional)
    }
}
