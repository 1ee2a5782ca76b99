//! The beginning of a prompt: the agent's folders, its rules, and the state of the work.

use std::fmt::{self, Write};

use gate_core::text::shell_word;

/// Text before the prompt of a run that continues another's work.
pub const CONTINUE: &str = "Continue working on the following:\n\n";

/// The title of the last decision's feedback.
const FEEDBACK_TITLE: &str = "What the last iteration left open";

/// The text before a prompt. All of it is text of the prompt: no part of it is
/// passed by the environment.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Preamble<'a> {
    /// The task's folder, an absolute path, as all paths here.
    pub task_folder: &'a str,
    /// The run's folder.
    pub run_folder: &'a str,
    /// The project's id.
    pub project_id: &'a str,
    /// The task's id.
    pub task_id: &'a str,
    /// The run's id.
    pub run_id: &'a str,
    /// The run that started this one; empty for a root agent's.
    pub parent_run_id: &'a str,
    /// The task's message bus.
    pub bus: &'a str,
    /// The project's message bus.
    pub project_bus: &'a str,
    /// The program `gate`: an agent's PATH need not hold it.
    pub gate: &'a str,
    /// Content of `TASK_STATE.md`; empty if there is none.
    pub task_state: &'a str,
    /// The project's facts, each with its title.
    pub facts: &'a [(String, String)],
    /// Entries of the task's bus that are new since the last run, as text.
    pub messages: &'a str,
    /// Entries of the project's bus that are new since the last run, as text.
    pub project_messages: &'a str,
    /// Feedback of the last decision; empty if there was none.
    pub feedback: &'a str,
    /// An earlier run worked on the same task.
    pub continues_work: bool,
    /// The task for the agent.
    pub prompt: &'a str,
    /// The agent gets the feedback and the prompt alone.
    pub plain: bool,
}

impl fmt::Display for Preamble<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.plain && self.feedback.trim().is_empty() {
            return f.write_str(self.prompt);
        }
        if self.plain {
            section(f, FEEDBACK_TITLE, self.feedback)?;
        } else {
            self.places(f)?;
            self.rules(f)?;
            self.state_of_work(f)?;
        }
        writeln!(f, "---\n")?;
        f.write_str(if self.continues_work && !self.plain { CONTINUE } else { "" })?;
        f.write_str(self.prompt)?;
        if self.prompt.ends_with('\n') { Ok(()) } else { f.write_char('\n') }
    }
}

impl Preamble<'_> {
    fn places(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let variables = [
            ("JRUN_TASK_FOLDER", self.task_folder),
            ("JRUN_RUN_FOLDER", self.run_folder),
            ("JRUN_PROJECT_ID", self.project_id),
            ("JRUN_TASK_ID", self.task_id),
            ("JRUN_ID", self.run_id),
            ("JRUN_PARENT_ID", self.parent_run_id),
            ("JRUN_MESSAGE_BUS", self.bus),
        ];
        let mut present = variables.into_iter().filter(|(_, value)| !value.is_empty());
        present.try_for_each(|(name, value)| writeln!(f, "{name}={value}"))
    }

    fn rules(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { task_folder, run_folder, project_id, task_id, run_id, .. } = self;
        let gate = shell_word(self.gate);
        let bus = shell_word(self.bus);
        let project_bus = shell_word(self.project_bus);
        write!(
            f,
            "
Write output.md to {run_folder}/output.md
Write prompts, outputs and temporary files only inside {run_folder}.
Name files by their absolute paths. Say progress on stderr.

Messages go through gate alone; never append to the file yourself:
  {gate} bus read --bus {bus}
  {gate} bus post --bus {bus} --project {project_id} --task {task_id} --run {run_id} --type PROGRESS --body \"...\"
  (--parent MSG_ID for a reply or a correction; types: INFO, PROGRESS, QUESTION, ANSWER, FACT, DECISION, ERROR)
What other tasks need to know is on the project's bus; post facts there:
  {gate} bus read --bus {project_bus}
  {gate} bus post --bus {project_bus} --project {project_id} --run {run_id} --type FACT --body \"...\"
Work on this task alone, and end when you have reported on it. If it is too
large, or about another part of the project, give parts of it to agents:
  {gate} run --task NAME --prompt FILE -- AGENT...
With git, stage only files that you changed, in small commits. Use no command that
discards work unless you are asked to. Name the files you touched at the end.
"
        )?;
        if self.parent_run_id.is_empty() {
            writeln!(f, "Keep {task_folder}/TASK_STATE.md short and current.")?;
            writeln!(
                f,
                "When the whole task is done, create {task_folder}/DONE; gate still looks itself."
            )?;
        }
        f.write_char('\n')
    }

    fn state_of_work(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        section(f, "TASK_STATE.md", self.task_state)?;
        for (title, fact) in self.facts {
            section(f, &format!("Fact: {title}"), fact)?;
        }
        section(f, "New on the project's message bus", self.project_messages)?;
        section(f, "New on the message bus", self.messages)?;
        section(f, FEEDBACK_TITLE, self.feedback)
    }
}

fn section(f: &mut fmt::Formatter<'_>, title: &str, text: &str) -> fmt::Result {
    if text.trim().is_empty() { Ok(()) } else { writeln!(f, "## {title}\n\n{}\n", text.trim()) }
}
