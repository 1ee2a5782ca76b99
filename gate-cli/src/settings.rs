//! The sources of settings: files, environment, flags.

mod machine;

use std::fs;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::time::Duration;

use gate_checks::worktree::root_of;
use gate_core::config::{self, Layer, Millis, Origin, Resolved};
use gate_platform::RealPath;

use crate::failure::Failure;
use crate::store::PATIENCE;
pub(crate) use machine::is_protected;

/// The project's settings file.
pub(crate) const FILE: &str = "gate.toml";

/// The settings of the machine.
pub(crate) const MACHINE_FILE: &str = "/etc/gate/gate.toml";

/// The variable with the address of a PostgreSQL database.
pub(crate) const DATABASE: &str = "GATE_DATABASE_URL";

/// The variable that names a file with such an address.
pub(crate) const DATABASE_FILE: &str = "GATE_DATABASE_URL_FILE";

/// The variable with the longest wait for a store that is busy or does not answer.
pub(crate) const STORE_PATIENCE: &str = "GATE_STORE_PATIENCE";

/// The folders that gate reads and writes, and its environment.
#[derive(Clone, Debug, Default)]
pub struct Places {
    /// The folder that gate runs in.
    pub folder: PathBuf,
    /// The settings for all users and projects of the machine: /etc/gate/gate.toml. No variable
    /// names another file: an agent could set it.
    pub machine: Option<PathBuf>,
    /// The user's settings folder (`$XDG_CONFIG_HOME`, `~/.config`).
    pub user: Option<PathBuf>,
    /// The folder for state (`GATE_STATE_DIR`, `$XDG_STATE_HOME/gate`,
    /// `~/.local/state/gate`).
    pub state: Option<PathBuf>,
    /// The folder for what has to outlive the state (`$XDG_DATA_HOME/gate`,
    /// `~/.local/share/gate`).
    pub data: Option<PathBuf>,
    /// The environment.
    pub environment: Vec<(String, String)>,
}

/// The settings of the command line.
#[derive(Clone, Debug, Default)]
pub struct Selection {
    /// A file that takes the place of the project's.
    pub config: Option<PathBuf>,
    /// The task type.
    pub task_type: Option<String>,
    /// The threshold.
    pub threshold: Option<u32>,
    /// A completion without a passing check goes on.
    pub require_evidence: bool,
}

/// The folder that a variable names, else one in the home folder.
fn user_folder(variable: &str, in_home: &str) -> Option<PathBuf> {
    path_variable(variable).or_else(|| Some(path_variable("HOME")?.join(in_home)))
}

fn path_variable(name: &str) -> Option<PathBuf> {
    gate_platform::variable(name).map(PathBuf::from)
}

impl Places {
    /// The places of this process, as seen from a folder.
    pub fn from_process(folder: PathBuf) -> Self {
        let user = user_folder("XDG_CONFIG_HOME", ".config");
        let state = match path_variable("GATE_STATE_DIR") {
            Some(state) => Some(folder.join(state)),
            None => user_folder("XDG_STATE_HOME", ".local/state").map(|state| state.join("gate")),
        };
        let data = user_folder("XDG_DATA_HOME", ".local/share").map(|data| data.join("gate"));
        let machine = Some(PathBuf::from(MACHINE_FILE));
        Self { folder, machine, user, state, data, environment: gate_checks::environment() }
    }

    /// A variable of the environment; `None` if it is empty.
    pub(crate) fn variable(&self, name: &str) -> Option<&str> {
        let mut set_variables = self.environment.iter().filter(|(_, value)| !value.is_empty());
        set_variables.find(|(key, _)| key == name).map(|(_, value)| value.as_str())
    }

    /// The folder for the marks of ledgers' heads.
    pub(crate) fn heads(&self) -> Option<PathBuf> {
        self.data.as_ref().map(|data| data.join("heads"))
    }

