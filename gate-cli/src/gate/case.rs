//! One decision: look up, gather, begin, decide and commit.

use gate_checks::baseline::Baseline;
use gate_checks::check::Occasion;
use gate_checks::{CheckSite, Checks, Gathered, TreeChange};
use gate_core::decide::breaker::Admission;
use gate_core::decide::decision::{Judged, judge};
use gate_core::decide::iteration_facts::TreeSeen;
use gate_core::decide::signal::{Status, TokenFinding, TokenHalves, UncheckedSignal};
use gate_core::mask::Masker;
use gate_core::trouble::Signature;
use gate_core::{Decision, Input, Scan, Verdict, decide, digest};
use jiff::{SignedDuration, Timestamp, Zoned};
use uuid::Uuid;

use super::approved::ApprovingTree;
use super::goals::{only, without_others};
use super::trusted::{settings_of_run, tampered_evidence};
use super::{Gate, Judging, baseline};
use crate::failure::Failure;
use crate::limit_end::limit_end;
use crate::memory::{
    Approvals, DecisionContext, DecisionRequest, DecisionStart, LookUp, Memory, PendingDecision,
    Tokens,
};
use crate::record::{Record, SCHEMA, Tree, UsageRecord, VERSION};
use crate::request::{Request, Turn};
use crate::trust::TrustReport;
use gate_store::random_fraction;

/// The reason why no token can be checked without a memory.
const NO_STATE: &str = "no state is kept (--no-state), so nobody knows which one holds";

impl Gate {
    /// Gathers the evidence for a transcript, and decides.
    ///
    /// # Errors
    ///
    /// As of [`Gate::check`].
    pub(crate) fn judge(&self, judging: &Judging, request: &Request) -> Result<Record, Failure> {
        let report = self.trust_report(request)?;
        let report = report.as_ref();
        let Some(mut memory) = self.memory() else {
            return self.judge_without_memory(judging, request, report);
        };
        let approvals = &self.approvals(&mut memory, request)?;
        let question = DecisionRequest {
            asker: &request.asker,
            // If the caller numbers the iterations, the input shows if this is a repetition.
            input: request.asker.iteration.and(judging.input.as_deref()),
            approval: approvals.newest(),
            goals: &self.goal_words(),
            policy: &self.policy,
            policy_text: &judging.policy_text,
            settings: report,
        };
        let unapproved = None;
        let mut case =
            Case { gate: self, judging, request, report, approvals, question, unapproved };
        let mut pending = match memory.look_up(&case.question)? {
            LookUp::Repeated(record) => return Ok(*record),
            LookUp::Pending(pending) => pending,
        };
        if let Some(record) = case.take_repeated(&mut pending) {
            return Ok(record);
        }
        let tokens = self.tokens(&mut memory)?;
        let scan = with_token_check(&judging.scan, tokens.as_ref(), pending.run_and_iteration());
        if pending.lost.is_none() {
            let admitted = self.admit(report, request, &scan, Some(&pending));
            case.unapproved = self.goal_alone(admitted)?;
        }
        memory.begin_probe(&mut pending, &case.question)?;
        let findings = case.gather(&scan, &pending, tokens)?;
        let record = case.decide_and_commit(&mut memory, &pending, &findings)?;
        if !request.asker.dry_run {
            self.end_of_decision(&record, request);
            self.end_goals(&mut memory, &record, &request.asker);
        }
        Ok(record)
    }

    /// Decides on the transcript and the checks alone, and records nothing.
    fn judge_without_memory(
        &self,
        judging: &Judging,
        request: &Request,
        report: Option<&TrustReport>,
    ) -> Result<Record, Failure> {
        // Without state no token can be checked.
        let scan = judging.scan.clone().with_token(&TokenFinding::unchecked(NO_STATE));
        self.admit(report, request, &scan, None)?;
        let approvals = Approvals::default();
        let gathered = self.gather(&judging.site, request, &scan, None, &approvals)?;
        let mut input = self.input_with_evidence(&scan, request, &gathered);
        input.settings_changed = report.and_then(|report| report.changed.clone());
        self.masker.input(&mut input);
        let decision = decide(&input, &self.policy);
        let record = self.new_record(decision, judging, request, &gathered);
        Ok(self.with_trust(record, report, &gathered, None))
    }
}

