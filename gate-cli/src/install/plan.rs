//! Plans an installation, or its removal: worked out whole before anything is written.

use std::path::{Path, PathBuf};

use super::json::Flaw;
use super::receipt::{Kept, Shelf};
use super::trust::Trust;
use super::{Commands, Content, Roots, Scope, Target, codex, disk, hooks, targets, trust};
use crate::agent::Agent;
use crate::failure::Failure;

/// Parameters of a plan.
pub(crate) struct Wish<'a> {
    pub(crate) agent: Agent,
    pub(crate) scope: Scope,
    pub(crate) roots: &'a Roots,
    /// The program that is going to be called.
    pub(crate) program: &'a Path,
    /// True if Codex is told to trust the hooks.
    pub(crate) trust: bool,
    /// True if what the client does not read of its settings is taken out.
    pub(crate) fix: bool,
}

/// All that changes.
pub(crate) struct Plan {
    pub(crate) steps: Vec<Step>,
}

/// One file.
pub(crate) struct Step {
    /// As the client names it.
    pub(crate) file: PathBuf,
    /// The target of the link.
    real: PathBuf,
    pub(crate) before: Option<Vec<u8>>,
    /// None: the file goes.
    pub(crate) after: Option<Vec<u8>>,
    shelf: Shelf,
    /// The receipt that is stored afterwards.
    kept: Option<Kept>,
    /// The folders that go with the file where they are empty.
    folders: Vec<PathBuf>,
}

impl Step {
    pub(crate) fn is_change(&self) -> bool {
        self.before != self.after
    }

    /// Path of the backup, once the step is done.
    pub(crate) fn backup(&self) -> Option<PathBuf> {
        self.kept.as_ref().filter(|kept| kept.receipt.existed).map(|_| self.shelf.backup())
    }
}

impl Plan {
    /// Puts gate in front of an agent's stop, where its sessions begin, and at each prompt.
    ///
    /// # Errors
    ///
    /// Settings that cannot be read, are broken, or have another shape.
    pub(crate) fn install(wish: &Wish<'_>) -> Result<Self, Failure> {
        let commands = Commands::new(wish.agent, wish.scope, wish.program);
        let mut steps = Vec::new();
        for target in targets(&commands, wish.roots, wish.scope) {
            let step = installed(wish, &target, &target.file)?;
            if wish.trust
                && let Some(trust) = trusting(wish.roots, &target, &step)
            {
                let trust = installed(wish, &trust, &target.file)?;
                steps.extend([step, trust]);
            } else {
                steps.push(step);
            }
        }
        Ok(Self { steps })
    }

    /// Takes gate away again.
    ///
    /// # Errors
    ///
    /// As of [`Self::install`].
    pub(crate) fn uninstall(agent: Agent, scope: Scope, roots: &Roots) -> Result<Self, Failure> {
        let mut steps = Vec::new();
        for target in targets(&Commands::unwritten(agent), roots, scope) {
            if agent == Agent::Codex {
                steps.extend(distrusted(roots, &target)?);
            }
            steps.push(uninstalled(agent, roots, &target, &target.file)?);
        }
        Ok(Self { steps })
    }

    pub(crate) fn is_change(&self) -> bool {
        self.steps.iter().any(Step::is_change)
    }

    /// Does it.
    ///
    /// # Errors
    ///
    /// A file that has changed meanwhile, or that cannot be written.
    pub(crate) fn apply(&self) -> Result<(), Failure> {
        self.steps.iter().try_for_each(Step::apply)
    }
}

impl Step {
    fn apply(&self) -> Result<(), Failure> {
        if self.is_change() {
            if disk::read(&self.real)? != self.before {
                let message =
                    format!("{} changed just now; it was not touched", self.file.display());
                return Err(Failure::internal("file-changed", message).hint("try again"));
            }
            if let Some(kept) = &self.kept {
                self.shelf.keep(kept)?;
            }
            match &self.after {
                Some(bytes) => disk::write(&self.real, bytes)?,
                None => disk::remove(&self.real, &self.folders)?,
            }
        }
        if self.kept.is_none() {
            self.shelf.forget();
        }
        Ok(())
    }
}

/// The files and folders of an agent's that are there because gate made them.
pub(super) fn made(agent: Agent, roots: &Roots) -> Vec<PathBuf> {
    let kept = |target: Target| {
        let real = disk::real(&target.file).ok()?;
        let receipt = Shelf::new(roots, agent, &real, &real).load().ok()??.receipt;
        let file = (!receipt.existed).then_some(target.file);
        Some(receipt.folders.into_iter().chain(file))
    };
    let commands = Commands::unwritten(agent);
    let all = Scope::ALL.into_iter().flat_map(|scope| targets(&commands, roots, scope));
    all.filter_map(kept).flatten().collect()
}

