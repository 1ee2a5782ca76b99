//! Reads signals and events from JSON: objects alone, strings alone, no key
//! that is unknown or stands twice.
//!
//! The code that serde derives would also take an array for a structure, `null` for an
//! absent member, and an object with one key for a phase. The protocol shows objects
//! with string values, and an attacker tries any other form that is accepted.

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
    #[serde(default, deserialize_with = "present_string")]
    pr_url: Option<String>,
    #[serde(default, deserialize_with = "present_string")]
    evidence_bundle_ref: Option<String>,
    #[serde(default, deserialize_with = "present_string")]
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
    #[serde(default, deserialize_with = "present_string")]
    pr_url: Option<String>,
    #[serde(default, deserialize_with = "present_string")]
    evidence_bundle_ref: Option<String>,
    #[serde(default, deserialize_with = "present_string")]
    notes: Option<String>,
}

/// The members of a structure.
trait Members<'de> {
    type Structure;
    fn read<D: Deserializer<'de>>(deserializer: D) -> Result<Self::Structure, D::Error>;
}

impl<'de> Members<'de> for SignalMembers {
    type Structure = ExitSignal;

    fn read<D: Deserializer<'de>>(deserializer: D) -> Result<ExitSignal, D::Error> {
        Self::deserialize(deserializer)
    }
}

impl<'de> Members<'de> for EventMembers {
    type Structure = AgentSessionCompleted;

    fn read<D: Deserializer<'de>>(deserializer: D) -> Result<AgentSessionCompleted, D::Error> {
        Self::deserialize(deserializer)
    }
}

/// An object with these members, and nothing but an object.
struct Object<M>(PhantomData<M>);

impl<'de, M: Members<'de>> Visitor<'de> for Object<M> {
    type Value = M::Structure;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON object")
    }

    fn visit_map<A: MapAccess<'de>>(self, members: A) -> Result<M::Structure, A::Error> {
        M::read(MapAccessDeserializer::new(members))
    }
}

/// A member that may be left out, and is a string if it is there.
fn present_string<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<String>, D::Error> {
    String::deserialize(deserializer).map(Some)
}

impl<'de> Deserialize<'de> for WorkPhase {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        variant(deserializer, Self::ALL, &Self::NAMES)
    }
}

impl<'de> Deserialize<'de> for ExitReason {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        variant(deserializer, Self::ALL, &Self::NAMES)
    }
}

/// The variant of this name, to the letter.
fn variant<'de, D: Deserializer<'de>, T, const N: usize>(
    deserializer: D,
    variants: [T; N],
    names: &'static [&'static str; N],
) -> Result<T, D::Error> {
    let name = String::deserialize(deserializer)?;
    let mut named_variants = variants.into_iter().zip(names);
    let named_variant = named_variants.find(|(_, variant_name)| **variant_name == name);
    named_variant.map(|(variant, _)| variant).ok_or_else(|| D::Error::unknown_variant(&name, names))
}
