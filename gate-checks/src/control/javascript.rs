//! The names that a file in JavaScript or TypeScript has for a runner's functions.

use gate_core::integrity::{Language, code_alone};

/// A file, and the statements at its top level that name things.
pub(super) struct Module<'t> {
    text: &'t str,
    code: String,
    statements: Vec<String>,
}

/// The names that a file gives to what it takes from a module.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Imported {
    /// The name of the module as a whole, or of what it exports by default.
    pub(super) whole: Option<String>,
    /// The whole is no value that can be called: `import * as a`.
    pub(super) is_namespace: bool,
    /// Each exported name, and the file's name for it.
    pub(super) parts: Vec<(String, String)>,
}

/// The most lines of one statement.
const MAX_LINES: usize = 40;

impl<'t> Module<'t> {
    pub(super) fn new(text: &'t str) -> Self {
        let code = code_alone(text, Language::Js);
        let begins = ["import ", "import{", "const ", "let ", "var "];
        let lines: Vec<_> = text.lines().zip(code.lines()).collect();
        let mut statements = Vec::new();
        for (at, (_, code)) in lines.iter().enumerate() {
            if !begins.iter().any(|begin| code.starts_with(begin)) {
                continue;
            }
            let (mut statement, mut depth) = (String::new(), 0_usize);
            for (line, code) in lines.iter().skip(at).take(MAX_LINES) {
                statement.push_str(line);
                statement.push(' ');
                depth =
                    (depth + code.matches('{').count()).saturating_sub(code.matches('}').count());
                if depth == 0 {
                    break;
                }
            }
            statements.push(statement);
        }
        Self { text, code, statements }
    }

    /// The names from the first of these modules that the file takes something from.
    pub(super) fn imported(&self, modules: &[&str]) -> Option<Imported> {
        self.statements.iter().find_map(|statement| imported(statement, modules))
    }

    /// True if a statement at the top level names this.
    pub(super) fn declares(&self, name: &str) -> bool {
        self.statements.iter().any(|statement| {
            let end = statement.find('=').or_else(|| statement.find(" from ")).unwrap_or(0);
            words(&statement[..end]).any(|word| word == name)
        })
    }

    /// True if the file calls a function of this name.
    pub(super) fn calls(&self, name: &str) -> bool {
        let call = format!("{name}(");
        let mut found = self.code.match_indices(&call);
        found.any(|(at, _)| {
            !self.code[..at]
                .ends_with(|c: char| c.is_alphanumeric() || matches!(c, '_' | '$' | '.'))
        })
    }

    /// True if the file calls a method of this name.
    pub(super) fn calls_method(&self, name: &str) -> bool {
        self.code.contains(&format!(".{name}("))
    }

    /// True if a line at the top level begins with this call.
    pub(super) fn begins_with_call(&self, name: &str) -> bool {
        self.code.lines().any(|line| {
            line.strip_prefix(name).is_some_and(|rest| rest.starts_with(['(', '.', '`']))
        })
    }

    /// True if only some of its tests run.
    pub(super) fn selects(&self) -> bool {
        let words = [".only", "only:", "fit(", "fdescribe(", "process.exit"];
        words.iter().any(|word| self.code.contains(word))
    }

    /// The end of its last line, if it has none.
    pub(super) fn line_end(&self) -> &'static str {
        if self.text.ends_with('\n') { "" } else { "\n" }
    }
}

fn imported(statement: &str, modules: &[&str]) -> Option<Imported> {
    if statement.starts_with("import type ") {
        return None;
    }
    let clause = modules.iter().find_map(|module| import_clause(statement, module))?;
    let clause = clause.split_once(' ').map_or(clause, |(_, clause)| clause);
    let (outer, inner) = match clause.split_once('{') {
        Some((before, rest)) => (before, rest.split('}').next().unwrap_or_default()),
        None => (clause, ""),
    };
    let outer = outer.trim().trim_end_matches([',', '=']).trim();
    let is_namespace = outer.starts_with("* as ");
    let outer = outer.trim_start_matches("* as ");
    let parts = inner.split(',').filter_map(|part| {
        let part = part.trim();
        let (from, to) =
            part.split_once(" as ").or_else(|| part.split_once(':')).unwrap_or((part, part));
        let (from, to) = (from.trim(), to.trim());
        (is_name(from) && is_name(to)).then(|| (from.to_owned(), to.to_owned()))
    });
    let whole = is_name(outer).then(|| outer.to_owned());
    Some(Imported { whole, is_namespace, parts: parts.collect() })
}

/// The text of a statement up to the module, if it takes something from this one.
fn import_clause<'s>(statement: &'s str, module: &str) -> Option<&'s str> {
    for quote in ["'", "\""] {
        for keyword in [" from ", "} from ", "= require("] {
            let source = format!("{keyword}{quote}{module}{quote}");
            let Some((clause, rest)) = statement.split_once(&source) else { continue };
            // `require("a").b` is a part of it.
            let rest = rest.trim_start_matches(')').trim_start_matches(".strict");
            if !rest.starts_with('.') {
                return Some(clause);
            }
        }
    }
    None
}

impl Imported {
    /// The file's name for what the module exports under this one.
    pub(super) fn part(&self, name: &str) -> Option<&str> {
        self.parts.iter().find(|(from, _)| from == name).map(|(_, to)| to.as_str())
    }
}

fn is_name(text: &str) -> bool {
    words(text).eq([text])
}

fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !(c.is_alphanumeric() || matches!(c, '_' | '$')))
        .filter(|word| !word.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, whole: Option<&str>, parts: &[(&str, &str)]) {
        let imported = Module::new(text).imported(&["node:assert", "assert"]).unwrap_or_default();
        let told: Vec<_> =
            imported.parts.iter().map(|(from, to)| (from.as_str(), to.as_str())).collect();
        assert_eq!((imported.whole.as_deref(), told.as_slice()), (whole, parts), "{text}");
    }

    #[test]
    fn what_a_file_takes_from_a_module() {
        check("import assert from 'node:assert';\n", Some("assert"), &[]);
        check("import * as a from \"assert\"\n", Some("a"), &[]);
        check("import { strict as a, ok } from 'assert';", None, &[("strict", "a"), ("ok", "ok")]);
        check("import a, {\n  ok,\n} from 'assert';", Some("a"), &[("ok", "ok")]);
        check("const a = require('assert');\n", Some("a"), &[]);
        check("const a = require('assert').strict;\n", Some("a"), &[]);
        check("const ok = require('assert').ok;\n", None, &[]);
        check("const { equal: e } = require('node:assert')\n", None, &[("equal", "e")]);
        check("import type { ok } from 'assert';\n", None, &[]);
        check("  const a = require('assert');\n", None, &[]);
        check("// import a from 'assert'\nconst b = 'assert';\n", None, &[]);
        check("`\nimport a from 'assert'\n`\n", None, &[]);
    }

    #[test]
    fn what_a_file_declares_and_calls() {
        let text = "import { expect } from 'chai';\nconst run = (test) => test();\n\
                    describe('a', () => {\n  it('b', () => a.only(1));\n});\n";
        let module = Module::new(text);
        assert!(module.declares("expect") && module.declares("run") && !module.declares("it"));
        assert!(module.calls("it") && module.calls("test") && !module.calls("only"));
        assert!(module.begins_with_call("describe") && !module.begins_with_call("it"));
        assert!(module.selects() && !Module::new("it('.only')").selects());
    }
}