/// True if gate wrote words of trust for these settings of Codex's.
///
/// # Errors
///
/// The receipts cannot be read.
pub(super) fn gave_trust(roots: &Roots, scope: Scope) -> Result<bool, Failure> {
    let config = disk::real(&codex::config(roots))?;
    let settings = targets(&Commands::unwritten(Agent::Codex), roots, scope);
    let given = settings.iter().map(|target| {
        let kept = Shelf::new(roots, Agent::Codex, &disk::real(&target.file)?, &config).load()?;
        Ok(kept.is_some_and(|kept| !kept.receipt.trust.is_empty()))
    });
    Ok(given.collect::<Result<Vec<_>, Failure>>()?.contains(&true))
}

/// The trust in the hooks that a step puts into a file.
fn trusting(roots: &Roots, target: &Target, step: &Step) -> Option<Target> {
    let Content::Hooks(forms) = &target.content else { return None };
    let text = std::str::from_utf8(step.after.as_deref()?).ok()?;
    codex::trusting(roots, &target.file, text.trim_start_matches(BOM), forms)
}

fn installed(wish: &Wish<'_>, target: &Target, settings: &Path) -> Result<Step, Failure> {
    let file = &target.file;
    let real = disk::real(file)?;
    let before = disk::read(&real)?;
    let shelf = Shelf::new(wish.roots, wish.agent, &disk::real(settings)?, &real);
    let old = shelf.load()?;
    let text = text(file, before.as_deref())?;
    let mended = text.as_deref().map(|text| match &target.content {
        Content::Hooks(forms) if wish.fix => forms.first().map(|form| form.dialect.mended(text)),
        _ => None,
    });
    let mended = mended.flatten();
    let (after, made) = with(&target.content, file, mended.as_deref().or(text.as_deref()))?;
    if let Some(flaw) = unread(target, &after) {
        return Err(ignored(wish, file, flaw));
    }
    let after = after.into_bytes();
    let fresh = |before: Option<&[u8]>| Kept::new(wish.agent, wish.scope, &real, before);
    let mut kept = match (old, &before) {
        (Some(old), Some(now)) if old.wrote(now) => old,
        (old, _) => {
            // What somebody wrote since is theirs; gate's own part is not.
            let own = old.as_ref().map(|kept| kept.receipt.made.clone()).unwrap_or_default();
            let clean = without(&target.content, file, text.as_deref(), &own)?;
            let clean = clean.map(|text| text.map(String::into_bytes));
            let mut kept = fresh(clean.as_ref().unwrap_or(&before).as_deref());
            kept.receipt.folders = shelf.folders(&real)?;
            if let Some(old) = old
                && clean.is_some()
            {
                kept.receipt.made = old.receipt.made;
            }
            kept
        }
    };
    let made = made.into_iter().filter(|path| !kept.receipt.made.contains(path));
    kept.receipt.made.extend(made.collect::<Vec<_>>());
    if let Content::Trust(trusts) = &target.content {
        kept.receipt.trust = trusts.iter().map(|trust| trust.key.clone()).collect();
    }
    let kept = Some(kept.writing(&after));
    let (file, after, folders) = (file.clone(), Some(after), Vec::new());
    Ok(Step { file, real, before, after, shelf, kept, folders })
}

/// The first thing in a text that the client does not read, though gate does: the client
/// would run no hook of the file.
pub(super) fn unread(target: &Target, text: &str) -> Option<Flaw> {
    let Content::Hooks(forms) = &target.content else { return None };
    let form = forms.first()?;
    let flaw = form.dialect.unread(text)?;
    let name = form.agent.name();
    let message =
        format!("{}: {name} does not read such a file, and runs no hook of it", flaw.message);
    Some(Flaw { message, ..flaw })
}

/// Settings that the client would ignore, hook and all.
fn ignored(wish: &Wish<'_>, file: &Path, flaw: Flaw) -> Failure {
    let failure = Failure { code: "settings-ignored".to_owned(), ..broken(file, flaw) };
    let (name, scope) = (wish.agent.name(), wish.scope.name());
    failure.hint(format!(
        "`gate install {name} --{scope} --fix` takes that out of the file, and `gate uninstall` puts it back"
    ))
}

