//! One run of an agent, from its folder to what came of it.

use std::fs;
use std::io::{Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use gate_checks::process::{Fate, Launch, PausedSession, SessionEnd};
use gate_core::protocol::run::{AGENT_TIMED_OUT, Preamble, RunInfo, layout};
use jiff::Timestamp;

use super::watch::Delegated;
use super::{Loop, Order, delegated, reconcile, watch};
use crate::agent::IN_RUN;
use crate::failure::Failure;
use crate::governance::{Brief, RunFolder, Settled};
use crate::memory::StoppedBy;
use crate::secrets;

/// How much of the standard error is looked at, in bytes.
const END: u64 = 16 << 10;

/// The exit code of an agent that has none.
const NONE: i64 = -1;

/// A run that is about to begin.
pub(super) struct Attempt {
    folder: RunFolder,
    info: RunInfo,
    prompt: String,
}

/// What came of a run.
#[derive(Clone, Debug)]
pub(crate) struct Ran {
    /// The run's id.
    pub(crate) id: String,
    /// What the agent printed, or its `output.md` where it printed nothing.
    pub(crate) transcript: PathBuf,
    /// The agent's exit code, as a shell tells it; none where nobody knows.
    pub(crate) exit_code: Option<i32>,
    /// Why it failed; empty where it did not.
    pub(crate) error: String,
    /// Whether the agent could not be started.
    pub(crate) not_started: bool,
    /// Whether it was ended: its time was over, or somebody wanted it.
    pub(crate) was_ended: bool,
    /// The end of what it wrote on its standard error.
    pub(crate) stderr_end: String,
    /// Who ended it from outside, and with it the loop.
    pub(crate) interrupted: Option<StoppedBy>,
    /// What came of the runs that the agent had delegated.
    pub(crate) delegated: Delegated,
}

impl Attempt {
    /// Makes the run's folder, with its prompt and its record. Where that cannot be
    /// written, there is no folder.
    pub(super) fn begin(of: &mut Loop<'_>) -> Result<Self, Failure> {
        let folder = of.task.begin()?;
        Self::begin_in(folder.clone(), of).inspect_err(|_| folder.discard())
    }

    fn begin_in(folder: RunFolder, of: &mut Loop<'_>) -> Result<Self, Failure> {
        let (task, order) = (of.task, of.order);
        let shown = |name: &str| folder.file(name).display().to_string();
        let project = task.project().id();
        let mut info = RunInfo::begun(&folder.id(), project, task.id(), Timestamp::now());
        info.agent.clone_from(&order.agent);
        info.cwd = order.cwd.display().to_string();
        info.prompt_path = shown(layout::PROMPT);
        info.output_path = shown(layout::OUTPUT);
        info.stdout_path = shown(layout::STDOUT);
        info.stderr_path = shown(layout::STDERR);
        info.commandline = secrets::masked(&order.argv.join(" "));
        info.previous_run_id = of.runs.last().cloned().unwrap_or_default();
        info.parent_run_id = order.parent.as_ref().map(|it| it.run_id.clone()).unwrap_or_default();
        folder.reserve()?;
        let prompt = prompt(of, &folder, &info)?;
        fs::write(folder.file(layout::PROMPT), &prompt).map_err(|error| {
            Failure::internal("folder-unwritable", format!("{}: {error}", shown(layout::PROMPT)))
        })?;
        folder.write(&info)?;
        of.runs.push(folder.id());
        Ok(Self { folder, info, prompt })
    }

    /// Runs the agent. Whatever becomes of it, its record is true and there is
    /// an `output.md`, and none of its processes is left.
    pub(super) fn run(mut self, of: &Loop<'_>) -> Result<Ran, Failure> {
        let (over, ended, delegated) = match self.launch(of).start() {
            Ok(waiting) => self.let_begin(waiting, of)?,
            Err(error) => {
                let fate = Fate::NotStarted(error.to_string());
                (SessionEnd { fate, left: Vec::new() }, watch::Ended::ByItself, Delegated::None)
            }
        };
        self.finish(of, &over, (ended, delegated))
    }

    /// Lets the agent begin, once its record says which process it is: what it asks of
    /// gate is asked by an agent from its first word on.
    fn let_begin(
        &mut self,
        waiting: PausedSession,
        of: &Loop<'_>,
    ) -> Result<(SessionEnd, watch::Ended, Delegated), Failure> {
        let mut known = self.info.clone();
        known.pid = i64::from(waiting.pid());
        known.pgid = known.pid;
        there(&self.folder)?;
        self.folder.write(&known)?;
        let session = waiting.begin();
        if session.pid().is_some() {
            self.info = known;
            of.task.announce(&self.folder, &self.info)?;
        }
        Ok(watch::over(session, &self.folder, of))
    }

    fn launch(&self, of: &Loop<'_>) -> Launch {
        let order = of.order;
        let word = |word: &String| word.replace("{prompt}", &self.prompt);
        Launch {
            argv: order.argv.iter().map(word).collect(),
            folder: order.cwd.clone(),
            environment: [order.environment.clone(), vec![(IN_RUN.to_owned(), self.folder.id())]]
                .concat(),
            stdin: self.folder.file(layout::PROMPT),
            stdout: self.folder.file(layout::STDOUT),
            stderr: self.folder.file(layout::STDERR),
            supervisor: of.supervisor.clone(),
            grace: order.grace,
        }
    }

    fn finish(
        self,
        of: &Loop<'_>,
        over: &SessionEnd,
        (ended, delegated): (watch::Ended, Delegated),
    ) -> Result<Ran, Failure> {
        let told = told(&over.fate, of.order);
        let why = match ended {
            watch::Ended::TimedOut => Some(AGENT_TIMED_OUT.to_owned()),
            watch::Ended::Stopped(by) => Some(by.words().to_owned()),
            watch::Ended::ByItself => told.why.map(|why| secrets::masked(&why)),
        };
        there(&self.folder)?;
        self.folder.release();
        self.folder.settle_printed()?;
        let settled = self.folder.settle_output();
        let info = self.info.clone().ended(Timestamp::now(), told.code, why.as_deref());
        self.folder.write(&info)?;
        let settled = settled?;
        of.task.announce(&self.folder, &info)?;
        if ended == watch::Ended::TimedOut {
            of.say("ERROR", &format!("run {}: the agent {AGENT_TIMED_OUT}", info.run_id))?;
        }
        if !over.left.is_empty() {
            of.say(
                "WARNING",
                &format!("what {} left running was ended: {}", info.run_id, over.left.join(", ")),
            )?;
        }
        if delegated == Delegated::TimedOut {
            of.say("WARNING", &reconcile::timed_out(of.order.children))?;
        }
        delegated::reconcile(of.task.project(), &[self.folder.id()])?;
        let printed = self.folder.file(layout::STDOUT);
        let is_silent = fs::metadata(&printed).is_ok_and(|it| it.len() == 0);
        let wrote = settled == Settled::ByAgent && is_silent;
        let printed =
            self.folder.settle_echo(&[&self.prompt, &of.order.prompt])?.unwrap_or(printed);
        Ok(Ran {
            id: self.folder.id(),
            transcript: if wrote { self.folder.file(layout::OUTPUT) } else { printed },
            exit_code: told.shell,
            error: info.error_summary,
            not_started: matches!(over.fate, Fate::NotStarted(_)),
            was_ended: ended != watch::Ended::ByItself,
            stderr_end: end_of(&self.folder.file(layout::STDERR)),
            interrupted: match ended {
                watch::Ended::Stopped(by) => Some(by),
                watch::Ended::ByItself | watch::Ended::TimedOut => None,
            },
            delegated,
        })
    }
}

/// The prompt: what is known first, then what is asked.
fn prompt(of: &mut Loop<'_>, folder: &RunFolder, info: &RunInfo) -> Result<String, Failure> {
    let brief = Brief::of(of.task, &of.heard)?;
    let feedback = of.last.as_ref().map(|last| last.decision.feedback.clone()).unwrap_or_default();
    let task_folder = of.task.folder().display().to_string();
    // Each iteration has a token of its own.
    let token = of.gate.next_token(&of.request)?;
    let asked = match &token {
        Some(token) => format!("{}\n\n{}", of.order.prompt.trim_end(), token.told()),
        None => of.order.prompt.clone(),
    };
    let bus = of.task.bus()?;
    let text = Preamble {
        task_folder: &task_folder,
        run_folder: &folder.folder().display().to_string(),
        project_id: of.task.project().id(),
        task_id: of.task.id(),
        run_id: &info.run_id,
        parent_run_id: &info.parent_run_id,
        bus: &bus.path().display().to_string(),
        task_state: &brief.task_state,
        facts: &brief.facts,
        project_bus: &of.task.project().bus()?.path().display().to_string(),
        gate: &of.supervisor.program.display().to_string(),
        messages: &brief.told(),
        project_messages: &brief.told_of_project(),
        feedback: &feedback,
        goes_on: !info.previous_run_id.is_empty(),
        prompt: &asked,
        plain: of.order.plain_prompt,
    }
    .to_string();
    of.heard = brief.heads;
    Ok(text)
}

/// What a fate is, in a record and to a shell.
struct Told {
    code: i64,
    shell: Option<i32>,
    why: Option<String>,
}

fn told(fate: &Fate, order: &Order) -> Told {
    let known = |code: i64, shell, why| Told { code, shell, why };
    match fate {
        Fate::Exited(code) => known(i64::from(*code), Some(*code), None),
        Fate::Signalled(15) => known(143, Some(143), None),
        Fate::Signalled(9) => {
            known(NONE, Some(137), Some("agent killed (OOM or signal)".to_owned()))
        }
        Fate::Signalled(signal) => {
            known(NONE, Some(128 + signal), Some(format!("agent ended by signal {signal}")))
        }
        Fate::NotStarted(error) => {
            let program = order.argv.first().map(String::as_str).unwrap_or_default();
            let hint = match program.contains('/') || !error.contains("No such file") {
                true => "",
                false => ": is it installed, and on PATH?",
            };
            let why =
                format!("the agent's program `{program}` could not be started: {error}{hint}");
            known(NONE, None, Some(why))
        }
        Fate::Lost => known(NONE, None, Some("nobody knows how the agent ended".to_owned())),
    }
}

/// The end of a text file; empty where it cannot be read.
fn end_of(path: &Path) -> String {
    let read = || {
        let mut file = fs::File::open(path)?;
        let length = file.metadata()?.len();
        file.seek(SeekFrom::Start(length.saturating_sub(END)))?;
        let mut bytes = Vec::new();
        file.take(END).read_to_end(&mut bytes)?;
        Ok::<_, std::io::Error>(String::from_utf8_lossy(&bytes).into_owned())
    };
    let is_file = path.symlink_metadata().is_ok_and(|it| it.is_file());
    if is_file { read().unwrap_or_default() } else { String::new() }
}

/// Sees to it that the folder is there: an agent may have removed it.
fn there(folder: &RunFolder) -> Result<(), Failure> {
    fs::create_dir_all(folder.folder()).map_err(|error| unwritable(folder, &error))
}

fn unwritable(folder: &RunFolder, error: &std::io::Error) -> Failure {
    let message = format!("cannot write {}: {error}", folder.folder().display());
    Failure::internal("folder-unwritable", message)
}
