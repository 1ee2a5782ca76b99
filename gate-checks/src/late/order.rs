//! What a carrier is asked to do, and how it is started.

use std::fs;
use std::io::{self, Seek};
use std::process::{Command, Stdio};
use std::thread;

use gate_core::decide::policy::{Allowance, CheckPolicy};
use process_wrap::std::{CommandWrap, ProcessSession};
use serde::{Deserialize, Serialize};
use tempfile::NamedTempFile;

use super::place::Place;
use crate::check::About;
use crate::process::Supervisor;
use crate::site::Site;
use crate::store;

/// What a carrier is asked to do. The environment is not part of it: the carrier
/// has it as its own, and secrets are not written to a disk.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Order {
    /// What the record will be about.
    pub(super) key: String,
    /// Where it goes.
    pub(super) place: Place,
    /// The check's name.
    pub(super) check: String,
    /// Its settings.
    pub(super) settings: CheckPolicy,
    /// The digest of the tree.
    pub(super) digest: String,
    /// The real site.
    pub(super) site: Site,
    /// What the caller said about the decision.
    pub(super) about: About,
    /// What a check is tried with, where it is.
    pub(super) tried: Option<Tried>,
}

/// What a check is tried with: it has a copy of the tree of its own.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Tried {
    /// Under this name the baseline is kept, where there is one.
    pub(super) baseline: Option<String>,
    /// What the operator lets change.
    pub(super) allow: Vec<Allowance>,
}

impl Order {
    /// Starts a carrier, which belongs to nobody: it has a session of its own, and
    /// no pipe that anybody could wait for.
    ///
    /// The order is locked before anybody can see it, and the carrier inherits
    /// the lock with its standard input: from now on there is a run, until that
    /// process is gone.
    ///
    /// # Errors
    ///
    /// A file that cannot be written, a program that cannot be started.
    pub(super) fn hand_to(mut self, carrier: &Supervisor) -> io::Result<()> {
        let environment = std::mem::take(&mut self.site.environment);
        self.site.project = std::path::absolute(&self.site.project)?;
        self.site.state = self.site.state.map(std::path::absolute).transpose()?;
        store::make_folder(self.place.folder())?;
        let mut file = NamedTempFile::new_in(self.place.folder())?;
        serde_json::to_writer(&mut file, &self)?;
        file.rewind()?;
        file.as_file().try_lock()?;
        let file = file.persist(self.place.order())?;
        let mut command = Command::new(&carrier.program);
        command.args(&carrier.args).env_clear().envs(environment).current_dir("/");
        command.stdin(file).stdout(Stdio::null()).stderr(Stdio::null());
        let started = CommandWrap::from(command).wrap(ProcessSession).spawn();
        let mut child = started.inspect_err(|_| {
            // Nobody works on it.
            let _ = fs::remove_file(self.place.order());
        })?;
        // Where gate lives on as a part of another program, nothing of it stays.
        thread::spawn(move || child.wait());
        Ok(())
    }
}
