//! Imports of a test file: their order says nothing, and a product may move.

use std::collections::BTreeSet;

use super::product::ChangedProduct;
use super::reader::{END, Kind, Token, closed, text};
use super::words::{is_foreign, is_free};
use crate::integrity::language::Language;

/// A name that a file takes from a module.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Import {
    pub(super) module: String,
    /// Its name there; empty for the module itself, `*` for all of them.
    pub(super) name: String,
    /// Its name in the file.
    pub(super) binding: String,
}

/// The imports of a file, and its tokens without them.
pub(super) fn split(tokens: &[Token], language: Language) -> (Vec<Import>, Vec<Token>) {
    let (mut imports, mut rest) = (Vec::new(), Vec::<Token>::with_capacity(tokens.len()));
    let (mut at, mut open_blocks) = (0, 0_usize);
    while at < tokens.len() {
        let starts = rest.last().is_none_or(|last| {
            last.kind == Kind::Break || matches!(last.text.as_str(), ";" | "{" | "}")
        });
        if language == Language::Js
            && starts
            && open_blocks == 0
            && let Some((required, end)) = required(&tokens[at..])
        {
            imports.extend(required);
            // A `require` runs at its place: it may stand among others, and no statement between.
            let place = Token { text: "require".to_owned(), kind: Kind::Break };
            if rest.last() != Some(&place) {
                rest.push(place);
            }
            at += end;
            continue;
        }
        let next = text(tokens, at + 1);
        let begins = starts
            && match (language, tokens[at].text.as_str()) {
                (Language::Python, "import" | "from")
                | (Language::Rust, "use")
                | (Language::Go, "import") => true,
                (Language::Js, "import") => !matches!(next, "(" | "."),
                _ => false,
            };
        if !begins {
            open_blocks += usize::from(tokens[at].is("{"));
            open_blocks = open_blocks.saturating_sub(usize::from(tokens[at].is("}")));
            rest.push(tokens[at].clone());
            at += 1;
            continue;
        }
        let mut depth = 0_usize;
        let end = (at + 1..tokens.len()).find(|end| {
            match tokens[*end].text.as_str() {
                ")" | "}" if depth == 0 => return true,
                "(" | "{" => depth += 1,
                ")" | "}" => depth = depth.saturating_sub(1),
                _ => {}
            }
            // A script's import ends with the name of its module.
            let is_named = language == Language::Js && tokens[*end - 1].kind == Kind::Literal;
            depth == 0 && (is_named || tokens[*end].is(END) || tokens[*end].is(";"))
        });
        let end = end.unwrap_or(tokens.len());
        let statement = &tokens[at..end];
        if !is_import(statement, language) {
            rest.extend_from_slice(statement);
            at = end;
            continue;
        }
        match language {
            Language::Python => python(statement, &mut imports),
            Language::Rust => rust(&statement[1..], "", &mut imports),
            Language::Go => go(statement, &mut imports),
            _ => js(statement, &mut imports),
        }
        let is_over = tokens.get(end).is_some_and(|token| token.is(END) || token.is(";"));
        at = end + usize::from(is_over);
    }
    (imports, rest)
}

/// A statement holds nothing but what an import may hold.
fn is_import(statement: &[Token], language: Language) -> bool {
    let modules = statement.iter().filter(|token| token.kind == Kind::Literal).count();
    let ends_named = statement.last().is_some_and(|last| is_module(last, language));
    statement.iter().all(|token| match token.kind {
        Kind::Word => true,
        Kind::Literal => is_module(token, language),
        Kind::Sign => "... :: , * ( ) { } ;".contains(&token.text),
        Kind::Break => false,
    }) && (language != Language::Js || (ends_named && modules == 1))
}

fn is_module(token: &Token, language: Language) -> bool {
    match language {
        // A template is no name of a module.
        Language::Js => token.text.starts_with('"'),
        Language::Go => token.text.starts_with(['"', '`']),
        _ => false,
    }
}

fn import(module: &str, name: &str, binding: &str) -> Import {
    Import { module: module.to_owned(), name: name.to_owned(), binding: binding.to_owned() }
}

fn texts(tokens: &[Token]) -> Vec<&str> {
    tokens.iter().map(|token| token.text.as_str()).collect()
}

fn python(statement: &[Token], imports: &mut Vec<Import>) {
    let words = texts(statement);
    let from = words.iter().position(|word| *word == "import").unwrap_or(0);
    let module = words[..from].iter().skip(1).copied().collect::<String>();
    let names: Vec<&str> =
        words[from + 1..].iter().copied().filter(|word| !matches!(*word, "(" | ")")).collect();
    for part in names.split(|word| *word == ",") {
        let (path, alias) = match part.iter().position(|word| *word == "as") {
            Some(at) => (&part[..at], part.get(at + 1).copied()),
            None => (part, None),
        };
        let name = path.concat();
        if module.is_empty() {
            let root = path.first().copied().unwrap_or_default();
            imports.push(import(&name, "", alias.unwrap_or(root)));
        } else {
            imports.push(import(&module, &name, alias.unwrap_or(&name)));
        }
    }
}

/// A tree of `use`.
fn rust(tokens: &[Token], prefix: &str, imports: &mut Vec<Import>) {
    let mut depth = 0_usize;
    let parts = tokens.split(|token| {
        match token.text.as_str() {
            "{" => depth += 1,
            "}" => depth = depth.saturating_sub(1),
            _ => {}
        }
        depth == 0 && token.is(",")
    });
    for part in parts {
        if let Some(open) = part.iter().position(|token| token.is("{")) {
            let close = part.len().saturating_sub(1).max(open + 1);
            let prefix = prefix.to_owned() + &texts(&part[..open]).concat();
            rust(&part[open + 1..close], &prefix, imports);
            continue;
        }
        let words = texts(part);
        let (path, alias) = match words.iter().position(|word| *word == "as") {
            Some(at) => (&words[..at], words.get(at + 1).copied()),
            None => (&words[..], None),
        };
        let name = path.last().copied().unwrap_or_default();
        let module = prefix.to_owned() + &path[..path.len().saturating_sub(1)].concat();
        imports.push(import(&module, name, alias.unwrap_or(name)));
    }
}