/// Takes the trust away that gate wrote for hooks.
fn distrusted(roots: &Roots, settings: &Target) -> Result<Option<Step>, Failure> {
    let config = codex::config(roots);
    let (real, of) = (disk::real(&config)?, disk::real(&settings.file)?);
    let kept = Shelf::new(roots, Agent::Codex, &of, &real).load()?;
    let keys = kept.map(|kept| kept.receipt.trust).unwrap_or_default();
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
    let shelf = Shelf::new(roots, agent, &disk::real(settings)?, &real);
    let old = shelf.load()?;
    let folders = old.as_ref().map(|kept| kept.receipt.folders.clone()).unwrap_or_default();
    let after = match (old, &before) {
        (_, None) => None,
        (Some(old), Some(now)) if old.wrote(now) => {
            let Kept { receipt, before } = old;
            receipt.existed.then_some(before)
        }
        (old, Some(now)) => {
            let receipt = old.map(|kept| kept.receipt);
            let made = receipt.as_ref().map(|receipt| receipt.made.as_slice()).unwrap_or_default();
            let text = text(file, before.as_deref())?;
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
    let (file, kept) = (file.clone(), None);
    Ok(Step { file, real, before, after, shelf, kept, folders })
}

fn is_nothing(text: &str) -> bool {
    let text = text.trim_start_matches(BOM).trim();
    text.is_empty() || text.strip_prefix('{').is_some_and(|rest| rest.trim() == "}")
}

const BOM: char = '\u{feff}';

pub(super) fn text(file: &Path, bytes: Option<&[u8]>) -> Result<Option<String>, Failure> {
    let text = bytes.map(|bytes| String::from_utf8(bytes.to_owned())).transpose();
    text.map_err(|error| {
        let valid = &bytes.unwrap_or_default()[..error.utf8_error().valid_up_to()];
        let line = valid.iter().filter(|&&byte| byte == b'\n').count() + 1;
        let message = "it is not UTF-8".to_owned();
        broken(file, Flaw { line, key: None, message })
    })
}

/// The text with gate's part, and what was made for it.
fn with(
    content: &Content,
    file: &Path,
    text: Option<&str>,
) -> Result<(String, Vec<String>), Failure> {
    let merge = |merged: &dyn Fn(&str) -> Result<hooks::Merged, Flaw>| {
        let (bom, text) = parts(text.unwrap_or_default());
        let merged = merged(text).map_err(|flaw| broken(file, flaw))?;
        Ok((format!("{bom}{}", merged.text), merged.made))
    };
    match content {
        Content::Hooks(forms) => merge(&|text| hooks::merged(forms, text)),
        Content::Trust(trusts) => merge(&|text| trust::merged(trusts, text)),
        Content::Own { text: own, mark } => match text {
            Some(text) if !text.contains(mark) => {
                let message = format!("{} is there and is not gate's", file.display());
                let failure = Failure::usage("file-foreign", message);
                let shown = Some(file.display().to_string());
                Err(Failure { file: shown, ..failure }.hint("move it away, then install again"))
            }
            _ => Ok((own.clone(), Vec::new())),
        },
    }
}

/// The text without gate's part: none where it holds none, none inside where
/// the file was nothing else.
#[expect(clippy::option_option, reason = "nothing of gate's, and nothing but gate's")]
fn without(
    content: &Content,
    file: &Path,
    text: Option<&str>,
    made: &[String],
) -> Result<Option<Option<String>>, Failure> {
    let Some(text) = text else { return Ok(None) };
    let (bom, body) = parts(text);
    let clean = match content {
        Content::Hooks(forms) => hooks::without(forms, body, made),
        Content::Trust(trusts) => trust::without(trusts, body, made),
        Content::Own { mark, .. } => return Ok(text.contains(mark).then_some(None)),
    };
    let clean = clean.map_err(|flaw| broken(file, flaw))?;
    Ok(clean.map(|clean| Some(format!("{bom}{clean}"))))
}

/// A byte order mark, and the text behind it.
pub(super) fn parts(text: &str) -> (&str, &str) {
    text.split_at(if text.starts_with(BOM) { BOM.len_utf8() } else { 0 })
}

/// Settings that the person has to put right first.
pub(super) fn broken(file: &Path, flaw: Flaw) -> Failure {
    let Flaw { line, key, message } = flaw;
    // The file is named in front of a message that has a key.
    let file = file.display().to_string();
    let place = if key.is_some() { format!("line {line}") } else { format!("{file}, line {line}") };
    let message = format!("{place}: {message}; nothing was changed");
    let failure = Failure::usage("settings-broken", message);
    Failure { file: Some(file), line: Some(line), key, ..failure }
}

#[cfg(test)]
mod tests;
