//! Names of projects, tasks and runs, which are names of folders.

use jiff::Timestamp;

use crate::stamp::{compact, is_digits, leading};

/// The longest name of a folder that is given to one here, in bytes.
const MAX_ID_BYTES: usize = 128;

/// Length of the last part of a task's id, in bytes.
const SLUG: std::ops::RangeInclusive<usize> = 3..=50;

/// A name that cannot be one.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BadId {
    /// No project is called that.
    #[error(
        "project id {0:?}: lower-case letters, digits and `-` are expected, with `-` only between them"
    )]
    Project(String),
    /// No folder is called that.
    #[error(
        "{0:?} names no folder: letters, digits, `.`, `_` and `-` are expected, at most 128, no `.` at the beginning"
    )]
    Folder(String),
}

/// A project's id: `^[a-z0-9]([a-z0-9-]*[a-z0-9])?$`.
///
/// # Errors
///
/// Any other text, and one that is longer than a folder's name may be.
pub fn project_id(text: &str) -> Result<&str, BadId> {
    let inner = text.bytes().all(|byte| is_slug(byte) || byte == b'-');
    let ends = [text.bytes().next(), text.bytes().last()];
    let good =
        inner && ends.into_iter().all(|end| end.is_some_and(is_slug)) && text.len() <= MAX_ID_BYTES;
    if good { Ok(text) } else { Err(BadId::Project(text.to_owned())) }
}

/// A name for the folder of a project that is known by some other text, as an address: the text
/// itself if it can be one, else its last part and a digest, so that two projects never share a
/// folder.
pub fn project_slug(known_by: &str) -> String {
    if let Ok(id) = project_id(known_by)
        && id != super::layout::GLOBAL
    {
        return id.to_owned();
    }
    let name = known_by.trim_end_matches(['/', '\\']).trim_end_matches(".git");
    let name = name.rsplit(['/', '\\', ':']).next().unwrap_or_default();
    let digest = blake3::hash(known_by.as_bytes()).to_hex();
    match slug(name, 40) {
        Some(slug) => format!("{slug}-{}", &digest[..8]),
        None => format!("project-{}", &digest[..8]),
    }
}

/// True if it is a task's id as conductor-loop gives them:
/// `task-YYYYMMDD-HHMMSS-` and a name of 3 to 50 lower-case letters, digits and
/// `-`. A caller may give a task any other [`folder_name`].
pub fn is_task_id(text: &str) -> bool {
    let Some((date, rest)) = text.strip_prefix("task-").and_then(|rest| rest.split_once('-'))
    else {
        return false;
    };
    let Some((clock, slug)) = rest.split_once('-') else { return false };
    let is_stamp = date.len() == 8 && clock.len() == 6 && is_digits(date) && is_digits(clock);
    is_stamp && SLUG.contains(&slug.len()) && project_id(slug).is_ok()
}

/// The id of a new task: when it was begun, and what of its name can stand in one; `fallback` if
/// that is nothing or too little.
pub fn task_id(now: Timestamp, name: &str, fallback: &str) -> String {
    let slug = slug(name, *SLUG.end())
        .filter(|slug| SLUG.contains(&slug.len()))
        .unwrap_or_else(|| fallback.to_owned());
    format!("task-{}-{slug}", compact(now))
}

/// A name that leads to a folder beside the others and nowhere else.
///
/// # Errors
///
/// Anything with a separator, with `.` at the beginning, empty or too long.
pub fn folder_name(text: &str) -> Result<&str, BadId> {
    let good = !text.is_empty()
        && text.len() <= MAX_ID_BYTES
        && !text.starts_with(['.', '-'])
        && text.bytes().all(is_plain);
    if good { Ok(text) } else { Err(BadId::Folder(text.to_owned())) }
}

fn is_plain(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"._-".contains(&byte)
}

/// True if it is a run's id: its moment, process and number; older ones have no
/// number, and some have letters behind it that keep them apart.
pub fn is_run_id(text: &str) -> bool {
    let whole = leading(text).or_else(|| leading(&format!("{text}-1")).map(|_| text.len()));
    let rest = whole.and_then(|length| text.get(length..));
    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('-')) && folder_name(text).is_ok()
}

/// The part of a text that an id may hold: its letters and digits in lower case, with
/// single `-` between them; `None` if there are none.
pub(crate) fn slug(text: &str, longest: usize) -> Option<String> {
    let mut slug = String::new();
    for c in text.chars() {
        if c.is_ascii_alphanumeric() {
            slug.push(c.to_ascii_lowercase());
        } else if !slug.is_empty() && !slug.ends_with('-') {
            slug.push('-');
        }
    }
    slug.truncate(longest);
    let slug = slug.trim_end_matches('-');
    if slug.is_empty() { None } else { Some(slug.to_owned()) }
}

fn is_slug(byte: u8) -> bool {
    byte.is_ascii_lowercase() || byte.is_ascii_digit()
}
