//! Programs that read the hook files of other clients, and call what stands there with events of their
//! own.

use serde::Deserialize;
use serde_json::Value;

use super::{FACTS, HookFacts, Verified};
use crate::agent::Agent;

/// A program's own way to call the hooks of other clients.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct DialectFacts {
    #[cfg_attr(not(test), expect(dead_code, reason = "for the documents, and for tests"))]
    title: String,
    /// The clients whose files it reads.
    clients: Vec<String>,
    #[cfg_attr(not(test), expect(dead_code, reason = "for the documents, and for tests"))]
    verified: Verified,
    /// The keys that all its events have. No event of those clients has all of them.
    known_by: Vec<String>,
    hook: HookFacts,
}

/// The interface of the program that sent this event to a client's hook, if it is not the client.
pub(crate) fn dialect(agent: Agent, event: &Value) -> Option<&'static HookFacts> {
    let mut dialects = FACTS.dialect.iter();
    let sender = dialects.find(|facts| {
        facts.clients.iter().any(|client| client == agent.name())
            && facts.known_by.iter().all(|key| event.get(key).is_some_and(Value::is_string))
    });
    sender.map(|facts| &facts.hook)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::clients::Source;

    #[test]
    fn a_dialect_names_its_source_and_is_known_by_its_keys() {
        for facts in &FACTS.dialect {
            assert!(!facts.title.is_empty() && !facts.known_by.is_empty());
            assert_eq!(
                facts.verified.versions.is_empty(),
                facts.verified.by == Source::Documentation
            );
        }
        let event = json!({ "hookEventName": "Stop", "sessionId": "v1" });
        for agent in [Agent::ClaudeCode, Agent::Copilot] {
            assert!(dialect(agent, &event).is_some());
            for foreign_event in [
                json!({ "hook_event_name": "Stop", "session_id": "s1" }),
                json!({ "sessionId": "s1", "stopReason": "end_turn" }),
                json!({ "hookEventName": 1, "sessionId": "s1" }),
            ] {
                assert!(dialect(agent, &foreign_event).is_none(), "{foreign_event}");
            }
        }
        assert!(dialect(Agent::Codex, &event).is_none());
    }
}
