//! Inspects an agent's settings: finds gate's hooks and their commands, and checks that the
//! client would run them.

mod findings;

use std::path::{Path, PathBuf};

use gate_checks::{Finding, Level};
use schemars::JsonSchema;
use serde::Serialize;

use self::findings::{place_findings, switched_off};
use super::claude_plugin::{self, ClaudePlugin};
use super::client::{Content, Target};
use super::clients::{client_folder, settings_file, switches, targets};
use super::command::{self, Commands};
use super::hooks::{Form, LocatedEntry};
use super::json::Flaw;
use super::plan::{InstallOptions, Plan, first_unread, has_given_trust, made_paths};
use super::program::{HookProgram, is_fleeting, running_program};
use super::roots::Roots;
use super::scope::Scope;
use super::settings_text::{broken_settings, decode, split_mark};
use super::trial::TestStop;
use super::trust::HookTrust;
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
    /// The program is the running one.
    pub this_program: bool,
    /// The client trusts the hook; null if the client needs no trust.
    pub trusted: Option<bool>,
    /// The client calls gate when a session begins; null if the client reports no beginnings.
    pub session_start: Option<bool>,
    /// The client calls gate at each prompt.
    pub prompt: bool,
    /// Result of a test stop; null if the program is missing.
    pub test_stop: Option<TestStop>,
}

/// All places in which gate is installed, and the findings about them.
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
    let mut installs = inspect_files(agent, roots, true)?;
    installs.add_count_finding(agent);
    // A user's switch does not switch the hooks of the machine off.
    let managed_file = settings_file(agent, roots, Scope::Managed);
    let has_user_hooks = installs.places.iter().any(|place| place.scope != Scope::Managed);
    if !installs.places.is_empty() {
        let switches = switches(agent, roots).into_iter();
        let obeyed =
            switches.filter(|switch| has_user_hooks || managed_file.as_ref() == Some(&switch.file));
        installs.findings.extend(obeyed.filter_map(|switch| switched_off(&switch)));
    }
    if !is_here(agent, roots) {
        installs.findings.push(missing_client(agent, roots));
    }
    Ok(installs)
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
    let installs = inspect_files(agent, roots, false)?;
    let is_skipped = |place: &Install| place.trusted == Some(false);
    Ok(if installs.places.is_empty() {
        HookState::Absent
    } else if !installs.outdated.is_empty() {
        HookState::Outdated
    } else if installs.places.iter().all(is_skipped) {
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
/// config.toml, so a plan is out of date once another scope's plan is applied.
///
/// # Errors
///
/// Those of [`Plan::install`].
pub(crate) fn update(agent: Agent, scope: Scope, roots: &Roots) -> Result<Plan, Failure> {
    let program = HookProgram::new(roots)?;
    // Codex silently skips a changed hook, so trust that gate gave is renewed.
    let trust = agent == Agent::Codex && has_given_trust(roots, scope)?;
    Plan::install(&InstallOptions { agent, scope, roots, program: &program, trust, fix: true })
}

fn inspect_files(agent: Agent, roots: &Roots, has_trial: bool) -> Result<Installs, Failure> {
    let (running, program) = (running_program()?, HookProgram::new(roots)?);
    let mut installs = Installs { places: Vec::new(), findings: Vec::new(), outdated: Vec::new() };
    let mut files: Vec<PathBuf> = Vec::new();
    let scope = Scope::User;
    let base = Inspection {
        agent,
        roots,
        scope,
        running: &running,
        program: &program,
        has_trial,
        plugin: None,
    };
    for scope in Scope::ALL {
        for target in targets(&Commands::new(agent, scope, &program.path), roots, scope) {
            if !files.contains(&target.file) {
                files.push(target.file.clone());
                installs.inspect(Inspection { scope, ..base }, &target);
            }
        }
    }
    if agent == Agent::ClaudeCode {
        for ClaudePlugin { name, scope, target } in claude_plugin::switched_on(roots) {
            installs.inspect(Inspection { scope, plugin: Some(&name), ..base }, &target);
        }
    }
    Ok(installs)
}

/// The file calls gate at a stop.
pub(super) fn calls_gate(target: &Target) -> bool {
    find_entries(target).is_ok_and(|entries| !entries.is_empty())
}

/// The finding about a client that nothing of its own shows.
fn missing_client(agent: Agent, roots: &Roots) -> Finding {
    let programs = facts(agent).programs.join(", ");
    let folder = client_folder(agent, roots);
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
    /// The command is run with a test stop.
    has_trial: bool,
    /// The plug-in that has the file.
    plugin: Option<&'a str>,
}

impl Inspection<'_> {
    /// Hooks call a copy of another build, or a program that may soon be gone.
    fn has_wrong_program(&self, place: &Install) -> bool {
        self.is_copy_stale(place) || self.is_fleeting(place)
    }

    fn is_copy_stale(&self, place: &Install) -> bool {
        !place.this_program && called_path(place).is_some_and(|path| self.program.is_copy(path))
    }

    /// gate gave trust that the client does not see any more, as after an update that failed between
    /// the hooks and their trust.
    fn has_lost_trust(&self, place: &Install) -> bool {
        place.trusted == Some(false) && matches!(has_given_trust(self.roots, place.scope), Ok(true))
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
        let entries = match find_entries(target) {
            Ok(entries) => entries,
            Err(failure) => {
                let finding = Finding::new(Level::Problem, &failure.code, failure.message);
                return self.findings.push(Finding { hint: failure.hint, ..finding });
            }
        };
        for entry in entries {
            let place = install_place(inspection, target, &entry);
            self.findings.extend(place_findings(inspection, &place, target, &entry));
            // Root alone updates the settings of the machine.
            if inspection.plugin.is_none()
                && place.scope != Scope::Managed
                && (entry.is_outdated(&place)
                    || inspection.has_wrong_program(&place)
                    || inspection.has_lost_trust(&place))
                && !self.outdated.contains(&place.scope)
            {
                self.outdated.push(place.scope);
            }
            self.places.push(place);
        }
    }

    /// Adds a finding if gate is not installed, or installed more than once.
    fn add_count_finding(&mut self, agent: Agent) {
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
                let command = format!("gate uninstall {name} --{}", settings.scope.name());
                Finding::new(Level::Note, "installed-twice", message).hint(command)
            }
            _ => return,
        };
        self.findings.push(finding);
    }
}

