//! Codex's trust in hooks: a digest for each in config.toml, under the hook's place.

use std::path::Path;

use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use toml_edit::{Document, DocumentMut, Item, TableLike};

use super::hooks::{Form, LocatedEntry, Merged};
use super::json::{Flaw, line_number};
use crate::clients::Moment;

/// The tables that the trust stands in.
const TABLES: [&str; 2] = ["hooks", "state"];

/// The key of the digest.
const HASH: &str = "trusted_hash";

/// The member with the message while the hook runs.
const STATUS: &str = "statusMessage";

/// Codex's timeout for an entry that names none, in seconds.
const USUAL_TIMEOUT: u64 = 600;

/// The trust in one hook.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct HookTrust {
    /// `FILE:EVENT:GROUP:INDEX`.
    pub(super) key: String,
    hash: String,
}

impl HookTrust {
    /// The trust in an entry that stands in this file.
    pub(super) fn new(file: &Path, located: &LocatedEntry, form: &Form) -> Self {
        let entry = &located.entry;
        let mut hook = json!({
            "async": entry.get("async").cloned().unwrap_or(Value::from(false)),
            "command": form.command(entry).unwrap_or_default(),
            "timeout": entry.get("timeout").cloned().unwrap_or(Value::from(USUAL_TIMEOUT)),
            "type": "command",
        });
        if let Some(status) = entry.get(STATUS) {
            hook[STATUS] = status.clone();
        }
        // The digest needs the members in the order of their names.
        let event = match form.moment {
            Moment::Stop => "stop",
            Moment::Start => "session_start",
            Moment::Prompt => "user_prompt_submit",
            Moment::End => "session_end",
        };
        let text = json!({ "event_name": event, "hooks": [hook] }).to_string();
        let digest = Sha256::digest(text.as_bytes());
        let hash: String = digest.iter().map(|byte| format!("{byte:02x}")).collect();
        let key = format!("{}:{event}:{}:{}", file.display(), located.group, located.index);
        Self { key, hash: format!("sha256:{hash}") }
    }

    /// Trust that is going to be removed: a key without a digest.
    pub(super) fn from_key(key: String) -> Self {
        Self { key, hash: String::new() }
    }

    /// A config.toml trusts the hook as it is. `None` if it does not mention the hook.
    ///
    /// # Errors
    ///
    /// A text that is no TOML.
    pub(super) fn is_in(&self, text: &str) -> Result<Option<bool>, Flaw> {
        let document = parse(text)?;
        let state = table(document.as_table(), &TABLES);
        let hash =
            state.and_then(|state| state.get(&self.key)?.as_table_like()?.get(HASH)?.as_str());
        Ok(hash.map(|hash| hash == self.hash))
    }

    /// The text with the trust in it; nothing else of it is touched.
    ///
    /// # Errors
    ///
    /// A text that is no TOML, or one whose tables are written so that none can be added.
    pub(super) fn merged(&self, text: &str) -> Result<Merged, Flaw> {
        let document = parse(text)?;
        let entry = table(document.as_table(), &TABLES).and_then(|state| state.get(&self.key));
        let new_text = match entry.and_then(|entry| entry.as_table_like()?.get(HASH)?.span()) {
            Some(span) => {
                format!("{}\"{}\"{}", &text[..span.start], self.hash, &text[span.end..])
            }
            None => self.appended(text),
        };
        let missing_depths = (0..TABLES.len())
            .filter(|depth| table(document.as_table(), &TABLES[..=*depth]).is_none());
        let made = missing_depths.map(|depth| TABLES[..=depth].join("/")).collect();
        // An appended table is no part of one that is written inline.
        match self.is_in(&new_text) {
            Ok(Some(true)) => Ok(Merged { text: new_text, made }),
            _ => Err(Flaw {
                line: 1,
                key: Some(TABLES.join(".")),
                message: "hooks.state is written so that no table can be added to it; a table \
                          with a header of its own is expected"
                    .to_owned(),
            }),
        }
    }

