//! Inspects an agent's settings: finds gate's hooks and their commands, and checks that the
//! client would run them.

mod findings;

use std::path::{Path, PathBuf};

use gate_checks::{Finding, Level};
use schemars::JsonSchema;
use serde::Serialize;

use self::findings::{switched_off, wrong};
use super::claude_plugin::{self, Plugin};
use super::client::{Content, Target};
use super::clients::{file, folder, switches, targets};
use super::command::{self, Commands};
use super::hooks::{Form, LocatedEntry};
use super::json::Flaw;
use super::plan::{InstallOptions, Plan, gave_trust, made, unread};
use super::program::{HookProgram, is_fleeting, running_program};
use super::roots::Roots;
use super::scope::Scope;
use super::settings_text::{broken_settings, decode, split_mark};
use super::trial::TestStop;
use super::trust::Trust;
use super::{codex, disk, opencode, trial};
use crate::agent::Agent;
use crate::clients::{Moment, facts};
use crate::failure::Failure;

/// One place in which gate is installed.
#[non_exhaustive]
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Install {
    /// For whom: of two scopes that share a file, the one that the command is
    /// written for.
    pub scope: Scope,
    /// The settings.
    pub file: String,
    /// The plug-in that the file belongs to; null if gate was put into settings.
    pub plugin: Option<String>,
    /// The command there.
    pub command: String,
    /// The program that it calls; null if there is none.
    pub program: Option<String>,
    /// True if that is the running one.
    pub this_program: bool,
    /// True if the client trusts it; null if the client needs no trust.
    pub trusted: Option<bool>,
    /// True if the client calls it when a session begins; null if the client reports no
    /// beginnings.
    pub session_start: Option<bool>,
    /// True if the client calls it at each prompt.
    pub prompt: bool,
    /// Result of a test stop; null if the program is missing.
    pub test_stop: Option<TestStop>,
}

/// All places, and what is wrong with them.
pub(crate) struct Installs {
    pub(crate) places: Vec<Install>,
    pub(crate) findings: Vec<Finding>,
    /// The settings that another installation would put right.
    outdated: Vec<Scope>,
}

/// Searches all settings of an agent for gate, and runs each command with a test stop.
///
/// # Errors
///
/// The running program cannot be found out.
pub(crate) fn inspect(agent: Agent, roots: &Roots) -> Result<Installs, Failure> {
    let mut all = inspect_files(agent, roots, true)?;
    all.counted(agent);
    // What a user switches off, the settings of the machine do not obey.
    let managed = file(agent, roots, Scope::Managed);
    let is_users = all.places.iter().any(|place| place.scope != Scope::Managed);
    if !all.places.is_empty() {
        let switches = switches(agent, roots).into_iter();
        let obeyed = switches.filter(|one| is_users || managed.as_ref() == Some(&one.file));
        all.findings.extend(obeyed.filter_map(|one| switched_off(&one)));
    }
    all.findings.extend((!is_here(agent, roots)).then(|| absent(agent, roots)));
    Ok(all)
}

/// The hooks in an agent's settings.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum HookState {
    Absent,
    Current,
    /// An older gate wrote them, or they call another build.
    Outdated,
    /// The client skips them until its user has reviewed them.
    Untrusted,
}

/// Looks at an agent's hooks, and runs none.
///
/// # Errors
///
/// The running program cannot be found out.
pub(crate) fn hook_state(agent: Agent, roots: &Roots) -> Result<HookState, Failure> {
    let all = inspect_files(agent, roots, false)?;
    let is_skipped = |place: &Install| place.trusted == Some(false);
    Ok(if all.places.is_empty() {
        HookState::Absent
    } else if !all.outdated.is_empty() {
        HookState::Outdated
    } else if all.places.iter().all(is_skipped) {
        HookState::Untrusted
    } else {
        HookState::Current
    })
}

/// The scopes whose hooks an installation would put right.
///
/// # Errors
///
/// The running program cannot be found out.
pub(crate) fn outdated_scopes(agent: Agent, roots: &Roots) -> Result<Vec<Scope>, Failure> {
    Ok(inspect_files(agent, roots, false)?.outdated)
}

