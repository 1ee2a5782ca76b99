//! A gate: its settings, its place, its memory, and its decisions.

mod approved;
mod baseline;
mod builder;
mod case;
mod decided;
mod elsewhere;
mod failures;
mod goals;
mod loop_baseline;
mod news;
mod persons_check;
mod reading;
mod trusted;

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use gate_checks::process::{self, ancestors};
use gate_checks::{CheckSite, OwnChecks};
use gate_core::config::{Backoff, Resolved};
use gate_core::decide::indicator::PatternSet;
use gate_core::decide::iteration_facts::TreeState;
use gate_core::decide::policy::{Threshold, TokenMode, When};
use gate_core::decide::reason::Warning;
use gate_core::decide::signal::{TokenHalves, UncheckedSignal, prompt};
use gate_core::mask::Masker;
use gate_core::{Decision, Input, Policy, Scan, decide};
use gate_lens::replay::{about_place, about_settings};

use crate::failure::Failure;
use crate::governance::handoff_problems;
use crate::memory::{DecisionRequest, Memory, Tokens};
use crate::record::Record;
use crate::request::{Asker, Request};
use crate::source::Source;

pub(crate) use self::approved::Contents;
pub(crate) use self::baseline::before_unchecked;
pub use self::builder::GateBuilder;
pub(crate) use self::elsewhere::{
    OtherPlaces, moved, place_name, running_loops, shown_work, tree_of,
};
use self::goals::Goals;
pub(crate) use self::goals::add_goal_check;
pub(crate) use self::loop_baseline::decided_on;
pub(crate) use self::news::{line_counts, may_be_news};
pub(crate) use self::reading::{Judging, admit_format, input_digest};
use self::trusted::Trusted;

/// A gate with its settings.
#[derive(Debug)]
pub struct Gate {
    policy: Policy,
    patterns: PatternSet,
    warnings: Vec<Warning>,
    /// The checks of the program that embeds gate.
    own_checks: OwnChecks,
    site: CheckSite,
    masker: Masker,
    /// Shared with the same gate under other checks.
    memory: Option<Arc<Mutex<Memory>>>,
    /// `None` if a program answers for the settings.
    trust: Option<Trusted>,
    /// The place of use, which selects the checks that run.
    place_of_use: Option<When>,
    /// The waits of loops whose agent cannot work.
    backoff: Backoff,
    /// Only tests are written in this phase.
    writes_tests: bool,
    /// The goals of persons in force.
    goals: Goals,
    /// The check of what a person decided before this loop.
    decisions_check: Option<String>,
}

impl Gate {
    /// A gate with these settings, whose checks run on this site, without memory.
    ///
    /// # Errors
    ///
    /// A pattern that does not compile, a glob that cannot be understood.
    pub fn open(settings: Resolved, mut site: CheckSite) -> Result<Self, Failure> {
        site.handoff_reader.get_or_insert(handoff_problems);
        gate_checks::validate(&settings.policy)?;
        let patterns = PatternSet::from_policy(&settings.policy)?;
        let backoff = settings.run.backoff();
        let masker = site.masker();
        let warnings = about_settings(&settings, &masker);
        Ok(Self {
            policy: settings.policy,
            patterns,
            warnings,
            own_checks: OwnChecks::default(),
            site,
            masker,
            memory: None,
            trust: None,
            place_of_use: None,
            backoff,
            writes_tests: false,
            goals: Goals::default(),
            decisions_check: None,
        })
    }

    /// The same gate with another policy of the same patterns.
    fn with_policy(&self, policy: Policy) -> Self {
        Self {
            policy,
            patterns: self.patterns.clone(),
            warnings: self.warnings.clone(),
            own_checks: self.own_checks.clone(),
            site: self.site.clone(),
            masker: self.site.masker(),
            memory: self.memory.clone(),
            trust: self.trust.clone(),
            place_of_use: self.place_of_use,
            backoff: self.backoff,
            writes_tests: self.writes_tests,
            goals: self.goals.clone(),
            decisions_check: self.decisions_check.clone(),
        }
    }

