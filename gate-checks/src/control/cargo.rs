//! A control for `cargo test` and cargo-nextest.

use std::path::{Path, PathBuf};

use super::draft::Draft;
use super::place::Place;
use super::place::{name, text};
use crate::worktree::Globs;

/// A test file of its own in the package that the command tests; where it
/// tests only some targets, an addition to one of them.
pub(super) fn draft(place: &Place<'_>, id: &str) -> Option<Draft> {
    let (folder, manifest) = package(place)?;
    if let Some(test) = place.value(&["--test"]) {
        return addition(folder.join("tests").join(format!("{test}.rs")), id);
    }
    if let Some(bin) = place.value(&["--bin"]) {
        let own = folder.join("src/bin").join(format!("{bin}.rs"));
        return addition(if own.is_file() { own } else { folder.join("src/main.rs") }, id);
    }
    let autotests = manifest["autotests"].as_bool().unwrap_or(true);
    if place.has(&["--bins"]) {
        return addition(folder.join("src/main.rs"), id);
    }
    if place.has(&["--lib"]) || !autotests {
        let library = manifest["lib"].as_str().unwrap_or("src/lib.rs");
        return addition(folder.join(library), id);
    }
    let only_others = place.has(&["--doc", "--examples", "--benches"]);
    let file = folder.join("tests").join(format!("{id}.rs"));
    (!only_others).then(|| Draft { file, text: format!("#[test]\n{}", function(id)) })
}

fn function(id: &str) -> String {
    format!("fn {id}() {{\n    panic!(\"gate's control has to fail\");\n}}\n")
}

fn addition(file: PathBuf, id: &str) -> Option<Draft> {
    let text = format!("\n#[cfg(test)]\nmod {id} {{\n#[test]\n{}}}\n", function(id));
    file.is_file().then_some(Draft { file, text })
}

/// The test settings of a manifest: `name`, `autotests`, `lib` (its path).
type Manifest = serde_json::Value;

/// The package that is tested: the one that the command names, else that of
/// the nearest manifest, else the first member of its workspace.
fn package(place: &Place<'_>) -> Option<(PathBuf, Manifest)> {
    let base = match place.value(&["--manifest-path"]) {
        Some(path) => place.cwd.join(path).parent()?.to_owned(),
        None => {
            let mut above =
                place.cwd.ancestors().take_while(|folder| folder.starts_with(place.root));
            above.find(|folder| folder.join("Cargo.toml").is_file())?.to_owned()
        }
    };
    let wanted = place.value(&["-p", "--package"]);
    if let Some(manifest) = read(&base)
        && wanted.is_none_or(|name| manifest["name"] == name)
    {
        return Some((base, manifest));
    }
    let members = members(&base)?;
    let folders = place.below(&base).into_iter().filter(|file| name(file) == "Cargo.toml");
    let folders = folders.filter_map(|file| Some(file.parent()?.to_owned()));
    let mut packages = folders.filter_map(|folder| Some((read(&folder)?, folder)));
    packages
        .find(|(manifest, folder)| {
            let inside = folder.strip_prefix(&base).unwrap_or(folder);
            let member = members.matches(inside.as_os_str().as_encoded_bytes());
            match wanted {
                Some(name) => manifest["name"] == name,
                None => member,
            }
        })
        .map(|(manifest, folder)| (folder, manifest))
}

fn table(folder: &Path) -> Option<toml::Table> {
    text(&folder.join("Cargo.toml")).parse().ok()
}

/// The package of a folder's manifest; none where it is a workspace alone.
fn read(folder: &Path) -> Option<Manifest> {
    let manifest = table(folder)?;
    let package = manifest.get("package")?;
    let library = manifest.get("lib").and_then(|lib| lib.get("path"));
    Some(serde_json::json!({
        "name": package.get("name").and_then(toml::Value::as_str),
        "autotests": package.get("autotests").and_then(toml::Value::as_bool),
        "lib": library.and_then(toml::Value::as_str),
    }))
}

/// The members that a workspace tests where nobody says more.
fn members(folder: &Path) -> Option<Globs> {
    let manifest = table(folder).unwrap_or_default();
    let workspace = manifest.get("workspace");
    let list = ["default-members", "members"]
        .into_iter()
        .find_map(|key| workspace?.get(key)?.as_array())
        .map_or(&[][..], Vec::as_slice);
    let names: Vec<_> = list.iter().filter_map(toml::Value::as_str).map(str::to_owned).collect();
    Globs::new(&names).ok()
}
