//! Adds, finds and removes gate's entries among the hooks of an agent's settings, one for each
//! event.

use serde_json::{Map, Value, json};

use super::command::{self, Commands};
use super::json::{
    Dialect, Flaw, Layout, Member, Node, added, line_number, parse, removed, replaced,
};
use crate::agent::Agent;
use crate::clients::{EntryFacts, Moment, Reading, TimeUnit};

/// The member that holds all hooks.
const HOOKS: &str = "hooks";

/// The form of gate's entry among an agent's hooks.
#[derive(Clone, Debug)]
pub(crate) struct Form {
    pub(super) agent: Agent,
    /// The client's name for the event.
    pub(super) event: &'static str,
    pub(super) moment: Moment,
    pub(super) facts: &'static EntryFacts,
    /// The entry as an installation writes it.
    pub(super) entry: Map<String, Value>,
}

/// An entry of gate's, with its place.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct LocatedEntry {
    /// The index of its group; 0 if entries have no groups.
    pub(crate) group: usize,
    pub(crate) index: usize,
    pub(crate) entry: Value,
}

/// A document with gate's entry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Merged {
    pub(super) text: String,
    /// Paths of members that were created for the entry, outermost first.
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
        entry.insert(facts.command.clone(), commands.for_event(moment).into());
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

    fn is_gates(&self, entry: &Value) -> bool {
        self.command(entry).is_some_and(|command| command::is_gates(command, self.agent))
    }

    /// gate's entries in a document.
    ///
    /// # Errors
    ///
    /// No JSON, or hooks of another shape.
    pub(super) fn find_entries(&self, text: &str) -> Result<Vec<LocatedEntry>, Flaw> {
        let root = self.parse(text)?;
        let Some(event) = root.as_ref().and_then(|root| root.get(HOOKS)?.get(self.event)) else {
            return Ok(Vec::new());
        };
        let mut entries = Vec::new();
        for (group, list) in self.lists(event) {
            for (index, node) in list.elements().into_iter().flatten().enumerate() {
                let entry = node.value();
                if self.is_gates(&entry) {
                    entries.push(LocatedEntry { group, index, entry });
                }
            }
        }
        Ok(entries)
    }

    /// The lists that hold entries, by the group's index.
    fn lists<'a>(&self, event: &'a Node) -> Vec<(usize, &'a Node)> {
        if !self.facts.is_grouped {
            return vec![(0, event)];
        }
        let groups = event.elements().into_iter().flatten().enumerate();
        groups.filter_map(|(index, group)| Some((index, group.get(HOOKS)?))).collect()
    }

    /// The document with gate's entry, once: if there is one already, it is brought up to date in
    /// its place.
    ///
    /// # Errors
    ///
    /// Those of [`Self::find_entries`].
    pub(super) fn merged(&self, text: &str) -> Result<Merged, Flaw> {
        let mut merged = Merged { text: self.with_root(text)?, made: Vec::new() };
        let entries = self.find_entries(&merged.text)?;
        // The last one first: a removal moves the entries behind it.
        for surplus in entries.iter().skip(1).rev() {
            merged.text = self.without_entry(&merged.text, surplus)?;
        }
        match entries.first() {
            Some(entry) => merged.text = self.updated(&merged.text, entry)?,
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
        // The text was edited by hand, so the result is looked at before it counts.
        let entries = self.find_entries(&merged.text)?;
        let [only] = entries.as_slice() else { return Err(uneditable(&merged.text)) };
        let is_complete =
            self.entry.iter().all(|(name, value)| only.entry.get(name) == Some(value));
        if is_complete { Ok(merged) } else { Err(uneditable(&merged.text)) }
    }

    /// A text without any value gets an empty object.
    fn with_root(&self, text: &str) -> Result<String, Flaw> {
        if self.parse(text)?.is_some() {
            return Ok(text.to_owned());
        }
        let newline = Layout::new(text, None).newline();
        let comments = text.trim_end();
        let separator = if comments.is_empty() { "" } else { newline };
        Ok(format!("{comments}{separator}{{}}{newline}"))
    }

    /// Adds the entry, with the containers that it needs.
    fn append(&self, merged: &mut Merged) -> Result<(), Flaw> {
        let root = self.root(&merged.text)?;
        let layout = Layout::new(&merged.text, Some(&root));
        let entry = Value::Object(self.entry.clone());
        let element = if self.facts.is_grouped { json!({ HOOKS: [entry] }) } else { entry };
        let event_path = format!("{HOOKS}/{}", self.event);
        let (container, name, value) = match root.get(HOOKS) {
            None => {
                merged.made.extend([HOOKS.to_owned(), event_path]);
                (&root, Some(HOOKS), json!({ self.event: [element] }))
            }
            Some(hooks) => match hooks.get(self.event) {
                None => {
                    merged.made.push(event_path);
                    (hooks, Some(self.event), json!([element]))
                }
                Some(list) => (list, None, element),
            },
        };
        merged.text = added(&merged.text, &layout, container, name, &value);
        Ok(())
    }

    /// Sets the members of an entry that are not as an installation writes them.
    fn updated(&self, text: &str, located: &LocatedEntry) -> Result<String, Flaw> {
        let mut text = text.to_owned();
        for (name, value) in &self.entry {
            // Each edit moves what follows, so the text is parsed again.
            let root = self.root(&text)?;
            let layout = Layout::new(&text, Some(&root));
            let Some(entry) = self.entry_node(&root, located) else {
                return Err(uneditable(&text));
            };
            text = match entry.get(name) {
                Some(node) if node.value() == *value => continue,
                Some(node) => replaced(&text, &layout, node, value),
                None => added(&text, &layout, entry, Some(name), value),
            };
        }
        Ok(text)
    }

    fn entry_node<'a>(&self, root: &'a Node, located: &LocatedEntry) -> Option<&'a Node> {
        self.list_node(root, located)?.elements()?.get(located.index)
    }

    /// The list that holds an entry.
    fn list_node<'a>(&self, root: &'a Node, located: &LocatedEntry) -> Option<&'a Node> {
        let event = root.get(HOOKS)?.get(self.event)?;
        if self.facts.is_grouped {
            event.elements()?.get(located.group)?.get(HOOKS)
        } else {
            Some(event)
        }
    }

    /// The document without gate's entries, and without the members that were made for them and hold
    /// nothing now; `None` if there is no entry.
    ///
    /// # Errors
    ///
    /// Those of [`Self::find_entries`].
    pub(super) fn without(&self, text: &str, made: &[String]) -> Result<Option<String>, Flaw> {
        let entries = self.find_entries(text)?;
        if entries.is_empty() {
            return Ok(None);
        }
        let mut text = text.to_owned();
        for entry in entries.iter().rev() {
            text = self.without_entry(&text, entry)?;
        }
        for path in made.iter().rev() {
            text = self.without_member(&text, path)?;
        }
        if self.find_entries(&text)?.is_empty() { Ok(Some(text)) } else { Err(uneditable(&text)) }
    }

    /// Without one entry. A group without another entry goes with it.
    fn without_entry(&self, text: &str, located: &LocatedEntry) -> Result<String, Flaw> {
        let root = self.root(text)?;
        let Some(list) = self.list_node(&root, located) else { return Err(uneditable(text)) };
        let is_last = list.elements().is_none_or(|elements| elements.len() == 1);
        let groups = root.get(HOOKS).and_then(|hooks| hooks.get(self.event));
        let (container, index) = match groups {
            Some(groups) if self.facts.is_grouped && is_last => (groups, located.group),
            _ => (list, located.index),
        };
        let mut expected = container.value();
        expected.as_array_mut().map(|elements| elements.remove(index));
        let new_text = removed(text, container, index);
        let new_root = self.root(&new_text)?;
        let new_event = new_root.get(HOOKS).and_then(|hooks| hooks.get(self.event));
        let new_container = if self.facts.is_grouped && !is_last {
            new_event.and_then(|event| event.elements()?.get(located.group)?.get(HOOKS))
        } else {
            new_event
        };
        if new_container.is_some_and(|container| container.value() == expected) {
            Ok(new_text)
        } else {
            Err(uneditable(&new_text))
        }
    }

    /// Without a member that gate made: an empty container, or a member beside the hooks that is as gate
    /// wrote it.
    fn without_member(&self, text: &str, path: &str) -> Result<String, Flaw> {
        let root = self.root(text)?;
        let (container, name) = match path.split_once('/') {
            Some((outer, name)) => (root.get(outer), name),
            None => (Some(&root), path),
        };
        let Some(container) = container else { return Ok(text.to_owned()) };
        let members = container.members().unwrap_or_default();
        let index = members.iter().position(|member| member.name == name);
        match index {
            Some(index) if self.is_removable(&members[index]) => {
                Ok(removed(text, container, index))
            }
            _ => Ok(text.to_owned()),
        }
    }

    fn is_removable(&self, member: &Member) -> bool {
        let Member { name, node, .. } = member;
        node.members().is_some_and(<[_]>::is_empty)
            || node.elements().is_some_and(<[_]>::is_empty)
            || self.facts.beside.get(name).is_some_and(|value| node.value() == *value)
    }

    fn root(&self, text: &str) -> Result<Node, Flaw> {
        self.parse(text)?.ok_or_else(|| uneditable(text))
    }

    /// The document, if it has the shape of an agent's settings.
    fn parse(&self, text: &str) -> Result<Option<Node>, Flaw> {
        let Some(root) = parse(text)? else { return Ok(None) };
        let event = format!("{HOOKS}.{}", self.event);
        check_object(text, &root, None)?;
        if let Some(hooks) = single_member(text, &root, HOOKS, HOOKS)? {
            check_object(text, hooks, Some(HOOKS))?;
            if let Some(list) = single_member(text, hooks, self.event, &event)? {
                self.check_groups(text, list, &event)?;
            }
        }
        Ok(Some(root))
    }

    fn check_groups(&self, text: &str, list: &Node, key: &str) -> Result<(), Flaw> {
        let Some(elements) = list.elements() else {
            return Err(wrong_type(text, list, key, "an array"));
        };
        for (index, element) in elements.iter().enumerate() {
            let element_key = format!("{key}[{index}]");
            check_object(text, element, Some(&element_key))?;
            let hooks_key = format!("{element_key}.{HOOKS}");
            if self.facts.is_grouped
                && let Some(hooks) = single_member(text, element, HOOKS, &hooks_key)?
                && hooks.elements().is_none()
            {
                return Err(wrong_type(text, hooks, &hooks_key, "an array"));
            }
        }
        Ok(())
    }
}