    /// Keeps only the checks that run in one place. Decisions name the others.
    #[must_use]
    pub fn at(mut self, place: When) -> Self {
        self.warnings.extend(about_place(&self.policy, place));
        self.place_of_use = Some(place);
        self.policy = self.policy.at(place);
        self
    }

    /// A gate for a phase in which only tests are written: they have to fail, and nothing else is
    /// checked but `integrity`.
    ///
    /// # Errors
    ///
    /// No check of tests whose command gate can run in a copy.
    pub(crate) fn writing_tests(mut self) -> Result<Self, Failure> {
        let Some(mut policy) = gate_checks::tests_first_policy(&self.policy, &self.site) else {
            let message = "no check runs tests that gate knows how to read, so no test can be seen \
                           to fail before the work";
            return Err(Failure::usage("no-test-check", message).hint(
                "`gate init` finds the project's tests; `gate explain no-test-check` says which \
                 runners gate knows",
            ));
        };
        // A fixed number may count checks that do not run in this phase.
        policy.exit_gate.threshold = Threshold::Reachable;
        self.policy = policy;
        self.writes_tests = true;
        Ok(self)
    }

    /// Adds a memory: the gate then numbers iterations, feeds the breaker, and records
    /// each decision before it returns it.
    #[must_use]
    pub fn remembering(self, memory: Memory) -> Self {
        Self { memory: Some(Arc::new(Mutex::new(memory))), ..self }
    }

    /// The gate with those checks of the calling program that its policy has.
    fn with_own_checks(self, mut own_checks: OwnChecks) -> Self {
        own_checks.retain_in(&self.policy);
        Self { own_checks, ..self }
    }

    /// The site of the checks.
    pub(crate) fn place(&self) -> &CheckSite {
        &self.site
    }

    /// The policy in force.
    pub fn policy(&self) -> &Policy {
        &self.policy
    }

    /// Decides on a transcript alone, without checks and memory.
    pub fn decide_scan(&self, scan: &Scan) -> Decision {
        let mut input = self.input(scan, &Request::default());
        input.checks_left_out = true;
        self.masker.input(&mut input);
        decide(&input, &self.policy)
    }

    /// Reads a transcript, gathers the evidence, and decides. A path is read as a file, a
    /// text is the agent's output itself. With a memory, the decision is recorded when
    /// this returns.
    ///
    /// # Errors
    ///
    /// A source that cannot be read, a system that refuses to start checks, a store that
    /// cannot be written. Then nothing was decided.
    pub fn check(&self, transcript: impl Into<Source>) -> Result<Record, Failure> {
        self.check_with(&transcript.into(), &Request::default())
    }

    /// As [`Gate::check`], with the run, the iteration and all else that a caller may know.
    ///
    /// # Errors
    ///
    /// As of [`Gate::check`].
    pub fn check_with(&self, source: &Source, request: &Request) -> Result<Record, Failure> {
        self.check_admitted(source, request, |_| Ok(()))
    }

    /// As [`Gate::check_with`], if the transcript that was read is admitted; else nothing is decided.
    pub(crate) fn check_admitted(
        &self,
        source: &Source,
        request: &Request,
        admit: impl FnOnce(&Scan<UncheckedSignal>) -> Result<(), Failure>,
    ) -> Result<Record, Failure> {
        let renewed = self.renewed_for(&request.asker)?;
        let gate = renewed.as_ref().unwrap_or(self);
        let judging = gate.read(source, request)?;
        admit(&judging.scan)?;
        gate.judge(&judging, request)
    }

    /// The gate for the next decision, if it is another one: a loop opens its gate once, and in its
    /// middle a person may approve changed settings, and give or drop a goal.
    pub(crate) fn renewed_for(&self, asker: &Asker) -> Result<Option<Self>, Failure> {
        let renewed = self.renewed()?;
        let with_goals = renewed.as_ref().unwrap_or(self).with_goals(asker)?;
        Ok(with_goals.or(renewed))
    }

