//! A client's run in a project, from its prompt to its end.

use std::fs::{self, File};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process_group};
use serde_json::Value;

use super::client::{CheckSite, Client};
use super::model::{Model, Reply};
use super::network::Alone;
use crate::needs::client_program;
use crate::support::before::changes;
use crate::support::{GATE, Ran, Run};

/// After this time a client is killed with all that it started, and its test
/// fails.
const PATIENCE: Duration = Duration::from_secs(300);

/// What the person asks for.
const PROMPT: &str = "The shelf is crooked. Mend it.";

/// A client, a project, a hook and what the model will say.
pub(crate) struct Session {
    client: &'static Client,
    project: Ran,
    hook: Option<String>,
    script: Vec<Reply>,
    /// Whether `gate run` is around it, and no hook inside.
    looped: bool,
}

/// What came of it.
pub(crate) struct Ended {
    project: Ran,
    /// The client's own exit code.
    pub(crate) code: Option<i32>,
    /// What its model was asked, in order.
    asked: Vec<Value>,
    /// What it printed.
    said: String,
}

impl Session {
    /// With `gate hook` as what runs where the agent stops.
    #[track_caller]
    pub(crate) fn new(client: &'static Client, project: Run, script: &[Reply]) -> Self {
        let hook = Some(format!("{GATE} hook {}", client.name));
        Self { client, project: project.code(0), hook, script: script.to_vec(), looped: false }
    }

    /// With more words behind `gate hook AGENT`.
    pub(crate) fn with(mut self, words: &str) -> Self {
        self.hook = self.hook.map(|hook| format!("{hook} {words}"));
        self
    }

    /// With another command as the hook.
    pub(crate) fn hook(mut self, command: &str) -> Self {
        self.hook = Some(command.to_owned());
        self
    }

    /// With what `gate install` writes as the hook, and takes away afterwards.
    pub(crate) fn installed(mut self) -> Self {
        self.hook = None;
        self
    }

    /// With `gate run` around it instead of a hook.
    pub(crate) fn looped(mut self) -> Self {
        self.looped = true;
        self.hook("true")
    }

    /// Runs the client until it ends by itself, in a network of its own where
    /// the machine allows one: a thread is what has a network.
    #[track_caller]
    pub(crate) fn run(self) -> Ended {
        thread::scope(|scope| scope.spawn(|| self.run_here()).join()).expect("it ended by itself")
    }

    fn run_here(self) -> Ended {
        let alone = Alone::enter();
        let model = Model::start(&self.script, self.client.shell);
        let (home, work) = (self.project.home(), self.project.path(""));
        let url = model.url();
        let site = CheckSite {
            program: client_program(self.client.name, self.client.program).unwrap(),
            home: &home,
            work: &work,
            model: &url,
            hook: self.hook.as_deref(),
            prompt: PROMPT,
            alone: alone.is_some(),
        };
        let mut command = (self.client.start)(&site);
        let installed =
            self.hook.is_none().then(|| Installed::new(&self.project, self.client.name));
        if self.looped {
            command = looped(&command, &work);
        }
        let (out, err) = (home.join("stdout"), home.join("stderr"));
        command.stdout(File::create(&out).unwrap()).stderr(File::create(&err).unwrap());
        let code = finish(&mut command);
        if let Some(installed) = installed {
            installed.undo();
        }
        let said =
            [out, err].map(|path| String::from_utf8_lossy(&fs::read(path).unwrap()).into_owned());
        Ended { code, asked: model.asked(), said: said.join("\n"), project: self.project }
    }
}

/// `gate run` around a client's command, in its environment.
fn looped(client: &Command, work: &Path) -> Command {
    let mut command = Command::new(GATE);
    command.args(["run", "--task", "t1", "--prompt", "PROMPT.md", "--json", "--"]);
    command.arg(client.get_program()).args(client.get_args()).current_dir(work).env_clear();
    command.envs(client.get_envs().filter_map(|(name, value)| Some((name, value?))));
    command
}

/// gate, put in front of a client's stop by its own command.
struct Installed<'p> {
    project: &'p Ran,
    agent: &'static str,
    /// The client's settings before, as far as there are any.
    before: Vec<Option<Vec<u8>>>,
}

/// Where the clients have their settings, below the home.
const SETTINGS: [&str; 8] = [
    ".claude/settings.json",
    ".codex/hooks.json",
    ".codex/config.toml",
    ".config/opencode/plugins/gate.js",
    ".copilot/hooks/gate.json",
    ".factory/settings.json",
    ".gemini/settings.json",
    ".qwen/settings.json",
];

impl<'p> Installed<'p> {
    fn new(project: &'p Ran, agent: &'static str) -> Self {
        let before = settings(project);
        let trust = if agent == "codex" { " --trust" } else { "" };
        run(project, &format!("install {agent}{trust}"));
        assert_ne!(settings(project), before);
        Self { project, agent, before }
    }

    fn undo(self) {
        run(self.project, &format!("uninstall {}", self.agent));
        let after = settings(self.project);
        for ((name, before), after) in SETTINGS.iter().zip(&self.before).zip(&after) {
            assert!(
                before == after,
                "{name} is {:?}",
                after.as_deref().map(String::from_utf8_lossy)
            );
        }
    }
}

