//! A whole test that only the new version of a file has.

use std::collections::BTreeSet;

use super::reader::{END, IN, Kind, OUT, Token, closed, text};
use super::words::reaches_out;
use crate::integrity::language::Language;

/// The token after a new test that begins here, if it has a name of its own and changes
/// nothing that other tests see.
pub(super) fn end<'t>(
    language: Language,
    tokens: &'t [Token],
    from: usize,
    known: &mut BTreeSet<&'t str>,
) -> Option<usize> {
    let starts = from.checked_sub(1).is_none_or(|before| {
        let before = &tokens[before];
        before.kind == Kind::Break || matches!(before.text.as_str(), ";" | "{" | "}")
    });
    if !starts {
        return None;
    }
    let (name, end) = match language {
        Language::Python => python(tokens, from)?,
        Language::Rust => rust(tokens, from)?,
        Language::Go => go(tokens, from)?,
        _ => js(tokens, from)?,
    };
    let body = tokens.get(from..end)?;
    (known.insert(name) && !changes_others(body)).then_some(end)
}

fn python(tokens: &[Token], from: usize) -> Option<(&str, usize)> {
    let mut at = from;
    while text(tokens, at) == "@" {
        let is_table = ["@", "pytest", ".", "mark", ".", "parametrize"];
        if !is_table.iter().enumerate().all(|(offset, word)| text(tokens, at + offset) == *word) {
            return None;
        }
        at = closed(tokens, at + is_table.len())?;
        at += usize::from(text(tokens, at) == END);
    }
    at += usize::from(text(tokens, at) == "async");
    let name = text(tokens, at + 1);
    if text(tokens, at) != "def" || !name.starts_with("test") {
        return None;
    }
    let head = closed(tokens, at + 2)?;
    let colon = (head..tokens.len()).find(|at| text(tokens, *at) == ":")?;
    let mut depth = 0_usize;
    for at in colon + 1..tokens.len() {
        match text(tokens, at) {
            IN => depth += 1,
            OUT => {
                depth -= 1;
                if depth == 0 {
                    return Some((name, at + 1));
                }
            }
            END if depth == 0 && at > colon + 1 => return Some((name, at + 1)),
            _ => {}
        }
    }
    None
}

fn rust(tokens: &[Token], from: usize) -> Option<(&str, usize)> {
    let mut at = from;
    let mut is_test = false;
    while text(tokens, at) == "#" {
        let end = closed(tokens, at + 1)?;
        let word = text(tokens, end.checked_sub(2)?);
        is_test |= word == "test";
        if !(word == "test" || text(tokens, at + 2) == "should_panic") {
            return None;
        }
        at = end;
    }
    at += usize::from(text(tokens, at) == "async");
    if !is_test || text(tokens, at) != "fn" {
        return None;
    }
    let name = text(tokens, at + 1);
    let head = closed(tokens, at + 2)?;
    let body = (head..tokens.len()).find(|at| text(tokens, *at) == "{")?;
    Some((name, closed(tokens, body)?))
}

fn go(tokens: &[Token], from: usize) -> Option<(&str, usize)> {
    let name = text(tokens, from + 1);
    let is_test = name.starts_with("Test") && name != "TestMain" && text(tokens, from) == "func";
    if !is_test || text(tokens, from + 2) != "(" {
        return None;
    }
    let head = closed(tokens, from + 2)?;
    if text(tokens, head) != "{" {
        return None;
    }
    let end = closed(tokens, head)?;
    Some((name, end + usize::from(text(tokens, end) == ";")))
}

fn js(tokens: &[Token], from: usize) -> Option<(&str, usize)> {
    let title = tokens.get(from + 2)?;
    let is_test = matches!(text(tokens, from), "it" | "test") && text(tokens, from + 1) == "(";
    if !is_test || title.kind != Kind::Literal {
        return None;
    }
    let end = closed(tokens, from + 1)?;
    Some((&title.text, end + usize::from(text(tokens, end) == END)))
}

/// The body of a test may change what other tests see, or hides something from this reader.
fn changes_others(body: &[Token]) -> bool {
    body.iter().enumerate().any(|(at, token)| match token.kind {
        Kind::Word => reaches_out(&token.text) || token.text == "function",
        Kind::Literal => token.text.starts_with('/') || token.text.contains("${"),
        Kind::Break => false,
        Kind::Sign => {
            let before = at.checked_sub(1).map_or("", |before| body[before].text.as_str());
            let is_attribute = at >= 2 && body[at - 2].is(".") || before == "]";
            let assigns = token.text.ends_with('=')
                && !matches!(
                    token.text.as_str(),
                    "==" | "!=" | "<=" | ">=" | "===" | "!==" | "..="
                );
            let steps = matches!(token.text.as_str(), "++" | "--");
            (assigns || steps) && is_attribute || token.text == "/" || token.text == "\\"
        }
    })
}
