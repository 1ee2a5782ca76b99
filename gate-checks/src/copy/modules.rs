//! Folders of packages (`node_modules`, `vendor`) in which some packages are links into the tree, or
//! tools keep what they have compiled.

use std::path::Path;

use super::dependencies::{Entry, Lookup, StandIn, StandInContent};

/// Folders that tools fill while they run. A copy has its own: files in those of the tree may stand for
/// another source.
const CACHES: [&str; 5] = [".cache", ".turbo", ".vite", ".vite-temp", ".vitest"];

/// The folder with the packages' programs. Some of them find their package beside the folder, so
/// it is never a link itself.
const PROGRAMS: &str = ".bin";

/// The folder of links. `None` if no package in it leads into the tree, and no tool has a cache there.
pub(super) fn expanded(lookup: &Lookup<'_>, folder: &Path) -> Option<Vec<StandIn>> {
    let mut links = Links { lookup, stand_ins: Vec::new(), leads_into_tree: false };
    links.add_entries(folder, true);
    let has_cache = CACHES.iter().any(|cache| lookup.has_folder(&folder.join(cache)));
    (links.leads_into_tree || has_cache).then_some(links.stand_ins)
}

/// The links in the place of a folder.
struct Links<'a> {
    lookup: &'a Lookup<'a>,
    stand_ins: Vec<StandIn>,
    leads_into_tree: bool,
}

impl Links<'_> {
    fn add_entries(&mut self, folder: &Path, has_groups: bool) {
        for entry in self.lookup.entries(folder) {
            if CACHES.contains(&entry.name.as_str()) {
                continue;
            }
            let path = folder.join(&entry.name);
            if entry.kind.is_symlink()
                && let Some(target) = self.lookup.target_in_copy(&path)
            {
                self.leads_into_tree = true;
                self.stand_ins.push(StandIn::new(&path, StandInContent::Link(target)));
            } else if has_groups && is_group(folder, &entry) {
                self.add_group(&path, entry.name == PROGRAMS);
            } else {
                self.stand_ins.push(self.lookup.link(&path));
            }
        }
    }

    /// Adds a folder of packages within the folder: as one link, if no package in it leads into the
    /// tree.
    fn add_group(&mut self, path: &Path, is_programs: bool) {
        let mut group =
            Links { lookup: self.lookup, stand_ins: Vec::new(), leads_into_tree: is_programs };
        group.add_entries(path, false);
        if group.leads_into_tree {
            // The folder of programs always has links of its own, which may all lead elsewhere.
            self.leads_into_tree |= group.stand_ins.iter().any(|link| self.is_into_copy(link));
            self.stand_ins.append(&mut group.stand_ins);
        } else {
            self.stand_ins.push(self.lookup.link(path));
        }
    }

    fn is_into_copy(&self, stand_in: &StandIn) -> bool {
        let copy = &self.lookup.mapping.copy;
        matches!(&stand_in.content, StandInContent::Link(target) if target.starts_with(copy))
    }
}

/// A scope of npm, the folder of programs, or a vendor of Composer.
fn is_group(folder: &Path, entry: &Entry) -> bool {
    let is_vendored = folder.file_name().is_some_and(|name| name == "vendor");
    entry.kind.is_dir() && (entry.name.starts_with('@') || entry.name == PROGRAMS || is_vendored)
}
