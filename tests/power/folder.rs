//! Files and folders, as they are read and written as a whole.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::fs::{self, DirBuilder, File};
use std::io::Write;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::Path;

use crate::support::dice::Dice;

/// A file or folder. Its number stays the same whatever its name is.
pub(super) type Number = usize;

#[derive(Clone)]
pub(super) enum Node {
    File(Vec<u8>),
    Folder(BTreeMap<OsString, Number>),
}

pub(super) fn file_of(nodes: &mut [Node], number: Number) -> &mut Vec<u8> {
    match &mut nodes[number] {
        Node::File(bytes) => bytes,
        Node::Folder(_) => panic!("a folder has no bytes"),
    }
}

pub(super) fn folder_of(nodes: &mut [Node], number: Number) -> &mut BTreeMap<OsString, Number> {
    match &mut nodes[number] {
        Node::Folder(entries) => entries,
        Node::File(_) => panic!("a file has no entries"),
    }
}

/// Reads what is at a path. Returns its number; a folder comes before what it holds.
pub(super) fn read(path: &Path, nodes: &mut Vec<Node>) -> Number {
    let number = nodes.len();
    if !path.is_dir() {
        nodes.push(Node::File(fs::read(path).unwrap()));
        return number;
    }
    nodes.push(Node::Folder(BTreeMap::new()));
    for entry in fs::read_dir(path).unwrap() {
        let entry = entry.unwrap();
        let child = read(&entry.path(), nodes);
        folder_of(nodes, number).insert(entry.file_name(), child);
    }
    number
}

/// Removes all that a folder holds.
pub(super) fn clear(folder: &Path) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            fs::remove_dir_all(path).unwrap();
        } else {
            fs::remove_file(path).unwrap();
        }
    }
}

/// Writes a file, or a folder with all that it holds.
pub(super) fn write(nodes: &[Node], number: Number, path: &Path, dice: &mut Dice) {
    match &nodes[number] {
        Node::Folder(entries) => {
            DirBuilder::new().recursive(true).mode(0o700).create(path).unwrap();
            for (name, child) in entries {
                write(nodes, *child, &path.join(name), dice);
            }
        }
        Node::File(bytes) => {
            let bytes = if is_index(path) { &noise(bytes.len(), dice) } else { bytes };
            let mut options = File::options();
            let options = options.write(true).create_new(true).mode(0o600);
            options.open(path).unwrap().write_all(bytes).unwrap();
        }
    }
}

/// The index of SQLite's log. It is memory that programs share, and may be anything after an outage.
fn is_index(path: &Path) -> bool {
    path.file_name().is_some_and(|name: &OsStr| name.to_string_lossy().ends_with("-shm"))
}

fn noise(length: usize, dice: &mut Dice) -> Vec<u8> {
    let blank = dice.happens(50);
    (0..length).map(|_| if blank { 0 } else { dice.below(256) as u8 }).collect()
}
