//! Plans an installation, or its removal. The plan is complete before anything is written.

use std::path::{Path, PathBuf};

use super::client::{Content, Target};
use super::clients::targets;
use super::command::Commands;
use super::json::Flaw;
use super::program::{HookProgram, copy_of_gate, is_same};
use super::receipt::{self, Backup, BackupFiles};
use super::roots::Roots;
use super::scope::Scope;
use super::settings_text::{BOM, broken_settings, decode, split_mark};
use super::trust::Trust;
use super::{codex, disk, hooks, trust};
use crate::agent::Agent;
use crate::failure::Failure;

/// Parameters of a plan.
pub(crate) struct InstallOptions<'a> {
    pub(crate) agent: Agent,
    pub(crate) scope: Scope,
    pub(crate) roots: &'a Roots,
    /// The program that is going to be called.
    pub(crate) program: &'a HookProgram,
    /// True if the hooks are marked as trusted for Codex.
    pub(crate) trust: bool,
    /// True if what the client does not read of its settings is taken out.
    pub(crate) fix: bool,
}

/// All that changes.
pub(crate) struct Plan {
    pub(crate) steps: Vec<Step>,
    /// The copy of gate that hooks call: to be written, to be removed, or left alone.
    pub(crate) copy: CopyStep,
}

/// The change to the copy of gate that hooks call.
pub(crate) enum CopyStep {
    Keep,
    Write(HookProgram),
    Remove(PathBuf),
}

/// One file.
pub(crate) struct Step {
    /// The path by which the client names it.
    pub(crate) file: PathBuf,
    /// The target of the link.
    real: PathBuf,
    pub(crate) before: Option<Vec<u8>>,
    /// None: the file goes.
    pub(crate) after: Option<Vec<u8>>,
    files: BackupFiles,
    /// The backup to save. If there is none, a saved one is deleted.
    backup: Option<Backup>,
    /// The folders that go with the file if they are empty.
    folders: Vec<PathBuf>,
}

impl Step {
    pub(crate) fn is_change(&self) -> bool {
        self.before != self.after
    }

    /// Path of the backup, once the step is done.
    pub(crate) fn backup(&self) -> Option<PathBuf> {
        self.backup
            .as_ref()
            .filter(|backup| backup.receipt.existed)
            .map(|_| self.files.backup_file())
    }
}

impl Plan {
    /// Puts gate in front of an agent's stop, where its sessions begin, and at each prompt.
    ///
    /// # Errors
    ///
    /// Settings that cannot be read, are broken, or have another shape.
    pub(crate) fn install(options: &InstallOptions<'_>) -> Result<Self, Failure> {
        let commands = Commands::new(options.agent, options.scope, &options.program.path);
        let mut steps = Vec::new();
        for target in all_targets(&commands, options.roots, options.scope)? {
            let step = installed(options, &target, &target.file)?;
            if options.trust
                && let Some(trust) = trusting(options.roots, &target, &step)
            {
                let trust = installed(options, &trust, &target.file)?;
                steps.extend([step, trust]);
            } else {
                steps.push(step);
            }
        }
        // Shared settings call gate from PATH.
        let copy = if options.scope == Scope::Shared {
            CopyStep::Keep
        } else if options.program.is_copy_due() {
            CopyStep::Write(options.program.clone())
        } else if options.program.is_copy(&options.program.path) {
            CopyStep::Keep
        } else {
            CopyStep::remove(options.roots, &steps)?
        };
        Ok(Self { steps, copy })
    }

    /// Takes gate away again.
    ///
    /// # Errors
    ///
    /// As of [`Self::install`].
    pub(crate) fn uninstall(agent: Agent, scope: Scope, roots: &Roots) -> Result<Self, Failure> {
        let mut steps = Vec::new();
        for target in all_targets(&Commands::unwritten(agent), roots, scope)? {
            if agent == Agent::Codex {
                steps.extend(distrusted(roots, &target)?);
            }
            steps.push(uninstalled(agent, roots, &target, &target.file)?);
        }
        let copy = CopyStep::remove(roots, &steps)?;
        Ok(Self { steps, copy })
    }

