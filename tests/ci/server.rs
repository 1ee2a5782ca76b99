//! A server with a repository, jobs in clones of it, and what comes of them.

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::{Value, json};
use tempfile::TempDir;

use super::{PRODUCT, SETTINGS, TESTS};
use crate::support::GATE;

/// A server with one repository, and a folder for its clones.
pub(super) struct Server {
    folder: TempDir,
}

/// A clone in which a CI runs gate, with the variables that it sets.
pub(super) struct Job<'s> {
    pub(super) server: &'s Server,
    pub(super) folder: PathBuf,
    pub(super) variables: Vec<(String, String)>,
}

/// What came of a job.
pub(super) struct Ended {
    pub(super) code: i32,
    pub(super) stdout: String,
    pub(super) stderr: String,
    /// The summary for reviewers, if the CI has a file for that.
    pub(super) summary: String,
}

impl Server {
    /// A server whose branch `main` has a shop in Python with three tests.
    pub(super) fn new() -> Self {
        Self::with(&[
            ("gate.toml", SETTINGS),
            ("cart.py", PRODUCT),
            ("tests/test_cart.py", TESTS),
            ("pytest.ini", "[pytest]\npythonpath = .\n"),
            (".gitignore", "__pycache__/\n.pytest_cache/\n"),
            (".github/workflows/gate.yml", "on: pull_request\n"),
        ])
    }

    /// A server whose branch `main` has these files.
    pub(super) fn with(files: &[(&str, &str)]) -> Self {
        let folder = TempDir::new().unwrap();
        let server = Self { folder };
        server.git(".", &["init", "-q", "--bare", "-b", "main", "server.git"]);
        // Clones by commit, as CIs make them.
        server.git("server.git", &["config", "uploadpack.allowAnySHA1InWant", "true"]);
        server.git(".", &["clone", "-q", "server.git", "desk"]);
        server.git("desk", &["checkout", "-q", "-B", "main"]);
        for (name, text) in files {
            server.write(name, text);
        }
        server.commit("a shop");
        server.git("desk", &["push", "-q", "origin", "main"]);
        server
    }

    pub(super) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Writes a file on the desk.
    pub(super) fn write(&self, name: &str, text: &str) {
        let path = self.path("desk").join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    pub(super) fn remove(&self, name: &str) {
        fs::remove_file(self.path("desk").join(name)).unwrap();
    }

    /// Replaces a text in a file on the desk.
    pub(super) fn edit(&self, name: &str, old: &str, new: &str) {
        let path = self.path("desk").join(name);
        let text = fs::read_to_string(&path).unwrap();
        assert!(text.contains(old), "{name} does not contain {old:?}");
        fs::write(path, text.replace(old, new)).unwrap();
    }

    /// Commits everything on the desk, and returns the commit.
    pub(super) fn commit(&self, subject: &str) -> String {
        self.git("desk", &["add", "-A"]);
        self.git("desk", &["commit", "-q", "--allow-empty", "-m", subject]);
        self.commit_of("desk", "HEAD")
    }

    /// Commits on a new branch of main, and pushes it.
    pub(super) fn branch(&self, name: &str, change: impl FnOnce(&Self)) -> String {
        self.git("desk", &["checkout", "-q", "-B", name, "main"]);
        change(self);
        let commit = self.commit(name);
        self.git("desk", &["push", "-q", "--force", "origin", name]);
        commit
    }

    /// Puts a commit on main by somebody else, and goes back to the branch.
    pub(super) fn advance_main(&self, change: impl FnOnce(&Self)) -> String {
        let branch = self.output("desk", &["branch", "--show-current"]);
        self.git("desk", &["checkout", "-q", "main"]);
        change(self);
        let commit = self.commit("meanwhile on main");
        self.git("desk", &["push", "-q", "origin", "main"]);
        self.git("desk", &["checkout", "-q", branch.trim()]);
        commit
    }

    /// The merge of main and a branch that GitHub keeps for a pull request, as a ref of the server.
    pub(super) fn merge_ref(&self, branch: &str) -> String {
        self.git("desk", &["checkout", "-q", "--detach", "main"]);
        self.git("desk", &["merge", "-q", "--no-ff", "-m", "merge", branch]);
        let merge = self.commit_of("desk", "HEAD");
        self.git("desk", &["push", "-q", "--force", "origin", "HEAD:refs/pull/7/merge"]);
        self.git(
            "desk",
            &["push", "-q", "--force", "origin", &format!("{branch}:refs/pull/7/head")],
        );
        self.git("desk", &["checkout", "-q", branch]);
        merge
    }

    pub(super) fn commit_of(&self, clone: &str, name: &str) -> String {
        self.output(clone, &["rev-parse", name]).trim().to_owned()
    }

    /// A job in an empty repository with this server as its origin.
    pub(super) fn job(&self, steps: &[&str]) -> Job<'_> {
        let number = fs::read_dir(self.folder.path()).unwrap().count();
        let name = format!("job{number}");
        self.git(".", &["init", "-q", "-b", "main", &name]);
        let job = Job { server: self, folder: self.path(&name), variables: Vec::new() };
        let address = format!("file://{}", self.path("server.git").display());
        self.git(&name, &["remote", "add", "origin", &address]);
        for step in steps {
            self.git(&name, &step.split(' ').collect::<Vec<_>>());
        }
        job
    }

