//! Names of projects, tasks and runs, which are names of folders.

use jiff::Timestamp;

use crate::stamp::{compact, is_digits, leading_length};

/// The longest name of a folder that is given to one here, in bytes.
const MAX_ID_BYTES: usize = 128;

/// The length of the last part of a task's id, in bytes.
const SLUG_BYTES: std::ops::RangeInclusive<usize> = 3..=50;

/// The longest id of a task: `task-`, the time, and a slug.
const MAX_TASK_ID_BYTES: usize = 21 + *SLUG_BYTES.end();

/// A text that cannot be the name of a project or of a folder.
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
    let is_spelled = text.bytes().all(|byte| is_slug_byte(byte) || byte == b'-');
    let mut ends = [text.bytes().next(), text.bytes().last()].into_iter();
    let has_ends = ends.all(|byte| byte.is_some_and(is_slug_byte));
    if is_spelled && has_ends && text.len() <= MAX_ID_BYTES {
        Ok(text)
    } else {
        Err(BadId::Project(text.to_owned()))
    }
}

/// A name for the folder of a project that has an address: the address itself if it can be a
/// name, otherwise its last part and a digest, so that two projects never share a folder.
pub fn project_slug(address: &str) -> String {
    if let Ok(id) = project_id(address)
        && id != super::layout::GLOBAL
    {
        return id.to_owned();
    }
    let path = address.trim_end_matches(['/', '\\']).trim_end_matches(".git");
    let name = path.rsplit(['/', '\\', ':']).next().unwrap_or_default();
    let digest = blake3::hash(address.as_bytes()).to_hex();
    match slug(name, 40) {
        Some(slug) => format!("{slug}-{}", &digest[..8]),
        None => format!("project-{}", &digest[..8]),
    }
}

/// A task's id as conductor-loop gives them:
/// `task-YYYYMMDD-HHMMSS-` and a name of 3 to 50 lower-case letters, digits and
/// `-`. A caller may give a task any other [`folder_name`].
pub fn is_task_id(text: &str) -> bool {
    let Some(stamp_and_slug) = text.strip_prefix("task-") else { return false };
    let Some((date, clock_and_slug)) = stamp_and_slug.split_once('-') else { return false };
    let Some((clock, slug)) = clock_and_slug.split_once('-') else { return false };
    let is_stamp = date.len() == 8 && clock.len() == 6 && is_digits(date) && is_digits(clock);
    is_stamp && SLUG_BYTES.contains(&slug.len()) && project_id(slug).is_ok()
}

/// The id of a new task: when it was begun, and the part of its name that an id may hold;
/// `fallback` if that part is empty or too short.
pub fn task_id(now: Timestamp, name: &str, fallback: &str) -> String {
    let slug = slug(name, *SLUG_BYTES.end())
        .filter(|slug| SLUG_BYTES.contains(&slug.len()))
        .unwrap_or_else(|| fallback.to_owned());
    format!("task-{}-{slug}", compact(now))
}

/// A task's id with a number, no longer than an id may be.
pub(crate) fn numbered(task_id: &str, number: u32) -> String {
    let number = format!("-{number}");
    let mut id = task_id.to_owned();
    id.truncate(MAX_TASK_ID_BYTES - number.len());
    format!("{}{number}", id.trim_end_matches('-'))
}

/// A name that leads to a folder beside the others and nowhere else.
///
/// # Errors
///
/// Anything with a separator, with `.` at the beginning, empty or too long.
pub fn folder_name(text: &str) -> Result<&str, BadId> {
    let is_name = !text.is_empty()
        && text.len() <= MAX_ID_BYTES
        && !text.starts_with(['.', '-'])
        && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"._-".contains(&byte));
    if is_name { Ok(text) } else { Err(BadId::Folder(text.to_owned())) }
}

/// A run's id: its moment, process and number. Older ids have no number, and some have letters
/// behind it that keep them apart.
pub fn is_run_id(text: &str) -> bool {
    let without_number = || leading_length(&format!("{text}-1")).map(|_| text.len());
    let stamp_length = leading_length(text).or_else(without_number);
    let letters = stamp_length.and_then(|length| text.get(length..));
    letters.is_some_and(|letters| letters.is_empty() || letters.starts_with('-'))
        && folder_name(text).is_ok()
}

/// The part of a text that an id may hold: its letters and digits in lower case, with
/// single `-` between them; `None` if it has neither letters nor digits.
pub(crate) fn slug(text: &str, max_bytes: usize) -> Option<String> {
    let mut slug = String::new();
    for char in text.chars() {
        if char.is_ascii_alphanumeric() {
            slug.push(char.to_ascii_lowercase());
        } else if !slug.is_empty() && !slug.ends_with('-') {
            slug.push('-');
        }
    }
    slug.truncate(max_bytes);
    let slug = slug.trim_end_matches('-');
    if slug.is_empty() { None } else { Some(slug.to_owned()) }
}

fn is_slug_byte(byte: u8) -> bool {
    byte.is_ascii_lowercase() || byte.is_ascii_digit()
}
