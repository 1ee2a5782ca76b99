//! A client's run in a project, from its prompt to its end.

use std::fs::{self, File};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use super::client::{CheckSite, Client};
use super::ended::Ended;
use super::model::{Model, Reply};
use super::network::Alone;
use crate::needs::client_program;
use crate::support::clients::{agents, facts, text};
use crate::support::{GATE, Ran, Run};
use rustix::process::{Pid, Signal, kill_process_group};

/// After this time a client is killed with all its processes, and its test fails.
const PATIENCE: Duration = Duration::from_secs(300);

/// The person's prompt.
const PROMPT: &str = "The shelf is crooked. Mend it.";

/// A client, a project, gate's place in it and the replies of the model.
pub(crate) struct Session {
    client: &'static Client,
    project: Ran,
    way: Way,
    prompt: &'static str,
    /// More arguments for the client.
    arguments: Vec<&'static str>,
    /// The client runs in a terminal, until the session's file has this word.
    last_word: Option<&'static str>,
    script: Vec<Reply>,
}

/// The way in which a client comes to ask gate.
enum Way {
    /// A command as the stop hook.
    Hook(String),
    /// `gate install`, and `gate uninstall` afterwards.
    Installed,
    /// A plug-in, put in by these calls of the client itself.
    Plugin(Vec<Vec<String>>),
    /// `gate run` around the client, and no hook inside.
    Loop,
}

impl Session {
    /// With `gate hook` as the hook at the agent's stop.
    #[track_caller]
    pub(crate) fn new(client: &'static Client, project: Run, script: &[Reply]) -> Self {
        let way = Way::Hook(format!("{GATE} hook {}", client.name));
        let (project, script) = (project.code(0), script.to_vec());
        let (prompt, arguments) = (PROMPT, Vec::new());
        Self { client, project, way, prompt, arguments, last_word: None, script }
    }

    /// With more words on the client's own command line.
    pub(crate) fn started_with(mut self, words: &[&'static str]) -> Self {
        self.arguments = words.to_vec();
        self
    }

    /// With another prompt of the person.
    pub(crate) fn prompt(mut self, prompt: &'static str) -> Self {
        self.prompt = prompt;
        self
    }

    /// With more words behind `gate hook AGENT`.
    pub(crate) fn with(self, words: &str) -> Self {
        let command = format!("{GATE} hook {} {words}", self.client.name);
        self.hook(&command)
    }

    /// In a terminal, as with a person, until the client's file of the session has this word.
    pub(crate) fn in_a_terminal_until(mut self, word: &'static str) -> Self {
        self.last_word = Some(word);
        self
    }

    /// With another command as the hook.
    pub(crate) fn hook(mut self, command: &str) -> Self {
        self.way = Way::Hook(command.to_owned());
        self
    }

    /// With the hook that `gate install` writes, and takes away afterwards.
    pub(crate) fn installed(mut self) -> Self {
        self.way = Way::Installed;
        self
    }

    /// With a plug-in that the client's own commands put in, one a line.
    pub(crate) fn plugin(mut self, calls: &[&[&str]]) -> Self {
        let words = |call: &&[&str]| call.iter().map(|&word| word.to_owned()).collect();
        self.way = Way::Plugin(calls.iter().map(words).collect());
        self
    }

    /// With `gate run` around it instead of a hook.
    pub(crate) fn looped(mut self) -> Self {
        self.way = Way::Loop;
        self
    }

    /// Runs the client until it ends by itself, in a network of its own if the machine allows one. A
    /// network belongs to a thread, so the client runs in another one.
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
            hook: match &self.way {
                Way::Hook(command) => Some(command),
                Way::Loop => Some("true"),
                Way::Installed | Way::Plugin(_) => None,
            },
            prompt: self.prompt,
            alone: alone.is_some(),
        };
        let mut command = (self.client.start)(&site);
        command.args(&self.arguments);
        let mut installation = None;
        match &self.way {
            Way::Hook(_) => {}
            Way::Installed => {
                installation = Some(Installation::new(&self.project, self.client.name));
            }
            Way::Plugin(calls) => calls.iter().for_each(|call| add_plugin(&site, call)),
            Way::Loop => command = looped(&command, &work),
        }
        let (out, err) = (home.join("stdout"), home.join("stderr"));
        command.stdout(File::create(&out).unwrap()).stderr(File::create(&err).unwrap());
        let code = match self.last_word {
            Some(word) => {
                watch(&command, self.prompt, &home, word);
                None
            }
            None => finish(&mut command),
        };
        if let Some(installation) = installation {
            installation.undo();
        }
        let output =
            [out, err].map(|path| String::from_utf8_lossy(&fs::read(path).unwrap()).into_owned());
        Ended { code, asked: model.asked(), said: output.join("\n"), project: self.project }
    }
}

