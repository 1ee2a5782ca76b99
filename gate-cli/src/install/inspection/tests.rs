//! The contents of an agent's settings, and the faults in them. No hook is run.

use std::fs;

use gate_platform::symlink;
use tempfile::TempDir;

use super::*;
use crate::clients::{OffSwitch, OffValue};
use crate::install::client::Switch;
use crate::settings::Places;

/// A user's home with a folder of programs, a project, and gate's folder.
struct Machine {
    folder: TempDir,
    roots: Roots,
}

impl Machine {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        for name in ["home", "project", "bin"] {
            fs::create_dir(folder.path().join(name)).unwrap();
        }
        let path = |name: &str| folder.path().join(name);
        // A program of one's own, so that none is copied.
        fs::create_dir_all(path("home/.local/bin")).unwrap();
        symlink(running_program().unwrap(), path("home/.local/bin/gate")).unwrap();
        let variable = |name: &str, path: PathBuf| (name.to_owned(), path.display().to_string());
        let places = Places {
            folder: path("project"),
            data: Some(path("data")),
            environment: vec![variable("HOME", path("home")), variable("PATH", path("bin"))],
            ..Places::default()
        };
        let mut roots = Roots::new(&places).unwrap();
        roots.machine = path("machine");
        Self { folder, roots }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn write(&self, name: &str, text: &str) {
        fs::create_dir_all(self.path(name).parent().unwrap()).unwrap();
        fs::write(self.path(name), text).unwrap();
    }

    fn install(&self, agent: Agent, scope: Scope, trust: bool) {
        let program = HookProgram::new(&self.roots).unwrap();
        let roots = &self.roots;
        let options = InstallOptions { agent, scope, roots, program: &program, trust, fix: false };
        Plan::install(&options).unwrap().apply().unwrap();
    }

    fn fix(&self, agent: Agent) {
        for scope in outdated_scopes(agent, &self.roots).unwrap() {
            update(agent, scope, &self.roots).unwrap().apply().unwrap();
        }
    }

    fn inspect(&self, agent: Agent) -> Installs {
        let mut installs = inspect_files(agent, &self.roots, false).unwrap();
        installs.add_count_finding(agent);
        installs
    }

    fn codes(&self, agent: Agent) -> Vec<String> {
        self.inspect(agent).findings.into_iter().map(|finding| finding.code).collect()
    }

    /// The finding with this code: its level, message and hint.
    #[track_caller]
    fn finding(&self, agent: Agent, code: &str) -> (Level, String, Option<String>) {
        let mut findings = self.inspect(agent).findings.into_iter();
        let finding = findings.find(|finding| finding.code == code);
        let Finding { level, message, hint, .. } = finding.unwrap();
        (level, message, hint)
    }
}

const USER_SETTINGS: &str = "home/.claude/settings.json";

#[test]
fn an_installation_of_this_program_is_well() {
    let machine = Machine::new();
    assert_eq!(machine.codes(Agent::ClaudeCode), ["not-installed"]);
    machine.install(Agent::ClaudeCode, Scope::User, false);
    let installs = machine.inspect(Agent::ClaudeCode);
    let [place] = installs.places.as_slice() else { panic!("{:?}", installs.places) };
    assert_eq!((place.scope, place.this_program, place.trusted), (Scope::User, true, None));
    assert_eq!((place.session_start, place.prompt), (Some(true), true));
    assert_eq!(place.file, machine.path(USER_SETTINGS).display().to_string());
    assert_eq!(machine.codes(Agent::ClaudeCode), ["installed"]);
    assert_eq!(hook_state(Agent::ClaudeCode, &machine.roots), Ok(HookState::Current));
    assert_eq!(outdated_scopes(Agent::ClaudeCode, &machine.roots), Ok(Vec::new()));
}

const OLD_ENTRY: &str = r#"{"hooks":{"Stop":[{"hooks":[{"type":"command","command":"gate hook claude-code --deadline 540s","timeout":600}]}]}}"#;