    /// The checkout that GitHub's action makes of a pull request's merge.
    pub(super) fn merge_job(&self, branch: &str, depth: usize) -> Job<'_> {
        let merge = self.merge_ref(branch);
        let fetch = match depth {
            0 => "fetch -q origin +refs/heads/*:refs/remotes/origin/* \
                  +refs/pull/7/merge:refs/remotes/pull/7/merge"
                .to_owned(),
            depth => format!("fetch -q --depth={depth} origin +{merge}:refs/remotes/pull/7/merge"),
        };
        let job = self.job(&[&fetch, "checkout -q --force refs/remotes/pull/7/merge"]);
        job.on_github("pull_request", &self.request(branch)).set("GITHUB_SHA", &merge)
    }

    /// GitHub's event for a pull request.
    pub(super) fn request(&self, branch: &str) -> Value {
        json!({
            "action": "synchronize",
            "pull_request": {
                "base": { "ref": "main", "sha": self.commit_of("desk", "main") },
                "head": { "ref": branch, "sha": self.commit_of("desk", branch) },
            },
            "repository": { "default_branch": "main" },
        })
    }

    pub(super) fn output(&self, folder: &str, args: &[&str]) -> String {
        let output = git(&self.path(folder), args);
        String::from_utf8(output.stdout).unwrap()
    }

    pub(super) fn git(&self, folder: &str, args: &[&str]) {
        git(&self.path(folder), args);
    }
}

fn git(folder: &Path, args: &[&str]) -> Output {
    let output = Command::new("git")
        .args(["-c", "user.name=Ada", "-c", "user.email=ada@example.org"])
        .args(["-c", "protocol.file.allow=always", "-c", "advice.detachedHead=false"])
        .args(args)
        .current_dir(folder)
        .output()
        .unwrap();
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "git {args:?} in {}: {stderr}", folder.display());
    output
}

impl Job<'_> {
    /// With the variables and the event file of GitHub.
    pub(super) fn on_github(self, name: &str, event: &Value) -> Self {
        let number = fs::read_dir(self.server.folder.path()).unwrap().count();
        let file = self.server.path(&format!("event{number}.json"));
        fs::write(&file, event.to_string()).unwrap();
        let summary = self.server.path(&format!("summary{number}.md"));
        let job = self.set("GITHUB_ACTIONS", "true").set("GITHUB_EVENT_NAME", name);
        let workflow = "acme/shop/.github/workflows/gate.yml@refs/heads/main";
        job.set("GITHUB_WORKFLOW_REF", workflow)
            .set("GITHUB_EVENT_PATH", file)
            .set("GITHUB_STEP_SUMMARY", summary)
    }

    pub(super) fn set(mut self, name: &str, value: impl AsRef<OsStr>) -> Self {
        let value = value.as_ref().to_str().unwrap().to_owned();
        self.variables.retain(|(known, _)| known != name);
        self.variables.push((name.to_owned(), value));
        self
    }

    /// With the folders in which cargo and its toolchains are.
    pub(super) fn with_cargo(self) -> Self {
        let home = std::env::var("HOME").unwrap();
        let folder = |name: &str, inside: &str| {
            std::env::var(name).unwrap_or_else(|_| format!("{home}/{inside}"))
        };
        let (cargo, rustup) = (folder("CARGO_HOME", ".cargo"), folder("RUSTUP_HOME", ".rustup"));
        self.set("CARGO_HOME", cargo).set("RUSTUP_HOME", rustup)
    }

    pub(super) fn git(&self, args: &str) {
        git(&self.folder, &args.split(' ').collect::<Vec<_>>());
    }

    /// Runs `gate ci` with these words behind it.
    #[track_caller]
    pub(super) fn runs(&self, words: &str) -> Ended {
        let home = self.server.path("home");
        fs::create_dir_all(&home).unwrap();
        let (before, words) = match words.split_once("-- ") {
            Some((before, words)) => (before, words),
            None => ("", words),
        };
        let output = Command::new(GATE)
            .args(before.split_whitespace())
            .arg("ci")
            .args(words.split_whitespace())
            .current_dir(&self.folder)
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap())
            .env("HOME", home)
            .envs(self.variables.iter().map(|(name, value)| (name, value)))
            .output()
            .unwrap();
        let summary = self.variables.iter().find(|(name, _)| name == "GITHUB_STEP_SUMMARY");
        Ended {
            code: output.status.code().unwrap(),
            stdout: String::from_utf8(output.stdout).unwrap(),
            stderr: String::from_utf8(output.stderr).unwrap(),
            summary: summary
                .and_then(|(_, file)| fs::read_to_string(file).ok())
                .unwrap_or_default(),
        }
    }
}

impl Ended {
    #[track_caller]
    pub(super) fn code(self, expected: i32) -> Self {
        assert_eq!(self.code, expected, "{}{}", self.stdout, self.stderr);
        self
    }

    /// The card or the error has this text.
    #[track_caller]
    pub(super) fn says(self, part: &str) -> Self {
        let both = format!("{}{}", self.stdout, self.stderr);
        assert!(both.contains(part), "{part:?} is not in:\n{both}");
        self
    }

    #[track_caller]
    pub(super) fn says_not(self, part: &str) -> Self {
        let both = format!("{}{}", self.stdout, self.stderr);
        assert!(!both.contains(part), "{part:?} is in:\n{both}");
        self
    }

    #[track_caller]
    pub(super) fn json(&self) -> Value {
        serde_json::from_str(&self.stdout)
            .unwrap_or_else(|error| panic!("{error}: {}{}", self.stdout, self.stderr))
    }
}
