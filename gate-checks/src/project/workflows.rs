//! The commands by which the workflows of GitHub run a project's tests.
//!
//! Only a test runner without anything that a shell would have to read is taken from a step, of a job
//! about this project that runs at each change: for all else the project itself is looked at.

mod script;

use saphyr_parser::{Event, Parser, StrInput};

use super::folder::Folder;
use super::proposal::Findings;
use crate::report::{Format, runner_format};
use script::plain_commands;

const FOLDER: &str = ".github/workflows";

/// The deepest nesting that is read.
const MAX_DEPTH: usize = 64;

/// Keys of a step or job that may not run, or may fail without failing the workflow.
const OPTIONAL: [&str; 2] = ["if", "continue-on-error"];

/// Events of a change. A workflow without one runs by the clock or by hand: what it runs takes long, or is
/// about something else.
const CHANGES: [&str; 5] =
    ["push", "pull_request", "pull_request_target", "merge_group", "workflow_call"];

/// Words in the name of a job, a step or an option: what runs there takes longer than a change waits.
const LONG_RUNS: [&str; 10] = [
    "slow",
    "runslow",
    "nightly",
    "weekly",
    "bench",
    "benchmark",
    "benchmarks",
    "stress",
    "soak",
    "fuzz",
];

/// Words beside them that leave it out.
const LEFT_OUT: [&str; 7] = ["skip", "no", "not", "disable", "exclude", "ignore", "without"];

/// A command that runs tests in CI.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct CiCommand {
    pub(super) ecosystem: &'static str,
    pub(super) tool: &'static str,
    pub(super) words: Vec<String>,
    /// The folder that it runs in, relative to the project; `None` for the project's own.
    pub(super) cwd: Option<String>,
    /// The file that names it.
    pub(super) file: String,
    /// The minutes that CI gives it; `None` if the workflow does not say.
    pub(super) minutes: Option<u64>,
}

/// A value of YAML. Aliases are left out.
enum YamlValue {
    Text(String),
    List(Vec<YamlValue>),
    Map(Vec<(String, YamlValue)>),
}

/// The commands that run tests, in the order of the files and of their steps.
pub(super) fn look(folder: &Folder<'_>, findings: &mut Findings) -> Vec<CiCommand> {
    let mut commands = Vec::new();
    for name in folder.names(FOLDER) {
        let file = format!("{FOLDER}/{name}");
        if !name.ends_with(".yml") && !name.ends_with(".yaml") {
            continue;
        }
        let Some(text) = folder.text(&file, findings) else { continue };
        if let Some(workflow) = YamlReader(Parser::new_from_str(&text)).document()
            && runs_at_changes(&workflow)
        {
            let scope = Scope::default().within(&workflow);
            for (name, job) in workflow.get("jobs").map_or(&[][..], YamlValue::entries) {
                let is_long = is_long_run(name) || job.text_of("name").is_some_and(is_long_run);
                if !job.is_optional() && !is_long && !is_about_other_source(job) {
                    scope.within(job).collect_commands(job, &file, &mut commands);
                }
            }
        }
    }
    commands
        .retain(|command| command.cwd.as_ref().is_none_or(|cwd| folder.path.join(cwd).is_dir()));
    commands
}

/// The workflow runs when somebody pushes or opens a pull request, and not only for a tag.
fn runs_at_changes(workflow: &YamlValue) -> bool {
    let Some(events) = workflow.get("on") else { return true };
    match events {
        YamlValue::Text(event) => CHANGES.contains(&event.as_str()),
        YamlValue::List(events) => {
            events.iter().filter_map(YamlValue::text).any(|event| CHANGES.contains(&event))
        }
        YamlValue::Map(events) => events.iter().any(|(event, filter)| {
            let is_for_tags = filter.get("tags").is_some() && filter.get("branches").is_none();
            CHANGES.contains(&event.as_str()) && !is_for_tags
        }),
    }
}

fn is_long_run(text: &str) -> bool {
    let text = text.to_ascii_lowercase();
    let has_one_of = |list: &[&str]| {
        text.split(|c: char| !c.is_ascii_alphanumeric()).any(|word| list.contains(&word))
    };
    has_one_of(&LONG_RUNS) && !has_one_of(&LEFT_OUT)
}

/// The job checks out another repository in the place of this one, or this one elsewhere: its lines are
/// about that.
fn is_about_other_source(job: &YamlValue) -> bool {
    let steps = job.get("steps").map_or(&[][..], YamlValue::items);
    let is_checkout = |step: &&YamlValue| {
        step.text_of("uses").is_some_and(|uses| uses.starts_with("actions/checkout@"))
    };
    let mut checkouts = steps.iter().filter(is_checkout).peekable();
    let is_of_project = |step: &YamlValue| {
        let option = |key: &str| step.get("with").and_then(|with| with.text_of(key));
        let is_this = option("repository").is_none_or(|name| name.contains("github.repository"));
        is_this && option("path").is_none_or(|path| matches!(path, "." | "./"))
    };
    checkouts.peek().is_some() && !checkouts.any(is_of_project)
}

/// The settings of a workflow, a job or a step that hold for what stands in it.
#[derive(Clone, Default)]
struct Scope {
    cwd: Option<String>,
    shell: Option<String>,
    minutes: Option<u64>,
}