/// The document with an entry of each form, once.
///
/// # Errors
///
/// Those of [`Form::merged`].
pub(super) fn merged(forms: &[Form], text: &str) -> Result<Merged, Flaw> {
    let mut merged = Merged { text: text.to_owned(), made: Vec::new() };
    for form in forms {
        let Merged { text, made } = form.merged(&merged.text)?;
        merged.text = text;
        merged.made.extend(made);
    }
    Ok(merged)
}

/// The document without the entries of any form; `None` if it has no such entry.
///
/// # Errors
///
/// Those of [`Form::without`].
pub(super) fn without(forms: &[Form], text: &str, made: &[String]) -> Result<Option<String>, Flaw> {
    let mut cleaned: Option<String> = None;
    for form in forms.iter().rev() {
        let text = cleaned.as_deref().unwrap_or(text);
        cleaned = form.without(text, made)?.or(cleaned);
    }
    Ok(cleaned)
}

/// A member that an object may have once. Of two, readers differ on the one that counts.
fn single_member<'a>(
    text: &str,
    object: &'a Node,
    name: &str,
    key: &str,
) -> Result<Option<&'a Node>, Flaw> {
    let members = object.members().into_iter().flatten();
    let mut namesakes = members.filter(|member| member.name == name);
    match (namesakes.next(), namesakes.next()) {
        (_, Some(second)) => Err(Flaw {
            line: line_number(text, second.start),
            key: Some(key.to_owned()),
            message: format!("{key} is there twice; it is expected once"),
        }),
        (first, None) => Ok(first.map(|member| &member.node)),
    }
}

fn check_object(text: &str, node: &Node, key: Option<&str>) -> Result<(), Flaw> {
    if node.members().is_some() {
        return Ok(());
    }
    let flaw = wrong_type(text, node, key.unwrap_or("the document"), "an object");
    Err(Flaw { key: key.map(str::to_owned), ..flaw })
}

fn wrong_type(text: &str, node: &Node, key: &str, expected: &str) -> Flaw {
    let message = format!("{key} is {}, and {expected} is expected", node.type_name());
    Flaw { line: line_number(text, node.start), key: Some(key.to_owned()), message }
}

/// The change would have changed something else, so it is not made.
fn uneditable(text: &str) -> Flaw {
    let message = "gate cannot change it without touching something else".to_owned();
    Flaw { line: line_number(text, text.len()), key: None, message }
}

#[cfg(test)]
pub(super) mod tests;
