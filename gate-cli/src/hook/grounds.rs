//! The work trees and projects that a client's event is about.
//!
//! An agent works where it is: a client keeps the folder in which a session began in a variable,
//! and names the agent's folder in the event. If that is another work tree of the same repository,
//! that tree is judged.

use std::fs;
use std::path::{Path, PathBuf};

use gate_checks::CheckSite;
use gate_checks::baseline::Baseline;
use gate_checks::worktree::{WorkTree, own_git_folder, root_of, work_trees};
use gate_core::decide::elsewhere::WorkElsewhere;
use jiff::Timestamp;

use super::{Client, Event, EventKind, Payload, TurnContext};
use crate::agent::Agent;
use crate::context::Here;
use crate::gate::{OtherPlaces, moved, place_name, running_loops, shown_work, tree_of};
use crate::settings::{Places, Selection};
use crate::tool_inputs::ToolInputs;
use crate::trust::{self, Trust};

/// A work tree with the projects in it that an event is about: where the session is, or, with
/// several settings in one tree, those nearest to each file that changed.
pub(crate) struct Ground {
    pub(crate) places: Vec<Places>,
    pub(crate) around: Option<TurnContext>,
}

/// The work trees that a stop is about.
pub(crate) struct Grounds {
    /// The one that is judged.
    pub(crate) main: Ground,
    /// Others in which the agent worked, each with its work.
    pub(crate) others: Vec<(Ground, WorkElsewhere)>,
    /// Work that nothing judges.
    pub(crate) open: Vec<WorkElsewhere>,
}

/// Whose event it is, and where.
#[derive(Clone, Copy)]
pub(crate) struct Scene<'s> {
    pub(crate) here: &'s Here,
    pub(crate) agent: Agent,
    pub(crate) client: &'s Client,
    pub(crate) payload: &'s Payload<'s>,
    pub(crate) event: &'s Event,
}

