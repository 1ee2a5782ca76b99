//! Decisions under settings that somebody has to answer for.

use std::cell::OnceCell;

use gate_checks::{CheckSite, Gathered, programs};
use gate_core::decide::evidence::{Evidence, Outcome};
use gate_core::decide::policy::Mode;
use gate_core::decide::reason::{Warning, WarningCode};
use gate_core::{Policy, Scan, digest};

use super::Gate;
use crate::failure::Failure;
use crate::memory::{Settings, Turn};
use crate::record::Record;
use crate::request::{Checks, Request};
use crate::trust::{Claim, Level, Looked, Standing, Trust};

/// What the settings themselves are called among the checks, where there are none.
const SETTINGS: &str = "settings";

/// Whose settings a gate has.
#[derive(Debug)]
pub(super) struct Trusted {
    trust: Trust,
    /// What this place allows.
    claim: Claim,
    /// The digest of the whole policy, whatever is left of it in this place.
    policy: OnceCell<String>,
}

impl Gate {
    /// The gate under settings that an operator has to approve. Without this, the
    /// program that opened it answers for them.
    ///
    /// # Errors
    ///
    /// A `GATE_TRUST_LEVEL` that cannot be read (code 2), or folders of runs.
    pub(crate) fn trusting(mut self, trust: Trust) -> Result<Self, Failure> {
        let place = self.place.as_ref().map(|(place, _)| *place);
        let claim = Claim::of(trust.places(), place)?;
        let lowered = claim.lowered.iter();
        self.warnings.extend(lowered.map(|why| {
            let message = format!("{why}: the level is {} at most", claim.allowed.name());
            Warning::new(WarningCode::TrustLowered, message)
        }));
        let policy = OnceCell::new();
        Ok(Self { trust: Some(Trusted { trust, claim, policy }), ..self })
    }

    /// How its settings stand now; none where a program answers for them, and where
    /// nothing rests on that: without checks, as the operator says, and without memory.
    pub(super) fn looked(&self, request: &Request) -> Result<Option<Looked>, Failure> {
        let rests = self.memory.is_some() || request.checks != Checks::None;
        self.trust.as_ref().filter(|_| rests).map(|it| it.trust.look()).transpose()
    }

    /// Whether the programs of the checks may be started outside of any decision.
    pub(super) fn may_start_checks(&self) -> bool {
        let trust = self.trust.as_ref();
        trust.is_none_or(|it| it.trust.admit_deciding(&self.policy, &self.site).is_ok())
    }

    /// The gate by settings that the operator has approved since this one began to
    /// decide; none where its own still do. What a run may use stays as it began.
    ///
    /// # Errors
    ///
    /// Settings that cannot be used, a store that cannot be opened.
    pub(crate) fn renewed(&self) -> Result<Option<Self>, Failure> {
        let (Some(trusted), Some((place, _))) = (&self.trust, &self.place) else { return Ok(None) };
        let Some((mut settings, trust)) = trusted.trust.approved_since()? else { return Ok(None) };
        settings.policy.budget = self.policy.budget;
        let memory = self.memory().map(|memory| memory.again(trust.places())).transpose()?;
        let site = CheckSite { project: trust.project()?, ..self.site.clone() };
        let gate = Self::open(settings, site)?.at(*place).compared_with(self.baseline.clone());
        let gate = memory.into_iter().fold(gate, Self::remembering);
        gate.trusting(trust).map(Some)
    }

    /// What a run is held against.
    pub(super) fn held<'g>(&'g self, looked: Option<&'g Looked>) -> Option<Settings<'g>> {
        let whole = self.place.as_ref().and_then(|(_, whole)| whole.as_deref());
        let digest = || whole.unwrap_or(&self.policy).digest();
        let policy = self.trust.as_ref()?.policy.get_or_init(digest);
        Some(Settings { looked: looked?, policy })
    }

    /// That a decision may rest on these settings: on approved ones; on others only
    /// where nothing was ever approved and no program is started, or where the
    /// operator leaves checks out or ends the loop.
    pub(super) fn admit(
        &self,
        looked: Option<&Looked>,
        request: &Request,
        scan: &Scan,
        turn: Option<&Turn>,
    ) -> Result<(), Failure> {
        let Some(looked) = looked else { return Ok(()) };
        let standing = turn.and_then(|turn| turn.trust).unwrap_or(looked.standing);
        let is_operators = request.forced.is_some() || request.checks == Checks::None;
        let is_tampered = turn.is_some_and(|turn| turn.tampered.is_some());
        if standing == Standing::Approved || is_operators || is_tampered {
            return Ok(());
        }
        let programs = match &request.checks {
            Checks::Only(name) => programs(&self.only(name), &self.site),
            _ => programs(&self.policy, &self.site),
        };
        let starts = || !programs.is_empty() && self.wants_evidence(scan, request, turn);
        if standing == Standing::Changed || starts() {
            return Err(looked.refused(standing, &programs));
        }
        Ok(())
    }

    /// Keeps the text of approved settings, for when others stand there.
    pub(super) fn keep_text(&self, looked: Option<&Looked>) {
        if let (Some(trusted), Some(looked)) = (&self.trust, looked) {
            trusted.trust.keep_text(looked);
        }
    }

    fn only(&self, name: &str) -> Policy {
        let mut policy = self.policy.clone();
        policy.checks.retain(|check, _| check == name);
        policy
    }

    /// The record with how far it is to be trusted, and the policy that it went by.
    pub(super) fn stamped(
        &self,
        record: Record,
        looked: Option<&Looked>,
        turn: Option<&Turn>,
    ) -> Record {
        let standing = turn.and_then(|turn| turn.trust).or(looked.map(|it| it.standing));
        // Where there is no file, the defaults hold, which nobody has to approve.
        let defaults = looked.is_some_and(|it| it.file.is_none());
        let is_approved =
            standing == Some(Standing::Approved) || (defaults && standing == Some(Standing::Never));
        let baseline = record.baseline.as_deref();
        let level = self.trust.as_ref().map_or(Level::T0, |it| {
            Level::of(&it.claim, record.decision.memory.is_some(), is_approved, baseline)
        });
        let own = turn.and_then(Turn::own_text).map(|text| digest(text.as_bytes()));
        let policy_digest = own.unwrap_or(record.policy_digest);
        Record { trust: level.name().to_owned(), policy_digest, ..record }
    }
}

/// How the project's settings differ from those that decide.
pub(super) fn changed(looked: Option<&Looked>) -> Option<String> {
    looked?.changed.clone()
}

/// What the run goes by from now on; none: what it went by before.
pub(super) fn went_by(looked: Option<&Looked>, turn: &Turn) -> Option<String> {
    let believed = turn.tampered.is_none() && turn.trust != Some(Standing::Changed);
    looked.filter(|_| believed).map(|it| it.digest.clone())
}

/// The evidence where settings were worked around: no check has run.
pub(super) fn worked_around(policy: &Policy, why: &str) -> Gathered {
    let tampered = |name: &str, mode| Evidence {
        summary: why.to_owned(),
        ..Evidence::new(name, mode, Outcome::Tamper)
    };
    let checks = policy.checks.iter().map(|(name, check)| tampered(name, check.mode));
    let mut evidence: Vec<_> = checks.collect();
    if evidence.is_empty() {
        evidence.push(tampered(SETTINGS, Mode::Require));
    }
    Gathered { evidence, ..Gathered::default() }
}