#[test]
fn an_older_entry_says_what_it_lacks_and_is_brought_up_to_date() {
    let machine = Machine::new();
    machine.write(USER_SETTINGS, OLD_ENTRY);
    let expected = ["program-missing", "entry-outdated", "prompt-missing", "session-start-missing"];
    assert_eq!(machine.codes(Agent::ClaudeCode), expected);
    let fix = Some("gate doctor --agent claude-code --fix".to_owned());
    let file = machine.path(USER_SETTINGS).display().to_string();
    let message = format!("{file} calls gate, and there is no such program");
    assert_eq!(machine.finding(Agent::ClaudeCode, expected[0]), (Level::Problem, message, fix));
    assert_eq!(hook_state(Agent::ClaudeCode, &machine.roots), Ok(HookState::Outdated));
    machine.fix(Agent::ClaudeCode);
    assert_eq!(machine.codes(Agent::ClaudeCode), ["installed"]);
    Plan::uninstall(Agent::ClaudeCode, Scope::User, &machine.roots).unwrap().apply().unwrap();
    assert_eq!(
        fs::read_to_string(machine.path(USER_SETTINGS)).unwrap(),
        r#"{"hooks":{"Stop":[]}}"#
    );
}

#[test]
fn a_client_that_reports_stops_alone_lacks_no_other_event() {
    let machine = Machine::new();
    machine.write(USER_SETTINGS, OLD_ENTRY);
    let commands = Commands::unwritten(Agent::ClaudeCode);
    let mut target = targets(&commands, &machine.roots, Scope::User).remove(0);
    let events = |target: &Target| {
        let entry = find_entries(target).unwrap().remove(0);
        (entry.prompt, entry.session_start)
    };
    assert_eq!(events(&target), (Some(false), Some(false)));
    let Content::Hooks(forms) = &mut target.content else { panic!() };
    forms.retain(|form| form.moment == Moment::Stop);
    assert_eq!(events(&target), (None, None));
}

#[test]
fn a_program_in_path_is_another_one_if_it_is_not_this() {
    let machine = Machine::new();
    machine.write("bin/gate", "");
    machine.install(Agent::ClaudeCode, Scope::Shared, false);
    let place = machine.inspect(Agent::ClaudeCode).places.remove(0);
    let program = machine.path("bin/gate").display().to_string();
    assert_eq!((place.scope, place.program.as_deref()), (Scope::Shared, Some(program.as_str())));
    assert!(!place.this_program);
    let (level, message, hint) = machine.finding(Agent::ClaudeCode, "other-program");
    assert!(message.starts_with("that is another program than this one, /"), "{message}");
    assert_eq!((level, hint.as_deref()), (Level::Note, Some("gate install claude-code --shared")));
    let (_, message, _) = machine.finding(Agent::ClaudeCode, "installed");
    let file = machine.path("project/.claude/settings.json");
    let expected = format!("for everybody in this project, {} calls {program}", file.display());
    assert_eq!(message, expected);
}

#[test]
fn two_installations_are_reported_with_the_one_to_remove() {
    let machine = Machine::new();
    machine.install(Agent::ClaudeCode, Scope::User, false);
    machine.install(Agent::ClaudeCode, Scope::Project, false);
    assert_eq!(machine.codes(Agent::ClaudeCode), ["installed", "installed", "installed-twice"]);
    let (_, message, hint) = machine.finding(Agent::ClaudeCode, "installed-twice");
    assert_eq!(message, "gate is installed 2 times, and each one is asked at each stop");
    assert_eq!(hint.as_deref(), Some("gate uninstall claude-code --project"));
}

#[test]
fn settings_that_are_broken_are_not_called_missing() {
    let machine = Machine::new();
    machine.write(USER_SETTINGS, "{\n  \"hooks\": []\n}");
    let (level, message, _) = machine.finding(Agent::ClaudeCode, "settings-broken");
    let expected = "line 2: hooks is an array, and an object is expected; nothing was changed";
    assert_eq!((level, message.as_str()), (Level::Problem, expected));
    machine.write(USER_SETTINGS, "{}");
    fs::write(machine.path(USER_SETTINGS), b"{\n\n\xff").unwrap();
    let (_, message, _) = machine.finding(Agent::ClaudeCode, "settings-broken");
    let file = machine.path(USER_SETTINGS).display().to_string();
    let expected = format!("{file}, line 3: it is not UTF-8; nothing was changed");
    assert_eq!(message, expected);
    assert_eq!(machine.codes(Agent::ClaudeCode), ["settings-broken"]);
}