/// Plans an update of an agent's hooks in one scope. Scopes share files, such as Codex's
/// config.toml, so a plan is out of date once that of another scope is applied.
///
/// # Errors
///
/// As of [`Plan::install`].
pub(crate) fn update(agent: Agent, scope: Scope, roots: &Roots) -> Result<Plan, Failure> {
    let program = HookProgram::new(roots)?;
    // Codex silently skips a changed hook, so trust that gate gave is renewed.
    let trust = agent == Agent::Codex && gave_trust(roots, scope)?;
    Plan::install(&InstallOptions { agent, scope, roots, program: &program, trust, fix: true })
}

fn inspect_files(agent: Agent, roots: &Roots, with_trial: bool) -> Result<Installs, Failure> {
    let (running, program) = (running_program()?, HookProgram::new(roots)?);
    let mut all = Installs { places: Vec::new(), findings: Vec::new(), outdated: Vec::new() };
    let mut files: Vec<PathBuf> = Vec::new();
    let scope = Scope::User;
    let base = Inspection {
        agent,
        roots,
        scope,
        running: &running,
        program: &program,
        with_trial,
        plugin: None,
    };
    for scope in Scope::ALL {
        for target in targets(&Commands::new(agent, scope, &program.path), roots, scope) {
            if !files.contains(&target.file) {
                files.push(target.file.clone());
                all.inspect(Inspection { scope, ..base }, &target);
            }
        }
    }
    if agent == Agent::ClaudeCode {
        for Plugin { name, scope, target } in claude_plugin::switched_on(roots) {
            all.inspect(Inspection { scope, plugin: Some(&name), ..base }, &target);
        }
    }
    Ok(all)
}

/// True if the file calls gate at a stop.
pub(super) fn calls_gate(target: &Target) -> bool {
    entries(target).is_ok_and(|found| !found.is_empty())
}

/// Nothing of the client's own is here.
fn absent(agent: Agent, roots: &Roots) -> Finding {
    let (programs, folder) = (facts(agent).programs.join(", "), folder(agent, roots));
    let message = format!(
        "{} seems not to be installed here: there is no {programs} in PATH, and nothing of its own \
         in {}",
        agent.name(),
        folder.display()
    );
    Finding::new(Level::Note, "client-missing", message)
}

/// The parameters of an inspection of one file.
#[derive(Clone, Copy)]
struct Inspection<'a> {
    agent: Agent,
    roots: &'a Roots,
    scope: Scope,
    running: &'a Path,
    /// The program that an installation would call.
    program: &'a HookProgram,
    /// True if the command is run with a test stop.
    with_trial: bool,
    /// The plug-in that has the file.
    plugin: Option<&'a str>,
}

impl Inspection<'_> {
    /// True if hooks call a copy of another build, or a program that may soon be gone.
    fn is_other_to_call(&self, place: &Install) -> bool {
        self.is_copy_stale(place) || self.is_fleeting(place)
    }

    fn is_copy_stale(&self, place: &Install) -> bool {
        !place.this_program && called_path(place).is_some_and(|path| self.program.is_copy(path))
    }

    /// True if gate gave trust that the client does not see any more, as after an update that
    /// failed between the hooks and their trust.
    fn has_lost_trust(&self, place: &Install) -> bool {
        place.trusted == Some(false) && matches!(gave_trust(self.roots, place.scope), Ok(true))
    }

    fn is_fleeting(&self, place: &Install) -> bool {
        called_path(place).is_some_and(|path| is_fleeting(path) && path != self.program.path)
    }
}

/// The program that a command calls by its whole path.
fn called_path(place: &Install) -> Option<&Path> {
    let program = place.program.as_deref().map(Path::new)?;
    (place.scope != Scope::Shared).then_some(program)
}

