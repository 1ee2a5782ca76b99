//! An installation that is taken back leaves no trace, to the byte.

use std::fs;

use proptest::prelude::*;
use serde_json::Value;
use tempfile::TempDir;

use super::super::hooks::tests::document;
use super::*;
use crate::clients::facts;
use crate::settings::Places;

/// A user's home, a project, and gate's folder.
struct Machine {
    folder: TempDir,
    roots: Roots,
}

impl Machine {
    fn new() -> Self {
        let folder = TempDir::new().unwrap();
        let create_folder = |name: &str| {
            let path = folder.path().join(name);
            fs::create_dir(&path).unwrap();
            path
        };
        let home = create_folder("home");
        let places = Places {
            folder: create_folder("project"),
            data: Some(folder.path().join("data")),
            environment: vec![("HOME".to_owned(), home.display().to_string())],
            ..Places::default()
        };
        let mut roots = Roots::new(&places).unwrap();
        roots.machine = create_folder("machine");
        Self { folder, roots }
    }

    fn install(&self, agent: Agent, scope: Scope) -> Plan {
        let program = &HookProgram::at("/opt/a b/gate");
        let trust = agent == Agent::Codex;
        let options =
            InstallOptions { agent, scope, roots: &self.roots, program, trust, fix: true };
        let plan = Plan::install(&options).unwrap();
        plan.apply().unwrap();
        plan
    }

    /// Installs as an older gate did: the stop hook alone.
    fn install_older(&self, agent: Agent, scope: Scope) {
        let program = &HookProgram::at("/opt/a b/gate");
        let options =
            InstallOptions { agent, scope, roots: &self.roots, program, trust: true, fix: true };
        let commands = Commands::new(agent, scope, &program.path);
        for mut target in targets(&commands, &self.roots, scope) {
            if let Content::Hooks(forms) = &mut target.content {
                forms.truncate(1);
                let command = format!("gate hook {} --deadline 540s", agent.name());
                let key = forms[0].facts.command.clone();
                forms[0].entry.insert(key, command.into());
                forms[0].entry.remove("statusMessage");
            }
            let step = install_step(&options, &target, &target.file).unwrap();
            step.apply().unwrap();
            if agent == Agent::Codex
                && let Some(trust) = trust_target(&self.roots, &target, &step)
            {
                install_step(&options, &trust, &target.file).unwrap().apply().unwrap();
            }
        }
        for receipt in fs::read_dir(self.roots.data.join("installed")).unwrap() {
            let path = receipt.unwrap().path();
            if path.extension().is_some_and(|extension| extension == "json") {
                let mut receipt: Value = serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
                receipt["trust"] = receipt["trust"].get(0).cloned().unwrap_or_default();
                fs::write(&path, receipt.to_string()).unwrap();
            }
        }
    }

    fn uninstall(&self, agent: Agent, scope: Scope) {
        Plan::uninstall(agent, scope, &self.roots).unwrap().apply().unwrap();
    }

    /// All files and folders, with the bytes of files.
    fn contents(&self) -> Vec<(PathBuf, Option<Vec<u8>>)> {
        let mut contents = Vec::new();
        let mut folders = vec![self.folder.path().to_owned()];
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(folder).unwrap() {
                let path = entry.unwrap().path();
                let bytes = path.is_file().then(|| fs::read(&path).unwrap());
                if bytes.is_none() && path != self.roots.data {
                    folders.push(path.clone());
                }
                contents.push((path, bytes));
            }
        }
        contents.retain(|(path, _)| *path != self.roots.data);
        contents.sort();
        contents
    }
}

/// The scopes that the client has settings for.
fn scopes(agent: Agent) -> impl Iterator<Item = Scope> {
    let has_managed = facts(agent).settings.managed.is_some();
    Scope::ALL.into_iter().filter(move |scope| *scope != Scope::Managed || has_managed)
}

/// The last of the files that gate is put into.
fn file_of(agent: Agent, roots: &Roots, scope: Scope) -> PathBuf {
    targets(&Commands::unwritten(agent), roots, scope).pop().unwrap().file
}

/// Installs and uninstalls, each of them twice, over a file with these bytes.
fn round_trip(agent: Agent, scope: Scope, bytes: Option<&[u8]>) {
    let machine = Machine::new();
    let file = file_of(agent, &machine.roots, scope);
    if let Some(bytes) = bytes {
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(&file, bytes).unwrap();
    }
    let original = machine.contents();
    assert!(machine.install(agent, scope).is_change());
    assert_ne!(machine.contents(), original);
    assert!(!machine.install(agent, scope).is_change(), "a second time changes nothing");
    machine.uninstall(agent, scope);
    assert_eq!(machine.contents(), original);
    machine.uninstall(agent, scope);
    assert_eq!(machine.contents(), original);
}

#[test]
fn what_was_not_there_is_gone_again() {
    for agent in Agent::ALL {
        for scope in scopes(agent) {
            round_trip(agent, scope, None);
        }
    }
}

