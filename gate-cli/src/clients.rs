//! The facts of agents' clients, as `clients.toml` holds them: all that differs between
//! their hooks as data, and how they are started. Code that a client needs beside them is
//! in `hook` and `install`.

mod dialect;
mod hook;
mod run;
mod test_stop;

use std::collections::BTreeMap;
use std::sync::LazyLock;

use memchr::memmem;
use serde::Deserialize;
use serde_json::Value;
use toml::Spanned;

pub(crate) use dialect::dialect;
pub(crate) use hook::{Events, HookFacts, LagSign, Moment};
pub(crate) use run::{CommandGrant, Grant, RunFacts};
pub(crate) use test_stop::{TestStopFacts, TranscriptForm};

use crate::agent::Agent;

const TEXT: &str = include_str!("clients.toml");

static FACTS: LazyLock<Facts> = LazyLock::new(read);

#[expect(clippy::expect_used, reason = "the file is part of the program, and a test reads it")]
fn read() -> Facts {
    toml::from_str(TEXT).expect("clients.toml holds the facts")
}

/// A fact may be this text. Each start looks up its variables and the programs above, mostly in vain, and
/// this search takes a hundredth of the time that reading the facts takes.
pub(crate) fn may_name(text: &str) -> bool {
    memmem::find(TEXT.as_bytes(), format!("\"{text}\"").as_bytes()).is_some()
}

/// The facts of this agent's client.
#[expect(clippy::expect_used, reason = "a test finds the table of each agent")]
pub(crate) fn facts(agent: Agent) -> &'static ClientFacts {
    let mut clients = FACTS.client.iter();
    clients.find(|facts| facts.name == agent.name()).expect("clients.toml has each agent")
}

/// The facts of all clients with hooks.
pub(crate) fn all() -> impl Iterator<Item = &'static ClientFacts> {
    FACTS.client.iter()
}

/// The agents that `gate run` starts, in the order of the file.
pub(crate) fn run_facts() -> impl Iterator<Item = (&'static str, &'static RunFacts)> {
    let clients = FACTS.client.iter().map(|facts| (&facts.name, &facts.run));
    let programs = FACTS.program.iter().map(|facts| (&facts.name, &facts.run));
    let entries = clients.chain(programs);
    let mut runs: Vec<_> = entries.filter_map(|(name, run)| Some((name, run.as_ref()?))).collect();
    // Clients and programs have tables of their own, and lists for people keep the file's order.
    runs.sort_by_key(|(_, run)| run.span().start);
    runs.into_iter().map(|(name, run)| (name.as_str(), run.get_ref()))
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Facts {
    client: Vec<ClientFacts>,
    program: Vec<ProgramFacts>,
    dialect: Vec<dialect::DialectFacts>,
}

/// An agent without a hook that could hold its stop.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct ProgramFacts {
    name: String,
    #[cfg_attr(not(test), expect(dead_code, reason = "for the documents, and for tests"))]
    title: String,
    #[cfg_attr(not(test), expect(dead_code, reason = "for the documents, and for tests"))]
    verified: Verified,
    run: Option<Spanned<RunFacts>>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ClientFacts {
    /// As on the command line.
    name: String,
    /// Other names on the command line.
    #[serde(default)]
    pub(crate) aliases: Vec<String>,
    /// As its maker writes it.
    pub(crate) title: String,
    /// Its programs; hooks are children of the first.
    pub(crate) programs: Vec<String>,
    /// Other names by which its processes are known.
    pub(crate) packages: Vec<String>,
    pub(crate) verified: Verified,
    /// The commands for a script that runs it headless and ends with gate's verdict, if its hooks are
    /// called then.
    pub(crate) script: Option<String>,
    /// The folder of its transcripts.
    pub(crate) transcripts: Option<String>,
    pub(crate) marks: Marks,
    pub(crate) hook: HookFacts,
    pub(crate) settings: SettingsFacts,
    /// `None` if `gate run` does not start it.
    run: Option<Spanned<RunFacts>>,
    #[serde(default)]
    pub(crate) test_stop: TestStopFacts,
}

/// The source of a table.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Verified {
    /// The latest is the last; empty if only documentation was read.
    pub(crate) versions: Vec<String>,
    pub(crate) date: toml::value::Datetime,
    pub(crate) by: Source,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
pub(crate) enum Source {
    #[serde(rename = "real client")]
    RealClient,
    #[serde(rename = "documentation")]
    Documentation,
}

impl ClientFacts {
    /// The source of these facts, for a person.
    pub(crate) fn source(&self) -> String {
        let Verified { versions, date, by } = &self.verified;
        let version = versions.last().map_or("", String::as_str);
        match by {
            Source::RealClient => format!("verified with {} {version}, {date}", self.title),
            Source::Documentation => format!("by the documentation of {}, {date}", self.title),
        }
    }
}

/// The variables that the client sets for the programs that it starts.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Marks {
    /// For its own hooks as well.
    pub(crate) hooks: Vec<String>,
    /// For its agent's tools alone.
    pub(crate) tools: Vec<String>,
    /// Marks for hooks that its starter sets for the client itself.
    #[serde(default)]
    pub(crate) client: Vec<String>,
    /// Variables beside the marks that carry its session to the programs that it starts: no agent that
    /// begins a session of its own may get them.
    #[serde(default)]
    pub(crate) session: Vec<String>,
    /// For marks for hooks: the end of the value that the agent's tools get.
    #[serde(default)]
    pub(crate) tool_values: BTreeMap<String, String>,
}

