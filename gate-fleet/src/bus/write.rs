//! An entry, written.

use super::escape::{MARK, escaped};
use super::message::{Link, Message, Parent};
use crate::yaml::{self, Entry, Node};

impl Message {
    /// The entry, from its `---` to its last line break. Behind another entry an
    /// empty line stands before it.
    pub fn to_entry(&self) -> String {
        let header = yaml::text(&self.header());
        let mut entry = format!("{MARK}\n{header}{MARK}\n{}", escaped(&self.body));
        if self.body.is_empty() || !self.body.ends_with('\n') {
            entry.push('\n');
        }
        entry
    }

    fn header(&self) -> Vec<Entry> {
        let mut all = vec![
            text("msg_id", &self.msg_id),
            Entry::new("ts", self.ts()),
            text("type", &self.kind),
            text("project_id", &self.project_id),
            text("task_id", &self.task_id),
            text("run_id", &self.run_id),
        ];
        let parents = self.parents.iter().map(parent).collect();
        let links = self.links.iter().map(link).collect();
        let rest = [
            text("issue_id", &self.issue_id),
            Entry::new("parents", Node::List(parents)),
            Entry::new("links", Node::List(links)),
            Entry::new("meta", pairs(&self.meta)),
        ];
        all.extend(rest.into_iter().filter(|entry| !entry.value.is_empty()));
        all.extend(self.extra.iter().cloned());
        all
    }

    /// A moment is a moment only without quotes.
    fn ts(&self) -> Node {
        if self.time().is_some() {
            Node::plain(self.ts.as_str())
        } else {
            Node::text(self.ts.as_str())
        }
    }
}

/// A parent; its id alone if it has nothing else.
fn parent(parent: &Parent) -> Node {
    let all = [
        text("msg_id", &parent.msg_id),
        text("kind", &parent.kind),
        Entry::new("meta", pairs(&parent.meta)),
    ];
    Node::Map(some(all))
}

fn link(link: &Link) -> Node {
    Node::Map(some([text("url", &link.url), text("label", &link.label), text("kind", &link.kind)]))
}

/// The first entry, and those of the others that have a value.
fn some(all: [Entry; 3]) -> Vec<Entry> {
    let present =
        all.into_iter().enumerate().filter(|(at, entry)| *at == 0 || !entry.value.is_empty());
    present.map(|(_, entry)| entry).collect()
}

fn pairs(all: &[(String, String)]) -> Node {
    Node::Map(all.iter().map(|(key, value)| text(key, value)).collect())
}

fn text(key: &str, value: &str) -> Entry {
    Entry::new(key, Node::text(value))
}
