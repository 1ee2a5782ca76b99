//! Virtual environments of Python in which a project of the tree is installed to be edited.
//!
//! The project's path stands in a text in the folder of packages: a line of a `.pth` or
//! `.egg-link`, or the source of a finder. Scripts name the environment's Python, and Python knows
//! its environment by the place that it was started from. So both name the copy's.

use std::collections::BTreeSet;
use std::fs;
use std::io::Read;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use super::dependencies::{Entry, Linked, LinkedItem, Lookup, linked};
use crate::worktree::ENVIRONMENT_MARKER;

/// The largest text that is rewritten, in bytes.
const MAX_TEXT_BYTES: u64 = 1 << 20;

/// The longest first line of a script that every system reads, in bytes.
const MAX_SHEBANG_BYTES: usize = 127;

/// Characters that end a path in a text.
const ENDS: [char; 9] = ['\'', '"', '\n', '\r', ';', ',', ':', ')', '`'];

const PACKAGES: &str = "site-packages";
const COMPILED: &str = "__pycache__";

/// The environment as a folder of links; none if nothing in it leads into the tree.
pub(super) fn expanded(lookup: &Lookup<'_>, inside: &Path) -> Option<Vec<Linked>> {
    let environment = Environment { lookup, inside };
    let mut links = Vec::new();
    let mut leads = false;
    for entry in lookup.entries(&inside.join("lib")) {
        let version = inside.join("lib").join(&entry.name);
        if !entry.kind.is_dir() {
            links.push(environment.entry(&version, &entry));
            continue;
        }
        for part in lookup.entries(&version) {
            let path = version.join(&part.name);
            if part.name == PACKAGES {
                leads |= environment.packages(&path, &mut links);
            } else {
                links.push(environment.entry(&path, &part));
            }
        }
    }
    if !leads {
        return None;
    }
    for entry in lookup.entries(inside) {
        let path = inside.join(&entry.name);
        match entry.name.as_str() {
            "lib" => {}
            "bin" if entry.kind.is_dir() => {
                let programs = lookup.entries(&path);
                let programs = programs.iter();
                links.extend(
                    programs.map(|program| environment.program(&path.join(&program.name), program)),
                );
            }
            ENVIRONMENT_MARKER => links.push(environment.program(&path, &entry)),
            _ => links.push(environment.entry(&path, &entry)),
        }
    }
    Some(links)
}

struct Environment<'a> {
    lookup: &'a Lookup<'a>,
    inside: &'a Path,
}

