//! What a record depends on, as one hash.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use gate_core::decide::policy::CheckPolicy;
use serde_json::{Value, json};

use crate::check::{Check, CheckContext};
use crate::path_text;
use crate::process::environment;

/// How many words of a command are looked up.
const WORDS: usize = 100;

/// What a check is about to be run for.
pub(crate) struct Work<'w> {
    pub(crate) check: &'w dyn Check,
    pub(crate) policy: &'w CheckPolicy,
    pub(crate) cx: &'w CheckContext,
}

impl Work<'_> {
    /// Whether an unchanged key means an unchanged result: the settings say so,
    /// and no link of the tree leads to what is no part of it.
    pub(super) fn is_hermetic(&self) -> bool {
        self.policy.hermetic && !self.cx.tree.has_links_out()
    }

    /// The key with the whole tree.
    pub(super) fn of_tree(&self) -> blake3::Hash {
        let tree = &self.cx.tree;
        hash(&json!(["tree", tree.digest, tree.head, tree.index, self.surroundings()]))
    }

    /// The key of what lets an agent go: the same files, whatever the commit, the
    /// baseline and the session.
    pub(super) fn of_release(&self) -> blake3::Hash {
        let programs = self.check.program().map(|words| self.programs(words));
        hash(&json!(["release", self.cx.tree.digest, self.policy, self.seen(), programs]))
    }

    /// The key with the files that match `paths`, within the run.
    pub(super) fn of_paths(&self) -> Option<blake3::Hash> {
        if self.policy.paths.is_empty() {
            return None;
        }
        let part = self.cx.tree.digest_of(&self.cx.site.project, &self.policy.paths).ok()?;
        Some(hash(&json!(["paths", part, self.cx.about.run, self.surroundings()])))
    }

    /// Everything beside the tree.
    fn surroundings(&self) -> Value {
        let programs = self.check.program().map(|words| self.programs(words));
        json!([self.settings(), programs])
    }

    /// What the check is, what it sees, and for what.
    fn settings(&self) -> Value {
        let baseline = self.cx.baseline.as_ref().map(|baseline| baseline.digest());
        let tried = self.check.is_tried().then(|| json!([baseline, &*self.cx.allow]));
        json!([
            env!("CARGO_PKG_VERSION"),
            self.check.id().as_str(),
            self.check.program(),
            self.policy,
            environment(&self.cx.site.environment, &self.policy.env),
            path_text::text(&self.cx.site.project),
            self.cx.about.task,
            tried,
        ])
    }

    /// What the check sees beside the tree and its settings.
    fn seen(&self) -> Value {
        let environment = environment(&self.cx.site.environment, &self.policy.env);
        json!([
            env!("CARGO_PKG_VERSION"),
            self.check.id().as_str(),
            environment,
            path_text::text(&self.cx.site.project),
        ])
    }

    /// The programs and files that the words of a command name, each with what
    /// tells it from another in its place. A script is taken word by word.
    fn programs(&self, words: &[String]) -> Vec<Value> {
        let path = self.cx.site.search_path();
        let folder = self.cx.site.folder_of(self.policy);
        let words = words.iter().flat_map(|word| word.split_whitespace());
        let look = |word: &str| look(&which::which_in(word, Some(&path), &folder).ok()?);
        let file = |word: &str| look_at(&folder, word);
        words.take(WORDS).filter_map(|word| look(word).or_else(|| file(word))).collect()
    }
}

fn look_at(folder: &Path, word: &str) -> Option<Value> {
    look(&folder.join(word)).filter(|_| !word.is_empty())
}

/// A file by its place, size, change time and inode.
fn look(path: &Path) -> Option<Value> {
    let it = fs::metadata(path).ok().filter(fs::Metadata::is_file)?;
    Some(json!([path_text::text(path), it.size(), it.ctime(), it.ctime_nsec(), it.ino()]))
}

fn hash(value: &Value) -> blake3::Hash {
    blake3::hash(value.to_string().as_bytes())
}
