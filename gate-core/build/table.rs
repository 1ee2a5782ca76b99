//! Lays an automaton out as the table that `src/decide/expression/table.rs`
//! reads.

use std::collections::{BTreeMap, HashMap};

use regex_automata::MatchKind;
use regex_automata::dfa::{Automaton, StartKind, dense};
use regex_automata::nfa::thompson::NFA;
use regex_automata::util::primitives::StateID;
use regex_automata::util::start;
use regex_automata::{Anchored, util::alphabet::Unit};

/// The largest table, in bytes, and the most memory that it may take to find
/// that it is larger.
const LARGEST: usize = 512 << 10;
const MOST: usize = 4 << 20;

/// The bytes beside a search that its first state depends on: none, a line
/// break, a letter, another.
const BESIDE: [Option<u8>; 4] = [None, Some(b'\n'), Some(b'a'), Some(b' ')];

/// The table of an automaton, unless it is too large.
pub(crate) fn of(nfa: &NFA, backwards: bool) -> Option<Vec<u8>> {
    let (matches, starts) = if backwards {
        (MatchKind::All, StartKind::Anchored)
    } else {
        (MatchKind::LeftmostFirst, StartKind::Unanchored)
    };
    let config = dense::Config::new()
        .match_kind(matches)
        .start_kind(starts)
        .dfa_size_limit(Some(MOST))
        .determinize_size_limit(Some(MOST));
    let dfa = dense::Builder::new().configure(config).build_from_nfa(nfa).ok()?;
    let layout = Layout::of(&dfa, backwards)?.narrowed().shortened();
    let bytes = layout.bytes(!backwards);
    (bytes.len() <= LARGEST).then_some(bytes)
}

/// Marks the columns of a table whose states are told by their numbers.
const BY_NUMBER: usize = 1 << 15;

struct Layout {
    /// The class of each byte.
    classes: Vec<u8>,
    starts: Vec<usize>,
    /// Whether a match has just ended in a state.
    matching: Vec<bool>,
    /// The states that follow, by class; the end of the text is the last.
    rows: Vec<Vec<usize>>,
}

impl Layout {
    /// All states that can be reached, from 1; what is dead is 0.
    fn of(dfa: &dense::DFA<Vec<u32>>, backwards: bool) -> Option<Self> {
        let anchored = if backwards { Anchored::Yes } else { Anchored::No };
        let start = |beside| {
            let config = start::Config::new().anchored(anchored).look_behind(beside);
            dfa.start_state(&config).ok()
        };
        let starts = BESIDE.map(start).into_iter().collect::<Option<Vec<_>>>()?;
        let mut known = Known { ids: BTreeMap::new(), order: Vec::new() };
        let starts = starts.into_iter().map(|id| known.number(dfa, id)).collect();
        let units: Vec<_> =
            dfa.byte_classes().representatives(0..=255).filter_map(Unit::as_u8).collect();
        let mut rows = vec![vec![0; units.len() + 1]];
        while let Some(&id) = known.order.get(rows.len() - 1) {
            let mut row: Vec<_> =
                units.iter().map(|byte| known.number(dfa, dfa.next_state(id, *byte))).collect();
            row.push(known.number(dfa, dfa.next_eoi_state(id)));
            rows.push(row);
        }
        let matching = known.order.iter().map(|id| dfa.is_match_state(*id));
        let matching = std::iter::once(false).chain(matching).collect();
        let classes = (0..=255).map(|byte| dfa.byte_classes().get(byte)).collect();
        Some(Self { classes, starts, matching, rows })
    }

    /// Bytes on which every state goes on in the same way share a class.
    fn narrowed(self) -> Self {
        let ends = self.rows[0].len() - 1;
        let column = |at: usize| self.rows.iter().map(|row| row[at]).collect::<Vec<_>>();
        let (mut kept, mut places) = (Vec::<usize>::new(), BTreeMap::new());
        let mut place = |at| {
            *places.entry(column(at)).or_insert_with(|| {
                kept.push(at);
                kept.len() - 1
            })
        };
        let renamed: Vec<_> = (0..ends).map(&mut place).collect();
        kept.push(ends);
        let class = |old: &u8| u8::try_from(renamed[usize::from(*old)]).expect("a class");
        let narrow = |row: &Vec<usize>| kept.iter().map(|&at| row[at]).collect();
        Self {
            classes: self.classes.iter().map(class).collect(),
            rows: self.rows.iter().map(narrow).collect(),
            ..self
        }
    }

