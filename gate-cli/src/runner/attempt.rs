//! One run of an agent, from its folder to its result.

use std::fs;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::Path;

use gate_checks::process::{Fate, Launch, PausedSession, SessionEnd};
use gate_fleet::run::{AGENT_TIMED_OUT, Preamble, RunInfo, layout};
use jiff::Timestamp;

use super::agent_loop::{Loop, Order};
use super::end::{DelegatedRuns, FinishedRun};
use super::watch::{EndCause, EndedAgent};
use super::{delegated, reconcile, watch};
use crate::agent::IN_RUN;
use crate::failure::Failure;
use crate::governance::{Brief, RunFolder, Settled};
use crate::secrets;

/// Bytes at the end of stderr that are searched for the cause of a failure.
const STDERR_TAIL_BYTES: u64 = 16 << 10;

/// The longest word of a command line, in bytes: what Linux takes, less the zero at its end.
const LONGEST_WORD: usize = (128 << 10) - 1;

/// The recorded exit code of an agent that has none.
const NO_EXIT_CODE: i64 = -1;

/// A run that has a folder and whose agent is not started yet.
pub(super) struct Attempt {
    folder: RunFolder,
    info: RunInfo,
    prompt: String,
}

impl Attempt {
    /// Makes the run's folder, with its prompt and its record. Removes the folder if one
    /// of them cannot be written.
    pub(super) fn begin(agent_loop: &mut Loop<'_>) -> Result<Self, Failure> {
        let folder = agent_loop.task.begin()?;
        Self::begin_in(folder.clone(), agent_loop).inspect_err(|_| folder.discard())
    }

    fn begin_in(folder: RunFolder, agent_loop: &mut Loop<'_>) -> Result<Self, Failure> {
        let (task, order) = (agent_loop.task, agent_loop.order);
        let project = task.project().id();
        let mut info = RunInfo::begun(&folder.id(), project, task.id(), Timestamp::now());
        info.agent.clone_from(&order.agent);
        info.cwd = order.cwd.display().to_string();
        info.prompt_path = folder.file(layout::PROMPT).display().to_string();
        info.output_path = folder.file(layout::OUTPUT).display().to_string();
        info.stdout_path = folder.file(layout::STDOUT).display().to_string();
        info.stderr_path = folder.file(layout::STDERR).display().to_string();
        info.commandline = secrets::masked(&order.argv.join(" "));
        info.previous_run_id = agent_loop.end.runs.last().cloned().unwrap_or_default();
        info.parent_run_id =
            order.parent.as_ref().map(|parent| parent.run_id.clone()).unwrap_or_default();
        folder.reserve()?;
        let prompt = prompt(agent_loop, &folder, &info)?;
        fs::write(folder.file(layout::PROMPT), &prompt).map_err(|error| {
            Failure::internal("folder-unwritable", format!("{}: {error}", info.prompt_path))
        })?;
        folder.write(&info)?;
        agent_loop.end.runs.push(folder.id());
        Ok(Self { folder, info, prompt })
    }

    /// Runs the agent. In any case its record is true afterwards, there is an `output.md`, and all of
    /// its processes have ended.
    pub(super) fn run(mut self, agent_loop: &Loop<'_>) -> Result<FinishedRun, Failure> {
        let ended = match self.launch(agent_loop).start() {
            Ok(paused) => self.release(paused, agent_loop)?,
            Err(error) => EndedAgent {
                session: SessionEnd {
                    fate: Fate::NotStarted(error.to_string()),
                    leftovers: Vec::new(),
                },
                cause: EndCause::Agent,
                delegated: DelegatedRuns::None,
            },
        };
        self.finish(agent_loop, &ended)
    }

    // The agent's process exists before the agent runs in it. Its record names the process
    // first: gate knows an agent by that record, so no command of the agent, not even the
    // first, can pass for a person's.
    fn release(
        &mut self,
        paused: PausedSession,
        agent_loop: &Loop<'_>,
    ) -> Result<EndedAgent, Failure> {
        let mut info = self.info.clone();
        info.pid = i64::from(paused.pid());
        info.pgid = info.pid;
        ensure_folder(&self.folder)?;
        self.folder.write(&info)?;
        let session = paused.begin();
        // Without a process the agent's program could not be started, so no run is announced.
        if session.pid().is_some() {
            self.info = info;
            agent_loop.task.announce(&self.folder, &self.info, secrets::masker())?;
        }
        Ok(watch::watch(session, &self.folder, agent_loop))
    }

