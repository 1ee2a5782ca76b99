//! Virtual environments of Python in which a project of the tree is installed to be edited.
//!
//! The project's path stands in a text in the folder of packages: a line of a `.pth` or
//! `.egg-link`, or the source of a finder. Scripts name the environment's Python, and Python knows
//! its environment by the place that it was started from. So both name the copy's.

use std::collections::BTreeSet;
use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};

use gate_platform::{PermissionsExt, RealPath};

use super::dependencies::{Entry, Lookup, StandIn, StandInContent};
use crate::worktree::ENVIRONMENT_MARKER;

/// The largest text that is rewritten, in bytes.
const MAX_TEXT_BYTES: u64 = 1 << 20;

/// The longest first line of a script that every system reads, in bytes.
const MAX_SHEBANG_BYTES: usize = 127;

/// Characters that end a path in a text.
const PATH_ENDS: [char; 9] = ['\'', '"', '\n', '\r', ';', ',', ':', ')', '`'];

/// The folder of packages below that of a version of Python.
const PACKAGES: &str = "site-packages";

/// The folder of bytecode.
const COMPILED: &str = "__pycache__";

/// The environment as a folder of links. `None` if nothing in it leads into the tree.
pub(super) fn expanded(lookup: &Lookup<'_>, folder: &Path) -> Option<Vec<StandIn>> {
    let environment = Environment { lookup, folder };
    let mut stand_ins = Vec::new();
    let mut leads_into_tree = false;
    for version in lookup.entries(&folder.join("lib")) {
        let version_path = folder.join("lib").join(&version.name);
        if !version.kind.is_dir() {
            stand_ins.push(environment.link(&version_path, &version));
            continue;
        }
        for entry in lookup.entries(&version_path) {
            let path = version_path.join(&entry.name);
            if entry.name == PACKAGES {
                leads_into_tree |= environment.add_packages(&path, &mut stand_ins);
            } else {
                stand_ins.push(environment.link(&path, &entry));
            }
        }
    }
    if !leads_into_tree {
        return None;
    }
    for entry in lookup.entries(folder) {
        let path = folder.join(&entry.name);
        match entry.name.as_str() {
            "lib" => {}
            "bin" if entry.kind.is_dir() => {
                for program in lookup.entries(&path) {
                    stand_ins.push(environment.program(&path.join(&program.name), &program));
                }
            }
            ENVIRONMENT_MARKER => stand_ins.push(environment.program(&path, &entry)),
            _ => stand_ins.push(environment.link(&path, &entry)),
        }
    }
    Some(stand_ins)
}

struct Environment<'a> {
    lookup: &'a Lookup<'a>,
    /// Relative to the tree's root, as are all paths.
    folder: &'a Path,
}