    /// The environment names a database for the state.
    pub(crate) fn names_database(&self) -> bool {
        self.variable(DATABASE).or_else(|| self.variable(DATABASE_FILE)).is_some()
    }

    /// The longest wait for a store that is busy or does not answer.
    pub(crate) fn patience(&self) -> Result<Duration, Failure> {
        let Some(text) = self.variable(STORE_PATIENCE) else { return Ok(PATIENCE) };
        parse_duration(text).map_err(|expected| {
            let failure = Failure::usage("usage", format!("`{STORE_PATIENCE}={text}`: {expected}"));
            Failure { key: Some(STORE_PATIENCE.to_owned()), ..failure }
        })
    }

    /// The project: the folder of its settings file, else the repository's
    /// root, else the folder itself.
    ///
    /// # Errors
    ///
    /// A settings file that may be there and cannot be looked at.
    pub fn project(&self) -> Result<PathBuf, Failure> {
        let file = self.project_file()?;
        let project = file.as_deref().and_then(Path::parent);
        Ok(project.map_or_else(|| self.top(), Path::to_owned))
    }

    /// The folder above which settings are not looked for: the repository's root,
    /// outside of one the folder itself.
    pub(crate) fn top(&self) -> PathBuf {
        self.repository().unwrap_or(&self.folder).to_owned()
    }

    /// The root of the repository that the folder is in. A `.git` that is no repository counts only
    /// if there is no real one.
    fn repository(&self) -> Option<&Path> {
        let mut candidates = Vec::new();
        let mut repositories = Vec::new();
        for folder in self.folder.ancestors() {
            let git = folder.join(".git");
            if git.symlink_metadata().is_ok() {
                candidates.push(folder);
                if is_repository(&git) {
                    repositories.push(folder);
                }
            }
        }
        match repositories.as_slice() {
            [] => candidates.last().copied(),
            [only] => Some(only),
            // If repositories nest, the one that tracks the folder's files.
            [.., outermost] => match root_of(&self.folder, &self.environment) {
                Ok(Some(root)) => repositories.iter().copied().find(|folder| *folder == root),
                _ => Some(outermost),
            },
        }
    }

    /// The project's settings file: the nearest from the folder up to the
    /// repository's root; outside of a repository only the folder's own.
    ///
    /// # Errors
    ///
    /// A file that may be there and cannot be looked at: the checks that it
    /// configures must not be lost that way.
    pub(crate) fn project_file(&self) -> Result<Option<PathBuf>, Failure> {
        let top = self.repository().unwrap_or(&self.folder);
        for folder in self.folder.ancestors() {
            let file = folder.join(FILE);
            if file_exists(&file)? {
                return Ok(Some(file));
            }
            if folder == top {
                break;
            }
        }
        Ok(None)
    }
}

/// A repository's own folder, or the file that leads to it, as git sees it: an empty `.git` must not
/// hide the settings above it.
fn is_repository(git: &Path) -> bool {
    git.join("HEAD").symlink_metadata().is_ok()
        || fs::read_to_string(git).is_ok_and(|text| text.starts_with("gitdir:"))
}

/// The name exists, even as a link that leads nowhere.
fn file_exists(file: &Path) -> Result<bool, Failure> {
    match file.symlink_metadata() {
        Ok(_) => Ok(true),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(unreadable(file, &error)),
    }
}

/// The settings of the user for all projects.
pub(crate) fn user_file(places: &Places) -> Option<PathBuf> {
    places.user.as_ref().map(|folder| folder.join("gate").join("config.toml"))
}

/// Reads all layers, lowest first.
///
/// # Errors
///
/// A file that cannot be read, and the first thing that is wrong in one.
pub fn layers(places: &Places, selection: &Selection) -> Result<Vec<Layer>, Failure> {
    layers_with(places, selection, None)
}