/// An entry of gate's in a file.
struct InstalledEntry {
    command: String,
    /// It is as an installation by this version would write it, apart from the program.
    is_current: bool,
    /// The first place in the file that the client does not read.
    unread: Option<Flaw>,
    trust: Vec<HookTrust>,
    /// Sessions that begin have an entry, too. `None` if the client does not report them.
    session_start: Option<bool>,
    /// Prompts have an entry, too. `None` if the client does not report them.
    prompt: Option<bool>,
}

impl InstalledEntry {
    fn is_outdated(&self, place: &Install) -> bool {
        let lacks_event = [self.prompt, self.session_start].contains(&Some(false));
        !self.is_current || lacks_event || self.unread.is_some() || place.program.is_none()
    }
}

/// The entries of gate's in a file: one for each that a stop calls, with its siblings for other events.
fn find_entries(target: &Target) -> Result<Vec<InstalledEntry>, Failure> {
    let file = &target.file;
    let bytes = disk::read(&disk::real_path(file)?)?;
    let Some(text) = decode(file, bytes.as_deref())? else { return Ok(Vec::new()) };
    let forms = match &target.content {
        Content::Hooks(forms) => forms,
        Content::Own { .. } => {
            return Ok(opencode::plugin(&text).map(plugin_entry).into_iter().collect());
        }
        Content::Trust(_) => return Ok(Vec::new()),
    };
    let Some((stop_form, other_forms)) = forms.split_first() else { return Ok(Vec::new()) };
    let mut siblings = Vec::new();
    for form in other_forms {
        siblings.extend(form_entries(form, file, &text)?);
    }
    let is_reported = |moment: &Moment| forms.iter().any(|form| form.moment == *moment);
    // Without an event of its own, a session begins with its first prompt.
    let start_moment = [Moment::Start, Moment::Prompt].into_iter().find(is_reported);
    let mut entries = Vec::new();
    for stop in form_entries(stop_form, file, &text)? {
        let agent = stop.form.agent;
        let Some(command) = stop.command().map(str::to_owned) else { continue };
        let Some(program) = stop.program() else { continue };
        let commands = Commands::calling(agent, &program);
        let start = sibling(&siblings, Moment::Start, &program);
        let prompt = sibling(&siblings, Moment::Prompt, &program);
        let end = sibling(&siblings, Moment::End, &program);
        let present: Vec<_> = [Some(&stop), start, prompt, end].into_iter().flatten().collect();
        let lacks_end = is_reported(&Moment::End) && end.is_none();
        entries.push(InstalledEntry {
            is_current: !lacks_end && present.iter().all(|entry| entry.is_current(&commands)),
            trust: if agent == Agent::Codex {
                present
                    .iter()
                    .map(|entry| HookTrust::new(file, &entry.located, entry.form))
                    .collect()
            } else {
                Vec::new()
            },
            unread: first_unread(target, &text),
            session_start: start_moment
                .map(|moment| sibling(&siblings, moment, &program).is_some()),
            prompt: is_reported(&Moment::Prompt).then_some(prompt.is_some()),
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
    let located =
        form.find_entries(split_mark(text).1).map_err(|flaw| broken_settings(file, flaw))?;
    Ok(located.into_iter().map(|located| FormEntry { form, located }).collect())
}

/// The entry for another moment that calls the same program.
fn sibling<'e, 'f>(
    entries: &'e [FormEntry<'f>],
    moment: Moment,
    program: &str,
) -> Option<&'e FormEntry<'f>> {
    entries.iter().find(|entry| {
        entry.form.moment == moment
            && entry.program().is_some_and(|entry_program| entry_program == program)
    })
}

impl FormEntry<'_> {
    fn command(&self) -> Option<&str> {
        self.form.command(&self.located.entry)
    }

    /// The program that the command calls.
    fn program(&self) -> Option<String> {
        command::called_program(self.command()?, self.form.agent)
    }

    /// The entry has all members that an installation with these commands would write.
    fn is_current(&self, commands: &Commands<'_>) -> bool {
        self.form.entry.iter().all(|(name, value)| {
            *name == self.form.facts.command || self.located.entry.get(name) == Some(value)
        }) && self.command() == Some(&commands.for_event(self.form.moment))
    }
}

fn plugin_entry(plugin: opencode::OpencodePlugin) -> InstalledEntry {
    InstalledEntry {
        command: plugin.command,
        is_current: plugin.is_current,
        unread: None,
        trust: Vec::new(),
        session_start: Some(plugin.calls_at_start),
        prompt: Some(plugin.calls_at_prompt),
    }
}

fn install_place(inspection: Inspection<'_>, target: &Target, entry: &InstalledEntry) -> Install {
    let word = command::called_program(&entry.command, inspection.agent).unwrap_or_default();
    let is_path = word.contains('/');
    let program = if is_path {
        Some(PathBuf::from(&word)).filter(|path| path.is_file())
    } else {
        inspection.roots.in_path(&word)
    };
    // Of two scopes with one file, the command shows for which it was written.
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
        test_stop: (inspection.has_trial && program.is_some())
            .then(|| trial::test_stop(inspection.agent, &entry.command)),
        program: program.map(|program| program.display().to_string()),
        trusted: (!entry.trust.is_empty() && scope != Scope::Managed).then(|| {
            codex_config(inspection.roots).is_ok_and(|text| {
                entry.trust.iter().all(|trust| trust.is_in(&text) == Ok(Some(true)))
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
        || has_own_files(agent, roots, &client_folder(agent, roots))
}

fn has_own_files(agent: Agent, roots: &Roots, folder: &Path) -> bool {
    let made_paths = made_paths(agent, roots);
    let entries = std::fs::read_dir(folder).into_iter().flatten();
    entries.filter_map(Result::ok).any(|entry| !made_paths.contains(&entry.path()))
}

/// The text of Codex's config.toml; empty if the file does not exist.
fn codex_config(roots: &Roots) -> Result<String, Failure> {
    let file = codex::config_file(roots);
    let bytes = disk::read(&file)?;
    let text = decode(&file, bytes.as_deref())?.unwrap_or_default();
    Ok(split_mark(&text).1.to_owned())
}

#[cfg(test)]
mod tests;
