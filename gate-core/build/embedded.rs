//! The embedded settings and packs as Rust, which is not read when gate starts. Of a
//! pack only what decides is kept: no samples.

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

/// The default settings as a source: a function that sets them one by one. Which type
/// a value has, the compiler finds out.
pub(crate) fn default(file: &Path) -> String {
    let mut source = "pub(super) fn default() -> RawConfig {\n".to_owned();
    source += "    let mut raw = RawConfig::default();\n";
    settings(&table(file), "raw", &mut source);
    source + "    raw\n}\n"
}

/// Sets what a table says at a place.
fn settings(table: &Table, place: &str, source: &mut String) {
    for (key, value) in table {
        let at = format!("{place}.{key}");
        let value = match value {
            Value::Table(inner) => {
                let inner_place = format!("{at}.get_or_insert_default()");
                writeln!(source, "    {inner_place};").expect("a string takes everything");
                settings(inner, &inner_place, source);
                continue;
            }
            Value::Integer(number) => format!("number({number})"),
            Value::String(text) => format!("text({text:?})"),
            Value::Array(all) => {
                format!("texts(&{:?})", all.iter().filter_map(Value::as_str).collect::<Vec<_>>())
            }
            Value::Boolean(_) | Value::Float(_) => format!("Some({value})"),
            Value::Datetime(_) => panic!("{key}: no setting is a date"),
        };
        writeln!(source, "    {at} = {value};").expect("a string takes everything");
    }
}

/// The packs that settings name as a source: a static with the patterns of each.
pub(crate) fn shipped(packs: &[Pack]) -> String {
    let packs = packs.iter().map(|pack| {
        let patterns = pack.patterns().map(pattern).collect::<Vec<_>>().join("\n");
        format!("({:?}, &[\n{patterns}\n    ])", pack.name)
    });
    list("SHIPPED", "(&str, &[Shipped])", &packs.collect::<Vec<_>>())
}

/// A pattern without what only tests read. Names of variants are those of the file,
/// so that a wrong one does not compile.
fn pattern(table: &Table) -> String {
    let id = text(table, "id").expect("a pattern has an id");
    let (regex, literal) = (text(table, "regex"), text(table, "literal"));
    let weight = table.get("weight").and_then(Value::as_integer).unwrap_or(1);
    let scope = text(table, "scope").map_or("Final".to_owned(), capitalised);
    let unless = table.get("unless").and_then(Value::as_array);
    let guards = unless.into_iter().flatten().filter_map(Value::as_str);
    let guards: Vec<_> = guards.map(|it| format!("Guard::{}", capitalised(it))).collect();
    format!(
        "        Shipped {{ id: {id:?}, regex: {regex:?}, literal: {literal:?}, weight: {weight}, \
         scope: Scope::{scope}, unless: &[{}] }},",
        guards.join(", ")
    )
}

fn capitalised(word: &str) -> String {
    let (first, rest) = word.split_at(1);
    first.to_uppercase() + rest
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

fn table(file: &Path) -> Table {
    let text = fs::read_to_string(file).expect("the file can be read");
    text.parse().unwrap_or_else(|error| panic!("{}: {error}", file.display()))
}
