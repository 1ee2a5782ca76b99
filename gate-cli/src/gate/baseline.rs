//! The baseline of a decision: the work tree that its own is compared with.

use std::time::Instant;

use gate_checks::baseline::{self, Baseline, BaselineError};
use gate_checks::worktree::no_commit_cause;
use gate_checks::{
    CancelReason, Cancellation, CheckSite, Gathered, Grace, SealedTrial, TooSlow, programs,
};
use gate_core::Verdict;
use gate_core::decide::checks::CRITERIA;
use gate_core::decide::checks::runs_the_work;
use gate_core::decide::first_tests::FirstTests;
use gate_core::decide::iteration_facts::TreeState;
use gate_core::decide::policy::Allowance;
use gate_core::decide::reason::{Warning, WarningCode};
use jiff::Timestamp;

use super::{Gate, Judging};
use crate::failure::Failure;
use crate::interrupt::{Interrupt, cancel_when};
use crate::memory::{PendingDecision, next_run, run_before};
use crate::record::Record;
use crate::request::{Asker, Request};

/// The tests of a baseline.
pub(crate) struct LearnedTests {
    /// The names of those that fail and are not left out, as far as they are known.
    pub(crate) red: Vec<String>,
    /// The checks that were ended by their limit, so that nothing is known of their tests.
    pub(crate) too_slow: Vec<TooSlow>,
}

impl Gate {
    /// Runs the tests on a baseline, unless an earlier run is stored. Nothing runs if the checks'
    /// commands are not approved.
    pub(crate) fn learn_now(&self, baseline: &Baseline, interrupt: &Interrupt) -> LearnedTests {
        let mut too_slow = Vec::new();
        if self.may_start_checks() {
            let cancel = Cancellation::default();
            let learn = || gate_checks::learn_tests(&self.policy, &self.site, baseline, &cancel);
            // A test that is not found out here is found out when a decision needs it.
            let learned = cancel_when(&cancel, Grace::None, &|| interrupt.code().is_some(), learn);
            too_slow = learned.unwrap_or_default();
        }
        // Without memory, and if they cannot be read, no test is left out.
        let approvals = self.memory().and_then(|mut memory| memory.approvals().ok());
        let approved = approvals.unwrap_or_default().in_force(Some(baseline.digest()));
        let allow: Vec<_> = approved.into_iter().map(Allowance::from).collect();
        let red = gate_checks::red_tests(&self.policy, &self.site, baseline, &allow);
        LearnedTests { red, too_slow }
    }

    /// Runs the sealed tests of a check on the baseline that waits for runs, or on the tree as it is.
    pub(crate) fn try_sealed(
        &self,
        check: &str,
        interrupt: &Interrupt,
    ) -> Result<SealedTrial, Failure> {
        let baseline = Baseline::kept(&self.site, None)?;
        let cancel = Cancellation::default();
        let run = || {
            let (policy, site) = (&self.policy, &self.site);
            gate_checks::try_sealed_tests(policy, site, baseline.as_ref(), check, &cancel)
        };
        Ok(cancel_when(&cancel, Grace::None, &|| interrupt.code().is_some(), run)?)
    }

    /// Notes for a person on superseded tests that the baseline does not have, as far as its tests are
    /// known.
    pub(crate) fn unknown_superseded(&self, baseline: &Baseline) -> Vec<String> {
        let unknown = gate_checks::unknown_superseded(&self.policy, &self.site, baseline);
        let notes = unknown.into_iter().map(|(criterion, test)| {
            format!("criterion {criterion} supersedes {test}, which is no test of the baseline")
        });
        notes.collect()
    }

    /// Takes the tree before a loop's first agent, if there are checks: they compare with it, or
    /// gate compares where the work is.
    pub(crate) fn take_baseline_if_wanted(&self) -> Result<Option<Baseline>, Failure> {
        if self.policy.checks.is_empty() { Ok(None) } else { self.current_baseline() }
    }

    /// Copies the results of a baseline's tests to a later one, which differs by these tests.
    pub(crate) fn carry_tests(&self, older: &Baseline, newer: &Baseline, first_tests: &FirstTests) {
        gate_checks::carry_tests(&self.policy, &self.site, older, newer, first_tests);
    }

