//! Trust levels, T0 to T3: the effort that an agent needs to get around the gate.
//!
//! gate can verify T1 by itself. T2 and T3 depend on the operator's setup. The operator
//! claims them in `GATE_TRUST_LEVEL`, and gate accepts the claim unless it sees a
//! contradiction.

use std::fs;
use std::path::Path;

use gate_core::decide::policy::When;
use gate_platform::{MetadataExt, RealPath, user};

use crate::failure::Failure;
use crate::operator;
use crate::settings::Places;

const VARIABLE: &str = "GATE_TRUST_LEVEL";

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Level {
    /// State, policy or baseline are missing, or within the agent's reach.
    T0,
    /// State, policy and baseline are outside of the work tree.
    T1,
    /// The agent runs as another user, or in a container.
    T2,
    /// gate decides on another machine.
    T3,
}

/// The highest level that an environment allows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Claim {
    pub(crate) allowed: Level,
    /// The reason, if it is lower than the operator's claim.
    pub(crate) lowered: Option<String>,
}

impl Level {
    /// The name in records.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::T0 => "T0",
            Self::T1 => "T1",
            Self::T2 => "T2",
            Self::T3 => "T3",
        }
    }

    /// The level of one decision. T0 without state, approved settings or a baseline that stays.
    pub(crate) fn for_decision(
        claim: &Claim,
        has_state: bool,
        is_approved: bool,
        has_baseline: bool,
    ) -> Self {
        if has_state && is_approved && has_baseline { claim.allowed } else { Self::T0 }
    }
}

impl Claim {
    /// Compares the operator's claim with what gate sees.
    ///
    /// Fails on a claim that names no level (code 2), and on folders of runs that cannot
    /// be read.
    pub(crate) fn verify(places: &Places, when: Option<When>) -> Result<Self, Failure> {
        let claimed = claimed_level(places)?;
        let top = places.top();
        // State in a database stands in no folder that the agent could write.
        if is_within(places.data.as_deref(), &top)
            || (!places.names_database() && is_within(places.state.as_deref(), &top))
        {
            let lowered = claimed.map(|level| {
                format!("{VARIABLE} is {}, and gate's folders stand in the work tree", level.name())
            });
            return Ok(Self { allowed: Level::T0, lowered });
        }
        match claimed {
            None | Some(Level::T0 | Level::T1) => {
                let allowed = claimed.unwrap_or(Level::T1);
                Ok(Self { allowed, lowered: None })
            }
            Some(Level::T2) => Ok(verify_t2(places, &top)),
            Some(Level::T3) => verify_t3(places, &top, when),
        }
    }
}

fn claimed_level(places: &Places) -> Result<Option<Level>, Failure> {
    let Some(value) = places.variable(VARIABLE) else { return Ok(None) };
    let levels = [Level::T0, Level::T1, Level::T2, Level::T3];
    match levels.into_iter().find(|level| level.name() == value) {
        Some(level) => Ok(Some(level)),
        None => {
            let message =
                format!("{VARIABLE}: {value:?} is no level: T0, T1, T2 or T3 is expected");
            Err(Failure::usage("trust-value", message))
        }
    }
}

/// T2 if another user owns the work tree and cannot write gate's folders.
fn verify_t2(places: &Places, top: &Path) -> Claim {
    let own_uid = user();
    let owner = top.metadata().map(|metadata| metadata.uid());
    // Root could write gate's folders whatever their mode.
    let is_other_user = owner.is_ok_and(|owner| owner != own_uid && owner != 0);
    if is_other_user
        && (places.names_database() || is_private(places.state.as_deref(), own_uid))
        && is_private(places.data.as_deref(), own_uid)
    {
        return Claim { allowed: Level::T2, lowered: None };
    }
    let lowered =
        format!("{VARIABLE} is T2, and the user of the work tree could write gate's folders");
    Claim { allowed: Level::T1, lowered: Some(lowered) }
}