    pub(crate) fn is_change(&self) -> bool {
        self.steps.iter().any(Step::is_change) || !matches!(self.copy, CopyStep::Keep)
    }

    /// Carries out the plan.
    ///
    /// # Errors
    ///
    /// A file that has changed meanwhile, or that cannot be written.
    pub(crate) fn apply(&self) -> Result<(), Failure> {
        // In this order, the program that a hook calls is there at each moment.
        if let CopyStep::Write(program) = &self.copy {
            program.write_copy()?;
        }
        self.steps.iter().try_for_each(Step::apply)?;
        match &self.copy {
            CopyStep::Remove(copy) => disk::remove(
                copy,
                &copy.parent().map(Path::to_owned).into_iter().collect::<Vec<_>>(),
            ),
            _ => Ok(()),
        }
    }
}

/// The files of a scope.
///
/// # Errors
///
/// A client without settings for all users of a machine.
fn all_targets(
    commands: &Commands<'_>,
    roots: &Roots,
    scope: Scope,
) -> Result<Vec<Target>, Failure> {
    let found = targets(commands, roots, scope);
    if !found.is_empty() {
        return Ok(found);
    }
    let name = commands.agent().name();
    let message = format!("{name} has no hooks in settings for all users of a machine");
    Err(Failure::usage("no-managed-settings", message)
        .hint(format!("each user: gate install {name}")))
}

impl CopyStep {
    /// The copy goes if nothing calls it once these steps are done: no hook, and nobody by PATH.
    fn remove(roots: &Roots, steps: &[Step]) -> Result<Self, Failure> {
        let copy = copy_of_gate(roots);
        let changed: Vec<_> = steps.iter().map(|step| step.real.clone()).collect();
        let is_in_path = roots.all_in_path("gate").any(|path| is_same(&path, &copy));
        if !copy.is_file() || is_in_path || is_called(&copy, roots, &changed)? {
            return Ok(Self::Keep);
        }
        Ok(Self::Remove(copy))
    }
}

/// True if a file that gate changed, apart from these, calls the copy of gate.
fn is_called(copy: &Path, roots: &Roots, apart: &[PathBuf]) -> Result<bool, Failure> {
    let word = copy.display().to_string();
    for file in receipt::changed_files(roots)?.iter().filter(|file| !apart.contains(file)) {
        let bytes = disk::read(file)?.unwrap_or_default();
        let text = String::from_utf8_lossy(&bytes);
        // A path with a quote is spelled in many ways: then any mention of gate counts.
        if text.contains(if word.contains(['"', '\\', '\'']) { "gate" } else { &word }) {
            return Ok(true);
        }
    }
    Ok(false)
}

impl Step {
    fn apply(&self) -> Result<(), Failure> {
        if self.is_change() {
            if disk::read(&self.real)? != self.before {
                let message =
                    format!("{} changed just now; it was not touched", self.file.display());
                return Err(Failure::internal("file-changed", message).hint("try again"));
            }
            if let Some(backup) = &self.backup {
                self.files.save(backup)?;
            }
            match &self.after {
                Some(bytes) => disk::write(&self.real, bytes)?,
                None => disk::remove(&self.real, &self.folders)?,
            }
        }
        if self.backup.is_none() {
            self.files.delete();
        }
        Ok(())
    }
}

/// The files and folders of an agent's that are there because gate made them.
pub(super) fn made(agent: Agent, roots: &Roots) -> Vec<PathBuf> {
    let commands = Commands::unwritten(agent);
    let all = Scope::ALL.into_iter().flat_map(|scope| targets(&commands, roots, scope));
    all.filter_map(|target| made_for(agent, roots, target)).flatten().collect()
}

fn made_for(agent: Agent, roots: &Roots, target: Target) -> Option<Vec<PathBuf>> {
    let real = disk::real(&target.file).ok()?;
    let receipt = BackupFiles::new(roots, agent, &real, &real).load().ok()??.receipt;
    let mut made = receipt.folders;
    if !receipt.existed {
        made.push(target.file);
    }
    Some(made)
}

