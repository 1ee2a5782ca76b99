//! The order of a loop: the agent's start, its prompt and its limits.

use std::time::Duration;

use gate_checks::process::GRACE;

use super::args::Cwd;
use super::run_command::RunCommand;
use super::tests_first::Stage;
use super::worker::Worker;
use crate::agent::is_of_session;
use crate::failure::Failure;
use crate::gate::Gate;
use crate::governance::Task;
use crate::runner::{LISTING_TURNS, Order};
use crate::secrets;

/// The time that an agent has to end after SIGTERM (the seed's cancellation protocol).
const AGENTS_GRACE: Duration = Duration::from_secs(30);

/// Prefix of variables that no agent gets: the prompt gives them instead.
const HIDDEN_PREFIX: &str = "JRUN_";

impl RunCommand<'_> {
    /// The order of a loop: the agent's start, its prompt and its limits.
    pub(super) fn order(
        &self,
        stage: Stage<'_>,
        task: &Task,
        prompt: String,
        gate: &Gate,
    ) -> Result<Order, Failure> {
        let Self { invocation, args, .. } = self;
        let policy = gate.policy();
        let Worker { name, start, .. } = self.worker(stage);
        let wall_ms = Some(policy.budget.wall_ms).filter(|limit_ms| *limit_ms > 0);
        // The agent begins a session of its own, also where an agent's session started gate.
        let variables = invocation.places.environment.iter().filter(|(name, value)| {
            !name.starts_with(HIDDEN_PREFIX) && !is_of_session(name, value)
        });
        Ok(Order {
            agent: name.clone(),
            argv: start.argv.clone(),
            shown_command: secrets::masked(&start.shell_line()),
            permission_note: start.note,
            cwd: match args.cwd {
                Cwd::Tree => invocation.places.project()?,
                Cwd::Task => task.folder(),
            },
            root: invocation.places.top(),
            prompt,
            iterations: match stage.lists_decisions() {
                true => LISTING_TURNS,
                false => args.max_iterations.get(),
            },
            timeout: args.timeout,
            wall: wall_ms.map(Duration::from_millis),
            idle: args.idle_timeout,
            children: args.children_timeout,
            grace: AGENTS_GRACE.max(GRACE),
            parent: self.parent.clone(),
            work: stage.job.map(|job| job.work_id().to_owned()),
            lost_lease: stage.job.map(|job| job.lost_lease.clone()).unwrap_or_default(),
            environment: variables.chain(&start.variables).cloned().collect(),
            plain_prompt: args.plain_prompt,
            backoff: self.settings.run.backoff(),
            writes_tests: stage.writes_tests(),
            listing: self.listing_order(stage, task, gate)?,
            resume: self.resume(stage),
        })
    }
}
