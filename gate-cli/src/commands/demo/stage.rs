//! The stage of the demo: a small project with tests, in a temporary folder with a home and
//! a state of its own.

use std::fs;
use std::io;
use std::path::Path;
use std::process::{Command, Stdio};

use gate_checks::Temporary;
use gate_platform::RealPath;

use crate::failure::Failure;
use crate::invocation::Invocation;
use crate::settings::Places;
use crate::trust;

/// A change of the agent's, with the claim that follows.
pub(super) struct Claim {
    /// The step of the demo that leads to the claim.
    pub(super) step: &'static str,
    /// The changed line of `price.sh`, as a difference shows it.
    pub(super) change: [&'static str; 2],
    /// The condition for the full price.
    condition: &'static str,
    /// The agent's last message.
    pub(super) words: &'static str,
    /// The exit code of the decision.
    pub(super) code: u8,
}

/// A claim that is false by one cent, and one that holds.
pub(super) const CLAIMS: [Claim; 2] = [
    Claim {
        step: "The agent writes code and says that it is done. It has run no test.",
        change: ["- echo \"$1\"", "+ if [ \"$1\" -le 10000 ]; then echo \"$1\"; else …"],
        condition: "-le",
        words: "I added the discount to price.sh, and all tests pass.\n\nEXIT_STATUS: COMPLETE\n",
        code: 1,
    },
    Claim {
        step: "Refused: the loop goes on, and the agent is given that failure. It repairs the code.",
        change: ["- if [ \"$1\" -le 10000 ]", "+ if [ \"$1\" -lt 10000 ]"],
        condition: "-lt",
        words: "An order of exactly 100.00 had no discount. Now it has: all tests pass.\n\n\
               EXIT_STATUS: COMPLETE\n",
        code: 0,
    },
];

const SETTINGS: &str = "[checks.tests]\ncommand = [\"sh\", \"test.sh\"]\nreport = \"tap\"\n";

/// The tests. They print TAP (Test Anything Protocol): every system has a shell, and not
/// every one has a test runner.
const TESTS: &str = include_str!("../../templates/demo-test.sh");

/// The product before the agent began, in cents.
const PRODUCT: &str = "price() {\n  echo \"$1\"\n}\n";

/// Commands that make the first commit, so that gate knows what the agent changed.
const COMMIT: [&[&str]; 3] =
    [&["init", "-q", "--template="], &["add", "-A"], &["commit", "-q", "-m", "The shop"]];

/// Git's own variables, by which no setting of the user's counts.
const GIT: [(&str, &str); 7] = [
    ("GIT_CONFIG_NOSYSTEM", "1"),
    ("GIT_CONFIG_GLOBAL", "/dev/null"),
    ("GIT_AUTHOR_NAME", "demo"),
    ("GIT_AUTHOR_EMAIL", "demo@localhost"),
    ("GIT_COMMITTER_NAME", "demo"),
    ("GIT_COMMITTER_EMAIL", "demo@localhost"),
    ("GIT_TERMINAL_PROMPT", "0"),
];

/// The project, and the places of a gate that knows nothing else.
pub(super) struct Stage {
    pub(super) invocation: Invocation,
    _folder: Temporary,
}

/// A variable that names settings or folders of the user.
fn is_users(variable: &str) -> bool {
    variable == "HOME" || ["GATE", "XDG_", "GIT_"].iter().any(|prefix| variable.starts_with(prefix))
}

impl Stage {
    /// Makes the project; the user's environment gives PATH, and no setting.
    ///
    /// # Errors
    ///
    /// A temporary folder that cannot be written.
    pub(super) fn new(users: &Places) -> Result<Self, Failure> {
        let folder = Temporary::new("demo").map_err(|error| unwritable(&error))?;
        let root = folder.path().real_path().map_err(|error| unwritable(&error))?;
        let (project, home) = (root.join("shop"), root.join("home"));
        let neutral = users.environment.iter().filter(|(name, _)| !is_users(name)).cloned();
        let stage_home = ("HOME".to_owned(), home.display().to_string());
        let places = Places {
            machine: None,
            folder: project.clone(),
            user: Some(home.join(".config")),
            state: Some(home.join(".local/state/gate")),
            data: Some(home.join(".local/share/gate")),
            environment: neutral.chain([stage_home]).collect(),
        };
        write_project(&project, &home).map_err(|error| unwritable(&error))?;
        commit(&project, &places);
        trust::approve(&places)?;
        Ok(Self { invocation: Invocation { places }, _folder: folder })
    }

    /// The agent changes the product and writes its last words.
    pub(super) fn play(&self, claim: &Claim) -> Result<(), Failure> {
        let project = &self.invocation.places.folder;
        let condition = claim.condition;
        let product = format!(
            "price() {{\n  if [ \"$1\" {condition} 10000 ]; then echo \"$1\"; \
             else echo $(($1 * 9 / 10)); fi\n}}\n"
        );
        fs::write(project.join("price.sh"), product)
            .and_then(|()| fs::write(project.join("out.log"), claim.words))
            .map_err(|error| unwritable(&error))
    }
}

fn write_project(project: &Path, home: &Path) -> io::Result<()> {
    fs::create_dir(project)?;
    fs::create_dir(home)?;
    fs::write(project.join("gate.toml"), SETTINGS)?;
    fs::write(project.join("test.sh"), TESTS)?;
    fs::write(project.join("price.sh"), PRODUCT)
}

/// Commits the project. Without git the card says that nothing can be compared.
fn commit(project: &Path, places: &Places) {
    for args in COMMIT {
        let mut git = Command::new("git");
        git.args(args).current_dir(project).env_clear().envs(places.environment.iter().cloned());
        git.envs(GIT).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        if !git.status().is_ok_and(|status| status.success()) {
            return;
        }
    }
}

fn unwritable(error: &io::Error) -> Failure {
    let message = format!("the demo needs a temporary folder, and cannot write one: {error}");
    Failure::internal("demo-unwritable", message)
}
