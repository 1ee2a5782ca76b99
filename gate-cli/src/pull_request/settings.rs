//! The settings that judge a change: those of its base.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Component, Path, PathBuf};

use gate_checks::Temporary;
use gate_checks::baseline::Baseline;
use gate_checks::project::{Detected, detect_with_ci};
use gate_checks::worktree::{Kind, WorkTree};
use gate_core::Policy;
use gate_core::config::{self, Layer, Origin, Resolved};
use gate_core::decide::policy::{CheckPolicy, Mode};
use gate_platform::RealPath;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Map, Value};

use super::base::unreadable_base;
use crate::failure::Failure;
use crate::settings::{FILE, Places, Selection, layers_with};

/// The origin of the settings that judge.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum SettingsFrom {
    /// The gate.toml of the base.
    Base,
    /// The change's own: the base has none, or one that cannot be read.
    Change,
    /// Neither has one: what `gate init` finds in the base.
    Detected,
}

/// The check of changes that get around the other checks.
pub(super) const INTEGRITY: &str = "integrity";

/// Keys of a check that say how it runs, and not what it asks for.
const NEUTRAL_KEYS: [&str; 4] = ["timeout_ms", "hermetic", "priority", "reveal"];

/// The most links that a gate.toml of the base may stand behind.
const MAX_LINKS: usize = 8;

/// The settings that judge a change.
#[derive(Debug)]
pub(super) struct JudgingSettings {
    pub(super) resolved: Resolved,
    /// The project's folder.
    pub(super) project: PathBuf,
    pub(super) from: SettingsFrom,
    /// A sentence, if these are not the base's settings.
    pub(super) note: Option<String>,
    /// Ways in which the change's own gate.toml asks for less than the base's.
    pub(super) weaker: Vec<String>,
    /// The change's own gate.toml differs from the base's.
    pub(super) is_changed: bool,
    /// The gate.toml, relative to the repository's root.
    pub(super) file: String,
}

/// Finds the settings that judge a change.
pub(super) struct SettingsSearch<'s> {
    pub(super) places: &'s Places,
    pub(super) tree: &'s WorkTree,
    /// The tree of the base; `None` if the change has no base.
    pub(super) baseline: Option<&'s Baseline>,
    pub(super) base_name: &'s str,
    /// The text of the settings for what a project was found to have.
    pub(super) detected_settings: fn(&Detected) -> String,
}