/// Reads all layers, lowest first, with this one in the place of the project's.
///
/// # Errors
///
/// Those of [`layers`].
pub(crate) fn layers_with(
    places: &Places,
    selection: &Selection,
    project: Option<Layer>,
) -> Result<Vec<Layer>, Failure> {
    let machine = places.machine.as_deref().map(machine::layer).transpose()?.flatten();
    let mut layers: Vec<_> = machine.clone().into_iter().collect();
    if let Some(file) = user_file(places) {
        layers.extend(optional_layer(Origin::User(file.clone()), &file)?);
    }
    if let Some(file) = &selection.config {
        layers.push(required_layer(Origin::File(file.clone()), &places.folder.join(file))?);
    } else if project.is_some() {
        layers.extend(project);
    } else if let Some(file) = places.project_file()? {
        let origin = Origin::Project(file.clone());
        layers.push(match machine {
            Some(machine) if is_machine_file(&file, &machine) => machine.found_in(origin),
            _ => required_layer(origin, &file)?,
        });
    }
    layers.extend(config::environment(places.environment.iter().cloned())?);
    layers.push(Layer::flags(selection.threshold));
    layers.extend(selection.require_evidence.then(Layer::require_evidence));
    Ok(layers)
}

/// A file is the machine's own, or a link to it.
fn is_machine_file(file: &Path, machine: &Layer) -> bool {
    let Origin::Machine(machine_file) = machine.origin() else { return false };
    match (file.real_path(), machine_file.real_path()) {
        (Ok(file), Ok(machine_file)) => file == machine_file,
        _ => false,
    }
}

/// Reads and resolves all settings.
pub(crate) fn resolve(places: &Places, selection: &Selection) -> Result<Resolved, Failure> {
    Ok(config::resolve(&layers(places, selection)?, selection.task_type.as_deref())?)
}

/// A length of time as settings write it, such as `90s` or `1h30m`; more than nothing.
///
/// # Errors
///
/// Any other text: the message says what is expected.
pub(crate) fn parse_duration(text: &str) -> Result<Duration, String> {
    match Millis::parse(text) {
        Some(Millis(millis)) if millis > 0 => Ok(Duration::from_millis(millis)),
        _ => Err("a length of time such as 90s or 1h30m is expected".to_owned()),
    }
}

/// The text of a file, as far as settings are read at all.
fn read_text(file: &Path) -> io::Result<String> {
    let mut bytes = Vec::new();
    // One byte more shows the parser that the file is too long.
    fs::File::open(file)?.take(config::MAX_SETTINGS_BYTES as u64 + 1).read_to_end(&mut bytes)?;
    String::from_utf8(bytes).or_else(|error| {
        match error.as_bytes().len() > config::MAX_SETTINGS_BYTES {
            // A character may be cut at the end, and nobody reads that far.
            true => Ok(String::from_utf8_lossy(error.as_bytes()).into_owned()),
            false => {
                let valid = &error.as_bytes()[..error.utf8_error().valid_up_to()];
                let line = valid.split(|byte| *byte == b'\n').count();
                let message = format!("line {line} is no UTF-8, as settings have to be");
                Err(io::Error::new(io::ErrorKind::InvalidData, message))
            }
        }
    })
}

fn optional_layer(origin: Origin, file: &Path) -> Result<Option<Layer>, Failure> {
    match read_text(file) {
        Ok(text) => Ok(Some(Layer::parse(origin, &text)?)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(unreadable(file, &error)),
    }
}

fn required_layer(origin: Origin, file: &Path) -> Result<Layer, Failure> {
    let text = read_text(file).map_err(|error| unreadable(file, &error))?;
    Ok(Layer::parse(origin, &text)?)
}

/// Settings that cannot be read are the user's to put right.
fn unreadable(file: &Path, error: &io::Error) -> Failure {
    let failure = Failure::file("config-unreadable", "read the settings", file, error);
    Failure { exit_code: 2, ..failure }
}
