//! Plans an installation, or its removal. The plan is complete before anything is written.

use std::path::{Path, PathBuf};

use super::client::{Content, Target};
use super::clients::targets;
use super::command::Commands;
use super::hooks::Merged;
use super::json::Flaw;
use super::program::{HookProgram, copy_of_gate, is_same_file};
use super::receipt::{self, Backup, BackupFiles};
use super::roots::Roots;
use super::scope::Scope;
use super::settings_text::{BOM, broken_settings, decode, split_mark};
use super::trust::HookTrust;
use super::{codex, disk, hooks, trust};
use crate::agent::Agent;
use crate::failure::Failure;

/// Parameters of a plan.
pub(crate) struct InstallOptions<'a> {
    pub(crate) agent: Agent,
    pub(crate) scope: Scope,
    pub(crate) roots: &'a Roots,
    /// The program that hooks are going to call.
    pub(crate) program: &'a HookProgram,
    /// The hooks are marked as trusted for Codex.
    pub(crate) trust: bool,
    /// Parts of the settings that the client does not read are taken out.
    pub(crate) fix: bool,
}

/// The changes of an installation, or of its removal.
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

/// The change of one file.
pub(crate) struct Step {
    /// The path by which the client names it.
    pub(crate) file: PathBuf,
    /// The file that the path leads to.
    real_file: PathBuf,
    pub(crate) old_bytes: Option<Vec<u8>>,
    /// `None` if the file goes.
    pub(crate) new_bytes: Option<Vec<u8>>,
    backup_files: BackupFiles,
    /// The backup to save. Without one, a saved backup is deleted.
    backup: Option<Backup>,
    /// The folders that go with the file if they are empty.
    folders: Vec<PathBuf>,
}

impl Step {
    pub(crate) fn is_change(&self) -> bool {
        self.old_bytes != self.new_bytes
    }

