//! Maven, Gradle and Go: what their files say of tests, line by line.
//!
//! They are not parsed: a line counts where it holds a word that has to do with
//! tests, or stands in a block that does.

use super::key::{Free, Keys, Reach};
use crate::decide::expression::Expression;
use crate::integrity::rule;

/// The lines that count, as a list that knows how often each is there.
fn counted(lines: impl Iterator<Item = String>) -> Keys {
    let mut keys = Keys::default();
    for line in lines {
        let line = line.split_whitespace().collect::<Vec<_>>().join(" ");
        let at = (1..).find(|at| !keys.0.contains_key(&format!("{line}#{at}"))).unwrap_or(0);
        keys.add(format!("{line}#{at}"), "", Free::Not);
    }
    keys
}

pub(super) fn maven(text: &str, _: &Reach) -> Option<Keys> {
    static WORDS: Expression = Expression::new(
        r"skipTests|skipITs|maven\.test|testFailureIgnore|failIfNoTests|failIfNoSpecifiedTests|excludedGroups|rerunFailing|<skip>|<groups>|<test>|testSource|testResource|surefire|failsafe",
    );
    let block = blocks(text, "<plugin>", "</plugin>", |block| {
        ["surefire", "failsafe", "jacoco"].iter().any(|name| block.contains(name))
    });
    let others = text.lines().filter(|line| WORDS.is_match(line)).map(str::to_owned);
    // A version of a plugin is bumped as any other.
    let all = block.into_iter().chain(others).filter(|line| !line.contains("<version>"));
    Some(counted(all))
}

/// The lines of the blocks that say something.
fn blocks(
    text: &str,
    open: &str,
    close: &str,
    is_about_tests: impl Fn(&str) -> bool,
) -> Vec<String> {
    let parts = text.split(open).skip(1).filter_map(|part| part.split(close).next());
    let blocks = parts.filter(|block| is_about_tests(block));
    blocks
        .flat_map(|block| {
            block
                .lines()
                .map(str::to_owned)
                .filter(|line| !line.trim().is_empty())
                .collect::<Vec<_>>()
        })
        .collect()
}

pub(super) fn gradle(text: &str, _: &Reach) -> Option<Keys> {
    static WORDS: Expression = Expression::new(
        r"ignoreFailures|onlyIf|enabled\s*=\s*false|useJUnit|useTestNG|excludeTestsMatching|includeTestsMatching|failFast|filter\s*\{|dependsOn|sourceSets",
    );
    static OPENS: Expression = Expression::new(
        r"^\s*(?:tasks\.)?(?:\w*test\w*|withType[(<]\s*Test\b[^{]*|named\(\s*.test[^{]*|test\s*\([^{]*|(?:tasks\.)?(?:withType|named)[^{]*test[^{]*)\s*\{|^\s*jacoco\w*\s*\{",
    );
    let (mut depth, mut lines) = (0_i64, Vec::new());
    for line in text.lines() {
        let code = line.split("//").next().unwrap_or(line);
        let change = count(code, '{') - count(code, '}');
        if depth > 0 || OPENS.is_match(code) {
            depth += change;
            lines.push(code.to_owned());
        } else if WORDS.is_match(code) {
            lines.push(code.to_owned());
        }
    }
    Some(counted(lines.into_iter().filter(|line| !line.trim().is_empty())))
}

/// The part `test` of a bundler's settings, and the lines that load a module as another one.
pub(super) fn vite(text: &str, _: &Reach) -> Option<Keys> {
    static OPENS: Expression = Expression::new(r"\btest\s*:\s*\{");
    static LOADS: Expression =
        Expression::new(r"\b(?:alias|transform|load|resolveId|enforce|define)\b");
    let (mut depth, mut lines, mut others) = (0_i64, Vec::new(), Vec::new());
    for line in text.lines() {
        let line = line.split("//").next().unwrap_or(line);
        if depth > 0 || OPENS.is_match(line) {
            depth += count(line, '{') - count(line, '}');
            lines.push(line.to_owned());
        } else if LOADS.is_match(line) {
            others.push(line.trim().to_owned());
        }
    }
    let mut keys = counted(lines.into_iter().filter(|line| !line.trim().is_empty()));
    for line in others {
        keys.add_for(&rule::MAPPED, line, "", Free::Not);
    }
    Some(keys)
}

fn count(text: &str, c: char) -> i64 {
    i64::try_from(text.matches(c).count()).unwrap_or(0)
}

/// `replace` takes a module from somewhere else. One that the module did not require before may
/// come from anywhere.
pub(super) fn go(text: &str, reach: &Reach) -> Option<Keys> {
    let known: Vec<&str> = reach.texts[0].split_whitespace().collect();
    let (mut keys, mut inside) = (Keys::default(), false);
    for line in text.lines().map(|line| line.split("//").next().unwrap_or(line).trim()) {
        if line.starts_with("./") || line.starts_with("use ./") {
            // A module of a workspace.
            keys.add(line.trim_start_matches("use "), "", Free::ToAdd);
        }
        let begins = line.strip_prefix("replace").filter(|rest| rest.starts_with([' ', '(']));
        inside |= begins.is_some_and(|rest| rest.trim_start().starts_with('('));
        let rest = begins.map_or(line, str::trim);
        if rest.contains("=>") && (inside || begins.is_some()) {
            let (module, to) = rest.split_once("=>").unwrap_or((rest, ""));
            let name = module.split_whitespace().next().unwrap_or_default();
            let free = if known.contains(&name) { Free::ToRemove } else { Free::Both };
            keys.add_for(&rule::REPLACED, format!("replace {}", module.trim()), to.trim(), free);
        }
        inside &= !line.starts_with(')');
    }
    Some(keys)
}