#[test]
fn a_file_that_the_client_does_not_read_is_a_problem() {
    let machine = Machine::new();
    machine.install(Agent::ClaudeCode, Scope::User, false);
    let text = fs::read_to_string(machine.path(USER_SETTINGS)).unwrap();
    machine.write(USER_SETTINGS, &format!("// mine\n{text}"));
    let (level, message, _) = machine.finding(Agent::ClaudeCode, "settings-unread");
    assert_eq!(level, Level::Problem);
    assert!(message.starts_with(&format!("{}, line 1: ", machine.path(USER_SETTINGS).display())));
    assert!(message.ends_with(": claude-code does not read such a file, and runs no hook of it"));
    machine.fix(Agent::ClaudeCode);
    assert_eq!(fs::read_to_string(machine.path(USER_SETTINGS)).unwrap(), text);
}

#[test]
fn codex_runs_what_it_trusts_as_it_stands() {
    let machine = Machine::new();
    machine.install(Agent::Codex, Scope::User, false);
    let trusted = || machine.inspect(Agent::Codex).places.remove(0).trusted;
    assert_eq!(trusted(), Some(false));
    let (level, message, hint) = machine.finding(Agent::Codex, "untrusted");
    assert!(level == Level::Problem && message.starts_with("present but untrusted: "), "{message}");
    assert!(hint.unwrap().contains("/hooks"));
    machine.install(Agent::Codex, Scope::User, true);
    assert_eq!(trusted(), Some(true));
    assert_eq!(machine.codes(Agent::Codex), ["installed", "trusted"]);
    let hooks = "home/.codex/hooks.json";
    let text = fs::read_to_string(machine.path(hooks)).unwrap();
    machine.write(hooks, &text.replacen("600", "60", 1));
    assert_eq!(trusted(), Some(false));
    let expected = ["installed", "entry-outdated", "untrusted"];
    assert_eq!(machine.codes(Agent::Codex), expected);
    machine.fix(Agent::Codex);
    assert_eq!(trusted(), Some(true), "the trust that gate gave is renewed with the entry");
}

#[test]
fn hooks_of_two_scopes_are_updated_and_trusted_and_lost_trust_is_renewed() {
    let machine = Machine::new();
    let files = ["home/.codex/hooks.json", "project/.codex/hooks.json"];
    for (scope, file) in [Scope::User, Scope::Project].into_iter().zip(files) {
        machine.install(Agent::Codex, scope, true);
        let text = fs::read_to_string(machine.path(file)).unwrap();
        machine.write(file, &text.replacen("600", "60", 1));
    }
    let trusted = || {
        let places = machine.inspect(Agent::Codex).places;
        places.iter().map(|place| place.trusted).collect::<Vec<_>>()
    };
    assert_eq!(trusted(), [Some(false), Some(false)]);
    machine.fix(Agent::Codex);
    assert_eq!(trusted(), [Some(true), Some(true)]);
    machine.write("home/.codex/config.toml", "");
    assert_eq!(hook_state(Agent::Codex, &machine.roots), Ok(HookState::Outdated));
    machine.fix(Agent::Codex);
    assert_eq!(trusted(), [Some(true), Some(true)]);
    assert_eq!(hook_state(Agent::Codex, &machine.roots), Ok(HookState::Current));
}

#[test]
fn hooks_that_codex_has_switched_off_are_not_run() {
    let machine = Machine::new();
    machine.install(Agent::Codex, Scope::User, true);
    let config = "home/.codex/config.toml";
    let text = fs::read_to_string(machine.path(config)).unwrap();
    machine.write(config, &format!("{text}\n[features]\nhooks = false\n"));
    let (level, message, _) = machine.finding(Agent::Codex, "hooks-off");
    let file = machine.path(config).display().to_string();
    let expected = format!("{file}: features.hooks = false: the hook is not run");
    assert_eq!((level, message), (Level::Problem, expected));
    machine.write(config, &format!("{text}\n[features]\nhooks = true\n"));
    assert_eq!(machine.codes(Agent::Codex), ["installed", "trusted"]);
}

