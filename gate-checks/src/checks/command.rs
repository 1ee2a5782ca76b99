//! Checks that run a command: `tests`, `build`, `lint`, `typecheck`, and any
//! other name that has one.
//!
//! The exit code decides. For `tests` and `tests-…`, for a command that is a known test runner and
//! if `report` demands it, the runner's report decides too, and can only make it worse: see
//! [`report`]. Tests are tried with a test among them that has to fail, unless `control` is off:
//! see `verified_tests`.

use async_trait::async_trait;
use gate_core::decide::checks::{CheckKind, Cost};
use gate_core::decide::evidence::{Evidence, Outcome};
use gate_core::decide::policy::{CheckPolicy, Mode, Policy};

use super::launch::{Launch, argv};
use super::verified_tests::VerifiedTests;
use crate::check::{Check, CheckContext, CheckId, Occasion};
use crate::programs::with_command;
use crate::runner::is_runner;
use crate::seal::seals;
use crate::site::CheckSite;

/// Runs a command.
pub(crate) struct CommandCheck {
    id: CheckId,
    settings: CheckPolicy,
    /// The file that the command was found in, if settings have none.
    found_in: Option<String>,
}

impl CommandCheck {
    /// The check of this name, with its own command or the project's.
    pub(crate) fn new(id: CheckId, settings: &CheckPolicy, site: &CheckSite) -> Self {
        match with_command(id.as_str(), settings, site) {
            Some((settings, found_in)) => Self { id, settings, found_in },
            None => Self { id, settings: settings.clone(), found_in: None },
        }
    }

    /// The words of the command.
    pub(crate) fn words(&self) -> &[String] {
        &self.settings.command
    }

    /// The command also runs with the tests of the baseline and with gate's control.
    pub(crate) fn uses_baseline(&self) -> bool {
        self.settings.control && reads_tests(self.id.as_str(), &self.settings)
    }

    async fn run_tests(&self, cx: &CheckContext) -> Evidence {
        let check = VerifiedTests::new(&self.id, &self.settings, cx);
        if self.settings.control && cx.options.occasion != Occasion::Session {
            return check.run().await;
        }
        check.look().await
    }

    /// Tests are sealed for this check, or the seals cannot be read.
    fn has_sealed_tests(&self, cx: &CheckContext) -> bool {
        let has_seal = || match seals(&cx.site) {
            Ok(seals) => seals.contains_key(self.id.as_str()),
            Err(_) => true,
        };
        self.settings.sealed.is_some() || has_seal()
    }

    async fn run_command(&self, cx: &CheckContext) -> Evidence {
        let argv = argv(&self.settings.command, self.settings.shell);
        let launched = match Launch::new(&self.id, &self.settings, argv).run(cx).await {
            Ok(launched) => launched,
            Err(evidence) => return *evidence,
        };
        let (outcome, summary) = launched.outcome();
        launched.into_evidence(outcome, &summary, None)
    }

    fn inconclusive(&self, summary: &str) -> Evidence {
        let mut evidence = self.evidence(Outcome::Inconclusive, summary);
        evidence.argv = argv(&self.settings.command, self.settings.shell);
        evidence
    }
}

/// A check that runs a command and also reads its report of tests.
pub(crate) fn reads_tests(name: &str, settings: &CheckPolicy) -> bool {
    name == "tests"
        || name.starts_with("tests-")
        || settings.report.is_some()
        || (!settings.shell && is_runner(&settings.command))
}

/// The required checks that run the work, by name. A build, a linter and a type checker run no tests.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RequiredTests {
    /// Checks whose tests run in a copy, in which those of a baseline can run, too.
    pub verified: Vec<String>,
    /// Checks that run in the tree alone.
    pub unverified: Vec<String>,
}

/// Sorts the required checks of a policy that run the work.
pub fn required_tests(policy: &Policy, site: &CheckSite) -> RequiredTests {
    let test_checks = test_checks(policy, site);
    let mut required = RequiredTests::default();
    for (name, check) in policy.checks.iter().filter(|(_, check)| check.mode == Mode::Require) {
        if test_checks.iter().any(|(id, _)| id.as_str() == name) {
            required.verified.push(name.clone());
        } else if CheckKind::for_check(name, check) == CheckKind::Command
            && Cost::for_check(name, check) == Cost::Run
        {
            required.unverified.push(name.clone());
        }
    }
    required
}

/// The checks whose tests gate runs in a copy, with their commands.
pub(super) fn test_checks(policy: &Policy, site: &CheckSite) -> Vec<(CheckId, CheckPolicy)> {
    // A phase in which only tests are written has the checks of tests inside of its own.
    let checks_of_phase = policy.checks.values().flat_map(|settings| &settings.tests);
    policy
        .checks
        .iter()
        .chain(checks_of_phase)
        .filter_map(|(name, settings)| {
            let (settings_with_command, _) = with_command(name, settings, site)?;
            let is_verified = settings.control
                && reads_tests(name, settings)
                && CheckKind::for_check(name, &settings_with_command) == CheckKind::Command;
            is_verified.then(|| (CheckId::new(name), settings_with_command))
        })
        .collect()
}

#[async_trait]
impl Check for CommandCheck {
    fn id(&self) -> &CheckId {
        &self.id
    }

    async fn run(&self, cx: &CheckContext) -> Evidence {
        if self.settings.command.is_empty() {
            let summary = "it has no command, and the project shows none; write `command` \
                           (`gate init` looks for one)";
            return self.inconclusive(summary);
        }
        if cx.options.occasion != Occasion::Session
            && !self.uses_baseline()
            && self.has_sealed_tests(cx)
        {
            let summary = "its sealed tests cannot run: they need a command whose tests gate runs \
                           in a copy (`control = true`, a known test runner or `report`)";
            return self.inconclusive(summary);
        }
        let mut evidence = if reads_tests(self.id.as_str(), &self.settings) {
            self.run_tests(cx).await
        } else {
            self.run_command(cx).await
        };
        if let Some(place) = &self.found_in {
            evidence.summary = format!("{} (command found in {place})", evidence.summary);
        }
        evidence
    }
}
