//! An assertion as a claim about an expression, in whatever form its framework has it written.

use super::language::Language;
use super::statements::{Statement, is_assertion};

/// The strength of an assertion, the weakest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Strength {
    /// The value is there, or something is raised.
    Loose,
    /// The value has a property, or an error of a wide kind is raised.
    Partial,
    /// The value is equal to another.
    Equal,
    /// The value is the same as another.
    Strict,
}

/// An assertion.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Claim {
    /// The expression that it is about.
    pub(super) subject: Vec<String>,
    /// The value, the property or the error that it expects.
    pub(super) expected: Vec<String>,
    pub(super) strength: Strength,
    pub(super) negated: bool,
    /// It expects an error.
    pub(super) raises: bool,
}

/// Kinds of errors that nearly every error is.
const GENERAL: &[&str] =
    &["BaseException", "Exception", "Throwable", "Error", "RuntimeException", "StandardError"];

/// Names of assertions that say which value is expected by themselves.
const VALUES: &[(&str, &str)] = &[
    ("isnone", "none"),
    ("isnull", "none"),
    ("null", "none"),
    ("nil", "none"),
    ("tobenull", "none"),
    ("noerror", "none"),
    ("false", "false"),
    ("isfalse", "false"),
    ("tobeundefined", "undefined"),
    ("empty", "empty"),
    ("zero", "0"),
];

/// The claims of a statement; the one after it may be its consequence.
pub(super) fn claims(
    statement: &Statement,
    next: Option<&Statement>,
    language: Language,
) -> Vec<Claim> {
    let tokens: &[String] = &statement.tokens;
    let skipped = tokens
        .iter()
        .take_while(|token| {
            matches!(token.as_str(), "await" | "return" | "with" | "async" | "yield")
        })
        .count();
    let tokens = &tokens[skipped..];
    let Some(first) = tokens.first() else { return Vec::new() };
    let is_keyword = matches!(language, Language::Python | Language::Java)
        && first == "assert"
        && tokens.get(1).is_some_and(|next| next != ".");
    if is_keyword {
        return conditions(before_comma(&tokens[1..]));
    }
    if first == "if" && next.is_some_and(fails) {
        return flipped(conditions(&tokens[1..]));
    }
    if first == "#" && tokens.iter().any(|token| token == "should_panic") {
        let expected: Vec<_> =
            tokens.iter().filter(|token| token.starts_with('"')).cloned().collect();
        return vec![raising(Vec::new(), expected)];
    }
    if first == "@"
        && let Some(at) = tokens.iter().position(|token| token == "expected")
    {
        let end = tokens.len() - 1;
        return vec![raising(Vec::new(), tokens[(at + 2).min(end)..end].to_vec())];
    }
    call(tokens, language).into_iter().collect::<Vec<_>>().concat()
}

/// A statement that makes the test fail.
pub(super) fn fails(statement: &Statement) -> bool {
    const CALLS: &[&str] = &["Fatal", "Fatalf", "Error", "Errorf", "Fail", "FailNow", "fail"];
    let tokens = &statement.tokens;
    let call = tokens.iter().position(|token| token == "(").unwrap_or(tokens.len());
    tokens[..call].last().is_some_and(|name| CALLS.contains(&name.as_str()))
}

fn flipped(claims: Vec<Claim>) -> Vec<Claim> {
    claims.into_iter().map(|claim| Claim { negated: !claim.negated, ..claim }).collect()
}

/// An assertion's first argument, without the message.
fn before_comma(tokens: &[String]) -> &[String] {
    let end = top(tokens, |token| token == ",").unwrap_or(tokens.len());
    &tokens[..end]
}

/// The first token outside of brackets that is such.
fn top(tokens: &[String], is: impl Fn(&str) -> bool) -> Option<usize> {
    let mut depth = 0_usize;
    for (at, token) in tokens.iter().enumerate() {
        match token.as_str() {
            "(" | "[" | "{" => depth += 1,
            ")" | "]" | "}" => depth = depth.saturating_sub(1),
            token if depth == 0 && is(token) => return Some(at),
            _ => {}
        }
    }
    None
}

/// The arguments between two brackets.
fn arguments(tokens: &[String]) -> Vec<&[String]> {
    let (mut rest, mut found) = (tokens, Vec::new());
    while let Some(at) = top(rest, |token| token == ",") {
        found.push(&rest[..at]);
        rest = &rest[at + 1..];
    }
    if !rest.is_empty() {
        found.push(rest);
    }
    found
}

