//! Decisions under settings that need an approval.

use std::{fs, io};

use gate_checks::{CheckSite, Checks, Gathered, programs};
use gate_core::decide::evidence::{Evidence, Outcome};
use gate_core::decide::policy::Mode;
use gate_core::decide::reason::{Warning, WarningCode};
use gate_core::{Policy, Scan, digest};

use super::Gate;
use crate::failure::Failure;
use crate::memory::PendingDecision;
use crate::record::Record;
use crate::request::Request;
use crate::settings::{Places, user_file};
use crate::trust::{Claim, Level, Trust, TrustReport, TrustState};

/// Stands for a check in evidence of tampering, if the policy has no checks.
const SETTINGS: &str = "settings";

#[derive(Clone, Debug)]
pub(super) struct Trusted {
    trust: Trust,
    claim: Claim,
}

impl Gate {
    /// Requires an approval of the settings. Without this call, the program that opened
    /// the gate answers for them.
    ///
    /// Fails on a bad `GATE_TRUST_LEVEL` (code 2), and on folders of runs that cannot be
    /// read.
    pub(crate) fn trusting(mut self, trust: Trust) -> Result<Self, Failure> {
        let claim = Claim::verify(trust.places(), self.place_of_use)?;
        let reasons = claim.lowered.iter();
        self.warnings.extend(reasons.map(|reason| {
            let message = format!("{reason}: the level is {} at most", claim.allowed.name());
            Warning::new(WarningCode::TrustLowered, message)
        }));
        Ok(Self { trust: Some(Trusted { trust, claim }), ..self })
    }

    /// The state of the settings' approval. `None` if no approval is required, and if none matters:
    /// without memory and checks.
    pub(super) fn trust_report(&self, request: &Request) -> Result<Option<TrustReport>, Failure> {
        match &self.trust {
            Some(trusted) if self.memory.is_some() || !request.runs_no_checks() => {
                trusted.trust.report().map(Some)
            }
            _ => Ok(None),
        }
    }

    /// The places of the settings; `None` if a program answers for them.
    pub(super) fn trust_places(&self) -> Option<&Places> {
        self.trust.as_ref().map(|trusted| trusted.trust.places())
    }

    /// The programs of the checks may be started outside of any decision.
    pub(crate) fn may_start_checks(&self) -> bool {
        self.trust.as_ref().is_none_or(|trusted| {
            trusted.trust.admit_deciding(&self.approvable_policy(), &self.site).is_ok()
        })
    }

    /// A gate with settings that the operator has approved since this one was opened, if
    /// there are any. The budget stays: a run cannot get a new one in its middle.
    ///
    /// Fails on settings that cannot be used, and on a store that cannot be opened.
    pub(super) fn renewed(&self) -> Result<Option<Self>, Failure> {
        let (Some(trusted), Some(place)) = (&self.trust, self.place_of_use) else {
            return Ok(None);
        };
        let Some((mut settings, trust)) = trusted.trust.approved_since()? else { return Ok(None) };
        // Flags of the command line may have set it, too.
        settings.policy.budget = self.policy.budget;
        let memory = self.memory().map(|memory| memory.reopened(trust.places())).transpose()?;
        let site = CheckSite { project: trust.project()?, ..self.site.clone() };
        let gate = Self::open(settings, site)?.at(place);
        let gate = if self.writes_tests { gate.writing_tests()? } else { gate };
        let gate = gate.requiring(self.decided_criteria())?;
        let gate = memory.into_iter().fold(gate, Self::remembering);
        gate.trusting(trust).map(Some)
    }

    /// Fails unless a decision may use these settings. Settings without an approval may
    /// decide only if none was ever approved and no program starts, or if the operator
    /// leaves the checks out or ends the loop.
    pub(super) fn admit(
        &self,
        report: Option<&TrustReport>,
        request: &Request,
        scan: &Scan,
        pending: Option<&PendingDecision>,
    ) -> Result<(), Failure> {
        let Some(report) = report else { return Ok(()) };
        let state = pending.and_then(|pending| pending.trust).unwrap_or(report.state);
        let is_operators = request.asker.is_forced() || request.runs_no_checks();
        let is_tampered = pending.is_some_and(|pending| pending.tampered.is_some());
        if state == TrustState::Approved || is_operators || is_tampered {
            return Ok(());
        }
        let programs = match &request.checking.checks {
            Checks::Only(name) => {
                let mut policy = self.approvable_policy();
                policy.checks.retain(|check, _| check == name);
                programs(&policy, &self.site)
            }
            _ => programs(&self.approvable_policy(), &self.site),
        };
        if state == TrustState::Changed
            || (!programs.is_empty() && self.wants_evidence(scan, request, pending))
        {
            return Err(report.refusal(state, &programs));
        }
        Ok(())
    }

    /// The settings of the user as they are now, as a digest or a word; `None` if the program that
    /// opened the gate answers for them.
    pub(super) fn user_settings(&self) -> Option<String> {
        let file = user_file(self.trust.as_ref()?.trust.places())?;
        Some(match fs::read(file) {
            Ok(bytes) => digest(&bytes),
            Err(error) if error.kind() == io::ErrorKind::NotFound => "none".to_owned(),
            Err(_) => "unreadable".to_owned(),
        })
    }

    /// Stores the text of approved settings, for the time after a change.
    pub(super) fn store_text(&self, report: Option<&TrustReport>) {
        if let (Some(trusted), Some(report)) = (&self.trust, report) {
            trusted.trust.store_text(report);
        }
    }

    /// Adds the trust level and the policy's digest to a record.
    pub(super) fn with_trust(
        &self,
        record: Record,
        report: Option<&TrustReport>,
        gathered: &Gathered,
        pending: Option<&PendingDecision>,
    ) -> Record {
        let state = pending.and_then(|pending| pending.trust).or(report.map(|report| report.state));
        // Without a file the defaults decide, which need no approval.
        let has_defaults = report.is_some_and(|report| report.file.is_none());
        let is_approved = state == Some(TrustState::Approved)
            || (has_defaults && state == Some(TrustState::Never));
        let baseline = gathered.baseline.as_ref();
        let has_baseline = baseline.is_some_and(|baseline| !baseline.is_movable());
        let has_memory = record.decision.input.memory.is_some();
        let level = self.trust.as_ref().map_or(Level::T0, |trusted| {
            Level::for_decision(&trusted.claim, has_memory, is_approved, has_baseline)
        });
        let runs_policy = pending.and_then(PendingDecision::runs_policy_text);
        let policy_digest =
            runs_policy.map_or(record.policy_digest, |policy_text| digest(policy_text.as_bytes()));
        Record { trust: level.name().to_owned(), policy_digest, ..record }
    }
}

/// The digest of the settings that the run has from now on. `None` if it keeps its earlier ones.
pub(super) fn settings_of_run(
    report: Option<&TrustReport>,
    pending: &PendingDecision,
) -> Option<String> {
    if pending.tampered.is_some() || pending.trust == Some(TrustState::Changed) {
        return None;
    }
    report.map(|report| report.digest.clone())
}

/// The evidence if the settings were tampered with: each check has the outcome of tampering, and
/// none has run.
pub(super) fn tampered_evidence(policy: &Policy, problem: &str) -> Gathered {
    let evidence = |name, mode| Evidence::new(name, mode, Outcome::Tamper).with_summary(problem);
    let mut gathered = Gathered::default();
    gathered.evidence = if policy.checks.is_empty() {
        vec![evidence(SETTINGS, Mode::Require)]
    } else {
        policy.checks.iter().map(|(name, check)| evidence(name, check.mode)).collect()
    };
    gathered
}