/// A request to judge a transcript, with memory.
struct Case<'c> {
    gate: &'c Gate,
    judging: &'c Judging,
    request: &'c Request,
    /// `None` if the settings need no approval.
    report: Option<&'c TrustReport>,
    approvals: &'c Approvals,
    question: DecisionRequest<'c>,
    /// Why only the goal is checked: nobody approved the settings.
    unapproved: Option<Failure>,
}

/// The results of the checks, and all else that a decision rests on besides the loop's state.
struct Findings {
    gathered: Gathered,
    tree: Option<TreeSeen>,
    input: Input,
    tokens: Option<Tokens>,
}

impl Case<'_> {
    /// The same decision from a run that is over, if the work tree is still as it was then.
    /// Without checks the work tree does not matter.
    fn take_repeated(&self, pending: &mut PendingDecision) -> Option<Record> {
        let record = pending.earlier_decision.take()?;
        if !self.gate.policy.checks.is_empty() {
            let decided_tree = record.decision.input.observed.tree.as_ref()?;
            let tree = gate_checks::look(&self.judging.site).ok()?;
            if tree.after != decided_tree.after {
                return None;
            }
        }
        Some(*record)
    }

    /// Runs the checks that the decision needs, and looks at the work tree.
    fn gather(
        &self,
        scan: &Scan,
        pending: &PendingDecision,
        tokens: Option<Tokens>,
    ) -> Result<Findings, Failure> {
        let Self { gate, judging, request, report, approvals, .. } = self;
        let work_elsewhere = match &request.turn.elsewhere {
            Some(work) => work.clone(),
            None if gate.wants_evidence(scan, request, Some(pending)) => {
                gate.work_elsewhere(judging, request, scan, pending, approvals)?
            }
            None => Vec::new(),
        };
        let gathered = match &pending.tampered {
            Some(problem) => tampered_evidence(pending.policy(&self.question), problem),
            None => self.gather_admitted(scan, pending)?,
        };
        let tree = gate.tree_for_breaker(&judging.site, request, &gathered, pending);
        let mut input = gate.input_with_evidence(scan, request, &gathered);
        input.observed.elsewhere = work_elsewhere;
        input.observed.stop = request.turn.stop.as_ref().map(|stop| {
            let failures = gate.failures(&judging.site, request, &gathered);
            stop.with_failures(failures)
        });
        input.observed.settings = settings_of_run(*report, pending);
        input.observed.user_settings = gate.user_settings();
        input.settings_changed = report.and_then(|report| report.changed.clone());
        if !request.asker.dry_run {
            gate.store_text(*report);
        }
        Ok(Findings { gathered, tree, input, tokens })
    }

    /// Runs the checks that the approvals of persons let run.
    fn gather_admitted(&self, scan: &Scan, pending: &PendingDecision) -> Result<Gathered, Failure> {
        let Self { gate, judging, request, approvals, .. } = self;
        let (Some(unapproved), Some(goal)) = (&self.unapproved, gate.goal_check()) else {
            return gate.gather(&judging.site, request, scan, Some(pending), approvals);
        };
        let request = only(goal, request);
        let gathered = gate.gather(&judging.site, &request, scan, Some(pending), approvals)?;
        Ok(without_others(gathered, goal, unapproved))
    }

    /// Decides with the loop's present state, and records the decision.
    // Checks may take minutes, in which other decisions of the loop are recorded. So the
    // transaction comes last, and decides with the loop's state at that moment: its number,
    // its token, its breaker.
    fn decide_and_commit(
        &self,
        memory: &mut Memory,
        pending: &PendingDecision,
        findings: &Findings,
    ) -> Result<Record, Failure> {
        match self.record(memory, pending, findings) {
            // Without its state the gate still decides, and never lets the loop exit.
            Err(failure) if !self.request.asker.is_forced() => {
                let context = DecisionContext::without_state(&failure).ok_or(failure)?;
                let (record, _) = self.decide(pending, findings, &context);
                Ok(record)
            }
            result => result,
        }
    }

    /// Decides and records, as often as the connection to a database breaks.
    fn record(
        &self,
        memory: &mut Memory,
        pending: &PendingDecision,
        findings: &Findings,
    ) -> Result<Record, Failure> {
        memory.retry(|memory| match memory.begin_decision(pending, &self.question)? {
            DecisionStart::Repeated(record) => Ok(*record),
            DecisionStart::Open(transaction) => {
                let (record, judged) = self.decide(pending, findings, &transaction.context);
                transaction.commit(record, judged, pending, &self.question)
            }
        })
    }

    /// Decides with this state of the loop, and records nothing.
    fn decide(
        &self,
        pending: &PendingDecision,
        findings: &Findings,
        context: &DecisionContext,
    ) -> (Record, Judged) {
        let Self { gate, judging, request, report, approvals, question, .. } = self;
        let Findings { gathered, tree, tokens, .. } = findings;
        let tokens = tokens.as_ref();
        let mut input = findings.input.clone();
        // A token is one iteration's, and another decision may have taken the number meanwhile.
        let iteration = context.run_and_iteration();
        if iteration != pending.run_and_iteration() {
            input.signal = with_token_check(&judging.scan, tokens, iteration).signal;
        }
        input.next_token = context.next_token(tokens);
        // Masked before the decision: a replay decides on the input that the record has.
        gate.masker.input(&mut input);
        input.stateful = true;
        input.memory.clone_from(&context.memory);
        input.lost.clone_from(&context.lost);
        input.observed.at = context.at.clone();
        input.observed.iteration = context.iteration.unwrap_or_default();
        input.observed.tree.clone_from(tree);
        input.observed.probe = Some(context.probe.clone());
        let judged = judge(&input, pending.policy(question));
        let record = gate.new_record(judged.decision.clone(), judging, request, gathered);
        let record = gate.with_approvals(record, approvals, &judging.site, gathered);
        let record = gate.with_trust(record, *report, gathered, Some(pending));
        let record = Record { run: context.run.clone(), iteration: context.iteration, ..record };
        (record, judged)
    }
}