    /// Path of the backup, once the step is done.
    pub(crate) fn backup(&self) -> Option<PathBuf> {
        self.backup
            .as_ref()
            .filter(|backup| backup.receipt.existed)
            .map(|_| self.backup_files.backup_file())
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
            let step = install_step(options, &target, &target.file)?;
            if options.trust
                && let Some(trust) = trust_target(options.roots, &target, &step)
            {
                let trust_step = install_step(options, &trust, &target.file)?;
                steps.extend([step, trust_step]);
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
    /// Those of [`Self::install`].
    pub(crate) fn uninstall(agent: Agent, scope: Scope, roots: &Roots) -> Result<Self, Failure> {
        let mut steps = Vec::new();
        for target in all_targets(&Commands::unwritten(agent), roots, scope)? {
            if agent == Agent::Codex {
                steps.extend(distrust_step(roots, &target)?);
            }
            steps.push(uninstall_step(agent, roots, &target, &target.file)?);
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
        // In this order, the program that a hook calls exists at each moment.
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
    let targets = targets(commands, roots, scope);
    if !targets.is_empty() {
        return Ok(targets);
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
        let planned_files: Vec<_> = steps.iter().map(|step| step.real_file.clone()).collect();
        let is_in_path = roots.all_in_path("gate").any(|path| is_same_file(&path, &copy));
        if !copy.is_file() || is_in_path || is_called(&copy, roots, &planned_files)? {
            return Ok(Self::Keep);
        }
        Ok(Self::Remove(copy))
    }
}

/// A file that gate changed, other than the planned ones, calls the copy of gate.
fn is_called(copy: &Path, roots: &Roots, planned_files: &[PathBuf]) -> Result<bool, Failure> {
    let word = copy.display().to_string();
    let changed_files = receipt::changed_files(roots)?;
    for file in changed_files.iter().filter(|file| !planned_files.contains(file)) {
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
            if disk::read(&self.real_file)? != self.old_bytes {
                let message =
                    format!("{} changed just now; it was not touched", self.file.display());
                return Err(Failure::internal("file-changed", message).hint("try again"));
            }
            if let Some(backup) = &self.backup {
                self.backup_files.save(backup)?;
            }
            match &self.new_bytes {
                Some(bytes) => disk::write(&self.real_file, bytes)?,
                None => disk::remove(&self.real_file, &self.folders)?,
            }
        }
        if self.backup.is_none() {
            self.backup_files.delete();
        }
        Ok(())
    }
}

/// The files and folders of an agent's that gate itself made.
pub(super) fn made_paths(agent: Agent, roots: &Roots) -> Vec<PathBuf> {
    let commands = Commands::unwritten(agent);
    let targets = Scope::ALL.into_iter().flat_map(|scope| targets(&commands, roots, scope));
    targets.filter_map(|target| made_for(agent, roots, target)).flatten().collect()
}

fn made_for(agent: Agent, roots: &Roots, target: Target) -> Option<Vec<PathBuf>> {
    let real_file = disk::real_path(&target.file).ok()?;
    let receipt = BackupFiles::new(roots, agent, &real_file, &real_file).load().ok()??.receipt;
    let mut paths = receipt.folders;
    if !receipt.existed {
        paths.push(target.file);
    }
    Some(paths)
}

/// gate wrote trust entries for these settings of Codex's.
///
/// # Errors
///
/// The receipts cannot be read.
pub(super) fn has_given_trust(roots: &Roots, scope: Scope) -> Result<bool, Failure> {
    let config = disk::real_path(&codex::config_file(roots))?;
    for target in targets(&Commands::unwritten(Agent::Codex), roots, scope) {
        let settings = disk::real_path(&target.file)?;
        let backup = BackupFiles::new(roots, Agent::Codex, &settings, &config).load()?;
        if backup.is_some_and(|backup| !backup.receipt.trust.is_empty()) {
            return Ok(true);
        }
    }
    Ok(false)
}

/// The trust in the hooks that a step puts into a file.
fn trust_target(roots: &Roots, target: &Target, step: &Step) -> Option<Target> {
    let Content::Hooks(forms) = &target.content else { return None };
    let text = std::str::from_utf8(step.new_bytes.as_deref()?).ok()?;
    codex::trust_target(roots, &target.file, text.trim_start_matches(BOM), forms)
}

/// The step that puts gate into a file. `settings` is the agent's settings file that asks for it.
fn install_step(
    options: &InstallOptions<'_>,
    target: &Target,
    settings: &Path,
) -> Result<Step, Failure> {
    let file = &target.file;
    let real_file = disk::real_path(file)?;
    let old_bytes = disk::read(&real_file)?;
    let settings = disk::real_path(settings)?;
    let backup_files = BackupFiles::new(options.roots, options.agent, &settings, &real_file);
    let old_backup = backup_files.load()?;
    let old_text = decode(file, old_bytes.as_deref())?;
    let mended_text = match (&target.content, &old_text) {
        (Content::Hooks(forms), Some(text)) if options.fix => {
            forms.first().map(|form| form.dialect().mended(text))
        }
        _ => None,
    };
    let edited = with_gate(&target.content, file, mended_text.as_deref().or(old_text.as_deref()))?;
    if let Some(flaw) = first_unread(target, &edited.text) {
        return Err(ignored_settings(options, file, flaw));
    }
    let new_bytes = edited.text.into_bytes();
    let mut backup = match (old_backup, &old_bytes) {
        // Nobody has changed the file since gate did, so the first backup still holds.
        (Some(old_backup), Some(bytes)) if old_backup.is_written(bytes) => old_backup,
        (old_backup, _) => {
            // Text that somebody wrote since is theirs; gate's own part is not.
            let made = old_backup.as_ref().map(|backup| backup.receipt.made.clone());
            let removal = without_gate(
                &target.content,
                file,
                old_text.as_deref(),
                &made.clone().unwrap_or_default(),
            )?;
            let original = match &removal {
                Removal::NothingThere => old_bytes.as_deref(),
                Removal::WholeFile => None,
                Removal::Text(text) => Some(text.as_bytes()),
            };
            let mut backup = Backup::new(options.agent, options.scope, &real_file, original);
            backup.receipt.folders = backup_files.folders(&real_file)?;
            if !matches!(removal, Removal::NothingThere) {
                backup.receipt.made = made.unwrap_or_default();
            }
            backup
        }
    };
    for path in edited.made {
        if !backup.receipt.made.contains(&path) {
            backup.receipt.made.push(path);
        }
    }
    if let Content::Trust(trusts) = &target.content {
        backup.receipt.trust = trusts.iter().map(|trust| trust.key.clone()).collect();
    }
    Ok(Step {
        file: file.clone(),
        real_file,
        old_bytes,
        backup: Some(backup.with_written(&new_bytes)),
        new_bytes: Some(new_bytes),
        backup_files,
        folders: Vec::new(),
    })
}

/// The first place in a text that the client does not read, though gate does: the client would run no
/// hook of the file.
pub(super) fn first_unread(target: &Target, text: &str) -> Option<Flaw> {
    let Content::Hooks(forms) = &target.content else { return None };
    let form = forms.first()?;
    let flaw = form.dialect().unread(text)?;
    let name = form.agent.name();
    let message =
        format!("{}: {name} does not read such a file, and runs no hook of it", flaw.message);
    Some(Flaw { message, ..flaw })
}

/// Settings that the client would ignore, hook and all.
fn ignored_settings(options: &InstallOptions<'_>, file: &Path, flaw: Flaw) -> Failure {
    let failure = Failure { code: "settings-ignored".to_owned(), ..broken_settings(file, flaw) };
    let (name, scope) = (options.agent.name(), options.scope.name());
    failure.hint(format!(
        "`gate install {name} --{scope} --fix` takes that out of the file, and `gate uninstall` puts the old file back, unless it was edited meanwhile"
    ))
}

/// The step that takes the trust away that gate wrote for hooks.
fn distrust_step(roots: &Roots, hooks: &Target) -> Result<Option<Step>, Failure> {
    let config = codex::config_file(roots);
    let settings = disk::real_path(&hooks.file)?;
    let backup_files = BackupFiles::new(roots, Agent::Codex, &settings, &disk::real_path(&config)?);
    let keys = backup_files.load()?.map(|backup| backup.receipt.trust).unwrap_or_default();
    if keys.is_empty() {
        return Ok(None);
    }
    let trusts = keys.into_iter().map(HookTrust::from_key).collect();
    let target = Target { file: config, content: Content::Trust(trusts) };
    uninstall_step(Agent::Codex, roots, &target, &hooks.file).map(Some)
}

/// The step that takes gate out of a file.
fn uninstall_step(
    agent: Agent,
    roots: &Roots,
    target: &Target,
    settings: &Path,
) -> Result<Step, Failure> {
    let file = &target.file;
    let real_file = disk::real_path(file)?;
    let old_bytes = disk::read(&real_file)?;
    let backup_files = BackupFiles::new(roots, agent, &disk::real_path(settings)?, &real_file);
    let old_backup = backup_files.load()?;
    let folders =
        old_backup.as_ref().map(|backup| backup.receipt.folders.clone()).unwrap_or_default();
    let new_bytes = match (old_backup, &old_bytes) {
        (_, None) => None,
        (Some(backup), Some(bytes)) if backup.is_written(bytes) => {
            backup.receipt.existed.then_some(backup.original)
        }
        (backup, Some(bytes)) => {
            let receipt = backup.map(|backup| backup.receipt);
            let made = receipt.as_ref().map(|receipt| receipt.made.as_slice()).unwrap_or_default();
            let old_text = decode(file, Some(bytes))?;
            // A file that gate made goes once nothing of anybody's is in it.
            let is_made_by_gate = receipt.as_ref().is_some_and(|receipt| !receipt.existed);
            match without_gate(&target.content, file, old_text.as_deref(), made)? {
                Removal::NothingThere => Some(bytes.clone()),
                Removal::WholeFile => None,
                Removal::Text(text) if is_made_by_gate && is_empty_document(&text) => None,
                Removal::Text(text) => Some(text.into_bytes()),
            }
        }
    };
    Ok(Step {
        file: file.clone(),
        real_file,
        old_bytes,
        new_bytes,
        backup_files,
        backup: None,
        folders,
    })
}

fn is_empty_document(text: &str) -> bool {
    let body = text.trim_start_matches(BOM).trim();
    body.is_empty() || body.strip_prefix('{').is_some_and(|tail| tail.trim() == "}")
}

/// The text with gate's part, and the members that were made for it.
fn with_gate(content: &Content, file: &Path, text: Option<&str>) -> Result<Merged, Failure> {
    let (byte_order_mark, body) = split_mark(text.unwrap_or_default());
    let merged = match content {
        Content::Hooks(forms) => hooks::merged(forms, body),
        Content::Trust(trusts) => trust::merged(trusts, body),
        Content::Own { text: own_text, mark } => {
            return match text {
                Some(text) if !text.contains(mark) => Err(foreign_file(file)),
                _ => Ok(Merged { text: own_text.clone(), made: Vec::new() }),
            };
        }
    };
    let Merged { text, made } = merged.map_err(|flaw| broken_settings(file, flaw))?;
    Ok(Merged { text: format!("{byte_order_mark}{text}"), made })
}

fn foreign_file(file: &Path) -> Failure {
    let file = file.display().to_string();
    let message = format!("{file} is there and is not gate's");
    let failure = Failure::usage("file-foreign", message);
    Failure { file: Some(file), ..failure }.hint("move it away, then install again")
}

/// A file without gate's part.
enum Removal {
    /// The file has nothing of gate's.
    NothingThere,
    /// The file is gate's alone.
    WholeFile,
    /// The text that is left.
    Text(String),
}

fn without_gate(
    content: &Content,
    file: &Path,
    text: Option<&str>,
    made: &[String],
) -> Result<Removal, Failure> {
    let Some(text) = text else { return Ok(Removal::NothingThere) };
    let (byte_order_mark, body) = split_mark(text);
    let cleaned = match content {
        Content::Hooks(forms) => hooks::without(forms, body, made),
        Content::Trust(trusts) => trust::without(trusts, body, made),
        Content::Own { mark, .. } => {
            return Ok(match text.contains(mark) {
                true => Removal::WholeFile,
                false => Removal::NothingThere,
            });
        }
    };
    Ok(match cleaned.map_err(|flaw| broken_settings(file, flaw))? {
        Some(body) => Removal::Text(format!("{byte_order_mark}{body}")),
        None => Removal::NothingThere,
    })
}

#[cfg(test)]
mod tests;
