//! The direction of an edited or removed test: what it claimed still has to be claimed.
//!
//! A test is read as statements, and its assertions as claims. A claim is kept if a test
//! makes it under no further condition: in the same words, as a row of a table, or by a
//! stronger assertion. Names and parameters follow the product: a word may be another one if
//! the product lost the old word and has the new one.

use std::collections::HashSet;

use super::claim::{Claim, Strength, claims, fails, value};
use super::language::Language;
use super::statements::{Statement, is_assertion, statements};
use super::token::Token;

/// Words that end a test early, or leave it out.
const ENDS: &[&str] = &[
    "return",
    "break",
    "continue",
    "skip",
    "skipTest",
    "Skip",
    "Skipf",
    "SkipNow",
    "SkipTest",
    "xfail",
    "importorskip",
    "todo",
    "exit",
    "_exit",
    "quit",
    "pending",
    "abort",
    "ignore",
    "skipIf",
    "skipif",
    "skipUnless",
    "Disabled",
    "Ignore",
    "only",
];

/// Words that put something else in the place of the product.
const REPLACES: &[&str] = &[
    "Mock",
    "MagicMock",
    "AsyncMock",
    "patch",
    "monkeypatch",
    "setattr",
    "mock",
    "doMock",
    "spyOn",
    "stub",
    "globals",
    "stubGlobal",
    "__eq__",
    "fake",
];

/// Attributes that change nothing of what a test claims.
const HARMLESS_MARKS: &[&str] = &[
    "allow",
    "case",
    "parametrize",
    "test",
    "rstest",
    "asyncio",
    "DisplayName",
    "should_panic",
    "ParameterizedTest",
    "ValueSource",
    "CsvSource",
    "InlineData",
    "TestCase",
    "Override",
    "Test",
    "doc",
];

/// Extra values that a row of a table may have beside those of a claim.
const MAX_MORE_VALUES: usize = 3;

/// The words that the product lost and got.
#[derive(Debug, Default)]
pub(super) struct Words {
    pub(super) gone: HashSet<String>,
    pub(super) new: HashSet<String>,
}

/// A test or the code beside tests, read as claims.
#[derive(Debug)]
pub(super) struct Body {
    statements: Vec<Statement>,
    claims: Vec<(Claim, Vec<String>)>,
    /// For each statement: it is a claim, or follows from one.
    claimed: Vec<bool>,
    /// The literals of each row and bracket.
    rows: Vec<Vec<String>>,
    ends: usize,
    replaces: usize,
}

impl Body {
    /// Reads a test of this name.
    pub(super) fn new(tokens: &[Token], name: &str, language: Language) -> Self {
        let mut statements = statements(tokens, language);
        statements.retain(|statement| !is_text(statement));
        // A test may have another name.
        let own = |token: &&mut String| **token == name || token.strip_prefix('"') == Some(name);
        if let Some(token) = statements.iter_mut().flat_map(|one| &mut one.tokens).find(own) {
            "_".clone_into(token);
        }
        let count = |words: &[&str]| {
            let counting = statements.iter().filter(|statement| !is_mark(statement));
            let pairs = counting.flat_map(|statement| {
                let next = statement.tokens.iter().skip(1).map(String::as_str).chain([""]);
                statement.tokens.iter().zip(next)
            });
            pairs
                .filter(|(word, next)| words.contains(&word.as_str()) && !is_assertion(next))
                .count()
        };
        let (ends, replaces) = (count(ENDS), count(REPLACES));
        let mut found = Vec::new();
        let mut claimed = Vec::new();
        for (at, statement) in statements.iter().enumerate() {
            let own = claims(statement, statements.get(at + 1), language);
            claimed.push(!own.is_empty() || fails(statement));
            found.extend(own.into_iter().map(|claim| (claim, statement.guards.clone())));
        }
        let rows = statements.iter().flat_map(rows).collect();
        Self { statements, claims: found, claimed, rows, ends, replaces }
    }

    fn calls(&self, word: &str) -> bool {
        self.statements.iter().any(|statement| {
            statement.tokens.windows(2).any(|pair| pair[0] == word && pair[1] == "(")
        })
    }

    fn mentions(&self, word: &str) -> bool {
        self.statements.iter().any(|statement| statement.tokens.iter().any(|token| token == word))
    }
}

/// An attribute or a decorator.
fn is_mark(statement: &Statement) -> bool {
    matches!(statement.tokens.first().map(String::as_str), Some("@" | "#"))
}

/// A statement that is a text, as what documents a function is.
fn is_text(statement: &Statement) -> bool {
    statement.tokens.iter().all(|token| token.starts_with('"') || token == "pass")
}

