//! From an expression to what searches for it: a table, or states where the
//! table would be too large.

use regex_automata::nfa::thompson::{self, NFA, WhichCaptures};
use regex_automata::util::syntax;
use regex_syntax::hir::Look;

use crate::expressions::Asked;
use crate::{states, table};

/// How long the head is that a search begins with, in bytes.
pub(crate) const HEAD: usize = 12;

/// What an expression became.
pub(crate) struct Prepared {
    /// A table or states.
    pub(crate) search: Vec<u8>,
    pub(crate) is_table: bool,
    /// The table of the expression read backwards.
    pub(crate) backwards: Option<Vec<u8>>,
}

/// Prepares an expression; nothing where it has to be compiled by gate.
pub(crate) fn prepare(text: &str, asked: Asked) -> Option<Prepared> {
    let hir = syntax::parse_with(text, &dialect()).unwrap_or_else(|error| panic!("{error}"));
    let properties = hir.properties();
    // A match of the empty text within a character would be none.
    let at_line = properties.look_set_prefix().contains(Look::StartLF);
    let empty = properties.minimum_len().is_none_or(|length| length == 0);
    if empty && !(asked == Asked::Whether && at_line) {
        return None;
    }
    let forwards = table::of(&nfa(text, false), false);
    let backwards = match asked {
        Asked::Where => table::of(&nfa(text, true), true),
        Asked::Whether => None,
    };
    match (forwards, backwards) {
        (Some(search), backwards) if backwards.is_some() == (asked == Asked::Where) => {
            Some(Prepared { search, is_table: true, backwards })
        }
        _ if empty => None,
        _ => {
            let search = states::of(&nfa(text, false))?;
            Some(Prepared { search, is_table: false, backwards: None })
        }
    }
}

fn nfa(text: &str, reverse: bool) -> NFA {
    let config = thompson::Config::new().reverse(reverse).which_captures(WhichCaptures::None);
    let mut compiler = thompson::Compiler::new();
    let nfa = compiler.syntax(dialect()).configure(config).build(text);
    nfa.unwrap_or_else(|error| panic!("{text}: {error}"))
}

/// As gate compiles expressions.
fn dialect() -> syntax::Config {
    syntax::Config::new().case_insensitive(true).multi_line(true)
}