impl Scope {
    /// The settings inside of this value.
    fn within(&self, value: &YamlValue) -> Self {
        let run = value.get("defaults").and_then(|defaults| defaults.get("run"));
        let text = |key: &str| {
            let own_text = value.text_of(key).or_else(|| run?.text_of(key));
            own_text.map(str::to_owned)
        };
        let minutes = value.text_of("timeout-minutes").and_then(|text| text.parse().ok());
        Self {
            cwd: text("working-directory").map_or_else(
                || self.cwd.clone(),
                |cwd| {
                    let folder = cwd.trim_start_matches("./").trim_end_matches('/');
                    (!matches!(folder, "" | ".")).then(|| folder.to_owned())
                },
            ),
            shell: text("shell").or_else(|| self.shell.clone()),
            minutes: minutes.or(self.minutes),
        }
    }

    /// Takes the commands of the job's steps.
    fn collect_commands(&self, job: &YamlValue, file: &str, commands: &mut Vec<CiCommand>) {
        for step in job.get("steps").map_or(&[][..], YamlValue::items) {
            let scope = self.within(step);
            let reads_bash = scope
                .shell
                .as_deref()
                .is_none_or(|shell| matches!(shell.split_whitespace().next(), Some("bash" | "sh")));
            if step.is_optional() || !reads_bash || step.text_of("name").is_some_and(is_long_run) {
                continue;
            }
            let lines = step.text_of("run").map(plain_commands).unwrap_or_default();
            commands.extend(lines.iter().filter_map(|line| CiCommand::new(line, &scope, file)));
        }
    }
}

impl YamlValue {
    fn text(&self) -> Option<&str> {
        match self {
            Self::Text(text) => Some(text),
            _ => None,
        }
    }

    fn items(&self) -> &[Self] {
        match self {
            Self::List(items) => items,
            _ => &[],
        }
    }

    fn entries(&self) -> &[(String, Self)] {
        match self {
            Self::Map(entries) => entries,
            _ => &[],
        }
    }

    fn get(&self, key: &str) -> Option<&Self> {
        self.entries().iter().find(|(name, _)| name == key).map(|(_, value)| value)
    }

    fn text_of(&self, key: &str) -> Option<&str> {
        self.get(key)?.text()
    }

    fn is_optional(&self) -> bool {
        OPTIONAL.iter().any(|key| self.get(key).is_some())
    }
}

impl CiCommand {
    /// The command of a line, if it starts a test runner and nothing else.
    fn new(line: &str, scope: &Scope, file: &str) -> Option<Self> {
        if line.contains(|c: char| "|&;<>$`(){}*?\\#'\"\n".contains(c)) {
            return None;
        }
        let words: Vec<_> = line.split_whitespace().map(str::to_owned).collect();
        let (ecosystem, tool) = match runner_format(&words)? {
            Format::Libtest | Format::Nextest => ("rust", "cargo"),
            Format::Pytest => ("python", "pytest"),
            Format::Jest => ("node", "jest"),
            Format::Vitest => ("node", "vitest"),
            Format::Mocha => ("node", "mocha"),
            Format::Node => ("node", "node"),
            Format::Go => ("go", "go"),
            Format::Junit | Format::Tap => return None,
        };
        // Slow tests alone; to leave them out takes a quotation.
        if words.iter().any(|word| is_long_run(word)) {
            return None;
        }
        let Scope { cwd, minutes, .. } = scope.clone();
        Some(Self { ecosystem, tool, words, cwd, file: file.to_owned(), minutes })
    }
}

/// Reads the values of a text in YAML.
struct YamlReader<'t>(Parser<'t, StrInput<'t>>);

impl<'t> YamlReader<'t> {
    fn next_event(&mut self) -> Option<Event<'t>> {
        Some(self.0.next()?.ok()?.0)
    }

    /// The first document; `None` if the text is no YAML.
    fn document(&mut self) -> Option<YamlValue> {
        loop {
            match self.next_event()? {
                Event::StreamStart | Event::DocumentStart(_) | Event::Nothing => {}
                event => return self.value(event, 0),
            }
        }
    }

    fn value(&mut self, event: Event<'t>, depth: usize) -> Option<YamlValue> {
        if depth > MAX_DEPTH {
            return None;
        }
        match event {
            Event::Scalar(text, ..) => Some(YamlValue::Text(text.into_owned())),
            Event::SequenceStart(..) => {
                let mut values = Vec::new();
                loop {
                    match self.next_event()? {
                        Event::SequenceEnd => return Some(YamlValue::List(values)),
                        event => values.push(self.value(event, depth + 1)?),
                    }
                }
            }
            Event::MappingStart(..) => {
                let mut entries = Vec::new();
                loop {
                    let key = match self.next_event()? {
                        Event::MappingEnd => return Some(YamlValue::Map(entries)),
                        event => self.value(event, depth + 1)?,
                    };
                    let event = self.next_event()?;
                    let value = self.value(event, depth + 1)?;
                    entries.push((key.text().unwrap_or_default().to_owned(), value));
                }
            }
            _ => Some(YamlValue::Text(String::new())),
        }
    }
}

#[cfg(test)]
mod tests;