/// Every claim and every call of a test is in one of these tests or, where they call it, in the
/// code beside them.
pub(super) fn is_kept(was: &Body, now: &[&Body], beside: &[&Body], words: &Words) -> bool {
    let fit =
        now.iter().copied().filter(|body| body.ends <= was.ends && body.replaces <= was.replaces);
    let fit: Vec<&Body> = fit.collect();
    if fit.is_empty() {
        return false;
    }
    let claims = was.claims.iter().all(|claim| {
        fit.iter().any(|body| makes(body, claim, words) || holds_row(body, claim, beside))
    });
    let head = was.statements.iter().position(|statement| statement.opens);
    let others = was.statements.iter().zip(&was.claimed).enumerate();
    let mut calls = others
        .filter(|(at, (statement, claimed))| {
            let holds_nothing = !statement.tokens.iter().any(|token| is_literal(token));
            let leaves_out = is_mark(statement) && (is_reason(&statement.tokens) || holds_nothing);
            !(Some(*at) == head || **claimed || statement.sets || leaves_out)
        })
        .map(|(_, (statement, _))| statement)
        .peekable();
    claims
        && (!was.claims.is_empty() || calls.peek().is_some())
        && calls.all(|call| fit.iter().any(|body| runs(body, call, words)))
        && fit.iter().any(|body| marks_fit(was, body))
}

/// A test makes a claim under no condition that it did not have.
fn makes(body: &Body, (claim, guards): &(Claim, Vec<String>), words: &Words) -> bool {
    body.claims.iter().any(|(is, under)| {
        under.iter().all(|guard| guards.iter().any(|old| is_same(old, guard, words)))
            && is_as_strong(claim, is, words)
    })
}

fn is_same(old: &str, new: &str, words: &Words) -> bool {
    let [old, new] = [old, new].map(|text| text.split(' ').map(str::to_owned).collect::<Vec<_>>());
    follows(&old, &new, words)
}

fn is_as_strong(was: &Claim, is: &Claim, words: &Words) -> bool {
    if was.raises != is.raises || was.negated != is.negated || is.strength < was.strength {
        return false;
    }
    let same = |a: &[String], b: &[String]| follows(a, b, words);
    let subject = same(&was.subject, &is.subject) || was.raises && was.subject.is_empty();
    let expected = same(&was.expected, &is.expected);
    let crossed = same(&was.subject, &is.expected) && same(&was.expected, &is.subject);
    if subject && expected || crossed {
        return true;
    }
    if was.raises {
        let narrower = is.strength > was.strength
            || was.strength == Strength::Equal && is.expected.starts_with(&was.expected);
        return subject && narrower;
    }
    let other = if subject {
        &is.expected
    } else if same(&was.subject, &is.expected) {
        &is.subject
    } else {
        return false;
    };
    is.strength > was.strength && implies(other, &was.expected)
}

/// A value that is equal to the one has the property that was claimed.
fn implies(is: &[String], property: &[String]) -> bool {
    let known = is.iter().all(|token| !token.starts_with(char::is_alphabetic))
        || is.first().is_some_and(|first| first.starts_with(char::is_uppercase));
    let nothing = ["none", "false", "False", "0", "undefined", "\""].contains(&value(is));
    let number = |tokens: &[String]| tokens.concat().parse::<f64>().ok();
    match property.first().map(String::as_str) {
        None => !nothing,
        Some(sign @ ("<" | ">" | "<=" | ">=")) => match (number(is), number(&property[1..])) {
            (Some(is), Some(limit)) => match sign {
                "<" => is < limit,
                ">" => is > limit,
                "<=" => is <= limit,
                _ => is >= limit,
            },
            _ => false,
        },
        Some(_) => {
            let text = is.concat();
            let literals = property.iter().filter(|token| is_literal(token));
            let mut literals = literals.map(|token| token.trim_start_matches('"')).peekable();
            known && literals.peek().is_some() && literals.all(|literal| text.contains(literal))
        }
    }
}

/// The same code, or the same as the product has it now.
pub(super) fn follow(was: &[String], is: &[String], words: &Words) -> bool {
    was.iter().all(|token| token.starts_with('"')) || follows(was, is, words)
}

fn follows(was: &[String], is: &[String], words: &Words) -> bool {
    let renamed = |a: &String, b: &String| {
        a == b || words.gone.contains(a) && words.new.contains(b) && !is_literal(a)
    };
    if was.len() == is.len() {
        return was.iter().zip(is).all(|(a, b)| renamed(a, b));
    }
    // A parameter more, where the product has one.
    let called = is.windows(2).any(|pair| pair[1] == "(" && words.new.contains(&pair[0]));
    let mut rest = was.iter().peekable();
    let mut depth = 0_usize;
    let mut fits = called;
    for token in is {
        if token == "(" {
            depth += 1;
        }
        if rest.peek().is_some_and(|next| renamed(next, token)) {
            rest.next();
        } else {
            fits &=
                depth > 0 && !matches!(token.as_str(), "and" | "or" | "if" | "else" | "?" | "==");
        }
        if token == ")" {
            depth = depth.saturating_sub(1);
        }
    }
    fits && rest.next().is_none()
}