    /// The baseline that a task keeps from loop to loop, if it keeps one.
    ///
    /// # Errors
    ///
    /// A stored baseline that cannot be read.
    pub(crate) fn baseline_of_task(&self, task: &str) -> Result<Option<Baseline>, Failure> {
        Ok(Baseline::kept(&self.site, Some(&task_name(task)))?)
    }

    /// Keeps a baseline for the loops of a task.
    ///
    /// # Errors
    ///
    /// A state folder that cannot be written.
    pub(crate) fn keep_for_task(&self, baseline: &Baseline, task: &str) -> Result<(), Failure> {
        Ok(baseline.keep(&self.site, Some(&task_name(task)))?)
    }

    /// Forgets the baseline of a task: its loops are over.
    ///
    /// # Errors
    ///
    /// A state folder that cannot be written.
    pub(crate) fn forget_task(&self, task: &str) -> Result<(), Failure> {
        Baseline::forget(&self.site, Some(&task_name(task)))?;
        Ok(())
    }

    /// Takes the work tree as it is now as the baseline of the runs that begin from now on, and
    /// records that, as `gate baseline` does. Returns its digest; `None` outside of git and before
    /// the first commit. Call it before the first agent works: what an agent has changed by then
    /// is part of the baseline.
    ///
    /// # Errors
    ///
    /// A tree that cannot be read, a state folder or a ledger that cannot be written.
    pub fn baseline_for_next_runs(&self) -> Result<Option<String>, Failure> {
        let Some(baseline) = self.take_baseline(None)? else { return Ok(None) };
        if let Some(mut memory) = self.memory() {
            memory.record_act("baseline", Some(baseline.digest()))?;
        }
        Ok(Some(baseline.digest().to_owned()))
    }

    /// Takes the tree as it is at this moment, and stores it: for a run, or for those that begin
    /// from now on. `None` outside of git, and if nothing was committed.
    ///
    /// # Errors
    ///
    /// A tree that cannot be read, a state folder that cannot be written.
    pub(crate) fn take_baseline(&self, run: Option<&str>) -> Result<Option<Baseline>, Failure> {
        let baseline = self.current_baseline()?;
        if let Some(baseline) = &baseline {
            baseline.keep(&self.site, run)?;
        }
        Ok(baseline)
    }

    /// A check compares the tree with a baseline.
    fn has_comparing_check(&self) -> bool {
        baseline::is_wanted(&self.policy)
    }

    /// A session needs a baseline if a check compares, and also if one runs the work: if that is
    /// red at a stop, gate has to find out if it was red before.
    pub(crate) fn compares_in_a_session(&self) -> bool {
        self.has_comparing_check() || self.policy.checks.keys().any(|check| runs_the_work(check))
    }

    /// Takes the tree as the baseline of a run, and stores it, if it is ready in time.
    ///
    /// # Errors
    ///
    /// As of [`Gate::take_baseline`]; a tree that takes longer.
    pub(crate) fn take_baseline_until(
        &self,
        run: &str,
        deadline: Instant,
    ) -> Result<Option<Baseline>, Failure> {
        let baseline = self.current_baseline_until(&self.site_of_tree(), deadline)?;
        if let Some(baseline) = &baseline {
            baseline.keep(&self.site, Some(run))?;
        }
        Ok(baseline)
    }

    /// The work tree as it is now, if it can be read in time.
    fn current_baseline_until(
        &self,
        site: &CheckSite,
        deadline: Instant,
    ) -> Result<Option<Baseline>, Failure> {
        let time = Timestamp::now().to_string();
        let cancel = Cancellation::default();
        let is_late = || Instant::now() >= deadline;
        // The watcher below looks now and then, and a small tree is read between two looks.
        if is_late() {
            cancel.cancel(CancelReason::Deadline, Grace::None);
        }
        let baseline = cancel_when(&cancel, Grace::None, &is_late, || {
            Baseline::take_in_session(&self.policy, site, &time, &cancel)
        });
        baseline.map_err(|error| match error.is_late() {
            true => Failure::internal("baseline-late", "the work tree could not be read in time"),
            false => error.into(),
        })
    }

    /// The work tree as it is now.
    fn current_baseline(&self) -> Result<Option<Baseline>, Failure> {
        let time = Timestamp::now().to_string();
        Ok(Baseline::take(&self.policy, &self.site_of_tree(), &time)?)
    }

