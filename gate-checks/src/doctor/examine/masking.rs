//! Scripts that end with code 0 after a failure.
//!
//! Only common spellings are known; the self-test shows the others.

use std::path::Path;

use gate_core::decide::policy::CheckPolicy;

use crate::doctor::finding::{Finding, note, problem};

/// Commands behind `||` that hide a failure.
const FALLBACKS: [&str; 5] = ["true", ":", "exit 0", "echo", "printf"];

/// The parts of a check's script that hide a failure.
pub(super) fn masks(settings: &CheckPolicy) -> Vec<Finding> {
    let Some(script) = Script::new(settings) else { return Vec::new() };
    let mut findings = Vec::new();
    if let Some(mask) = script.mask_of_exit_code() {
        findings.push(masked(&mask));
    } else if let Some(mask) = script.mask_inside() {
        let message = format!("`{mask}` in its script hides a failure of what stands before it");
        findings
            .push(note("failure-hidden", message).hint("make sure that nothing else is hidden"));
    }
    if !script.heeds_pipes && has_pipe(&script.text) {
        findings.push(masked("|").hint("write `set -o pipefail` first, or use `shell = true`"));
    }
    findings
}

fn masked(mask: &str) -> Finding {
    let message = format!("`{mask}` hides the exit code: its script ends well whatever happened");
    problem("exit-code-masked", message).hint(format!("take `{mask}` away"))
}

/// The script of a check.
struct Script {
    text: String,
    /// The script ends with the first command that fails.
    stops: bool,
    /// A pipe fails with any of its programs.
    heeds_pipes: bool,
}

impl Script {
    /// Gate's own shell stops at failures and heeds pipes; a shell that the command names does so
    /// only with the options for it.
    fn new(settings: &CheckPolicy) -> Option<Self> {
        if settings.shell {
            let text = settings.command.join("\n");
            let stops = !(text.contains("set +e") || text.contains("set +o errexit"));
            let heeds_pipes = !text.contains("set +o pipefail");
            return Some(Self { text, stops, heeds_pipes });
        }
        let (program, words) = settings.command.split_first()?;
        let program_name = Path::new(program).file_name()?.to_str()?;
        let is_shell = matches!(program_name, "sh" | "bash" | "dash" | "zsh" | "ksh");
        let options: Vec<_> =
            words.iter().take_while(|word| word.starts_with('-')).map(String::as_str).collect();
        let short_options: String =
            options.iter().filter(|word| !word.starts_with("--")).copied().collect();
        // `-o` takes the word after it, so the script comes later.
        let script = words.iter().skip(options.len()).find(|word| word.contains([' ', '\n']));
        let text = script.or(words.last())?.clone();
        let stops =
            short_options.contains('e') || text.contains("set -e") || text.contains("errexit");
        let heeds_pipes = words.iter().any(|word| word.contains("pipefail"));
        let runs_text = short_options.contains('c') || words.iter().any(|word| word == "-c");
        (is_shell && runs_text).then_some(Self { text, stops, heeds_pipes })
    }

    /// The part that masks the exit code of the whole.
    fn mask_of_exit_code(&self) -> Option<String> {
        let trap = self.text.lines().map(str::trim).find(|line| {
            line.starts_with("trap ") && line.contains("exit 0") && line.contains("EXIT")
        });
        if let Some(trap) = trap {
            return Some(trap.to_owned());
        }
        let last_command = self.commands().last()?;
        // A shell that stops at failures does not come to the last command.
        if last_command == "exit 0" && !self.stops {
            return Some("; exit 0".to_owned());
        }
        fallback(last_command)
    }

    /// The part that hides a failure somewhere inside.
    fn mask_inside(&self) -> Option<String> {
        let switch = ["set +e", "set +o errexit", "set +o pipefail"]
            .into_iter()
            .find(|words| self.text.contains(words));
        let goes_on = !self.stops && self.commands().count() > 1;
        switch
            .map(str::to_owned)
            .or_else(|| self.commands().find_map(fallback))
            .or_else(|| goes_on.then(|| ";".to_owned()))
    }

    fn commands(&self) -> impl Iterator<Item = &str> {
        let commands = self.text.split(['\n', ';']).map(str::trim);
        commands.filter(|command| !command.is_empty() && !command.starts_with("set -"))
    }
}

/// `|| true` and its like, at a command's end.
fn fallback(command: &str) -> Option<String> {
    let (_, alternative) = command.rsplit_once("||")?;
    let fallback = FALLBACKS.into_iter().find(|fallback| {
        let text_after = alternative.trim().strip_prefix(fallback);
        text_after.is_some_and(|text| text.is_empty() || text.starts_with([' ', ')']))
    })?;
    Some(format!("|| {fallback}"))
}

fn has_pipe(script: &str) -> bool {
    script.replace("||", "").contains('|')
}

#[cfg(test)]
mod tests {
    use super::*;

    const MASKED: &str = "exit-code-masked";
    const HIDDEN: &str = "failure-hidden";

    fn codes(command: &[&str], shell: bool) -> Vec<String> {
        let toml = format!("[checks.one]\ncommand = {command:?}\nshell = {shell}\n");
        let settings = crate::doctor::tests::policy(&toml).checks.remove("one").unwrap();
        masks(&settings).into_iter().map(|finding| finding.code).collect()
    }

    #[track_caller]
    fn check(script: &str, expected: &[&str]) {
        assert_eq!(codes(&[script], true), expected, "{script}");
    }

    #[test]
    fn masks_are_told() {
        for script in [
            "cargo test || true",
            "cargo test ||:",
            "trap 'exit 0' EXIT\ncargo test",
            "cargo test || echo failed",
            "set +e; cargo test; exit 0",
            "set +o pipefail; cargo test | tee log || true",
        ] {
            assert_eq!(
                codes(&[script], true).first().map(String::as_str),
                Some(MASKED),
                "{script}"
            );
        }
        check("rm a || true; cargo test", &[HIDDEN]);
        check("set +e; cargo test", &[HIDDEN]);
        check("set +o pipefail; cargo test | tee log", &[HIDDEN, MASKED]);
    }

    #[test]
    fn what_heeds_failures_is_not() {
        for script in [
            "cargo test",
            "cargo test | tee log",
            "cargo test; exit 0",
            "a || b",
            "a || exit 1",
            "a || truely",
        ] {
            check(script, &[]);
        }
    }

    #[test]
    fn a_shell_that_was_not_told_goes_on() {
        assert_eq!(codes(&["sh", "-c", "cargo test | tee log"], false), [MASKED]);
        assert_eq!(codes(&["sh", "-c", "cargo test; exit 0"], false), [MASKED]);
        assert_eq!(codes(&["sh", "-c", "cargo test; ls"], false), [HIDDEN]);
        for heeds in [
            &["sh", "-ec", "cargo test; exit 0"][..],
            &["bash", "-o", "pipefail", "-c", "cargo test | tee log"],
            &["bash", "-c", "set -eo pipefail; cargo test | tee log"],
            &["sh", "-c", "cargo test"],
            &["echo", "-c", "a | b"],
        ] {
            assert_eq!(codes(heeds, false), [""; 0], "{heeds:?}");
        }
    }
}