/// A test runs a call that another one ran.
fn runs(body: &Body, call: &Statement, words: &Words) -> bool {
    let is_free = |token: &String| is_reason(&call.tokens) && token.starts_with('"');
    let was: Vec<String> = call.tokens.iter().filter(|token| !is_free(token)).cloned().collect();
    let within = |statement: &Statement| {
        let mut rest = statement.tokens.iter();
        was.iter().all(|token| {
            rest.any(|now| now == token || words.gone.contains(token) && words.new.contains(now))
        })
    };
    body.statements.iter().any(within) || {
        let literals: Vec<_> = was.iter().filter(|token| is_literal(token)).cloned().collect();
        let callee = was.windows(2).find(|pair| pair[1] == "(").map(|pair| pair[0].clone());
        !literals.is_empty()
            && callee.is_some_and(|callee| body.mentions(&callee))
            && body.rows.iter().any(|row| holds(row, &literals))
    }
}

/// A statement that only says why a test is left out.
fn is_reason(tokens: &[String]) -> bool {
    tokens.iter().any(|token| ENDS.contains(&token.as_str()))
}

/// The values of a claim are a row of a table, and a claim of that strength is made of rows.
fn holds_row(body: &Body, (claim, guards): &(Claim, Vec<String>), beside: &[&Body]) -> bool {
    let all = claim.subject.iter().chain(&claim.expected);
    let literals: Vec<String> = all.clone().filter(|token| is_literal(token)).cloned().collect();
    if literals.is_empty() || !body.rows.iter().any(|row| holds(row, &literals)) {
        return false;
    }
    let tokens: Vec<_> = all.collect();
    let called = tokens.windows(2).filter(|pair| pair[1] == "(").map(|pair| pair[0].as_str());
    let called: Vec<_> =
        called.filter(|word| word.starts_with(|c: char| c.is_alphabetic() || c == '_')).collect();
    let of = |(is, under): &(Claim, Vec<String>)| {
        is.strength >= claim.strength
            && is.negated == claim.negated
            && is.raises == claim.raises
            && is.subject != is.expected
            && !is.subject.iter().chain(&is.expected).any(|token| is_literal(token))
            && under.iter().all(|guard| {
                guards.contains(guard) || guard.starts_with("def ") || guard.starts_with("fn ")
            })
            && called
                .iter()
                .all(|word| is.subject.iter().chain(&is.expected).any(|token| token == word))
    };
    body.claims.iter().any(of)
        || beside.iter().any(|beside| {
            beside.claims.iter().any(of)
                && beside
                    .statements
                    .iter()
                    .any(|helper| helper.opens && helper.tokens.iter().any(|word| body.calls(word)))
        })
}

fn holds(row: &[String], literals: &[String]) -> bool {
    let mut left = row.to_vec();
    let all = literals.iter().all(|literal| {
        left.iter().position(|value| value == literal).map(|at| left.swap_remove(at)).is_some()
    });
    all && left.len() <= MAX_MORE_VALUES
}

fn is_literal(token: &str) -> bool {
    token.starts_with(|c: char| c == '"' || c.is_ascii_digit())
        || matches!(
            token,
            "True" | "False" | "None" | "true" | "false" | "null" | "nil" | "undefined"
        )
}

/// The literals of a statement and of each bracket in it.
fn rows(statement: &Statement) -> Vec<Vec<String>> {
    let mut open: Vec<Vec<String>> = vec![Vec::new()];
    let mut found = Vec::new();
    for token in &statement.tokens {
        match token.as_str() {
            "(" | "[" | "{" => open.push(Vec::new()),
            ")" | "]" | "}" if open.len() > 1 => {
                let row = open.pop().unwrap_or_default();
                if let Some(outer) = open.last_mut() {
                    outer.extend(row.iter().cloned());
                }
                found.push(row);
            }
            token if is_literal(token) => {
                if let Some(row) = open.last_mut() {
                    row.push(token.to_owned());
                }
            }
            _ => {}
        }
    }
    found.extend(open.into_iter().next());
    found.retain(|row| !row.is_empty());
    found
}

/// The attributes of a test are those of another, or say nothing about what counts.
fn marks_fit(was: &Body, is: &Body) -> bool {
    let mut marks = is.statements.iter().filter(|statement| is_mark(statement));
    marks.all(|mark| {
        let is_harmless = mark.tokens.iter().any(|word| HARMLESS_MARKS.contains(&word.as_str()));
        was.statements.iter().any(|old| {
            let texts = |statement: &Statement| {
                let kept = statement.tokens.iter().filter(|token| !token.starts_with('"'));
                kept.cloned().collect::<Vec<_>>()
            };
            texts(old) == texts(mark)
        }) || is_harmless && !is_reason(&mark.tokens)
            || mark.tokens.concat() == "#[cfg_attr(miri,ignore)]"
    })
}
