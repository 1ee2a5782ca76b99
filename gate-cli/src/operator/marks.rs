//! Recognises an environment that an agent's program made: a person's shell has these
//! variables only if an agent started it. A variable that people set as well
//! (`CODEX_HOME`, keys, models) is no mark.

use clap::ValueEnum;

use crate::agent::{Agent, IN_RUN, NAMED, mark};

/// The first mark of an agent in an environment.
pub(super) fn first(environment: &[(String, String)]) -> Option<String> {
    let set = environment.iter().filter(|(_, value)| !value.is_empty());
    let mut marks = set.filter(|(name, value)| {
        name == IN_RUN
            || mark(name, value).is_some()
            || (name == NAMED && Agent::from_str(value, true).is_ok())
    });
    marks.next().map(|(name, value)| format!("{name}={value}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(name: &str, value: &str) -> Option<String> {
        first(&[("HOME".to_owned(), "/h".to_owned()), (name.to_owned(), value.to_owned())])
    }

    #[test]
    fn an_agents_mark_is_known_and_a_persons_variable_is_none() {
        for (name, value) in [("CLAUDECODE", "1"), ("GATE_RUN", "r"), ("AGENT", "goose")] {
            assert_eq!(of(name, value), Some(format!("{name}={value}")));
        }
        for (name, value) in
            [("CLAUDECODE", ""), ("CODEX_HOME", "/c"), ("AGENT", "x86"), ("GATE_TRUST", "x")]
        {
            assert_eq!(of(name, value), None, "{name}");
        }
    }
}
