//! Adds, finds and removes gate's entries among the hooks of an agent's settings, one for each
//! event.

use serde_json::{Map, Value, json};

use super::command::{self, Commands};
use super::json::{Dialect, Flaw, Layout, Member, Node, added, line, parse, removed, replaced};
use crate::agent::Agent;
use crate::clients::{EntryFacts, Moment, Reading, TimeUnit};

/// The member that holds all hooks.
const HOOKS: &str = "hooks";

/// Layout of an agent's hooks.
#[derive(Clone, Debug)]
pub(crate) struct Form {
    pub(super) agent: Agent,
    /// The client's name for the event.
    pub(super) event: &'static str,
    pub(super) moment: Moment,
    pub(super) facts: &'static EntryFacts,
    /// The entry.
    pub(super) entry: Map<String, Value>,
}

/// An entry of gate's, with its place.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct LocatedEntry {
    /// The index of its group, 0 if there are none.
    pub(crate) group: usize,
    pub(crate) index: usize,
    pub(crate) entry: Value,
}

/// A document with gate's entry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Merged {
    pub(super) text: String,
    /// Paths of members that were created for it, outermost first.
    pub(super) made: Vec<String>,
}

impl Form {
    /// The entry for an event, by the facts.
    pub(super) fn new(
        event: &'static str,
        facts: &'static EntryFacts,
        commands: &Commands<'_>,
        moment: Moment,
    ) -> Self {
        let timeout = match facts.unit {
            TimeUnit::Seconds => moment.timeout(),
            TimeUnit::Milliseconds => moment.timeout() * 1000,
        };
        let mut entry: Map<_, _> = facts.fixed.clone().into_iter().collect();
        entry.insert(facts.command.clone(), commands.at(moment).into());
        entry.insert(facts.timeout.clone(), timeout.into());
        if moment == Moment::Stop {
            entry.extend(facts.at_stop.clone());
        }
        Self { agent: commands.agent(), event, moment, facts, entry }
    }

    /// The JSON dialect that the client reads.
    pub(super) fn dialect(&self) -> Dialect {
        match self.facts.reads {
            Reading::Any => Dialect::ANY,
            Reading::Plain => Dialect::PLAIN,
            Reading::Marked => Dialect::MARKED,
            Reading::Commented => Dialect::COMMENTED,
        }
    }

