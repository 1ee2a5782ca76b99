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
use gate_platform::RealPath;
use jiff::Timestamp;

use super::{Client, Event, EventKind, Payload, TurnContext};
use crate::agent::Agent;
use crate::gate::{OtherPlaces, moved, place_name, running_loops, shown_work, tree_of};
use crate::invocation::Invocation;
use crate::memory::may_have_goal;
use crate::settings::{Places, Selection};
use crate::tool_inputs::ToolInputs;
use crate::trust::{self, Trust};

/// A work tree with the projects in it that an event is about: the session's, or, with several
/// settings in one tree, those nearest to each file that changed.
pub(crate) struct Ground {
    pub(crate) projects: Vec<Places>,
    pub(crate) turn: Option<TurnContext>,
}

/// The work trees that a stop is about.
pub(crate) struct Grounds {
    /// The agent's own tree.
    pub(crate) main: Ground,
    /// Trees in which the agent worked, too, and which are judged.
    pub(crate) others: Vec<OtherGround>,
    /// Work in places that nothing judges.
    pub(crate) work_elsewhere: Vec<WorkElsewhere>,
}

/// A work tree beside the agent's own, with the agent's work in it.
pub(crate) struct OtherGround {
    pub(crate) ground: Ground,
    pub(crate) work: WorkElsewhere,
}

/// An event with its client, its agent, and the folder of its hook.
#[derive(Clone, Copy)]
pub(crate) struct EventScene<'s> {
    pub(crate) invocation: &'s Invocation,
    pub(crate) agent: Agent,
    pub(crate) client: &'s Client,
    pub(crate) payload: &'s Payload<'s>,
    pub(crate) event: &'s Event,
}

