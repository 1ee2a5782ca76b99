//! The embedded settings and packs as JSON, which is read in a tenth of the
//! time that TOML takes, and the packs that feed the circuit breaker as Rust,
//! which is not read at all. Of a pack only what decides is kept: no samples.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::fs;
use std::path::Path;

use toml::{Table, Value};

use crate::expressions;

/// A pack: its name and what its file says.
pub(crate) struct Pack {
    pub(crate) name: String,
    pub(crate) table: Table,
}

impl Pack {
    /// Its patterns, as the file says them.
    pub(crate) fn patterns(&self) -> impl Iterator<Item = &Table> {
        self.list("pattern")
    }

    /// Its rules of normalisation.
    pub(crate) fn rules(&self) -> impl Iterator<Item = &Table> {
        self.list("normalise")
    }

    pub(crate) fn list(&self, name: &str) -> impl Iterator<Item = &Table> {
        let list = self.table.get(name).and_then(Value::as_array);
        list.into_iter().flatten().filter_map(Value::as_table)
    }
}

/// All packs of a folder, in order of their names.
pub(crate) fn packs(folder: &Path) -> Vec<Pack> {
    let entries = fs::read_dir(folder).expect("the folder of packs can be read");
    let paths = entries.map(|entry| entry.expect("it can be read").path());
    let mut packs: Vec<_> = paths
        .filter(|path| path.extension().is_some_and(|it| it == "toml"))
        .map(|path| {
            let name = path.file_stem().expect("a file has a name").to_string_lossy().into_owned();
            Pack { name, table: table(&path) }
        })
        .collect();
    packs.sort_by(|one, other| one.name.cmp(&other.name));
    packs
}

/// The default settings.
pub(crate) fn default(file: &Path) -> Table {
    table(file)
}

/// The patterns of a pack that settings name, without what only tests read.
pub(crate) fn patterns(pack: &Pack) -> Vec<Table> {
    let decides = |pattern: &Table| {
        let mut pattern = pattern.clone();
        for key in ["doc", "matches", "rejects"] {
            pattern.remove(key);
        }
        pattern
    };
    pack.patterns().map(decides).collect()
}

/// The breaker's packs as sources: a static of expressions for each kind of
/// patterns, which is the first word of their ids, and one of the rules.
pub(crate) fn statics(packs: &[Pack]) -> String {
    let mut kinds: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for pattern in packs.iter().flat_map(Pack::patterns) {
        let id = text(pattern, "id").expect("a pattern has an id");
        let kind = id.split('-').next().unwrap_or_default().to_uppercase();
        kinds.entry(kind).or_default().push(call(pattern));
    }
    let rules: Vec<_> = packs.iter().flat_map(Pack::rules).collect();
    let rules = rules.iter().map(|rule| format!("({}, {:?})", call(rule), text(rule, "with")));
    let mut sources = list("RULES", "(Expression, Option<&str>)", &rules.collect::<Vec<_>>());
    for (kind, calls) in kinds {
        sources += &list(&kind, "Expression", &calls);
    }
    sources
}

/// The call that makes an expression.
fn call(table: &Table) -> String {
    let source = expressions::source(table).expect("it has an expression");
    format!("Expression::to_match({source:?})")
}

fn list(name: &str, of: &str, items: &[String]) -> String {
    let mut source = format!("pub(super) static {name}: [{of}; {}] = [\n", items.len());
    for item in items {
        writeln!(source, "    {item},").expect("a string takes everything");
    }
    source + "];\n"
}

/// A text of a table.
pub(crate) fn text<'t>(table: &'t Table, key: &str) -> Option<&'t str> {
    table.get(key)?.as_str()
}

/// Plain data as JSON.
pub(crate) fn json(data: &impl serde::Serialize) -> String {
    serde_json::to_string(data).expect("it is plain data")
}

fn table(file: &Path) -> Table {
    let text = fs::read_to_string(file).expect("the file can be read");
    text.parse().unwrap_or_else(|error| panic!("{}: {error}", file.display()))
}
