//! Reads signals and events from JSON: objects alone, strings alone, no key
//! that is unknown or stands twice.
//!
//! What serde derives would also take an array for a structure, `null` for what
//! is absent, and an object with one key for a phase. The protocol shows objects
//! with string values, and what else is accepted is what an attacker tries.

use std::fmt;
use std::marker::PhantomData;

use jiff::Timestamp;
use serde::de::value::MapAccessDeserializer;
use serde::de::{Deserialize, Deserializer, Error, MapAccess, Visitor};
use uuid::Uuid;

use super::{AgentSessionCompleted, ExitReason, ExitSignal, WorkPhase};

impl<'de> Deserialize<'de> for ExitSignal {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(Object::<SignalMembers>(PhantomData))
    }
}

impl<'de> Deserialize<'de> for AgentSessionCompleted {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(Object::<EventMembers>(PhantomData))
    }
}

/// The members of a signal.
#[derive(serde::Deserialize)]
#[serde(remote = "ExitSignal", deny_unknown_fields)]
struct SignalMembers {
    protocol: String,
    version: String,
    phase_completed: WorkPhase,
    exit_reason: ExitReason,
    #[serde(default, deserialize_with = "given")]
    pr_url: Option<String>,
    #[serde(default, deserialize_with = "given")]
    evidence_bundle_ref: Option<String>,
    #[serde(default, deserialize_with = "given")]
    notes: Option<String>,
}

/// The members of an event.
#[derive(serde::Deserialize)]
#[serde(remote = "AgentSessionCompleted", deny_unknown_fields)]
struct EventMembers {
    event_id: Uuid,
    event_type: String,
    timestamp: Timestamp,
    source: String,
    session_id: String,
    actor_id: String,
    phase_completed: WorkPhase,
    exit_reason: ExitReason,
    next_phase: WorkPhase,
    #[serde(default, deserialize_with = "given")]
    pr_url: Option<String>,
    #[serde(default, deserialize_with = "given")]
    evidence_bundle_ref: Option<String>,
    #[serde(default, deserialize_with = "given")]
    notes: Option<String>,
}

/// Members that make up something.
trait Members<'de> {
    type Whole;
    fn read<D: Deserializer<'de>>(deserializer: D) -> Result<Self::Whole, D::Error>;
}

impl<'de> Members<'de> for SignalMembers {
    type Whole = ExitSignal;

    fn read<D: Deserializer<'de>>(deserializer: D) -> Result<ExitSignal, D::Error> {
        Self::deserialize(deserializer)
    }
}

impl<'de> Members<'de> for EventMembers {
    type Whole = AgentSessionCompleted;

    fn read<D: Deserializer<'de>>(deserializer: D) -> Result<AgentSessionCompleted, D::Error> {
        Self::deserialize(deserializer)
    }
}

/// An object with these members, and nothing but an object.
struct Object<M>(PhantomData<M>);

impl<'de, M: Members<'de>> Visitor<'de> for Object<M> {
    type Value = M::Whole;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON object")
    }

    fn visit_map<A: MapAccess<'de>>(self, members: A) -> Result<M::Whole, A::Error> {
        M::read(MapAccessDeserializer::new(members))
    }
}

/// A member that may be left out, and is a string where it is there.
fn given<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<String>, D::Error> {
    String::deserialize(deserializer).map(Some)
}

impl<'de> Deserialize<'de> for WorkPhase {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        named(deserializer, Self::ALL, &Self::NAMES)
    }
}

impl<'de> Deserialize<'de> for ExitReason {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        named(deserializer, Self::ALL, &Self::NAMES)
    }
}

/// The one of all that has this name, to the letter.
fn named<'de, D: Deserializer<'de>, T, const N: usize>(
    deserializer: D,
    all: [T; N],
    names: &'static [&'static str; N],
) -> Result<T, D::Error> {
    let name = String::deserialize(deserializer)?;
    let mut named = all.into_iter().zip(names);
    let found = named.find(|(_, known)| **known == name).map(|(one, _)| one);
    found.ok_or_else(|| D::Error::unknown_variant(&name, names))
}