/// The settings that hold the client's hooks. Paths begin in the home folder (`~/`), in
/// the user's settings folder (`$XDG_CONFIG_HOME/`), else in the project.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct SettingsFacts {
    /// The folder that shows that the user has the client.
    pub(crate) folder: String,
    /// The variable that names another folder instead.
    pub(crate) folder_variable: Option<String>,
    pub(crate) user: String,
    pub(crate) project: String,
    pub(crate) shared: String,
    /// The client's own folder in a project, which gate guards. `None` if its settings stand in
    /// another client's folder, which is guarded anyway.
    #[cfg_attr(not(test), expect(dead_code, reason = "a list in gate-core is made from these"))]
    project_folder: Option<String>,
    /// Other settings in a project that determine which hooks run.
    #[serde(default)]
    #[cfg_attr(not(test), expect(dead_code, reason = "a list in gate-core is made from these"))]
    also_reads: Vec<String>,
    /// The file for all users of a machine; `None` if the client has no such file with hooks.
    pub(crate) managed: Option<ManagedFacts>,
    /// The events that gate is installed for, first that of a stop.
    pub(crate) installs: Vec<Moment>,
    /// The settings that switch the hooks off.
    #[serde(default)]
    pub(crate) off: Vec<OffSwitch>,
    /// Steps for the person before the client runs the hook.
    #[serde(default)]
    pub(crate) next: NextSteps,
    /// `None` if the client has no hooks in settings, but a plug-in.
    pub(crate) entry: Option<EntryFacts>,
}

/// The whole paths of a file for all users of a machine.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ManagedFacts {
    pub(crate) linux: String,
    macos: String,
}

impl ManagedFacts {
    /// The path on this system.
    pub(crate) fn file(&self) -> &str {
        if cfg!(target_os = "macos") { &self.macos } else { &self.linux }
    }
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct NextSteps {
    pub(crate) user: Option<String>,
    /// For settings in a project, shared or not; the user's step if not given.
    pub(crate) project: Option<String>,
    /// For settings of the machine.
    pub(crate) managed: Option<String>,
}

/// A setting with which a client runs no hooks.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct OffSwitch {
    /// The path of the member.
    pub(crate) member: Vec<String>,
    pub(crate) value: OffValue,
}

/// A value that switches hooks off.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "lowercase", deny_unknown_fields)]
pub(crate) enum OffValue {
    /// Exactly this value.
    Is(bool),
    /// A list with this name in it.
    Lists(String),
}

impl OffValue {
    pub(crate) fn contains(&self, value: &Value) -> bool {
        match self {
            Self::Is(off_value) => value.as_bool() == Some(*off_value),
            Self::Lists(name) => {
                value.as_array().is_some_and(|names| names.iter().any(|value| value == name))
            }
        }
    }
}

/// An entry among the hooks.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct EntryFacts {
    /// Entries stand in groups: `{"hooks": […]}`.
    pub(crate) is_grouped: bool,
    /// The member that holds the command.
    pub(crate) command: String,
    /// The member that holds the time that the client waits.
    pub(crate) timeout: String,
    pub(crate) unit: TimeUnit,
    /// The members of every entry.
    pub(crate) fixed: BTreeMap<String, Value>,
    /// The members of the entry of a stop.
    #[serde(default)]
    pub(crate) at_stop: BTreeMap<String, Value>,
    /// Members that the file needs beside the hooks.
    #[serde(default)]
    pub(crate) beside: BTreeMap<String, u64>,
    pub(crate) reads: Reading,
}

