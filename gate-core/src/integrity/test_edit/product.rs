//! The changed product: an old call may not fit its functions any more, an old import its modules.

use std::collections::BTreeSet;

use super::imports::Import;
use super::reader::{END, Kind, Token, closed, is_keyword, read, text, text_before};
use crate::integrity::language::Language;

/// The most tokens of a list of parameters for types.
const MAX_GENERICS: usize = 100;

/// The files of the product that a change touches.
#[derive(Debug, Default)]
pub struct ChangedProduct {
    /// The functions before the change and now.
    before: Vec<Function>,
    now: Vec<Function>,
    /// Names that now stand for something else than the function that is defined by them.
    rebound: BTreeSet<String>,
    /// The files that are there now: the parts of their paths, and their words.
    files: Vec<(Vec<String>, BTreeSet<String>)>,
}

/// The arguments of a call.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Call {
    pub(super) name: String,
    positional: usize,
    named: Vec<String>,
}

#[derive(Debug)]
struct Function {
    name: String,
    language: Language,
    /// Those that take an argument by its place come first.
    parameters: Vec<Parameter>,
    /// It takes any number of further arguments by their place, or by any name.
    is_variadic: bool,
    takes_any_name: bool,
    /// Decorators may change the way in which it is called.
    decorators: Vec<String>,
}

#[derive(Debug)]
struct Parameter {
    name: String,
    is_required: bool,
    is_by_place: bool,
}

impl ChangedProduct {
    /// Adds a changed file.
    pub fn add(&mut self, path: &str, before: Option<&[u8]>, now: Option<&[u8]>) {
        let Some(language) = Language::from_path(path) else { return };
        if let Some(Ok(before)) = before.map(std::str::from_utf8) {
            self.before.extend(functions(&read(before, language).tokens, language));
        }
        if let Some(Ok(now)) = now.map(std::str::from_utf8) {
            let tokens = read(now, language).tokens;
            self.rebound.extend(rebound(&tokens, language));
            self.now.extend(functions(&tokens, language));
            let words = tokens.into_iter().filter(Token::is_word).map(|token| token.text);
            self.files.push((module_parts(path), words.collect()));
        }
    }

    /// The module of an import is there as it was and still has what is imported, beside the module
    /// that another import takes it from: what is tested no more may be broken.
    pub(super) fn still_has(&self, was: &Import, is: &Import) -> bool {
        let [old, new] = [was, is].map(|import| module_parts(&import.module));
        self.files.iter().any(|(file, words)| {
            let has_name = matches!(was.name.as_str(), "" | "default") || words.contains(&was.name);
            file.ends_with(&old) && !(new.len() > old.len() && file.ends_with(&new)) && has_name
        })
    }

    /// The function that both calls are about has got the parameters in this change that the new
    /// call fills, and they have no defaults.
    ///
    /// An edited test decides only if its old text fails. A parameter with a default leaves the old
    /// call as it was: if it fails, the product fails, and the new argument (`lenient=True`) may be
    /// the switch that hides it. So the old call has to be one that cannot run any more, for want
    /// of exactly as many arguments as were added.
    pub(super) fn require(&self, language: Language, old: &Call, new: &Call) -> bool {
        let added = new.count() - old.count();
        let targets = self.now.iter().filter(|function| {
            function.has_name(&new.name, language) && function.missing(new) == Some(0)
        });
        let mut targets = targets.peekable();
        targets.peek().is_some()
            && !self.rebound.contains(&new.name)
            && targets.all(|target| {
                target.missing(old) == Some(added)
                    && self.before.iter().any(|was| {
                        was.has_name(&old.name, language)
                            && was.missing(old) == Some(0)
                            && was.decorators == target.decorators
                    })
            })
    }
}

impl Call {
    /// The call of a name with these arguments; `None` if it spreads a list over some.
    pub(super) fn new(name: &str, arguments: &[&[Token]]) -> Option<Self> {
        let mut call = Self { name: name.to_owned(), ..Self::default() };
        call.add(arguments)?;
        Some(call)
    }

    /// Adds arguments.
    pub(super) fn add(&mut self, arguments: &[&[Token]]) -> Option<()> {
        for argument in arguments {
            match *argument {
                [first, ..] if ["*", "**", "..."].iter().any(|sign| first.is(sign)) => return None,
                [.., last] if last.is("...") => return None,
                [name, equals, ..] if name.is_word() && equals.is("=") => {
                    self.named.push(name.text.clone());
                }
                _ => self.positional += 1,
            }
        }
        Some(())
    }

    fn count(&self) -> usize {
        self.positional + self.named.len()
    }
}

impl Function {
    fn has_name(&self, name: &str, language: Language) -> bool {
        self.name == name && self.language == language
    }