impl Installs {
    fn inspect(&mut self, inspection: Inspection<'_>, target: &Target) {
        let found = match entries(target) {
            Ok(found) => found,
            Err(failure) => {
                let finding = Finding::new(Level::Problem, &failure.code, failure.message);
                return self.findings.push(Finding { hint: failure.hint, ..finding });
            }
        };
        for entry in found {
            let place = place(inspection, target, &entry);
            self.findings.extend(wrong(inspection, &place, target, &entry));
            // Root alone updates the settings of the machine.
            if inspection.plugin.is_none()
                && place.scope != Scope::Managed
                && (entry.is_outdated(&place)
                    || inspection.is_other_to_call(&place)
                    || inspection.has_lost_trust(&place))
                && !self.outdated.contains(&place.scope)
            {
                self.outdated.push(place.scope);
            }
            self.places.push(place);
        }
    }

    /// Adds a finding if gate is not installed, or installed more than once.
    fn counted(&mut self, agent: Agent) {
        let name = agent.name();
        let finding = match self.places.as_slice() {
            [] if self.findings.is_empty() => {
                let message = format!("{name} does not ask gate: it is not installed");
                Finding::new(Level::Problem, "not-installed", message)
                    .hint(format!("gate install {name}"))
            }
            [first, second, ..] => {
                let message = format!(
                    "gate is installed {} times, and each one is asked at each stop",
                    self.places.len()
                );
                let settings = if second.plugin.is_some() { first } else { second };
                let undo = format!("gate uninstall {name} --{}", settings.scope.name());
                Finding::new(Level::Note, "installed-twice", message).hint(undo)
            }
            _ => return,
        };
        self.findings.push(finding);
    }
}

/// An entry of gate's in a file.
struct Entry {
    command: String,
    /// True if it is what an installation by this version would write, apart from the program.
    is_current: bool,
    /// The first thing in the file that the client does not read.
    unread: Option<Flaw>,
    trust: Vec<Trust>,
    /// True if there is one for sessions that begin. None if the client reports none.
    session_start: Option<bool>,
    /// True if there is one for prompts. None if the client reports none.
    prompt: Option<bool>,
}

impl Entry {
    fn is_outdated(&self, place: &Install) -> bool {
        let lacks_event = [self.prompt, self.session_start].contains(&Some(false));
        !self.is_current || lacks_event || self.unread.is_some() || place.program.is_none()
    }
}

fn entries(target: &Target) -> Result<Vec<Entry>, Failure> {
    let file = &target.file;
    let bytes = disk::read(&disk::real(file)?)?;
    let Some(text) = decode(file, bytes.as_deref())? else { return Ok(Vec::new()) };
    let forms = match &target.content {
        Content::Hooks(forms) => forms,
        Content::Own { .. } => {
            return Ok(opencode::plugin(&text).map(plugin_entry).into_iter().collect());
        }
        Content::Trust(_) => return Ok(Vec::new()),
    };
    let Some((stop, others)) = forms.split_first() else { return Ok(Vec::new()) };
    let mut siblings = Vec::new();
    for form in others {
        siblings.extend(form_entries(form, file, &text)?);
    }
    let reports = |moment: &Moment| forms.iter().any(|form| form.moment == *moment);
    // Without an event of its own, a session begins with its first prompt.
    let begins = [Moment::Start, Moment::Prompt].into_iter().find(reports);
    let mut entries = Vec::new();
    for stop in form_entries(stop, file, &text)? {
        let agent = stop.form.agent;
        let Some(command) = stop.command().map(str::to_owned) else { continue };
        let Some(program) = stop.program() else { continue };
        let commands = Commands::calling(agent, &program);
        let start = sibling(&siblings, Moment::Start, &program);
        let prompt = sibling(&siblings, Moment::Prompt, &program);
        let end = sibling(&siblings, Moment::End, &program);
        let all: Vec<_> = [Some(&stop), start, prompt, end].into_iter().flatten().collect();
        let lacks_end = reports(&Moment::End) && end.is_none();
        entries.push(Entry {
            is_current: !lacks_end && all.iter().all(|entry| entry.is_current(&commands)),
            trust: if agent == Agent::Codex {
                all.iter().map(|entry| Trust::new(file, &entry.located, entry.form)).collect()
            } else {
                Vec::new()
            },
            unread: unread(target, &text),
            session_start: begins.map(|moment| sibling(&siblings, moment, &program).is_some()),
            prompt: reports(&Moment::Prompt).then_some(prompt.is_some()),
            command,
        });
    }
    Ok(entries)
}