    /// The site without the files that are no work, as the settings say.
    fn site_of_tree(&self) -> CheckSite {
        CheckSite { ignore: self.policy.tree.ignore.clone(), ..self.site.clone() }
    }

    /// Stores the tree that a hook's decision has accepted as the baseline of the run that comes
    /// after it, if a check compares.
    ///
    /// # Errors
    ///
    /// As of [`Gate::take_baseline_until`]; a tree that is another than the one that
    /// was accepted.
    pub(crate) fn keep_accepted(
        &self,
        record: &Record,
        judging: &Judging,
        asker: &Asker,
        deadline: Instant,
    ) -> Result<(), Failure> {
        let is_exit = record.decision.verdict == Verdict::Exit && !record.repeated;
        let (Some(name), Some(run), true) = (&asker.run, &record.run, is_exit) else {
            return Ok(());
        };
        if !self.has_comparing_check() {
            return Ok(());
        }
        let Some(baseline) = self.current_baseline_until(&judging.site, deadline)? else {
            return Ok(());
        };
        if baseline.tree() != record.tree.as_ref().map(|tree| tree.after.as_str()) {
            let message = "the tree is another than the one that was accepted just now";
            return Err(Failure::internal("tree-changed", message));
        }
        // A prompt's run is over; what its session goes on with is another one.
        let session_run = asker.session.clone().filter(|session| session != name);
        let following_run = session_run.unwrap_or_else(|| next_run(name, Some(run)));
        Ok(baseline.keep(&self.site, Some(&following_run))?)
    }

    /// The baseline of a decision. In a session with a person that of the last prompt. Else the
    /// first of those of the caller, of the run, of its loop's last run that ended without an
    /// `exit`, of its session, of the next run, and of the commit at which the work left the
    /// default branch. Stores it for the run, so that later commits do not become a part of it.
    ///
    /// Fails on a stored baseline that cannot be read: gate must not fall back to another.
    pub(super) fn baseline(
        &self,
        site: &CheckSite,
        request: &Request,
        pending: Option<&PendingDecision>,
    ) -> Result<Option<Baseline>, Failure> {
        if request.checking.baseline.is_some() || self.policy.checks.is_empty() {
            return Ok(request.checking.baseline.clone());
        }
        let asker = &request.asker;
        if request.turn.is_of_person()
            && let Some(session) = asker.session.as_deref()
            && let Some(kept) = Baseline::kept(site, Some(session))?
        {
            return Ok(Some(kept));
        }
        let run = pending.and_then(PendingDecision::run);
        if let Some(run) = run
            && let Some(kept) = Baseline::kept(site, Some(run))?
        {
            return Ok(Some(baseline_of_open_run(site, asker, run, kept)?));
        }
        let baseline = match baseline_of_new_run(site, asker, run)? {
            Some(baseline) => Some(baseline),
            None => history_baseline(site)?,
        };
        if let (Some(baseline), Some(run), false) = (&baseline, run, asker.dry_run) {
            baseline.keep(site, Some(run))?;
        }
        Ok(baseline)
    }

    /// The commit that the run began at: its baseline's.
    pub(super) fn began_at(
        &self,
        site: &CheckSite,
        request: &Request,
        pending: &PendingDecision,
    ) -> Option<String> {
        let run = pending.run();
        let baseline = request
            .checking
            .baseline
            .clone()
            .or_else(|| Baseline::kept(site, run).ok().flatten())
            .or_else(|| baseline_of_new_run(site, &request.asker, run).ok().flatten())
            .or_else(|| history_baseline(site).ok().flatten())?;
        Some(baseline.commit().to_owned())
    }

    /// A decision without a baseline lacks something: a comparison, or the commands of criteria,
    /// which are in files.
    fn misses_baseline(&self) -> bool {
        let programs = programs(&self.policy, &self.site);
        let has_criteria =
            programs.iter().any(|program| program.check == CRITERIA && program.found.is_some());
        baseline::compares_tree(&self.policy) || has_criteria
    }

