//! Runs Python's programs in the project's environment.

use crate::project::folder::Folder;

/// Lock files and how programs are run where they are.
const LOCKS: [(&str, [&str; 2]); 4] = [
    ("uv.lock", ["uv", "run"]),
    ("poetry.lock", ["poetry", "run"]),
    ("pdm.lock", ["pdm", "run"]),
    ("Pipfile.lock", ["pipenv", "run"]),
];

/// Usual folders of virtual environments.
const ENVIRONMENTS: [&str; 3] = [".venv", "venv", "env"];

/// The way in which a project's Python programs are run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Runner {
    /// By the tool that wrote the lock file.
    Tool([&'static str; 2]),
    /// From the programs of a virtual environment: these are there.
    Environment { folder: String, programs: Vec<String> },
    /// From PATH; this is Python's name.
    Path(&'static str),
}

impl Runner {
    pub(super) fn detect(folder: &Folder<'_>) -> Self {
        if let Some((_, words)) = LOCKS.iter().find(|(lock, _)| folder.has(lock)) {
            return Self::Tool(*words);
        }
        let programs = ENVIRONMENTS.iter().map(|name| format!("{name}/bin"));
        if let Some(found) = programs.into_iter().find(|bin| folder.runs(&format!("{bin}/python")))
        {
            let programs = folder.names(&found);
            return Self::Environment { folder: found, programs };
        }
        let only_old = !folder.finds("python3") && folder.finds("python");
        Self::Path(if only_old { "python" } else { "python3" })
    }

    /// Without a tool as a module, which also makes the project's own modules known.
    pub(super) fn pytest(&self) -> Vec<String> {
        match self {
            Self::Tool(_) => self.tool(&["pytest"]),
            _ => self.python(&["-m", "pytest"]),
        }
    }

    /// Python with these arguments.
    pub(super) fn python(&self, arguments: &[&str]) -> Vec<String> {
        let python = match self {
            Self::Tool(words) => {
                words.iter().copied().chain(["python"]).map(str::to_owned).collect()
            }
            Self::Environment { folder, .. } => vec![format!("{folder}/python")],
            Self::Path(python) => vec![(*python).to_owned()],
        };
        python.into_iter().chain(owned(arguments)).collect()
    }

    /// A program that is written in Python.
    pub(super) fn tool(&self, words: &[&str]) -> Vec<String> {
        match self {
            Self::Tool(before) => before.iter().chain(words).map(|&word| word.to_owned()).collect(),
            Self::Environment { folder, programs } => {
                let program =
                    words.first().filter(|word| programs.iter().any(|program| program == *word));
                let first = program.map(|program| format!("{folder}/{program}"));
                let rest = if first.is_some() { &words[1..] } else { words };
                first.into_iter().chain(owned(rest)).collect()
            }
            Self::Path(_) => owned(words).collect(),
        }
    }
}

fn owned(words: &[&str]) -> impl Iterator<Item = String> {
    words.iter().map(|&word| word.to_owned())
}
