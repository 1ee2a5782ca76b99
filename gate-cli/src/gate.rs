//! One decision: read, gather, decide, stamp.

use std::path::{Path, PathBuf};
use std::time::Instant;

use gate_checks::check::About;
use gate_checks::{Events, Gathered, Site, Wanted};
use gate_core::config::{ConfigWarning, Resolved};
use gate_core::decide::indicator::PatternSet;
use gate_core::decide::policy::When;
use gate_core::decide::reason::{Warning, WarningCode};
use gate_core::decide::signal::Status;
use gate_core::read::Forced;
use gate_core::{Decision, Input, Policy, Scan, Scanner, Transcript, decide};
use jiff::Timestamp;
use uuid::Uuid;

use crate::VERSION;
use crate::failure::Failure;
use crate::record::{Record, SCHEMA, UsageRecord};
use crate::source::Source;

/// A gate with its settings.
#[derive(Debug)]
pub struct Gate {
    policy: Policy,
    patterns: PatternSet,
    warnings: Vec<Warning>,
    site: Site,
}

/// What a caller asks.
#[derive(Clone, Debug, Default)]
pub struct Request {
    /// The format, or the agent, of the transcript.
    pub format: Option<Forced>,
    /// The task's id.
    pub task: Option<String>,
    /// The run's name.
    pub run: Option<String>,
    /// The iteration's number.
    pub iteration: Option<u64>,
    /// The exit code of the agent's program.
    pub agent_exit_code: Option<i32>,
    /// The operator's reason for forcing completion.
    pub forced: Option<String>,
    /// Which checks to run.
    pub checks: Checks,
    /// Whether no earlier record of a check is taken, and none kept.
    pub fresh: bool,
    /// Files of the caller's own, such as the one for the feedback: where
    /// untracked they are no part of the work, and neither is the transcript.
    pub own_files: Vec<PathBuf>,
    /// Who is told what the checks do.
    pub events: Events,
}

/// Which checks to run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Checks {
    /// The configured ones, unless the signal already forbids `exit`.
    #[default]
    Lazy,
    /// The configured ones.
    All,
    /// This one alone. The others leave a record that says so, and a required
    /// one among them forbids `exit`.
    Only(String),
    /// None.
    None,
}

impl Checks {
    fn only(&self) -> Option<&str> {
        match self {
            Self::Only(name) => Some(name),
            Self::Lazy | Self::All | Self::None => None,
        }
    }
}

impl Gate {
    /// A gate under these settings, whose checks look at this site.
    ///
    /// # Errors
    ///
    /// A pattern that does not compile, a glob that cannot be understood.
    pub fn open(settings: Resolved, site: Site) -> Result<Self, Failure> {
        gate_checks::validate(&settings.policy)?;
        let patterns = PatternSet::new(&settings.policy.patterns)?;
        let warnings = settings.warnings.iter().map(warning).collect();
        Ok(Self { policy: settings.policy, patterns, warnings, site })
    }

    /// The gate in one place: with the checks that run there alone. The others
    /// are named in its decisions.
    #[must_use]
    pub fn at(mut self, place: When) -> Self {
        let elsewhere = self.policy.checks.iter().filter(|(_, check)| !check.when.contains(&place));
        let names: Vec<_> = elsewhere.map(|(name, _)| name.as_str()).collect();
        if !names.is_empty() {
            let message = format!("run elsewhere only, as `when` says: {}", names.join(", "));
            self.warnings.push(Warning::new(WarningCode::CheckElsewhere, message));
        }
        self.policy = self.policy.at(place);
        self
    }

    /// The policy in force.
    pub fn policy(&self) -> &Policy {
        &self.policy
    }

    /// Reads a transcript.
    ///
    /// # Errors
    ///
    /// A source that cannot be read.
    pub fn scan(&self, source: &Source, format: Option<Forced>) -> Result<Scan, Failure> {
        let mut scanner = Scanner::new(&self.patterns, format);
        source.feed(&mut scanner)?;
        Ok(scanner.finish(&self.policy.signal, None))
    }

    /// Decides over what was read, without looking at anything else.
    pub fn decide_scan(&self, scan: &Scan) -> Decision {
        let input = Input { checks_left_out: true, ..self.input(scan, &Request::default()) };
        decide(&input, &self.policy)
    }