/// Only this user can write the path, or its nearest ancestor that exists.
fn is_private(path: Option<&Path>, uid: u32) -> bool {
    let metadata = path.and_then(nearest_existing).and_then(|path| path.metadata().ok());
    metadata.is_some_and(|metadata| metadata.uid() == uid && metadata.mode() & 0o022 == 0)
}

/// T3 if no agent is seen on this machine.
fn verify_t3(places: &Places, top: &Path, when: Option<When>) -> Result<Claim, Failure> {
    let contradiction = match when {
        Some(When::Run) => Some("gate run starts the agent on this machine".to_owned()),
        Some(When::Hook) => Some("the agent's program calls from this machine".to_owned()),
        _ => operator::agent_above(places).map(|agent| format!("an agent calls it: {agent}")),
    };
    let Some(contradiction) = contradiction else {
        return Ok(Claim { allowed: Level::T3, lowered: None });
    };
    let lowered = Some(format!("{VARIABLE} is T3, and {contradiction}"));
    Ok(Claim { lowered, ..verify_t2(places, top) })
}

/// A path, which need not exist yet, is in a folder. A place that has no path promises nothing, and
/// counts as within.
fn is_within(path: Option<&Path>, folder: &Path) -> bool {
    let Some(existing) = path.and_then(nearest_existing) else { return true };
    existing.real_path().is_ok_and(|path| path.starts_with(folder))
}

/// The path itself, or its nearest ancestor that exists.
fn nearest_existing(path: &Path) -> Option<&Path> {
    path.ancestors().find(|ancestor| fs::symlink_metadata(ancestor).is_ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn places(folder: &Path, claim: &str) -> Places {
        let base = folder.parent().unwrap_or(folder);
        Places {
            folder: folder.to_owned(),
            machine: None,
            user: None,
            state: Some(base.join("state/gate")),
            data: Some(base.join("data/gate")),
            environment: vec![(VARIABLE.to_owned(), claim.to_owned())],
        }
    }

    fn tree() -> (tempfile::TempDir, std::path::PathBuf) {
        let folder = tempfile::tempdir().unwrap();
        let tree = folder.path().canonicalize().unwrap().join("tree");
        fs::create_dir(&tree).unwrap();
        (folder, tree)
    }

    #[test]
    fn each_condition_is_needed() {
        let claim = Claim { allowed: Level::T1, lowered: None };
        assert_eq!(Level::for_decision(&claim, true, true, true), Level::T1);
        for (state, approved, baseline) in
            [(false, true, true), (true, false, true), (true, true, false)]
        {
            assert_eq!(Level::for_decision(&claim, state, approved, baseline), Level::T0);
        }
    }

    #[test]
    fn folders_in_the_work_tree_promise_nothing() {
        let (_folder, tree) = tree();
        let safe_places = places(&tree, "");
        assert_eq!(Claim::verify(&safe_places, None).unwrap().allowed, Level::T1);
        for unsafe_places in [
            Places { state: Some(tree.join("a/state")), ..safe_places.clone() },
            Places { data: Some(tree.join("data")), ..safe_places.clone() },
            Places { data: None, ..safe_places.clone() },
        ] {
            assert_eq!(Claim::verify(&unsafe_places, None).unwrap().allowed, Level::T0);
        }
    }

    #[test]
    fn a_claim_is_believed_as_far_as_nothing_contradicts_it() {
        let (_folder, tree) = tree();
        // The tree is the same user's as gate is, so it is no other user's.
        let second = Claim::verify(&places(&tree, "T2"), None).unwrap();
        assert_eq!(second.allowed, Level::T1);
        assert!(second.lowered.unwrap().contains("GATE_TRUST_LEVEL is T2"));
        for place in [When::Run, When::Hook] {
            let third = Claim::verify(&places(&tree, "T3"), Some(place)).unwrap();
            assert!(third.allowed == Level::T1 && third.lowered.is_some());
        }
        assert_eq!(Claim::verify(&places(&tree, "T0"), None).unwrap().allowed, Level::T0);
        let bad = Claim::verify(&places(&tree, "t2"), None).unwrap_err();
        assert_eq!((bad.exit_code, bad.code.as_str()), (2, "trust-value"));
    }
}