/// The claims of a condition; both sides of an `and`.
fn conditions(tokens: &[String]) -> Vec<Claim> {
    let tokens = unwrapped(tokens);
    if top(tokens, |token| matches!(token, "or" | "||" | "if" | "?" | "else")).is_some() {
        return vec![plain(tokens, Vec::new(), Strength::Loose)];
    }
    if let Some(at) = top(tokens, |token| matches!(token, "and" | "&&")) {
        let mut both = conditions(&tokens[..at]);
        both.extend(conditions(&tokens[at + 1..]));
        return both;
    }
    if let [first, rest @ ..] = tokens
        && matches!(first.as_str(), "not" | "!")
    {
        return flipped(conditions(rest));
    }
    let signs = ["===", "!==", "==", "!=", "is", "in", "not", "<", ">", "<=", ">="];
    let Some(at) = top(tokens, |token| signs.contains(&token)) else {
        return vec![plain(tokens, Vec::new(), Strength::Loose)];
    };
    let negated_word = tokens.get(at + 1).is_some_and(|next| next == "not" || next == "in");
    let (left, right) = (&tokens[..at], &tokens[at + 1..]);
    let (mut strength, mut negated, mut expected) = match tokens[at].as_str() {
        "===" => (Strength::Strict, false, right.to_vec()),
        "!==" => (Strength::Strict, true, right.to_vec()),
        "==" => (Strength::Equal, false, right.to_vec()),
        "!=" => (Strength::Equal, true, right.to_vec()),
        "is" if negated_word => (Strength::Strict, true, right[1..].to_vec()),
        "is" => (Strength::Strict, false, right.to_vec()),
        "not" if negated_word => (Strength::Partial, true, right[1..].to_vec()),
        "in" => (Strength::Partial, false, right.to_vec()),
        sign => (Strength::Partial, false, [&[sign.to_owned()][..], right].concat()),
    };
    if negated && matches!(value(&expected), "none") {
        // It is there.
        (strength, negated, expected) = (Strength::Loose, false, Vec::new());
    }
    if matches!(tokens[at].as_str(), "in" | "not") {
        let (member, whole) = (left.to_vec(), expected);
        return vec![Claim { negated, ..plain(&whole, member, strength) }];
    }
    vec![Claim { negated, ..plain(left, expected, strength) }]
}

fn unwrapped(tokens: &[String]) -> &[String] {
    let inner = matches!(tokens.first().map(String::as_str), Some("("))
        .then(|| close(tokens, 0))
        .flatten()
        .filter(|end| end + 1 == tokens.len());
    inner.map_or(tokens, |end| &tokens[1..end])
}

/// Nothing at all, as languages write it.
pub(super) fn value(tokens: &[String]) -> &str {
    match tokens {
        [one] if matches!(one.as_str(), "None" | "null" | "nil") => "none",
        [one] => one,
        _ => "",
    }
}

fn plain(subject: &[String], expected: Vec<String>, strength: Strength) -> Claim {
    let approximate = expected.iter().any(|word| {
        ["approx", "closeto", "objectcontaining", "arraycontaining", "anything"]
            .contains(&word.to_ascii_lowercase().as_str())
    });
    let strength = if approximate { Strength::Partial } else { strength };
    Claim { subject: subject.to_vec(), expected, strength, negated: false, raises: false }
}

fn raising(subject: Vec<String>, expected: Vec<String>) -> Claim {
    let strength = match expected.iter().find(|token| token.starts_with(char::is_alphanumeric)) {
        None if expected.is_empty() => Strength::Loose,
        Some(kind) if GENERAL.contains(&kind.as_str()) && expected.len() <= 3 => Strength::Partial,
        _ => Strength::Equal,
    };
    Claim { subject, expected, strength, negated: false, raises: true }
}

/// The bracket that closes one.
fn close(tokens: &[String], open: usize) -> Option<usize> {
    let mut depth = 0_usize;
    for (at, token) in tokens.iter().enumerate().skip(open) {
        match token.as_str() {
            "(" | "[" | "{" => depth += 1,
            ")" | "]" | "}" => {
                depth = depth.saturating_sub(1);
                if depth == 0 {
                    return Some(at);
                }
            }
            _ => {}
        }
    }
    None
}