    /// Reads a transcript, gathers the evidence, and decides.
    ///
    /// # Errors
    ///
    /// A source that cannot be read, or a system that refuses to start checks.
    /// Nothing was decided then.
    pub fn check(&self, source: &Source, request: &Request) -> Result<Record, Failure> {
        let began = Instant::now();
        let scan = self.scan(source, request.format)?;
        let mut input = self.input(&scan, request);
        let mut tree = None;
        if self.wants_evidence(&input, &request.checks) {
            let gathered = self.gather(source, request)?;
            input.evidence = gathered.evidence;
            tree = gathered.tree;
        }
        let decision = decide(&input, &self.policy);
        let record = self.stamp(decision, scan.transcript, request, began);
        Ok(Record { tree: tree.map(Into::into), ..record })
    }

    fn gather(&self, source: &Source, request: &Request) -> Result<Gathered, Failure> {
        let wanted = Wanted {
            only: request.checks.only().map(str::to_owned),
            all: request.checks == Checks::All,
            fresh: request.fresh,
            about: About {
                task: request.task.clone(),
                run: request.run.clone(),
                iteration: request.iteration,
            },
        };
        let mut site = self.site.clone();
        site.ignore.clone_from(&self.policy.tree_ignore);
        site.callers_files.extend(source.path().map(Path::to_owned));
        site.callers_files.extend(request.own_files.iter().cloned());
        Ok(gate_checks::gather(&self.policy, site, &wanted, request.events.clone())?)
    }

    fn input(&self, scan: &Scan, request: &Request) -> Input {
        let mut warnings = self.warnings.clone();
        warnings.extend(about_input(&scan.transcript));
        Input {
            agent_exit_code: request.agent_exit_code,
            forced: request.forced.clone(),
            checks_left_out: request.checks == Checks::None && !self.policy.checks.is_empty(),
            warnings,
            ..Input::new(scan.signal.clone(), scan.hits.clone())
        }
    }

    /// Checks are lazy: where nothing that they find could make it `exit`,
    /// none is started.
    fn wants_evidence(&self, input: &Input, checks: &Checks) -> bool {
        let allowed = match input.signal.status {
            Status::Complete => true,
            Status::Absent => !self.policy.require_explicit_signal,
            Status::Continue | Status::Blocked | Status::Invalid => false,
        };
        match checks {
            Checks::Lazy => allowed && input.forced.is_none(),
            Checks::All | Checks::Only(_) => true,
            Checks::None => false,
        }
    }

    fn stamp(
        &self,
        decision: Decision,
        transcript: Transcript,
        request: &Request,
        began: Instant,
    ) -> Record {
        Record {
            schema: SCHEMA.to_owned(),
            decision_id: Uuid::now_v7().to_string(),
            time: Timestamp::now().to_string(),
            gate_version: VERSION.to_owned(),
            run: request.run.clone(),
            iteration: request.iteration,
            repeated: false,
            task: request.task.clone(),
            decision,
            retry_at: retry_at(&transcript),
            policy_digest: self.policy.digest(),
            baseline: None,
            trust: "T0".to_owned(),
            tree: None,
            masked: Vec::new(),
            usage: UsageRecord::of(&transcript),
            ledger: None,
            transcript,
            duration_ms: u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX),
        }
    }
}

/// When the last limit of the transcript is over.
fn retry_at(transcript: &Transcript) -> Option<String> {
    let seconds = transcript.limits.last()?.resets_at?;
    Some(Timestamp::from_second(seconds).ok()?.to_string())
}

fn warning(warning: &ConfigWarning) -> Warning {
    Warning::new(WarningCode::ThresholdFromEnvironment, warning.to_string())
}

/// What the transcript tells beside the conversation that a person should
/// know: flaws, errors, limits; the last of each kind.
fn about_input(transcript: &Transcript) -> Vec<Warning> {
    let problem = transcript.problems.first().map(|one| (one.line, one.text.as_str()));
    let error = transcript.errors.last().map(|one| (one.line, one.text.as_str()));
    let limit = transcript.limits.last().map(|one| (one.line, one.text.as_str()));
    let kinds = [
        (WarningCode::InputProblem, problem, transcript.problems.len()),
        (WarningCode::AgentError, error, transcript.errors.len()),
        (WarningCode::LimitReached, limit, transcript.limits.len()),
    ];
    kinds.into_iter().filter_map(|(code, shown, count)| about(code, shown?, count)).collect()
}

fn about(code: WarningCode, (line, text): (u64, &str), count: usize) -> Option<Warning> {
    let more = match count.checked_sub(1)? {
        0 => String::new(),
        more => format!(" (and {more} more)"),
    };
    Some(Warning::new(code, format!("line {line}: {text}{more}")))
}