#[derive(Clone, Copy, Debug, Deserialize)]
pub(crate) enum TimeUnit {
    #[serde(rename = "s")]
    Seconds,
    #[serde(rename = "ms")]
    Milliseconds,
}

/// The dialect of JSON that the client reads. It ignores a file with other JSON, mostly without a message.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Reading {
    /// With comments, trailing commas and a byte order mark. A dialect that is not known counts as
    /// this one.
    Any,
    Plain,
    /// Plain JSON, also after a byte order mark.
    Marked,
    /// With comments.
    Commented,
}

#[cfg(test)]
mod tests {
    use gate_core::integrity::{AGENT_SETTINGS, guarded};

    use super::*;

    #[test]
    fn every_agent_has_its_facts_and_every_table_an_agent() {
        let tables: Vec<_> = all().map(|facts| facts.name.as_str()).collect();
        assert_eq!(tables, Agent::ALL.map(Agent::name));
    }

    #[test]
    fn the_facts_of_a_client_are_complete() {
        for facts in all() {
            let ClientFacts { name, title, programs, verified, hook, settings, .. } = facts;
            assert!(!title.is_empty() && !programs.is_empty(), "{name}");
            check_source(name, verified);
            let HookFacts { events, keys, .. } = hook;
            assert!(!keys.session.is_empty() && !hook.refusal_cap.is_empty(), "{name}");
            for moment in &settings.installs {
                let event = events.name(*moment);
                assert!(event.is_some_and(|event| !event.is_empty()), "{name}: {moment:?}");
            }
            let has_message = keys.message.is_some() || !keys.transcript.is_empty();
            assert!(has_message, "{name}: gate could not read what the agent said");
            assert!(hook.default_timeout.is_none_or(|default| hook.deadline < default), "{name}");
            assert_eq!(settings.installs.first(), Some(&Moment::Stop), "{name}");
        }
        for ProgramFacts { name, title, verified, run } in &FACTS.program {
            assert!(!title.is_empty() && run.is_some(), "{name}");
            check_source(name, verified);
        }
    }

    #[test]
    fn the_settings_of_each_client_are_guarded_and_watched() {
        for ClientFacts { name, settings, .. } in all() {
            let SettingsFacts { project, shared, project_folder, also_reads, .. } = settings;
            for path in [project, shared].into_iter().chain(also_reads) {
                let has_folder =
                    project_folder.as_ref().is_none_or(|folder| path.starts_with(folder));
                assert!(has_folder && guarded(path).is_some(), "{name}: {path}");
                assert!(AGENT_SETTINGS.contains(&path.as_str()), "{name}: {path}");
            }
        }
    }

    #[test]
    fn an_agent_that_gate_starts_was_tried_or_has_a_note() {
        let clients = all().map(|facts| (&facts.name, &facts.verified));
        let programs = FACTS.program.iter().map(|facts| (&facts.name, &facts.verified));
        let verified: BTreeMap<_, _> = clients.chain(programs).collect();
        for (name, run) in run_facts() {
            let is_tried = !verified[&name.to_owned()].versions.is_empty();
            assert!(is_tried || run.note.is_some(), "{name}");
        }
    }

    #[test]
    fn agents_are_listed_once_in_the_order_of_the_file() {
        let names: Vec<_> = run_facts().map(|(name, _)| name).collect();
        let place = |name: &str| TEXT.find(&format!("name = \"{name}\"\n")).unwrap();
        assert!(names.is_sorted_by_key(|name| place(name)), "{names:?}");
        assert!(names.windows(2).all(|pair| pair[0] != pair[1]), "{names:?}");
        assert!(names.windows(3).any(|names| names == ["opencode", "amp", "droid"]), "{names:?}");
    }

    #[track_caller]
    fn check_source(name: &str, verified: &Verified) {
        assert!(verified.date.date.is_some() && verified.date.time.is_none(), "{name}");
        assert_eq!(verified.by == Source::RealClient, !verified.versions.is_empty(), "{name}");
    }
}