    /// The command of an entry of this form.
    pub(crate) fn command<'a>(&self, entry: &'a Value) -> Option<&'a str> {
        entry.get(&self.facts.command)?.as_str()
    }

    fn is_ours(&self, entry: &Value) -> bool {
        self.command(entry).is_some_and(|command| command::is_ours(command, self.agent))
    }

    /// gate's entries in a document.
    ///
    /// # Errors
    ///
    /// No JSON, or hooks of another shape.
    pub(super) fn found(&self, text: &str) -> Result<Vec<LocatedEntry>, Flaw> {
        let root = self.checked(text)?;
        let Some(event) = root.as_ref().and_then(|root| root.get(HOOKS)?.get(self.event)) else {
            return Ok(Vec::new());
        };
        let mut found = Vec::new();
        for (group, list) in self.lists(event) {
            for (index, entry) in list.items().into_iter().flatten().enumerate() {
                let entry = entry.value();
                if self.is_ours(&entry) {
                    found.push(LocatedEntry { group, index, entry });
                }
            }
        }
        Ok(found)
    }

    /// The lists that hold entries, by the group's index.
    fn lists<'a>(&self, event: &'a Node) -> Vec<(usize, &'a Node)> {
        if !self.facts.is_grouped {
            return vec![(0, event)];
        }
        let groups = event.items().into_iter().flatten().enumerate();
        groups.filter_map(|(index, group)| Some((index, group.get(HOOKS)?))).collect()
    }

    /// The document with gate's entry, once: if there is one already, it is brought up to date in
    /// its place.
    ///
    /// # Errors
    ///
    /// As of [`Self::found`].
    pub(super) fn merged(&self, text: &str) -> Result<Merged, Flaw> {
        let mut merged = Merged { text: self.begun(text)?, made: Vec::new() };
        let found = self.found(&merged.text)?;
        for more in found.iter().skip(1).rev() {
            merged.text = self.without_entry(&merged.text, more)?;
        }
        match found.first() {
            Some(found) => merged.text = self.updated(&merged.text, found)?,
            None => self.append(&mut merged)?,
        }
        for (name, value) in &self.facts.beside {
            let root = self.root(&merged.text)?;
            if root.get(name).is_none() {
                let layout = Layout::new(&merged.text, Some(&root));
                let value = Value::from(*value);
                merged.text = added(&merged.text, &layout, &root, Some(name), &value);
                merged.made.push(name.clone());
            }
        }
        let holds = self.found(&merged.text)?;
        let [one] = holds.as_slice() else { return Err(unchanged(&merged.text)) };
        let is_wanted = self.entry.iter().all(|(name, value)| one.entry.get(name) == Some(value));
        if is_wanted { Ok(merged) } else { Err(unchanged(&merged.text)) }
    }

    /// A text without any value gets an empty object.
    fn begun(&self, text: &str) -> Result<String, Flaw> {
        if self.checked(text)?.is_some() {
            return Ok(text.to_owned());
        }
        let newline = Layout::new(text, None).newline();
        let comments = text.trim_end();
        let between = if comments.is_empty() { "" } else { newline };
        Ok(format!("{comments}{between}{{}}{newline}"))
    }

    /// Adds the entry, with the containers that it needs.
    fn append(&self, merged: &mut Merged) -> Result<(), Flaw> {
        let root = self.root(&merged.text)?;
        let layout = Layout::new(&merged.text, Some(&root));
        let entry = Value::Object(self.entry.clone());
        let item = if self.facts.is_grouped { json!({ HOOKS: [entry] }) } else { entry };
        let event_path = format!("{HOOKS}/{}", self.event);
        let (to, name, value) = match root.get(HOOKS) {
            None => {
                merged.made.extend([HOOKS.to_owned(), event_path]);
                (&root, Some(HOOKS), json!({ self.event: [item] }))
            }
            Some(hooks) => match hooks.get(self.event) {
                None => {
                    merged.made.push(event_path);
                    (hooks, Some(self.event), json!([item]))
                }
                Some(list) => (list, None, item),
            },
        };
        merged.text = added(&merged.text, &layout, to, name, &value);
        Ok(())
    }

    /// Sets the members of an entry that are not as they should be.
    fn updated(&self, text: &str, found: &LocatedEntry) -> Result<String, Flaw> {
        let mut text = text.to_owned();
        for (name, value) in &self.entry {
            let root = self.root(&text)?;
            let layout = Layout::new(&text, Some(&root));
            let Some(entry) = self.entry_at(&root, found) else { return Err(unchanged(&text)) };
            text = match entry.get(name) {
                Some(node) if node.value() == *value => continue,
                Some(node) => replaced(&text, &layout, node, value),
                None => added(&text, &layout, entry, Some(name), value),
            };
        }
        Ok(text)
    }

    fn entry_at<'a>(&self, root: &'a Node, found: &LocatedEntry) -> Option<&'a Node> {
        self.list_at(root, found)?.items()?.get(found.index)
    }

    fn list_at<'a>(&self, root: &'a Node, found: &LocatedEntry) -> Option<&'a Node> {
        let event = root.get(HOOKS)?.get(self.event)?;
        if self.facts.is_grouped {
            event.items()?.get(found.group)?.get(HOOKS)
        } else {
            Some(event)
        }
    }

    /// The document without gate's entries, and without what was made for them
    /// and holds nothing now; none if there is no entry.
    ///
    /// # Errors
    ///
    /// As of [`Self::found`].
    pub(super) fn without(&self, text: &str, made: &[String]) -> Result<Option<String>, Flaw> {
        let found = self.found(text)?;
        if found.is_empty() {
            return Ok(None);
        }
        let mut text = text.to_owned();
        for one in found.iter().rev() {
            text = self.without_entry(&text, one)?;
        }
        for path in made.iter().rev() {
            text = self.without_member(&text, path)?;
        }
        if self.found(&text)?.is_empty() { Ok(Some(text)) } else { Err(unchanged(&text)) }
    }

    /// Without one entry; a group that would be left with none goes with it.
    fn without_entry(&self, text: &str, found: &LocatedEntry) -> Result<String, Flaw> {
        let root = self.root(text)?;
        let Some(list) = self.list_at(&root, found) else { return Err(unchanged(text)) };
        let is_last = list.items().is_none_or(|items| items.len() == 1);
        let groups = root.get(HOOKS).and_then(|hooks| hooks.get(self.event));
        let (from, index) = match groups {
            Some(groups) if self.facts.is_grouped && is_last => (groups, found.group),
            _ => (list, found.index),
        };
        let mut wanted = from.value();
        wanted.as_array_mut().map(|items| items.remove(index));
        let text = removed(text, from, index);
        let now = self.root(&text)?;
        let now = now.get(HOOKS).and_then(|hooks| hooks.get(self.event));
        let now = if self.facts.is_grouped && !is_last {
            now.and_then(|event| event.items()?.get(found.group)?.get(HOOKS))
        } else {
            now
        };
        if now.is_some_and(|list| list.value() == wanted) {
            Ok(text)
        } else {
            Err(unchanged(&text))
        }
    }

    /// Without a member that gate made: an empty container, or what stands
    /// beside the hooks as gate wrote it, if nothing else is left.
    fn without_member(&self, text: &str, path: &str) -> Result<String, Flaw> {
        let root = self.root(text)?;
        let (of, name) = match path.split_once('/') {
            Some((outer, name)) => (root.get(outer), name),
            None => (Some(&root), path),
        };
        let Some((of, members)) = of.and_then(|of| Some((of, of.members()?))) else {
            return Ok(text.to_owned());
        };
        let index = members.iter().position(|member| member.name == name);
        match index {
            Some(index) if self.is_removable(&members[index]) => Ok(removed(text, of, index)),
            _ => Ok(text.to_owned()),
        }
    }

    fn is_removable(&self, member: &Member) -> bool {
        let Member { name, node, .. } = member;
        node.members().is_some_and(<[_]>::is_empty)
            || node.items().is_some_and(<[_]>::is_empty)
            || self
                .facts
                .beside
                .iter()
                .any(|(beside, value)| beside == name && node.value() == *value)
    }

    fn root(&self, text: &str) -> Result<Node, Flaw> {
        self.checked(text)?.ok_or_else(|| unchanged(text))
    }

    /// The document, if it has the shape of an agent's settings.
    fn checked(&self, text: &str) -> Result<Option<Node>, Flaw> {
        let Some(root) = parse(text)? else { return Ok(None) };
        let event = format!("{HOOKS}.{}", self.event);
        object(text, &root, None)?;
        if let Some(hooks) = single(text, &root, HOOKS, HOOKS)? {
            object(text, hooks, Some(HOOKS))?;
            if let Some(list) = single(text, hooks, self.event, &event)? {
                self.groups(text, list, &event)?;
            }
        }
        Ok(Some(root))
    }

    fn groups(&self, text: &str, list: &Node, key: &str) -> Result<(), Flaw> {
        let Some(items) = list.items() else { return Err(wrong(text, list, key, "an array")) };
        for (index, item) in items.iter().enumerate() {
            let key = format!("{key}[{index}]");
            object(text, item, Some(&key))?;
            let key = format!("{key}.{HOOKS}");
            if self.facts.is_grouped
                && let Some(hooks) = single(text, item, HOOKS, &key)?
                && hooks.items().is_none()
            {
                return Err(wrong(text, hooks, &key, "an array"));
            }
        }
        Ok(())
    }
}

