//! Tokens that are known by their beginning: the rules of `patterns/secrets.toml`.

use std::ops::Range;
use std::sync::{LazyLock, OnceLock};

use aho_corasick::{AhoCorasick, AhoCorasickKind};
use regex_automata::meta::{BuildError, Config, Regex};
use regex_automata::util::syntax;
use regex_automata::{Anchored, Input};
use serde::Deserialize;

use crate::decide::literal::Pairs;

const PACK: &str = gate_patterns::SECRETS;

/// The most bytes of a rule's lazily built automaton.
const REGEX_CACHE_BYTES: usize = 1 << 18;

/// The most bytes of a text in which keywords are looked for one by one. Most decisions mask a few
/// such texts, and building the automaton would take longer.
const MAX_SHORT_BYTES: usize = 500;

/// The mark at which a text was cut.
const ELLIPSIS: char = '…';

static RULES: LazyLock<Rules> = LazyLock::new(|| Rules::new(rule_texts()));

/// The tokens in this part of a text; they may overlap. The text around the part has been
/// masked before.
pub(super) fn find(text: &str, part: Range<usize>) -> Vec<Range<usize>> {
    RULES.find(text, part)
}

fn rule_texts() -> impl Iterator<Item = &'static str> {
    PACK.split("[[rule]]\n").skip(1)
}

/// The keywords in a rule's text. Every start of gate needs them, and reading the whole
/// pack as TOML would take longer than the masking.
fn keywords(rule: &str) -> impl Iterator<Item = &str> {
    let line = rule.lines().find_map(|line| line.strip_prefix("keywords = "));
    line.unwrap_or_default().split('"').skip(1).step_by(2)
}

struct Rules {
    rules: Vec<LazyRule>,
    /// Index of the rule that each keyword belongs to.
    owners: Vec<usize>,
    keywords: Vec<&'static str>,
    automaton: OnceLock<Option<AhoCorasick>>,
}

impl Rules {
    fn new(texts: impl Iterator<Item = &'static str>) -> Self {
        let mut rules = Vec::new();
        let mut owners = Vec::new();
        let mut all_keywords = Vec::new();
        for (index, text) in texts.enumerate() {
            for keyword in keywords(text) {
                owners.push(index);
                all_keywords.push(keyword);
            }
            rules.push(LazyRule::new(text));
        }
        Self { rules, owners, keywords: all_keywords, automaton: OnceLock::new() }
    }

    /// False only if a text has no keyword.
    fn may_have_token(&self, text: &str) -> bool {
        if text.len() > MAX_SHORT_BYTES {
            return true;
        }
        let pairs = Pairs::new(text);
        self.keywords.iter().any(|keyword| pairs.may_hold(keyword) && text.contains(keyword))
    }

    fn automaton(&self) -> Option<&AhoCorasick> {
        // The kind that is built fastest: most calls search some kilobytes.
        let kind = Some(AhoCorasickKind::NoncontiguousNFA);
        let build = || AhoCorasick::builder().kind(kind).build(&self.keywords).ok();
        self.automaton.get_or_init(build).as_ref()
    }

    fn find(&self, text: &str, part: Range<usize>) -> Vec<Range<usize>> {
        if !self.may_have_token(&text[part.clone()]) {
            return Vec::new();
        }
        let Some(keywords) = self.automaton() else { return Vec::new() };
        let mut tokens = Vec::new();
        // For each rule, the end of the text that it has searched. Without it a text of nothing
        // but keywords would be searched from each of them to its end.
        let mut searched_to = vec![part.start; self.rules.len()];
        let input = aho_corasick::Input::new(text).span(part.clone());
        for keyword in keywords.find_overlapping_iter(input) {
            let index = self.owners[keyword.pattern()];
            let start = keyword.start();
            let Some(rule) = self.rules[index].rule() else { continue };
            if start < searched_to[index] || (rule.starts_word && !begins_word(text, &part, start))
            {
                continue;
            }
            let Some(regex) = self.rules[index].regex(rule) else { continue };
            let anchored = if rule.starts_word { Anchored::Yes } else { Anchored::No };
            let input = Input::new(text).span(start..part.end).anchored(anchored);
            let Some(token) = regex.find(input) else {
                searched_to[index] = if rule.starts_word { start + 1 } else { part.end };
                continue;
            };
            searched_to[index] = token.end();
            let length = text[token.range()].trim_end_matches(ELLIPSIS).len();
            tokens.push(token.start()..token.start() + length);
        }
        tokens
    }
}

/// A rule that is read when one of its keywords is seen, and compiled when a token may
/// begin there.
struct LazyRule {
    text: &'static str,
    rule: OnceLock<Option<Rule>>,
    regex: OnceLock<Option<Regex>>,
}

impl LazyRule {
    fn new(text: &'static str) -> Self {
        Self { text, rule: OnceLock::new(), regex: OnceLock::new() }
    }

    fn rule(&self) -> Option<&Rule> {
        self.rule.get_or_init(|| toml::from_str(self.text).ok()).as_ref()
    }

    fn regex(&self, rule: &Rule) -> Option<&Regex> {
        self.regex.get_or_init(|| rule.compile().ok()).as_ref()
    }
}

