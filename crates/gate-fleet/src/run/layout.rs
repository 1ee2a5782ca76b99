//! Names of files and folders, from the folder of all runs down.
//!
//! `<root>/<project>/<task>/runs/<run_id>/`.

/// A project's message bus, in the project's folder.
pub const PROJECT_BUS: &str = "PROJECT-MESSAGE-BUS.md";
/// A task's message bus, in the task's folder.
pub const TASK_BUS: &str = "TASK-MESSAGE-BUS.md";
/// A bus of a project that knows only one.
pub const PLAIN_BUS: &str = "MESSAGE-BUS.md";
/// Facts that conductor-loop has promoted, all in one file of the project.
pub const PROJECT_FACTS: &str = "PROJECT-FACTS.md";

/// Description of a task.
pub const TASK: &str = "TASK.md";
/// State of a task: free text of the root agent.
pub const TASK_STATE: &str = "TASK_STATE.md";
/// An agent's claim that its task is done. A claim, and no more.
pub const DONE: &str = "DONE";
/// A person's wish that the task's loop stops.
pub const STOP_REQUESTED: &str = "STOP-REQUESTED";

/// A loop's account of what it does at this moment, as JSON.
pub const LIVE: &str = ".gate-live.json";

/// The last record of a shared ledger whose message, fact or handoff stands in the project's files.
pub const NOTICE_MARK: &str = ".gate-notices";

/// The folder of a task's runs.
pub const RUNS: &str = "runs";
/// The record of a run.
pub const RUN_INFO: &str = "run-info.yaml";
/// The prompt that the agent got.
pub const PROMPT: &str = "prompt.md";
/// The final result: the agent's, or else a copy of [`STDOUT`].
pub const OUTPUT: &str = "output.md";
/// Handoff to the next agent: the agent's own, or else a draft.
pub const HANDOFF: &str = "handoff.md";
/// The agent's standard output, all of it.
pub const STDOUT: &str = "agent-stdout.txt";
/// The agent's standard output without the prompt, if it repeats that: then this file is judged.
pub const SAID: &str = "agent-said.txt";
/// The agent's standard error, all of it.
pub const STDERR: &str = "agent-stderr.txt";

/// The folder of facts that hold for all projects, beside the projects.
pub const GLOBAL: &str = "global";