/// The parts of a decision: evidence, input, record.
impl Gate {
    /// The approvals of changed tests. One that cannot be read allows nothing.
    fn approvals(&self, memory: &mut Memory, request: &Request) -> Result<Approvals, Failure> {
        if self.policy.checks.is_empty() || request.runs_no_checks() {
            return Ok(Approvals::default());
        }
        match memory.approvals() {
            // gate has waited for the store already, and does not wait again.
            Err(failure) if failure.is_of_connection() => Err(failure),
            approvals => Ok(approvals.unwrap_or_default()),
        }
    }

    /// Runs the checks that the decision needs.
    fn gather(
        &self,
        site: &CheckSite,
        request: &Request,
        scan: &Scan,
        pending: Option<&PendingDecision>,
        approvals: &Approvals,
    ) -> Result<Gathered, Failure> {
        if !self.wants_evidence(scan, request, pending) {
            return Ok(Gathered::default());
        }
        let baseline = match self.baseline(site, request, pending) {
            // Where nothing is compared, it can only tell the cause of failures.
            Err(_) if request.checking.occasion == Occasion::Session => None,
            baseline => baseline?,
        };
        self.gather_at(site.clone(), baseline, request, pending, approvals)
    }

    /// Runs the checks in one work tree, compared with this baseline.
    pub(super) fn gather_at(
        &self,
        site: CheckSite,
        baseline: Option<Baseline>,
        request: &Request,
        pending: Option<&PendingDecision>,
        approvals: &Approvals,
    ) -> Result<Gathered, Failure> {
        let approved = approvals.in_force(baseline.as_ref().map(Baseline::digest));
        let tree = ApprovingTree::new(&site, &approved, baseline.as_ref());
        let mut options = request.checking.clone();
        options.allow.extend(approved.iter().flat_map(|change| tree.allowances(change)));
        options.own_checks = self.own_checks.clone();
        options.about = request.asker.about(pending.map_or(0, |pending| pending.sealed_refusals));
        options.baseline = baseline;
        Ok(gate_checks::gather(&self.policy, site, &options)?)
    }