impl SettingsSearch<'_> {
    /// The settings of the base. The change's own judge if the base has none that can be used, and the
    /// settings that `gate init` would write if neither has any.
    ///
    /// # Errors
    ///
    /// Code 2: neither the base's settings nor the change's can be used, or no check is found.
    pub(super) fn settings(&self) -> Result<JudgingSettings, Failure> {
        let change = ChangeSettings::read(self.places);
        let Some(BaseSettings { file, text }) = self.base_settings()? else {
            return match change? {
                Some(change) => Ok(change.judging(
                    self.tree,
                    self.baseline.map(|_| {
                        let name = self.base_name;
                        format!("a first gate.toml: {name} has none, so this change's own judges")
                    }),
                )),
                None => self.detect_settings(),
            };
        };
        match (resolve(self.places, Some((&file, &text))), change) {
            (Ok(resolved), change) => Ok(self.judging(resolved, &file, &text, &change)),
            // Otherwise no change could mend broken settings of the base.
            (Err(failure), Ok(Some(change))) => {
                let cause = unusable(&file, self.tree, &failure);
                let name = self.base_name;
                let note = format!("on {name}, {cause}: this change's own settings judge");
                Ok(change.judging(self.tree, Some(note)))
            }
            (Err(failure), Ok(None)) | (Err(_), Err(failure)) => Err(failure),
        }
    }

    /// The settings of the base, compared with the change's own.
    fn judging(
        &self,
        resolved: Resolved,
        file: &Path,
        text: &str,
        change: &Result<Option<ChangeSettings>, Failure>,
    ) -> JudgingSettings {
        let weaker = match change {
            Ok(Some(change)) => weaker_settings(&resolved.policy, &change.resolved.policy),
            Ok(None) => vec![format!("{} is gone", path_in_tree(file, self.tree))],
            Err(failure) => vec![unusable(file, self.tree, failure)],
        };
        JudgingSettings {
            resolved,
            project: settings_folder(file, self.places),
            from: SettingsFrom::Base,
            note: None,
            weaker,
            is_changed: fs::read_to_string(file).ok().as_deref() != Some(text),
            file: path_in_tree(file, self.tree),
        }
    }

    /// The nearest gate.toml of the base, from the folder up to the repository's root.
    fn base_settings(&self) -> Result<Option<BaseSettings>, Failure> {
        let Some(base) = self.baseline else { return Ok(None) };
        let own_folder = &self.places.folder;
        let full_path = own_folder.real_path().unwrap_or_else(|_| own_folder.clone());
        for folder in full_path.ancestors() {
            let Ok(folder_in_tree) = folder.strip_prefix(self.tree.root()) else { break };
            let path = folder_in_tree.join(FILE);
            let Some(text) = self.base_text(base, &path)? else { continue };
            return Ok(Some(BaseSettings { file: self.tree.root().join(path), text }));
        }
        Ok(None)
    }

    /// The text of a file of the base, behind a link if it is one.
    fn base_text(&self, base: &Baseline, path: &Path) -> Result<Option<String>, Failure> {
        let content =
            |path: &Path| base.content(self.tree, path).map_err(|error| unreadable_base(&error));
        let mut path = path.to_owned();
        let Some(mut file) = content(&path)? else { return Ok(None) };
        for _ in 0..MAX_LINKS {
            if file.kind != Kind::Link {
                return Ok(Some(String::from_utf8_lossy(&file.bytes).into_owned()));
            }
            let target = String::from_utf8_lossy(&file.bytes).into_owned();
            let Some(target_path) = link_target(&path, Path::new(&target)) else { break };
            let Some(target_file) = content(&target_path)? else { break };
            (path, file) = (target_path, target_file);
        }
        let message =
            format!("{} of {} is a link that leads nowhere", path.display(), self.base_name);
        Err(Failure::usage("config-unreadable", message))
    }

    /// The settings that `gate init` would write for the base.
    fn detect_settings(&self) -> Result<JudgingSettings, Failure> {
        let folder = &self.places.folder;
        let detected = match self.baseline {
            Some(base) => {
                let base_tree = Temporary::new("base").map_err(|error| {
                    let message = format!("no folder for the base can be made: {error}");
                    Failure::internal("ci-base-unreadable", message)
                })?;
                base.lay_out(self.tree, base_tree.path())
                    .map_err(|error| unreadable_base(&error))?;
                let folder_in_tree = folder.strip_prefix(self.tree.root()).unwrap_or(Path::new(""));
                detect_with_ci(&base_tree.path().join(folder_in_tree))
            }
            None => detect_with_ci(folder),
        };
        let text = (self.detected_settings)(&detected);
        let resolved = resolve(self.places, Some((&folder.join(FILE), &text)))?;
        let commands: Vec<_> = commands(&resolved.policy).collect();
        if commands.is_empty() {
            let message =
                "there is no gate.toml, and no tests that gate knows how to run were found";
            return Err(Failure::usage("ci-no-checks", message)
                .hint("`gate init` writes one; name the command that runs your tests there"));
        }
        let note = format!(
            "there is no gate.toml: what `gate init` finds on {} judges: {}",
            self.base_name,
            commands.join(", ")
        );
        Ok(JudgingSettings {
            resolved,
            project: folder.clone(),
            from: SettingsFrom::Detected,
            note: Some(note),
            weaker: Vec::new(),
            is_changed: false,
            file: FILE.to_owned(),
        })
    }
}

/// The settings file of the base.
struct BaseSettings {
    /// Its path in the tree, where it may be gone.
    file: PathBuf,
    text: String,
}

/// The change's own settings, with their file.
struct ChangeSettings {
    file: PathBuf,
    resolved: Resolved,
}

impl ChangeSettings {
    fn read(places: &Places) -> Result<Option<Self>, Failure> {
        let Some(file) = places.project_file()? else { return Ok(None) };
        Ok(Some(Self { resolved: resolve(places, None)?, file }))
    }

    fn judging(self, tree: &WorkTree, note: Option<String>) -> JudgingSettings {
        JudgingSettings {
            file: path_in_tree(&self.file, tree),
            project: self.file.parent().unwrap_or(Path::new("/")).to_owned(),
            resolved: self.resolved,
            from: SettingsFrom::Change,
            is_changed: false,
            note,
            weaker: Vec::new(),
        }
    }
}

