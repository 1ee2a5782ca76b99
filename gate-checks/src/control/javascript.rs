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
    /// The file's name for the module as a whole, or for what it exports by default.
    pub(super) whole: Option<String>,
    /// The whole is no value that can be called: `import * as a`.
    pub(super) is_namespace: bool,
    pub(super) parts: Vec<ImportedPart>,
}

/// `strict as assert`.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct ImportedPart {
    exported: String,
    /// The file's name for it.
    local: String,
}

/// The most lines of one statement.
const MAX_LINES: usize = 40;

impl<'t> Module<'t> {
    pub(super) fn new(text: &'t str) -> Self {
        let code = code_alone(text, Language::Js);
        let keywords = ["import ", "import{", "const ", "let ", "var "];
        let lines: Vec<_> = text.lines().zip(code.lines()).collect();
        let mut statements = Vec::new();
        for (index, (_, code)) in lines.iter().enumerate() {
            // A line that begins without a space is at the top level.
            if !keywords.iter().any(|keyword| code.starts_with(keyword)) {
                continue;
            }
            let (mut statement, mut depth) = (String::new(), 0_usize);
            for (line, code) in lines.iter().skip(index).take(MAX_LINES) {
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

    /// The statements at the top level that hold one of these texts.
    pub(super) fn statements_with(&self, texts: &[&str]) -> impl Iterator<Item = &str> {
        let statements = self.statements.iter().map(|statement| statement.trim_end());
        statements.filter(|statement| texts.iter().any(|text| statement.contains(text)))
    }

    /// A statement at the top level gives something this name.
    pub(super) fn declares(&self, name: &str) -> bool {
        self.statements.iter().any(|statement| {
            let end = statement.find('=').or_else(|| statement.find(" from ")).unwrap_or(0);
            words(&statement[..end]).any(|word| word == name)
        })
    }

    /// The file calls a function of this name.
    pub(super) fn calls(&self, name: &str) -> bool {
        let call = format!("{name}(");
        let mut matches = self.code.match_indices(&call);
        // Not a method, and not the end of a longer name.
        matches.any(|(start, _)| {
            !self.code[..start]
                .ends_with(|c: char| c.is_alphanumeric() || matches!(c, '_' | '$' | '.'))
        })
    }

    /// The file calls a method of this name.
    pub(super) fn calls_method(&self, name: &str) -> bool {
        self.code.contains(&format!(".{name}("))
    }

    /// A line at the top level begins with this call.
    pub(super) fn begins_with_call(&self, name: &str) -> bool {
        self.code.lines().any(|line| {
            line.strip_prefix(name).is_some_and(|arguments| arguments.starts_with(['(', '.', '`']))
        })
    }

    /// Only some of the file's tests run.
    pub(super) fn selects_tests(&self) -> bool {
        let words = [".only", "only:", "fit(", "fdescribe(", "process.exit"];
        words.iter().any(|word| self.code.contains(word))
    }

    /// The end of the last line, if it has none.
    pub(super) fn missing_line_end(&self) -> &'static str {
        if self.text.ends_with('\n') { "" } else { "\n" }
    }
}

fn imported(statement: &str, modules: &[&str]) -> Option<Imported> {
    if statement.starts_with("import type ") {
        return None;
    }
    let clause = modules.iter().find_map(|module| import_clause(statement, module))?;
    // `import a, { b as c }`, `const a =`: the word before the first space is the keyword.
    let names = clause.split_once(' ').map_or(clause, |(_keyword, names)| names);
    let (default, list) = match names.split_once('{') {
        Some((default, list)) => (default, list.split('}').next().unwrap_or_default()),
        None => (names, ""),
    };
    let default = default.trim().trim_end_matches([',', '=']).trim();
    let is_namespace = default.starts_with("* as ");
    let whole_name = default.trim_start_matches("* as ");
    let parts = list.split(',').filter_map(|part| {
        let part = part.trim();
        let renamed = part.split_once(" as ").or_else(|| part.split_once(':'));
        let (exported, local) = renamed.unwrap_or((part, part));
        let (exported, local) = (exported.trim().to_owned(), local.trim().to_owned());
        (is_name(&exported) && is_name(&local)).then_some(ImportedPart { exported, local })
    });
    let whole = is_name(whole_name).then(|| whole_name.to_owned());
    Some(Imported { whole, is_namespace, parts: parts.collect() })
}

/// The text of a statement up to the module, if it takes something from this one.
fn import_clause<'s>(statement: &'s str, module: &str) -> Option<&'s str> {
    for quote in ["'", "\""] {
        for keyword in [" from ", "} from ", "= require("] {
            let source = format!("{keyword}{quote}{module}{quote}");
            let Some((clause, behind)) = statement.split_once(&source) else { continue };
            // `require("a").b` takes a part of the module.
            let access = behind.trim_start_matches(')').trim_start_matches(".strict");
            if !access.starts_with('.') {
                return Some(clause);
            }
        }
    }
    None
}

impl Imported {
    /// The file's name for what the module exports under this one.
    pub(super) fn local_name(&self, name: &str) -> Option<&str> {
        self.parts.iter().find(|part| part.exported == name).map(|part| part.local.as_str())
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
        let named_parts: Vec<_> = imported
            .parts
            .iter()
            .map(|part| (part.exported.as_str(), part.local.as_str()))
            .collect();
        assert_eq!((imported.whole.as_deref(), named_parts.as_slice()), (whole, parts), "{text}");
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
        assert!(module.selects_tests() && !Module::new("it('.only')").selects_tests());
    }
}