impl Scene<'_> {
    /// The folder in which the session began.
    fn began_in(&self) -> Option<PathBuf> {
        let variable = self.client.facts().project_variable.as_deref();
        let folder = variable.and_then(|name| self.payload.variable(name));
        folder.and_then(|folder| Path::new(folder).canonicalize().ok())
    }

    fn agents_folder(&self) -> Option<PathBuf> {
        self.event.folder.as_ref()?.canonicalize().ok()
    }

    fn at(&self, folder: PathBuf) -> Places {
        Places { folder, ..self.here.places.clone() }
    }

    /// The topmost folder of the session's own work tree, if the agent is in another one of the
    /// same repository.
    pub(crate) fn left_tree(&self) -> Option<PathBuf> {
        let (began_in, now_in) = (self.began_in()?, self.agents_folder()?);
        let environment = &self.here.places.environment;
        let began_in = root_of(&began_in, environment).ok().flatten()?;
        let now_in = root_of(&now_in, environment).ok().flatten()?;
        (began_in != now_in && work_trees(&began_in).contains(&now_in)).then_some(began_in)
    }

    /// The agent's folder, if it is in another work tree than the one in which the session began:
    /// the place of the session's project there.
    fn moved_to(&self) -> Option<PathBuf> {
        let left = self.left_tree()?;
        let (began_in, now_in) = (self.began_in()?, self.agents_folder()?);
        let root = root_of(&now_in, &self.here.places.environment).ok().flatten()?;
        let folder = moved(&began_in, &left, &root);
        Some(if folder.is_dir() { folder } else { now_in })
    }

    /// The project of the first of these folders that has settings: the agent's, if it went to
    /// another work tree; the one that the session began in, the agent's, gate's own. A project
    /// whose gate.toml was approved and is gone counts, too: an agent must not get out by removing
    /// it.
    fn project(&self) -> Option<Places> {
        let own = self.here.places.folder.canonicalize().ok();
        let folders = [self.moved_to(), self.began_in(), self.agents_folder(), own];
        let folders = folders.into_iter().flatten().filter(|folder| folder.is_dir());
        let mut places = folders.map(|folder| self.at(folder));
        // Settings that cannot be looked at are reported when they are read.
        places.find(has_settings)
    }

    /// The work tree that the event is about.
    pub(crate) fn ground(&self) -> Ground {
        let primary = self.project();
        let base = primary.clone().or_else(|| {
            let places = self.at(self.agents_folder()?);
            has_tracked_settings(&places.top()).then_some(places)
        });
        let left = self.left_tree();
        match base {
            Some(base) => self.open(base, primary, left.as_deref()),
            None => Ground { places: Vec::new(), around: None },
        }
    }

    fn open(&self, base: Places, primary: Option<Places>, left: Option<&Path>) -> Ground {
        if matches!(self.event.kind, EventKind::SessionStart | EventKind::SessionEnd) {
            return Ground { places: primary.into_iter().collect(), around: None };
        }
        let here = Here { places: base.clone() };
        let around = TurnContext::open(&here, self.agent, self.event, left);
        let own = primary.as_ref().and_then(|places| places.project().ok());
        let nested =
            around.as_ref().map(|around| around.projects(own.as_deref())).unwrap_or_default();
        let places = match (nested.is_empty(), self.event.kind) {
            (false, _) => {
                nested.into_iter().map(|folder| Places { folder, ..base.clone() }).collect()
            }
            (true, EventKind::Stop) => primary.into_iter().collect(),
            // A prompt is noted for the whole work tree.
            (true, _) => vec![base],
        };
        Ground { places, around }
    }

    /// All work trees that a stop is about. The baseline of the session holds for each.
    pub(crate) fn grounds(&self, main: Ground) -> Grounds {
        let mut grounds = Grounds { main, others: Vec::new(), open: Vec::new() };
        let Some(first) = grounds.main.places.first().cloned() else { return grounds };
        if self.event.not_judged.is_some() {
            return grounds;
        }
        if let Some(left) = self.left_tree() {
            self.add_left_tree(&left, &first, &mut grounds);
        }
        self.add_other_work(&first, &mut grounds);
        grounds
    }

    /// The session's own tree, which the agent left, if it changed files there; and the session's
    /// baseline for the tree in which the agent is now.
    fn add_left_tree(&self, left: &Path, now_in: &Places, grounds: &mut Grounds) {
        let Some(began_in) = self.began_in() else { return };
        let places = self.at(began_in);
        self.carry_baseline(&places, now_in);
        let ground = self.open(places.clone(), Some(places), None);
        let is_changed = ground.around.as_ref().is_some_and(TurnContext::is_changed);
        if is_changed && !ground.places.is_empty() {
            let place = place_name(left, &now_in.top());
            let work = "files changed since the prompt".to_owned();
            grounds.others.push((ground, WorkElsewhere { place, work, checked: None }));
        }
    }

    /// Work that stands elsewhere: in other work trees, on branches, in the stash, in other
    /// repositories.
    fn add_other_work(&self, first: &Places, grounds: &mut Grounds) {
        let (Some(session), Some(site)) = (self.event.run(), self.site(first)) else { return };
        let baseline = Baseline::kept(&site, Some(&session)).ok().flatten();
        let Some(began) = baseline.as_ref().and_then(Baseline::refs) else { return };
        let Ok(tree) = WorkTree::open(&site) else { return };
        let policy = trust::settings_in_force(first, &Selection::default());
        let branches = policy.map(|(settings, _)| settings.policy.tree.branches);
        let inputs = ToolInputs::read(self.event.transcript.as_deref());
        let places = OtherPlaces {
            root: tree.root(),
            began,
            inputs: &inputs,
            session: self.event.session.as_deref(),
            loops: &running_loops(first),
            state: first.state.as_deref(),
            branches: &branches.unwrap_or_default(),
        };
        let left = self.left_tree();
        let mut work = places.work(&tree).unwrap_or_default();
        work.retain(|work| tree_of(work).is_none_or(|tree| left.as_deref() != Some(tree)));
        let is_one = work.len() == 1;
        for work in work {
            let shown = shown_work(&work, tree.root());
            match tree_of(&work) {
                Some(folder) if is_one => {
                    let there = self.at(moved(&first.folder, tree.root(), folder));
                    self.carry_baseline(first, &there);
                    let ground = self.open(there.clone(), Some(there), Some(tree.root()));
                    grounds.others.push((ground, shown));
                }
                _ => grounds.open.push(shown),
            }
        }
        for root in places.repositories(&first.environment) {
            let there = self.at(root.clone());
            if Trust::was_approved(&there) && self.has_edited(&there, &inputs) {
                let place = place_name(&root, tree.root());
                let work = "another repository".to_owned();
                let ground = self.open(there.clone(), Some(there), None);
                grounds.others.push((ground, WorkElsewhere { place, work, checked: None }));
            }
        }
    }

    /// True if the agent's calls name files that are not committed in another repository, or
    /// commits were made there since the session began.
    fn has_edited(&self, there: &Places, inputs: &ToolInputs) -> bool {
        let Some(tree) = self.site(there).and_then(|site| WorkTree::open(&site).ok()) else {
            return false;
        };
        let files = tree.changed(None).ok().flatten().unwrap_or_default();
        if files.iter().any(|file| inputs.mention(Path::new(file))) {
            return true;
        }
        let here = Here { places: there.clone() };
        let turn = TurnContext::open(&here, self.agent, self.event, None);
        let transcript = self.event.transcript.as_deref();
        inputs.move_head() && turn.is_some_and(|turn| turn.has_committed(transcript))
    }

    /// Takes the tree of the session's beginning over to another work tree, if the session has none
    /// there.
    fn carry_baseline(&self, from: &Places, to: &Places) {
        let (Some(session), Some(from), Some(to)) =
            (self.event.run(), self.site(from), self.site(to))
        else {
            return;
        };
        if let Ok(None) = Baseline::kept(&to, Some(&session))
            && let Ok(Some(baseline)) = Baseline::kept(&from, Some(&session))
            && let Ok(Some(there)) = baseline.in_other_tree(&to, &Timestamp::now().to_string())
        {
            // Without it more counts as the agent's.
            let _ = there.keep(&to, Some(&session));
        }
    }

    fn site(&self, places: &Places) -> Option<CheckSite> {
        let callers_files = self.event.transcript.iter().cloned().collect();
        let site = Here { places: places.clone() }.site().ok()?;
        Some(CheckSite { callers_files, ..site })
    }
}

fn has_settings(places: &Places) -> bool {
    !matches!(places.project_file(), Ok(None)) || Trust::was_approved(places)
}

/// True if git's index may name settings somewhere below a folder. The search costs next to
/// nothing, which matters because most projects have none.
fn has_tracked_settings(root: &Path) -> bool {
    let index = own_git_folder(root).and_then(|folder| fs::read(folder.join("index")).ok());
    let index = index.unwrap_or_default();
    // From version 4 on a name leaves out what it shares with the one before: of gate.toml behind
    // gate.test.ts, only the end is there.
    let is_packed = index.get(4..8).is_some_and(|version| version == 4_u32.to_be_bytes());
    let name: &[u8] = if is_packed { b"oml" } else { b"gate.toml" };
    memchr::memmem::find(&index, name).is_some()
}