#[test]
fn a_setting_switches_hooks_off_by_its_value_alone() {
    let machine = Machine::new();
    let off_message = |value: &OffValue, text: &str| {
        machine.write("s.json", text);
        let member = vec!["hooks".to_owned(), "off".to_owned()];
        let setting = &OffSwitch { member, value: value.clone() };
        let switch = Switch { file: machine.path("s.json"), setting };
        switched_off(&switch).map(|finding| finding.message)
    };
    let file = machine.path("s.json").display().to_string();
    let message = |value: &str| Some(format!("{file}: hooks.off = {value}: the hook is not run"));
    let off = &OffValue::Is(true);
    assert_eq!(off_message(off, r#"{"hooks": {"off": true}}"#), message("true"));
    assert_eq!(off_message(off, "\u{feff}{\"hooks\": {\"off\": true}} // all"), message("true"));
    assert_eq!(off_message(off, r#"{"hooks": {"off": "true"}}"#), None);
    assert_eq!(off_message(off, r#"{"hooks": true}"#), None);
    assert_eq!(off_message(off, "{"), None);
    let listed = &OffValue::Lists("gate".to_owned());
    assert_eq!(
        off_message(listed, r#"{"hooks":{"off":["x","gate"]}}"#),
        message(r#"["x","gate"]"#)
    );
    assert_eq!(off_message(listed, r#"{"hooks":{"off":["gate2"]}}"#), None);
    assert_eq!(off_message(listed, r#"{"hooks":{"off":"gate"}}"#), None);
}

#[test]
fn a_client_without_a_program_or_a_file_of_its_own_is_not_here() {
    let machine = Machine::new();
    let is_here = || is_here(Agent::ClaudeCode, &machine.roots);
    assert!(!is_here());
    machine.install(Agent::ClaudeCode, Scope::User, false);
    assert!(!is_here(), "there is only what gate itself has made");
    let finding = missing_client(Agent::ClaudeCode, &machine.roots);
    let expected = format!(
        "claude-code seems not to be installed here: there is no claude in PATH, and nothing of \
         its own in {}",
        machine.path("home/.claude").display()
    );
    assert_eq!((finding.level, finding.message), (Level::Note, expected));
    machine.write("home/.claude/history.jsonl", "");
    assert!(is_here());
    fs::remove_file(machine.path("home/.claude/history.jsonl")).unwrap();
    machine.write("bin/claude", "");
    assert!(is_here());
}

#[test]
fn a_plug_in_that_is_switched_on_is_inspected_with_its_own_remedy() {
    let machine = Machine::new();
    let plugin = machine.path("plugins/gate");
    machine.write("plugins/gate/hooks/hooks.json", OLD_ENTRY);
    let installed = format!(
        r#"{{"plugins":{{"gate@shop":[{{"installPath":"/gone"}},{{"installPath":"{}"}}]}}}}"#,
        plugin.display()
    );
    machine.write("home/.claude/plugins/installed_plugins.json", &installed);
    assert_eq!(machine.codes(Agent::ClaudeCode), ["not-installed"]);
    machine.write(USER_SETTINGS, r#"{"enabledPlugins":{"gate@shop":true,"other@shop":true}}"#);
    let place = machine.inspect(Agent::ClaudeCode).places.remove(0);
    assert_eq!((place.scope, place.plugin.as_deref()), (Scope::User, Some("gate@shop")));
    let (_, _, hint) = machine.finding(Agent::ClaudeCode, "entry-outdated");
    assert_eq!(hint.as_deref(), Some("claude plugin update gate@shop"));
    let state = hook_state(Agent::ClaudeCode, &machine.roots);
    assert_eq!(state, Ok(HookState::Current), "it is not gate's to mend");
    let off = r#"{"enabledPlugins":{"gate@shop":false}}"#;
    machine.write("project/.claude/settings.local.json", off);
    assert_eq!(machine.codes(Agent::ClaudeCode), ["not-installed"], "the narrower one overrules");
}