fn settings(project: &Ran) -> Vec<Option<Vec<u8>>> {
    SETTINGS.iter().map(|name| fs::read(project.home().join(name)).ok()).collect()
}

#[track_caller]
fn run(project: &Ran, words: &str) {
    let ran = project.beside(words).output().unwrap();
    assert!(ran.status.success(), "{words}: {}", String::from_utf8_lossy(&ran.stderr));
}

/// Runs it as a group, nothing of which is left.
fn finish(command: &mut Command) -> Option<i32> {
    let mut child = command.stdin(Stdio::null()).process_group(0).spawn().unwrap();
    let group = Pid::from_child(&child);
    let began = Instant::now();
    let status = loop {
        if let Some(status) = child.try_wait().unwrap() {
            break Some(status);
        }
        if began.elapsed() > PATIENCE {
            break None;
        }
        thread::sleep(Duration::from_millis(20));
    };
    let _ = kill_process_group(group, Signal::KILL);
    let _ = child.wait();
    status.expect("it ends in time").code()
}

impl Ended {
    /// What there is to see where a test fails: the end of each question, and
    /// of what the client printed.
    fn seen(&self) -> String {
        let asked = self.asked.iter().map(|asked| tail(&conversation(asked), 300));
        let asked: Vec<_> = asked.collect();
        format!("asked: {asked:#?}\nprinted: {}", tail(&self.said, 3000))
    }

    /// The program ended with this code.
    #[track_caller]
    pub(crate) fn code(self, code: i32) -> Self {
        assert_eq!(self.code, Some(code), "{}", self.seen());
        self
    }

    /// The client ended well, after its model had been asked so many times.
    #[track_caller]
    pub(crate) fn asked(self, times: std::ops::RangeInclusive<usize>) -> Self {
        let asked = self.asked.len();
        assert!(times.contains(&asked), "asked {asked} times, not {times:?}:\n{}", self.seen());
        assert_eq!(self.code, Some(0), "{}", self.seen());
        self
    }

    /// In this call, counted from 0, the model read this for the first time.
    #[track_caller]
    pub(crate) fn reads(self, call: usize, text: &str) -> Self {
        let first = self.asked.iter().position(|asked| asked.to_string().contains(text));
        assert_eq!(first, Some(call), "{text:?}:\n{}", self.seen());
        self
    }

    /// `gate last` ends with this code in the project: 5 where nothing was
    /// recorded.
    #[track_caller]
    pub(crate) fn last(self, code: i32) -> Self {
        let last = self.project.beside("last").output().unwrap();
        let shown = String::from_utf8_lossy(&last.stdout);
        assert_eq!(last.status.code(), Some(code), "{shown}\n{}", self.seen());
        self
    }

    /// The last stop was let go without an `exit`, after this was seen; nothing has
    /// passed.
    #[track_caller]
    pub(crate) fn released(self, kind: &str) -> Self {
        let last = self.project.beside("last --json").output().unwrap();
        let shown = String::from_utf8_lossy(&last.stdout);
        let decision: Value = serde_json::from_str(&shown).unwrap_or_default();
        assert_eq!(decision["released"], kind, "{shown}\n{}", self.seen());
        self.last(1).never_passed()
    }

    /// No decision was ever recorded that lets the work count as done.
    #[track_caller]
    pub(crate) fn never_passed(self) -> Self {
        let log = self.project.beside("ledger export").output().unwrap();
        let lines = String::from_utf8_lossy(&log.stdout);
        let passed = lines.lines().find(|line| {
            let record: Value = serde_json::from_str(line).unwrap();
            record.pointer("/body/decision/verdict") == Some(&"exit".into())
        });
        assert_eq!(passed, None, "{}", self.seen());
        self
    }

    /// The files that were changed since the session began, as the baseline says that
    /// was taken first of all, and that the last decision names.
    #[track_caller]
    pub(crate) fn changed(&self) -> Vec<String> {
        let log = self.project.beside("ledger export").output().unwrap();
        let lines = String::from_utf8_lossy(&log.stdout).into_owned();
        let records: Vec<Value> =
            lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        let began = records.first().filter(|record| record["type"] == "hook_baseline");
        let began = began.unwrap_or_else(|| panic!("{lines}\n{}", self.seen()));
        let decided = records.iter().rfind(|record| record["body"].get("decision").is_some());
        let decision = &decided.unwrap_or_else(|| panic!("{lines}"))["body"]["decision"];
        assert_eq!(decision["baseline"], began["body"]["baseline"], "{lines}");
        changes(&self.project, began["body"]["session"].as_str().unwrap())
    }

    /// A file of the project.
    pub(crate) fn file(&self, name: &str) -> String {
        self.project.file(name)
    }
}

/// The part of a question that grows from one to the next.
fn conversation(asked: &Value) -> String {
    let names = ["messages", "input", "contents"];
    let list = names.into_iter().find_map(|name| asked.get(name));
    list.unwrap_or(asked).to_string()
}

/// So many characters of the end.
fn tail(text: &str, length: usize) -> String {
    let skipped = text.chars().count().saturating_sub(length);
    text.chars().skip(skipped).collect()
}