impl EventScene<'_> {
    /// The folder in which the session began.
    fn session_folder(&self) -> Option<PathBuf> {
        let variable = self.client.facts().project_variable.as_deref();
        let folder = variable.and_then(|name| self.payload.variable(name));
        folder.and_then(|folder| Path::new(folder).real_path().ok())
    }

    fn agent_folder(&self) -> Option<PathBuf> {
        self.event.folder.as_ref()?.real_path().ok()
    }

    fn places_in(&self, folder: PathBuf) -> Places {
        Places { folder, ..self.invocation.places.clone() }
    }

    /// The topmost folder of the session's own work tree, if the agent is in another one of the
    /// same repository.
    pub(crate) fn tree_left_behind(&self) -> Option<PathBuf> {
        let environment = &self.invocation.places.environment;
        let session_tree = root_of(&self.session_folder()?, environment).ok().flatten()?;
        let agent_tree = root_of(&self.agent_folder()?, environment).ok().flatten()?;
        let has_moved =
            session_tree != agent_tree && work_trees(&session_tree).contains(&agent_tree);
        has_moved.then_some(session_tree)
    }

    /// The place of the session's project in the agent's tree, if that is another one than the tree
    /// in which the session began; the agent's folder if the project is not there.
    fn folder_in_new_tree(&self) -> Option<PathBuf> {
        let old_root = self.tree_left_behind()?;
        let agent_folder = self.agent_folder()?;
        let new_root =
            root_of(&agent_folder, &self.invocation.places.environment).ok().flatten()?;
        let folder = moved(&self.session_folder()?, &old_root, &new_root);
        Some(if folder.is_dir() { folder } else { agent_folder })
    }

    /// The project of the first of these folders that has settings: the agent's, if it went to
    /// another work tree; the one that the session began in, the agent's, gate's own. A project
    /// whose gate.toml was approved and is gone counts, too: an agent must not get out by removing
    /// it.
    fn project(&self) -> Option<Places> {
        let hook_folder = self.invocation.places.folder.real_path().ok();
        let candidates =
            [self.folder_in_new_tree(), self.session_folder(), self.agent_folder(), hook_folder];
        let folders = candidates.into_iter().flatten().filter(|folder| folder.is_dir());
        folders.map(|folder| self.places_in(folder)).find(has_settings)
    }

    /// The work tree that the event is about.
    pub(crate) fn ground(&self) -> Ground {
        let primary = self.project();
        let base = primary.clone().or_else(|| {
            let places = self.places_in(self.agent_folder()?);
            has_tracked_settings(&places.top()).then_some(places)
        });
        let old_tree = self.tree_left_behind();
        match base {
            Some(base) => self.open(base, primary, old_tree.as_deref()),
            None => Ground { projects: Vec::new(), turn: None },
        }
    }

    /// Reads the work tree around `base`. `primary` is its project with settings, if there is one,
    /// and `old_tree` the tree that the agent left for this one.
    fn open(&self, base: Places, primary: Option<Places>, old_tree: Option<&Path>) -> Ground {
        // At a session's beginning and end nothing has changed yet, or is looked at any more.
        if matches!(self.event.kind, EventKind::SessionStart | EventKind::SessionEnd) {
            return Ground { projects: primary.into_iter().collect(), turn: None };
        }
        let invocation = Invocation { places: base.clone() };
        let turn = TurnContext::open(&invocation, self.agent, self.event, old_tree);
        let primary_folder = primary.as_ref().and_then(|places| places.project().ok());
        let folders =
            turn.as_ref().map(|turn| turn.projects(primary_folder.as_deref())).unwrap_or_default();
        let projects = match (folders.is_empty(), self.event.kind) {
            (false, _) => {
                folders.into_iter().map(|folder| Places { folder, ..base.clone() }).collect()
            }
            (true, EventKind::Stop) => primary.into_iter().collect(),
            // A prompt is noted for the whole work tree.
            (true, _) => vec![base],
        };
        Ground { projects, turn }
    }

    /// All work trees that a stop is about. The baseline of the session holds for each.
    pub(crate) fn grounds(&self, main: Ground) -> Grounds {
        let mut grounds = Grounds { main, others: Vec::new(), work_elsewhere: Vec::new() };
        let Some(project) = grounds.main.projects.first().cloned() else { return grounds };
        if self.event.not_judged.is_some() {
            return grounds;
        }
        if let Some(tree) = self.tree_left_behind() {
            self.add_tree_left_behind(&tree, &project, &mut grounds);
        }
        self.add_other_work(&project, &mut grounds);
        grounds
    }

    /// Adds the session's own tree, which the agent left, if it changed files there. Carries the
    /// session's baseline over to the agent's `project` in the tree in which the agent is now.
    fn add_tree_left_behind(&self, tree: &Path, project: &Places, grounds: &mut Grounds) {
        let Some(session_folder) = self.session_folder() else { return };
        let session_project = self.places_in(session_folder);
        self.carry_baseline(&session_project, project);
        let ground = self.open(session_project.clone(), Some(session_project), None);
        let is_changed = ground.turn.as_ref().is_some_and(TurnContext::is_changed);
        if is_changed && !ground.projects.is_empty() {
            let place = place_name(tree, &project.top());
            let work = "files changed since the prompt".to_owned();
            let work = WorkElsewhere { place, work, checked: None };
            grounds.others.push(OtherGround { ground, work });
        }
    }

    /// Adds work that stands elsewhere: in other work trees, on branches, in the stash, in other
    /// repositories.
    fn add_other_work(&self, project: &Places, grounds: &mut Grounds) {
        let (Some(session), Some(site)) = (self.event.run(), self.site(project)) else { return };
        let baseline = Baseline::kept(&site, Some(&session)).ok().flatten();
        let Some(began) = baseline.as_ref().and_then(Baseline::refs) else { return };
        let Ok(tree) = WorkTree::open(&site) else { return };
        let policy = trust::settings_in_force(project, &Selection::default());
        let branches = policy.map(|(settings, _)| settings.policy.tree.branches);
        let inputs = ToolInputs::read(self.event.transcript.as_deref());
        let places = OtherPlaces {
            root: tree.root(),
            start_refs: began,
            inputs: &inputs,
            session: self.event.session.as_deref(),
            loops: &running_loops(project),
            state: project.state.as_deref(),
            branches: &branches.unwrap_or_default(),
        };
        let old_tree = self.tree_left_behind();
        let mut works = places.work(&tree).unwrap_or_default();
        works.retain(|work| tree_of(work).is_none_or(|tree| old_tree.as_deref() != Some(tree)));
        // Work in one other tree alone is judged there; work in several places is only shown.
        let is_single = works.len() == 1;
        for work in works {
            let described = shown_work(&work, tree.root());
            match tree_of(&work) {
                Some(folder) if is_single => {
                    let other_project = self.places_in(moved(&project.folder, tree.root(), folder));
                    self.carry_baseline(project, &other_project);
                    let ground =
                        self.open(other_project.clone(), Some(other_project), Some(tree.root()));
                    grounds.others.push(OtherGround { ground, work: described });
                }
                _ => grounds.work_elsewhere.push(described),
            }
        }
        for root in places.repositories(&project.environment) {
            let repository = self.places_in(root.clone());
            // Checks of settings that nobody approved would run an agent's commands.
            if Trust::was_approved(&repository) && self.has_edited(&repository, &inputs) {
                let place = place_name(&root, tree.root());
                let work = "another repository".to_owned();
                let work = WorkElsewhere { place, work, checked: None };
                let ground = self.open(repository.clone(), Some(repository), None);
                grounds.others.push(OtherGround { ground, work });
            }
        }
    }

    /// The agent's calls name files that are not committed in another repository, or commits were
    /// made there since the session began.
    fn has_edited(&self, repository: &Places, inputs: &ToolInputs) -> bool {
        let Some(tree) = self.site(repository).and_then(|site| WorkTree::open(&site).ok()) else {
            return false;
        };
        let files = tree.changed(None).ok().flatten().unwrap_or_default();
        if files.iter().any(|file| inputs.has_file(Path::new(file))) {
            return true;
        }
        let invocation = Invocation { places: repository.clone() };
        let turn = TurnContext::open(&invocation, self.agent, self.event, None);
        let transcript = self.event.transcript.as_deref();
        inputs.can_move_head() && turn.is_some_and(|turn| turn.has_committed(transcript))
    }

    /// Takes the tree of the session's beginning over to another work tree, if the session has none
    /// there.
    fn carry_baseline(&self, old_project: &Places, new_project: &Places) {
        let (Some(session), Some(old_site), Some(new_site)) =
            (self.event.run(), self.site(old_project), self.site(new_project))
        else {
            return;
        };
        if let Ok(None) = Baseline::kept(&new_site, Some(&session))
            && let Ok(Some(baseline)) = Baseline::kept(&old_site, Some(&session))
            && let Ok(Some(carried)) =
                baseline.in_other_tree(&new_site, &Timestamp::now().to_string())
        {
            // Without it more counts as the agent's.
            let _ = carried.keep(&new_site, Some(&session));
        }
    }

    fn site(&self, places: &Places) -> Option<CheckSite> {
        let callers_files = self.event.transcript.iter().cloned().collect();
        let site = Invocation { places: places.clone() }.site().ok()?;
        Some(CheckSite { callers_files, ..site })
    }
}

fn has_settings(places: &Places) -> bool {
    // Settings that cannot be looked at count: they are reported when they are read.
    !matches!(places.project_file(), Ok(None))
        || Trust::was_approved(places)
        || may_have_goal(places.state.as_deref(), &places.top())
}

/// git's index may name settings somewhere below a folder. The search costs next to nothing, which
/// matters because most projects have no settings at all.
fn has_tracked_settings(root: &Path) -> bool {
    let index = own_git_folder(root).and_then(|folder| fs::read(folder.join("index")).ok());
    let index = index.unwrap_or_default();
    // From version 4 on a name leaves out what it shares with the one before: of gate.toml behind
    // gate.test.ts, only the end is there.
    let is_packed = index.get(4..8).is_some_and(|version| version == 4_u32.to_be_bytes());
    let name: &[u8] = if is_packed { b"oml" } else { b"gate.toml" };
    memchr::memmem::find(&index, name).is_some()
}
