//! Cursor's agent: `hooks.json`. One event that it does not know makes it drop
//! the whole file, so gate writes `stop` alone: not every version knows one for
//! sessions that begin.

use std::path::PathBuf;

use super::hooks::Form;
use super::{Client, Content, Roots, Scope, Target, command, no_switches};
use crate::agent::Agent;

/// How often Cursor follows up at most: more often than gate itself refuses,
/// so that it is gate that lets go, and says so.
const LOOP_LIMIT: u64 = 50;

pub(super) const CLIENT: Client = Client {
    programs: &["cursor-agent"],
    folder: |roots| roots.home.join(".cursor"),
    targets,
    next,
    switches: no_switches,
};

fn file(roots: &Roots, scope: Scope) -> PathBuf {
    roots.root(scope).join(".cursor").join("hooks.json")
}

fn targets(roots: &Roots, scope: Scope, command: &str) -> Vec<Target> {
    let form = Form::flat(Agent::Cursor, "stop", "command", command)
        .with("loop_limit", LOOP_LIMIT)
        .with("timeout", command::TIMEOUT)
        .beside(&[("version", 1)]);
    vec![Target { file: file(roots, scope), content: Content::Hooks(vec![form]) }]
}

fn next(scope: Scope) -> Option<&'static str> {
    Some(if scope == Scope::User {
        "Cursor runs this hook in interactive sessions alone, not in `cursor-agent -p`: gate those \
         with `gate check` in the loop that runs them"
    } else {
        "trust this workspace in Cursor, or its hooks are not run; and it runs this one in \
         interactive sessions alone, not in `cursor-agent -p`: gate those with `gate check` in the \
         loop that runs them"
    })
}
