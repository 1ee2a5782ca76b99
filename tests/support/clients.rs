//! The facts of clients, as `gate-cli/src/clients.toml` holds them.

use std::fs;
use std::sync::LazyLock;

use toml::{Table, Value};

use crate::needs::root;

static FACTS: LazyLock<Table> = LazyLock::new(|| {
    let file = root().join("gate-cli/src/clients.toml");
    toml::from_str(&fs::read_to_string(file).unwrap()).unwrap()
});

/// The tables of one kind: `client` or `program`.
pub(crate) fn tables(kind: &str) -> &'static [Value] {
    FACTS[kind].as_array().unwrap()
}

/// The names of all clients with hooks.
pub(crate) fn agents() -> impl Iterator<Item = &'static str> {
    tables("client").iter().map(|client| text(client, "name"))
}

/// The facts of this client.
#[track_caller]
pub(crate) fn facts(agent: &str) -> &'static Value {
    let mut clients = tables("client").iter();
    clients.find(|client| text(client, "name") == agent).expect(agent)
}

/// The clients that gate is installed for at this moment: `stop`, `start` or `prompt`.
pub(crate) fn agents_with(moment: &str) -> impl Iterator<Item = &'static str> {
    agents().filter(move |agent| texts(&facts(agent)["settings"], "installs").contains(&moment))
}

#[track_caller]
pub(crate) fn text<'f>(table: &'f Value, key: &str) -> &'f str {
    table[key].as_str().unwrap_or_else(|| panic!("{key} is no text: {table}"))
}

pub(crate) fn texts<'f>(table: &'f Value, key: &str) -> Vec<&'f str> {
    table[key].as_array().unwrap().iter().map(|text| text.as_str().unwrap()).collect()
}