/// All settings, with this text in the place of the project's file.
fn resolve(places: &Places, project: Option<(&Path, &str)>) -> Result<Resolved, Failure> {
    let layer = project.map(|(file, text)| Layer::parse(Origin::Project(file.to_owned()), text));
    // Changes that no run of tests shows count whether the settings name this check or not.
    let mut layers = vec![Layer::checks([INTEGRITY])?];
    layers.extend(layers_with(places, &Selection::default(), layer.transpose()?)?);
    Ok(config::resolve(&layers, None)?)
}

/// The path that a link leads to, within the repository.
fn link_target(link: &Path, target: &Path) -> Option<PathBuf> {
    let mut path = link.parent()?.to_owned();
    for component in target.components() {
        match component {
            Component::Normal(name) => path.push(name),
            Component::CurDir => {}
            Component::ParentDir => path.pop().then_some(())?,
            Component::RootDir | Component::Prefix(_) => return None,
        }
    }
    Some(path)
}

/// The commands of the checks, as people write them.
fn commands(policy: &Policy) -> impl Iterator<Item = String> {
    let checks = policy.checks.values().filter(|check| !check.command.is_empty());
    checks.map(|check| format!("`{}`", check.command.join(" ")))
}

/// The ways in which the change's settings ask for less than the base's.
fn weaker_settings(base: &Policy, change: &Policy) -> Vec<String> {
    let required = base.checks.iter().filter(|(_, check)| check.mode == Mode::Require);
    let mut weaker: Vec<_> = required
        .flat_map(|(name, check)| match change.checks.get(name) {
            None => vec![format!("checks.{name} is gone")],
            Some(changed) => weaker_keys(name, check, changed),
        })
        .collect();
    let allowances = change.integrity.allow.iter();
    let new_allowances = allowances.filter(|allowance| !base.integrity.allow.contains(allowance));
    weaker.extend(
        new_allowances
            .map(|allowance| format!("integrity.allow has a new entry: {}", allowance.reason)),
    );
    let has_more =
        |longer: &[String], shorter: &[String]| longer.iter().any(|name| !shorter.contains(name));
    if has_more(&base.integrity.protect, &change.integrity.protect) {
        weaker.push("guarded names less".to_owned());
    }
    if has_more(&change.tree.ignore, &base.tree.ignore) {
        weaker.push("tree.ignore names more".to_owned());
    }
    weaker
}

/// The keys of a required check that differ, without neutral ones and those that ask for more.
fn weaker_keys(name: &str, base: &CheckPolicy, change: &CheckPolicy) -> Vec<String> {
    let table = |check: &CheckPolicy| match serde_json::to_value(check) {
        Ok(Value::Object(table)) => table,
        _ => Map::new(),
    };
    let (base_table, change_table) = (table(base), table(change));
    let keys: BTreeSet<_> = base_table.keys().chain(change_table.keys()).collect();
    let weaker = keys.into_iter().filter(|key| match key.as_str() {
        key if NEUTRAL_KEYS.contains(&key) => false,
        // To switch the control on, or to name more occasions, asks for more.
        "control" => base.control && !change.control,
        "when" => base.when.iter().any(|place| !change.when.contains(place)),
        key => base_table.get(key) != change_table.get(key),
    });
    weaker.map(|key| format!("checks.{name}.{key} is another one")).collect()
}

fn unusable(file: &Path, tree: &WorkTree, failure: &Failure) -> String {
    let line = failure.line.map(|line| format!(":{line}")).unwrap_or_default();
    format!("{}{line} cannot be used: {}", path_in_tree(file, tree), failure.message)
}

/// A file's path relative to the repository's root.
fn path_in_tree(file: &Path, tree: &WorkTree) -> String {
    file.strip_prefix(tree.root()).unwrap_or(file).display().to_string()
}

/// The folder of the settings; the caller's if the change has taken it away.
fn settings_folder(file: &Path, places: &Places) -> PathBuf {
    let folder = file.parent().filter(|folder| folder.is_dir());
    folder.map_or_else(|| places.folder.clone(), Path::to_owned)
}
