//! A fact's file, read and written.

use super::{Fact, FactError, Scope};
use crate::tree::{Entry, Node};
use crate::yaml::{self, mapping};

/// The line before and after the front matter.
const MARK: &str = "---";

impl Fact {
    /// Reads a file.
    ///
    /// # Errors
    ///
    /// No front matter, or a front matter that is no YAML or lacks a required key.
    pub fn parse(text: &str) -> Result<Self, FactError> {
        let (front, body) = split(text).ok_or(FactError::NoFrontMatter)?;
        let mut front = mapping(&front)?;
        let time = required(&mut front, "created_at", TIME)?;
        let scope = required(&mut front, "scope", SCOPES)?;
        Ok(Self {
            created_at: time.parse().or(Err(bad("created_at", TIME)))?,
            scope: Scope::named(&scope).ok_or(bad("scope", SCOPES))?,
            run_id: take(&mut front, "run_id").unwrap_or_default(),
            title: required(&mut front, "title", "what the fact is about")?,
            body,
            extra: front,
        })
    }

    /// The file's text.
    pub fn to_markdown(&self) -> String {
        let mut front = vec![
            Entry::new("created_at", Node::plain(self.created_at.to_string())),
            Entry::new("scope", Node::text(self.scope.name())),
            Entry::new("run_id", Node::text(&self.run_id)),
            Entry::new("title", Node::text(&self.title)),
        ];
        front.extend(self.extra.iter().cloned());
        let end = if self.body.is_empty() || self.body.ends_with('\n') { "" } else { "\n" };
        format!("{MARK}\n{}{MARK}\n\n{}{end}", yaml::text(front), self.body)
    }
}

const TIME: &str = "a time such as 2026-02-20T15:30:45Z";
const SCOPES: &str = "task, project or global";

/// The front matter and the text behind it, without the empty line between.
fn split(text: &str) -> Option<(String, String)> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut lines = text.split_inclusive('\n');
    lines.next().filter(|line| is_mark(line))?;
    let mut front = String::new();
    loop {
        match lines.next()? {
            line if is_mark(line) => break,
            line => front.push_str(line),
        }
    }
    let body: String = lines.collect();
    let body = body.strip_prefix("\r\n").or_else(|| body.strip_prefix('\n')).unwrap_or(&body);
    Some((front, body.to_owned()))
}

fn is_mark(line: &str) -> bool {
    line.trim_end() == MARK
}

fn required(
    front: &mut Vec<Entry>,
    key: &'static str,
    expected: &'static str,
) -> Result<String, FactError> {
    take(front, key).filter(|text| !text.is_empty()).ok_or(bad(key, expected))
}

fn take(front: &mut Vec<Entry>, key: &str) -> Option<String> {
    let at = front.iter().position(|entry| entry.key == key)?;
    front[at].value.as_str()?;
    front.remove(at).value.as_str().map(str::to_owned)
}

fn bad(key: &'static str, expected: &'static str) -> FactError {
    FactError::Key { key, expected }
}
