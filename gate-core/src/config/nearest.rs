//! Hints for unknown names.

/// The longest name that is compared: a longer one is no slip of the pen, and takes long.
const MAX_NAME_BYTES: usize = 100;

/// The most names that a hint lists.
const MAX_LISTED_NAMES: usize = 30;

/// The known name that was most likely meant, if any is near.
///
/// Near is one edit in three letters; swapped neighbours are one edit.
pub fn nearest<'a>(name: &str, names: &[&'a str]) -> Option<&'a str> {
    if name.len() > MAX_NAME_BYTES {
        return None;
    }
    let normalized_name = name.to_ascii_lowercase().replace('-', "_");
    let mut nearest = None;
    for known_name in names {
        let normalized = known_name.to_lowercase().replace('-', "_");
        let edits = strsim::damerau_levenshtein(&normalized_name, &normalized);
        let is_near = edits <= (known_name.len().max(name.len()) / 3).max(1);
        if is_near && nearest.is_none_or(|(fewest_edits, _)| edits < fewest_edits) {
            nearest = Some((edits, *known_name));
        }
    }
    nearest.map(|(_, known_name)| known_name)
}

/// A hint: the nearest known name, or all of them.
pub(super) fn hint(name: &str, names: &[&str]) -> Option<String> {
    match nearest(name, names) {
        Some(known_name) => Some(format!("did you mean `{known_name}`?")),
        None if names.is_empty() => None,
        None if names.len() > MAX_LISTED_NAMES => Some(format!(
            "known are {} and {} more",
            list(&names[..MAX_LISTED_NAMES]),
            names.len() - MAX_LISTED_NAMES
        )),
        None => Some(format!("known are {}", list(names))),
    }
}

/// Names between back quotes, with commas.
pub(super) fn list(names: &[&str]) -> String {
    names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
}
