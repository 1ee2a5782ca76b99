//! Suites of vitest within a product's source: the blocks of `if (import.meta.vitest)`.

use super::{Edit, without_layout};
use crate::integrity::language::Language;
use crate::integrity::lexer::View;

pub(super) fn edits(before: &str, now: &str) -> Vec<Edit> {
    let views = [before, now].map(|text| View::new(text, Some(Language::Js)));
    let [old, new] = [&views[0], &views[1]].map(blocks);
    let mut edits = Vec::new();
    for number in 0..old.len().max(new.len()) {
        match (old.get(number), new.get(number)) {
            (Some(&was), Some(&is)) => {
                if without_layout(&views[0], was) != without_layout(&views[1], is) {
                    let text = before[was.0..was.1].to_owned();
                    edits.push(Edit { from: is.0, to: is.1, text });
                }
            }
            (Some(&(from, to)), None) => {
                edits.push(Edit::insert(now.len(), format!("\n{}\n", &before[from..to])));
            }
            (None, Some(&(from, to))) => edits.push(Edit { from, to, text: String::new() }),
            (None, None) => {}
        }
    }
    edits
}

/// The blocks, each from its `if` to its last brace.
fn blocks(view: &View<'_>) -> Vec<(usize, usize)> {
    let mut found: Vec<(usize, usize)> = Vec::new();
    for (at, _) in view.text.match_indices("import.meta.vitest") {
        let is_inside = found.iter().any(|(from, to)| (*from..*to).contains(&at));
        let begins = view.text[..at].trim_end().strip_suffix('(').map(str::trim_end);
        let Some(head) = begins.and_then(|head| head.strip_suffix("if")) else { continue };
        if is_inside || !view.is_code(at) || !view.is_code(head.len()) {
            continue;
        }
        found.push((head.len(), end(view, at)));
    }
    found
}

fn end(view: &View<'_>, from: usize) -> usize {
    let mut depth = 0_usize;
    for at in (from..view.text.len()).filter(|at| view.is_code(*at)) {
        match view.text.as_bytes()[at] {
            b'{' => depth += 1,
            b'}' => {
                depth = depth.saturating_sub(1);
                if depth == 0 {
                    return at + 1;
                }
            }
            b';' if depth == 0 => return at + 1,
            _ => {}
        }
    }
    view.text.len()
}