    fn appended(&self, text: &str) -> String {
        let newline = if text.contains("\r\n") { "\r\n" } else { "\n" };
        let line_end = if text.is_empty() || text.ends_with('\n') { "" } else { newline };
        let blank_line = if text.is_empty() { "" } else { newline };
        let quoted_key = toml_edit::Value::from(self.key.as_str()).to_string();
        let [hooks, state] = TABLES;
        format!(
            "{text}{line_end}{blank_line}[{hooks}.{state}.{}]{newline}{HASH} = \"{}\"{newline}",
            quoted_key.trim(),
            self.hash
        )
    }

    /// The text without the trust; `None` if the text does not have it.
    ///
    /// # Errors
    ///
    /// A text that is no TOML.
    pub(super) fn without(&self, text: &str, made: &[String]) -> Result<Option<String>, Flaw> {
        parse(text)?;
        let Ok(mut document) = text.parse::<DocumentMut>() else { return Ok(None) };
        let removed =
            table_mut(document.as_table_mut(), &TABLES).and_then(|state| state.remove(&self.key));
        if removed.is_none() {
            return Ok(None);
        }
        for path in made.iter().rev() {
            let names: Vec<_> = path.split('/').collect();
            let Some((last, outer)) = names.split_last() else { continue };
            let parent = table_mut(document.as_table_mut(), outer);
            if let Some(parent) = parent
                && parent.get(last).and_then(Item::as_table_like).is_some_and(TableLike::is_empty)
            {
                parent.remove(last);
            }
        }
        // The library writes line feeds alone.
        let new_text = document.to_string();
        let has_lost_crlf = text.contains("\r\n") && !new_text.contains("\r\n");
        Ok(Some(if has_lost_crlf { new_text.replace('\n', "\r\n") } else { new_text }))
    }
}

/// The text with all of these; nothing else of it is touched.
///
/// # Errors
///
/// Those of [`HookTrust::merged`].
pub(super) fn merged(trusts: &[HookTrust], text: &str) -> Result<Merged, Flaw> {
    let mut merged = Merged { text: text.to_owned(), made: Vec::new() };
    for trust in trusts {
        let Merged { text, made } = trust.merged(&merged.text)?;
        merged.text = text;
        merged.made.extend(made);
    }
    Ok(merged)
}

/// The text without any of these; `None` if it has none of them.
///
/// # Errors
///
/// Those of [`HookTrust::without`].
pub(super) fn without(
    trusts: &[HookTrust],
    text: &str,
    made: &[String],
) -> Result<Option<String>, Flaw> {
    let mut cleaned: Option<String> = None;
    for trust in trusts.iter().rev() {
        let text = cleaned.as_deref().unwrap_or(text);
        cleaned = trust.without(text, made)?.or(cleaned);
    }
    Ok(cleaned)
}

fn parse(text: &str) -> Result<Document<&str>, Flaw> {
    Document::parse(text).map_err(|error| Flaw {
        line: line_number(text, error.span().map_or(0, |span| span.start)),
        key: None,
        message: error.message().to_owned(),
    })
}

/// A switch in config.toml is set to this.
pub(super) fn is_set(text: &str, path: &[&str], value: bool) -> bool {
    let Ok(document) = parse(text) else { return false };
    let Some((last, outer)) = path.split_last() else { return false };
    table(document.as_table(), outer).and_then(|table| table.get(last)?.as_bool()) == Some(value)
}

fn table<'a>(root: &'a dyn TableLike, path: &[&str]) -> Option<&'a dyn TableLike> {
    path.iter().try_fold(root, |table, name| table.get(name)?.as_table_like())
}

fn table_mut<'a>(root: &'a mut dyn TableLike, path: &[&str]) -> Option<&'a mut dyn TableLike> {
    path.iter().try_fold(root, |table, name| table.get_mut(name)?.as_table_like_mut())
}

#[cfg(test)]
mod tests;