fn go(statement: &[Token], imports: &mut Vec<Import>) {
    let mut alias = None;
    for token in &statement[1..] {
        if token.kind == Kind::Literal {
            let module = token.text.trim_matches(['"', '`']);
            let own = module.rsplit('/').next().unwrap_or(module);
            imports.push(import(module, "", alias.take().unwrap_or(own)));
        } else if !matches!(token.text.as_str(), "(" | ")" | ";") {
            alias = Some(&token.text);
        }
    }
}

fn js(statement: &[Token], imports: &mut Vec<Import>) {
    let words = texts(statement);
    let module = statement.last().map_or("", |token| token.text.trim_matches('"'));
    let names = &words[1..words.len().saturating_sub(2).max(1)];
    if names.is_empty() {
        imports.push(import(module, "*", ""));
    }
    let mut inside = false;
    for part in names.split(|word| matches!(*word, "," | "{" | "}")) {
        let part: Vec<&str> = part.iter().copied().filter(|word| *word != "type").collect();
        match part[..] {
            [name] => imports.push(import(
                module,
                if inside || words.contains(&"{") { name } else { "default" },
                name,
            )),
            ["*", "as", name] => imports.push(import(module, "", name)),
            [name, "as", binding] => imports.push(import(module, name, binding)),
            _ => {}
        }
        inside = true;
    }
}

/// The names that a declaration takes from `require("…")`, and the place after it; `None` if it is
/// any other declaration.
fn required(tokens: &[Token]) -> Option<(Vec<Import>, usize)> {
    let declares = ["const", "let", "var", "import"].contains(&text(tokens, 0));
    let is_list = text(tokens, 1) == "{" && text(tokens, 0) != "import";
    let value = if is_list { closed(tokens, 1)? } else { 2 };
    let call = tokens.get(value..value + 5)?;
    let (module, words) = (&call[3], texts(call));
    let is_call = matches!(words[..], ["=", "require", "(", _, ")"]);
    let is_over = tokens.get(value + 5).is_none_or(|next| next.is(END));
    if !(declares && is_call && is_over && module.text.starts_with('"')) {
        return None;
    }
    let module = module.text.trim_matches('"');
    let end = (value + 6).min(tokens.len());
    if !is_list {
        return tokens[1].is_word().then(|| (vec![import(module, "", &tokens[1].text)], end));
    }
    let names = tokens[2..value - 1].split(|token| token.is(","));
    let names = names.map(|part| match part {
        [name] if name.is_word() => Some(import(module, &name.text, &name.text)),
        [name, colon, binding] if name.is_word() && colon.is(":") && binding.is_word() => {
            Some(import(module, &name.text, &binding.text))
        }
        _ => None,
    });
    Some((names.collect::<Option<_>>()?, end))
}

/// The renames that the imports of a file went through; `None` if a name now comes from
/// somewhere else.
pub(super) fn renames(
    old: &[Import],
    new: &[Import],
    known: &BTreeSet<&str>,
    product: &ChangedProduct,
) -> Option<Vec<(String, String)>> {
    let gone: Vec<&Import> = old.iter().filter(|import| !new.contains(import)).collect();
    let added: Vec<&Import> = new.iter().filter(|import| !old.contains(import)).collect();
    let mut changed = gone.iter().chain(&added);
    if changed.any(|import| import.name == "*" || import.binding.is_empty())
        || !bind_once(new) && !added.is_empty()
    {
        return None;
    }
    let mut renames = Vec::new();
    for import in &added {
        let same = gone.iter().find(|other| other.binding == import.binding);
        if let Some(other) = same {
            let is_known = old.iter().any(|known| known.name == import.name);
            let names_free = other.name == import.name
                || (is_free(&other.name) && is_free(&import.name) && !is_known);
            if !names_free || !follows(other, import, product) {
                return None;
            }
            continue;
        }
        if known.contains(import.binding.as_str()) {
            return None;
        }
        for other in &gone {
            if follows(other, import, product) && is_free(&other.binding) {
                renames.push((other.binding.clone(), import.binding.clone()));
            }
        }
    }
    Some(renames)
}

/// An import may stand in the place of another one: its module is the same, or has moved.
fn follows(was: &Import, is: &Import, product: &ChangedProduct) -> bool {
    was.module == is.module || (moved(&was.module, &is.module) && !product.still_has(was, is))
}

/// No name stands for two things, so that the order of imports says nothing.
pub(super) fn bind_once(imports: &[Import]) -> bool {
    let mut names: Vec<&str> = imports.iter().map(|import| import.binding.as_str()).collect();
    names.sort_unstable();
    names.windows(2).all(|pair| pair[0] != pair[1])
}

/// A module of the product that may have moved from one path to the other.
fn moved(from: &str, to: &str) -> bool {
    if is_foreign(from) || is_foreign(to) {
        return false;
    }
    let [old, new] = [from, to].map(|path| {
        let parts = path.split(['.', '/', ':']).filter(|part| !part.is_empty());
        parts.collect::<Vec<_>>()
    });
    let both_relative = from.starts_with('.') && to.starts_with('.');
    (!old.is_empty() && old.first() == new.first())
        || (!old.is_empty() && old.last() == new.last())
        || both_relative
}
