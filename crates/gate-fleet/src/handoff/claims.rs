//! Compares claims with the commands that gate itself has seen.

use gate_core::decide::evidence::{Evidence, Outcome as CheckOutcome};
use gate_core::{Policy, text};

use super::model::{Handoff, Outcome, Verification};
use super::placeholder::{answers_nothing, is_empty};
use super::problem::{Problem, limited};

/// The most of a command that a problem names, in characters.
const MAX_SHOWN_COMMAND: usize = 200;

/// A command that gate ran, with its result.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SeenCommand {
    /// The command, by each spelling of its words that means it: as the settings
    /// have it, and with the options that gate added.
    pub argvs: Vec<Vec<String>>,
    /// The command passed or failed; `None` if that could not be found out.
    pub passed: Option<bool>,
    /// The record that shows this, in words.
    pub record: String,
    /// It was seen of the work tree as it stands.
    pub is_of_this_tree: bool,
}

impl SeenCommand {
    /// A check's command, as the record with this number shows it. `None` if no command was run.
    pub fn from_evidence(
        seq: u64,
        evidence: &Evidence,
        policy: Option<&Policy>,
        is_of_this_tree: bool,
    ) -> Option<Self> {
        let argvs = spellings(evidence, policy);
        if evidence.outcome == CheckOutcome::Skipped || argvs.is_empty() {
            return None;
        }
        let record = format!("record #{seq}, {}", evidence.check);
        Some(Self { argvs, passed: passed(evidence), record, is_of_this_tree })
    }

    /// The command of these words, by one of its spellings.
    fn has_words(&self, words: &[String]) -> bool {
        self.argvs.iter().any(|argv| {
            argv == words
                || script(argv).and_then(self::words).is_some_and(|script| script == words)
        })
    }
}

/// The claims of a handoff that contradict these commands, the newest of which comes first: a
/// claimed pass of a command that gate never ran or last saw otherwise, and a claimed failure of
/// a command that last passed.
///
/// Commands are the same if their words are, as a shell reads them. A pass counts for the work tree
/// in which the command ran, and for no other. A failure that gate did not see is no
/// contradiction.
pub fn contradicted_claims(handoff: &Handoff, commands: &[SeenCommand]) -> Vec<Problem> {
    let claims = handoff.verification.iter().enumerate();
    let contradictions = claims.filter_map(|(at, claim)| {
        let message = contradiction(claim, newest(claim, commands))?;
        let command = text::brief(&claim.command, MAX_SHOWN_COMMAND);
        Some(Problem::rule(2, format!("verification[{at}]"), format!("{message}: `{command}`")))
    });
    limited(contradictions.collect())
}

/// The contradiction between a claim and the command as gate has seen it.
fn contradiction(claim: &Verification, command: Option<&SeenCommand>) -> Option<String> {
    let Some(SeenCommand { passed, record, is_of_this_tree, .. }) = command else {
        let message = "PASS is claimed, and gate has no record of this command";
        return (claim.result == Outcome::Pass).then(|| message.to_owned());
    };
    match (&claim.result, passed) {
        (Outcome::Pass, Some(false)) => {
            Some(format!("PASS is claimed, and gate saw it fail ({record})"))
        }
        (Outcome::Pass, None) => {
            Some(format!("PASS is claimed, and gate could not find that out ({record})"))
        }
        (Outcome::Pass, Some(true)) if !is_of_this_tree => Some(format!(
            "PASS is claimed, and gate saw that of another tree ({record}): files were changed \
             since, so let gate check again"
        )),
        (Outcome::Fail, Some(true)) if *is_of_this_tree => {
            Some(format!("FAIL is claimed, and gate saw it pass ({record})"))
        }
        _ => None,
    }
}

/// Each claimed command is among those that were seen: older records change nothing then.
pub fn all_seen(handoff: &Handoff, commands: &[SeenCommand]) -> bool {
    handoff.verification.iter().all(|claim| newest(claim, commands).is_some())
}

/// The newest sighting of the claimed command.
fn newest<'s>(claim: &Verification, commands: &'s [SeenCommand]) -> Option<&'s SeenCommand> {
    let words = words(&claim.command).filter(|words| !words.is_empty())?;
    commands.iter().find(|command| command.has_words(&words))
}

/// The claims about changed files that cannot be true: a file that is not there, and
/// never was.
///
/// # Errors
///
/// Those of `is_known`.
pub(super) fn unknown_files<E>(
    handoff: &Handoff,
    mut is_known: impl FnMut(&str) -> Result<bool, E>,
) -> Result<Vec<Problem>, E> {
    let mut unknown = Vec::new();
    for (at, file) in handoff.changed_files.iter().enumerate() {
        let name = file.trim().trim_matches('`');
        if !is_empty(file) && !answers_nothing(file) && !is_known(name)? {
            let message = "there is no such file in the work tree, and none was ever committed";
            unknown.push(Problem::new(format!("changed_files[{at}]"), message));
        }
    }
    Ok(limited(unknown))
}

/// The words of a command line, by the rules of a POSIX shell; `None` if a quote is open. Operators
/// such as `&&` are words like any other.
pub fn words(command: &str) -> Option<Vec<String>> {
    shlex::split(command)
}

/// A command as it would be typed: its words, quoted where they have to be. The
/// script of a shell stands for itself.
pub fn line(argv: &[String]) -> String {
    if let Some(script) = script(argv) {
        return script.to_owned();
    }
    // A word with a NUL cannot be typed; it is shown as it is.
    shlex::try_join(argv.iter().map(String::as_str)).unwrap_or_else(|_| argv.join(" "))
}

/// A check passed or failed; `None` if that could not be found out.
pub(super) fn passed(evidence: &Evidence) -> Option<bool> {
    match evidence.outcome {
        CheckOutcome::Pass => Some(true),
        CheckOutcome::Fail | CheckOutcome::Tamper => Some(false),
        CheckOutcome::Inconclusive | CheckOutcome::Skipped => None,
    }
}

/// The command of a check, by each spelling that means it: first as the settings have it, then
/// with the options that gate added.
pub(super) fn spellings(evidence: &Evidence, policy: Option<&Policy>) -> Vec<Vec<String>> {
    if evidence.argv.is_empty() {
        return Vec::new();
    }
    let settings = policy.and_then(|policy| policy.checks.get(&evidence.check));
    let cwd = settings.and_then(|settings| settings.cwd.as_deref());
    let plain = settings.filter(|settings| !settings.command.is_empty() && !settings.shell);
    let as_set = plain.map(|settings| settings.command.clone());
    as_set.into_iter().chain([evidence.argv.clone()]).map(|argv| within(cwd, argv)).collect()
}

/// A command as it is typed in the project's folder.
fn within(cwd: Option<&str>, argv: Vec<String>) -> Vec<String> {
    let Some(cwd) = cwd else { return argv };
    let folder = line(&["cd".to_owned(), cwd.to_owned()]);
    vec!["sh".to_owned(), "-c".to_owned(), format!("{folder} && {}", line(&argv))]
}

/// The script that a shell is called with.
fn script(argv: &[String]) -> Option<&str> {
    let [shell, flags @ .., script] = argv else { return None };
    let shell = shell.rsplit('/').next().unwrap_or(shell);
    let is_shell = matches!(shell, "sh" | "bash" | "dash" | "zsh");
    // `-c` may be joined with other flags, as in `-lc`.
    let is_called = flags.last().is_some_and(|flag| flag.starts_with('-') && flag.ends_with('c'));
    (is_shell && is_called).then_some(script)
}