/// A call of the client that adds its plug-in.
fn add_plugin(site: &CheckSite<'_>, words: &[String]) {
    let output = site.command().args(words).stdin(Stdio::null()).output().unwrap();
    let texts = [output.stdout, output.stderr];
    let texts = texts.map(|text| String::from_utf8_lossy(&text).into_owned());
    assert!(output.status.success(), "{words:?}: {}", texts.join("\n"));
}

/// Claude Code in a terminal of its own, with a prompt that was typed, until a file of its session has
/// this word, and for some seconds more.
fn watch(client: &Command, prompt: &str, home: &Path, word: &str) {
    let program = client.get_program().to_str().unwrap();
    let server = format!("gate-{}", std::process::id());
    let tmux = |args: &[&str]| {
        let mut command = Command::new("tmux");
        command.args(["-L", &server]).args(args).env_clear();
        command.current_dir(client.get_current_dir().unwrap());
        command.envs(client.get_envs().filter_map(|(name, value)| Some((name, value?))));
        // A key of the environment would have to be confirmed.
        command.env_remove("ANTHROPIC_API_KEY").env("ANTHROPIC_AUTH_TOKEN", "fake");
        command.env("TERM", "xterm-256color").stdin(Stdio::null());
        command.output().unwrap()
    };
    let line = format!("exec '{program}' '{prompt}'");
    let output = tmux(&["new-session", "-d", "-x", "130", "-y", "50", &line]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let deadline = Instant::now() + PATIENCE / 2;
    let has_word = || {
        let mut search = Command::new("grep");
        search.args(["-rqs", word]).arg(home.join(".claude/projects"));
        search.status().is_ok_and(|status| status.success())
    };
    while !has_word() && Instant::now() < deadline {
        thread::sleep(Duration::from_millis(500));
    }
    thread::sleep(Duration::from_secs(8));
    let screen = tmux(&["capture-pane", "-p"]);
    fs::write(home.join("stdout"), screen.stdout).unwrap();
    let _ = tmux(&["kill-server"]);
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
struct Installation<'p> {
    project: &'p Ran,
    agent: &'static str,
    /// The settings of all clients before; `None` for a file that did not exist.
    old_settings: Vec<Option<Vec<u8>>>,
}

/// The users' settings of all clients, below the home.
fn settings_files() -> Vec<String> {
    let users = agents().map(|agent| text(&facts(agent)["settings"], "user"));
    let users = users.map(|file| file.replace("$XDG_CONFIG_HOME", "~/.config"));
    let paths = users.chain(["~/.codex/config.toml".to_owned()]);
    paths.map(|file| file.trim_start_matches("~/").to_owned()).collect()
}

impl<'p> Installation<'p> {
    fn new(project: &'p Ran, agent: &'static str) -> Self {
        let old_settings = settings(project);
        let trust = if agent == "codex" { " --trust" } else { "" };
        run(project, &format!("install {agent}{trust}"));
        assert_ne!(settings(project), old_settings);
        Self { project, agent, old_settings }
    }

    fn undo(self) {
        run(self.project, &format!("uninstall {}", self.agent));
        let contents = self.old_settings.iter().zip(settings(self.project));
        for (name, (old, new)) in settings_files().iter().zip(contents) {
            let text = new.as_deref().map(String::from_utf8_lossy);
            assert!(*old == new, "{name} is {text:?}");
        }
    }
}

fn settings(project: &Ran) -> Vec<Option<Vec<u8>>> {
    let files = settings_files().into_iter();
    files.map(|name| fs::read(project.home().join(name)).ok()).collect()
}

#[track_caller]
fn run(project: &Ran, words: &str) {
    let output = project.beside(words).output().unwrap();
    assert!(output.status.success(), "{words}: {}", String::from_utf8_lossy(&output.stderr));
}

/// Runs a command as a group of processes, and kills those that are left at its end.
fn finish(command: &mut Command) -> Option<i32> {
    let mut child = command.stdin(Stdio::null()).process_group(0).spawn().unwrap();
    let group = Pid::from_child(&child);
    let start = Instant::now();
    let status = loop {
        if let Some(status) = child.try_wait().unwrap() {
            break Some(status);
        }
        if start.elapsed() > PATIENCE {
            break None;
        }
        thread::sleep(Duration::from_millis(20));
    };
    let _ = kill_process_group(group, Signal::KILL);
    let _ = child.wait();
    status.expect("it ends in time").code()
}