/// The document with an entry of each form, once.
///
/// # Errors
///
/// As of [`Form::merged`].
pub(super) fn merged(forms: &[Form], text: &str) -> Result<Merged, Flaw> {
    let mut all = Merged { text: text.to_owned(), made: Vec::new() };
    for form in forms {
        let Merged { text, made } = form.merged(&all.text)?;
        all.text = text;
        all.made.extend(made);
    }
    Ok(all)
}

/// The document without the entries of any form; none if it has none.
///
/// # Errors
///
/// As of [`Form::without`].
pub(super) fn without(forms: &[Form], text: &str, made: &[String]) -> Result<Option<String>, Flaw> {
    let mut clean: Option<String> = None;
    for form in forms.iter().rev() {
        let text = clean.as_deref().unwrap_or(text);
        clean = form.without(text, made)?.or(clean);
    }
    Ok(clean)
}

/// A member that is there at most once: of two, it is not known which one counts.
fn single<'a>(text: &str, of: &'a Node, name: &str, key: &str) -> Result<Option<&'a Node>, Flaw> {
    let mut named = of.members().into_iter().flatten().filter(|member| member.name == name);
    match (named.next(), named.next()) {
        (_, Some(second)) => Err(Flaw {
            line: line(text, second.start),
            key: Some(key.to_owned()),
            message: format!("{key} is there twice; it is expected once"),
        }),
        (first, None) => Ok(first.map(|member| &member.node)),
    }
}

fn object(text: &str, node: &Node, key: Option<&str>) -> Result<(), Flaw> {
    if node.members().is_some() {
        return Ok(());
    }
    let flaw = wrong(text, node, key.unwrap_or("the document"), "an object");
    Err(Flaw { key: key.map(str::to_owned), ..flaw })
}

fn wrong(text: &str, node: &Node, key: &str, expected: &str) -> Flaw {
    let message = format!("{key} is {}, and {expected} is expected", node.what());
    Flaw { line: line(text, node.start), key: Some(key.to_owned()), message }
}

/// The change would have changed something else: better none.
fn unchanged(text: &str) -> Flaw {
    let message = "gate cannot change it without touching something else".to_owned();
    Flaw { line: line(text, text.len()), key: None, message }
}

#[cfg(test)]
pub(super) mod tests;
