//! A gate, and the parts of its decisions.

mod baseline;
mod builder;
mod case;
mod failures;
mod reading;
mod replayed;
mod token;
mod trusted;

use std::cell::{RefCell, RefMut};
use std::path::Path;

use gate_checks::baseline::Baseline;
use gate_checks::check::About;
use gate_checks::{CheckSite, GatherOptions, Gathered, OwnChecks, TreeChange};
use gate_core::config::{Backoff, Resolved};
use gate_core::decide::breaker::Admission;
use gate_core::decide::indicator::PatternSet;
use gate_core::decide::iteration_facts::{IterationFacts, TreeSeen, TreeState};
use gate_core::decide::policy::{Allowance, Threshold, When};
use gate_core::decide::reason::{Warning, WarningCode};
use gate_core::decide::signal::Status;
use gate_core::mask::Masker;
use gate_core::trouble::Signature;
use gate_core::{Decision, Input, Policy, Scan, Verdict, decide, digest};
use jiff::{SignedDuration, Timestamp};
use uuid::Uuid;

use crate::failure::Failure;
use crate::memory::{Approvals, DecisionRequest, Memory, PendingDecision};
use crate::record::{Record, SCHEMA, Tree, UsageRecord, VERSION};
use crate::remarks::{about_transcript, warning};
use crate::request::{Checks, Request};
use crate::retry::{delay, random_fraction};
use crate::source::Source;

pub use self::builder::GateBuilder;
pub(crate) use self::reading::Judging;
pub(crate) use self::replayed::{Replayed, Step};
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
    memory: Option<RefCell<Memory>>,
    /// The caller's baseline, if it has taken one.
    baseline: Option<Baseline>,
    /// None if a program answers for the settings.
    trust: Option<Trusted>,
    /// The place of use, and the whole policy if some checks do not run there.
    place: Option<(When, Option<Box<Policy>>)>,
    /// The waits of loops whose agent cannot work.
    backoff: Backoff,
    /// True in a phase in which only tests are written.
    writes_tests: bool,
}

impl Gate {
    /// A gate with these settings, whose checks run on this site, without memory.
    ///
    /// # Errors
    ///
    /// A pattern that does not compile, a glob that cannot be understood.
    pub fn open(settings: Resolved, site: CheckSite) -> Result<Self, Failure> {
        gate_checks::validate(&settings.policy)?;
        let patterns = PatternSet::from_policy(&settings.policy)?;
        let backoff = settings.run.backoff;
        let masker = site.masker();
        let warnings = settings.warnings.iter().map(warning);
        let warnings = warnings.map(|one| Warning { message: masker.text(&one.message), ..one });
        let (policy, warnings) = (settings.policy, warnings.collect());
        let (memory, baseline, trust, place) = (None, None, None, None);
        Ok(Self {
            policy,
            patterns,
            warnings,
            own_checks: OwnChecks::default(),
            site,
            masker,
            memory,
            baseline,
            trust,
            place,
            backoff,
            writes_tests: false,
        })
    }

    /// Keeps only the checks that run in one place. Decisions name the others.
    #[must_use]
    pub fn at(mut self, place: When) -> Self {
        let elsewhere = self.policy.checks.iter().filter(|(_, check)| !check.when.contains(&place));
        let names: Vec<_> = elsewhere.map(|(name, _)| name.as_str()).collect();
        if !names.is_empty() {
            let message = format!("run elsewhere only, as `when` says: {}", names.join(", "));
            self.warnings.push(Warning::new(WarningCode::CheckElsewhere, message));
        }
        let whole = (!names.is_empty()).then(|| Box::new(self.policy.clone()));
        self.place = Some((place, whole));
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
        policy.threshold = Threshold::Reachable;
        let whole = std::mem::replace(&mut self.policy, policy);
        if let Some((_, of_all_places)) = &mut self.place {
            of_all_places.get_or_insert_with(|| Box::new(whole));
        }
        self.writes_tests = true;
        Ok(self)
    }

    /// Adds a memory: the gate then numbers iterations, feeds the breaker, and records
    /// each decision before it returns it.
    #[must_use]
    pub fn remembering(self, memory: Memory) -> Self {
        Self { memory: Some(RefCell::new(memory)), ..self }
    }

    /// The gate with those checks of the calling program that its policy has.
    fn bringing(self, mut own_checks: OwnChecks) -> Self {
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
        let mut input = Input { checks_left_out: true, ..self.input(scan, &Request::default()) };
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
        let renewed = self.renewed()?;
        let gate = renewed.as_ref().unwrap_or(self);
        gate.judge(&gate.read(source, request)?, source, request)
    }

