//! Folders of packages (`node_modules`, `vendor`) in which some packages are links into the tree, or
//! tools keep what they have compiled.

use std::path::Path;

use super::dependencies::{Entry, Linked, LinkedItem, Lookup, linked};

/// Folders that tools fill while they run: a copy has its own, since what the tree's have may stand for
/// another source.
const CACHES: [&str; 5] = [".cache", ".turbo", ".vite", ".vite-temp", ".vitest"];

/// The folder with the packages' programs. Some of them find their package beside the folder, so
/// it is never a link itself.
const PROGRAMS: &str = ".bin";

/// The folder of links; none if nothing in it leads into the tree and no tool keeps anything there.
pub(super) fn expanded(lookup: &Lookup<'_>, inside: &Path) -> Option<Vec<Linked>> {
    let mut folder = Folder { lookup, links: Vec::new(), leads: false };
    folder.add(inside, true);
    let has_cache = CACHES.iter().any(|cache| lookup.has(&inside.join(cache)));
    (folder.leads || has_cache).then_some(folder.links)
}

struct Folder<'a> {
    lookup: &'a Lookup<'a>,
    links: Vec<Linked>,
    leads: bool,
}

impl Folder<'_> {
    fn add(&mut self, inside: &Path, has_groups: bool) {
        for entry in self.lookup.entries(inside) {
            let path = inside.join(&entry.name);
            if CACHES.contains(&entry.name.as_str()) {
                continue;
            }
            let led = entry.kind.is_symlink().then(|| self.lookup.led(&path)).flatten();
            if let Some(place) = led {
                self.leads = true;
                self.links.push(linked(&path, LinkedItem::Link(place)));
            } else if has_groups && is_group(inside, &entry) {
                self.add_group(&path, entry.name == PROGRAMS);
            } else {
                self.links.push(self.lookup.link(&path));
            }
        }
    }

    /// A folder of packages within the folder: a link, if none of them leads into the tree.
    fn add_group(&mut self, path: &Path, is_programs: bool) {
        let mut group = Folder { lookup: self.lookup, links: Vec::new(), leads: is_programs };
        let before = self.leads;
        group.add(path, false);
        if group.leads {
            let led = group.links.iter().any(|link| self.is_in_copy(link));
            self.links.append(&mut group.links);
            self.leads = before || led;
        } else {
            self.links.push(self.lookup.link(path));
        }
    }

    fn is_in_copy(&self, link: &Linked) -> bool {
        matches!(&link.item, LinkedItem::Link(target) if target.starts_with(&self.lookup.mapping.copy))
    }
}

/// True for a scope of npm, the folder of programs, and a vendor of Composer.
fn is_group(folder: &Path, entry: &Entry) -> bool {
    let is_vendored = folder.file_name().is_some_and(|name| name == "vendor");
    entry.kind.is_dir() && (entry.name.starts_with('@') || entry.name == PROGRAMS || is_vendored)
}