#[derive(Deserialize)]
struct Rule {
    #[serde(default)]
    starts_word: bool,
    regex: String,
    cut: Option<String>,
}

impl Rule {
    /// The end of the word is a part of the match, or it could be taken for another
    /// token.
    fn compile(&self) -> Result<Regex, Box<BuildError>> {
        let mut regex = format!(r"(?:{})[\w-]*", self.regex);
        if let Some(cut) = &self.cut {
            regex.push_str(&format!(r"|(?:{cut})(?:\z|{ELLIPSIS})"));
        }
        Regex::builder()
            .syntax(syntax::Config::new().unicode(false).utf8(false))
            .configure(Config::new().hybrid_cache_capacity(REGEX_CACHE_BYTES))
            .build(&regex)
            .map_err(Box::new)
    }
}

/// A place at which no letter or digit of the part comes before the byte. The letter of an escaped
/// line break or tab does not count.
fn begins_word(text: &str, part: &Range<usize>, start: usize) -> bool {
    if start == part.start {
        // A masked text before the part was a piece of the same word.
        return start == 0;
    }
    match text.as_bytes()[..start] {
        [.., b'\\', b'n' | b'r' | b't'] => true,
        [.., last_byte] => !last_byte.is_ascii_alphanumeric(),
        [] => true,
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[derive(Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Pack {
        doc: String,
        rule: Vec<RuleWithSamples>,
    }

    #[derive(Deserialize)]
    #[serde(deny_unknown_fields)]
    struct RuleWithSamples {
        name: String,
        reason: String,
        keywords: Vec<String>,
        #[serde(default)]
        starts_word: bool,
        regex: String,
        cut: Option<String>,
        matches: Vec<String>,
        rejects: Vec<String>,
    }

    /// A sample with `{20}` and `{A20}` written out.
    fn written_out(sample: &str) -> String {
        let mut pieces = sample.split('{');
        let mut text = pieces.next().unwrap().to_owned();
        for piece in pieces {
            let (length, rest) = piece.split_once('}').unwrap();
            let capitals = length.strip_prefix('A');
            let length: usize = capitals.unwrap_or(length).parse().unwrap();
            let random: String = "Ab3dE9fGh1jK7mNp".chars().cycle().take(length).collect();
            text.push_str(&if capitals.is_some() { random.to_uppercase() } else { random });
            text.push_str(rest);
        }
        text
    }

    /// Each rule of the pack, and a search for that rule alone.
    fn rules() -> impl Iterator<Item = (RuleWithSamples, Rules)> {
        let pack: Pack = toml::from_str(PACK).unwrap();
        assert!(!pack.doc.is_empty());
        assert_eq!(pack.rule.len(), rule_texts().count());
        let alone = rule_texts().map(|text| Rules::new([text].into_iter()));
        pack.rule.into_iter().zip(alone)
    }

    fn found(rules: &Rules, text: &str) -> Vec<Range<usize>> {
        rules.find(text, 0..text.len())
    }

    #[test]
    fn every_rule_matches_its_samples_and_rejects_the_others() {
        for (rule, alone) in rules() {
            for sample in &rule.matches {
                let token = written_out(sample);
                let all = 0..token.len();
                assert_eq!(found(&alone, &token), vec![all], "{}: {sample}", rule.name);
                let text = format!("\\n{token}\", x");
                let inside = 2..2 + token.len();
                assert_eq!(found(&alone, &text), vec![inside], "{}: {sample}", rule.name);
            }
            for sample in &rule.rejects {
                let found = found(&alone, &written_out(sample));
                assert!(found.is_empty(), "{}: {sample}", rule.name);
            }
            assert!(rule.rejects.len() >= 2 && !rule.reason.is_empty(), "{}", rule.name);
        }
    }

    #[test]
    fn every_keyword_is_read_and_begins_a_sample() {
        let mut names = BTreeSet::new();
        for ((rule, _), text) in rules().zip(rule_texts()) {
            assert!(keywords(text).eq(rule.keywords.iter()), "{}", rule.name);
            let alone: Rule = toml::from_str(text).unwrap();
            assert_eq!((alone.starts_word, alone.regex), (rule.starts_word, rule.regex));
            for keyword in &rule.keywords {
                let is_sample = rule.matches.iter().any(|sample| sample.starts_with(keyword));
                assert!(is_sample, "{}: {keyword}", rule.name);
            }
            assert!(names.insert(rule.name.clone()), "{} twice", rule.name);
        }
    }

    #[test]
    fn a_token_that_is_cut_off_is_found_before_an_ellipsis_and_at_the_end() {
        for (rule, alone) in rules().filter(|(rule, _)| rule.cut.is_some()) {
            for keyword in &rule.keywords {
                let token = format!("{keyword}A1B2C3");
                let all = 0..token.len();
                assert_eq!(found(&alone, &token), vec![all.clone()], "{keyword}");
                assert_eq!(found(&alone, &format!("{token}… and more")), vec![all], "{keyword}");
                assert!(found(&alone, &format!("{token} and more")).is_empty(), "{keyword}");
                assert!(found(&alone, &format!("{keyword}A1B2C")).is_empty(), "{keyword}");
            }
        }
    }
}