    /// Compares the work tree with an earlier state, or without one with the last commit. `None` if
    /// the tree cannot be read.
    pub(crate) fn has_changed(
        &self,
        judging: &Judging,
        earlier: Option<&TreeState>,
    ) -> Option<bool> {
        match earlier {
            Some(earlier) => {
                gate_checks::look(&judging.site).ok().map(|tree| tree.after != *earlier)
            }
            None => gate_checks::is_uncommitted(&judging.site).ok().flatten(),
        }
    }

    pub(crate) fn memory(&self) -> Option<MutexGuard<'_, Memory>> {
        // A panic in between left no half-made state: the store has transactions.
        Some(self.memory.as_ref()?.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// The completion protocol for the agent's prompt, as `gate prompt` prints it. If settings
    /// require a token, the text has that of the next iteration of the request's run.
    ///
    /// # Errors
    ///
    /// A store that cannot be read, a key that cannot be made.
    pub fn prompt(&self, request: &Request) -> Result<String, Failure> {
        Ok(prompt(&self.policy.signal, self.next_token(request)?.as_ref()))
    }

    /// The token of the next iteration, if tokens are required.
    ///
    /// Fails on a store that cannot be read, and on a key that cannot be made.
    pub(crate) fn next_token(&self, request: &Request) -> Result<Option<TokenHalves>, Failure> {
        let Some(mut memory) = self.memory() else { return Ok(None) };
        let Some(tokens) = self.tokens(&mut memory)? else { return Ok(None) };
        let question = DecisionRequest {
            asker: &request.asker,
            // The next transcript differs from any before, so no recorded digest may match.
            input: Some(""),
            approval: None,
            goals: &[],
            policy: &self.policy,
            policy_text: "",
            settings: None,
        };
        let (run, iteration) = memory.next_iteration(&question)?;
        Ok(Some(tokens.halves(&run, iteration)))
    }

    /// The project's tokens, if they are required.
    fn tokens(&self, memory: &mut Memory) -> Result<Option<Tokens>, Failure> {
        match self.policy.signal.token {
            TokenMode::Required => memory.tokens().map(Some),
            _ => Ok(None),
        }
    }

    /// The site of the checks on one turn. What its callers write is no work of the agent: the
    /// transcript, the caller's own files, and the files that the output goes to.
    fn site_of_turn(&self, source: &Source, own_files: &[PathBuf]) -> CheckSite {
        let mut site = self.site.clone();
        site.ignore.clone_from(&self.policy.tree.ignore);
        site.callers_files.extend(source.path().map(Path::to_owned));
        site.callers_files.extend(own_files.iter().cloned());
        site.callers_files.extend(output_files());
        site
    }

    fn input(&self, scan: &Scan, request: &Request) -> Input {
        let mut input = Input::new(scan.signal.clone(), scan.hits.clone());
        input.agent_exit_code = request.turn.agent_exit_code;
        input.force_reason.clone_from(&request.asker.force_reason);
        input.checks_left_out = request.runs_no_checks() && !self.policy.checks.is_empty();
        input.warnings.clone_from(&self.warnings);
        input.warnings.extend(scan.warnings());
        input.observed = scan.observed();
        input.observed.stop.clone_from(&request.turn.stop);
        input.observed.outage.clone_from(&request.turn.outage);
        input.observed.listing.clone_from(&request.turn.listing);
        input.observed.decided.clone_from(&request.turn.decided);
        input
    }
}

/// The files that the output of this program, and of those that wait for it, goes to: they grow while
/// the work is judged, and after it.
fn output_files() -> impl Iterator<Item = PathBuf> {
    let own_pid = i32::try_from(std::process::id()).into_iter();
    let caller_pids = ancestors().map(|process| process.pid);
    own_pid.chain(caller_pids).flat_map(process::output_files)
}
