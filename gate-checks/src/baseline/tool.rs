//! The programs that run the checks, as a baseline knows them.

use std::collections::BTreeSet;
use std::path::PathBuf;

use gate_core::decide::policy::Policy;
use serde::{Deserialize, Serialize};

use crate::copy;
use crate::programs::with_command;
use crate::site::CheckSite;

/// A program that a check's command names.
#[non_exhaustive]
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tool {
    /// The program's name in the command.
    pub name: String,
    /// The path at which the program was found.
    #[serde(with = "crate::path_text")]
    pub path: PathBuf,
    /// `blake3:` and 64 hex digits over the program's bytes.
    pub digest: String,
}

impl Tool {
    /// The tool that a name means at this moment; `None` if no program has it.
    pub(crate) fn find(name: &str, site: &CheckSite) -> Option<Self> {
        let path = which::which_in(name, Some(site.search_path()), &site.project).ok()?;
        let digest = format!("blake3:{}", blake3::Hash::from_bytes(copy::hash(&path).ok()?));
        Some(Self { name: name.to_owned(), path, digest })
    }
}

/// The programs that the commands of these checks begin with. The programs that a shell's script
/// calls are not known.
pub(super) fn configured_tools(policy: &Policy, site: &CheckSite) -> Vec<Tool> {
    let names: BTreeSet<String> = policy
        .checks
        .iter()
        .filter_map(|(name, check)| {
            let (settings, _) = with_command(name, check, site)?;
            if settings.shell {
                return Some("bash".to_owned());
            }
            // A script of the tree is part of the work.
            settings.command.first().filter(|program| !program.contains('/')).cloned()
        })
        .collect();
    names.iter().filter_map(|name| Tool::find(name, site)).collect()
}