    fn launch(&self, agent_loop: &Loop<'_>) -> Launch {
        let order = agent_loop.order;
        let prompt_file = self.folder.file(layout::PROMPT);
        Launch {
            argv: order
                .argv
                .iter()
                .map(|word| with_prompt(word, &self.prompt, &prompt_file))
                .collect(),
            folder: order.cwd.clone(),
            environment: [order.environment.clone(), vec![(IN_RUN.to_owned(), self.folder.id())]]
                .concat(),
            stdin: prompt_file,
            stdout: self.folder.file(layout::STDOUT),
            stderr: self.folder.file(layout::STDERR),
            supervisor: agent_loop.supervisor.clone(),
            grace: order.grace,
        }
    }

    fn finish(self, agent_loop: &Loop<'_>, ended: &EndedAgent) -> Result<FinishedRun, Failure> {
        let EndedAgent { session, cause, delegated } = ended;
        let exit = AgentExit::new(&session.fate, agent_loop.order);
        let error = match cause {
            EndCause::TimedOut => Some(AGENT_TIMED_OUT.to_owned()),
            EndCause::Stopped(stopped_by) => Some(stopped_by.words().to_owned()),
            EndCause::Agent => exit.error.map(|error| secrets::masked(&error)),
        };
        ensure_folder(&self.folder)?;
        self.folder.release();
        self.folder.settle_printed()?;
        let output_settled = self.folder.settle_output();
        let info = self.info.clone().ended(Timestamp::now(), exit.code, error.as_deref());
        // The record is written even if `output.md` could not be: otherwise the run would
        // count as one that goes on.
        self.folder.write(&info)?;
        let output_writer = output_settled?;
        agent_loop.task.announce(&self.folder, &info, secrets::masker())?;
        if *cause == EndCause::TimedOut {
            agent_loop
                .post("ERROR", &format!("run {}: the agent {AGENT_TIMED_OUT}", info.run_id))?;
        }
        if !session.leftovers.is_empty() {
            let processes = session.leftovers.join(", ");
            let text = format!("what {} left running was ended: {processes}", info.run_id);
            agent_loop.post("WARNING", &text)?;
        }
        if *delegated == DelegatedRuns::TimedOut {
            agent_loop.post("WARNING", &reconcile::timeout_message(agent_loop.order.children))?;
        }
        delegated::end_orphaned_records(agent_loop.task.project(), &[self.folder.id()])?;
        // An agent that prints nothing speaks by its `output.md`.
        let stdout = self.folder.file(layout::STDOUT);
        let is_silent = fs::metadata(&stdout).is_ok_and(|metadata| metadata.len() == 0);
        let speaks_by_file = output_writer == Settled::ByAgent && is_silent;
        // A client may print its prompt first, and words of the prompt are not the agent's.
        let without_echo = self.folder.settle_echo(&[&self.prompt, &agent_loop.order.prompt])?;
        Ok(FinishedRun {
            transcript: match speaks_by_file {
                true => self.folder.file(layout::OUTPUT),
                false => without_echo.unwrap_or(stdout),
            },
            exit_code: exit.shell_code,
            error: info.error_summary,
            not_started: matches!(session.fate, Fate::NotStarted(_)),
            was_ended: *cause != EndCause::Agent,
            stderr_end: read_tail(&self.folder.file(layout::STDERR)),
            interrupted: match cause {
                EndCause::Stopped(stopped_by) => Some(*stopped_by),
                EndCause::Agent | EndCause::TimedOut => None,
            },
            delegated: *delegated,
        })
    }
}

/// A word of the agent's command line with the prompt in its place. A prompt that no command
/// line takes is read from its file.
fn with_prompt(word: &str, prompt: &str, prompt_file: &Path) -> String {
    let full_word = word.replace("{prompt}", prompt);
    if full_word.len() <= LONGEST_WORD && !full_word.contains('\0') {
        return full_word;
    }
    let pointer = format!("Read the file {} to its end. It is your prompt.", prompt_file.display());
    word.replace("{prompt}", &pointer)
}