/// True if gate wrote trust entries for these settings of Codex's.
///
/// # Errors
///
/// The receipts cannot be read.
pub(super) fn gave_trust(roots: &Roots, scope: Scope) -> Result<bool, Failure> {
    let config = disk::real(&codex::config(roots))?;
    let settings = targets(&Commands::unwritten(Agent::Codex), roots, scope);
    let given = settings.iter().map(|target| {
        let backup =
            BackupFiles::new(roots, Agent::Codex, &disk::real(&target.file)?, &config).load()?;
        Ok(backup.is_some_and(|backup| !backup.receipt.trust.is_empty()))
    });
    Ok(given.collect::<Result<Vec<_>, Failure>>()?.contains(&true))
}

/// The trust in the hooks that a step puts into a file.
fn trusting(roots: &Roots, target: &Target, step: &Step) -> Option<Target> {
    let Content::Hooks(forms) = &target.content else { return None };
    let text = std::str::from_utf8(step.after.as_deref()?).ok()?;
    codex::trusting(roots, &target.file, text.trim_start_matches(BOM), forms)
}

fn installed(
    options: &InstallOptions<'_>,
    target: &Target,
    settings: &Path,
) -> Result<Step, Failure> {
    let file = &target.file;
    let real = disk::real(file)?;
    let before = disk::read(&real)?;
    let files = BackupFiles::new(options.roots, options.agent, &disk::real(settings)?, &real);
    let old = files.load()?;
    let text = decode(file, before.as_deref())?;
    let mended = text.as_deref().map(|text| match &target.content {
        Content::Hooks(forms) if options.fix => {
            forms.first().map(|form| form.dialect().mended(text))
        }
        _ => None,
    });
    let mended = mended.flatten();
    let (after, made) = with(&target.content, file, mended.as_deref().or(text.as_deref()))?;
    if let Some(flaw) = unread(target, &after) {
        return Err(ignored(options, file, flaw));
    }
    let after = after.into_bytes();
    let mut backup = match (old, &before) {
        (Some(old), Some(now)) if old.is_written(now) => old,
        (old, _) => {
            // What somebody wrote since is theirs; gate's own part is not.
            let own = old.as_ref().map(|backup| backup.receipt.made.clone()).unwrap_or_default();
            let clean = without(&target.content, file, text.as_deref(), &own)?;
            let clean = clean.map(|text| text.map(String::into_bytes));
            let before = clean.as_ref().unwrap_or(&before).as_deref();
            let mut backup = Backup::new(options.agent, options.scope, &real, before);
            backup.receipt.folders = files.folders(&real)?;
            if let Some(old) = old
                && clean.is_some()
            {
                backup.receipt.made = old.receipt.made;
            }
            backup
        }
    };
    let made = made.into_iter().filter(|path| !backup.receipt.made.contains(path));
    backup.receipt.made.extend(made.collect::<Vec<_>>());
    if let Content::Trust(trusts) = &target.content {
        backup.receipt.trust = trusts.iter().map(|trust| trust.key.clone()).collect();
    }
    let backup = Some(backup.with_written(&after));
    let (file, after, folders) = (file.clone(), Some(after), Vec::new());
    Ok(Step { file, real, before, after, files, backup, folders })
}

/// The first thing in a text that the client does not read, though gate does: the client
/// would run no hook of the file.
pub(super) fn unread(target: &Target, text: &str) -> Option<Flaw> {
    let Content::Hooks(forms) = &target.content else { return None };
    let form = forms.first()?;
    let flaw = form.dialect().unread(text)?;
    let name = form.agent.name();
    let message =
        format!("{}: {name} does not read such a file, and runs no hook of it", flaw.message);
    Some(Flaw { message, ..flaw })
}

/// Settings that the client would ignore, hook and all.
fn ignored(options: &InstallOptions<'_>, file: &Path, flaw: Flaw) -> Failure {
    let failure = Failure { code: "settings-ignored".to_owned(), ..broken_settings(file, flaw) };
    let (name, scope) = (options.agent.name(), options.scope.name());
    failure.hint(format!(
        "`gate install {name} --{scope} --fix` takes that out of the file, and `gate uninstall` puts it back"
    ))
}