    /// The warning for checks that compare, but have no baseline, or one that can be moved.
    pub(super) fn no_baseline(&self, gathered: &Gathered) -> Option<Warning> {
        if gathered.tree.is_none() || !self.misses_baseline() {
            return None;
        }
        let Some(baseline) = &gathered.baseline else {
            let cause = no_commit_cause(&self.site);
            let message = format!(
                "{cause}: what the tree was before the agent acted is not known, and nothing is \
                 compared with it"
            );
            return Some(Warning::new(WarningCode::NoBaseline, message));
        };
        let message = "no baseline was taken: gate compared with a commit, which whoever works here can \
                       move. Run `gate baseline` before the next work starts";
        let is_movable = baseline.is_movable();
        is_movable.then(|| Warning::new(WarningCode::BaselineOfHistory, message))
    }
}

/// The run's first look finds uncommitted files, or another commit than the one at which the run
/// began. `None` if neither is known.
pub(super) fn has_work(
    site: &CheckSite,
    began_at: Option<&str>,
    changed_files: Option<u64>,
    tree: &TreeState,
) -> Option<bool> {
    let is_uncommitted = match changed_files {
        Some(number) => Some(number > 0),
        None => gate_checks::is_uncommitted(site).ok().flatten(),
    };
    let head = tree.head.as_deref();
    let has_commits = began_at.zip(head).is_some_and(|(first, last)| first != last);
    if has_commits { Some(true) } else { is_uncommitted }
}

/// The name under which a task's baseline is kept.
fn task_name(task: &str) -> String {
    format!("task: {task}")
}

/// The name under which a session's tree from before unchecked changes is kept.
pub(crate) fn before_unchecked(session: &str) -> String {
    format!("unchecked: {session}")
}

/// The baseline of a run that begins: that of its loop's last run that ended without an `exit`, of
/// its session, or the one that waits for runs.
fn baseline_of_new_run(
    site: &CheckSite,
    asker: &Asker,
    run: Option<&str>,
) -> Result<Option<Baseline>, BaselineError> {
    let waiting = Baseline::kept(site, None)?;
    let session = match asker.session.as_deref() {
        Some(session) => Baseline::kept(site, Some(session))?,
        None => None,
    };
    let is_named = asker.run.is_some() || asker.task.is_some();
    let Some((name, last)) = last_run_with_baseline(site, run, is_named)? else {
        return Ok(session.or(waiting));
    };
    let is_over = match (&session, &waiting) {
        // A commit that no run of the loop made is a person's act.
        (Some(session), _) => {
            Baseline::ended_at(site, &name).is_some_and(|head| head != session.commit())
        }
        (None, Some(waiting)) => waiting.is_newer_than(&last),
        (None, None) => false,
    };
    Ok(if is_over { session.or(waiting) } else { Some(last) })
}

/// The baseline of a run that goes on, or a newer one: a person who takes one in the middle of a run
/// means it, and one who commits after its headless agent was let go has looked at the work.
fn baseline_of_open_run(
    site: &CheckSite,
    asker: &Asker,
    run: &str,
    kept: Baseline,
) -> Result<Baseline, BaselineError> {
    if let Some(waiting) = Baseline::kept(site, None)?
        && waiting.is_newer_than(&kept)
    {
        return Ok(waiting);
    }
    if let Some(session) = asker.session.as_deref()
        && asker.session != asker.run
        && let Some(session) = Baseline::kept(site, Some(session))?
        && Baseline::ended_at(site, run).is_some_and(|head| head != session.commit())
    {
        session.keep(site, Some(run))?;
        return Ok(session);
    }
    Ok(kept)
}

/// The name and the baseline of the same loop's last run that has one. A baseline from history goes
/// on in a loop that somebody named; else history is looked up anew.
fn last_run_with_baseline(
    site: &CheckSite,
    run: Option<&str>,
    is_named: bool,
) -> Result<Option<(String, Baseline)>, BaselineError> {
    let mut earlier_run = run.and_then(run_before);
    while let Some(name) = earlier_run {
        if let Some(kept) = Baseline::kept(site, Some(&name))? {
            let goes_on = is_named || !kept.is_from_history();
            return Ok(goes_on.then_some((name, kept)));
        }
        earlier_run = run_before(&name);
    }
    Ok(None)
}

/// The baseline from the history of commits; `None` if the tree cannot be read: the checks report
/// that, and no check passes.
fn history_baseline(site: &CheckSite) -> Result<Option<Baseline>, Failure> {
    match Baseline::from_history(site, &Timestamp::now().to_string()) {
        Err(BaselineError::Tree(_)) => Ok(None),
        baseline => Ok(baseline?),
    }
}