    /// Checks are lazy: none starts if no result could lead to an `exit`. The breaker's
    /// probe runs them all.
    pub(super) fn wants_evidence(
        &self,
        scan: &Scan,
        request: &Request,
        pending: Option<&PendingDecision>,
    ) -> bool {
        let was_reminded = match (&request.turn.stop, pending) {
            (Some(stop), Some(pending)) => pending.refusals.before(stop).reminded,
            _ => false,
        };
        let admission = pending.map_or(Admission::Free, |pending| pending.admission);
        let could_exit = match scan.signal.status {
            Status::Complete => true,
            Status::Absent => was_reminded || !self.policy.exit_gate.require_explicit_signal,
            Status::Continue | Status::Blocked | Status::Invalid => false,
        };
        match (&request.checking.checks, admission) {
            (Checks::None, _) => false,
            // Nothing is done yet that a check could judge.
            _ if request.turn.listing.is_some() => false,
            (Checks::All | Checks::Only(_), _) | (Checks::Lazy, Admission::Probe) => true,
            (Checks::Lazy, Admission::Held) => false,
            (Checks::Lazy, Admission::Free) => could_exit && !request.asker.is_forced(),
        }
    }

    /// The work tree for the breaker, as the checks saw it, or as it is now. `None` if it cannot be
    /// read, which shows nothing about progress.
    fn tree_for_breaker(
        &self,
        site: &CheckSite,
        request: &Request,
        gathered: &Gathered,
        pending: &PendingDecision,
    ) -> Option<TreeSeen> {
        let is_watched = self.policy.breaker.watches_tree() && pending.admission != Admission::Held;
        if !is_watched || request.runs_no_checks() && !request.turn.is_pause() {
            return None;
        }
        let tree = gathered.tree.clone().or_else(|| gate_checks::look(site).ok())?;
        let TreeChange { before, after, .. } = tree;
        let baseline = gathered.baseline.as_ref();
        let first_commit = request
            .turn
            .began_at
            .clone()
            .or_else(|| Some(baseline?.commit().to_owned()))
            .or_else(|| self.began_at(site, request, pending));
        let first_commit = first_commit.as_deref();
        let changed_files =
            first_commit.and_then(|commit| gate_checks::changed_files(site, commit).ok().flatten());
        // Later looks compare with the tree of the look before; the first has only the commit.
        let uncommitted = if pending.first_look {
            baseline::has_work(site, first_commit, changed_files, &before)
        } else {
            None
        };
        let since_beginning =
            baseline.and_then(|baseline| baseline.since_beginning(site).ok().flatten());
        Some(TreeSeen { before, after, uncommitted, changed_files, since_beginning })
    }

    fn input_with_evidence(&self, scan: &Scan, request: &Request, gathered: &Gathered) -> Input {
        let mut input = self.input(scan, request);
        input.evidence.clone_from(&gathered.evidence);
        if request.checking.occasion != Occasion::Session {
            input.warnings.extend(self.no_baseline(gathered));
        }
        if let Some(signature) = Signature::from_evidence(&input.evidence) {
            input.observed.signature = Some(signature.into());
        }
        input
    }