    /// States that no text tells apart become one (Moore's algorithm; that of
    /// the library takes minutes here).
    fn shortened(self) -> Self {
        let mut groups: Vec<usize> = self.matching.iter().map(|it| usize::from(*it)).collect();
        let mut count = 0;
        loop {
            let mut known = HashMap::new();
            let group = |(row, old): (&Vec<usize>, &usize)| {
                let next: Vec<_> =
                    std::iter::once(*old).chain(row.iter().map(|&it| groups[it])).collect();
                let new = known.len();
                *known.entry(next).or_insert(new)
            };
            groups = self.rows.iter().zip(&groups).map(group).collect();
            if known.len() == count {
                break;
            }
            count = known.len();
        }
        let first = |group| groups.iter().position(|it| *it == group).expect("it has a state");
        let firsts: Vec<_> = (0..count).map(first).collect();
        Self {
            classes: self.classes,
            starts: self.starts.iter().map(|&it| groups[it]).collect(),
            matching: firsts.iter().map(|&it| self.matching[it]).collect(),
            rows: firsts
                .iter()
                .map(|&it| self.rows[it].iter().map(|&to| groups[to]).collect())
                .collect(),
        }
    }

    /// The head: columns, the last matching state, the states to begin in; then
    /// classes, beginnings where the text is searched for any, and rows. Matching
    /// states come first and those to begin in next, so that one comparison tells
    /// them. A state is told by the place of its row, which saves to multiply
    /// for each byte of a text, or, where that would not fit, by its number.
    fn bytes(&self, searches: bool) -> Vec<u8> {
        let mut order: Vec<usize> = (0..self.rows.len()).collect();
        let rank =
            |state: usize| (state != 0, !self.matching[state], !self.starts.contains(&state));
        order.sort_by_key(|&state| rank(state));
        let mut place = vec![0; order.len()];
        order.iter().enumerate().for_each(|(at, &state)| place[state] = at);
        let columns = self.rows[0].len();
        let is_small = order.len() * columns <= 1 << 16;
        let step = if is_small { columns } else { 1 };
        place.iter_mut().for_each(|at| *at *= step);
        let matching = self.matching.iter().filter(|it| **it).count() * step;
        let columns = if is_small { columns } else { columns | BY_NUMBER };
        let head = [columns, matching].into_iter().chain(self.starts.iter().map(|&it| place[it]));
        let rows = order.iter().flat_map(|&state| self.rows[state].iter().map(|&next| place[next]));
        let mut bytes: Vec<u8> = head.flat_map(number).collect();
        bytes.extend(&self.classes);
        if searches {
            bytes.extend(self.beginnings());
        }
        bytes.extend(rows.flat_map(number));
        bytes
    }
}

impl Layout {
    /// For each byte, one bit for each kind of byte before it after which it may
    /// begin a match, and above those one bit for its own kind. After a byte
    /// that begins none, the search is where one begins behind that byte.
    fn beginnings(&self) -> [u8; 256] {
        std::array::from_fn(|at| {
            let byte = u8::try_from(at).expect("there are so many bytes");
            let (kind, class) = (kind_of(byte), usize::from(self.classes[at]));
            let idle = self.starts[kind];
            let is_idle = idle != 0 && !self.matching[idle];
            let begins = |start: &usize| !is_idle || self.rows[*start][class] != idle;
            let bits = self.starts.iter().enumerate().filter(|(_, start)| begins(start));
            bits.map(|(before, _)| 1 << before).sum::<u8>() | 1 << (BESIDE.len() + kind)
        })
    }
}

/// Which of [`BESIDE`] a byte is like.
fn kind_of(byte: u8) -> usize {
    match byte {
        b'\n' => 1,
        b'_' => 2,
        _ if byte.is_ascii_alphanumeric() => 2,
        _ => 3,
    }
}

/// The states that were reached, in order.
struct Known {
    ids: BTreeMap<StateID, usize>,
    order: Vec<StateID>,
}

impl Known {
    fn number(&mut self, dfa: &dense::DFA<Vec<u32>>, id: StateID) -> usize {
        if dfa.is_dead_state(id) {
            return 0;
        }
        let Self { ids, order } = self;
        *ids.entry(id).or_insert_with(|| {
            order.push(id);
            order.len()
        })
    }
}

fn number(number: usize) -> [u8; 2] {
    u16::try_from(number).expect("a table has few states").to_le_bytes()
}