    /// The number of required parameters that a call leaves out; `None` if the call has arguments
    /// that the function does not take.
    fn missing(&self, call: &Call) -> Option<usize> {
        let places = self.parameters.iter().filter(|parameter| parameter.is_by_place).count();
        let mut named = call.named.iter();
        let fits = (call.positional <= places || self.is_variadic)
            && (self.takes_any_name
                || named.all(|name| self.parameters.iter().any(|own| own.name == *name)));
        let missing = self.parameters.iter().enumerate().filter(|(at, parameter)| {
            let is_placed = parameter.is_by_place && *at < call.positional;
            parameter.is_required && !is_placed && !call.named.contains(&parameter.name)
        });
        fits.then(|| missing.count())
    }

    fn new(name: &str, language: Language, parameters: &[Token]) -> Self {
        let mut function = Self {
            name: name.to_owned(),
            language,
            parameters: Vec::new(),
            is_variadic: false,
            takes_any_name: false,
            decorators: Vec::new(),
        };
        let mut is_by_place = true;
        for (at, tokens) in parts(parameters, language).into_iter().enumerate() {
            match (language, text(tokens, 0)) {
                (Language::Python, "/") => {}
                (Language::Python, "self" | "cls") if at == 0 => {}
                (Language::Python, "*") => {
                    is_by_place = false;
                    function.is_variadic |= tokens.len() > 1;
                }
                (Language::Python, "**") => function.takes_any_name = true,
                (Language::Rust, _) if tokens.iter().any(|token| token.is("self")) => {}
                _ if tokens.iter().any(|token| token.is("...")) => function.is_variadic = true,
                (_, name) => {
                    let is_optional = tokens.iter().any(|token| token.is("="))
                        || (language == Language::Js && text(tokens, 1) == "?");
                    let name = name.to_owned();
                    let is_required = !is_optional;
                    function.parameters.push(Parameter { name, is_required, is_by_place });
                }
            }
        }
        function
    }
}

/// The parts of a path to a module, without those that an import may leave out.
pub(super) fn module_parts(path: &str) -> Vec<String> {
    const KINDS: [&str; 10] = ["py", "js", "mjs", "cjs", "jsx", "ts", "mts", "cts", "tsx", "rs"];
    const WHOLE: [&str; 3] = ["__init__", "index", "mod"];
    let parts = path.split(['.', '/', ':']).filter(|part| !part.is_empty());
    let mut parts: Vec<String> = parts.map(str::to_owned).collect();
    for names in [&KINDS[..], &WHOLE] {
        if parts.len() > 1 && parts.last().is_some_and(|last| names.contains(&last.as_str())) {
            parts.pop();
        }
    }
    parts
}

/// The parts between the commas of a list.
pub(super) fn parts(tokens: &[Token], language: Language) -> Vec<&[Token]> {
    let has_angles = matches!(language, Language::Rust | Language::Js);
    let mut depth = 0_usize;
    let parts = tokens.split(|token| {
        match token.text.as_str() {
            _ if token.kind != Kind::Sign => {}
            "(" | "[" | "{" => depth += 1,
            ")" | "]" | "}" => depth = depth.saturating_sub(1),
            "<" if has_angles => depth += 1,
            ">" if has_angles => depth = depth.saturating_sub(1),
            _ => {}
        }
        depth == 0 && token.is(",")
    });
    parts.filter(|part| !part.is_empty()).collect()
}

/// The functions that a file defines; a class counts as the function that makes one.
fn functions(tokens: &[Token], language: Language) -> Vec<Function> {
    let mut class = "";
    let mut found = Vec::new();
    for at in (0..tokens.len()).filter(|at| tokens[*at].is_word()) {
        if tokens[at].is("class") {
            class = text(tokens, at + 1);
        }
        let head = if language == Language::Js { js_head(tokens, at) } else { head(tokens, at) };
        let Some((name, list)) = head else { continue };
        let name = if matches!(name, "__init__" | "constructor") { class } else { name };
        let mut function = Function::new(name, language, list);
        match language {
            Language::Python => function.decorators = decorators(tokens, at),
            Language::Js => {
                for parameter in &mut function.parameters {
                    parameter.is_required &= !is_tested(tokens, &parameter.name);
                }
            }
            _ => {}
        }
        found.push(function);
    }
    found
}

/// The name and the parameters of a function whose definition begins here.
fn head(tokens: &[Token], at: usize) -> Option<(&str, &[Token])> {
    if !matches!(text(tokens, at), "def" | "fn" | "func") {
        return None;
    }
    // A method of Go has its receiver before its name.
    let has_receiver = text(tokens, at) == "func" && text(tokens, at + 1) == "(";
    let name = if has_receiver { closed(tokens, at + 1)? } else { at + 1 };
    let open = after_generics(tokens, name + 1)?;
    list(tokens, open).map(|(list, _)| (text(tokens, name), list))
}