impl Environment<'_> {
    /// Adds the folder of packages. Returns `true` if a package in it leads into the tree.
    fn add_packages(&self, folder: &Path, stand_ins: &mut Vec<StandIn>) -> bool {
        let mut rewritten_modules = BTreeSet::new();
        let mut leads_into_tree = false;
        let entries = self.lookup.entries(folder);
        for entry in entries.iter().filter(|entry| entry.name != COMPILED) {
            let path = folder.join(&entry.name);
            let text = if may_name_project(entry) { self.text(&path) } else { None };
            if let Some(rewritten) = text.and_then(|text| self.rewritten(&text)) {
                leads_into_tree |= rewritten.leads_into_tree;
                rewritten_modules.insert(module_name(&entry.name).to_owned());
                stand_ins.push(StandIn::new(&path, StandInContent::Text(rewritten.bytes)));
            } else if entry.kind.is_symlink()
                && let Some(target) = self.lookup.target_in_copy(&path)
            {
                leads_into_tree = true;
                stand_ins.push(StandIn::new(&path, StandInContent::Link(target)));
            } else {
                self.add_package(&path, entry, stand_ins);
            }
        }
        if !leads_into_tree {
            return false;
        }
        // The bytecode of a rewritten module still names the tree.
        for entry in self.lookup.entries(&folder.join(COMPILED)) {
            if !rewritten_modules.contains(module_name(&entry.name)) {
                stand_ins.push(self.lookup.link(&folder.join(COMPILED).join(&entry.name)));
            }
        }
        true
    }

    /// Adds a package that stands in the folder. The record of an installed project names its place.
    fn add_package(&self, path: &Path, entry: &Entry, stand_ins: &mut Vec<StandIn>) {
        const ORIGIN: &str = "direct_url.json";
        let origin = path.join(ORIGIN);
        let is_record = entry.name.ends_with(".dist-info");
        let text = if is_record { self.text(&origin) } else { None };
        let Some(rewritten) = text.and_then(|text| self.rewritten(&text)) else {
            return stand_ins.push(self.link(path, entry));
        };
        for file in self.lookup.entries(path) {
            if file.name != ORIGIN {
                stand_ins.push(self.lookup.link(&path.join(file.name)));
            }
        }
        stand_ins.push(StandIn::new(&origin, StandInContent::Text(rewritten.bytes)));
    }

    /// A program or a text of the environment, which names the environment by its place.
    fn program(&self, path: &Path, entry: &Entry) -> StandIn {
        let text = if entry.kind.is_file() { self.text(path) } else { None };
        let Some(rewritten) = text.and_then(|text| self.rewritten(&text)) else {
            return self.link(path, entry);
        };
        let is_executable = fs::metadata(self.lookup.mapping.tree_root.join(path))
            .is_ok_and(|metadata| metadata.permissions().mode() & 0o111 != 0);
        let bytes = with_short_shebang(rewritten.bytes);
        let content = match is_executable {
            true => StandInContent::Executable(bytes),
            false => StandInContent::Text(bytes),
        };
        StandIn::new(path, content)
    }

    /// A link to an entry. A link within the environment leads to the same place of the copy's.
    fn link(&self, path: &Path, entry: &Entry) -> StandIn {
        let mapping = self.lookup.mapping;
        if entry.kind.is_symlink()
            && let Ok(target) = fs::read_link(mapping.tree_root.join(path))
        {
            let is_in_environment = target.starts_with(mapping.tree_root.join(self.folder));
            let copied_target =
                if is_in_environment { mapping.folder(&target) } else { Some(target) };
            if let Some(target) = copied_target {
                return StandIn::new(path, StandInContent::Link(target));
            }
        }
        self.lookup.link(path)
    }

    /// The text of a file that is not too large.
    fn text(&self, path: &Path) -> Option<String> {
        let file = fs::File::open(self.lookup.mapping.tree_root.join(path)).ok()?;
        let metadata = file.metadata().ok().filter(fs::Metadata::is_file)?;
        if metadata.len() > MAX_TEXT_BYTES {
            return None;
        }
        let mut text = String::new();
        file.take(MAX_TEXT_BYTES).read_to_string(&mut text).ok()?;
        Some(text)
    }

    /// A text with the copy's places. `None` if it names no place of the copy.
    fn rewritten(&self, text: &str) -> Option<Rewritten> {
        let tree_root = self.lookup.mapping.tree_root.display().to_string();
        let copy = self.lookup.mapping.copy.display().to_string();
        let mut leads_into_tree = false;
        let mut is_changed = false;
        let mut lines = String::with_capacity(text.len());
        for line in text.split_inclusive('\n') {
            // A line of a `.pth` is one path. The tree may have more than one name, so it is resolved.
            let path = Path::new(line.trim());
            let real_path = if path.is_absolute() { path.real_path().ok() } else { None };
            if let Some(place) = real_path.and_then(|path| self.lookup.place_in_copy(&path)) {
                lines.push_str(&line.replace(line.trim(), &place.display().to_string()));
                (leads_into_tree, is_changed) = (true, true);
                continue;
            }
            // In any other line, each path below the tree's root is looked at by itself.
            let mut parts = line.split(tree_root.as_str());
            lines.push_str(parts.next().unwrap_or_default());
            for text_after_root in parts {
                let path = text_after_root.split(PATH_ENDS).next().unwrap_or_default();
                let is_longer_name = !path.is_empty() && !path.starts_with('/');
                let tree_path = path.trim_start_matches('/').trim_end();
                let target = without_final_slash(&self.lookup.mapping.tree_root.join(tree_path));
                let is_of_environment = Path::new(tree_path).starts_with(self.folder);
                let is_in_copy = !is_longer_name && self.lookup.place_in_copy(&target).is_some();
                let is_mapped = !is_longer_name && (is_of_environment || is_in_copy);
                leads_into_tree |= is_in_copy;
                is_changed |= is_mapped;
                lines.push_str(if is_mapped { &copy } else { &tree_root });
                lines.push_str(text_after_root);
            }
        }
        is_changed.then(|| Rewritten { bytes: lines.into_bytes(), leads_into_tree })
    }
}

/// A text in which the copy stands for the tree.
struct Rewritten {
    bytes: Vec<u8>,
    /// The text names a place of the tree outside of the environment.
    leads_into_tree: bool,
}

fn without_final_slash(path: &Path) -> PathBuf {
    path.components().collect()
}

/// An entry of the folder of packages whose text may name the place of a project.
fn may_name_project(entry: &Entry) -> bool {
    let name = &entry.name;
    let is_editable = name.ends_with(".py") && name.contains("editable");
    entry.kind.is_file() && (name.ends_with(".pth") || name.ends_with(".egg-link") || is_editable)
}

/// The name of the module in a file: the part before the first dot.
fn module_name(file: &str) -> &str {
    file.split('.').next().unwrap_or(file)
}

/// A script whose first line is too long for the system, or has a space in it, starts its Python
/// through a shell, as installers write it.
fn with_short_shebang(bytes: Vec<u8>) -> Vec<u8> {
    let line_end = bytes.iter().position(|byte| *byte == b'\n').unwrap_or(bytes.len());
    let (shebang, script) = bytes.split_at(line_end);
    let is_unreadable = shebang.len() > MAX_SHEBANG_BYTES || shebang.contains(&b' ');
    let program = shebang.strip_prefix(b"#!").filter(|program| program.starts_with(b"/"));
    match program {
        Some(program) if is_unreadable && program.windows(6).any(|part| part == b"python") => {
            let start = [&b"#!/bin/sh\n'''exec' \""[..], program, b"\" \"$0\" \"$@\"\n' '''"];
            [&start.concat()[..], script].concat()
        }
        _ => bytes,
    }
}
