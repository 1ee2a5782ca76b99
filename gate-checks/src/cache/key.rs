//! The key of a stored record: a hash of everything that the record depends on.

use std::fs;
use std::path::Path;

use gate_core::decide::policy::CheckPolicy;
use gate_core::decide::sealed_tests::MAX_SEALED_REFUSALS;
use gate_platform::MetadataExt;
use serde_json::{Value, json};

use crate::check::{CheckContext, CheckId, Occasion};
use crate::path_text;
use crate::process::environment;
use crate::seal::Seal;
use crate::worktree::WorkTree;

/// The most words of a command that are looked up as files.
const MAX_WORDS: usize = 100;

/// The command of a check, as far as a stored record depends on it.
#[derive(Clone, Debug)]
pub(crate) struct CachedCommand {
    /// A stored record depends on the programs that these words name.
    pub(crate) words: Vec<String>,
    /// The command also runs with the tests of the baseline and with gate's control.
    pub(crate) uses_baseline: bool,
}

/// A check that is about to run, with all that its record depends on.
pub(crate) struct Work<'w> {
    pub(crate) check: &'w CheckId,
    pub(crate) policy: &'w CheckPolicy,
    pub(crate) command: &'w CachedCommand,
    pub(crate) cx: &'w CheckContext,
}

impl Work<'_> {
    /// An unchanged key means an unchanged result: the settings say so, and no link of the tree leads
    /// out of it.
    pub(super) fn is_hermetic(&self) -> bool {
        self.policy.hermetic && !self.cx.tree.has_links_out()
    }

    /// The key with the whole tree.
    pub(super) fn tree_key(&self) -> blake3::Hash {
        let tree = &self.cx.tree;
        hash(&json!(["tree", tree.digest, tree.head, tree.index, self.surroundings()]))
    }

    /// The key of a pass that only lets an agent go: with the files, without the commit, the baseline
    /// and the session.
    pub(super) fn release_key(&self) -> blake3::Hash {
        let inputs = json!([
            env!("CARGO_PKG_VERSION"),
            self.check.as_str(),
            environment(&self.cx.site.environment, &self.policy.env),
            path_text::text(&self.cx.site.project),
        ]);
        hash(&json!(["release", self.cx.tree.digest, self.policy, inputs, self.programs()]))
    }

    /// The key with the files that match `paths`, within the run.
    pub(super) fn paths_key(&self) -> Option<blake3::Hash> {
        if self.policy.paths.is_empty() {
            return None;
        }
        let files = self.cx.tree.digest_of(&self.cx.site.project, &self.policy.paths).ok()?;
        Some(hash(&json!(["paths", files, self.cx.options.about.run, self.surroundings()])))
    }

    /// Part of the key: the inputs of the check beside the tree.
    fn surroundings(&self) -> Value {
        json!([self.settings(), self.programs()])
    }

    /// Part of the key: the check, its settings and its environment.
    fn settings(&self) -> Value {
        let baseline = self.cx.options.baseline.as_ref().map(|baseline| baseline.digest());
        let superseded = &*self.cx.superseded;
        // A session compares with nothing, and another command never does.
        let comparison = match (self.cx.options.occasion, self.command.uses_baseline) {
            (Occasion::Session, _) => Some(json!(["plain", superseded, self.sealed()])),
            (Occasion::Loop, true) => {
                Some(json!([baseline, &*self.cx.allow, superseded, self.sealed()]))
            }
            (Occasion::PullRequest { .. }, true) => {
                Some(json!(["base", baseline, &*self.cx.allow, superseded, self.sealed()]))
            }
            (_, false) => None,
        };
        json!([
            env!("CARGO_PKG_VERSION"),
            self.check.as_str(),
            self.command.words,
            self.policy,
            environment(&self.cx.site.environment, &self.policy.env),
            path_text::text(&self.cx.site.project),
            self.cx.options.about.task,
            comparison,
        ])
    }

    /// Part of the key: the sealed tests of the check, or the reason why they cannot run.
    fn sealed(&self) -> Option<String> {
        if self.cx.options.about.sealed_refusals >= MAX_SEALED_REFUSALS {
            return Some("spent".to_owned());
        }
        let tree = WorkTree::open(&self.cx.site).ok()?;
        let configured_folder = self.policy.sealed.as_deref();
        match Seal::find(&self.cx.site, &tree, self.check.as_str(), configured_folder) {
            Ok(seal) => seal.map(|seal| seal.digest),
            Err(error) => Some(error.to_string()),
        }
    }

    /// Part of the key: the identities of the programs and files that the words of the command name.
    /// A script is taken word by word.
    fn programs(&self) -> Vec<Value> {
        let search_path = self.cx.site.search_path();
        let folder = self.cx.site.folder_of(self.policy);
        let words = self.command.words.iter().flat_map(|word| word.split_whitespace());
        let mut identities = Vec::new();
        for word in words.take(MAX_WORDS) {
            let program = which::which_in(word, Some(&search_path), &folder).ok();
            let program_identity = program.and_then(|program| identity(&program));
            identities.extend(program_identity.or_else(|| identity(&folder.join(word))));
        }
        identities
    }
}

/// A file by its path, size, change time and inode: another one in its place has another identity.
fn identity(path: &Path) -> Option<Value> {
    let file = fs::metadata(path).ok().filter(fs::Metadata::is_file)?;
    Some(json!([path_text::text(path), file.size(), file.ctime(), file.ctime_nsec(), file.ino()]))
}

fn hash(value: &Value) -> blake3::Hash {
    blake3::hash(value.to_string().as_bytes())
}