/// An assertion that is a call, or a chain of calls.
fn call(tokens: &[String], language: Language) -> Option<Vec<Claim>> {
    let open = tokens.iter().position(|token| token == "(")?;
    let end = close(tokens, open)?;
    let path = &tokens[..open];
    let name = path.iter().rev().find(|token| *token != "!")?;
    let lower = name.to_ascii_lowercase().replace('_', "");
    let inside = arguments(&tokens[open + 1..end]);
    if lower == "raises"
        || lower.ends_with("throws")
        || lower == "assertraises"
        || lower == "raiseserror"
    {
        return Some(vec![raised(&inside)]);
    }
    if !path.iter().any(|word| is_assertion(word)) {
        return None;
    }
    let is_subject = matches!(lower.as_str(), "expect" | "assertthat" | "should" | "verify");
    if is_subject && end + 1 < tokens.len() {
        let subject = inside.first().map(|first| first.to_vec()).unwrap_or_default();
        return Some(vec![chained(subject, &tokens[end + 1..])]);
    }
    if matches!(lower.as_str(), "assert" | "ok" | "asserttrue" | "true" | "istrue" | "require") {
        return inside.first().map(|first| conditions(first));
    }
    let mut inside = inside;
    if language == Language::Go && inside.first().is_some_and(|first| first.len() == 1) {
        inside.remove(0);
    }
    let is_text = |argument: &&[String]| argument.len() == 1 && argument[0].starts_with('"');
    if inside.len() > 2 {
        let message =
            if inside.first().is_some_and(is_text) && language == Language::Java { 0 } else { 2 };
        inside.remove(message);
        inside.truncate(2);
    }
    let subject = inside.first().map(|first| first.to_vec()).unwrap_or_default();
    let expected = inside.get(1).map(|second| second.to_vec()).unwrap_or_default();
    Some(vec![named(&lower, &subject, expected, false)])
}

fn raised(inside: &[&[String]]) -> Claim {
    let is_code = |argument: &&&[String]| {
        argument.iter().any(|token| matches!(token.as_str(), "=>" | "->" | "lambda" | "function"))
    };
    let subject = inside.iter().find(is_code).map(|code| code.to_vec()).unwrap_or_default();
    // The error comes first, then what is called with what; a keyword says more of the error.
    let mut others = inside.iter().filter(|argument| !is_code(argument));
    let mut expected = others.next().map(|kind| kind.to_vec()).unwrap_or_default();
    let (mut subject, comma) = (subject, ",".to_owned());
    for argument in others {
        let says_more = argument.get(1).is_some_and(|sign| sign == "=");
        let part = if says_more { &mut expected } else { &mut subject };
        part.push(comma.clone());
        part.extend(argument.iter().cloned());
    }
    raising(subject, expected)
}

/// `expect(a).not.toBe(b)`, `assertThat(a).isEqualTo(b)`, `expect(a).to eq b`.
fn chained(subject: Vec<String>, rest: &[String]) -> Claim {
    let open = rest.iter().position(|token| token == "(");
    let negated = rest.iter().any(|token| matches!(token.as_str(), "not" | "to_not" | "not_to"));
    let path = &rest[..open.unwrap_or(rest.len())];
    let names: Vec<_> =
        path.iter().filter(|token| token.starts_with(char::is_alphabetic)).collect();
    let skip = ["not", "to", "be", "to_not", "not_to", "resolves", "rejects", "have", "deep"];
    let name = if open.is_some() {
        names.last()
    } else {
        names.iter().find(|name| !skip.contains(&name.as_str()))
    };
    let name = name.map(|name| name.to_ascii_lowercase().replace('_', "")).unwrap_or_default();
    let expected = match open {
        Some(open) => {
            let end = close(rest, open).unwrap_or(rest.len() - 1);
            rest[open + 1..end].to_vec()
        }
        None => path
            .iter()
            .skip_while(|token| token.to_ascii_lowercase().replace('_', "") != name)
            .skip(1)
            .cloned()
            .collect(),
    };
    if name.contains("throw") || name.contains("raise") {
        return Claim { negated, ..raising(subject, expected) };
    }
    named(&name, &subject, expected, negated)
}

/// An assertion by its name.
fn named(name: &str, subject: &[String], expected: Vec<String>, negated: bool) -> Claim {
    let name = name.trim_start_matches("assert").trim_start_matches("expect");
    let has = |words: &[&str]| words.iter().any(|word| name.contains(word));
    let negated =
        negated ^ (name.starts_with("not") && !matches!(name, "notnull" | "notnil" | "notnone"));
    if has(&["notnull", "notnil", "isnotnone", "truthy", "defined", "exist", "issome", "isok"]) {
        return Claim { negated, ..plain(subject, Vec::new(), Strength::Loose) };
    }
    if let Some((_, value)) = VALUES.iter().find(|(known, _)| *known == name) {
        return Claim { negated, ..plain(subject, vec![(*value).to_owned()], Strength::Equal) };
    }
    let strength = if has(&["strict", "same", "identical"]) || matches!(name, "tobe" | "is") {
        Strength::Strict
    } else if has(&["matchobject", "almost", "near", "close"]) {
        Strength::Partial
    } else if has(&["equal", "eq", "ne", "snapshot", "calledwith", "errorcontains", "erroris"]) {
        Strength::Equal
    } else {
        Strength::Partial
    };
    let mut expected = expected;
    if strength == Strength::Partial {
        expected.insert(0, name.to_owned());
    }
    Claim { negated, ..plain(subject, expected, strength) }
}
