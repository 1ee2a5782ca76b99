//! `[checks]` and `[checks.NAME]`, as they are written.

use std::collections::BTreeMap;
use std::fmt;
use std::num::NonZeroU32;

use schemars::JsonSchema;
use serde::de::{Deserializer, MapAccess, Visitor};
use serde::ser::SerializeMap;
use serde::{Deserialize, Serialize, Serializer};

use super::byte_size::ByteSize;
use super::duration::Millis;
use crate::decide::policy::{Mode, Priority, ReportFormat, Reveal, When};

/// `[checks]`: keys of its own, and the checks by name.
#[non_exhaustive]
#[derive(Clone, Debug, Default, PartialEq, JsonSchema)]
#[schemars(description = "")]
pub struct RawChecks {
    /// How many checks run at once.
    pub jobs: Option<NonZeroU32>,
    /// How many checks run at once on the machine, in all loops of the user; 0: no bound.
    pub machine_jobs: Option<u32>,
    /// The most disk space of the copies of all work trees; 0: no bound.
    pub copies_max: Option<ByteSize>,
    /// The checks.
    #[schemars(flatten)]
    pub named: BTreeMap<String, RawCheck>,
}

/// One check.
#[non_exhaustive]
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RawCheck {
    /// The program and its arguments; with `shell`, one script.
    #[schemars(length(min = 1))]
    pub command: Option<Vec<String>>,
    /// The command is a script for `bash -euo pipefail -c`.
    pub shell: Option<bool>,
    /// Working folder, relative to the project.
    pub cwd: Option<String>,
    /// Names of environment variables that it may see, beside the usual ones.
    pub env: Option<Vec<String>>,
    /// Longest run.
    pub timeout: Option<Millis>,
    /// Most memory that its processes may use together. Not set: no limit.
    pub memory: Option<ByteSize>,
    /// Share of the processor that its processes get while others need it.
    pub priority: Option<Priority>,
    /// Effect of its outcome on the decision.
    pub mode: Option<Mode>,
    /// Names of checks that must pass before it starts.
    pub needs: Option<Vec<String>>,
    /// An unchanged tree means an unchanged result.
    pub hermetic: Option<bool>,
    /// Tests run in a copy, with the baseline's tests and a control.
    pub control: Option<bool>,
    /// A folder outside of the tree with tests that the agent does not see.
    #[schemars(length(min = 1))]
    pub sealed: Option<String>,
    /// The part of the result of sealed tests that is shown.
    pub reveal: Option<Reveal>,
    /// The result format that it must write.
    pub report: Option<ReportFormat>,
    /// Times that a failure is run again.
    #[schemars(range(max = 10))]
    pub retry: Option<u32>,
    /// The commands that run it.
    #[schemars(length(min = 1))]
    pub when: Option<Vec<When>>,
    /// Globs; where nothing that matches has changed it is skipped.
    pub paths: Option<Vec<String>>,
    /// `acceptance_criteria` and `handoff`: the files to read.
    pub files: Option<Vec<String>>,
    /// `acceptance_criteria`: headings below which open items do not block.
    pub optional: Option<Vec<String>>,
    /// `acceptance_criteria`: marks in the box of a list item that mean done, beside `x`.
    pub done_marks: Option<Vec<String>>,
    /// `clean_git`: globs of files that may be uncommitted.
    pub ignore: Option<Vec<String>>,
}

/// The keys of `[checks]` that are no checks.
const JOBS: &str = "jobs";
const MACHINE_JOBS: &str = "machine_jobs";
const COPIES_MAX: &str = "copies_max";

impl Serialize for RawChecks {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        if let Some(jobs) = self.jobs {
            map.serialize_entry(JOBS, &jobs)?;
        }
        if let Some(jobs) = self.machine_jobs {
            map.serialize_entry(MACHINE_JOBS, &jobs)?;
        }
        if let Some(size) = self.copies_max {
            map.serialize_entry(COPIES_MAX, &size)?;
        }
        for (name, check) in &self.named {
            map.serialize_entry(name, check)?;
        }
        map.end()
    }
}

impl<'de> Deserialize<'de> for RawChecks {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(ChecksVisitor)
    }
}

struct ChecksVisitor;

impl<'de> Visitor<'de> for ChecksVisitor {
    type Value = RawChecks;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a table")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<RawChecks, A::Error> {
        let mut checks = RawChecks::default();
        while let Some(name) = map.next_key::<String>()? {
            if name == JOBS {
                checks.jobs = Some(map.next_value()?);
            } else if name == MACHINE_JOBS {
                checks.machine_jobs = Some(map.next_value()?);
            } else if name == COPIES_MAX {
                checks.copies_max = Some(map.next_value()?);
            } else {
                let check = map.next_value()?;
                checks.named.insert(name, check);
            }
        }
        Ok(checks)
    }
}
