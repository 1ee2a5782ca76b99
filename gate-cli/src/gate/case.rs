//! One decision: look up, gather, begin, decide and commit.

use gate_checks::Gathered;
use gate_core::decide::decision::{Judged, judge};
use gate_core::decide::iteration_facts::TreeSeen;
use gate_core::decide::signal::{TokenFinding, TokenHalves, UncheckedSignal};
use gate_core::{Input, Scan, decide};

use super::trusted::{settings_of_run, tampered_evidence};
use super::{Gate, Judging};
use crate::failure::Failure;
use crate::memory::{
    Approvals, DecisionContext, DecisionRequest, DecisionStart, LookUp, Memory, PendingDecision,
    Tokens,
};
use crate::record::Record;
use crate::request::Request;
use crate::source::Source;
use crate::trust::TrustReport;

/// The reason why no token can be checked without a memory.
const NO_STATE: &str = "no state is kept (--no-state), so nobody knows which one holds";

impl Gate {
    /// Gathers the evidence for a transcript, and decides.
    ///
    /// # Errors
    ///
    /// As of [`Gate::check`].
    pub(crate) fn judge(
        &self,
        judging: &Judging,
        source: &Source,
        request: &Request,
    ) -> Result<Record, Failure> {
        let report = self.trust_report(request)?;
        let report = report.as_ref();
        let Some(memory) = &self.memory else {
            return self.judge_without_memory(judging, source, request, report);
        };
        let mut memory = memory.borrow_mut();
        let approvals = &self.approvals(&mut memory, request)?;
        // If the caller numbers the iterations, the input tells a repetition from a new run.
        let input = request.iteration.and(judging.input.as_deref());
        let question = DecisionRequest {
            settings: self.run_settings(report),
            approval: approvals.newest(),
            ..self.decision_request(request, input, &judging.policy_text)
        };
        let case = Case { gate: self, judging, source, request, report, approvals, question };
        let mut pending = match memory.look_up(&case.question)? {
            LookUp::Repeated(record) => return Ok(*record),
            LookUp::Pending(pending) => pending,
        };
        if let Some(earlier) = case.take_repeated(&mut pending) {
            return Ok(earlier);
        }
        let tokens = self.tokens(&mut memory)?;
        let scan = proven(&judging.scan, tokens.as_ref(), pending.numbered());
        case.admit(&scan, &pending)?;
        memory.begin_probe(&mut pending, &case.question)?;
        let findings = case.gather(&scan, &pending, tokens)?;
        case.decide_and_commit(&mut memory, &pending, &findings)
    }

    /// Decides on the transcript and the checks alone, and records nothing.
    fn judge_without_memory(
        &self,
        judging: &Judging,
        source: &Source,
        request: &Request,
        report: Option<&TrustReport>,
    ) -> Result<Record, Failure> {
        let scan = without_state(judging.scan.clone());
        self.admit(report, request, &scan, None)?;
        let gathered = self.gather((source, request), &scan, None, &Approvals::default())?;
        let mut input = self.input_with_evidence(&scan, request, &gathered);
        input.settings_changed = report.and_then(|report| report.changed.clone());
        self.masker.input(&mut input);
        let record = self.new_record(decide(&input, &self.policy), judging, request, &gathered);
        Ok(self.with_trust(record, report, &gathered, None))
    }
}

