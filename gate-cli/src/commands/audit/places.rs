//! The folders in which agents keep their transcripts.

use std::path::{Path, PathBuf};

use crate::clients::{self, ClientFacts};
use crate::settings::Places;

/// The folders of agents without hooks, below the home folder; from their documentation.
const OTHERS: [&str; 2] =
    [".pi/agent/sessions", ".config/Code/User/globalStorage/saoudrizwan.claude-dev/tasks"];

/// Transcripts in folders of their own, below the home folder.
struct Nested {
    folder: &'static str,
    /// The pattern of their paths in it.
    files: &'static str,
}

/// Those of Antigravity, known from public transcripts, and the chats of VS Code, from its source.
const NESTED: [Nested; 3] = [
    Nested { folder: ".gemini/antigravity/brain", files: ANTIGRAVITY },
    Nested { folder: ".gemini/antigravity-ide/brain", files: ANTIGRAVITY },
    Nested { folder: ".config/Code/User/workspaceStorage", files: "*/chatSessions/*.json*" },
];

const ANTIGRAVITY: &str = "*/.system_generated/logs/transcript.jsonl";

/// The folders that exist. Files in hidden folders are patterns of their paths.
pub(super) fn known(places: &Places) -> Vec<PathBuf> {
    let nested = NESTED.iter().filter_map(|nested| {
        let folder = below_home(places, nested.folder)?;
        folder.is_dir().then(|| folder.join(nested.files))
    });
    candidates(places).filter(|folder| folder.is_dir()).chain(nested).collect()
}

/// The folders that were looked for, in a sentence.
pub(super) fn looked(places: &Places) -> String {
    let nested = NESTED.iter().filter_map(|nested| below_home(places, nested.folder));
    let folders = candidates(places).chain(nested);
    let names: Vec<_> = folders.map(|folder| folder.display().to_string()).collect();
    let names = if names.is_empty() { "HOME is not set".to_owned() } else { names.join(", ") };
    format!("no folder of transcripts is there ({names}): name one, as in `gate audit FOLDER`")
}

fn below_home(places: &Places, path: &str) -> Option<PathBuf> {
    Some(Path::new(places.variable("HOME")?).join(path.trim_start_matches("~/")))
}

/// The folders of all agents, there or not.
fn candidates(places: &Places) -> impl Iterator<Item = PathBuf> {
    let clients = clients::all().filter_map(|ClientFacts { transcripts, settings, .. }| {
        let path = transcripts.as_deref()?;
        let moved = settings.folder_variable.as_deref().and_then(|name| places.variable(name));
        match (moved, Path::new(path).strip_prefix(&settings.folder)) {
            (Some(moved), Ok(inside)) => Some(Path::new(moved).join(inside)),
            _ => below_home(places, path),
        }
    });
    clients.chain(OTHERS.into_iter().filter_map(|path| below_home(places, path)))
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn transcripts_are_found_at_home_and_where_a_variable_moves_them() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        let folders =
            [".claude/projects", ".codex/sessions", ".pi/agent/sessions", "moved/projects"];
        folders.iter().for_each(|name| fs::create_dir_all(at(name)).unwrap());
        let variable = |name: &str, path| (name.to_owned(), format!("{}", at(path).display()));
        let mut environment = vec![variable("HOME", "")];
        let found = |environment: &[_]| {
            let environment = environment.to_vec();
            known(&Places { environment, ..Places::default() })
        };
        assert_eq!(found(&environment), [at(folders[0]), at(folders[1]), at(folders[2])]);
        environment.push(variable("CLAUDE_CONFIG_DIR", "moved"));
        assert_eq!(found(&environment), [at(folders[3]), at(folders[1]), at(folders[2])]);
    }
}
