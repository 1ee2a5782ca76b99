//! The packages that `cargo test` tests, and the sources that it builds with their tests.

use std::path::{Path, PathBuf};

use super::place::Place;
use super::place::{name, text};
use super::rust_source::modules;
use crate::worktree::Globs;

/// A package, and what its manifest says of tests.
pub(super) struct Package {
    pub(super) folder: PathBuf,
    name: String,
    pub(super) autotests: bool,
    /// The library's file, which need not be there.
    library: String,
    /// The library's own tests are run.
    tests_library: bool,
    /// The program's own tests are run, and it is where it usually is.
    tests_program: bool,
    /// The tests in `tests/` that the manifest has settings for.
    set: Vec<String>,
}

/// The most sources of one package that are looked at.
const MAX_SOURCES: usize = 500;

impl Package {
    /// The package that is tested: the one that the command names, else that of
    /// the nearest manifest, else the first member of its workspace.
    pub(super) fn tested(place: &Place<'_>) -> Option<Self> {
        let base = base(place)?;
        let wanted = place.value(&["-p", "--package"]);
        if let Some(package) = Self::read(&base)
            && wanted.is_none_or(|name| package.name == name)
        {
            return Some(package);
        }
        let mut members = members(place, &base)?;
        match wanted {
            Some(name) => members.find(|(package, _)| package.name == name),
            None => members.find(|(_, is_member)| *is_member),
        }
        .map(|(package, _)| package)
    }

    /// The other tested packages in which files changed since the baseline.
    pub(super) fn changed(&self, place: &Place<'_>) -> Vec<Self> {
        let others = place.has(&["--workspace", "--all"])
            || base(place).is_some_and(|base| Self::read(&base).is_none());
        if !others || place.value(&["-p", "--package"]).is_some() {
            return Vec::new();
        }
        let base = base(place);
        let members = base.as_deref().and_then(|base| members(place, base));
        let members = members.into_iter().flatten().filter(|(_, is_member)| *is_member);
        let members = members.map(|(package, _)| package);
        members
            .filter(|package| package.folder != self.folder && package.has_changes(place))
            .collect()
    }

    fn has_changes(&self, place: &Place<'_>) -> bool {
        let mut changed = place.changed.edited.iter().chain(place.changed.added);
        changed.any(|file| {
            name(file).ends_with(".rs") && place.root.join(file).starts_with(&self.folder)
        })
    }

    /// The library's own file.
    pub(super) fn library(&self) -> PathBuf {
        self.folder.join(&self.library)
    }

    /// The sources that are built with their own tests, as far as that is certain.
    pub(super) fn sources(&self, place: &Place<'_>) -> Vec<PathBuf> {
        let options = ["--lib", "--bins", "--bin", "--test", "--doc", "--examples", "--benches"];
        let some = options.iter().any(|option| has_option(place, option));
        let mut roots = Vec::new();
        if self.tests_library && (!some || has_option(place, "--lib")) {
            roots.push(self.library());
        }
        if self.tests_program && (!some || has_option(place, "--bins")) {
            roots.push(self.folder.join("src/main.rs"));
        }
        roots.retain(|file| file.is_file());
        let mut at = 0;
        while at < roots.len() && roots.len() < MAX_SOURCES {
            let file = roots[at].clone();
            let below = modules(&file, at < 2).into_iter();
            roots.extend(below.filter(|file| !roots.contains(file)).collect::<Vec<_>>());
            at += 1;
        }
        roots
    }

    /// True for a file of tests beside the sources that is run as cargo runs it by itself.
    pub(super) fn has_test(&self, place: &Place<'_>, file: &Path) -> bool {
        let options = ["--lib", "--bins", "--bin", "--doc", "--examples", "--benches"];
        let only = place.value(&["--test"]);
        let stem = name(file).strip_suffix(".rs").unwrap_or_default();
        self.autotests
            && file.parent() == Some(&self.folder.join("tests"))
            && !self.set.iter().any(|set| set == stem)
            && !stem.is_empty()
            && only.is_none_or(|only| only == stem)
            && !options.iter().any(|option| has_option(place, option))
    }

    /// The package of a folder's manifest; none if it is a workspace alone.
    fn read(folder: &Path) -> Option<Self> {
        let manifest = table(folder)?;
        let package = manifest.get("package")?;
        let library = manifest.get("lib");
        let tests = manifest.get("test").and_then(toml::Value::as_array);
        let set = tests.map_or(&[][..], Vec::as_slice).iter();
        Some(Self {
            folder: folder.to_owned(),
            name: string(package, "name").unwrap_or_default(),
            autotests: flag(Some(package), "autotests"),
            library: library
                .and_then(|library| string(library, "path"))
                .unwrap_or_else(|| "src/lib.rs".to_owned()),
            tests_library: flag(library, "test") && flag(library, "harness"),
            tests_program: manifest.get("bin").is_none() && flag(Some(package), "autobins"),
            set: set.filter_map(|test| string(test, "name")).collect(),
        })
    }
}

fn string(table: &toml::Value, key: &str) -> Option<String> {
    Some(table.get(key)?.as_str()?.to_owned())
}

/// A setting that is on unless the table turns it off.
fn flag(table: Option<&toml::Value>, key: &str) -> bool {
    table.and_then(|table| table.get(key)).and_then(toml::Value::as_bool).unwrap_or(true)
}

/// True for an option of the command, with a value or without one.
fn has_option(place: &Place<'_>, option: &str) -> bool {
    place.has(&[option]) || place.value(&[option]).is_some()
}

/// The folder of the manifest that cargo starts from.
fn base(place: &Place<'_>) -> Option<PathBuf> {
    if let Some(path) = place.value(&["--manifest-path"]) {
        return Some(place.cwd.join(path).parent()?.to_owned());
    }
    let mut above = place.cwd.ancestors().take_while(|folder| folder.starts_with(place.root));
    Some(above.find(|folder| folder.join("Cargo.toml").is_file())?.to_owned())
}

/// The packages below a folder, and whether the workspace there tests them if the command selects
/// none.
fn members(place: &Place<'_>, base: &Path) -> Option<impl Iterator<Item = (Package, bool)>> {
    let manifest = table(base).unwrap_or_default();
    let workspace = manifest.get("workspace");
    let list = ["default-members", "members"]
        .into_iter()
        .find_map(|key| workspace?.get(key)?.as_array())
        .map_or(&[][..], Vec::as_slice);
    let names: Vec<_> = list.iter().filter_map(toml::Value::as_str).map(str::to_owned).collect();
    let globs = Globs::new(&names).ok()?;
    let manifests = place.below(base).into_iter().filter(|file| name(file) == "Cargo.toml");
    let base = base.to_owned();
    Some(manifests.filter_map(move |manifest| {
        let package = Package::read(manifest.parent()?)?;
        let inside = package.folder.strip_prefix(&base).unwrap_or(&package.folder);
        let is_member = globs.matches(inside.as_os_str().as_encoded_bytes());
        Some((package, is_member))
    }))
}

fn table(folder: &Path) -> Option<toml::Table> {
    text(&folder.join("Cargo.toml")).parse().ok()
}
