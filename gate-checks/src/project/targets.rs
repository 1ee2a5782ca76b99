//! Aims of a Makefile's targets and a justfile's recipes.

use super::proposal::Aim;

/// Names by what they are usually for, the most telling first. `check` stands
/// for the tests in a Makefile, as the GNU standards have it.
const NAMES: [(&str, Aim); 9] = [
    ("test", Aim::Tests),
    ("tests", Aim::Tests),
    ("check", Aim::Tests),
    ("build", Aim::Build),
    ("compile", Aim::Build),
    ("lint", Aim::Lint),
    ("typecheck", Aim::Typecheck),
    ("type-check", Aim::Typecheck),
    ("types", Aim::Typecheck),
];

/// For each aim the first name that is there.
pub(super) fn chosen(is_there: impl Fn(&str) -> bool) -> Vec<(&'static str, Aim)> {
    let mut chosen: Vec<(&'static str, Aim)> = Vec::new();
    for (name, aim) in NAMES {
        if is_there(name) && chosen.iter().all(|(_, taken)| *taken != aim) {
            chosen.push((name, aim));
        }
    }
    chosen
}