impl Environment<'_> {
    /// The folder of packages: true if something in it leads into the tree.
    fn packages(&self, folder: &Path, links: &mut Vec<Linked>) -> bool {
        let mut rewritten = BTreeSet::new();
        let mut leads = false;
        let entries = self.lookup.entries(folder);
        for entry in entries.iter().filter(|entry| entry.name != COMPILED) {
            let path = folder.join(&entry.name);
            let text = leads_by_text(entry).then(|| self.text(&path)).flatten();
            let text = text.and_then(|text| self.rewritten(&text));
            if let Some(text) = text {
                leads |= text.leads;
                rewritten.insert(stem(&entry.name).to_owned());
                links.push(linked(&path, LinkedItem::Text(text.bytes)));
            } else if let Some(place) = self.led(&path, entry) {
                leads = true;
                links.push(linked(&path, LinkedItem::Link(place)));
            } else {
                self.package(&path, entry, links);
            }
        }
        if !leads {
            return false;
        }
        for entry in self.lookup.entries(&folder.join(COMPILED)) {
            if !rewritten.contains(stem(&entry.name)) {
                links.push(self.lookup.link(&folder.join(COMPILED).join(&entry.name)));
            }
        }
        true
    }

    /// A package that stands in the folder. The record of an installed project names its place.
    fn package(&self, path: &Path, entry: &Entry, links: &mut Vec<Linked>) {
        const ORIGIN: &str = "direct_url.json";
        let origin = path.join(ORIGIN);
        let text = entry.name.ends_with(".dist-info").then(|| self.text(&origin)).flatten();
        let Some(text) = text.and_then(|text| self.rewritten(&text)) else {
            return links.push(self.entry(path, entry));
        };
        for part in self.lookup.entries(path) {
            if part.name != ORIGIN {
                links.push(self.lookup.link(&path.join(part.name)));
            }
        }
        links.push(linked(&origin, LinkedItem::Text(text.bytes)));
    }

    /// A program or a text of the environment, which names the environment by its place.
    fn program(&self, path: &Path, entry: &Entry) -> Linked {
        let text = entry.kind.is_file().then(|| self.text(path)).flatten();
        let Some(text) = text.and_then(|text| self.rewritten(&text)) else {
            return self.entry(path, entry);
        };
        let about = fs::metadata(self.lookup.mapping.real.join(path));
        let runs = about.is_ok_and(|about| about.permissions().mode() & 0o111 != 0);
        let bytes = with_short_shebang(text.bytes);
        linked(path, if runs { LinkedItem::Executable(bytes) } else { LinkedItem::Text(bytes) })
    }

    /// A link to an entry. A link within the environment stays one.
    fn entry(&self, path: &Path, entry: &Entry) -> Linked {
        let target = entry.kind.is_symlink().then(|| {
            let target = fs::read_link(self.lookup.mapping.real.join(path)).ok()?;
            if target.is_absolute() {
                let within = target.starts_with(self.lookup.mapping.real.join(self.inside));
                return if within { self.lookup.mapping.folder(&target) } else { Some(target) };
            }
            Some(target)
        });
        match target.flatten() {
            Some(target) => linked(path, LinkedItem::Link(target)),
            None => self.lookup.link(path),
        }
    }

    fn led(&self, path: &Path, entry: &Entry) -> Option<PathBuf> {
        entry.kind.is_symlink().then(|| self.lookup.led(path)).flatten()
    }

    /// The text of a file that is not too large.
    fn text(&self, path: &Path) -> Option<String> {
        let file = fs::File::open(self.lookup.mapping.real.join(path)).ok()?;
        let about = file.metadata().ok().filter(fs::Metadata::is_file)?;
        let mut text = String::new();
        let fits = about.len() <= MAX_TEXT_BYTES;
        fits.then(|| file.take(MAX_TEXT_BYTES).read_to_string(&mut text).ok()).flatten()?;
        Some(text)
    }

    /// A text with the copy's places; none if it names no place of the copy.
    fn rewritten(&self, text: &str) -> Option<Rewritten> {
        let real = self.lookup.mapping.real.display().to_string();
        let copy = self.lookup.mapping.copy.display().to_string();
        let mut leads = false;
        let mut changed = false;
        let mut lines = String::with_capacity(text.len());
        for line in text.split_inclusive('\n') {
            // The tree may have more than one name.
            let named = Path::new(line.trim()).is_absolute().then(|| Path::new(line.trim()));
            let place = named.and_then(|named| named.canonicalize().ok());
            if let Some(place) = place.and_then(|place| self.lookup.place(&place)) {
                lines.push_str(&line.replace(line.trim(), &place.display().to_string()));
                (leads, changed) = (true, true);
                continue;
            }
            let mut parts = line.split(real.as_str());
            lines.push_str(parts.next().unwrap_or_default());
            for part in parts {
                let inside = part.split(ENDS).next().unwrap_or_default();
                let name = inside.trim_start_matches('/').trim_end();
                let is_longer_name = !inside.is_empty() && !inside.starts_with('/');
                let target = self.lookup.mapping.real.join(name);
                let is_environment = Path::new(name).starts_with(self.inside);
                let is_led = !is_longer_name && self.lookup.place(&clean(&target)).is_some();
                let goes = !is_longer_name && (is_environment || is_led);
                leads |= is_led;
                changed |= goes;
                lines.push_str(if goes { &copy } else { &real });
                lines.push_str(part);
            }
        }
        changed.then(|| Rewritten { bytes: lines.into_bytes(), leads })
    }
}

struct Rewritten {
    bytes: Vec<u8>,
    /// True if it names something else than the environment.
    leads: bool,
}

/// A path without a slash at the end.
fn clean(path: &Path) -> PathBuf {
    path.components().collect()
}

/// True if an entry of the folder of packages may name a place in its text.
fn leads_by_text(entry: &Entry) -> bool {
    let name = &entry.name;
    let is_editable = name.ends_with(".py") && name.contains("editable");
    entry.kind.is_file() && (name.ends_with(".pth") || name.ends_with(".egg-link") || is_editable)
}

/// The name of a module, without what follows the first dot.
fn stem(name: &str) -> &str {
    name.split('.').next().unwrap_or(name)
}

/// A script whose first line is too long for the system starts its Python through a shell, as
/// installers write it.
fn with_short_shebang(bytes: Vec<u8>) -> Vec<u8> {
    let end = bytes.iter().position(|byte| *byte == b'\n').unwrap_or(bytes.len());
    let (first, rest) = bytes.split_at(end);
    let is_odd = first.len() > MAX_SHEBANG_BYTES || first.contains(&b' ');
    let program = first.strip_prefix(b"#!").filter(|program| program.starts_with(b"/"));
    match program {
        Some(program) if is_odd && program.windows(6).any(|part| part == b"python") => {
            let head = [&b"#!/bin/sh\n'''exec' \""[..], program, b"\" \"$0\" \"$@\"\n' '''"];
            [&head.concat()[..], rest].concat()
        }
        _ => bytes,
    }
}