/// The same in JavaScript, where a function may also be the value of a name.
fn js_head(tokens: &[Token], at: usize) -> Option<(&str, &[Token])> {
    let name = text(tokens, at);
    if name == "function" {
        let at = at + 1 + usize::from(text(tokens, at + 1) == "*");
        let open = after_generics(tokens, at + 1)?;
        return list(tokens, open).map(|(list, _)| (text(tokens, at), list));
    }
    if is_keyword(name) {
        return None;
    }
    if !matches!(text(tokens, at + 1), "=" | ":") {
        let (list, end) = list(tokens, after_generics(tokens, at + 1)?)?;
        return matches!(text(tokens, end), "{" | ":").then_some((name, list));
    }
    let value = at + 2 + usize::from(text(tokens, at + 2) == "async");
    match (text(tokens, value), text(tokens, value + 1)) {
        ("function", _) => {
            let open = (value + 1..value + 3).find(|at| text(tokens, *at) == "(")?;
            list(tokens, open).map(|(list, _)| (name, list))
        }
        (_, "=>") => Some((name, &tokens[value..=value])),
        _ => {
            let (list, end) = list(tokens, after_generics(tokens, value)?)?;
            matches!(text(tokens, end), "=>" | ":").then_some((name, list))
        }
    }
}

/// The tokens in the bracket that opens here, and the place after it.
fn list(tokens: &[Token], open: usize) -> Option<(&[Token], usize)> {
    if text(tokens, open) != "(" {
        return None;
    }
    let end = closed(tokens, open)?;
    Some((&tokens[open + 1..end - 1], end))
}

/// The token here, or after the parameters for types that begin here.
fn after_generics(tokens: &[Token], at: usize) -> Option<usize> {
    match text(tokens, at) {
        "[" => closed(tokens, at),
        "<" => {
            let mut depth = 0_usize;
            let end = tokens[at..].iter().take(MAX_GENERICS).position(|token| {
                depth += usize::from(token.is("<"));
                depth -= usize::from(token.is(">"));
                depth == 0
            });
            end.map(|end| at + end + 1)
        }
        _ => Some(at),
    }
}

/// True if the code tests a value: in JavaScript a call may leave out any parameter, and a test for
/// its absence is a default in other words.
fn is_tested(tokens: &[Token], name: &str) -> bool {
    const TESTS_AFTER: [&str; 9] = ["?", "?.", "??", "||", "&&", "==", "===", "!=", "!=="];
    const TESTS_BEFORE: [&str; 8] = ["!", "typeof", "==", "===", "!=", "!==", "&&", "||"];
    (0..tokens.len()).filter(|at| tokens[*at].is(name)).any(|at| {
        let before = text_before(tokens, at);
        let is_condition = before == "("
            && matches!(text(tokens, at.saturating_sub(2)), "if" | "switch" | "while");
        let is_optional = text(tokens, at + 2) == ":";
        is_condition
            || TESTS_BEFORE.contains(&before)
            || (TESTS_AFTER.contains(&text(tokens, at + 1)) && !is_optional)
    })
}

/// The lines with decorators above a definition.
fn decorators(tokens: &[Token], at: usize) -> Vec<String> {
    let mut end = at - usize::from(at > 0 && tokens[at - 1].is("async"));
    let mut found = Vec::new();
    while end > 0 && tokens[end - 1].is(END) {
        let before = tokens[..end - 1].iter().rposition(|token| token.kind == Kind::Break);
        let line = &tokens[before.map_or(0, |before| before + 1)..end];
        if text(line, 0) != "@" {
            break;
        }
        found.push(line.iter().map(|token| token.text.as_str()).collect());
        end -= line.len();
    }
    found
}

/// Names that are set to something that is no function in plain sight.
fn rebound(tokens: &[Token], language: Language) -> Vec<String> {
    let mut found = Vec::new();
    for at in (1..tokens.len()).filter(|at| tokens[*at].is_word()) {
        let (before, name, after) = (&tokens[at - 1], &tokens[at].text, text(tokens, at + 1));
        let is_alias = before.is("as") && language != Language::Rust;
        let is_set = match language {
            Language::Python => after == "=" && before.kind == Kind::Break,
            Language::Go => after == "=",
            Language::Js if after == "=" => {
                text(tokens, at + 2) != name.as_str() && js_head(tokens, at).is_none()
            }
            // In an object, the answer of a call.
            Language::Js if after == ":" => {
                tokens.get(at + 2).is_some_and(Token::is_word)
                    && text(tokens, at + 3) == "("
                    && js_head(tokens, at).is_none()
            }
            _ => false,
        };
        if is_alias || is_set {
            found.push(name.clone());
        }
    }
    found
}
