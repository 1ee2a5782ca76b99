//! How hard it is for the agent to get around the gate: T0 to T3.
//!
//! T1 is what gate can see of itself. T2 and T3 are how the operator has set things
//! up: they say so in `GATE_TRUST_LEVEL`, and it is believed as far as nothing that
//! gate sees contradicts it.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use gate_core::decide::policy::When;

use crate::failure::Failure;
use crate::operator;
use crate::settings::Places;

/// The variable in which the operator says how things are set up.
const VARIABLE: &str = "GATE_TRUST_LEVEL";

/// How hard it is to get around the gate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Level {
    /// State, policy or baseline are in the agent's reach, or not there.
    T0,
    /// They stand outside of the work tree.
    T1,
    /// The agent is another user, or in a container.
    T2,
    /// It is decided on another machine.
    T3,
}

/// The level that a place allows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Claim {
    /// The highest that holds here.
    pub(crate) allowed: Level,
    /// Why it is not what was claimed.
    pub(crate) lowered: Option<String>,
}

impl Level {
    /// Its name in records.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::T0 => "T0",
            Self::T1 => "T1",
            Self::T2 => "T2",
            Self::T3 => "T3",
        }
    }

    /// The level of one decision: without state, without settings that the operator
    /// approved or without a baseline it is the lowest.
    pub(crate) fn of(
        claim: &Claim,
        remembers: bool,
        is_approved: bool,
        baseline: Option<&str>,
    ) -> Self {
        if remembers && is_approved && baseline.is_some() { claim.allowed } else { Self::T0 }
    }
}

impl Claim {
    /// What these places allow a decision that is made there.
    ///
    /// # Errors
    ///
    /// A claim that names no level (code 2); folders of runs that cannot be read.
    pub(crate) fn of(places: &Places, place: Option<When>) -> Result<Self, Failure> {
        let claimed = claimed(places)?;
        let top = places.top();
        let inside = |path: &Option<PathBuf>| path.as_deref().is_none_or(|it| is_within(it, &top));
        if inside(&places.data) || (!places.names_database() && inside(&places.state)) {
            let lowered = claimed.map(|claimed| {
                format!(
                    "{VARIABLE} is {}, and gate's folders stand in the work tree",
                    claimed.name()
                )
            });
            return Ok(Self { allowed: Level::T0, lowered });
        }
        match claimed {
            None | Some(Level::T0 | Level::T1) => {
                let allowed = claimed.unwrap_or(Level::T1);
                Ok(Self { allowed, lowered: None })
            }
            Some(Level::T2) => Ok(second(places, &top)),
            Some(Level::T3) => third(places, &top, place),
        }
    }
}

fn claimed(places: &Places) -> Result<Option<Level>, Failure> {
    let Some(value) = places.variable(VARIABLE) else { return Ok(None) };
    let all = [Level::T0, Level::T1, Level::T2, Level::T3];
    match all.into_iter().find(|level| level.name() == value) {
        Some(level) => Ok(Some(level)),
        None => {
            let message =
                format!("{VARIABLE}: {value:?} is no level: T0, T1, T2 or T3 is expected");
            Err(Failure::usage("trust-value", message))
        }
    }
}

/// T2, where the work tree is another user's, who cannot write gate's folders.
fn second(places: &Places, top: &Path) -> Claim {
    let own = rustix::process::getuid().as_raw();
    let owner = top.metadata().map(|it| it.uid());
    let is_other = owner.is_ok_and(|owner| owner != own && owner != 0);
    let is_shut = |path: &Option<PathBuf>| {
        let meta = path.as_deref().and_then(nearest).and_then(|it| it.metadata().ok());
        meta.is_some_and(|it| it.uid() == own && it.mode() & 0o022 == 0)
    };
    let state_is_shut = || places.names_database() || is_shut(&places.state);
    if is_other && state_is_shut() && is_shut(&places.data) {
        return Claim { allowed: Level::T2, lowered: None };
    }
    let why = format!("{VARIABLE} is T2, and the user of the work tree could write gate's folders");
    Claim { allowed: Level::T1, lowered: Some(why) }
}