    fn new_record(
        &self,
        decision: Decision,
        judging: &Judging,
        request: &Request,
        gathered: &Gathered,
    ) -> Record {
        let transcript = judging.scan.transcript.clone();
        let tree = gathered.tree.clone();
        let masked_tree = tree.map(|tree| tree_record(tree, &judging.site, &self.masker));
        let judged = self.judged_contents(&decision);
        let goals = self.goal_records(&decision);
        let record = Record {
            schema: SCHEMA.to_owned(),
            decision_id: Uuid::now_v7().to_string(),
            time: Timestamp::now().to_string(),
            gate_version: VERSION.to_owned(),
            run: request.asker.run.clone(),
            iteration: request.asker.iteration,
            repeated: false,
            task: request.asker.task.clone(),
            retry_at: self
                .retry_at(&decision, &judging.scan, &request.turn)
                .map(|at| at.to_string()),
            rests_on: decision.rests_on(),
            decision,
            input_digest: judging.input.clone(),
            policy_digest: digest(judging.policy_text.as_bytes()),
            baseline: gathered.baseline.as_ref().map(|baseline| baseline.digest().to_owned()),
            trust: "T0".to_owned(),
            tree: masked_tree,
            masked: Vec::new(),
            usage: UsageRecord::new(&transcript),
            ledger: None,
            approved: Vec::new(),
            judged,
            transcript,
            goals,
            wrong: None,
            duration_ms: u64::try_from(judging.start.elapsed().as_millis()).unwrap_or(u64::MAX),
        };
        record.with_masked()
    }

    /// The best time for the next try after an iteration in which the agent could not work:
    /// the time that its service or its runner names. Without one, the wait grows with
    /// each such iteration.
    fn retry_at<S>(&self, decision: &Decision, scan: &Scan<S>, turn: &Turn) -> Option<Timestamp> {
        match decision.verdict {
            Verdict::Exit => return None,
            Verdict::Continue if decision.input.observed.outage.is_some() => {
                return turn.retry_at;
            }
            _ if decision.input.observed.outage.is_some() => return None,
            Verdict::Continue | Verdict::Tripped | Verdict::Blocked => {}
        }
        let counters = &decision.breaker.counters;
        let has_failed = turn.agent_exit_code.is_some_and(|code| code != 0);
        let (limit_end, failures) = match &scan.effort.limited {
            Some(limited) => (limit_end(limited, &Zoned::now()), counters.rate_limited),
            // An agent that ended well has got past the outage that its output tells of.
            None if has_failed && scan.effort.outage.is_some() => (None, counters.same_error),
            None => return None,
        };
        let wait = self.backoff.delay(u64::from(failures).saturating_sub(1), random_fraction());
        Timestamp::now().checked_add(SignedDuration::try_from(wait).ok()?).ok().max(limit_end)
    }
}

/// The transcript with the check of its signal's token against this iteration.
fn with_token_check(
    scan: &Scan<UncheckedSignal>,
    tokens: Option<&Tokens>,
    iteration: Option<(&str, u64)>,
) -> Scan {
    scan.clone().map_signal(|signal| match tokens {
        Some(tokens) => tokens.prove(signal, iteration),
        None => signal.without_token(),
    })
}

impl DecisionContext {
    /// The run and the iteration of this decision; `None` if the state is lost.
    fn run_and_iteration(&self) -> Option<(&str, u64)> {
        self.run.as_deref().zip(self.iteration)
    }

    /// The token of the next iteration.
    fn next_token(&self, tokens: Option<&Tokens>) -> Option<TokenHalves> {
        let (run, iteration) = self.run_and_iteration()?;
        Some(tokens?.halves(run, iteration.saturating_add(1)))
    }
}

/// The most files that a record names.
const SHOWN_FILES: usize = 200;

/// The digests of the work tree and, without secrets, the names of files.
fn tree_record(change: TreeChange, site: &CheckSite, masker: &Masker) -> Tree {
    let callers_files = site.callers_files.iter().filter_map(|file| {
        let inside = file.strip_prefix(&site.project).ok()?;
        Some(masker.text(&inside.to_string_lossy()))
    });
    let shown = |files: Vec<String>| {
        files.iter().take(SHOWN_FILES).map(|file| masker.text(file)).collect::<Vec<_>>()
    };
    Tree {
        before: change.before.digest,
        after: change.after.digest,
        wrote: shown(change.wrote),
        changed: shown(change.changed),
        callers_files: callers_files.collect(),
    }
}