/// The agents whose hooks stand in JSON.
fn agents_with_entries() -> impl Iterator<Item = Agent> {
    Agent::ALL.into_iter().filter(|agent| facts(*agent).settings.entry.is_some())
}

#[test]
fn an_older_installation_is_completed_and_goes_whole() {
    for agent in agents_with_entries() {
        let entry_count = facts(agent).settings.installs.len();
        for scope in scopes(agent) {
            for text in [None, Some("{ \"a\": [] }\r\n")] {
                let machine = Machine::new();
                let file = file_of(agent, &machine.roots, scope);
                if let Some(text) = text {
                    fs::create_dir_all(file.parent().unwrap()).unwrap();
                    fs::write(&file, text).unwrap();
                }
                let original = machine.contents();
                machine.install_older(agent, scope);
                let entries = || fs::read_to_string(&file).unwrap().matches("--deadline").count();
                assert_eq!(entries(), 1, "{}", agent.name());
                assert!(machine.install(agent, scope).is_change());
                assert_eq!(entries(), entry_count, "{}", agent.name());
                machine.uninstall(agent, scope);
                assert_eq!(machine.contents(), original, "{}", agent.name());
            }
        }
    }
}

#[test]
fn strange_files_are_as_they_were() {
    for text in
        ["", "\n", "{}", "{}\r\n", "\u{feff}{\r\n\t\"a\": 1\r\n}", "// mine", "{ \"a\": [] }"]
    {
        for agent in [Agent::ClaudeCode, Agent::Codex, Agent::Cursor, Agent::Copilot] {
            round_trip(agent, Scope::User, Some(text.as_bytes()));
        }
    }
}

#[test]
fn a_changed_file_loses_gates_part_alone() {
    for agent in agents_with_entries() {
        let machine = Machine::new();
        let file = file_of(agent, &machine.roots, Scope::User);
        machine.install(agent, Scope::User);
        let text = fs::read_to_string(&file).unwrap();
        fs::write(&file, text.replacen("{\n", "{\n  \"mine\": true,\n", 1)).unwrap();
        machine.uninstall(agent, Scope::User);
        assert_eq!(
            fs::read_to_string(&file).unwrap(),
            "{\n  \"mine\": true\n}\n",
            "{}",
            agent.name()
        );
    }
}

#[test]
fn what_was_written_between_two_installations_stays() {
    let machine = Machine::new();
    let file = machine.roots.home.join(".claude/settings.json");
    machine.install(Agent::ClaudeCode, Scope::User);
    let text = fs::read_to_string(&file).unwrap().replacen("{\n", "{\n  \"mine\": true,\n", 1);
    fs::write(&file, text.replace("540s", "54s")).unwrap();
    machine.install(Agent::ClaudeCode, Scope::User);
    machine.uninstall(Agent::ClaudeCode, Scope::User);
    assert_eq!(fs::read_to_string(&file).unwrap(), "{\n  \"mine\": true\n}\n");
}

#[test]
fn a_backup_that_is_another_is_not_put_back() {
    let machine = Machine::new();
    let file = machine.roots.home.join(".claude/settings.json");
    fs::create_dir_all(file.parent().unwrap()).unwrap();
    fs::write(&file, "{\"a\":1}").unwrap();
    let plan = machine.install(Agent::ClaudeCode, Scope::User);
    fs::write(plan.steps[0].backup().unwrap(), "{\"evil\":1}").unwrap();
    machine.uninstall(Agent::ClaudeCode, Scope::User);
    assert_eq!(
        fs::read_to_string(&file).unwrap(),
        "{\"a\":1,\"hooks\":{\"Stop\":[], \"SessionStart\": [], \"UserPromptSubmit\": [], \"SessionEnd\": []}}"
    );
}

#[test]
fn two_trusts_in_one_file_go_one_by_one() {
    let machine = Machine::new();
    let config = machine.roots.home.join(".codex/config.toml");
    fs::create_dir_all(config.parent().unwrap()).unwrap();
    fs::write(&config, "model = \"x\"\n").unwrap();
    machine.install(Agent::Codex, Scope::User);
    machine.install(Agent::Codex, Scope::Project);
    assert_eq!(fs::read_to_string(&config).unwrap().matches("trusted_hash").count(), 6);
    machine.uninstall(Agent::Codex, Scope::User);
    let text = fs::read_to_string(&config).unwrap();
    for event in ["stop", "session_start", "user_prompt_submit"] {
        let key = format!("project/.codex/hooks.json:{event}:0:0");
        assert!(text.contains(&key), "{text}");
    }
    assert_eq!(text.matches("trusted_hash").count(), 3);
    machine.uninstall(Agent::Codex, Scope::Project);
    assert_eq!(fs::read_to_string(&config).unwrap(), "model = \"x\"\n");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    #[test]
    fn any_settings_are_as_they_were(text in document(), bom in any::<bool>()) {
        let text = format!("{}{text}", if bom { "\u{feff}" } else { "" });
        round_trip(Agent::ClaudeCode, Scope::Project, Some(text.as_bytes()));
    }
}