/// A transcript that is judged at somebody's request, with memory.
struct Case<'c> {
    gate: &'c Gate,
    judging: &'c Judging,
    source: &'c Source,
    request: &'c Request,
    /// None if the settings need no approval.
    report: Option<&'c TrustReport>,
    approvals: &'c Approvals,
    question: DecisionRequest<'c>,
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
        let earlier = pending.earlier.take()?;
        if !self.gate.policy.checks.is_empty() {
            let then = earlier.decision.observed.tree.as_ref()?;
            let now = gate_checks::look(&self.gate.site(self.source, self.request)).ok()?;
            if now.after != then.after {
                return None;
            }
        }
        Some(*earlier)
    }

    /// Fails on settings that are not approved, before the breaker or a check uses them.
    fn admit(&self, scan: &Scan, pending: &PendingDecision) -> Result<(), Failure> {
        if pending.lost.is_some() {
            return Ok(());
        }
        self.gate.admit(self.report, self.request, scan, Some(pending))
    }

    /// Runs the checks that the decision needs, and looks at the work tree.
    fn gather(
        &self,
        scan: &Scan,
        pending: &PendingDecision,
        tokens: Option<Tokens>,
    ) -> Result<Findings, Failure> {
        let Self { gate, source, request, report, approvals, .. } = self;
        let gathered = match &pending.tampered {
            Some(why) => tampered_evidence(pending.policy(&self.question), why),
            None => gate.gather((source, request), scan, Some(pending), approvals)?,
        };
        let tree = gate.watch(source, request, &gathered, pending);
        let mut input = gate.input_with_evidence(scan, request, &gathered);
        if let Some(situation) =
            input.observed.stop.as_mut().and_then(|stop| stop.situation.as_mut())
        {
            situation.failures = gate.failures(source, request, &gathered);
        }
        input.observed.settings = settings_of_run(*report, pending);
        input.observed.user_settings = gate.user_settings();
        input.settings_changed = report.and_then(|report| report.changed.clone());
        if !request.dry_run {
            gate.store_text(*report);
        }
        Ok(Findings { gathered, tree, input, tokens })
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
            Err(failure) if self.request.forced.is_none() => {
                let context = DecisionContext::without_state(&failure).ok_or(failure)?;
                Ok(self.decide(pending, findings, &context).0)
            }
            recorded => recorded,
        }
    }

    /// Decides and records, as often as the connection to a database breaks.
    fn record(
        &self,
        memory: &mut Memory,
        pending: &PendingDecision,
        findings: &Findings,
    ) -> Result<Record, Failure> {
        let mut tried = None;
        memory.retry(|memory, _| self.try_to_record(memory, pending, findings, &mut tried))
    }

    /// One try. `tried` is the id of the decision that an earlier one may have recorded.
    fn try_to_record(
        &self,
        memory: &mut Memory,
        pending: &PendingDecision,
        findings: &Findings,
        tried: &mut Option<String>,
    ) -> Result<Record, Failure> {
        match memory.begin_decision(pending, &self.question, tried.as_deref())? {
            DecisionStart::Repeated(record) => Ok(*record),
            DecisionStart::Open(transaction) => {
                let decided = self.decide(pending, findings, &transaction.context);
                *tried = Some(decided.0.decision_id.clone());
                transaction.commit(decided, pending, &self.question)
            }
        }
    }

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
        if context.numbered() != pending.numbered() {
            input.signal = proven(&judging.scan, tokens, context.numbered()).signal;
        }
        input.next_token = context.next_token(tokens);
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
        let record = with_approvals(record, approvals);
        let record = gate.with_trust(record, *report, gathered, Some(pending));
        let (run, iteration) = (context.run.clone(), context.iteration);
        (Record { run, iteration, ..record }, judged)
    }
}

/// The record with the approvals that its checks went by.
fn with_approvals(record: Record, approvals: &Approvals) -> Record {
    if record.decision.evidence.is_empty() {
        return record;
    }
    Record { approved: approvals.in_force(record.baseline.as_deref()), ..record }
}

/// The transcript for a decision without memory, which cannot check tokens.
fn without_state(scan: Scan<UncheckedSignal>) -> Scan {
    scan.with_token(&TokenFinding::unchecked(NO_STATE))
}

/// The transcript with the check of its signal's token against this iteration.
fn proven(
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
    /// The run and the iteration of this decision.
    fn numbered(&self) -> Option<(&str, u64)> {
        self.run.as_deref().zip(self.iteration)
    }

    /// The token of the next iteration.
    fn next_token(&self, tokens: Option<&Tokens>) -> Option<TokenHalves> {
        let (run, iteration) = self.numbered()?;
        Some(tokens?.halves((run, iteration.saturating_add(1))))
    }
}