/// Takes the trust away that gate wrote for hooks.
fn distrusted(roots: &Roots, settings: &Target) -> Result<Option<Step>, Failure> {
    let config = codex::config(roots);
    let (real, of) = (disk::real(&config)?, disk::real(&settings.file)?);
    let backup = BackupFiles::new(roots, Agent::Codex, &of, &real).load()?;
    let keys = backup.map(|backup| backup.receipt.trust).unwrap_or_default();
    if keys.is_empty() {
        return Ok(None);
    }
    let trusts = keys.into_iter().map(Trust::from_key).collect();
    let target = Target { file: config, content: Content::Trust(trusts) };
    uninstalled(Agent::Codex, roots, &target, &settings.file).map(Some)
}

fn uninstalled(
    agent: Agent,
    roots: &Roots,
    target: &Target,
    settings: &Path,
) -> Result<Step, Failure> {
    let file = &target.file;
    let real = disk::real(file)?;
    let before = disk::read(&real)?;
    let files = BackupFiles::new(roots, agent, &disk::real(settings)?, &real);
    let old = files.load()?;
    let folders = old.as_ref().map(|backup| backup.receipt.folders.clone()).unwrap_or_default();
    let after = match (old, &before) {
        (_, None) => None,
        (Some(old), Some(now)) if old.is_written(now) => {
            let Backup { receipt, before } = old;
            receipt.existed.then_some(before)
        }
        (old, Some(now)) => {
            let receipt = old.map(|backup| backup.receipt);
            let made = receipt.as_ref().map(|receipt| receipt.made.as_slice()).unwrap_or_default();
            let text = decode(file, before.as_deref())?;
            let clean = without(&target.content, file, text.as_deref(), made)?;
            let is_ours = receipt.as_ref().is_some_and(|receipt| !receipt.existed);
            match clean {
                None => Some(now.clone()),
                Some(clean) => {
                    clean.filter(|text| !(is_ours && is_nothing(text))).map(String::into_bytes)
                }
            }
        }
    };
    let (file, backup) = (file.clone(), None);
    Ok(Step { file, real, before, after, files, backup, folders })
}

fn is_nothing(text: &str) -> bool {
    let text = text.trim_start_matches(BOM).trim();
    text.is_empty() || text.strip_prefix('{').is_some_and(|rest| rest.trim() == "}")
}

/// The text with gate's part, and what was made for it.
fn with(
    content: &Content,
    file: &Path,
    text: Option<&str>,
) -> Result<(String, Vec<String>), Failure> {
    let (mark, body) = split_mark(text.unwrap_or_default());
    let merged = match content {
        Content::Hooks(forms) => hooks::merged(forms, body),
        Content::Trust(trusts) => trust::merged(trusts, body),
        Content::Own { text: own, mark } => {
            return match text {
                Some(text) if !text.contains(mark) => Err(foreign_file(file)),
                _ => Ok((own.clone(), Vec::new())),
            };
        }
    };
    let merged = merged.map_err(|flaw| broken_settings(file, flaw))?;
    Ok((format!("{mark}{}", merged.text), merged.made))
}

fn foreign_file(file: &Path) -> Failure {
    let file = file.display().to_string();
    let message = format!("{file} is there and is not gate's");
    let failure = Failure::usage("file-foreign", message);
    Failure { file: Some(file), ..failure }.hint("move it away, then install again")
}

/// The text without gate's part: none if it holds none, none inside if the file was nothing
/// else.
#[expect(clippy::option_option, reason = "nothing of gate's, and nothing but gate's")]
fn without(
    content: &Content,
    file: &Path,
    text: Option<&str>,
    made: &[String],
) -> Result<Option<Option<String>>, Failure> {
    let Some(text) = text else { return Ok(None) };
    let (bom, body) = split_mark(text);
    let clean = match content {
        Content::Hooks(forms) => hooks::without(forms, body, made),
        Content::Trust(trusts) => trust::without(trusts, body, made),
        Content::Own { mark, .. } => return Ok(text.contains(mark).then_some(None)),
    };
    let clean = clean.map_err(|flaw| broken_settings(file, flaw))?;
    Ok(clean.map(|clean| Some(format!("{bom}{clean}"))))
}

#[cfg(test)]
mod tests;
