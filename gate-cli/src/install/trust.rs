//! Codex's trust in hooks: a digest for each in config.toml, under the hook's place.

use std::path::Path;

use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use toml_edit::{Document, DocumentMut, Item, TableLike};

use super::hooks::{Form, LocatedEntry, Merged};
use super::json::{Flaw, line};
use crate::clients::Moment;

/// The tables that it stands in.
const TABLES: [&str; 2] = ["hooks", "state"];

/// The key of the digest.
const HASH: &str = "trusted_hash";

/// The member with the message while the hook runs.
const STATUS: &str = "statusMessage";

/// Codex's timeout for an entry that names none, in seconds.
const USUAL_TIMEOUT: u64 = 600;

/// The trust in one hook.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Trust {
    /// `FILE:EVENT:GROUP:INDEX`.
    pub(super) key: String,
    hash: String,
}

impl Trust {
    /// In the entry that was found in this file.
    pub(super) fn new(file: &Path, found: &LocatedEntry, form: &Form) -> Self {
        let entry = &found.entry;
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
        let hash = Sha256::digest(text.as_bytes());
        let hash: String = hash.iter().map(|byte| format!("{byte:02x}")).collect();
        let key = format!("{}:{event}:{}:{}", file.display(), found.group, found.index);
        Self { key, hash: format!("sha256:{hash}") }
    }

    /// Trust that is going to be removed: a key without a digest.
    pub(super) fn from_key(key: String) -> Self {
        Self { key, hash: String::new() }
    }

    /// True if a config.toml trusts the hook as it is; none if it does not mention the hook.
    ///
    /// # Errors
    ///
    /// A text that is no TOML.
    pub(super) fn holds(&self, text: &str) -> Result<Option<bool>, Flaw> {
        let document = parsed(text)?;
        let hash = state(document.as_table(), &TABLES);
        let hash =
            hash.and_then(|table| table.get(&self.key)?.as_table_like()?.get(HASH)?.as_str());
        Ok(hash.map(|hash| hash == self.hash))
    }

    /// The text with the trust in it; nothing else of it is touched.
    ///
    /// # Errors
    ///
    /// A text that is no TOML, or one whose tables are written so that none can be added.
    pub(super) fn merged(&self, text: &str) -> Result<Merged, Flaw> {
        let document = parsed(text)?;
        let known = state(document.as_table(), &TABLES).and_then(|table| table.get(&self.key));
        let text = match known.and_then(|table| table.as_table_like()?.get(HASH)?.span()) {
            Some(span) => {
                format!("{}\"{}\"{}", &text[..span.start], self.hash, &text[span.end..])
            }
            None => self.appended(text),
        };
        let made = (0..TABLES.len())
            .filter(|depth| state(document.as_table(), &TABLES[..=*depth]).is_none());
        let made = made.map(|depth| TABLES[..=depth].join("/")).collect();
        match self.holds(&text) {
            Ok(Some(true)) => Ok(Merged { text, made }),
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
        let end = if text.is_empty() || text.ends_with('\n') { "" } else { newline };
        let between = if text.is_empty() { "" } else { newline };
        let key = toml_edit::Value::from(self.key.as_str());
        let key = key.to_string();
        let [hooks, state] = TABLES;
        format!(
            "{text}{end}{between}[{hooks}.{state}.{}]{newline}{HASH} = \"{}\"{newline}",
            key.trim(),
            self.hash
        )
    }

    /// The text without the trust; none if it is not there.
    ///
    /// # Errors
    ///
    /// A text that is no TOML.
    pub(super) fn without(&self, text: &str, made: &[String]) -> Result<Option<String>, Flaw> {
        parsed(text)?;
        let Ok(mut document) = text.parse::<DocumentMut>() else { return Ok(None) };
        let gone =
            state_mut(document.as_table_mut(), &TABLES).and_then(|table| table.remove(&self.key));
        if gone.is_none() {
            return Ok(None);
        }
        for path in made.iter().rev() {
            let names: Vec<_> = path.split('/').collect();
            let Some((last, outer)) = names.split_last() else { continue };
            let of = state_mut(document.as_table_mut(), outer);
            if let Some(of) = of
                && of.get(last).and_then(Item::as_table_like).is_some_and(TableLike::is_empty)
            {
                of.remove(last);
            }
        }
        let shown = document.to_string();
        let is_crlf = text.contains("\r\n") && !shown.contains("\r\n");
        Ok(Some(if is_crlf { shown.replace('\n', "\r\n") } else { shown }))
    }
}

/// The text with all of these; nothing else of it is touched.
///
/// # Errors
///
/// As of [`Trust::merged`].
pub(super) fn merged(trusts: &[Trust], text: &str) -> Result<Merged, Flaw> {
    let mut all = Merged { text: text.to_owned(), made: Vec::new() };
    for trust in trusts {
        let Merged { text, made } = trust.merged(&all.text)?;
        all.text = text;
        all.made.extend(made);
    }
    Ok(all)
}

/// The text without any of these; none if it has none.
///
/// # Errors
///
/// As of [`Trust::without`].
pub(super) fn without(
    trusts: &[Trust],
    text: &str,
    made: &[String],
) -> Result<Option<String>, Flaw> {
    let mut clean: Option<String> = None;
    for trust in trusts.iter().rev() {
        let text = clean.as_deref().unwrap_or(text);
        clean = trust.without(text, made)?.or(clean);
    }
    Ok(clean)
}

fn parsed(text: &str) -> Result<Document<&str>, Flaw> {
    Document::parse(text).map_err(|error| Flaw {
        line: line(text, error.span().map_or(0, |span| span.start)),
        key: None,
        message: error.message().to_owned(),
    })
}

/// A switch in config.toml that is set to this.
pub(super) fn is_set(text: &str, path: &[&str], to: bool) -> bool {
    let Ok(document) = parsed(text) else { return false };
    let Some((last, outer)) = path.split_last() else { return false };
    state(document.as_table(), outer).and_then(|table| table.get(last)?.as_bool()) == Some(to)
}

fn state<'a>(root: &'a dyn TableLike, path: &[&str]) -> Option<&'a dyn TableLike> {
    path.iter().try_fold(root, |table, name| table.get(name)?.as_table_like())
}

fn state_mut<'a>(root: &'a mut dyn TableLike, path: &[&str]) -> Option<&'a mut dyn TableLike> {
    path.iter().try_fold(root, |table, name| table.get_mut(name)?.as_table_like_mut())
}

#[cfg(test)]
mod tests;