/// An entry with the form by which it was found.
struct FormEntry<'f> {
    form: &'f Form,
    located: LocatedEntry,
}

fn form_entries<'f>(
    form: &'f Form,
    file: &Path,
    text: &str,
) -> Result<Vec<FormEntry<'f>>, Failure> {
    let located = form.found(split_mark(text).1).map_err(|flaw| broken_settings(file, flaw))?;
    Ok(located.into_iter().map(|located| FormEntry { form, located }).collect())
}

/// The entry for another moment that calls the same program.
fn sibling<'e, 'f>(
    entries: &'e [FormEntry<'f>],
    moment: Moment,
    program: &str,
) -> Option<&'e FormEntry<'f>> {
    entries.iter().find(|entry| {
        entry.form.moment == moment && entry.program().is_some_and(|called| called == program)
    })
}

impl FormEntry<'_> {
    fn command(&self) -> Option<&str> {
        self.form.command(&self.located.entry)
    }

    /// The program that the command calls.
    fn program(&self) -> Option<String> {
        command::called(self.command()?, self.form.agent)
    }

    /// True if the entry has all that an installation with these commands would write.
    fn is_current(&self, commands: &Commands<'_>) -> bool {
        self.form.entry.iter().all(|(name, value)| {
            *name == self.form.facts.command || self.located.entry.get(name) == Some(value)
        }) && self.command() == Some(&commands.at(self.form.moment))
    }
}

fn plugin_entry(plugin: opencode::Plugin) -> Entry {
    let opencode::Plugin { command, is_current, begins, prompts } = plugin;
    let (unread, trust, session_start, prompt) = (None, Vec::new(), Some(begins), Some(prompts));
    Entry { command, is_current, unread, trust, session_start, prompt }
}

fn place(inspection: Inspection<'_>, target: &Target, entry: &Entry) -> Install {
    let word = command::called(&entry.command, inspection.agent).unwrap_or_default();
    let is_path = word.contains('/');
    let program = if is_path {
        Some(PathBuf::from(&word)).filter(|path| path.is_file())
    } else {
        inspection.roots.in_path(&word)
    };
    let scope = match inspection.scope {
        Scope::User | Scope::Managed => inspection.scope,
        _ if is_path => Scope::Project,
        _ => Scope::Shared,
    };
    Install {
        scope,
        file: target.file.display().to_string(),
        plugin: inspection.plugin.map(str::to_owned),
        command: entry.command.clone(),
        this_program: program
            .as_deref()
            .is_some_and(|program| inspection.program.is_this(program, inspection.running)),
        test_stop: (inspection.with_trial && program.is_some())
            .then(|| trial::test_stop(inspection.agent, &entry.command)),
        program: program.map(|program| program.display().to_string()),
        trusted: (!entry.trust.is_empty() && scope != Scope::Managed).then(|| {
            config(inspection.roots).is_ok_and(|text| {
                entry.trust.iter().all(|trust| trust.holds(&text) == Ok(Some(true)))
            })
        }),
        session_start: entry.session_start,
        prompt: entry.prompt == Some(true),
    }
}

/// The user has the agent: its program is in PATH, or something stands in its
/// folder that gate did not put there.
pub(crate) fn is_here(agent: Agent, roots: &Roots) -> bool {
    facts(agent).programs.iter().any(|program| roots.in_path(program).is_some())
        || has_own_files(agent, roots, &folder(agent, roots))
}

fn has_own_files(agent: Agent, roots: &Roots, folder: &Path) -> bool {
    let made = made(agent, roots);
    let entries = std::fs::read_dir(folder).into_iter().flatten();
    entries.filter_map(Result::ok).any(|entry| !made.contains(&entry.path()))
}

/// Codex's config.toml, empty if there is none.
fn config(roots: &Roots) -> Result<String, Failure> {
    let file = codex::config(roots);
    let bytes = disk::read(&file)?;
    let text = decode(&file, bytes.as_deref())?.unwrap_or_default();
    Ok(split_mark(&text).1.to_owned())
}

#[cfg(test)]
mod tests;