    /// Compares the work tree with an earlier state, or without one with the last commit.
    /// None if it cannot be read.
    pub(crate) fn has_changed(&self, source: &Source, earlier: Option<&TreeState>) -> Option<bool> {
        let site = self.site(source, &Request::default());
        match earlier {
            Some(earlier) => gate_checks::look(&site).ok().map(|tree| tree.after != *earlier),
            None => gate_checks::is_uncommitted(&site).ok().flatten(),
        }
    }

    pub(crate) fn memory(&self) -> Option<RefMut<'_, Memory>> {
        self.memory.as_ref().map(RefCell::borrow_mut)
    }

    fn decision_request<'a>(
        &'a self,
        request: &'a Request,
        input: Option<&'a str>,
        policy_text: &'a str,
    ) -> DecisionRequest<'a> {
        DecisionRequest {
            task: request.task.as_deref(),
            run: request.run.as_deref(),
            iteration: request.iteration,
            new_run: request.new_run,
            input,
            dry_run: request.dry_run,
            forced: request.forced.is_some(),
            acts: &request.acts,
            actor: request.actor.as_deref(),
            of_work: request.of_work,
            approval: None,
            policy: &self.policy,
            policy_text,
            settings: None,
        }
    }

    /// Runs the checks that the decision needs.
    fn gather(
        &self,
        (source, request): (&Source, &Request),
        scan: &Scan,
        turn: Option<&PendingDecision>,
        approvals: &Approvals,
    ) -> Result<Gathered, Failure> {
        if !self.wants_evidence(scan, request, turn) {
            return Ok(Gathered::default());
        }
        let site = self.site(source, request);
        let baseline = self.baseline(&site, request, turn)?;
        let approved = approvals.in_force(baseline.as_ref().map(Baseline::digest));
        let approved = approved.into_iter().map(Allowance::from);
        let mut wanted = GatherOptions::default();
        wanted.only = request.checks.only().map(str::to_owned);
        wanted.all = request.checks == Checks::All;
        wanted.fresh = request.fresh;
        wanted.checks = self.own_checks.clone();
        wanted.baseline = baseline;
        wanted.allow = request.allow.iter().cloned().chain(approved).collect();
        wanted.interactive = request.is_interactive();
        wanted.about = About {
            task: request.task.clone(),
            run: request.run.clone(),
            iteration: request.iteration,
            sealed_refusals: turn.map_or(0, |turn| turn.sealed_refusals),
        };
        wanted.first_tests.clone_from(&request.first_tests);
        wanted.shared = request.shared;
        wanted.deadline = request.deadline;
        wanted.cancel = request.cancel.clone();
        Ok(gate_checks::gather(&self.policy, site, &wanted, request.events.clone())?)
    }

    /// The approvals of changed tests. One that cannot be read allows nothing.
    fn approvals(&self, memory: &mut Memory, request: &Request) -> Result<Approvals, Failure> {
        if self.policy.checks.is_empty() || request.checks == Checks::None {
            return Ok(Approvals::default());
        }
        match memory.approvals() {
            // The store has been waited for. Nobody waits once more.
            Err(failure) if failure.is_of_connection() => Err(failure),
            approvals => Ok(approvals.unwrap_or_default()),
        }
    }

    fn site(&self, source: &Source, request: &Request) -> CheckSite {
        let mut site = self.site.clone();
        site.ignore.clone_from(&self.policy.tree_ignore);
        site.callers_files.extend(source.path().map(Path::to_owned));
        site.callers_files.extend(request.own_files.iter().cloned());
        site
    }

    /// The work tree for the breaker, as the checks saw it, or as it is now. None if it
    /// cannot be read, which says nothing about progress.
    fn watch(
        &self,
        source: &Source,
        request: &Request,
        gathered: &Gathered,
        pending: &PendingDecision,
    ) -> Option<TreeSeen> {
        let watched = self.policy.breaker.watches_tree() && pending.admission != Admission::Held;
        if !watched || request.checks == Checks::None {
            return None;
        }
        let site = self.site(source, request);
        let tree = gathered.tree.clone().or_else(|| gate_checks::look(&site).ok())?;
        let TreeChange { before, after, .. } = tree;
        let known = gathered.baseline.as_ref().map(|baseline| baseline.commit().to_owned());
        let began_at = request.began_at.clone().or(known);
        let began_at = began_at.or_else(|| self.began_at(&site, request, pending));
        let began_at = began_at.as_deref();
        let changed_files =
            began_at.and_then(|commit| gate_checks::changed_files(&site, commit).ok().flatten());
        let first = pending
            .first_look
            .then(|| baseline::did_something(&site, began_at, changed_files, &before));
        Some(TreeSeen { before, after, uncommitted: first.flatten(), changed_files })
    }

    fn input(&self, scan: &Scan, request: &Request) -> Input {
        let mut warnings = self.warnings.clone();
        warnings.extend(about_transcript(&scan.transcript, scan.unknown_format));
        Input {
            agent_exit_code: request.agent_exit_code,
            forced: request.forced.clone(),
            checks_left_out: request.checks == Checks::None && !self.policy.checks.is_empty(),
            warnings,
            observed: IterationFacts {
                stop: request.stop.clone(),
                outage: request.outage.clone(),
                ..scan.observed()
            },
            ..Input::new(scan.signal.clone(), scan.hits.clone())
        }
    }

    fn input_with_evidence(&self, scan: &Scan, request: &Request, gathered: &Gathered) -> Input {
        let mut input = self.input(scan, request);
        input.evidence.clone_from(&gathered.evidence);
        input.warnings.extend(self.no_baseline(gathered));
        if let Some(signature) = Signature::from_evidence(&input.evidence) {
            input.observed.signature = Some(signature.into());
        }
        input
    }

    /// Checks are lazy: none starts if no result could lead to an `exit`. The breaker's
    /// probe runs them all.
    fn wants_evidence(
        &self,
        scan: &Scan,
        request: &Request,
        turn: Option<&PendingDecision>,
    ) -> bool {
        let was_reminded = match (&request.stop, turn) {
            (Some(stop), Some(turn)) => turn.refusals.before(stop).reminded,
            _ => false,
        };
        let admission = turn.map_or(Admission::Free, |turn| turn.admission);
        let allowed = match scan.signal.status {
            Status::Complete => true,
            Status::Absent => was_reminded || !self.policy.require_explicit_signal,
            Status::Continue | Status::Blocked | Status::Invalid => false,
        };
        match (&request.checks, admission) {
            (Checks::None, _) => false,
            (Checks::All | Checks::Only(_), _) | (Checks::Lazy, Admission::Probe) => true,
            (Checks::Lazy, Admission::Held) => false,
            (Checks::Lazy, Admission::Free) => allowed && request.forced.is_none(),
        }
    }

    fn new_record(
        &self,
        decision: Decision,
        judging: &Judging,
        request: &Request,
        gathered: &Gathered,
    ) -> Record {
        let transcript = judging.scan.transcript.clone();
        let tree = gathered.tree.clone().map(|tree| Tree::masked(tree, &self.masker));
        let record = Record {
            schema: SCHEMA.to_owned(),
            decision_id: Uuid::now_v7().to_string(),
            time: Timestamp::now().to_string(),
            gate_version: VERSION.to_owned(),
            run: request.run.clone(),
            iteration: request.iteration,
            repeated: false,
            task: request.task.clone(),
            retry_at: self.retry_at(&decision, &judging.scan, request).map(|at| at.to_string()),
            decision,
            input_digest: judging.input.clone(),
            policy_digest: digest(judging.policy_text.as_bytes()),
            baseline: gathered.baseline.as_ref().map(|baseline| baseline.digest().to_owned()),
            trust: "T0".to_owned(),
            tree,
            masked: Vec::new(),
            usage: UsageRecord::new(&transcript),
            ledger: None,
            approved: Vec::new(),
            transcript,
            wrong: None,
            duration_ms: u64::try_from(judging.began.elapsed().as_millis()).unwrap_or(u64::MAX),
        };
        record.with_masked()
    }

    /// The best time for the next try after an iteration in which the agent could not work:
    /// the time that its service or its runner names. Without one, the wait grows with
    /// each such iteration.
    fn retry_at<S>(
        &self,
        decision: &Decision,
        scan: &Scan<S>,
        request: &Request,
    ) -> Option<Timestamp> {
        match decision.verdict {
            Verdict::Exit => return None,
            Verdict::Continue if decision.observed.outage.is_some() => return request.retry_at,
            _ if decision.observed.outage.is_some() => return None,
            Verdict::Continue | Verdict::Tripped | Verdict::Blocked => {}
        }
        let counters = &decision.breaker.counters;
        let failed = request.agent_exit_code.is_some_and(|code| code != 0);
        let (resets_at, count) = match &scan.effort.limited {
            Some(limited) => (limited.resets_at, counters.rate_limited),
            None if failed && scan.effort.outage.is_some() => (None, counters.same_error),
            None => return None,
        };
        if let Some(resets_at) = resets_at.and_then(|at| Timestamp::from_second(at).ok()) {
            return Some(resets_at);
        }
        let wait = delay(&self.backoff, u64::from(count).saturating_sub(1), random_fraction());
        Timestamp::now().checked_add(SignedDuration::try_from(wait).ok()?).ok()
    }
}