/// T3, where no agent is seen on this machine.
fn third(places: &Places, top: &Path, place: Option<When>) -> Result<Claim, Failure> {
    let seen = match place {
        Some(When::Run) => Some("gate run starts the agent on this machine".to_owned()),
        Some(When::Hook) => Some("the agent's program calls from this machine".to_owned()),
        _ => operator::agent_above(places).map(|agent| format!("an agent calls it: {agent}")),
    };
    let Some(seen) = seen else { return Ok(Claim { allowed: Level::T3, lowered: None }) };
    let lowered = Some(format!("{VARIABLE} is T3, and {seen}"));
    Ok(Claim { lowered, ..second(places, top) })
}

/// Whether a path leads into a folder, also where it is not there yet.
fn is_within(path: &Path, folder: &Path) -> bool {
    let Some(there) = nearest(path) else { return true };
    there.canonicalize().is_ok_and(|there| there.starts_with(folder))
}

/// The nearest folder above a path that is there, or the path itself.
fn nearest(path: &Path) -> Option<&Path> {
    path.ancestors().find(|it| fs::symlink_metadata(it).is_ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn places(folder: &Path, claim: &str) -> Places {
        let base = folder.parent().unwrap_or(folder);
        Places {
            folder: folder.to_owned(),
            user: None,
            state: Some(base.join("state/gate")),
            data: Some(base.join("data/gate")),
            environment: vec![(VARIABLE.to_owned(), claim.to_owned())],
        }
    }

    fn tree() -> (tempfile::TempDir, PathBuf) {
        let folder = tempfile::tempdir().unwrap();
        let tree = folder.path().canonicalize().unwrap().join("tree");
        fs::create_dir(&tree).unwrap();
        (folder, tree)
    }

    #[test]
    fn each_condition_is_needed() {
        let claim = Claim { allowed: Level::T1, lowered: None };
        assert_eq!(Level::of(&claim, true, true, Some("b")), Level::T1);
        for (state, approved, baseline) in
            [(false, true, Some("b")), (true, false, Some("b")), (true, true, None)]
        {
            assert_eq!(Level::of(&claim, state, approved, baseline), Level::T0);
        }
    }

    #[test]
    fn folders_in_the_work_tree_promise_nothing() {
        let (_folder, tree) = tree();
        let outside = places(&tree, "");
        assert_eq!(Claim::of(&outside, None).unwrap().allowed, Level::T1);
        for inside in [
            Places { state: Some(tree.join("a/state")), ..outside.clone() },
            Places { data: Some(tree.join("data")), ..outside.clone() },
            Places { data: None, ..outside.clone() },
        ] {
            assert_eq!(Claim::of(&inside, None).unwrap().allowed, Level::T0);
        }
    }

    #[test]
    fn a_claim_is_believed_as_far_as_nothing_contradicts_it() {
        let (_folder, tree) = tree();
        // The tree is the same user's as gate is, so it is no other user's.
        let second = Claim::of(&places(&tree, "T2"), None).unwrap();
        assert_eq!(second.allowed, Level::T1);
        assert!(second.lowered.unwrap().contains("GATE_TRUST_LEVEL is T2"));
        for place in [When::Run, When::Hook] {
            let third = Claim::of(&places(&tree, "T3"), Some(place)).unwrap();
            assert!(third.allowed == Level::T1 && third.lowered.is_some());
        }
        assert_eq!(Claim::of(&places(&tree, "T0"), None).unwrap().allowed, Level::T0);
        let bad = Claim::of(&places(&tree, "t2"), None).unwrap_err();
        assert_eq!((bad.exit_code, bad.code.as_str()), (2, "trust-value"));
    }
}