/// The whole prompt: the context first, the task last.
fn prompt(
    agent_loop: &mut Loop<'_>,
    folder: &RunFolder,
    info: &RunInfo,
) -> Result<String, Failure> {
    let (task, order) = (agent_loop.task, agent_loop.order);
    if let Some(mut memory) = agent_loop.gate.memory()
        && memory.shares(task.project())
    {
        memory.pull_notices(task.project())?;
    }
    let brief = Brief::read(task, &agent_loop.seen_messages)?;
    let last_record = agent_loop.end.last_record.as_ref();
    let feedback = last_record.map(|record| record.decision.feedback.clone()).unwrap_or_default();
    // Each iteration has a token of its own.
    let prompt = match agent_loop.gate.next_token(&agent_loop.request)? {
        Some(token) => format!("{}\n\n{}", order.prompt.trim_end(), token.prompt_paragraph()),
        None => order.prompt.clone(),
    };
    let text = Preamble {
        task_folder: &task.folder().display().to_string(),
        run_folder: &folder.folder().display().to_string(),
        project_id: task.project().id(),
        task_id: task.id(),
        run_id: &info.run_id,
        parent_run_id: &info.parent_run_id,
        bus: &task.bus()?.path().display().to_string(),
        task_state: &brief.task_state,
        facts: &brief.facts,
        project_bus: &task.project().bus()?.path().display().to_string(),
        gate: &agent_loop.supervisor.program.display().to_string(),
        messages: &brief.task_messages(),
        project_messages: &brief.project_messages(),
        feedback: &feedback,
        continues_work: !info.previous_run_id.is_empty(),
        prompt: &prompt,
        plain: order.plain_prompt,
    }
    .to_string();
    agent_loop.seen_messages = brief.heads;
    Ok(text)
}

struct AgentExit {
    /// The exit code in the run's record.
    code: i64,
    /// The exit code as a shell has it.
    shell_code: Option<i32>,
    error: Option<String>,
}

impl AgentExit {
    fn new(fate: &Fate, order: &Order) -> Self {
        let without_code = |shell_code, error| Self { code: NO_EXIT_CODE, shell_code, error };
        match fate {
            Fate::Exited(code) => {
                Self { code: i64::from(*code), shell_code: Some(*code), error: None }
            }
            Fate::Signalled(15) => Self { code: 143, shell_code: Some(143), error: None },
            Fate::Signalled(9) => {
                without_code(Some(137), Some("agent killed (OOM or signal)".to_owned()))
            }
            Fate::Signalled(signal) => {
                let error = format!("agent ended by signal {signal}");
                without_code(Some(128 + signal), Some(error))
            }
            Fate::NotStarted(error) => {
                let program = order.argv.first().map(String::as_str).unwrap_or_default();
                let hint = match program.contains('/') || !error.contains("No such file") {
                    true => "",
                    false => ": is it installed, and on PATH?",
                };
                let error =
                    format!("the agent's program `{program}` could not be started: {error}{hint}");
                without_code(None, Some(error))
            }
            Fate::Lost => without_code(None, Some("nobody knows how the agent ended".to_owned())),
        }
    }
}

/// The end of a text file; empty if it is no file or cannot be read.
fn read_tail(path: &Path) -> String {
    // An agent may have put a pipe in the file's place, and to open one would block.
    if path.symlink_metadata().is_ok_and(|metadata| metadata.is_file()) {
        try_read_tail(path).unwrap_or_default()
    } else {
        String::new()
    }
}

fn try_read_tail(path: &Path) -> io::Result<String> {
    let mut file = fs::File::open(path)?;
    let length = file.metadata()?.len();
    file.seek(SeekFrom::Start(length.saturating_sub(STDERR_TAIL_BYTES)))?;
    let mut bytes = Vec::new();
    file.take(STDERR_TAIL_BYTES).read_to_end(&mut bytes)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// Makes the folder again if the agent has removed it.
fn ensure_folder(folder: &RunFolder) -> Result<(), Failure> {
    fs::create_dir_all(folder.folder()).map_err(|error| unwritable(folder, &error))
}

fn unwritable(folder: &RunFolder, error: &io::Error) -> Failure {
    let message = format!("cannot write {}: {error}", folder.folder().display());
    Failure::internal("folder-unwritable", message)
}

#[cfg(test)]
mod tests;
